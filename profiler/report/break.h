/* profiler/report/break.h -- where graphs end, and the tree of frames. */
#ifndef PROFILER_REPORT_BREAK_H
#define PROFILER_REPORT_BREAK_H

#include "fusion/fusion.h"
#include "profiler/fields/fields.h"

/* `breaks` of a mode. */
struct report_break_list breaks_of_session(const struct fusion_session *s,
					   struct report_draft *draft);

/* `lazy` of mode lazy: each run of a trace, its cause, hash and whether it was
 * compiled, as PyTorch/XLA names them. */
struct report_lazy *lazy_of_session(const struct fusion_session *s, struct report_draft *draft);

/* `tree`: each frame with its compiled versions, in the order they were met. */
struct report_frame_list tree_of_session(const struct fusion_session *s,
					 struct report_draft *draft);

#endif
