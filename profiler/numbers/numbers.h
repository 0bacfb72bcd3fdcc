/* profiler/numbers/numbers.h -- numbers as people read them, on a terminal, in a report of one file
 * and in the findings that a page shows.
 *
 * At most 3 significant digits, thousands with a comma, no exponent; beside an interval no digit
 * finer than its half-width.  The page writes what depends on the pointer by the same rules
 * (web/js/model/format.js); tests/numbers.json has the cases that both are held against.
 */
#ifndef PROFILER_NUMBERS_NUMBERS_H
#define PROFILER_NUMBERS_NUMBERS_H

#include <stddef.h>

#include "profiler/fields/fields.h"

enum { NUMBER_BYTES = 48 };

/* The last digit worth printing of `mid`: the power of ten that leaves 3
 * significant digits, or the largest one not above half of `high` - `low` where that is
 * coarser (NAN: no interval), but never so coarse that a `mid` above 0 reads as 0, and finer by
 * a digit where an end of the interval would. */
double number_step(double mid, double low, double high);

/* x rounded to step, a power of ten: "2,990", "7.63", "0.506".  "unknown" of what is not finite. */
void number_print(char out[NUMBER_BYTES], double x, double step);

/* The two together, without an interval; a whole number stays one: "12". */
void number_short(char out[NUMBER_BYTES], double x);

/* Up to 6 significant digits, without zeros that say nothing: "0.5", "30", "1,024". */
void number_plain(char out[NUMBER_BYTES], double x);

/* An error bound: "4.8e-7", "24.6"; "0" where the bits agree, "nan". */
void number_error(char out[NUMBER_BYTES], double x);

/* Rounds at most NUMBER_PARTS parts to a step so that they add up to their sum, rounded too
 * (largest remainder); returns that. */
enum { NUMBER_PARTS = 8 };
double number_add_up(double *parts, int n, double sum, double step);

/* A figure and its interval, all in the digits that the interval allows; finer, down to 0.01, where
 * an end would read as `pole`, which it is not: "1.30x (1.03-6.10)" is no "1x (1-6)". */
struct number_triple {
	char mid[NUMBER_BYTES], low[NUMBER_BYTES], high[NUMBER_BYTES];
};
void number_triple(struct number_triple *t, double mid, double low, double high, double pole);

/* On whose two sides a figure with this suffix says different things: 1 of a ratio ("x"), else NAN.
 */
double number_pole(const char *suffix);

/* "1.32x (1.28-1.36)"; "1.32x" where an end of the interval is NAN, "" where the figure is. */
void number_interval(char out[4 * NUMBER_BYTES], double mid, struct report_interval ci,
		     const char *suffix);

struct number_unit {
	const char *name; /* "µs" */
	double scale;     /* how much one of it is */
};

/* For a column of times whose longest is `most_us`: µs below 10 ms, ms below 10 s, s below 10 min.
 */
struct number_unit number_time_unit(double most_us);

/* For a column of bytes: that of its largest, or the next smaller where its smallest above 0
 * would begin with zeros (4 B beside 1,540 B, not 0.004 kB beside 1.54 kB). */
struct number_unit number_bytes_unit(double least, double most);

/* In their own unit: "470 ms", "16.8 MB". */
void number_duration(char out[NUMBER_BYTES], double us);
void number_bytes(char out[NUMBER_BYTES], double bytes);

#endif
