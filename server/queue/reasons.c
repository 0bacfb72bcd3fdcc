/* server/queue/reasons.c -- the reasons of a report's breaks, as text that a run is found by: the
 * kind, the id in PyTorch's registry, the message and the hint, each distinct line once. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/fields/fields.h"
#include "server/queue/outcome.h"
#include "server/queue/queue.h"

struct lines {
	json_t *seen; /* an object: it keeps the order */
	struct arena *arena;
};

static void add_line(struct lines *l, const char *kind, const char *gb, const char *message,
		     const char *hint)
{
	const char *line = arena_printf(l->arena, "%s %s %s %s", kind ? kind : "", gb ? gb : "",
					message ? message : "", hint ? hint : "");

	if (line)
		json_object_set_new(l->seen, line, json_true());
}

static void add_modes(struct lines *l, const struct report_mode_map *modes)
{
	for (size_t i = 0; i < modes->n; i++) {
		const struct report_break_list *breaks = &modes->at[i].breaks;

		for (size_t k = 0; k < breaks->n; k++)
			add_line(l, breaks->at[k].kind, breaks->at[k].gb, breaks->at[k].message,
				 breaks->at[k].hint);
	}
}

static void add_imported(struct lines *l, const struct report_import_break_list *breaks)
{
	for (size_t i = 0; i < breaks->n; i++)
		add_line(l, breaks->at[i].kind, breaks->at[i].gb, breaks->at[i].message,
			 breaks->at[i].reason);
}

static char *joined(const json_t *seen)
{
	struct buf out = { 0 };
	const char *line;
	json_t *ignored;

	buf_puts(&out, "");
	json_object_foreach((json_t *)seen, line, ignored)
	{
		(void)ignored;
		buf_printf(&out, "%s%s", out.len ? "\n" : "", line);
	}
	if (!out.len && !out.failed)
		return strdup("");
	return buf_steal(&out);
}

char *reasons_of(const struct report_run *run)
{
	struct arena arena = { 0 };
	struct lines l = { json_object(), &arena };
	char *text;

	add_modes(&l, &run->modes);
	for (size_t i = 0; i < run->points.n; i++)
		add_modes(&l, &run->points.at[i].modes);
	if (run->import)
		add_imported(&l, &run->import->breaks);
	text = l.seen ? joined(l.seen) : NULL;
	json_decref(l.seen);
	arena_finish(&arena);
	return text;
}

char *reasons_of_report(const char *report, size_t len)
{
	json_t *json = json_loadb(report, len, 0, NULL);
	struct arena arena = { 0 };
	const struct report_run *run = json ? report_read_run(json, &arena, NULL) : NULL;
	char *text = run ? reasons_of(run) : strdup("");

	json_decref(json);
	arena_finish(&arena);
	return text;
}
