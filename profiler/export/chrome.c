/* profiler/export/chrome.c -- Chrome's trace format, for Perfetto and chrome://tracing.
 *
 * "Trace Event Format": complete events (X) in microseconds, a process for each mode and
 * point (or process of the recording), a thread for each lane, flows (s, f) from launches
 * to what they launched and of arrows that a log had, marks (i) for breaks, counters (C)
 * for memory and for the series of a log.
 *
 * What the importer needs to give the same run again (profiler/import/own.h) is in
 * the head, as "breakeven", and in args: name_id, shape_id and the lane's row; texts of a
 * log are metadata of a name of our own.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/export/job.h"
#include <jansson.h>
#include <stdbool.h>
#include "profiler/import/counters.h"
#include "profiler/import/model.h"
#include "profiler/numbers/numbers.h"

/* Our importer keeps a head of 8 MiB: the report goes with it up to so much. */
enum { SLIM_BYTES = 4 << 20 };

static bool fits(const json_t *report)
{
	return json_dumpb(report, NULL, 0, JSON_COMPACT) <= SLIM_BYTES;
}

/* All of it where it fits; else breaks, recompiles, latencies, graphs by their ops, and no
 * values, code, nodes and samples: "slimmed" then.  Where even that is too much nothing.  New. */
static json_t *slim_report(const json_t *report)
{
	static const char *const beside[] = { "workload", "explain", NULL };
	json_t *slim;

	if (!report)
		return json_null();
	if (fits(report))
		return json_copy((json_t *)report);
	slim = report_slim(report, beside);
	json_object_set_new(slim, "slimmed", json_true());
	if (fits(slim))
		return slim;
	json_decref(slim);
	return json_null();
}

/* The facts of a recording without the extents, which the events tell, and the clocks, which rows
 * of lanes tell.  New. */
static json_t *slim_facts(const json_t *facts)
{
	json_t *slim = json_copy((json_t *)facts);

	if (!slim)
		return json_null();
	json_object_del(slim, "extents");
	json_object_del(slim, "clocks");
	return slim;
}

enum { CACHED_BYTES = 32 << 20 };

struct chrome_lane {
	json_int_t pid;
	int64_t recorded; /* correlations mean the same within one process or file, */
	uint64_t scope;   /* of which this is the number */
	int64_t held_bytes;
};

struct chrome {
	struct export_job *job;
	struct out *out;
	int64_t begin_ns;
	struct chrome_lane *lanes;
	struct flows ends, written; /* of flows: which are there, and which are written */
	char **names;               /* of events, as they are written */
	size_t cached_bytes;
};

/* ---- processes ---- */

/* Lanes of one process have these in common. */
static bool same_text(const char *a, const char *b) /* NULL is equal to itself alone */
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_number(bool has_a, int64_t a, bool has_b, int64_t b)
{
	return has_a == has_b && a == b;
}

static bool same_process(const struct timeline_lane *a, const struct timeline_lane *b)
{
	return same_text(a->mode, b->mode) && same_text(a->process, b->process) &&
	       same_number(a->has.n, a->n, b->has.n, b->n) &&
	       same_number(a->has.pid, a->pid, b->has.pid, b->pid) &&
	       same_number(a->has.file, a->file, b->has.file, b->file);
}

/* A lane's process in numbers: its own, or 1, 2, ... */
static int64_t own_number(const struct timeline_lane *row)
{
	const char *text = row->process;
	char *end;
	long long n;

	if (row->has.pid)
		return row->pid;
	n = text ? strtoll(text, &end, 10) : -1;
	return text && *text && !*end && n >= 0 && n < INT32_MAX ? n : -1;
}

static bool is_taken(const struct chrome *c, size_t n, json_int_t pid)
{
	for (size_t i = 0; i < n; i++)
		if (c->lanes[i].pid == pid)
			return true;
	return false;
}

static void number_processes(struct chrome *c)
{
	json_int_t next = 1;

	for (size_t i = 0; i < c->job->n_lanes; i++) {
		struct timeline_lane row = job_lane(c->job, i), other;
		struct chrome_lane *lane = &c->lanes[i];
		size_t k = 0;

		lane->recorded = row.pid ? row.pid : -row.file;
		for (; k < i; k++) {
			other = job_lane(c->job, k);
			if (same_process(&row, &other))
				break;
		}
		lane->pid = k < i ? c->lanes[k].pid : own_number(&row);
		if (k == i && (lane->pid < 0 || is_taken(c, i, lane->pid))) {
			while (is_taken(c, i, next))
				next++;
			lane->pid = next;
		}
	}
}

