/* profiler/timeline_trace.c -- a window in Chrome's trace format.
 *
 * Read by Perfetto and chrome://tracing: complete events ("ph": "X") in
 * microseconds; a process for each `pid` of the lanes (mode and point, where a lane
 * has none), a thread for each lane.
 */
#include <stdlib.h>
#include <string.h>

#include "profiler/timeline_view.h"

static void add_json(struct buf *out, json_t *json)
{
	char *text = json ? json_dumps(json, JSON_COMPACT | JSON_ENCODE_ANY) : NULL;

	buf_puts(out, text ? text : "null");
	free(text);
	json_decref(json);
}

/* A lane's process: its own number, or that of the first lane of its mode and point. */
static json_int_t process_of(const struct timeline_view *v, size_t lane)
{
	const json_t *row = json_array_get(v->tables.lanes, lane),
		     *pid = json_object_get(row, "pid");
	const json_t *mode = json_object_get(row, "mode"), *n = json_object_get(row, "n");

	if (json_is_integer(pid))
		return json_integer_value(pid);
	for (size_t i = 0; i < lane; i++) {
		const json_t *other = json_array_get(v->tables.lanes, i);

		if (json_equal(json_object_get(other, "mode"), mode) &&
		    json_equal(json_object_get(other, "n"), n) && !json_object_get(other, "pid"))
			return (json_int_t)i + 1;
	}
	return (json_int_t)lane + 1;
}

static json_t *process_name(const json_t *lane)
{
	const char *mode = json_string_value(json_object_get(lane, "mode"));
	const char *process = json_string_value(json_object_get(lane, "process"));
	const json_t *n = json_object_get(lane, "n");

	if (mode && json_is_integer(n))
		return json_sprintf("%s, n = %lld", mode, (long long)json_integer_value(n));
	return json_string(process ? process : mode ? mode : "recording");
}

void view_trace_begin(struct timeline_view *v)
{
	buf_puts(&v->trace, "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[");
	for (size_t i = 0; i < v->n_lanes; i++) {
		json_t *lane = json_array_get(v->tables.lanes, i);

		if (!v->lanes[i].wanted)
			continue;
		v->lanes[i].pid = process_of(v, i);
		add_json(&v->trace,
			 json_pack("{s:s, s:s, s:I, s:{s:o}}", "ph", "M", "name", "process_name",
				   "pid", process_of(v, i), "args", "name", process_name(lane)));
		buf_putc(&v->trace, ',');
		add_json(&v->trace,
			 json_pack("{s:s, s:s, s:I, s:I, s:{s:O}}", "ph", "M", "name",
				   "thread_name", "pid", (json_int_t)v->lanes[i].pid, "tid",
				   (json_int_t)i, "args", "name", json_object_get(lane, "name")));
		buf_puts(&v->trace, ",\n");
	}
}

static json_t *event_args(const struct timeline_view *v, const struct timeline_event *e)
{
	json_t *args = json_object();

	json_object_update(args, json_array_get(v->tables.names, e->name));
	json_object_del(args, "name");
	if (e->shape)
		json_object_update(args, json_array_get(v->tables.shapes, e->shape - 1));
	if (e->bytes)
		json_object_set_new(args, "bytes", json_integer(e->bytes));
	if (e->correlation)
		json_object_set_new(args, "correlation", json_integer(e->correlation));
	return args;
}

void view_trace_event(struct timeline_view *v, const struct timeline_event *e)
{
	json_t *name = json_object_get(json_array_get(v->tables.names, e->name), "name");

	buf_puts(&v->trace, "{\"ph\":\"X\",\"name\":");
	add_json(&v->trace, json_incref(name));
	buf_printf(&v->trace,
		   ",\"cat\":\"%s\",\"pid\":%lld,\"tid\":%u,\"ts\":%.3f,\"dur\":%.3f,\"args\":",
		   timeline_kind_name(e->kind), (long long)v->lanes[e->lane].pid, e->lane,
		   (double)(e->start_ns - v->begin_ns) / 1000, (double)e->duration_ns / 1000);
	add_json(&v->trace, event_args(v, e));
	buf_puts(&v->trace, "},\n");
}

void view_trace_end(struct timeline_view *v)
{
	/* The last line, so that no comma has to be taken back. */
	buf_puts(&v->trace, "{\"ph\":\"M\",\"name\":\"recording\",\"pid\":0,\"args\":");
	add_json(&v->trace, v->tables.facts ? json_incref(v->tables.facts) : json_object());
	buf_puts(&v->trace, "}]}\n");
}
