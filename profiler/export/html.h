/* profiler/export/html.h -- private: parts of the page that a run is written as. */
#ifndef PROFILER_EXPORT_HTML_H
#define PROFILER_EXPORT_HTML_H

#include "profiler/export/job.h"
#include "profiler/export/out.h"
#include "profiler/findings/findings.h"

/* html_page.c: a page up to its content, and from there on. */
void html_begin(struct out *o, const char *title);
void html_end(struct out *o, const char *version);

/* Between the lines of an axis: 1, 2 or 5 times a power of ten, so that at most so many of them fit
 * into the span, which is above 0. */
double html_step(double span, int most);

/* html_tables.c: sections with a table each, where it has rows.  Modes, what a log had,
 * breaks, the source. */
void html_results(struct export_job *job, const struct report_findings *found);
/* Kernels, the machine. */
bool html_device(struct export_job *job, struct err *err);

#endif
