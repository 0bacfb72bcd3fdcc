/* profiler/export/html.h -- private: parts of the page that a run is written as. */
#ifndef PROFILER_EXPORT_HTML_H
#define PROFILER_EXPORT_HTML_H

#include "profiler/export/job.h"
#include "profiler/findings/findings.h"

/* html_tables.c: each is a section with its heading, or nothing where it has no row. */
void html_modes(struct export_job *job, const struct report_findings *found);
void html_source(struct export_job *job);
void html_breaks(struct export_job *job);
void html_imported(struct export_job *job);
bool html_kernels(struct export_job *job, struct err *err);

void html_environment(struct export_job *job);

/* <td class=CLASS>, with the text in it; NULL: empty. */
void html_cell(struct out *o, const char *class, const char *text);

/* <section> with a heading, its note and a table's head: names split by '|', "r:" in
 * front of those that are numbers; and their end. */
void html_table(struct out *o, const char *title, const char *note, const char *heads);
void html_table_end(struct out *o);

#endif
