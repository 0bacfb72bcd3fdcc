/* tests/cuda/programs.c FILE [CACHE] -- many workloads in one process, for tools that start slowly.
 *
 * FILE is a JSON list of workloads.  Each runs once, in its modes; a line says "ran NAME",
 * or "failed NAME: why".  An engine is kept open throughout, so that the device's context
 * is made once.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "fusion/tensor/tensor.h"
#include "fusion/fusion.h"
#include "profiler/fields/fields.h"
#include "profiler/profiler.h"

static bool run(const json_t *json, const char *cache, struct err *err)
{
	const struct profiler_options options = { .brief = true, .cache_dir = cache };
	struct workload *w = workload_parse(json, err);
	struct report_draft draft = { 0 };
	bool ok = w && profiler_run(w, &options, &draft, err);

	report_draft_finish(&draft);
	workload_destroy(w);
	return ok;
}

int main(int argc, char **argv)
{
	const char *cache = argc > 2 ? argv[2] : NULL;
	const struct fusion_options device = { .backend = "cuda" };
	struct err err = { 0 };
	json_error_t fault;
	json_t *list = argc > 1 ? json_load_file(argv[1], 0, &fault) : NULL, *json;
	struct fusion *held;
	size_t i, failed = 0;

	if (!json_is_array(list)) {
		fprintf(stderr, "programs: FILE is no JSON list of workloads\n");
		return 2;
	}
	held = fusion_create(&device, &err);
	if (!held) {
		fprintf(stderr, "programs: %s\n", err.message);
		return 2;
	}
	json_array_foreach(list, i, json)
	{
		const char *name = json_string_value(json_object_get(json, "name"));

		err = (struct err){ 0 };
		if (run(json, cache, &err))
			printf("ran %s\n", name);
		else
			printf("failed %s: %s\n", name, err.message);
		failed += err.code != 0;
		fflush(stdout);
	}
	fusion_destroy(held);
	json_decref(list);
	return failed ? 1 : 0;
}
