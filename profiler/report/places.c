/* profiler/report/places.c -- lines of a program of several files: see places.h. */
#include "profiler/report/places.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/buf.h"

/* A walk through the records of a report. */
struct place_walk {
	const struct fusion_program *program;
	struct report_draft *draft;
	bool failed; /* out of memory */
};

/* A field by its name and type; NULL where the record has none. */
static const struct report_field *field_of(const struct report_record *record, const char *name,
					   enum report_type type)
{
	const struct report_field *field = report_field(record, name);

	return field && field->type == type ? field : NULL;
}

static bool *has(const struct report_field *field, char *from)
{
	return (bool *)(from + field->has);
}

static void place_line(struct place_walk *p, const struct report_record *record, char *from)
{
	const struct report_field *line = field_of(record, "line", REPORT_INTEGER);
	const struct report_field *file = field_of(record, "file", REPORT_TEXT);
	const char *name;
	int64_t *at;
	int there;

	if (!line || !file || *has(file, from))
		return;
	at = (int64_t *)(from + line->offset);
	name = *at > 0 ? fusion_place(p->program, (int)*at, &there) : NULL;
	if (!name)
		return;
	*at = there;
	name = report_draft_text(p->draft, name);
	memcpy(from + file->offset, &name, sizeof(name));
	*has(file, from) = true;
	p->failed |= !name;
}

static void place_lines(struct place_walk *p, const struct report_record *record, char *from)
{
	const struct report_field *lines = field_of(record, "lines", REPORT_INTEGERS);
	const struct report_field *files = field_of(record, "files", REPORT_TEXTS);
	struct report_integers *at;
	struct report_texts names;

	if (!lines || !files || !*has(lines, from) || *has(files, from))
		return;
	at = (struct report_integers *)(from + lines->offset);
	names.n = at->n;
	names.at = ARENA_ARRAY(&p->draft->arena, const char *, at->n + 1);
	for (size_t i = 0; names.at && i < at->n; i++) {
		int there = (int)at->at[i];
		const char *file = fusion_place(p->program, there, &there);

		names.at[i] = report_draft_text(p->draft, report_text(file));
		at->at[i] = there;
	}
	memcpy(from + files->offset, &names, sizeof(names));
	*has(files, from) = true;
	p->failed |= !names.at;
}

/* A graph as a pass had it: "# line 27" of a node to "# train.py, line 3". */
static const char *place_graph(struct place_walk *p, const char *text)
{
	static const char mark[] = "  # line ";
	const char *at, *placed;
	struct buf out;

	buf_init(&out, 0);
	while ((at = strstr(text, mark))) {
		char *end;
		long line = strtol(at + strlen(mark), &end, 10);
		int there;
		const char *file = fusion_place(p->program, (int)line, &there);

		buf_add(&out, text, (size_t)(at - text));
		if (file)
			buf_printf(&out, "  # %s, line %d", file, there);
		else
			buf_add(&out, at, (size_t)(end - at));
		text = end;
	}
	buf_puts(&out, text);
	placed = report_draft_text(p->draft, out.data);
	buf_finish(&out);
	p->failed |= !placed;
	return placed;
}

static void place_graphs(struct place_walk *p, const struct report_record *record, char *from)
{
	static const char *const names[] = { "before", "after" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct report_field *field = field_of(record, names[i], REPORT_TEXT);
		const char *text;

		if (!field || !*has(field, from))
			continue;
		memcpy(&text, from + field->offset, sizeof(text));
		text = text ? place_graph(p, text) : NULL;
		memcpy(from + field->offset, &text, sizeof(text));
	}
}

static void place(void *self, const struct report_field *field, void *from)
{
	/* what the program was given, and errors: a `line` in there is its own */
	if (strcmp(field->of->name, "workload") == 0 || strcmp(field->of->name, "failure") == 0)
		return;
	report_each_record(field->of, from, place, self);
	place_line(self, field->of, from);
	place_lines(self, field->of, from);
	place_graphs(self, field->of, from);
}

bool report_places(const struct report_record *record, void *from,
		   const struct fusion_program *program, struct report_draft *draft)
{
	struct place_walk p = { .program = program, .draft = draft };
	int there;

	if (program && fusion_place(program, 1, &there))
		report_each_record(record, from, place, &p);
	return !p.failed;
}

bool report_places_of_run(struct report_run *report, const struct workload *w,
			  struct report_draft *draft)
{
	bool ok = true;

	if (w->sweep.kind != SWEEP_STATEMENTS) /* one program */
		return report_places(REPORT_RECORD(run), report, w->points[0].program, draft);
	for (size_t i = 0; i < report->points.n; i++)
		for (int k = 0; k < w->n_points; k++)
			if ((double)w->points[k].n == report->points.at[i].n)
				ok = report_places(REPORT_RECORD(point), &report->points.at[i],
						   w->points[k].program, draft) &&
				     ok;
	return ok;
}
