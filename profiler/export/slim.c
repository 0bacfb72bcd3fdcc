/* profiler/export/slim.c -- a report without what takes most room: values of calls, guards, memory,
 * what passes did, nodes and code of graphs, samples.  Figures, breaks, recompiles and graphs by
 * their ops stay. */
#include "profiler/export/export.h"

static void without(json_t *object, const char *const *keys)
{
	for (; *keys; keys++)
		json_object_del(object, *keys);
}

static json_t *slim_mode(const json_t *mode)
{
	static const char *const bulk[] = { "calls", "guards", "memory", "passes", NULL };
	static const char *const of_graph[] = { "nodes",   "outputs",      "subgraphs",
						"lowered", "tile_program", NULL };
	json_t *m = json_copy((json_t *)mode), *graphs = json_array();
	json_t *latency = json_copy(json_object_get(mode, "latency"));
	const json_t *graph;
	size_t i;

	without(m, bulk);
	json_array_foreach(json_object_get(mode, "graphs"), i, graph)
	{
		json_t *g = json_copy((json_t *)graph);

		without(g, of_graph);
		json_array_append_new(graphs, g);
	}
	json_object_set_new(m, "graphs", graphs);
	json_object_del(latency, "samples_ns");
	if (latency)
		json_object_set_new(m, "latency", latency);
	return m;
}

static json_t *slim_modes(const json_t *modes)
{
	json_t *all = json_object(), *mode;
	const char *name;

	json_object_foreach((json_t *)modes, name, mode)
	    json_object_set_new(all, name, slim_mode(mode));
	return all;
}

/* The modes and the points of a report, or of another engine in it. */
static json_t *slim_measured(const json_t *report, const char *const *others)
{
	json_t *slim = json_copy((json_t *)report), *points = json_array();
	const json_t *point;
	size_t i;

	without(slim, others);
	json_object_set_new(slim, "modes", slim_modes(json_object_get(report, "modes")));
	json_array_foreach(json_object_get(report, "points"), i, point)
	{
		json_t *p = json_copy((json_t *)point);

		json_object_del(p, "source");
		json_object_set_new(p, "modes", slim_modes(json_object_get(point, "modes")));
		json_array_append_new(points, p);
	}
	json_object_set_new(slim, "points", points);
	return slim;
}

json_t *report_slim(const json_t *report, const char *const *others)
{
	json_t *slim = slim_measured(report, others), *engine;
	const char *name;

	json_object_foreach(json_object_get(report, "engines"), name, engine)
	{
		json_t *engines = json_copy(json_object_get(slim, "engines"));

		json_object_set_new(engines, name, slim_measured(engine, others));
		json_object_set_new(slim, "engines", engines);
	}
	return slim;
}
