/* profiler/measure/agree.h -- private: whether a mode gives what eager gives.
 *
 * Numbers agree where |a - b| <= absolute + relative |b|, b being eager's:
 * 1e-5 and 1e-4 for float32 and float64, 1e-2 and 1e-2 for float16 and bfloat16
 * (those of the recorded PyTorch programs, tests/oracle/replay.py), 0 and 0 for all
 * else.  NaN agrees with NaN, an infinity with itself.  Shapes, dtypes, texts and
 * what was printed have to be the same.
 */
#ifndef PROFILER_MEASURE_AGREE_H
#define PROFILER_MEASURE_AGREE_H

#include "profiler/measure/lane.h"

/* The largest |a - b| over its bound: at most 1 where they agree; infinite where the
 * structures, dtypes, shapes or texts differ. */
double agree_values(struct value a, struct value b);

/* Compares what the calls of a lane gave, and left in their arguments, with those of
 * another, which `whose` calls ("eager's"): sets m's `agrees`, and where that is false
 * `disagreement`, a sentence.  `m` and `other_m` are the modes of the report, with their
 * calls.  The lanes still have what the calls in order left. */
void agree_report(const struct lane *lane, const struct lane *other, const char *whose, json_t *m,
		  const json_t *other_m);

#endif
