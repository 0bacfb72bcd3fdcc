/* server/cli/cache_log.c -- logs what a run found wrong with the cache of kernels. */
#include "server/cli/cache_log.h"

#include <jansson.h>

#include "fusion/base/log.h"
#include "profiler/fields/fields.h"

/* `told` has the notes that were written, as keys. */
static void log_modes(const struct report_mode_map *modes, json_t *told)
{
	for (size_t i = 0; i < modes->n; i++) {
		const struct report_graph_list *graphs = &modes->at[i].graphs;

		for (size_t k = 0; k < graphs->n; k++) {
			const char *note = graphs->at[k].cache_note;

			if (!note || json_object_get(told, note))
				continue;
			log_line(LOG_WARN, "%s", note);
			json_object_set_new(told, note, json_true());
		}
	}
}

void cache_log(const struct report_run *run)
{
	json_t *told = json_object();

	log_modes(&run->modes, told);
	for (size_t i = 0; i < run->points.n; i++)
		log_modes(&run->points.at[i].modes, told);
	json_decref(told);
}
