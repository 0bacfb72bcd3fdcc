/* profiler/recorder/names.c -- what the numbers in a recording's events stand for. */
#include <string.h>

#include "fusion/inspect.h"
#include "profiler/recorder/recorded.h"

/* Ops and lines of a kernel, from the nodes that it computes. */
static void describe_nodes(json_t *row, const struct fusion_graph_info *info, int kernel,
			   const struct fusion_kernel *k)
{
	json_t *ops = json_array(), *lines = json_array();

	for (int i = 0; i < k->n_lines; i++)
		json_array_append_new(lines, json_integer(k->lines[i]));
	for (int i = 0; i < k->n_ops; i++) {
		const char *op = fusion_kernel_op(info, kernel, i);

		if (op)
			json_array_append_new(ops, json_string(op));
	}
	json_object_set_new(row, "ops", ops);
	json_object_set_new(row, "lines", lines);
}

static json_t *kernel_row(const struct candidate *candidate, const struct recorded *t,
			  bool *library)
{
	struct fusion_graph_info info;
	struct fusion_kernel k;
	json_t *row;

	if (t->graph >= fusion_graph_count(candidate->session))
		return json_pack("{s:o}", "name", json_sprintf("kernel %d", t->kernel));
	info = fusion_graph(candidate->session, t->graph);
	if (t->kernel < 0 || t->kernel >= info.n_kernels)
		return json_pack("{s:o, s:i}", "name", json_sprintf("kernel %d", t->kernel),
				 "graph", t->graph);
	k = fusion_kernel(&info, t->kernel);
	*library = k.is_library;
	row = json_pack("{s:s, s:i, s:s, s:o, s:s, s:s, s:I, s:I}", "name", k.name, "graph",
			t->graph, "frame", info.frame, "compile",
			json_sprintf("%d/%d", info.frame_id, info.compile_id), "form", k.form,
			"why", k.why ? k.why : "", "read_bytes", (json_int_t)k.read_bytes,
			"written_bytes", (json_int_t)k.written_bytes);
	if (k.calls_library && row) /* that kernel is launched in any case */
		json_object_set_new(row, "library", json_true());
	describe_nodes(row, &info, t->kernel, &k);
	return row;
}

static json_t *eager_row(const struct recorded *t)
{
	const char *name = t->op ? t->op : "kernel";

	return json_pack("{s:s, s:[s], s:o}", "name", name, "ops", name, "lines",
			 t->line > 0 ? json_pack("[i]", t->line) : json_array());
}

static bool same_name(const struct recorded *a, const struct recorded *b)
{
	if ((recorded_is_part(a) || recorded_is_part(b)) && a->kind != b->kind)
		return false;
	if (recorded_is_graph(a) != recorded_is_graph(b))
		return false;
	if (a->graph != b->graph || a->kernel != b->kernel || a->line != b->line)
		return false;
	return a->op == b->op || (a->op && b->op && strcmp(a->op, b->op) == 0);
}

/* Symbols are each kept once. */
static struct known_name *find_name(struct recorder *r, const struct recorded *t,
				    const char *symbol)
{
	for (size_t i = 0; i < r->names.len; i++)
		if (r->names.at[i].symbol == symbol && same_name(&r->names.at[i].of, t))
			return &r->names.at[i];
	return NULL;
}

uint32_t recorder_name_launch(struct recorder *r, const struct candidate *candidate,
			      struct recorded *t, const char *symbol)
{
	struct known_name known = { .of = *t, .symbol = symbol }, *found;
	bool library = false;
	json_t *row;

	found = find_name(r, t, symbol);
	if (found) {
		t->kind = found->of.kind;
		return found->name;
	}
	row = t->graph < 0 ? eager_row(t) : kernel_row(candidate, t, &library);
	if (symbol && row)
		json_object_set_new(row, "symbol", json_string(symbol));
	known.name = timeline_writer_name(r->writer, row);
	t->kind = known.of.kind = library ? TIMELINE_LIBRARY : t->kind;
	if (!VEC_PUSH(&r->names, known))
		r->names.len = 0; /* they are made again */
	return known.name;
}

