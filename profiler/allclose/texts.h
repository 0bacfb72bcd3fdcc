/* profiler/allclose/texts.h -- private: what two runs printed, numbers apart from words. */
#ifndef PROFILER_ALLCLOSE_TEXTS_H
#define PROFILER_ALLCLOSE_TEXTS_H

#include "profiler/allclose/difference.h"

/* Words, ints and order have to be the same; numbers with a point or an exponent may be
 * apart by the bound of float32 or one unit in the last digit that is shown.  What computed
 * a tensor, grad_fn=<...>, is another node where it was compiled.  False: they are other
 * texts.  *found gets the numbers. */
bool texts_differ_none(const char *ours, const char *theirs, struct difference *found);

#endif
