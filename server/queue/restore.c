/* server/queue/restore.c -- see restore.h.
 *
 * Pages and exporters read reports as the profiler writes them, so that the shapes they
 * rely on are looked at here, once.
 */
#include "server/queue/restore.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/profiler.h"
#include "server/queue/queue.h"

/* ---- shapes ---- */

static bool is_number(const json_t *json)
{
	return json_is_number(json);
}

static bool is_text(const json_t *json)
{
	return json_is_string(json);
}

static bool is_object(const json_t *json)
{
	return json_is_object(json);
}

typedef bool shape_fn(const json_t *json);

static bool all_in(const json_t *list, shape_fn *each)
{
	const json_t *item;
	size_t i;

	json_array_foreach((json_t *)list, i, item) {
		if (!each(item))
			return false;
	}
	return json_is_array(list);
}

static bool all_of(const json_t *object, shape_fn *each)
{
	const char *key;
	json_t *item;

	json_object_foreach((json_t *)object, key, item) {
		if (!each(item))
			return false;
	}
	return json_is_object(object);
}

/* Absent, null, or as it should be. */
static bool may(const json_t *json, bool sound)
{
	return !json || json_is_null(json) || sound;
}

static bool is_interval(const json_t *json)
{
	return json_array_size(json) == 2 && all_in(json, is_number);
}

static bool is_latency(const json_t *json)
{
	const json_t *interval = json_object_get(json, "ci_us");

	return is_number(json_object_get(json, "median_us")) &&
	       may(interval, is_interval(interval));
}

static bool is_break(const json_t *json)
{
	const json_t *stack = json_object_get(json, "stack");

	return is_text(json_object_get(json, "kind")) && is_text(json_object_get(json, "stage")) &&
	       may(stack, all_in(stack, is_object));
}

static bool is_recompile(const json_t *json)
{
	return is_text(json_object_get(json, "reason"));
}

static bool is_node(const json_t *json)
{
	const json_t *args = json_object_get(json, "args");

	return json_is_object(json) && may(args, json_is_array(args));
}

static bool is_graph(const json_t *json)
{
	const json_t *ops = json_object_get(json, "ops"), *nodes = json_object_get(json, "nodes");

	return json_is_object(json) && may(ops, all_in(ops, is_text)) &&
	       may(nodes, all_in(nodes, is_node));
}

static bool is_mode(const json_t *json)
{
	const json_t *latency = json_object_get(json, "latency");
	const json_t *split = json_object_get(json, "split_us");

	return all_in(json_object_get(json, "graphs"), is_graph) &&
	       all_in(json_object_get(json, "breaks"), is_break) &&
	       all_in(json_object_get(json, "recompiles"), is_recompile) &&
	       may(latency, is_latency(latency)) && may(split, json_is_object(split));
}

static bool is_verdict(const json_t *json)
{
	const json_t *interval = json_object_get(json, "speedup_ci");

	return json_is_object(json) && may(interval, is_interval(interval));
}

static bool is_point(const json_t *json)
{
	const json_t *even = json_object_get(json, "break_even");

	return is_number(json_object_get(json, "n")) &&
	       all_of(json_object_get(json, "modes"), is_mode) &&
	       may(even, all_of(even, is_verdict));
}

static bool is_measured(const json_t *json)
{
	const json_t *even = json_object_get(json, "break_even");
	const json_t *points = json_object_get(json, "points"), *own;

	own = json_object_get(json, "workload");
	return all_of(json_object_get(json, "modes"), is_mode) &&
	       may(points, all_in(points, is_point)) && may(even, all_of(even, is_verdict)) &&
	       may(own, json_is_object(own));
}

static bool is_report(const json_t *json)
{
	const json_t *engines = json_object_get(json, "engines");

	return json_integer_value(json_object_get(json, "breakeven")) == 1 && is_measured(json) &&
	       (json_is_object(json_object_get(json, "workload")) ||
		json_is_true(json_object_get(json, "slimmed"))) &&
	       !json_object_get(json, "import") && may(engines, all_of(engines, is_measured));
}

/* ---- the run ---- */

/* Where it comes from, and what the way cost: pages say so. */
static json_t *mark_of(const json_t *imported)
{
	const json_t *files = json_object_get(imported, "files");

	return json_pack("{s:O?, s:O?, s:O?}", "run", json_object_get(imported, "exported"), "file",
			 json_object_get(json_array_get(files, 0), "name"), "ledger",
			 json_object_get(imported, "ledger"));
}

static const char *dumped(struct arena *arena, const json_t *json)
{
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	const char *copy = text ? arena_strdup(arena, text) : NULL;

	free(text);
	return copy;
}

static void drop_nulls(json_t *object)
{
	const char *key;
	json_t *value;
	void *next;

	json_object_foreach_safe(object, next, key, value) {
		if (json_is_null(value))
			json_object_del(object, key);
	}
}

/* A workload whose source was left out, as it can be looked at: with a function that takes
 * anything, and a line for a sweep to repeat. */
static json_t *with_some_source(const json_t *posted)
{
	json_t *some = json_deep_copy(posted);
	json_t *lines = json_object_get(json_object_get(some, "sweep"), "statements");
	const char *source = lines ? "def model(*inputs):\n    ...\n    return inputs[0]\n"
				   : "def model(*inputs):\n    return inputs[0]\n";

	json_object_set_new(some, "source", json_string(source));
	if (lines)
		json_object_set_new(lines, "pool", json_pack("[s]", "pass"));
	return some;
}

