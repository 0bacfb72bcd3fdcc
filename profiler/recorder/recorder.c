/* profiler/recorder/recorder.c -- calls of measured candidates as a timeline. */
#include "profiler/recorder/recorder.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/inspect.h"
#include "profiler/measure/measure.h"
#include "profiler/recorder/recorded.h"

/* ---- what the numbers in a recording's events stand for. ---- */

/* Lines of the source; of a program of several files those of the files, and which these are. */
static void put_lines(json_t *row, const struct candidate *candidate, const int *lines, int n)
{
	json_t *at = json_array(), *files = json_array();

	for (int i = 0; i < n; i++) {
		int there;
		const char *file = fusion_place(candidate->program, lines[i], &there);

		json_array_append_new(at, json_integer(there));
		if (file)
			json_array_append_new(files, json_string(file));
	}
	json_object_set_new(row, "lines", at);
	if (json_array_size(files) > 0)
		json_object_set(row, "files", files);
	json_decref(files);
}

/* Ops and lines of a kernel, from the nodes that it computes. */
static void describe_nodes(json_t *row, const struct candidate *candidate,
			   const struct fusion_graph_info *info, int kernel,
			   const struct fusion_kernel *k)
{
	json_t *ops = json_array();

	for (int i = 0; i < k->n_ops; i++) {
		const char *op = fusion_kernel_op(info, kernel, i);

		if (op)
			json_array_append_new(ops, json_string(op));
	}
	json_object_set_new(row, "ops", ops);
	put_lines(row, candidate, k->lines, k->n_lines);
}

static json_t *kernel_row(const struct candidate *candidate, const struct recorded *t,
			  bool *library)
{
	struct fusion_graph_info info;
	struct fusion_kernel k;
	json_t *row;

	if (t->graph >= fusion_counts(candidate->session).n_graphs)
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
	describe_nodes(row, candidate, &info, t->kernel, &k);
	return row;
}

