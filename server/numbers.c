/* server/numbers.c -- see numbers.h. */
#include "server/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static double power_of_ten(double x)
{
	return pow(10, floor(log10(x) + 1e-12));
}

double number_step(double mid, double half_width)
{
	double step = mid != 0 ? power_of_ten(fabs(mid)) / 100 : 1;

	if (half_width > 0 && power_of_ten(half_width) > step)
		step = power_of_ten(half_width);
	return step;
}

void number_print(char out[NUMBER_BYTES], double x, double step)
{
	int decimals = step < 1 ? (int)lround(-log10(step)) : 0;
	double rounded = step > 0 ? round(x / step) * step : x;
	char digits[NUMBER_BYTES];
	size_t len, whole, at = 0;

	snprintf(digits, sizeof(digits), "%.*f", decimals > 12 ? 12 : decimals, fabs(rounded));
	len = strlen(digits);
	whole = strcspn(digits, ".");
	if (rounded < 0)
		out[at++] = '-';
	for (size_t i = 0; i < len && at < NUMBER_BYTES - 2; i++) {
		if (i > 0 && i < whole && (whole - i) % 3 == 0)
			out[at++] = ',';
		out[at++] = digits[i];
	}
	out[at] = '\0';
}

void number_short(char out[NUMBER_BYTES], double x)
{
	double step = number_step(x, 0);

	number_print(out, x, x == round(x) ? fmax(step, 1) : step);
}
