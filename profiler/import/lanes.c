/* profiler/import/lanes.c -- threads and streams of a trace, each a lane. */
#include "profiler/import/lanes.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/import/names.h"

void trace_lanes_finish(struct trace_lanes *l)
{
	for (size_t i = 0; i < l->rows.len; i++)
		VEC_FREE(&l->rows.at[i].begun);
	VEC_FREE(&l->rows);
}

static json_t *text_json(const char *text)
{
	bool bad = false;

	return json_of_text(text, strlen(text), &bad);
}

/* As people call it; `p` and `t`: what the log says of its process and its thread, NULL without
 * memory. */
static json_t *lane_name(enum lane_class of, const char *p, const char *t)
{
	if (!p || !t)
		return NULL;
	switch (of) {
	case LANE_DEVICE:
		return json_sprintf("GPU %s, stream %s", p, t);
	case LANE_DEVICE_NOTES:
		return json_sprintf("GPU %s, stream %s, ranges", p, t);
	case LANE_MEMORY:
		return json_sprintf("memory of %s", p);
	case LANE_RECORDING:
		return json_string("recording");
	default:
		break;
	}
	if (!*p && !*t)
		return json_string("no thread named");
	return strcmp(p, t) == 0 ? json_sprintf("main thread of %s", p)
				 : json_sprintf("thread %s of %s", t, p);
}

static json_t *lane_row(enum lane_class of, const struct kineto_event *e, int file)
{
	json_t *pid = text_json(e->pid), *tid = text_json(e->tid);
	json_t *name = lane_name(of, json_string_value(pid), json_string_value(tid));
	json_t *row = json_pack("{s:o, s:s, s:o, s:o}", "name", name, "role",
				of == LANE_DEVICE ? "kernels" : "host", "process", pid, "thread",
				tid);

	if (row && file > 0)
		json_object_set_new(row, "file", json_integer(file));
	if (row && (of == LANE_DEVICE || of == LANE_DEVICE_NOTES)) {
		json_object_set_new(row, "device", json_integer(atoi(e->pid)));
		json_object_set_new(row, "stream", json_integer(atoi(e->tid)));
	}
	return row;
}

struct trace_lane *trace_lane_add(struct trace_lanes *l, enum lane_class of,
				  const struct kineto_event *e, json_t *row,
				  struct timeline_writer *writer, struct ledger *ledger)
{
	struct trace_lane lane = { .of = of };

	if (l->rows.len >= TIMELINE_MAX_LANES) {
		ledger->n[LEDGER_LANES_FULL]++;
		json_decref(row);
		return NULL;
	}
	strcpy(lane.pid, e->pid);
	strcpy(lane.tid, e->tid);
	if (writer)
		lane.lane = timeline_writer_lane(writer, json_incref(row));
	else
		lane.lane = (uint32_t)l->rows.len;
	json_decref(row);
	return VEC_PUSH(&l->rows, lane) ? &l->rows.at[l->rows.len - 1] : NULL;
}

struct trace_lane *trace_lane_of(struct trace_lanes *l, enum lane_class of,
				 const struct kineto_event *e, int file,
				 struct timeline_writer *writer, struct ledger *ledger)
{
	for (size_t i = 0; i < l->rows.len; i++) {
		size_t at = i == 0 ? l->last : i - (i <= l->last);
		struct trace_lane *lane = &l->rows.at[at];

		if (lane->of == of && strcmp(lane->tid, e->tid) == 0 &&
		    strcmp(lane->pid, e->pid) == 0) {
			l->last = at;
			return lane;
		}
	}
	if (l->rows.len >= TIMELINE_MAX_LANES) {
		ledger->n[LEDGER_LANES_FULL]++;
		return &l->rows.at[l->rows.len - 1];
	}
	return trace_lane_add(l, of, e, writer ? lane_row(of, e, file) : NULL, writer, ledger);
}

struct trace_lane *trace_lane_near(struct trace_lanes *l, const struct kineto_event *e, int file,
				   struct timeline_writer *writer, struct ledger *ledger)
{
	for (size_t i = l->rows.len; i > 0; i--) {
		struct trace_lane *lane = &l->rows.at[i - 1];

		if (strcmp(lane->tid, e->tid) == 0 && strcmp(lane->pid, e->pid) == 0 &&
		    (lane->of == LANE_HOST || lane->of == LANE_DEVICE))
			return lane;
	}
	return trace_lane_of(l, LANE_HOST, e, file, writer, ledger);
}
