/* profiler/findings/findings.h -- what a run's figures say: verdicts, sentences and figures as they
 * are shown (profiler/fields/findings.def), made from its report.
 *
 * The page, the texts of the command line and exports show these, so that one run reads alike
 * everywhere.  Nothing here measures; a verdict is the report's own, or follows from the interval
 * by verdict_of().  Thread-safe.
 */
#ifndef PROFILER_FINDINGS_FINDINGS_H
#define PROFILER_FINDINGS_FINDINGS_H

#include "profiler/findings/sentence.h"

/* In `arena`; texts may be the run's.  NULL with MEMORY. */
struct report_findings *findings_make(const struct report_run *run, struct arena *arena,
				      struct err *err);

/* The i-th sentence of a run, from 0: those of the last point's modes that are held against eager,
 * else the answer alone.  NULL: there are no more. */
const struct report_sentence_part_list *findings_sentence(const struct report_findings *f,
							  size_t i);

#endif
