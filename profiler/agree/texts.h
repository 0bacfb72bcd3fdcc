/* profiler/agree/texts.h -- private: what two runs printed, numbers apart from words. */
#ifndef PROFILER_AGREE_TEXTS_H
#define PROFILER_AGREE_TEXTS_H

#include "profiler/agree/judge.h"

/* Words, ints and order have to be the same; numbers with a point or an exponent may be
 * apart by the bound of float32 or one unit in the last digit that is shown.  What computed
 * a tensor, grad_fn=<...>, is another node where it was compiled.  False: they are other
 * texts.  *found gets the numbers. */
bool texts_judge(const char *ours, const char *theirs, struct judged *found);

#endif
