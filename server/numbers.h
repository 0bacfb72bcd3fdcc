/* server/numbers.h -- numbers as people read them on a terminal.
 *
 * At most 3 significant digits, thousands with a comma, no exponent; beside an
 * interval no digit finer than its half-width.  The page has the same rules in
 * its own words.
 */
#ifndef SERVER_NUMBERS_H
#define SERVER_NUMBERS_H

#include <stddef.h>

enum { NUMBER_BYTES = 48 };

/* The last digit worth printing of `mid`: the power of ten that leaves 3
 * significant digits, or the largest one not above `half_width` where that is
 * coarser (0: no interval). */
double number_step(double mid, double half_width);

/* x rounded to step: "2,990", "7.63", "0.506". */
void number_print(char out[NUMBER_BYTES], double x, double step);

/* The two together, without an interval; a whole number stays one: "12". */
void number_short(char out[NUMBER_BYTES], double x);

#endif