static json_t *eager_row(const struct candidate *candidate, const struct recorded *t)
{
	const char *name = t->op ? t->op : "kernel";
	json_t *row = json_pack("{s:s, s:[s]}", "name", name, "ops", name);

	put_lines(row, candidate, &t->line, t->line > 0);
	return row;
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

/* The name of a kernel; changes its kind where the kernel is a library's.  `symbol`: of
 * what a library ran for it; NULL: its own. */
static uint32_t recorder_name_launch(struct recorder *r, const struct candidate *candidate,
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
	row = t->graph < 0 ? eager_row(candidate, t) : kernel_row(candidate, t, &library);
	if (symbol && row)
		json_object_set_new(row, "symbol", json_string(symbol));
	known.name = timeline_writer_name(r->writer, row);
	t->kind = known.of.kind = library ? TIMELINE_LIBRARY : t->kind;
	if (!VEC_PUSH(&r->names, known))
		r->names.len = 0; /* they are made again */
	return known.name;
}

/* Named by its line, as wherever breaks are shown: numbers of lists differ. */
static json_t *break_row(const struct candidate *candidate, int index)
{
	struct fusion_break b = fusion_break(candidate->session, index);
	int line = b.cause.line ? b.cause.line : b.n_stack ? b.stack[b.n_stack - 1].line : 0;
	const char *what = b.subject ? b.subject : b.kind;
	const char *file = fusion_place(candidate->program, line, &line);

	return json_pack("{s:o, s:i, s:s, s:i, s:s*}", "name",
			 file ? json_sprintf("break, %s:%d: %s", file, line, what)
			      : json_sprintf("break, line %d: %s", line, what),
			 "break", index, "stage", b.stage, "line", line, "file", file);
}

/* Of a piece or a break, whose number is reported as `graph`. */
static uint32_t recorder_name_part(struct recorder *r, const struct candidate *candidate,
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

/* Of the launch of a CUDA graph, whose first kernel and their number are reported as `kernel`
 * and `kernels`. */
static uint32_t recorder_name_graph(struct recorder *r, const struct candidate *candidate,
				    const struct recorded *t)
{
	struct known_name known = { .of = *t }, *found = find_name(r, t, NULL);
	int64_t read_bytes = 0, written_bytes = 0;
	struct fusion_graph_info info;

	if (found)
		return found->name;
	if (t->graph >= 0 && t->graph < fusion_counts(candidate->session).n_graphs) {
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
static uint32_t recorder_name_other(struct recorder *r, const struct recorded *t)
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

/* The name of a kernel; changes its kind where the kernel is a library's.  `symbol`: of
 * what a library ran for it; NULL: its own. */
static uint32_t recorder_name_symbol(struct recorder *r, const char *symbol)
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

/* names.c.  A row of the table of lanes, and its number there. */
static json_t *recorder_lane_row(const struct recorded_candidate *at, const char *role)
{
	json_t *row = json_pack("{s:s, s:s, s:s}", "name", role, "role", role, "mode",
				fusion_mode_name(at->candidate->mode));

	if (at->n && row)
		json_object_set_new(row, "n", json_integer(*at->n));
	return row;
}

/* names.c.  A row of the table of lanes, and its number there. */
static uint32_t recorder_add_lane(struct recorder *r, const struct recorded_candidate *at,
				  const char *role)
{
	return timeline_writer_lane(r->writer, recorder_lane_row(at, role));
}

/* A counter, of bytes. */
static uint32_t recorder_add_memory_lane(struct recorder *r, const struct recorded_candidate *at)
{
	json_t *row = recorder_lane_row(at, "counter");

	json_object_set_new(row, "name", json_string("memory"));
	json_object_set_new(row, "unit", json_string("bytes"));
	return timeline_writer_lane(r->writer, row);
}

/* ---- what the device ran, laid to the launches it came from.
 *
 * What a library runs, copies and sets carry the id of their launch.  Kernels of our own
 * come in the order of their launches, as many for each as were counted: records of
 * their calls would cost every launch 0.2 us more.  Where the two sums differ names
 * decide; what stays over, or has another's name, is counted as doubtful.
 *
 * What a CUDA graph runs has the correlation of its launch, one for all, and the id of
 * its node.  Nodes run in the order of the kernels that they were made for; where some
 * of a launch were not seen, another launch of the same graph says which node is which.
 */

/* Events of the device, and the launch of each: an index into what was reported, or -1. */
struct laid {
	const struct wire_event *events;
	int *of;
	size_t n;
};

static bool on_device(const struct wire_event *e)
{
	return e->kind == TIMELINE_KERNEL || e->kind == TIMELINE_COPY || e->kind == TIMELINE_SET;
}

/* The number in "k17", a generated kernel, or in "l17_sort", one of an op; -1: it is not
 * of our own. */
static int number_of(const char *symbol)
{
	char *end;
	long n;

	if ((symbol[0] != 'k' && symbol[0] != 'l') || !isdigit((unsigned char)symbol[1]))
		return -1;
	n = strtol(symbol + 1, &end, 10);
	return *end == (symbol[0] == 'k' ? '\0' : '_') && n < 1 << 20 ? (int)n : -1;
}

static int own_number(struct recorder *r, const struct wire_event *e)
{
	return e->kind == TIMELINE_KERNEL ? number_of(device_trace_symbol(r->device, e->name)) : -1;
}

/* Of our own, by its name, and not a graph's: in the order of the launches. */
static bool is_own(struct recorder *r, const struct wire_event *e)
{
	return e->graph == 0 && own_number(r, e) >= 0;
}

/* Whether the event's id says whose it is.  With records of the driver's calls kernels of
 * our own after a library's have one too. */
static bool by_id(struct recorder *r, const struct wire_event *e)
{
	return e->external && own_number(r, e) < 0;
}

/* Whether the launch may have run a kernel of this number.  A graph that runs in pieces
 * numbers its kernels through, its pieces theirs from 0. */
static bool may_be(const struct candidate *candidate, const struct recorded *t, int number)
{
	if (t->graph < 0 || t->graph >= fusion_counts(candidate->session).n_graphs)
		return true;
	return fusion_graph(candidate->session, t->graph).n_pieces != 1 || t->kernel == number;
}

/* The launch at or after `at` that a kernel is laid to; r->n: there is none. */
static int find_launch(const struct recorder *r, const struct candidate *candidate, int at,
		       int left, bool alike, int number)
{
	for (; at < r->n; left = 0, at++) {
		const struct recorded *t = &r->recorded[at];
		int kernels = left ? left : recorded_is_launch(t) ? t->kernels : 0;

		if (kernels > 0 && (alike || may_be(candidate, t, number)))
			return at;
	}
	return at;
}

/* Kernels of our own, in their order. */
static void lay_own(struct recorder *r, const struct candidate *candidate, struct laid *l)
{
	int64_t seen = 0, launched = 0, laid = 0;
	int at = 0, left = 0; /* the launch under way, and kernels that it has still to come */
	bool alike;

	for (size_t i = 0; i < l->n; i++)
		seen += is_own(r, &l->events[i]);
	for (int i = 0; i < r->n; i++)
		launched += recorded_is_launch(&r->recorded[i]) ? r->recorded[i].kernels : 0;
	alike = seen == launched;
	for (size_t i = 0; i < l->n; i++) {
		int number = own_number(r, &l->events[i]), next;

		if (!is_own(r, &l->events[i])) {
			r->doubtful += l->events[i].kind == TIMELINE_KERNEL &&
				       l->events[i].graph == 0 && l->of[i] < 0;
			continue;
		}
		next = find_launch(r, candidate, at, left, alike, number);
		if (next == r->n) { /* nobody's: the search goes on from where it was */
			r->doubtful++;
			continue;
		}
		r->doubtful += alike && !may_be(candidate, &r->recorded[next], number);
		left = (next == at && left ? left : r->recorded[next].kernels) - 1;
		at = left ? next : next + 1;
		l->of[i] = next;
		laid++;
	}
	r->doubtful += launched - laid; /* that nothing was seen of */
}

/* A library's, by their ids. */
static void lay_libraries(struct recorder *r, struct laid *l)
{
	for (size_t i = 0; i < l->n; i++) {
		int id = by_id(r, &l->events[i]) ? (int)l->events[i].external - 1 : -1;

		l->of[i] = id >= 0 && id < r->n && recorded_is_launch(&r->recorded[id]) ? id : -1;
	}
}

/* ---- CUDA graphs ---- */

/* A launch of one: what was reported of it, and what was seen. */
struct replay {
	int at, n;                   /* the place after its own; how many things it ran */
	uint32_t correlation, graph; /* 0: nothing was seen of it */
	int seen;
};

static int list_replays(const struct recorder *r, struct replay *out)
{
	int n = 0;

	for (int i = 0; i < r->n; i++) {
		const struct recorded *t = &r->recorded[i];

		if (recorded_is_graph(t))
			out[n++] = (struct replay){ .at = i + 1 };
		else if (recorded_is_node(t) && n > 0)
			out[n - 1].n += t->kernels;
	}
	return n;
}

/* The replays in the order of their launches, which correlations grow in; how many
 * events are of none. */
static int match_replays(struct replay *replays, int n, const struct laid *l)
{
	int at = -1, over = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct wire_event *e = &l->events[i];

		if (e->graph == 0 || !on_device(e))
			continue;
		if (at < 0 || replays[at].correlation != e->correlation) {
			if (at + 1 == n) {
				over++;
				continue;
			}
			at++;
			replays[at] = (struct replay){ .at = replays[at].at,
						       .n = replays[at].n,
						       .correlation = e->correlation,
						       .graph = e->graph };
		}
		replays[at].seen++;
	}
	return over;
}

/* What was reported of the thing at `place` of a replay; -1: it has none there. */
static int recorded_at(const struct recorder *r, const struct replay *replay, int place)
{
	for (int i = replay->at; i < r->n && recorded_is_node(&r->recorded[i]); i++) {
		if (place < r->recorded[i].kernels)
			return i;
		place -= r->recorded[i].kernels;
	}
	return -1;
}

/* The place of a node, from a launch of the graph that was seen whole; -1: there is none. */
static int place_of_node(const struct replay *replays, int n, const struct laid *l,
			 const struct wire_event *of)
{
	for (int k = 0; k < n; k++) {
		int place = 0;

		if (replays[k].graph != of->graph || replays[k].seen != replays[k].n)
			continue;
		for (size_t i = 0; i < l->n; i++) {
			const struct wire_event *e = &l->events[i];

			if (e->graph != of->graph || e->correlation != replays[k].correlation ||
			    !on_device(e))
				continue;
			if (e->node == of->node)
				return place;
			place++;
		}
	}
	return -1;
}

static void lay_replays(struct recorder *r, const struct candidate *candidate, struct laid *l,
			const struct replay *replays, int n)
{
	int at = -1, place = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct wire_event *e = &l->events[i];
		bool whole;

		if (e->graph == 0 || !on_device(e))
			continue;
		if (at < 0 || replays[at].correlation != e->correlation) {
			if (at + 1 == n)
				return;
			at++;
			place = 0;
		}
		whole = replays[at].seen == replays[at].n;
		l->of[i] = recorded_at(r, &replays[at],
				       whole ? place++ : place_of_node(replays, n, l, e));
		if (l->of[i] < 0 || (own_number(r, e) >= 0 &&
				     !may_be(candidate, &r->recorded[l->of[i]], own_number(r, e))))
			r->doubtful++;
	}
}

static bool lay_graphs(struct recorder *r, const struct candidate *candidate, struct laid *l)
{
	struct replay *replays = calloc((size_t)r->replays + 1, sizeof(*replays));
	int n;

	if (!replays)
		return false;
	n = list_replays(r, replays);
	r->doubtful += match_replays(replays, n, l);
	for (int i = 0; i < n; i++)
		r->doubtful += replays[i].n > replays[i].seen ? replays[i].n - replays[i].seen : 0;
	lay_replays(r, candidate, l, replays, n);
	free(replays);
	return true;
}

struct stream {
	uint32_t device, stream;
	bool api; /* calls of a thread, by the name of a stream */
	uint32_t lane;
};
enum { MAX_STREAMS = 16 };

static uint32_t lane_of(struct recorder *r, const struct recorded_candidate *at,
			const struct wire_event *e, struct stream *streams, int *n)
{
	bool api = e->kind == TIMELINE_API;
	struct stream new = { e->device, e->stream, api, 0 };
	json_t *row;

	for (int i = 0; i < *n; i++)
		if ((streams[i].device == e->device && streams[i].stream == e->stream &&
		     streams[i].api == api) ||
		    i == MAX_STREAMS - 1)
			return streams[i].lane;
	row = recorder_lane_row(at, api ? "host" : "kernels");
	if (row && api) {
		json_object_set_new(row, "name", json_sprintf("API %u", e->stream));
	} else if (row) {
		json_object_set_new(row, "name",
				    json_sprintf("GPU %u, stream %u", e->device, e->stream));
		json_object_set_new(row, "device", json_integer(e->device));
		json_object_set_new(row, "stream", json_integer(e->stream));
	}
	new.lane = timeline_writer_lane(r->writer, row);
	streams[(*n)++] = new;
	return new.lane;
}

/* Name and kind of an event. */
static void describe(struct recorder *r, const struct candidate *candidate,
		     const struct wire_event *e, int of, struct timeline_event *out)
{
	const char *symbol = device_trace_symbol(r->device, e->name);
	struct recorded *t = of >= 0 && e->kind != TIMELINE_API ? &r->recorded[of] : NULL;
	bool foreign = own_number(r, e) < 0; /* a library's, a copy or a set */

	out->kind = e->kind;
	if (t && foreign)
		out->name = recorder_name_launch(r, candidate, t, symbol);
	else if (t)
		out->name = recorder_name_launch(r, candidate, t, NULL);
	else
		out->name = recorder_name_symbol(r, symbol);
	if (e->kind == TIMELINE_KERNEL)
		out->kind = !t || (foreign && t->graph >= 0) ? TIMELINE_LIBRARY : t->kind;
	out->correlation = t ? t->correlation : 0;
}

static bool write(struct recorder *r, const struct recorded_candidate *at, const struct laid *l,
		  struct err *err)
{
	struct stream streams[MAX_STREAMS];
	int n_streams = 0;

	for (size_t i = 0; i < l->n; i++) {
		const struct wire_event *e = &l->events[i];
		struct timeline_event out = { .start_ns = e->start_ns,
					      .duration_ns = e->end_ns - e->start_ns,
					      .bytes = e->bytes };

		if (!on_device(e) && e->kind != TIMELINE_API)
			continue;
		out.lane = lane_of(r, at, e, streams, &n_streams);
		out.shape = launch_shape(&r->shapes, r->writer, e);
		describe(r, at->candidate, e, l->of[i], &out);
		if (!timeline_writer_add(r->writer, &out, err))
			return false;
	}
	return true;
}

/* What the device ran since the last candidate, laid to what was reported. */
static bool recorder_write_device(struct recorder *r, const struct recorded_candidate *at,
				  struct err *err)
{
	struct laid l = { 0 };
	bool ok = false;

	l.n = device_trace_take(r->device, &l.events);
	l.of = calloc(l.n + 1, sizeof(*l.of));
	if (!l.of)
		return err_set(err, ERR_MEMORY, "out of memory for the timeline");
	lay_libraries(r, &l);
	lay_own(r, at->candidate, &l);
	if (lay_graphs(r, at->candidate, &l))
		ok = write(r, at, &l, err);
	else
		err_set(err, ERR_MEMORY, "out of memory for the timeline");
	free(l.of);
	return ok;
}

enum { ENOUGH_NS = 20 * 1000 * 1000 };

static void on_phase(void *self, enum fusion_phase phase, int64_t begin_ns, int64_t end_ns);

struct recorder *recorder_create(timeline_block_fn *put, void *self, int candidates,
				 struct err *err)
{
	struct recorder *r = calloc(1, sizeof(*r));

	if (!r) {
		err_set(err, ERR_MEMORY, "out of memory for the timeline");
		return NULL;
	}
	r->limit = RECORDER_ALL_EVENTS / (candidates > 0 ? candidates : 1);
	r->limit = r->limit > RECORDER_CANDIDATE_EVENTS ? RECORDER_CANDIDATE_EVENTS : r->limit;
	r->limit = r->limit < RECORDER_LEAST_EVENTS ? RECORDER_LEAST_EVENTS : r->limit;
	r->recorded = calloc((size_t)r->limit, sizeof(*r->recorded));
	r->writer = timeline_writer_create(put, self, err);
	if (r->recorded && r->writer) {
		r->clock_ns = measure_clock_cost_ns();
		r->report_ns = measure_reporting_ns(on_phase, r, &r->n) - 2 * r->clock_ns;
		r->report_ns = r->report_ns > 0 ? r->report_ns : 0;
		return r;
	}
	if (r->writer)
		err_set(err, ERR_MEMORY, "out of memory for the timeline");
	recorder_destroy(r);
	return NULL;
}

void recorder_destroy(struct recorder *r)
{
	if (!r)
		return;
	device_trace_stop(r->device, NULL);
	timeline_writer_destroy(r->writer);
	VEC_FREE(&r->names);
	free(r->recorded);
	free(r);
}

/* ---- while the calls run ---- */

static void keep(struct recorder *r, struct recorded event)
{
	if (r->n < r->limit)
		r->recorded[r->n++] = event;
	else
		r->lost++;
}

static void on_eager_op(void *self, const char *name, int line)
{
	struct recorder *r = self;

	r->op = name;
	r->line = line;
}

/* What the device runs for it is found by this id: the place of the event that will be recorded. */
static void on_launching(void *self, bool library)
{
	struct recorder *r = self;

	r->library = library;
	r->kernels = 0;
	if (r->device && library)
		device_trace_push(r->device, r->n < r->limit ? (uint32_t)r->n + 1 : 0);
}

static void on_ran(void *self, int kernels)
{
	((struct recorder *)self)->kernels = kernels;
}

static void on_launched(void *self, int graph, int kernel, int64_t begin_ns, int64_t end_ns)
{
	struct recorder *r = self;
	bool eager = graph < 0;

	if (r->device && r->library)
		device_trace_pop(r->device);
	keep(r, (struct recorded){ .begin_ns = begin_ns,
				   .end_ns = end_ns,
				   .kind = eager ? TIMELINE_EAGER : TIMELINE_KERNEL,
				   .graph = graph,
				   .kernel = kernel,
				   .op = eager ? r->op : NULL,
				   .line = eager ? r->line : 0,
				   .kernels = r->kernels,
				   .correlation = ++r->correlation });
}

/* One launch, and after it what it runs. */
static void on_replayed(void *self, const struct fusion_replay *replay)
{
	struct recorder *r = self;
	struct recorded event = { .begin_ns = replay->begin_ns,
				  .end_ns = replay->end_ns,
				  .kind = TIMELINE_LAUNCH,
				  .graph = replay->graph,
				  .kernel = replay->first,
				  .kernels = replay->n,
				  .replay = ++r->replays,
				  .correlation = ++r->correlation };

	keep(r, event);
	event.kind = TIMELINE_KERNEL;
	for (int i = 0; i < replay->n; i++) {
		event.kernel = replay->first + i;
		event.kernels = replay->counts[i];
		if (replay->counts[i] > 0)
			keep(r, event);
	}
}

static void on_phase(void *self, enum fusion_phase phase, int64_t begin_ns, int64_t end_ns)
{
	static const enum timeline_kind kinds[PHASE_COUNT] = { [PHASE_GUARDS] = TIMELINE_GUARDS,
							       [PHASE_DISPATCH] = TIMELINE_DISPATCH,
							       [PHASE_ALLOC] = TIMELINE_ALLOC,
							       [PHASE_LAUNCH] = TIMELINE_LAUNCH };
	struct recorder *r = self;
	struct recorded event = { .begin_ns = begin_ns, .end_ns = end_ns, .kind = kinds[phase] };

	/* on_launched() has it; what a launch costs its caller is all of it on a device. */
	if (phase == PHASE_KERNEL || (r->on_device && phase == PHASE_LAUNCH))
		return;
	if (phase == PHASE_LAUNCH) /* reported after its kernel */
		event.correlation = r->correlation;
	keep(r, event);
}

static void on_piece(void *self, int graph, int64_t begin_ns, int64_t end_ns)
{
	keep(self,
	     (struct recorded){
		 .begin_ns = begin_ns, .end_ns = end_ns, .kind = TIMELINE_PIECE, .graph = graph });
}

static void on_broke(void *self, int index, int64_t begin_ns, int64_t end_ns)
{
	struct recorder *r = self;

	r->broken = true;
	keep(r,
	     (struct recorded){
		 .begin_ns = begin_ns, .end_ns = end_ns, .kind = TIMELINE_BREAK, .graph = index });
}

static void on_took(void *self, const struct fusion_memory *what, const void *block, int64_t bytes,
		    int64_t used_bytes, int64_t at_ns)
{
	(void)what, (void)block, (void)bytes;
	keep(self, (struct recorded){ .begin_ns = at_ns,
				      .end_ns = at_ns,
				      .bytes = used_bytes,
				      .kind = TIMELINE_COUNTER });
}

static void on_gave(void *self, const void *block, int64_t bytes, int64_t used_bytes, int64_t at_ns)
{
	on_took(self, NULL, block, bytes, used_bytes, at_ns);
}

static bool watch_calls(struct recorder *r, struct candidate *candidate, int calls,
			int64_t enough_ns, struct err *err)
{
	int64_t start = clock_ns();

	for (int i = 0; i < calls; i++) {
		int call = candidate->timed[i % candidate->n_timed];
		struct value out;
		int64_t begin;

		if (i >= RECORDER_MIN_CALLS &&
		    (clock_ns() - start > enough_ns || r->n > r->limit / 2))
			break;
		if (candidate->writes && !candidate_restore(candidate, call, err))
			return false;
		begin = clock_ns();
		if (!candidate_start(candidate, call, &out, err))
			return false;
		keep(r, (struct recorded){ .begin_ns = begin,
					   .end_ns = clock_ns(),
					   .kind = TIMELINE_CALL,
					   .kernel = call });
		value_unref(out);
		buf_clear(fusion_stdout(candidate->session));
		r->calls++;
	}
	return true;
}

/* ---- what was reported, as events ---- */

/* Numbers of a mode's lanes. */
struct lanes_of {
	uint32_t calls, breaks, graphs, host, kernels, memory;
};

static struct lanes_of add_lanes(struct recorder *r, const struct recorded_candidate *at)
{
	struct lanes_of to = { .calls = recorder_add_lane(r, at, "calls") };

	if (r->broken) {
		to.breaks = recorder_add_lane(r, at, "breaks");
		to.graphs = recorder_add_lane(r, at, "graphs");
	}
	to.host = recorder_add_lane(r, at, "host");
	to.kernels = r->on_device ? to.host : recorder_add_lane(r, at, "kernels");
	if (r->memory)
		to.memory = recorder_add_memory_lane(r, at);
	return to;
}

static uint32_t place_of(const struct lanes_of *to, enum timeline_kind kind)
{
	switch (kind) {
	case TIMELINE_CALL:
		return to->calls;
	case TIMELINE_BREAK:
		return to->breaks;
	case TIMELINE_PIECE:
		return to->graphs;
	case TIMELINE_COUNTER:
		return to->memory;
	default:
		return to->host;
	}
}

/* What is in use holds until the next change, or the end of all that was reported. */
static void lay_memory(struct recorder *r)
{
	struct recorded *last = NULL;
	int64_t end_ns = 0;

	for (int i = 0; i < r->n; i++) {
		struct recorded *t = &r->recorded[i];

		end_ns = t->end_ns > end_ns ? t->end_ns : end_ns;
		if (t->kind != TIMELINE_COUNTER)
			continue;
		if (last)
			last->end_ns = t->begin_ns;
		last = t;
	}
	if (last)
		last->end_ns = end_ns;
}

static bool write_events(struct recorder *r, const struct candidate *candidate, const int64_t *n,
			 struct err *err)
{
	const struct recorded_candidate at = { candidate, n };
	struct lanes_of to = add_lanes(r, &at);

	r->names.len = 0;
	lay_memory(r);
	for (int i = 0; i < r->n; i++) {
		struct recorded *t = &r->recorded[i];
		bool kernel = recorded_is_launch(t);
		struct timeline_event e = { .start_ns = t->begin_ns,
					    .duration_ns = t->end_ns - t->begin_ns,
					    .bytes = t->bytes,
					    .correlation = t->correlation };

		if ((t->kind == TIMELINE_PIECE && !r->broken) || /* it is the whole call */
		    recorded_is_node(t))                         /* the device's event */
			continue;
		e.lane = kernel ? to.kernels : place_of(&to, t->kind);
		e.name = kernel                 ? recorder_name_launch(r, candidate, t, NULL)
			 : recorded_is_part(t)  ? recorder_name_part(r, candidate, t)
			 : recorded_is_graph(t) ? recorder_name_graph(r, candidate, t)
						: recorder_name_other(r, t);
		e.kind = kernel && r->on_device ? TIMELINE_LAUNCH : t->kind;
		if (!timeline_writer_add(r->writer, &e, err))
			return false;
	}
	return !r->device || recorder_write_device(r, &at, err);
}

bool recorder_watch_for(struct recorder *r, struct candidate *candidate, const int64_t *n,
			int calls, int64_t enough_ns, struct err *err)
{
	struct fusion_observer observer = { .self = r,
					    .launching = on_launching,
					    .ran = on_ran,
					    .launched = on_launched,
					    .replayed = on_replayed,
					    .phase = on_phase,
					    .eager_op = on_eager_op,
					    .piece = on_piece,
					    .broke = on_broke,
					    .took = r->memory ? on_took : NULL,
					    .gave = r->memory ? on_gave : NULL };
	const struct wire_event *before;
	bool ok;

	r->n = r->replays = 0;
	r->op = NULL;
	r->line = 0;
	r->library = r->broken = false;
	if (!fusion_wait(candidate->engine, err))
		return false;
	if (r->device)
		device_trace_take(r->device, &before);
	fusion_observe(candidate->session, &observer);
	ok = watch_calls(r, candidate, calls, enough_ns, err);
	fusion_observe(candidate->session, NULL);
	ok = ok && fusion_wait(candidate->engine, err);
	return ok && write_events(r, candidate, n, err);
}

bool recorder_watch(struct recorder *r, struct candidate *candidate, const int64_t *n,
		    struct err *err)
{
	r->memory = true;
	return recorder_watch_for(r, candidate, n, RECORDER_MAX_CALLS, ENOUGH_NS, err);
}

void recorder_begin_device(struct recorder *r, bool api)
{
	r->on_device = true;
	r->api = api;
	r->device = device_trace_start(api, r->why, sizeof(r->why));
}

void recorder_begin_host(struct recorder *r)
{
	r->on_device = true;
	snprintf(r->why, sizeof(r->why), "only the host was watched");
}

/* CUPTI's own count, and what could not be told from what. */
static void add_device_facts(struct recorder *r, json_t *facts)
{
	struct wire_counts counts = { 0 };

	if (!r->device) {
		json_object_set_new(facts, "not_recorded", json_string(r->why));
		return;
	}
	device_trace_stop(r->device, &counts);
	r->device = NULL;
	json_object_set_new(facts, "recorder", json_string("cupti"));
	json_object_set_new(facts, "api_records", json_boolean(r->api));
	json_object_set_new(facts, "dropped",
			    json_integer(r->lost + (json_int_t)(counts.dropped + counts.lost)));
	json_object_set_new(facts, "doubtful",
			    json_integer(r->doubtful + (json_int_t)counts.doubtful));
}

bool recorder_finish(struct recorder *r, struct err *err)
{
	json_t *facts = json_pack("{s:s, s:s, s:I, s:I, s:i, s:f, s:f}", "recorder", "engine",
				  "clock", "CLOCK_MONOTONIC", "dropped", (json_int_t)r->lost,
				  "calls", (json_int_t)r->calls, "doubtful", 0, "tell_ns",
				  r->report_ns, "clock_ns", r->clock_ns);

	if (r->on_device)
		add_device_facts(r, facts);
	return timeline_writer_finish(r->writer, facts, err);
}
