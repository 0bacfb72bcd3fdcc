/* server/examples.c -- see examples.h.
 *
 * A file of web/examples/ is a workload that also says "title" about itself;
 * they are listed in the order of their names, and the first one is run when a
 * server starts with an empty store.  The blocks of the suite that comes with the
 * program stand behind them, in a group of their own.
 */
#include "server/examples.h"

#include <stdlib.h>
#include <string.h>

#include "server/assets.h"
#include "server/suite_plan.h"

static const char folder[] = "/assets/examples/";

static json_t *example_at(const struct asset *a, struct err *err)
{
	json_error_t at;
	json_t *workload = json_loadb((const char *)a->data, a->len, 0, &at);
	json_t *title, *example;

	if (!workload) {
		err_set(err, ERR_INTERNAL, "example %s, line %d: %s", a->path, at.line, at.text);
		return NULL;
	}
	title = json_incref(json_object_get(workload, "title"));
	json_object_del(workload, "title");
	example = json_pack("{s:O, s:o, s:o}", "name", json_object_get(workload, "name"), "title",
			    title, "workload", workload);
	if (!example)
		err_set(err, ERR_INTERNAL, "example %s has no name or title", a->path);
	return example;
}

/* The blocks of the suite, as examples. */
static bool add_blocks(json_t *list, struct err *err)
{
	json_t *blocks = suite_blocks(err), *block;
	size_t i;

	json_array_foreach(blocks, i, block)
	{
		json_t *name = json_object_get(block, "name");

		json_array_append_new(list,
				      json_pack("{s:O, s:O, s:s, s:O}", "name", name, "title", name,
						"group", "Model blocks", "workload", block));
	}
	json_decref(blocks);
	return blocks != NULL;
}

json_t *examples_json(struct err *err)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n_assets; i++) {
		json_t *example;

		if (strncmp(assets[i].path, folder, sizeof(folder) - 1) != 0)
			continue;
		example = example_at(&assets[i], err);
		if (!example) {
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, example);
	}
	if (!add_blocks(list, err)) {
		json_decref(list);
		return NULL;
	}
	return json_pack("{s:o}", "examples", list);
}

json_t *examples_first(struct err *err)
{
	json_t *all = examples_json(err);
	json_t *first = json_array_get(json_object_get(all, "examples"), 0);
	json_t *workload = json_incref(json_object_get(first, "workload"));

	json_decref(all);
	if (!workload)
		err_set(err, ERR_INTERNAL, "this build has no examples");
	return workload;
}