/* The workload that the run had; new.  NULL: it could not have been posted. */
static json_t *workload_of(const json_t *original, bool redacted, const struct registry *registry,
			   struct arena *arena, const char **name)
{
	json_t *posted = json_deep_copy(json_object_get(original, "workload")), *looked_at;
	struct err err = { 0 };
	struct workload *w;

	if (!json_is_object(posted)) {
		json_decref(posted);
		return NULL;
	}
	if (redacted) {
		drop_nulls(posted);
		json_object_del(posted, "source");
	}
	looked_at = redacted ? with_some_source(posted) : json_incref(posted);
	w = workload_parse_in(looked_at, registry, &err);
	json_decref(looked_at);
	if (!w) {
		json_decref(posted);
		return NULL;
	}
	*name = arena_strdup(arena, workload_name(w));
	workload_destroy(w);
	return posted;
}

/* How it ended, where it has no report for that. */
static bool ended_without(const json_t *exported, struct restored *out)
{
	const char *status = json_string_value(json_object_get(exported, "status"));
	const char *code = json_string_value(json_object_get(exported, "error_code"));
	const char *message = json_string_value(json_object_get(exported, "error"));

	if (!status || !run_status_from_name(status, &out->end) ||
	    (out->end != RUN_FAILED && out->end != RUN_CANCELLED))
		return false;
	if (message && *message)
		err_at(&out->why, code ? err_from_name(code) : ERR_INTERNAL,
		       (int)json_integer_value(json_object_get(exported, "error_line")),
		       (int)json_integer_value(json_object_get(exported, "error_column")), "%s",
		       message);
	return true;
}

/* A trace that was recorded has no workload to be refused. */
static bool was_recorded(const json_t *original, const json_t *posted)
{
	const json_t *report = json_object_get(original, "report");

	return json_is_true(json_object_get(posted, "trace")) &&
	       (!json_is_object(report) ||
		(json_is_object(json_object_get(report, "trace")) &&
		 json_object_size(json_object_get(report, "modes")) == 0));
}

static json_t *recording_of(const json_t *posted)
{
	static const char *const keys[] = { "name", "command", "project" };
	const char *device = json_string_value(json_object_get(posted, "device"));
	bool off_gpu = device && (!*device || strcmp(device, "cpu") == 0);
	json_t *kept = json_pack("{s:b, s:s}", "trace", 1, "device", off_gpu ? device : "cuda");

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		json_t *value = json_object_get(posted, keys[i]);

		if (json_is_string(value))
			json_object_set(kept, keys[i], value);
	}
	return kept;
}

/* A report that was too long for the file went without its workload, which the file has
 * beside it. */
static bool read_measured(const json_t *original, json_t *posted, struct arena *arena,
			  struct restored *out)
{
	json_t *report = json_object_get(original, "report"), *marked;

	if (!is_report(report))
		return false;
	marked = json_copy(report);
	json_object_set(marked, "imported", out->mark);
	if (!json_object_get(marked, "workload"))
		json_object_set(marked, "workload", posted);
	out->report = dumped(arena, marked);
	summary_of_report(marked, arena, &out->summary);
	json_decref(marked);
	out->environment = dumped(arena, json_object_get(original, "environment"));
	if (!out->environment || out->environment[0] != '{')
		out->environment = "{}";
	return out->report != NULL;
}

/* The row, but for what the workload says. */
static bool read_row(const json_t *imported, json_t *posted, const char *name, struct arena *arena,
		     struct restored *out)
{
	const json_t *exported = json_object_get(imported, "exported");
	const char *called = json_string_value(json_object_get(exported, "name"));
	bool redacted = json_is_true(json_object_get(exported, "redacted")), trace = out->row.trace;

	if ((redacted || trace) && called && *called)
		name = called;
	out->row = enqueue_row(arena, posted, name ? name : "trace");
	out->row.trace = trace;
	out->row.modes = trace ? "" : arena_strdup(arena, out->row.modes);
	out->row.project = arena_strdup(arena, out->row.project);
	out->row.device = arena_strdup(arena, out->row.device);
	out->row.commit = arena_strdup(arena, out->row.commit);
	out->row.branch = arena_strdup(arena, out->row.branch);
	out->row.workload = dumped(arena, posted);
	out->row.imported = dumped(arena, out->mark);
	return out->row.workload && out->row.imported && out->row.name;
}

bool restore_read(const json_t *imported, const struct registry *registry, struct arena *arena,
		  struct restored *out)
{
	const json_t *original = json_object_get(imported, "original");
	const json_t *exported = json_object_get(imported, "exported");
	bool redacted = json_is_true(json_object_get(exported, "redacted")), ok;
	json_t *was = json_object_get(original, "workload"), *posted;
	const char *name = NULL;

	*out = (struct restored){ .end = RUN_DONE };
	if (!json_is_object(was))
		return false;
	out->row.trace = was_recorded(original, was);
	posted = out->row.trace ? recording_of(was)
				: workload_of(original, redacted, registry, arena, &name);
	out->mark = posted ? mark_of(imported) : NULL;
	ok = out->mark && read_row(imported, posted, name, arena, out);
	if (ok && !ended_without(exported, out)) {
		out->end = RUN_DONE;
		ok = out->row.trace || read_measured(original, posted, arena, out);
	}
	json_decref(posted);
	if (!ok) {
		json_decref(out->mark);
		out->mark = NULL;
	}
	return ok;
}
