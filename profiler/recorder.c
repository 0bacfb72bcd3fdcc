/* profiler/recorder.c -- see recorder.h. */
#include "profiler/recorder.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/vec.h"
#include "fusion/lower/lower.h"

enum { ENOUGH_NS = 20 * 1000 * 1000 };

/* An event as it was told; `op` lives as long as the engine. */
struct told {
	int64_t begin_ns, end_ns;
	enum timeline_kind kind;
	int graph, kernel; /* of a kernel; graph -1: eager, of `op` */
	const char *op;
	int line;
	uint32_t correlation;
};

/* Of a lane: which name stands for what was told. */
struct known_name {
	struct told of;
	uint32_t name;
};

struct recorder {
	struct timeline_writer *writer;
	struct told *told;
	int n, limit;
	int64_t lost, calls;
	const char *op; /* the eager op under way */
	int line;
	uint32_t correlation, phases[TIMELINE_KIND_COUNT];
	VEC(struct known_name) names;
};

struct recorder *recorder_create(timeline_block_fn *put, void *self, int lanes, struct err *err)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (!r) {
		err_set(err, ERR_MEMORY, "out of memory for the timeline");
		return NULL;
	}
	r->limit = RECORDER_ALL_EVENTS / (lanes > 0 ? lanes : 1);
	r->limit = r->limit > RECORDER_LANE_EVENTS ? RECORDER_LANE_EVENTS : r->limit;
	r->limit = r->limit < RECORDER_LEAST_EVENTS ? RECORDER_LEAST_EVENTS : r->limit;
	r->told = calloc((size_t)r->limit, sizeof(*r->told));
	r->writer = timeline_writer_create(put, self, err);
	if (r->told && r->writer)
		return r;
	if (r->writer)
		err_set(err, ERR_MEMORY, "out of memory for the timeline");
	recorder_destroy(r);
	return NULL;
}

void recorder_destroy(struct recorder *r)
{
	if (!r)
		return;
	timeline_writer_destroy(r->writer);
	VEC_FREE(&r->names);
	free(r->told);
	free(r);
}

/* ---- while the calls run ---- */

static void tell(struct recorder *r, struct told told)
{
	if (r->n < r->limit)
		r->told[r->n++] = told;
	else
		r->lost++;
}

static void on_eager_op(void *self, const char *name, int line)
{
	struct recorder *r = self;

	r->op = name;
	r->line = line;
}

static void on_launched(void *self, int graph, int kernel, int64_t begin_ns, int64_t end_ns)
{
	struct recorder *r = self;
	bool eager = graph < 0;

	tell(r, (struct told){ .begin_ns = begin_ns,
			       .end_ns = end_ns,
			       .kind = eager ? TIMELINE_EAGER : TIMELINE_KERNEL,
			       .graph = graph,
			       .kernel = kernel,
			       .op = eager ? r->op : NULL,
			       .line = eager ? r->line : 0,
			       .correlation = ++r->correlation });
}

static void on_phase(void *self, enum fusion_phase phase, int64_t begin_ns, int64_t end_ns)
{
	static const enum timeline_kind kinds[PHASE_COUNT] = { [PHASE_GUARDS] = TIMELINE_GUARDS,
							       [PHASE_DISPATCH] = TIMELINE_DISPATCH,
							       [PHASE_ALLOC] = TIMELINE_ALLOC,
							       [PHASE_LAUNCH] = TIMELINE_LAUNCH };
	struct recorder *r = self;
	struct told told = { .begin_ns = begin_ns, .end_ns = end_ns, .kind = kinds[phase] };

	if (phase == PHASE_KERNEL) /* on_launched() has it */
		return;
	if (phase == PHASE_LAUNCH) /* told behind its kernel */
		told.correlation = r->correlation;
	tell(r, told);
}

static bool watch_calls(struct recorder *r, struct lane *lane, struct err *err)
{
	int64_t start = clock_ns();

	for (int i = 0; i < RECORDER_MAX_CALLS; i++) {
		int call = lane->timed[i % lane->n_timed];
		struct value out;
		int64_t begin;

		if (i >= RECORDER_MIN_CALLS &&
		    (clock_ns() - start > ENOUGH_NS || r->n > r->limit / 2))
			break;
		if (lane->writes && !lane_restore(lane, call, err))
			return false;
		begin = clock_ns();
		if (!lane_call(lane, call, &out, err))
			return false;
		tell(r, (struct told){ .begin_ns = begin,
				       .end_ns = clock_ns(),
				       .kind = TIMELINE_CALL,
				       .kernel = call });
		value_unref(out);
		buf_clear(fusion_stdout(lane->session));
		r->calls++;
	}
	return true;
}

/* ---- what was told, as events ---- */

/* Ops and lines of a kernel, from the nodes that it computes. */
static void describe_nodes(json_t *row, const struct fusion_graph_info *info,
			   const struct kernel *k)
{
	json_t *ops = json_array(), *lines = json_array();

	/* Where something falls back each piece is a graph of its own. */
	for (int i = 0; info->n_pieces == 1 && info->optimised && i < k->n_nodes; i++) {
		const struct node *n;
		bool again = false;

		if (k->nodes[i] < 0 || k->nodes[i] >= info->optimised->n_nodes)
			continue;
		n = info->optimised->nodes[k->nodes[i]];
		json_array_append_new(ops,
				      json_string(n->fx && n->fx[0] ? n->fx : op_info(n->op)->id));
		for (size_t at = 0; at < json_array_size(lines); at++)
			again |= json_integer_value(json_array_get(lines, at)) == n->line;
		if (n->line > 0 && !again)
			json_array_append_new(lines, json_integer(n->line));
	}
	json_object_set_new(row, "ops", ops);
	json_object_set_new(row, "lines", lines);
}

