/* server/api/examples.c -- see examples.h.
 *
 * A file of web/examples/ is a workload that also says "title" about itself;
 * they are listed in the order of their names, and the first one is run when a
 * server starts with an empty store.  Models in published style and the blocks of the
 * suite, both Python programs, stand behind them in groups of their own.
 */
#include "server/api/examples.h"

#include <stdlib.h>
#include <string.h>

#include "server/text/assets.h"
#include "server/text/embedded.h"

static const char examples_start[] = "/assets/examples/";

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

/* The first line of a program's own description, without its full stop; NULL: it has none. */
static json_t *described(const json_t *workload)
{
	static const char quotes[] = "\"\"\"";
	const char *source = json_string_value(json_object_get(workload, "source"));
	const char *at = source ? strstr(source, quotes) : NULL;
	size_t len;

	if (!at)
		return NULL;
	at += strlen(quotes);
	len = strcspn(at, "\"\n");
	len -= len && at[len - 1] == '.';
	return len ? json_stringn(at, len) : NULL;
}

/* The programs of a folder, as examples of a group; their titles are their names, or what they
 * say of themselves. */
static bool add_programs(json_t *list, const char *folder, const char *group, bool described_ones,
			 struct err *err)
{
	json_t *programs = embedded_programs(folder, err), *workload;
	size_t i;

	json_array_foreach(programs, i, workload) {
		json_t *name = json_object_get(workload, "name");
		json_t *title = described_ones ? described(workload) : NULL;

		json_array_append_new(list, json_pack("{s:O, s:o, s:s, s:O}", "name", name, "title",
						      title ? title : json_incref(name), "group",
						      group, "workload", workload));
	}
	json_decref(programs);
	return programs != NULL;
}

json_t *examples_json(struct err *err)
{
	json_t *list = json_array();

	for (size_t i = 0; i < n_assets; i++) {
		json_t *example;

		if (strncmp(assets[i].path, examples_start, sizeof(examples_start) - 1) != 0)
			continue;
		example = example_at(&assets[i], err);
		if (!example) {
			json_decref(list);
			return NULL;
		}
		json_array_append_new(list, example);
	}
	if (!add_programs(list, "models", "Models in published style", true, err) ||
	    !add_programs(list, "suite", "Model blocks", false, err)) {
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
