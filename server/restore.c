/* server/restore.c -- see restore.h.
 *
 * Pages and exporters read reports as the profiler writes them, so that the shapes they
 * rely on are looked at here, once.
 */
#include "server/restore.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/profiler.h"
#include "server/enqueue.h"
#include "server/summary.h"

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

	json_array_foreach((json_t *)list, i, item)
	{
		if (!each(item))
			return false;
	}
	return json_is_array(list);
}

static bool all_of(const json_t *object, shape_fn *each)
{
	const char *key;
	json_t *item;

	json_object_foreach((json_t *)object, key, item)
	{
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
	       json_is_object(json_object_get(json, "workload")) &&
	       !json_object_get(json, "import") && may(engines, all_of(engines, is_measured));
}

/* ---- the run ---- */

/* Where it comes from, and what the way cost: the page says so. */
static json_t *mark(const json_t *imported)
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

bool restore_read(const json_t *imported, const struct registry *registry, struct arena *arena,
		  struct restored *out)
{
	const json_t *original = json_object_get(imported, "original");
	json_t *report = json_object_get(original, "report"), *marked;
	json_t *posted = json_object_get(original, "workload");
	struct err err = { 0 };
	struct workload *w;

	if (!is_report(report) || !json_is_object(posted))
		return false;
	w = workload_parse_in(posted, registry, &err);
	if (!w)
		return false;
	*out = (struct restored){ .row = enqueue_row(arena, posted, workload_name(w)) };
	workload_destroy(w);
	marked = json_copy(report);
	json_object_set_new(marked, "imported", mark(imported));
	out->row.workload = dumped(arena, posted);
	out->report = dumped(arena, marked);
	json_decref(marked);
	out->environment = dumped(arena, json_object_get(original, "environment"));
	if (!out->row.workload || !out->report || !out->row.name)
		return false;
	if (!out->environment || out->environment[0] != '{')
		out->environment = "{}";
	summary_of_report(out->report, arena, &out->summary);
	return true;
}
