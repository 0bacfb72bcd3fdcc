/* profiler/report/break.c -- breaks, frames and their compiled versions. */
#include "profiler/report/break.h"

#include <stdio.h>

#include "profiler/profiler.h"

enum { MOST_BARRIERS = 500 }; /* listed of mode lazy */

/* A message that is written into a buffer; frees that. */
static const char *kept(struct buf *text, struct report_draft *draft)
{
	const char *copy = report_draft_text(draft, text->data ? text->data : "");

	buf_finish(text);
	return copy;
}

static const char *message_of(const struct fusion_session *s, int index, struct report_draft *draft)
{
	struct buf text;

	buf_init(&text, 4096);
	fusion_break_message(s, index, &text);
	return kept(&text, draft);
}

static struct report_stack_line_list stack_of(const struct fusion_break *b,
					      struct report_draft *draft)
{
	struct report_stack_line *lines = report_new_stack_line((size_t)b->n_stack, &draft->arena);

	for (int i = 0; lines && i < b->n_stack; i++) {
		REPORT_SET(&lines[i], line, b->stack[i].line);
		REPORT_SET(&lines[i], function, report_draft_text(draft, b->stack[i].function));
	}
	return (struct report_stack_line_list){ lines, (size_t)b->n_stack };
}

/* Why the frame could not go on after the break. */
static struct report_because *because_of(const struct fusion_break *b, struct report_draft *draft)
{
	struct report_because *to = report_new_because(1, &draft->arena);

	if (!to)
		return NULL;
	REPORT_SET(to, message, report_draft_text(draft, b->because));
	REPORT_SET_OR_NULL(to, hint, b->because_hint, report_draft_text(draft, b->because_hint));
	REPORT_SET_OR_NULL(to, gb, b->because_gb, report_draft_text(draft, b->because_gb));
	return to;
}

/* Where the cause is, if the break's own place is the block around it. */
static struct report_cause *cause_of(const struct fusion_break *b, struct report_draft *draft)
{
	struct report_cause *to = report_new_cause(1, &draft->arena);

	if (!to)
		return NULL;
	REPORT_SET(to, line, b->cause.line);
	REPORT_SET(to, function, report_draft_text(draft, b->cause.function));
	REPORT_SET(to, column, b->cause_column);
	REPORT_SET(to, end_column, b->cause_end_column);
	return to;
}

static void fill_break(struct report_break *to, const struct fusion_session *s, int index,
		       struct report_draft *draft)
{
	struct fusion_break b = fusion_break(s, index);

	REPORT_SET(to, stage, report_draft_text(draft, b.stage));
	REPORT_SET(to, kind, report_draft_text(draft, b.kind));
	REPORT_SET(to, outcome, report_draft_text(draft, b.outcome));
	REPORT_SET_OR_NULL(to, gb, b.gb, report_draft_text(draft, b.gb));
	REPORT_SET(to, call, b.call);
	REPORT_SET_OR_NULL(to, graph, b.graph >= 0, b.graph);
	REPORT_SET(to, message, message_of(s, index, draft));
	REPORT_SET_OR_NULL(to, hint, b.hint, report_draft_text(draft, b.hint));
	REPORT_SET_OR_NULL(to, because, b.because, because_of(&b, draft));
	REPORT_SET_OR_NULL(to, subject, b.subject, report_draft_text(draft, b.subject));
	REPORT_SET(to, stack, stack_of(&b, draft));
	REPORT_SET(to, column, b.column);
	REPORT_SET(to, end_column, b.end_column);
	REPORT_SET_OR_NULL(to, cause, b.cause.line > 0, cause_of(&b, draft));
	REPORT_SET(to, count, b.count);
	REPORT_SET_OR_NULL(to, cost_us, b.cost_ns >= 0, (double)b.cost_ns / 1000);
}

struct report_break_list breaks_of_session(const struct fusion_session *s,
					   struct report_draft *draft)
{
	size_t n = (size_t)fusion_break_count(s);
	struct report_break *all = report_new_break(n, &draft->arena);

	for (size_t i = 0; all && i < n; i++)
		fill_break(&all[i], s, (int)i, draft);
	return (struct report_break_list){ all, n };
}

static struct report_symbol_list symbols_of(const struct fusion_entry_info *e,
					    struct report_draft *draft)
{
	struct report_symbol *all = report_new_symbol((size_t)e->n_symbols, &draft->arena);

	for (int i = 0; all && i < e->n_symbols; i++) {
		const char *range = e->symbols[i].range;

		REPORT_SET(&all[i], name, report_draft_text(draft, e->symbols[i].name));
		REPORT_SET(&all[i], source, report_draft_text(draft, e->symbols[i].source));
		REPORT_SET_OR_NULL(&all[i], range, range, report_draft_text(draft, range));
	}
	return (struct report_symbol_list){ all, (size_t)e->n_symbols };
}