/* Each scope by its first lane, so that ids stay below 2^53. */
static void number_scopes(struct chrome *c)
{
	for (size_t i = 0; i < c->job->n_lanes; i++) {
		size_t k = 0;

		while (c->lanes[k].recorded != c->lanes[i].recorded)
			k++;
		c->lanes[i].scope = k;
	}
}

static json_t *process_name(const struct timeline_lane *lane)
{
	if (lane->mode && lane->has.n)
		return json_sprintf("%s, n = %lld", lane->mode, (long long)lane->n);
	return json_string(lane->process ? lane->process : lane->mode ? lane->mode : "recording");
}

static void write_meta(struct chrome *c, size_t i, const char *what, const char *key, json_t *value)
{
	out_printf(c->out,
		   "{\"ph\":\"M\",\"name\":\"%s\",\"pid\":%lld,\"tid\":%zu,\"args\":{\"%s\":", what,
		   (long long)c->lanes[i].pid, i + 1, key);
	out_json(c->out, value);
	json_decref(value);
}

/* What viewers show beside the name of a process whose times are put right. */
static void write_clock(struct chrome *c, size_t i, const struct timeline_clock *clock)
{
	char ahead[NUMBER_BYTES], error[NUMBER_BYTES];

	if (!clock->ahead_ns)
		return;
	number_duration(ahead, fabs((double)clock->ahead_ns) / 1e3);
	number_duration(error, (double)clock->error_ns / 1e3);
	write_meta(c, i, "process_labels", "labels",
		   json_sprintf("its clock is %s %s, \u00b1 %s; times are the first rank's", ahead,
				clock->ahead_ns > 0 ? "ahead" : "behind", error));
	out_puts(c->out, "}},\n");
}

/* A lane's row, by which the importer knows what was taken from its times. */
static void write_row(struct chrome *c, const json_t *row, const struct timeline_clock *clock)
{
	json_t *copy = json_copy((json_t *)row);

	if (clock->known) {
		json_object_set_new(copy, "ahead_ns", json_integer(clock->ahead_ns));
		json_object_set_new(copy, "ahead_error_ns", json_integer(clock->error_ns));
	}
	out_json(c->out, copy);
	json_decref(copy);
}

static void write_lanes(struct chrome *c)
{
	for (size_t i = 0; i < c->job->n_lanes; i++) {
		const json_t *row = json_array_get(c->job->tables.lanes, i);
		struct timeline_clock clock = timeline_clock_at(&c->job->tables, i);
		struct timeline_lane lane = job_lane(c->job, i);
		bool first = true;

		if (!c->job->wanted[i])
			continue;
		for (size_t k = 0; first && k < i; k++)
			first = !c->job->wanted[k] || c->lanes[k].pid != c->lanes[i].pid;
		if (first) {
			write_meta(c, i, "process_name", "name", process_name(&lane));
			out_puts(c->out, "}},\n");
			write_clock(c, i, &clock);
		}
		write_meta(c, i, "thread_name", "name", json_string(lane.name ? lane.name : ""));
		out_puts(c->out, ",\"lane\":");
		write_row(c, row, &clock);
		out_puts(c->out, "}},\n");
		write_meta(c, i, "thread_sort_index", "sort_index", json_integer((json_int_t)i));
		out_puts(c->out, "}},\n");
	}
}

/* ---- events ---- */

/* A name as the events have it: "name":...,"args":{"name_id":... and the rest of its row.
 * The caller frees. */
