/* profiler/numbers/numbers.c -- numbers as people read them: digits, steps and units. */
#include "profiler/numbers/numbers.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SMALLEST = -12, LARGEST = 21 }; /* powers of ten between which numbers are printed */

/* Of the first digit of x, once it is rounded to so many. */
static int exponent_of(double x, int digits)
{
	char text[NUMBER_BYTES];

	if (!isfinite(x))
		return 0;
	snprintf(text, sizeof(text), "%.*e", digits - 1, fabs(x));
	return (int)strtol(strchr(text, 'e') + 1, NULL, 10);
}

/* x rounded to 10^step, halves away from 0, without its sign. */
static double rounded(double x, int step)
{
	double unit = pow(10, abs(step));

	return step < 0 ? round(fabs(x) * unit) / unit : round(fabs(x) / unit) * unit;
}

static bool reads_as_zero(double x, int step)
{
	return x != 0 && rounded(x, step) == 0;
}

double number_step(double mid, double low, double high)
{
	int step = mid != 0 ? exponent_of(mid, 3) - 2 : -2;
	double half = (high - low) / 2;

	/* 12 digits: half of what was computed of decimal ends is that of the ends */
	if (half > 0 && exponent_of(half, 12) > step)
		step = exponent_of(half, 12);
	if (mid > 0 && exponent_of(mid, 12) < step)
		step = exponent_of(mid, 12);
	step -= reads_as_zero(low, step) || reads_as_zero(high, step);
	return pow(10, step);
}

void number_print(char out[NUMBER_BYTES], double x, double step)
{
	int power = step > 0 ? (int)fmin(fmax(lround(log10(step)), SMALLEST), LARGEST) : 0;
	double near = rounded(x, power);
	size_t len, whole, at = 0;
	char digits[NUMBER_BYTES];

	if (!isfinite(x) || near >= 1e21) {
		strcpy(out, "unknown");
		return;
	}
	snprintf(digits, sizeof(digits), "%.*f", power < 0 ? -power : 0, near);
	len = strlen(digits);
	whole = strcspn(digits, ".");
	if (x < 0 && near > 0)
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
	double step = number_step(x, NAN, NAN);

	number_print(out, x, x == round(x) ? fmax(step, 1) : step);
}

double number_add_up(double *parts, int n, double sum, double step)
{
	double rest[NUMBER_PARTS], whole = round(sum / step), left = whole;

	for (int i = 0; i < n; i++) {
		rest[i] = parts[i] / step - floor(parts[i] / step);
		parts[i] = floor(parts[i] / step);
		left -= parts[i];
	}
	for (int taken = 0; taken < n && left > 0; taken++, left--) {
		int most = 0;

		for (int i = 1; i < n; i++)
			if (rest[i] > rest[most])
				most = i;
		parts[most]++;
		rest[most] = -1;
	}
	for (int i = 0; i < n; i++)
		parts[i] *= step;
	return whole * step;
}

void number_plain(char out[NUMBER_BYTES], double x)
{
	int power = x != 0 && isfinite(x) ? exponent_of(x, 6) - 5 : 0;

	number_print(out, x, pow(10, power));
	if (!strchr(out, '.'))
		return;
	for (size_t len = strlen(out); out[len - 1] == '0' || out[len - 1] == '.'; len--) {
		bool point = out[len - 1] == '.';

		out[len - 1] = '\0';
		if (point)
			break;
	}
}

void number_error(char out[NUMBER_BYTES], double x)
{
	int e = exponent_of(x, 2);

	if (isnan(x)) {
		strcpy(out, "nan");
		return;
	}
	if (x == 0 || isinf(x)) {
		strcpy(out, x == 0 ? "0" : x > 0 ? "inf" : "-inf");
		return;
	}
	if (fabs(x) >= 1 && fabs(x) < 1e4) {
		number_short(out, x);
		return;
	}
	snprintf(out, NUMBER_BYTES, "%s%.1fe%d", x < 0 ? "-" : "", rounded(x, e - 1) / pow(10, e),
		 e);
}

/* `power`, or that of as fine a digit as tells `end` from `pole`, where 0.01 does. */
static int told_apart(int power, double end, double pole)
{
	if (!isfinite(end) || isnan(pole) || end == pole || rounded(end, -2) == pole)
		return power;
	while (power > -2 && rounded(end, power) == pole)
		power--;
	return power;
}

void number_triple(struct number_triple *t, double mid, double low, double high, double pole)
{
	double step = number_step(mid, low, high);
	int power = (int)lround(log10(step));

	power = told_apart(told_apart(power, low, pole), high, pole);
	step = pow(10, power);

	number_print(t->mid, mid, step);
	number_print(t->low, low, step);
	number_print(t->high, high, step);
}

double number_pole(const char *suffix)
{
	return strcmp(suffix, "x") == 0 ? 1 : (double)NAN;
}

void number_interval(char out[4 * NUMBER_BYTES], double mid, struct report_interval ci,
		     const char *suffix)
{
	struct number_triple t;

	out[0] = '\0';
	if (isnan(mid))
		return;
	number_triple(&t, mid, ci.low, ci.high, number_pole(suffix));
	if (isnan(ci.low) || isnan(ci.high))
		snprintf(out, 4 * NUMBER_BYTES, "%s%s", t.mid, suffix);
	else
		snprintf(out, 4 * NUMBER_BYTES, "%s%s (%s-%s)", t.mid, suffix, t.low, t.high);
}

struct number_unit number_time_unit(double most_us)
{
	static const struct number_unit units[] = { { "µs", 1 },     { "ms", 1e3 },
						    { "s", 1e6 },    { "min", 60e6 },
						    { "h", 3600e6 }, { "days", 86400e6 } };

	if (most_us < 600e6)
		return units[most_us < 10e3 ? 0 : most_us < 10e6 ? 1 : 2];
	return units[most_us < 600 * 60e6 ? 3 : most_us < 100 * 3600e6 ? 4 : 5];
}

struct number_unit number_bytes_unit(double least, double most)
{
	static const struct number_unit units[] = {
		{ "B", 1 }, { "kB", 1e3 }, { "MB", 1e6 }, { "GB", 1e9 }
	};
	int at = most < 1e3 ? 0 : most < 1e6 ? 1 : most < 1e9 ? 2 : 3;
	double digits = least / units[at > 0 ? at - 1 : 0].scale;

	return units[at > 0 && digits >= 0.1 && digits < 10 ? at - 1 : at];
}

/* "16.8 MB" */
static void in_unit(char out[NUMBER_BYTES], double x, struct number_unit unit)
{
	size_t len;

	number_short(out, x / unit.scale);
	len = strlen(out);
	snprintf(out + len, NUMBER_BYTES - len, " %s", unit.name);
}

void number_duration(char out[NUMBER_BYTES], double us)
{
	in_unit(out, us, number_time_unit(us));
}

void number_bytes(char out[NUMBER_BYTES], double bytes)
{
	in_unit(out, bytes, number_bytes_unit(bytes, bytes));
}
