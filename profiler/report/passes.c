/* profiler/report/passes.c -- what each pass did to each graph, as JSON. */
#include "profiler/report/passes.h"

#include <string.h>

static json_t *text_json(const char *text)
{
	return text ? json_string(text) : json_null();
}

/* The entry of `rules` for the rule, made where it is new. */
static json_t *rule_of(json_t *rules, const char *name)
{
	json_t *rule;
	size_t i;

	json_array_foreach(rules, i, rule)
	{
		if (strcmp(json_string_value(json_object_get(rule, "rule")), name) == 0)
			return rule;
	}
	rule = json_pack("{s:s, s:i, s:[]}", "rule", name, "count", 0, "at");
	json_array_append_new(rules, rule);
	return rule;
}

static json_t *rules_json(const struct watched *w, int part, int step)
{
	int n = fusion_watched_step(w, part, step).n_firings;
	json_t *rules = json_array();

	for (int i = 0; i < n; i++) {
		struct fusion_firing f = fusion_watched_firing(w, part, step, i);
		json_t *rule = rule_of(rules, f.rule), *at = json_object_get(rule, "at");
		json_int_t count = json_integer_value(json_object_get(rule, "count"));

		json_object_set_new(rule, "count", json_integer(count + 1));
		if (json_array_size(at) < PASSES_PLACES)
			json_array_append_new(at, json_pack("{s:s, s:o, s:i, s:i}", "node", f.node,
							    "with", text_json(f.with), "line",
							    f.line, "column", f.column));
	}
	return rules;
}

static json_t *step_json(const struct watched *w, int part, int index)
{
	struct fusion_watched_step step = fusion_watched_step(w, part, index);

	return json_pack("{s:s, s:o, s:b, s:b, s:i, s:f, s:o, s:I, s:o}", "pass", step.name,
			 "plugin", text_json(step.plugin), "off", step.off, "changed", step.changed,
			 "nodes", step.n_nodes, "us", (double)step.ns / 1000, "rules",
			 rules_json(w, part, index), "rules_left_out",
			 (json_int_t)step.firings_left_out, "after", text_json(step.after));
}

static json_t *names_json(const char *const *names, int n)
{
	json_t *list = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_string(names[i]));
	return list;
}

static json_t *part_json(const struct watched *w, int index)
{
	struct fusion_watched_part part = fusion_watched_part(w, index);
	json_t *steps = json_array();

	for (int i = 0; i < part.n_steps; i++)
		json_array_append_new(steps, step_json(w, index, i));
	return json_pack("{s:s, s:s?, s:o, s:o, s:i, s:i, s:i, s:o, s:o, s:I}", "part", part.name,
			 "loop", part.loop, "takes", names_json(part.takes, part.n_takes), "gives",
			 names_json(part.gives, part.n_gives), "first_kernel", part.first_kernel,
			 "n_kernels", part.n_kernels, "nodes", part.n_nodes, "before",
			 text_json(part.before), "steps", steps, "left_out_bytes",
			 (json_int_t)part.left_out_bytes);
}

void report_passes(json_t *m, const struct candidate *candidate, size_t *left_bytes)
{
	json_t *graph;
	size_t i;

	json_array_foreach(json_object_get(m, "graphs"), i, graph)
	{
		size_t bytes = PASSES_GRAPH_BYTES < *left_bytes ? PASSES_GRAPH_BYTES : *left_bytes;
		json_t *parts = json_array();
		struct err err = { 0 };
		struct watched *w = fusion_watch_passes(candidate->session, (int)i, &bytes, &err);

		if (!w)
			json_array_append_new(
			    parts, json_pack("{s:s, s:s}", "part", "", "error", err.message));
		for (int k = 0; w && k < fusion_watched_count(w); k++)
			json_array_append_new(parts, part_json(w, k));
		*left_bytes -= bytes;
		json_object_set_new(graph, "passes", parts);
		fusion_watched_destroy(w);
	}
}