static char *name_text(const struct export_job *job, uint32_t name)
{
	json_t *args = json_object(), *text = json_string(job_name(job, name));
	char *shown = json_dumps(text, JSON_ENCODE_ANY), *rest;
	struct buf out;

	json_object_set_new(args, "name_id", json_integer(name));
	json_object_update_missing(args, json_array_get(job->tables.names, name));
	json_object_del(args, "name");
	rest = json_dumps(args, JSON_COMPACT);
	json_decref(args);
	json_decref(text);
	buf_init(&out, 0);
	if (shown && rest) {
		rest[strlen(rest) - 1] = '\0'; /* more follows */
		buf_puts(&out, "\"name\":");
		buf_puts(&out, shown);
		buf_puts(&out, ",\"args\":");
		buf_puts(&out, rest);
	}
	free(shown);
	free(rest);
	return buf_steal(&out);
}

static void write_name(struct chrome *c, uint32_t name)
{
	char *text = c->names[name];

	if (!text)
		text = name_text(c->job, name);
	out_puts(c->out, text ? text : "\"name\":\"?\",\"args\":{\"name_id\":0");
	if (text && !c->names[name] && c->cached_bytes < CACHED_BYTES) {
		c->names[name] = text;
		c->cached_bytes += strlen(text);
	} else if (text != c->names[name]) {
		free(text);
	}
}

static void write_place(struct chrome *c, const struct timeline_event *e)
{
	out_printf(c->out, ",\"pid\":%lld,\"tid\":%u,\"ts\":", (long long)c->lanes[e->lane].pid,
		   e->lane + 1);
	out_us(c->out, e->start_ns - c->begin_ns);
}

static void write_span(struct chrome *c, const struct timeline_event *e)
{
	out_printf(c->out, "{\"ph\":\"X\",\"cat\":\"%s\"", timeline_kind_name(e->kind));
	write_place(c, e);
	out_puts(c->out, ",\"dur\":");
	out_us(c->out, e->duration_ns);
	out_puts(c->out, ",");
	write_name(c, e->name);
	if (e->shape) {
		out_printf(c->out, ",\"shape_id\":%u,\"shape\":", e->shape);
		out_json(c->out, json_array_get(c->job->tables.shapes, e->shape - 1));
	}
	if (e->bytes)
		out_printf(c->out, ",\"bytes\":%lld", (long long)e->bytes);
	if (e->correlation)
		out_printf(c->out, ",\"correlation\":%u", e->correlation);
	out_puts(c->out, "}},\n");
}

static void write_text(struct chrome *c, const char *key, const char *text)
{
	out_printf(c->out, ",\"%s\":", key);
	out_text(c->out, text);
}

struct sought {
	const char *mode;
	bool has_n;
	int64_t n;
	const struct report_mode *found;
};

static bool seek(void *self, const struct job_mode *at)
{
	struct sought *s = self;
	bool same = !at->engine && strcmp(at->mode, s->mode) == 0 && s->has_n == at->has_n &&
		    s->n == at->n;

	s->found = same ? at->m : s->found;
	return !same;
}

/* The break of a lane's mode with that number; NULL: none. */
static const struct report_break *lane_break(const struct export_job *job, size_t lane,
					     json_int_t index)
{
	struct timeline_lane row = job_lane(job, lane);
	struct sought s = { .mode = row.mode, .has_n = row.has.n, .n = row.n };

	if (!s.mode || index < 0)
		return NULL;
	job_modes(job, seek, &s);
	return s.found && (size_t)index < s.found->breaks.n ? &s.found->breaks.at[index] : NULL;
}

/* Why the graph ended, where its slice is. */
static void write_break(struct chrome *c, const struct timeline_event *e)
{
	struct timeline_name row = timeline_name_at(&c->job->tables, e->name);
	const struct report_break *b = lane_break(c->job, e->lane, row.nth_break);

	out_puts(c->out, "{\"ph\":\"i\",\"s\":\"p\",\"cat\":\"mark\",\"name\":");
	out_text(c->out, job_name(c->job, e->name));
	write_place(c, e);
	out_puts(c->out, ",\"args\":{\"line\":");
	if (row.has.line)
		out_printf(c->out, "%lld", (long long)row.line);
	else
		out_puts(c->out, "null");
	if (b) {
		write_text(c, "stage", b->stage);
		write_text(c, "kind", b->kind);
		write_text(c, "outcome", b->outcome);
		write_text(c, "gb", b->gb);
		write_text(c, "message", b->message);
		write_text(c, "hint", b->hint);
	}
	out_puts(c->out, "}},\n");
}

