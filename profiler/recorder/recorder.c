/* profiler/recorder/recorder.c -- see recorder.h. */
#include "profiler/recorder/recorder.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "profiler/measure/measure.h"
#include "profiler/recorder/told.h"

enum { ENOUGH_NS = 20 * 1000 * 1000 };

static void on_phase(void *self, enum fusion_phase phase, int64_t begin_ns, int64_t end_ns);

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
	if (r->told && r->writer) {
		r->clock_ns = measure_clock_cost_ns();
		r->tell_ns = measure_telling_ns(on_phase, r, &r->n) - 2 * r->clock_ns;
		r->tell_ns = r->tell_ns > 0 ? r->tell_ns : 0;
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

/* What the device runs for it is found by this id: the place of what will be told. */
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
	tell(r, (struct told){ .begin_ns = begin_ns,
			       .end_ns = end_ns,
			       .kind = eager ? TIMELINE_EAGER : TIMELINE_KERNEL,
			       .graph = graph,
			       .kernel = kernel,
			       .op = eager ? r->op : NULL,
			       .line = eager ? r->line : 0,
			       .kernels = r->kernels,
			       .correlation = ++r->correlation });
}

/* One launch, and behind it what it runs. */
static void on_replayed(void *self, int graph, int first, const int *counts, int n,
			int64_t begin_ns, int64_t end_ns)
{
	struct recorder *r = self;
	struct told told = { .begin_ns = begin_ns,
			     .end_ns = end_ns,
			     .kind = TIMELINE_LAUNCH,
			     .graph = graph,
			     .kernel = first,
			     .kernels = n,
			     .replay = ++r->replays,
			     .correlation = ++r->correlation };

	tell(r, told);
	told.kind = TIMELINE_KERNEL;
	for (int i = 0; i < n; i++) {
		told.kernel = first + i;
		told.kernels = counts[i];
		if (counts[i] > 0)
			tell(r, told);
	}
}

static void on_phase(void *self, enum fusion_phase phase, int64_t begin_ns, int64_t end_ns)
{
	static const enum timeline_kind kinds[PHASE_COUNT] = { [PHASE_GUARDS] = TIMELINE_GUARDS,
							       [PHASE_DISPATCH] = TIMELINE_DISPATCH,
							       [PHASE_ALLOC] = TIMELINE_ALLOC,
							       [PHASE_LAUNCH] = TIMELINE_LAUNCH };
	struct recorder *r = self;
	struct told told = { .begin_ns = begin_ns, .end_ns = end_ns, .kind = kinds[phase] };

	/* on_launched() has it; what a launch costs its caller is all of it on a device. */
	if (phase == PHASE_KERNEL || (r->on_device && phase == PHASE_LAUNCH))
		return;
	if (phase == PHASE_LAUNCH) /* told behind its kernel */
		told.correlation = r->correlation;
	tell(r, told);
}

static void on_piece(void *self, int graph, int64_t begin_ns, int64_t end_ns)
{
	tell(self,
	     (struct told){
		 .begin_ns = begin_ns, .end_ns = end_ns, .kind = TIMELINE_PIECE, .graph = graph });
}

static void on_broke(void *self, int index, int64_t begin_ns, int64_t end_ns)
{
	struct recorder *r = self;

	r->broken = true;
	tell(r,
	     (struct told){
		 .begin_ns = begin_ns, .end_ns = end_ns, .kind = TIMELINE_BREAK, .graph = index });
}

static void on_took(void *self, const struct fusion_memory *what, const void *block, int64_t bytes,
		    int64_t used_bytes, int64_t at_ns)
{
	(void)what, (void)block, (void)bytes;
	tell(self, (struct told){ .begin_ns = at_ns,
				  .end_ns = at_ns,
				  .bytes = used_bytes,
				  .kind = TIMELINE_COUNTER });
}

static void on_gave(void *self, const void *block, int64_t bytes, int64_t used_bytes, int64_t at_ns)
{
	on_took(self, NULL, block, bytes, used_bytes, at_ns);
}

static bool watch_calls(struct recorder *r, struct lane *lane, int calls, int64_t enough_ns,
			struct err *err)
{
	int64_t start = clock_ns();

	for (int i = 0; i < calls; i++) {
		int call = lane->timed[i % lane->n_timed];
		struct value out;
		int64_t begin;

		if (i >= RECORDER_MIN_CALLS &&
		    (clock_ns() - start > enough_ns || r->n > r->limit / 2))
			break;
		if (lane->writes && !lane_restore(lane, call, err))
			return false;
		begin = clock_ns();
		if (!lane_start(lane, call, &out, err))
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

/* Numbers of a mode's lanes. */
struct lanes_of {
	uint32_t calls, breaks, graphs, host, kernels, memory;
};

static struct lanes_of add_lanes(struct recorder *r, const struct recorded_lane *at)
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

/* What is in use holds until the next change, or the end of all that was told. */
static void lay_memory(struct recorder *r)
{
	struct told *last = NULL;
	int64_t end_ns = 0;

	for (int i = 0; i < r->n; i++) {
		struct told *t = &r->told[i];

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

static bool write_events(struct recorder *r, const struct lane *lane, const int64_t *n,
			 struct err *err)
{
	const struct recorded_lane at = { lane, n };
	struct lanes_of to = add_lanes(r, &at);

	r->names.len = 0;
	lay_memory(r);
	for (int i = 0; i < r->n; i++) {
		struct told *t = &r->told[i];
		bool kernel = told_is_launch(t);
		struct timeline_event e = { .start_ns = t->begin_ns,
					    .duration_ns = t->end_ns - t->begin_ns,
					    .bytes = t->bytes,
					    .correlation = t->correlation };

		if ((t->kind == TIMELINE_PIECE && !r->broken) || /* it is the whole call */
		    told_is_node(t))                             /* the device's event */
			continue;
		e.lane = kernel ? to.kernels : place_of(&to, t->kind);
		e.name = kernel             ? recorder_name_launch(r, lane, t, NULL)
			 : told_is_part(t)  ? recorder_name_part(r, lane, t)
			 : told_is_graph(t) ? recorder_name_graph(r, lane, t)
					    : recorder_name_other(r, t);
		e.kind = kernel && r->on_device ? TIMELINE_LAUNCH : t->kind;
		if (!timeline_writer_add(r->writer, &e, err))
			return false;
	}
	return !r->device || recorder_write_device(r, &at, err);
}

bool recorder_lane_for(struct recorder *r, struct lane *lane, const int64_t *n, int calls,
		       int64_t enough_ns, struct err *err)
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
	if (!fusion_wait(lane->engine, err))
		return false;
	if (r->device)
		device_trace_take(r->device, &before);
	fusion_observe(lane->session, &observer);
	ok = watch_calls(r, lane, calls, enough_ns, err);
	fusion_observe(lane->session, NULL);
	ok = ok && fusion_wait(lane->engine, err);
	return ok && write_events(r, lane, n, err);
}

bool recorder_lane(struct recorder *r, struct lane *lane, const int64_t *n, struct err *err)
{
	r->memory = true;
	return recorder_lane_for(r, lane, n, RECORDER_MAX_CALLS, ENOUGH_NS, err);
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
				  r->tell_ns, "clock_ns", r->clock_ns);

	if (r->on_device)
		add_device_facts(r, facts);
	return timeline_writer_finish(r->writer, facts, err);
}
