/* profiler/numbers/numbers.c -- numbers as people read them, on a terminal and in a report of one
 * file. */
#include "profiler/numbers/numbers.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/fields/json.h"

static double power_of_ten(double x)
{
	return pow(10, floor(log10(x) + 1e-12));
}

double number_step(double mid, double half_width)
{
	double step = mid != 0 ? power_of_ten(fabs(mid)) / 100 : 1;

	if (half_width > 0 && power_of_ten(half_width) > step)
		step = power_of_ten(half_width);
	return mid != 0 ? fmin(step, power_of_ten(fabs(mid))) : step;
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

void number_triple(struct number_triple *t, double mid, double low, double high)
{
	double step = number_step(mid, (high - low) / 2);

	number_print(t->mid, mid, step);
	number_print(t->low, low, step);
	number_print(t->high, high, step);
}

void number_interval(char out[4 * NUMBER_BYTES], const json_t *object, const char *mid_key,
		     const char *ci_key, const char *suffix)
{
	double mid = number_field(object, mid_key);
	double low = number_end(object, ci_key, 0), high = number_end(object, ci_key, 1);
	struct number_triple t;

	out[0] = '\0';
	if (isnan(mid))
		return;
	number_triple(&t, mid, low, high);
	if (isnan(low) || isnan(high))
		snprintf(out, 4 * NUMBER_BYTES, "%s%s", t.mid, suffix);
	else
		snprintf(out, 4 * NUMBER_BYTES, "%s%s (%s-%s)", t.mid, suffix, t.low, t.high);
}