/* A sample of a series, and how long it holds: viewers know that by the next, the last has none. */
static void write_sample(struct chrome *c, const struct timeline_event *e)
{
	int64_t scale = timeline_name_at(&c->job->tables, e->name).scale;

	out_puts(c->out, "{\"ph\":\"C\",\"cat\":\"series\",\"name\":");
	out_text(c->out, job_lane(c->job, e->lane).name);
	write_place(c, e);
	out_puts(c->out, ",\"dur\":");
	out_us(c->out, e->duration_ns);
	out_puts(c->out, ",\"args\":{");
	out_text(c->out, job_name(c->job, e->name));
	if (scale == COUNTER_SCALE)
		out_printf(c->out, ":%s%lld.%06lld}},\n", e->bytes < 0 ? "-" : "",
			   llabs(e->bytes / COUNTER_SCALE), llabs(e->bytes % COUNTER_SCALE));
	else
		out_printf(c->out, ":%lld}},\n", (long long)e->bytes);
}

/* A point of an arrow that is no launch's. */
static void write_arrow(struct chrome *c, const struct timeline_event *e)
{
	const char *phase = timeline_name_at(&c->job->tables, e->name).flow;

	out_printf(c->out, "{\"ph\":\"%c\",\"cat\":\"flow\",\"id\":%u,\"name\":",
		   phase && strchr("stf", *phase) && *phase ? *phase : 's', e->correlation);
	out_text(c->out, job_name(c->job, e->name));
	write_place(c, e);
	out_puts(c->out, "},\n");
}

/* Memory that is held, as it changes. */
static void write_counter(struct chrome *c, const struct timeline_event *e)
{
	struct chrome_lane *lane = &c->lanes[e->lane];

	lane->held_bytes = timeline_add(lane->held_bytes, e->bytes);
	out_puts(c->out, "{\"ph\":\"C\",\"cat\":\"counter\",\"name\":");
	out_text(c->out, job_lane(c->job, e->lane).name);
	write_place(c, e);
	out_printf(c->out, ",\"args\":{\"held_bytes\":%lld}},\n", (long long)lane->held_bytes);
}

/* ---- flows ---- */

static int flow_end_of(const struct chrome *c, const struct timeline_event *e)
{
	if (!e->correlation || e->kind == TIMELINE_FLOW)
		return 0;
	if (job_lane_is_device(c->job, e->lane))
		return FLOW_ENDS;
	return e->kind == TIMELINE_LAUNCH || e->kind == TIMELINE_API ? FLOW_STARTS : 0;
}

static uint64_t flow_id(const struct chrome *c, const struct timeline_event *e)
{
	return c->lanes[e->lane].scope << 32 | e->correlation;
}

/* Those that both begin and end are written: the first of either, where a launch has
 * several. */
static void write_flow(struct chrome *c, const struct timeline_event *e)
{
	int end = flow_end_of(c, e);
	uint64_t id = flow_id(c, e);

	if (!end || flows_have(&c->ends, id) != (FLOW_STARTS | FLOW_ENDS) ||
	    (flows_have(&c->written, id) & end) || !flows_note(&c->written, id, end))
		return;
	out_printf(c->out, "{\"ph\":\"%s\",\"cat\":\"ac2g\",\"name\":\"launch\",\"id\":%llu",
		   end == FLOW_STARTS ? "s" : "f\",\"bp\":\"e", (unsigned long long)id);
	write_place(c, e);
	out_puts(c->out, "},\n");
}

static bool note_flow(void *self, const struct timeline_event *e, struct err *err)
{
	struct chrome *c = self;
	int end = flow_end_of(c, e);

	(void)err;
	if (end)
		flows_note(&c->ends, flow_id(c, e), end); /* where there is no room: no arrow */
	return true;
}

static bool write_event(void *self, const struct timeline_event *e, struct err *err)
{
	struct chrome *c = self;

	if (e->kind == TIMELINE_COUNTER) {
		write_sample(c, e);
	} else if (e->kind == TIMELINE_FLOW) {
		write_arrow(c, e);
	} else {
		write_span(c, e);
		write_flow(c, e);
	}
	if (e->kind == TIMELINE_BREAK)
		write_break(c, e);
	if (e->kind == TIMELINE_MEMORY && e->bytes)
		write_counter(c, e);
	if (c->out->failed && err)
		*err = c->out->fault;
	return !c->out->failed;
}

