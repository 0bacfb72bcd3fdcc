/* profiler/align/say.h -- private: an alignment in words and figures. */
#ifndef PROFILER_ALIGN_SAY_H
#define PROFILER_ALIGN_SAY_H

#include "profiler/align/rows.h"
#include "profiler/findings/sentence.h"

/* A time, a difference with its sign and its interval (NAN: none). */
struct report_figure *align_time(struct wording *w, double ns);
struct report_figure *align_signed(struct wording *w, double ns, double low_ns, double high_ns);

/* A name without namespaces, and what a template or a call takes. */
const char *align_title(struct wording *w, const char *name);

struct report_aligned_change *align_change(struct wording *w, const struct unit_change *c);

/* Fills in `sentence` and `how` by the other fields. */
void align_say(struct report_alignment *to, struct wording *w);

#endif
