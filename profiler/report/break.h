/* profiler/report/break.h -- where graphs end, and the tree of frames. */
#ifndef PROFILER_REPORT_BREAK_H
#define PROFILER_REPORT_BREAK_H

#include <jansson.h>

#include "fusion/fusion.h"

/* `breaks` of a mode: design section 5. */
json_t *breaks_to_json(const struct fusion_session *s);

/* `lazy` of mode lazy: each run of a trace, its cause, hash and whether it was
 * compiled, as PyTorch/XLA names them. */
json_t *lazy_to_json(const struct fusion_session *s);

/* `tree`: each frame with its compiled versions, in the order they were met. */
json_t *tree_to_json(const struct fusion_session *s);

#endif
