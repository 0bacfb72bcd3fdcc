/* profiler/fields/breaks.c -- where a break is shown, which are the same, what is said of them. */
#include "profiler/fields/breaks.h"

#include <string.h>

struct break_place break_place_of(const struct report_break *b)
{
	const struct report_cause *cause = b->cause;
	size_t n = b->stack.n;

	if (cause)
		return (struct break_place){ cause->file, (int)cause->line, (int)cause->column,
					     (int)cause->end_column };
	return (struct break_place){ n ? b->stack.at[n - 1].file : NULL,
				     n ? (int)b->stack.at[n - 1].line : 0, (int)b->column,
				     (int)b->end_column };
}

static bool same_text(const char *a, const char *b) /* NULL is "" */
{
	return strcmp(report_text(a), report_text(b)) == 0;
}

static bool same_stack(const struct report_stack_line_list *a,
		       const struct report_stack_line_list *b)
{
	if (a->n != b->n)
		return false;
	for (size_t i = 0; i < a->n; i++)
		if (a->at[i].line != b->at[i].line ||
		    !same_text(a->at[i].function, b->at[i].function) ||
		    !same_text(a->at[i].file, b->at[i].file))
			return false;
	return true;
}

static bool same_cause(const struct report_break *a, const struct report_break *b)
{
	if (!a->cause || !b->cause)
		return a->cause == b->cause && a->column == b->column;
	return a->cause->line == b->cause->line && a->cause->column == b->cause->column &&
	       same_text(a->cause->file, b->cause->file);
}

bool break_same(const struct report_break *a, const struct report_break *b)
{
	return same_text(a->kind, b->kind) && same_text(a->stage, b->stage) &&
	       same_text(a->outcome, b->outcome) && same_cause(a, b) &&
	       same_text(a->message, b->message) && same_stack(&a->stack, &b->stack);
}

static bool is_new(const struct report_break_list *breaks, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (break_same(&breaks->at[i], &breaks->at[k]))
			return false;
	return true;
}

int64_t break_distinct(const struct report_break_list *breaks, const char *stage)
{
	int64_t distinct = 0;

	for (size_t i = 0; breaks->at && i < breaks->n; i++)
		distinct += (!stage || same_text(breaks->at[i].stage, stage)) && is_new(breaks, i);
	return distinct;
}

const char *break_outcome_words(const char *outcome)
{
	static const char *const words[][2] = {
		{ "resume", "runs in eager; a resume function compiles the rest" },
		{ "jump", "each side is captured when it is first taken" },
		{ "step", "the rest of the function runs in eager" },
		{ "skip", "the whole function runs in eager" },
		{ "inline", "the caller stops before its call; the callee is captured by itself" },
		{ "barrier", "the pending trace is run" },
		{ "ordered", "runs after its graph, in order" },
	};

	for (size_t i = 0; outcome && i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i][0], outcome) == 0)
			return words[i][1];
	return "";
}

void break_gain_print(struct buf *out, const struct report_break *b)
{
	const struct report_rewrite_gain *gain = b->rewrite_gain;
	int others = gain ? (int)gain->together - 1 : 0;

	if (!gain)
		return;
	buf_puts(out, "these calls come out the same");
	if (others == 1)
		buf_puts(out, ", with the other rewrite");
	else if (others > 1)
		buf_printf(out, ", with the %d other rewrites", others);
	buf_printf(out, ": graphs %d → %d, breaks %d → %d", (int)gain->graphs.before,
		   (int)gain->graphs.after, (int)gain->breaks.before, (int)gain->breaks.after);
}
