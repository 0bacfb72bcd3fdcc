/* tests/findings.h -- the findings of a report that a test spells out. */
#ifndef TESTS_FINDINGS_H
#define TESTS_FINDINGS_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "profiler/findings/findings.h"

struct found {
	struct arena arena;
	json_t *report;
	const struct report_findings *f;
};

static inline struct found find(const char *text)
{
	struct found found = { 0 };
	struct err err = { 0 };
	json_error_t why;
	const struct report_run *run;

	found.report = json_loads(text, 0, &why);
	if (!found.report)
		fail_msg("%s at %d of %s", why.text, why.position, text);
	run = report_read_run(found.report, &found.arena, &err);
	if (!run)
		fail_msg("%s", err.message);
	found.f = findings_make(run, &found.arena, &err);
	assert_non_null(found.f);
	return found;
}

/* What was found can be written. */
static inline void done(struct found *found)
{
	json_t *written = report_write_findings(found->f);

	assert_non_null(written);
	json_decref(written);
	arena_finish(&found->arena);
	json_decref(found->report);
}

static inline void says(const struct report_sentence_part_list *sentence, const char *want)
{
	struct buf out = { 0 };

	sentence_say(&out, sentence);
	assert_string_equal(out.len ? out.data : "", want);
	buf_finish(&out);
}

#endif
