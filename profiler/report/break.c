/* profiler/report/break.c -- breaks, frames and their compiled versions as JSON. */
#include "profiler/report/break.h"

#include <stdio.h>

#include "profiler/fields/fields.h"
#include "profiler/fields/json.h"
#include "profiler/profiler.h"

enum { MOST_BARRIERS = 500 }; /* listed of mode lazy */

static json_t *text_or_null(const char *text)
{
	json_t *json = text ? json_string(text) : NULL;

	return json ? json : json_null();
}

static json_t *index_or_null(int index)
{
	return index >= 0 ? json_integer(index) : json_null();
}

static json_t *message_json(const struct fusion_session *s, int index)
{
	struct buf text;
	json_t *json;

	buf_init(&text, 4096);
	fusion_break_message(s, index, &text);
	json = json_string(text.data ? text.data : "");
	buf_finish(&text);
	return json ? json : json_string("");
}

static json_t *stack_json(const struct fusion_break *b)
{
	json_t *list = json_array();

	for (int i = 0; i < b->n_stack; i++)
		json_array_append_new(list, json_pack("{s:i, s:s}", "line", b->stack[i].line,
						      "function", b->stack[i].function));
	return list;
}

/* Why the frame could not go on behind the break; null where it did. */
static json_t *because_json(const struct fusion_break *b)
{
	if (!b->because)
		return json_null();
	return json_pack("{s:s, s:o, s:o}", "message", b->because, "hint",
			 text_or_null(b->because_hint), "gb", text_or_null(b->because_gb));
}

/* Where the cause is, if the break's own place is the block around it. */
static json_t *cause_json(const struct fusion_break *b)
{
	if (b->cause.line <= 0)
		return json_null();
	return json_pack("{s:i, s:s, s:i, s:i}", "line", b->cause.line, "function",
			 b->cause.function, "column", b->cause_column, "end_column",
			 b->cause_end_column);
}

static json_t *break_json(const struct fusion_session *s, int index)
{
	struct fusion_break b = fusion_break(s, index);

	return json_pack(
	    "{s:s, s:s, s:s, s:o, s:I, s:o, s:o, s:o, s:o, s:o, s:o, s:i, s:i, s:o, s:I, s:o}",
	    "stage", b.stage, "kind", b.kind, "outcome", b.outcome, "gb", text_or_null(b.gb),
	    "call", (json_int_t)b.call, "graph", index_or_null(b.graph), "message",
	    message_json(s, index), "hint", text_or_null(b.hint), "because", because_json(&b),
	    "subject", text_or_null(b.subject), "stack", stack_json(&b), "column", b.column,
	    "end_column", b.end_column, "cause", cause_json(&b), "count", (json_int_t)b.count,
	    "cost_us", b.cost_ns >= 0 ? json_real((double)b.cost_ns / 1000) : json_null());
}

json_t *breaks_to_json(const struct fusion_session *s)
{
	json_t *list = json_array();

	for (int i = 0; i < fusion_break_count(s); i++)
		json_array_append_new(list, break_json(s, i));
	return list;
}

struct break_place profiler_place_of(const struct report_break *b)
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

struct break_place profiler_break_place(const json_t *item)
{
	const json_t *cause = json_object_get(item, "cause"),
		     *stack = json_object_get(item, "stack");
	size_t n = json_array_size(stack);
	const json_t *line = json_is_object(cause) ? cause
			     : n                   ? json_array_get(stack, n - 1)
						   : NULL;
	const json_t *columns = json_is_object(cause) ? cause : item;

	return (struct break_place){ .file = text_field_or(line, "file", NULL),
				     .line = whole_field(line, "line"),
				     .column = whole_field(columns, "column"),
				     .end_column = whole_field(columns, "end_column") };
}

static json_t *entry_json(const struct fusion_entry_info *e, int frame_id)
{
	json_t *guards = json_array(), *symbols = json_array();
	char compile[32];

	for (int i = 0; i < e->n_guards; i++)
		json_array_append_new(guards, json_string(e->guards[i]));
	for (int i = 0; i < e->n_symbols; i++)
		json_array_append_new(symbols,
				      json_pack("{s:s, s:s, s:o}", "name", e->symbols[i].name,
						"source", e->symbols[i].source, "range",
						text_or_null(e->symbols[i].range)));
	snprintf(compile, sizeof(compile), "%d/%d", frame_id, e->compile_id);
	return json_pack("{s:s, s:o, s:I, s:f, s:I, s:I, s:o, s:o, s:o}", "compile", compile,
			 "graph", index_or_null(e->graph), "call", (json_int_t)e->call,
			 "compile_ms", (double)e->compile_ns / 1e6, "uses", (json_int_t)e->uses,
			 "bail_outs", (json_int_t)e->refuted, "reason", text_or_null(e->reason),
			 "guards", guards, "symbols", symbols);
}

json_t *tree_to_json(const struct fusion_session *s)
{
	json_t *list = json_array();

	for (int i = 0; i < fusion_frame_count(s); i++) {
		struct fusion_frame_info f = fusion_frame(s, i);

		json_array_append_new(list,
				      json_pack("{s:s, s:i, s:i, s:b, s:b, s:[]}", "frame", f.name,
						"id", f.frame_id, "line", f.line, "skipped",
						f.skipped, "run_only", f.run_only, "entries"));
	}
	for (int i = 0; i < fusion_entry_count(s); i++) {
		struct fusion_entry_info e = fusion_entry(s, i);
		json_t *frame = json_array_get(list, (size_t)e.frame);

		json_array_append_new(json_object_get(frame, "entries"),
				      entry_json(&e, fusion_frame(s, e.frame).frame_id));
	}
	return list;
}

static json_t *barrier_json(const struct fusion_session *s, int index)
{
	struct fusion_barrier b = fusion_barrier(s, index);
	struct buf text;
	json_t *json;

	buf_init(&text, 4096);
	fusion_barrier_message(s, index, &text);
	json = json_pack("{s:I, s:i, s:s, s:s, s:o, s:b, s:s, s:o, s:i, s:i}", "call",
			 (json_int_t)b.call, "line", b.line, "function", b.function, "cause",
			 b.cause, "message", text.len ? text_or_null(text.data) : json_null(),
			 "compiled", b.compiled, "hash", b.hash, "graph", index_or_null(b.graph),
			 "inputs", b.n_inputs, "outputs", b.n_outputs);
	buf_finish(&text);
	return json;
}

json_t *lazy_to_json(const struct fusion_session *s)
{
	int n = fusion_barrier_count(s), listed = n < MOST_BARRIERS ? n : MOST_BARRIERS;
	json_t *runs = json_array();

	for (int i = 0; i < listed; i++)
		json_array_append_new(runs, barrier_json(s, i));
	return json_pack("{s:o, s:I}", "runs", runs, "left_out",
			 (json_int_t)fusion_barriers_left_out(s) + n - listed);
}
