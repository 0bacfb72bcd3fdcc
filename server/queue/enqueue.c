/* server/queue/enqueue.c -- makes a posted workload a queued run, and a trace a running one. */
#include "profiler/fields/json.h"
#include "server/queue/queue.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 200 };

/* A list of strings as one text. */
static const char *joined(struct arena *arena, const json_t *list, const char *separator,
			  const char *otherwise)
{
	const char *all = NULL;
	json_t *item;
	size_t i;

	json_array_foreach(list, i, item)
		if (json_is_string(item))
			all = arena_printf(arena, "%s%s%s", all ? all : "", all ? separator : "",
					   json_string_value(item));
	return all ? all : otherwise;
}

static bool insert(struct db *db, const json_t *json, struct run_row *row, struct arena *arena,
		   int64_t *id, struct err *err)
{
	char *text = json_dumps(json, JSON_COMPACT);
	bool ok = false;

	row->project = text_field_or(json, "project", "");
	row->tags = joined(arena, json_object_get(json, "tags"), "\n", "");
	row->workload = text;
	if (text && row->name)
		ok = db_run_insert(db, row, id, err);
	else
		err_set(err, ERR_MEMORY, "out of memory while storing the workload");
	free(text);
	arena_finish(arena);
	return ok;
}

struct run_row enqueue_row(struct arena *arena, const json_t *json, const char *name)
{
	return (struct run_row){
		.name = arena_strndup(arena, name, strnlen(name, NAME_BYTES)),
		.project = text_field_or(json, "project", ""),
		.device = text_field_or(json, "device", "cpu"),
		.commit = text_field_or(json, "commit", ""),
		.branch = text_field_or(json, "branch", ""),
		.tags = joined(arena, json_object_get(json, "tags"), "\n", ""),
		.modes = joined(arena, json_object_get(json, "modes"), ",", "eager,static,dynamic"),
	};
}

bool enqueue(struct db *db, const json_t *json, const struct workload *w, int64_t *id,
	     struct err *err)
{
	struct arena arena = { 0 };
	struct run_row row = enqueue_row(&arena, json, workload_name(w));

	return insert(db, json, &row, &arena, id, err);
}

bool enqueue_trace(struct db *db, const json_t *json, int64_t *id, struct err *err)
{
	struct arena arena = { 0 };
	struct run_row row = { .name = text_field_or(json, "name", "trace"),
			       .device = "cuda",
			       .modes = "",
			       .trace = true };
	json_t *all = json_copy((json_t *)json);
	bool ok;

	json_object_set_new(all, "device", json_string(row.device));
	json_object_set_new(all, "trace", json_true());
	ok = insert(db, all, &row, &arena, id, err);
	json_decref(all);
	return ok;
}
