/* profiler/align/sequence.h -- private: two sequences of numbers, element by element.
 *
 * The fewest elements that one alone has (Myers, An O(ND) difference algorithm and its variations,
 * Algorithmica 1, 1986), in linear space.  Where sequences have little in common the search is cut
 * off and splits at the place that it came furthest to: time is bounded, and what is matched is
 * still equal and in order.
 */
#ifndef PROFILER_ALIGN_SEQUENCE_H
#define PROFILER_ALIGN_SEQUENCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SEQUENCE_NONE = -1 };

/* to[i]: which element of b is a[i], rising; SEQUENCE_NONE: none.  False when out of memory. */
bool sequence_match(const uint32_t *a, size_t n, const uint32_t *b, size_t m, int64_t *to);

/* The shortest length after which the sequence comes again, of at least two whole times; 0: none.
 * Up to a fifth of its elements may be others.  *from: where it begins.  False when out of
 * memory. */
bool sequence_period(const uint32_t *a, size_t n, size_t *period, size_t *from);

#endif
