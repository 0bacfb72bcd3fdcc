/* server/cli/cache_log.c -- logs what a run found wrong with the cache of kernels. */
#include "server/cli/cache_log.h"

#include "fusion/base/log.h"

/* `told` has the notes that were written, as keys. */
static void log_modes(const json_t *modes, json_t *told)
{
	const char *name;
	json_t *mode, *graph;
	size_t i;

	json_object_foreach((json_t *)modes, name, mode) {
		json_array_foreach(json_object_get(mode, "graphs"), i, graph) {
			const char *note = json_string_value(json_object_get(graph, "cache_note"));

			if (!note || json_object_get(told, note))
				continue;
			log_line(LOG_WARN, "%s", note);
			json_object_set_new(told, note, json_true());
		}
	}
}

void cache_log(const json_t *report)
{
	json_t *told = json_object(), *point;
	size_t i;

	log_modes(json_object_get(report, "modes"), told);
	json_array_foreach(json_object_get(report, "points"), i, point) {
		log_modes(json_object_get(point, "modes"), told);
	}
	json_decref(told);
}