static json_t *break_row(const struct candidate *candidate, int index)
{
	struct fusion_break b = fusion_break(candidate->session, index);

	return json_pack("{s:o, s:i, s:s, s:i}", "name",
			 json_sprintf("break %d: %s", index + 1, b.subject ? b.subject : b.kind),
			 "break", index, "stage", b.stage, "line",
			 b.n_stack ? b.stack[b.n_stack - 1].line : 0);
}

uint32_t recorder_name_part(struct recorder *r, const struct candidate *candidate,
			    const struct recorded *t)
{
	struct known_name known = { .of = *t }, *found = find_name(r, t, NULL);
	json_t *row;

	if (found)
		return found->name;
	if (t->kind == TIMELINE_BREAK)
		row = break_row(candidate, t->graph);
	else if (t->graph < 0)
		row = json_pack("{s:s}", "name", "without ops");
	else
		row = json_pack("{s:o, s:i}", "name", json_sprintf("graph %d", t->graph), "graph",
				t->graph);
	known.name = timeline_writer_name(r->writer, row);
	if (!VEC_PUSH(&r->names, known))
		r->names.len = 0;
	return known.name;
}

uint32_t recorder_name_graph(struct recorder *r, const struct candidate *candidate,
			     const struct recorded *t)
{
	struct known_name known = { .of = *t }, *found = find_name(r, t, NULL);
	int64_t read_bytes = 0, written_bytes = 0;
	struct fusion_graph_info info;

	if (found)
		return found->name;
	if (t->graph >= 0 && t->graph < fusion_graph_count(candidate->session)) {
		info = fusion_graph(candidate->session, t->graph);
		for (int k = t->kernel; k < t->kernel + t->kernels && k < info.n_kernels; k++) {
			read_bytes += fusion_kernel(&info, k).read_bytes;
			written_bytes += fusion_kernel(&info, k).written_bytes;
		}
	}
	known.name = timeline_writer_name(
	    r->writer,
	    json_pack("{s:o, s:i, s:i, s:I, s:I}", "name",
		      json_sprintf("CUDA graph of graph %d", t->graph), "graph", t->graph,
		      "kernels", t->kernels, "read_bytes", (json_int_t)read_bytes, "written_bytes",
		      (json_int_t)written_bytes));
	if (!VEC_PUSH(&r->names, known))
		r->names.len = 0;
	return known.name;
}

/* Names of what is not a kernel are the same for all candidates, but of calls. */
uint32_t recorder_name_other(struct recorder *r, const struct recorded *t)
{
	uint32_t *name = &r->phases[t->kind];

	if (t->kind == TIMELINE_CALL)
		return timeline_writer_name(
		    r->writer, json_pack("{s:o, s:i}", "name", json_sprintf("calls[%d]", t->kernel),
					 "call", t->kernel));
	if (!*name)
		*name = timeline_writer_name(r->writer,
					     json_pack("{s:s}", "name",
						       t->kind == TIMELINE_COUNTER
							   ? "bytes in use"
							   : timeline_kind_name(t->kind)));
	return *name;
}

uint32_t recorder_name_symbol(struct recorder *r, const char *symbol)
{
	static const struct recorded nobody;
	struct known_name known = { .symbol = symbol }, *found = find_name(r, &nobody, symbol);

	if (found)
		return found->name;
	known.name = timeline_writer_name(r->writer, json_pack("{s:s}", "name", symbol));
	if (!VEC_PUSH(&r->names, known))
		r->names.len = 0;
	return known.name;
}

json_t *recorder_lane_row(const struct recorded_candidate *at, const char *role)
{
	json_t *row = json_pack("{s:s, s:s, s:s}", "name", role, "role", role, "mode",
				fusion_mode_name(at->candidate->mode));

	if (at->n && row)
		json_object_set_new(row, "n", json_integer(*at->n));
	return row;
}

uint32_t recorder_add_lane(struct recorder *r, const struct recorded_candidate *at,
			   const char *role)
{
	return timeline_writer_lane(r->writer, recorder_lane_row(at, role));
}

uint32_t recorder_add_memory_lane(struct recorder *r, const struct recorded_candidate *at)
{
	json_t *row = recorder_lane_row(at, "counter");

	json_object_set_new(row, "name", json_string("memory"));
	json_object_set_new(row, "unit", json_string("bytes"));
	return timeline_writer_lane(r->writer, row);
}
