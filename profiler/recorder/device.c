/* profiler/recorder/device.c -- what the device ran, laid to the launches it came from.
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
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/recorder/told.h"

/* Events of the device, and the launch of each: an index into what was told, or -1. */
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
 * our own behind a library's have one too. */
static bool by_id(struct recorder *r, const struct wire_event *e)
{
	return e->external && own_number(r, e) < 0;
}

/* Whether the launch may have run a kernel of this number.  A graph that runs in pieces
 * numbers its kernels through, its pieces theirs from 0. */
static bool may_be(const struct lane *lane, const struct told *t, int number)
{
	if (t->graph < 0 || t->graph >= fusion_graph_count(lane->session))
		return true;
	return fusion_graph(lane->session, t->graph).n_pieces != 1 || t->kernel == number;
}

/* The launch at or behind `at` that a kernel is laid to; r->n: there is none. */
static int find_launch(const struct recorder *r, const struct lane *lane, int at, int left,
		       bool alike, int number)
{
	for (; at < r->n; left = 0, at++) {
		const struct told *t = &r->told[at];
		int kernels = left ? left : told_is_launch(t) ? t->kernels : 0;

		if (kernels > 0 && (alike || may_be(lane, t, number)))
			return at;
	}
	return at;
}

/* Kernels of our own, in their order. */
static void lay_own(struct recorder *r, const struct lane *lane, struct laid *l)
{
	int64_t seen = 0, launched = 0, laid = 0;
	int at = 0, left = 0; /* the launch under way, and kernels that it has still to come */
	bool alike;

	for (size_t i = 0; i < l->n; i++)
		seen += is_own(r, &l->events[i]);
	for (int i = 0; i < r->n; i++)
		launched += told_is_launch(&r->told[i]) ? r->told[i].kernels : 0;
	alike = seen == launched;
	for (size_t i = 0; i < l->n; i++) {
		int number = own_number(r, &l->events[i]), next;

		if (!is_own(r, &l->events[i])) {
			r->doubtful += l->events[i].kind == TIMELINE_KERNEL &&
				       l->events[i].graph == 0 && l->of[i] < 0;
			continue;
		}
		next = find_launch(r, lane, at, left, alike, number);
		if (next == r->n) { /* nobody's: the search goes on from where it was */
			r->doubtful++;
			continue;
		}
		r->doubtful += alike && !may_be(lane, &r->told[next], number);
		left = (next == at && left ? left : r->told[next].kernels) - 1;
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

		l->of[i] = id >= 0 && id < r->n && told_is_launch(&r->told[id]) ? id : -1;
	}
}

/* ---- CUDA graphs ---- */

/* A launch of one: what was told of it, and what was seen. */
struct replay {
	int told, n;                 /* the place behind its own; how many things it ran */
	uint32_t correlation, graph; /* 0: nothing was seen of it */
	int seen;
};

static int list_replays(const struct recorder *r, struct replay *out)
{
	int n = 0;

	for (int i = 0; i < r->n; i++) {
		const struct told *t = &r->told[i];

		if (told_is_graph(t))
			out[n++] = (struct replay){ .told = i + 1 };
		else if (told_is_node(t) && n > 0)
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
			replays[at] = (struct replay){ .told = replays[at].told,
						       .n = replays[at].n,
						       .correlation = e->correlation,
						       .graph = e->graph };
		}
		replays[at].seen++;
	}
	return over;
}

/* What was told of the thing at `place` of a replay; -1: it has none there. */
static int told_at(const struct recorder *r, const struct replay *replay, int place)
{
	for (int i = replay->told; i < r->n && told_is_node(&r->told[i]); i++) {
		if (place < r->told[i].kernels)
			return i;
		place -= r->told[i].kernels;
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

static void lay_replays(struct recorder *r, const struct lane *lane, struct laid *l,
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
		l->of[i] = told_at(r, &replays[at],
				   whole ? place++ : place_of_node(replays, n, l, e));
		if (l->of[i] < 0 ||
		    (own_number(r, e) >= 0 && !may_be(lane, &r->told[l->of[i]], own_number(r, e))))
			r->doubtful++;
	}
}

static bool lay_graphs(struct recorder *r, const struct lane *lane, struct laid *l)
{
	struct replay *replays = calloc((size_t)r->replays + 1, sizeof(*replays));
	int n;

	if (!replays)
		return false;
	n = list_replays(r, replays);
	r->doubtful += match_replays(replays, n, l);
	for (int i = 0; i < n; i++)
		r->doubtful += replays[i].n > replays[i].seen ? replays[i].n - replays[i].seen : 0;
	lay_replays(r, lane, l, replays, n);
	free(replays);
	return true;
}

struct stream {
	uint32_t device, stream;
	bool api; /* calls of a thread, by the name of a stream */
	uint32_t lane;
};
enum { MAX_STREAMS = 16 };

static uint32_t lane_of(struct recorder *r, const struct recorded_lane *at,
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
static void describe(struct recorder *r, const struct lane *lane, const struct wire_event *e,
		     int of, struct timeline_event *out)
{
	const char *symbol = device_trace_symbol(r->device, e->name);
	struct told *t = of >= 0 && e->kind != TIMELINE_API ? &r->told[of] : NULL;
	bool foreign = own_number(r, e) < 0; /* a library's, a copy or a set */

	out->kind = e->kind;
	if (t && foreign)
		out->name = recorder_name_launch(r, lane, t, symbol);
	else if (t)
		out->name = recorder_name_launch(r, lane, t, NULL);
	else
		out->name = recorder_name_symbol(r, symbol);
	if (e->kind == TIMELINE_KERNEL)
		out->kind = !t || (foreign && t->graph >= 0) ? TIMELINE_LIBRARY : t->kind;
	out->correlation = t ? t->correlation : 0;
}

static bool write(struct recorder *r, const struct recorded_lane *at, const struct laid *l,
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
		describe(r, at->lane, e, l->of[i], &out);
		if (!timeline_writer_add(r->writer, &out, err))
			return false;
	}
	return true;
}

bool recorder_write_device(struct recorder *r, const struct recorded_lane *at, struct err *err)
{
	struct laid l = { 0 };
	bool ok = false;

	l.n = device_trace_take(r->device, &l.events);
	l.of = calloc(l.n + 1, sizeof(*l.of));
	if (!l.of)
		return err_set(err, ERR_MEMORY, "out of memory for the timeline");
	lay_libraries(r, &l);
	lay_own(r, at->lane, &l);
	if (lay_graphs(r, at->lane, &l))
		ok = write(r, at, &l, err);
	else
		err_set(err, ERR_MEMORY, "out of memory for the timeline");
	free(l.of);
	return ok;
}
