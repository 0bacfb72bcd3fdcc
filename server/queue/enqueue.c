/* server/queue/enqueue.c -- makes a posted workload a queued run, and a trace a running one. */
#include "server/queue/queue.h"

#include <stdlib.h>
#include <string.h>

enum { NAME_BYTES = 200 };

/* A list of texts as one. */
static const char *joined(struct arena *arena, struct report_texts list, const char *separator,
			  const char *otherwise)
{
	const char *all = NULL;

	for (size_t i = 0; i < list.n; i++)
		all = arena_printf(arena, "%s%s%s", all ? all : "", all ? separator : "",
				   list.at[i]);
	return all ? all : otherwise;
}

static const char *or_none(const char *text)
{
	return text ? text : "";
}

const char *row_text(struct arena *arena, json_t *json)
{
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;
	const char *copy = text ? arena_strdup(arena, text) : NULL;

	free(text);
	json_decref(json);
	return copy;
}

static bool insert(struct db *db, struct run_row *row, int64_t *id, struct err *err)
{
	return row->workload && row->name
		   ? db_run_insert(db, row, id, err)
		   : err_set(err, ERR_MEMORY, "out of memory while storing the workload");
}

struct run_row enqueue_row(struct arena *arena, const struct report_workload *w, const char *name)
{
	return (struct run_row){
		.name = arena_strndup(arena, name, strnlen(name, NAME_BYTES)),
		.project = or_none(w->project),
		.device = w->device ? w->device : "cpu",
		.commit = or_none(w->commit),
		.branch = or_none(w->branch),
		.host = w->host && strcmp(w->host, "local") != 0 ? w->host : "",
		.tags = joined(arena, w->tags, "\n", ""),
		.modes = joined(arena, w->modes, ",", "eager,static,dynamic"),
	};
}

bool enqueue(struct db *db, const json_t *json, const struct workload *w, const char *author,
	     int64_t *id, struct err *err)
{
	struct arena arena = { 0 };
	const struct report_workload *fields = report_read_workload(json, &arena, err);
	struct run_row row;
	bool ok = false;

	if (fields) {
		row = enqueue_row(&arena, fields, workload_name(w));
		row.author = author;
		row.workload = row_text(&arena, json_incref((json_t *)json));
		ok = insert(db, &row, id, err);
	}
	arena_finish(&arena);
	return ok;
}

bool enqueue_trace(struct db *db, const struct report_workload *w, const char *author, int64_t *id,
		   struct err *err)
{
	struct arena arena = { 0 };
	struct report_workload all = *w;
	struct run_row row = { .name = w->name ? w->name : "trace",
			       .project = or_none(w->project),
			       .device = "cuda",
			       .tags = joined(&arena, w->tags, "\n", ""),
			       .modes = "",
			       .author = author,
			       .trace = true };
	bool ok;

	REPORT_SET(&all, device, row.device);
	REPORT_SET(&all, trace, true);
	row.workload = row_text(&arena, report_write_workload(&all));
	ok = insert(db, &row, id, err);
	arena_finish(&arena);
	return ok;
}
