/* tests/fuzz/fuzz_results.c -- libFuzzer entry of results of other tools: what is read of a
 * stranger's file is read again as it was printed, and its figures are finite.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/compare/figures.h"
#include "profiler/fields/fields.h"
#include "profiler/results/results.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_figures(json_t *results)
{
	struct arena arena = { 0 };
	struct err err = { 0 };
	json_t *report;
	size_t i;

	json_array_foreach(json_object_get(results, "results"), i, report)
	{
		const struct report_run *run = report_read_run(report, &arena, &err);
		struct figures figures = { 0 };

		if (!run || !figures_of(run, &figures, &err))
			abort();
		for (size_t k = 0; k < figures.rows.len; k++)
			if (!isfinite(figures.rows.at[k].value.mid))
				abort();
		figures_finish(&figures);
	}
	arena_finish(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct results_request request = { .file = "fuzz" };
	struct err err = { 0 };
	json_t *results = results_read(data, size, &request, &err), *again;
	char *text;

	if (!results) {
		if (!err.message[0])
			abort();
		return 0;
	}
	check_figures(results);
	text = json_dumps(results, JSON_REAL_PRECISION(17));
	again = text ? results_read(text, strlen(text), &request, &err) : NULL;
	if (!again)
		abort();
	free(text);
	json_decref(again);
	json_decref(results);
	return 0;
}
