/* profiler/ranks/figures.h -- private: the figures of one rank, by HolisticTraceAnalysis'
 * definitions.
 */
#ifndef PROFILER_RANKS_FIGURES_H
#define PROFILER_RANKS_FIGURES_H

#include "profiler/ranks/events.h"

/* Time by the kinds that run at once: a bit for each rank_kernel. */
enum { RANK_MIXES = 1 << RANK_KERNELS };

/* Fills in what is of the device alone: times, mixes, names, streams, copies.  Adds to `mix`, of
 * all ranks.  False: out of memory. */
bool rank_figures(const struct rank_events *e, struct report_rank *out, int64_t mix[RANK_MIXES],
		  struct report_draft *draft);

/* The rows of mixes that are not zero. */
struct report_kernel_mix_list rank_mix_rows(const int64_t mix[RANK_MIXES],
					    struct report_draft *draft);

#endif