static void fill_entry(struct report_entry *to, const struct fusion_entry_info *e, int frame_id,
		       struct report_draft *draft)
{
	REPORT_SET(to, compile, arena_printf(&draft->arena, "%d/%d", frame_id, e->compile_id));
	REPORT_SET_OR_NULL(to, graph, e->graph >= 0, e->graph);
	REPORT_SET(to, call, e->call);
	REPORT_SET(to, compile_ms, (double)e->compile_ns / 1e6);
	REPORT_SET(to, uses, e->uses);
	REPORT_SET(to, bail_outs, e->refuted);
	REPORT_SET_OR_NULL(to, reason, e->reason, report_draft_text(draft, e->reason));
	REPORT_SET(to, guards, report_draft_texts(draft, e->guards, e->n_guards));
	REPORT_SET(to, symbols, symbols_of(e, draft));
}

/* The compiled versions of a frame, which is one of the session's. */
static struct report_entry_list entries_of(const struct fusion_session *s, int frame,
					   struct report_draft *draft)
{
	int n = 0, all = fusion_entry_count(s);
	struct report_entry *list;

	for (int i = 0; i < all; i++)
		n += fusion_entry(s, i).frame == frame;
	list = report_new_entry((size_t)n, &draft->arena);
	for (int i = 0, at = 0; list && i < all; i++) {
		struct fusion_entry_info e = fusion_entry(s, i);

		if (e.frame == frame)
			fill_entry(&list[at++], &e, fusion_frame(s, frame).frame_id, draft);
	}
	return (struct report_entry_list){ list, (size_t)n };
}

/* As many of a frame's lines as a report takes; none when out of memory, which the draft knows. */
static struct report_integers lines_of(const struct fusion_frame_info *f,
				       struct report_draft *draft)
{
	struct report_integers lines = { ARENA_ARRAY(&draft->arena, int64_t, (size_t)f->n_lines),
					 0 };

	for (; lines.at && lines.n < (size_t)f->n_lines; lines.n++)
		lines.at[lines.n] = f->lines[lines.n];
	return lines;
}

struct report_frame_list tree_of_session(const struct fusion_session *s, struct report_draft *draft)
{
	int n = fusion_frame_count(s);
	struct report_frame *all = report_new_frame((size_t)n, &draft->arena);

	for (int i = 0; all && i < n; i++) {
		struct fusion_frame_info f = fusion_frame(s, i);

		REPORT_SET(&all[i], frame, report_draft_text(draft, f.name));
		REPORT_SET(&all[i], id, f.frame_id);
		REPORT_SET(&all[i], line, f.line);
		REPORT_SET(&all[i], skipped, f.skipped);
		REPORT_SET(&all[i], run_only, f.run_only);
		REPORT_SET_IF(&all[i], broke, f.broke >= 0, f.broke);
		REPORT_SET_IF(&all[i], lines, f.n_lines > 0, lines_of(&f, draft));
		REPORT_SET(&all[i], entries, entries_of(s, i, draft));
	}
	return (struct report_frame_list){ all, (size_t)n };
}

static void fill_barrier(struct report_trace_run *to, const struct fusion_session *s, int index,
			 struct report_draft *draft)
{
	struct fusion_barrier b = fusion_barrier(s, index);
	struct buf text;
	bool said;

	buf_init(&text, 4096);
	fusion_barrier_message(s, index, &text);
	said = text.len > 0;
	REPORT_SET(to, call, b.call);
	REPORT_SET(to, line, b.line);
	REPORT_SET(to, function, report_draft_text(draft, b.function));
	REPORT_SET(to, cause, report_draft_text(draft, b.cause));
	REPORT_SET_OR_NULL(to, message, said, kept(&text, draft));
	REPORT_SET(to, compiled, b.compiled);
	REPORT_SET(to, hash, report_draft_text(draft, b.hash));
	REPORT_SET_OR_NULL(to, graph, b.graph >= 0, b.graph);
	REPORT_SET(to, inputs, b.n_inputs);
	REPORT_SET(to, outputs, b.n_outputs);
	if (!said)
		buf_finish(&text);
}

struct report_lazy *lazy_of_session(const struct fusion_session *s, struct report_draft *draft)
{
	int n = fusion_barrier_count(s), listed = n < MOST_BARRIERS ? n : MOST_BARRIERS;
	struct report_trace_run *runs = report_new_trace_run((size_t)listed, &draft->arena);
	struct report_lazy *to = report_new_lazy(1, &draft->arena);

	for (int i = 0; runs && i < listed; i++)
		fill_barrier(&runs[i], s, i, draft);
	if (!to)
		return NULL;
	REPORT_SET(to, runs, (struct report_trace_run_list){ runs, (size_t)listed });
	REPORT_SET(to, left_out, fusion_barriers_left_out(s) + n - listed);
	return to;
}