static json_t *kernel_row(const struct lane *lane, const struct told *t, bool *library)
{
	struct fusion_graph_info info;
	const struct kernel *k;
	json_t *row;

	if (t->graph >= fusion_graph_count(lane->session))
		return json_pack("{s:o}", "name", json_sprintf("kernel %d", t->kernel));
	info = fusion_graph(lane->session, t->graph);
	if (t->kernel < 0 || t->kernel >= info.n_kernels)
		return json_pack("{s:o, s:i}", "name", json_sprintf("kernel %d", t->kernel),
				 "graph", t->graph);
	k = &info.kernels[t->kernel];
	*library = k->form == FORM_LIBRARY;
	row = json_pack("{s:s, s:i, s:s, s:o, s:s, s:s, s:I, s:I}", "name", k->name, "graph",
			t->graph, "frame", info.frame, "compile",
			json_sprintf("%d/%d", info.frame_id, info.compile_id), "form",
			lower_form_name(k->form), "why", k->why ? k->why : "", "read_bytes",
			(json_int_t)k->read_bytes, "written_bytes", (json_int_t)k->written_bytes);
	describe_nodes(row, &info, k);
	return row;
}

static json_t *eager_row(const struct told *t)
{
	const char *name = t->op ? t->op : "kernel";

	return json_pack("{s:s, s:[s], s:o}", "name", name, "ops", name, "lines",
			 t->line > 0 ? json_pack("[i]", t->line) : json_array());
}

static bool same_name(const struct told *a, const struct told *b)
{
	if (a->graph != b->graph || a->kernel != b->kernel || a->line != b->line)
		return false;
	return a->op == b->op || (a->op && b->op && strcmp(a->op, b->op) == 0);
}

/* The name of a kernel; changes its kind where the kernel is a library's. */
static uint32_t name_kernel(struct recorder *r, const struct lane *lane, struct told *t)
{
	bool library = false;
	struct known_name known = { .of = *t };

	for (size_t i = 0; i < r->names.len; i++)
		if (same_name(&r->names.at[i].of, t)) {
			t->kind = r->names.at[i].of.kind;
			return r->names.at[i].name;
		}
	known.name = timeline_writer_name(r->writer, t->graph < 0 ? eager_row(t)
								  : kernel_row(lane, t, &library));
	t->kind = known.of.kind = library ? TIMELINE_LIBRARY : t->kind;
	if (!VEC_PUSH(&r->names, known))
		r->names.len = 0; /* they are made anew */
	return known.name;
}

/* Names of what is not a kernel are the same for all lanes, but of calls. */
static uint32_t name_other(struct recorder *r, const struct told *t)
{
	uint32_t *name = &r->phases[t->kind];

	if (t->kind == TIMELINE_CALL)
		return timeline_writer_name(
		    r->writer, json_pack("{s:o, s:i}", "name", json_sprintf("calls[%d]", t->kernel),
					 "call", t->kernel));
	if (!*name)
		*name = timeline_writer_name(
		    r->writer, json_pack("{s:s}", "name", timeline_kind_name(t->kind)));
	return *name;
}

static uint32_t add_lane(struct recorder *r, const struct lane *lane, const int64_t *n,
			 const char *role)
{
	json_t *row = json_pack("{s:s, s:s, s:s}", "name", role, "role", role, "mode",
				fusion_mode_name(lane->mode));

	if (n)
		json_object_set_new(row, "n", json_integer(*n));
	return timeline_writer_lane(r->writer, row);
}

static bool is_kernel(enum timeline_kind kind)
{
	return kind == TIMELINE_KERNEL || kind == TIMELINE_EAGER;
}

static bool write_events(struct recorder *r, const struct lane *lane, const int64_t *n,
			 struct err *err)
{
	uint32_t calls = add_lane(r, lane, n, "calls"), host = add_lane(r, lane, n, "host"),
		 kernels = add_lane(r, lane, n, "kernels");

	r->names.len = 0;
	for (int i = 0; i < r->n; i++) {
		struct told *t = &r->told[i];
		bool kernel = is_kernel(t->kind);
		uint32_t name = kernel ? name_kernel(r, lane, t) : name_other(r, t);
		struct timeline_event e = {
			.start_ns = t->begin_ns,
			.duration_ns = t->end_ns - t->begin_ns,
			.lane = kernel                     ? kernels
				: t->kind == TIMELINE_CALL ? calls
							   : host,
			.kind = t->kind,
			.name = name,
			.correlation = t->correlation,
		};

		if (!timeline_writer_add(r->writer, &e, err))
			return false;
	}
	return true;
}

bool recorder_lane(struct recorder *r, struct lane *lane, const int64_t *n, struct err *err)
{
	struct fusion_observer observer = {
		.self = r, .launched = on_launched, .phase = on_phase, .eager_op = on_eager_op
	};
	bool ok;

	r->n = 0;
	r->op = NULL;
	r->line = 0;
	fusion_observe(lane->session, &observer);
	ok = watch_calls(r, lane, err);
	fusion_observe(lane->session, NULL);
	return ok && write_events(r, lane, n, err);
}

bool recorder_finish(struct recorder *r, struct err *err)
{
	json_t *facts = json_pack("{s:s, s:s, s:I, s:I}", "recorder", "engine", "clock",
				  "CLOCK_MONOTONIC", "dropped", (json_int_t)r->lost, "calls",
				  (json_int_t)r->calls);

	return timeline_writer_finish(r->writer, facts, err);
}
