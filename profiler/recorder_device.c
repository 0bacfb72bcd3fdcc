/* profiler/recorder_device.c -- what the device ran, laid to the launches it came from.
 *
 * A library's kernels, copies and sets carry the id of their launch.  Generated
 * kernels come in the order of their launches, one for each: records of their calls
 * would cost every launch 0.2 us more.  Where the two lists are not of one length,
 * names decide; what stays over, or has another's name, is counted as doubtful.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/recorder_told.h"

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

/* "k0", "k17": of a generated kernel. */
static bool is_numbered(const char *symbol)
{
	size_t digits = 1;

	while (isdigit((unsigned char)symbol[digits]))
		digits++;
	return symbol[0] == 'k' && digits > 1 && symbol[digits] == '\0';
}

/* Whether the launch may have run a kernel of this name.  A graph that runs in pieces
 * numbers its kernels through, its pieces theirs from 0. */
static bool may_be(const struct lane *lane, const struct told *t, const char *symbol)
{
	struct fusion_graph_info info;
	char own[24];

	if (!is_numbered(symbol))
		return false;
	if (t->graph < 0 || t->graph >= fusion_graph_count(lane->session))
		return true;
	info = fusion_graph(lane->session, t->graph);
	snprintf(own, sizeof(own), "k%d", t->kernel);
	return info.n_pieces != 1 || strcmp(own, symbol) == 0;
}

/* Whether the event's id says whose it is.  With records of the driver's calls generated
 * kernels behind a library's have one too. */
static bool by_id(struct recorder *r, const struct wire_event *e)
{
	return e->external && !(e->kind == TIMELINE_KERNEL &&
				is_numbered(device_trace_symbol(r->device, e->name)));
}

static bool is_generated(const struct told *t)
{
	return told_is_launch(t) && t->generated;
}

/* Generated kernels, in their order. */
static void lay_generated(struct recorder *r, const struct lane *lane, struct laid *l)
{
	int64_t kernels = 0, launches = 0;
	int at = 0;
	bool alike;

	for (size_t i = 0; i < l->n; i++)
		kernels += l->events[i].kind == TIMELINE_KERNEL && !by_id(r, &l->events[i]);
	for (int i = 0; i < r->n; i++)
		launches += is_generated(&r->told[i]);
	alike = kernels == launches;
	for (size_t i = 0; i < l->n; i++) {
		const char *symbol = device_trace_symbol(r->device, l->events[i].name);
		int next = at;

		if (l->events[i].kind != TIMELINE_KERNEL || by_id(r, &l->events[i]))
			continue;
		while (next < r->n && !(is_generated(&r->told[next]) &&
					(alike || may_be(lane, &r->told[next], symbol))))
			next++;
		if (next == r->n) { /* nobody's: the search goes on from where it was */
			r->doubtful++;
			continue;
		}
		r->doubtful += alike && !may_be(lane, &r->told[next], symbol);
		l->of[i] = next;
		at = next + 1;
		launches--;
	}
	r->doubtful += launches; /* that nothing was seen of */
}

/* A library's, by their ids. */
static void lay_libraries(struct recorder *r, struct laid *l)
{
	for (size_t i = 0; i < l->n; i++) {
		int id = by_id(r, &l->events[i]) ? (int)l->events[i].external - 1 : -1;

		l->of[i] = id >= 0 && id < r->n && told_is_launch(&r->told[id]) ? id : -1;
	}
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

	out->kind = e->kind;
	if (t && by_id(r, e))
		out->name = recorder_name_launch(r, lane, t, symbol);
	else if (t)
		out->name = recorder_name_launch(r, lane, t, NULL);
	else
		out->name = recorder_name_symbol(r, symbol);
	if (e->kind == TIMELINE_KERNEL)
		out->kind = !t || (by_id(r, e) && t->graph >= 0) ? TIMELINE_LIBRARY : t->kind;
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
	bool ok;

	l.n = device_trace_take(r->device, &l.events);
	l.of = calloc(l.n + 1, sizeof(*l.of));
	if (!l.of)
		return err_set(err, ERR_MEMORY, "out of memory for the timeline");
	lay_libraries(r, &l);
	lay_generated(r, at->lane, &l);
	ok = write(r, at, &l, err);
	free(l.of);
	return ok;
}