/* ---- texts of a log ---- */

static void write_base64(struct out *out, const uint8_t *bytes, size_t len)
{
	static const char letters[] =
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		size_t n = len - i < 3 ? len - i : 3;
		uint32_t bits = (uint32_t)bytes[i] << 16 | (n > 1 ? bytes[i + 1] << 8 : 0) |
				(n > 2 ? bytes[i + 2] : 0);
		const char four[4] = { letters[bits >> 18], letters[bits >> 12 & 63],
				       n > 1 ? letters[bits >> 6 & 63] : '=',
				       n > 2 ? letters[bits & 63] : '=' };

		out_add(out, four, 4);
	}
}

/* A block as it is stored: viewers pass over it, the importer looks at what is in it. */
static bool write_block(void *self, const void *block, size_t len, struct err *err)
{
	struct chrome *c = self;

	out_puts(c->out, "{\"ph\":\"M\",\"name\":\"" ARTIFACTS_METADATA "\",\"pid\":0,\"tid\":0,"
			 "\"args\":{\"block\":\"");
	write_base64(c->out, block, len);
	out_puts(c->out, "\"}},\n");
	if (c->out->failed && err)
		*err = c->out->fault;
	return !c->out->failed;
}

/* The files of a recording, then all texts, then their index: who reads it knows by then which of
 * them are there. */
static bool write_texts(struct chrome *c, struct err *err)
{
	const struct export_run *run = c->job->run;

	return c->job->query->redact ||
	       (run->blocks(run->store, TIMELINE_FILE, write_block, c, err) &&
		run->blocks(run->store, TIMELINE_TEXTS, write_block, c, err) &&
		run->blocks(run->store, TIMELINE_INDEX, write_block, c, err));
}

/* ---- the file ---- */

/* Before the events: an importer reads it first.  A base below zero is none to others. */
static void write_head(struct chrome *c)
{
	json_t *own = json_object(), *null = json_null();

	c->begin_ns = job_begin_ns(c->job);
	if (c->begin_ns < 0 || c->begin_ns >= TIMELINE_MAX_NS / 2)
		c->begin_ns = 0;
	json_object_set_new(own, "export", json_integer(1));
	json_object_set(own, "run", c->job->head_json);
	json_object_set_new(own, "facts", slim_facts(c->job->tables.facts));
	json_object_set_new(own, "report", slim_report(c->job->report));
	json_object_set(own, "workload", c->job->workload ? c->job->workload : null);
	json_object_set(own, "environment", c->job->environment ? c->job->environment : null);
	out_printf(c->out,
		   "{\"displayTimeUnit\":\"ns\",\"baseTimeNanoseconds\":%lld,\n\"breakeven\":",
		   (long long)c->begin_ns);
	out_json(c->out, own);
	out_puts(c->out, ",\n\"traceEvents\":[\n");
	json_decref(own);
}

bool export_chrome(struct export_job *job, struct err *err)
{
	struct chrome c = { .job = job, .out = &job->out };
	bool ok;

	c.lanes = calloc(job->n_lanes + 1, sizeof(*c.lanes));
	c.names = calloc(job->n_names + 1, sizeof(*c.names));
	ok = (c.lanes && c.names) || err_set(err, ERR_MEMORY, "out of memory for a trace");
	if (ok) {
		number_processes(&c);
		number_scopes(&c);
		write_head(&c);
		write_lanes(&c);
		ok = job_events(job, note_flow, &c, err) && job_events(job, write_event, &c, err) &&
		     write_texts(&c, err);
		/* The last line, so that no comma has to be taken back. */
		out_puts(c.out, "{\"ph\":\"M\",\"name\":\"process_labels\",\"pid\":0,\"tid\":0,"
				"\"args\":{\"labels\":\"Breakeven\"}}\n]}\n");
	}
	for (size_t i = 0; c.names && i < job->n_names; i++)
		free(c.names[i]);
	free(c.names);
	free(c.lanes);
	flows_finish(&c.ends);
	flows_finish(&c.written);
	return ok;
}

bool export_chrome_gz(struct export_job *job, struct err *err)
{
	return export_chrome(job, err);
}
