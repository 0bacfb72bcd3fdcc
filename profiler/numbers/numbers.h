/* profiler/numbers/numbers.h -- numbers as people read them, on a terminal and in a report of one
 * file.
 *
 * At most 3 significant digits, thousands with a comma, no exponent; beside an
 * interval no digit finer than its half-width.  The page has the same rules in
 * its own words.
 */
#ifndef PROFILER_NUMBERS_NUMBERS_H
#define PROFILER_NUMBERS_NUMBERS_H

#include <jansson.h>
#include <stddef.h>

enum { NUMBER_BYTES = 48 };

/* The last digit worth printing of `mid`: the power of ten that leaves 3
 * significant digits, or the largest one not above `half_width` where that is
 * coarser (0: no interval), but never so coarse that `mid` reads as 0. */
double number_step(double mid, double half_width);

/* x rounded to step: "2,990", "7.63", "0.506". */
void number_print(char out[NUMBER_BYTES], double x, double step);

/* The two together, without an interval; a whole number stays one: "12". */
void number_short(char out[NUMBER_BYTES], double x);

/* A figure and its interval, all in the digits that the interval allows. */
struct number_triple {
	char mid[NUMBER_BYTES], low[NUMBER_BYTES], high[NUMBER_BYTES];
};
void number_triple(struct number_triple *t, double mid, double low, double high);

/* "1.32x (1.28-1.36)" of two fields of an object; "1.32x" without an interval, "" without
 * a figure. */
void number_interval(char out[4 * NUMBER_BYTES], const json_t *object, const char *mid_key,
		     const char *ci_key, const char *suffix);

#endif
