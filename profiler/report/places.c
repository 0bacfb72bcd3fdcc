/* profiler/report/places.c -- lines of a program of several files: see places.h. */
#include "profiler/report/places.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/buf.h"

static void place_line(json_t *object, const struct fusion_program *program)
{
	json_t *line = json_object_get(object, "line");
	const char *file;
	int there;

	if (!json_is_integer(line) || json_integer_value(line) <= 0 ||
	    json_object_get(object, "file"))
		return;
	file = fusion_place(program, (int)json_integer_value(line), &there);
	if (!file)
		return;
	json_object_set_new(object, "line", json_integer(there));
	json_object_set_new(object, "file", json_string(file));
}

static void place_lines(json_t *object, const struct fusion_program *program)
{
	json_t *lines = json_object_get(object, "lines"), *files, *line;
	size_t i;

	if (!json_is_array(lines) || json_object_get(object, "files"))
		return;
	files = json_array();
	json_array_foreach(lines, i, line)
	{
		int there;
		const char *file = fusion_place(program, (int)json_integer_value(line), &there);

		json_array_append_new(files, json_string(file ? file : ""));
		json_array_set_new(lines, i, json_integer(there));
	}
	json_object_set_new(object, "files", files);
}

/* A graph as a pass had it: "# line 27" of a node to "# train.py, line 3". */
static json_t *place_graph(const char *text, const struct fusion_program *program)
{
	static const char mark[] = "  # line ";
	struct buf out;
	json_t *placed;
	const char *at;

	buf_init(&out, 0);
	while ((at = strstr(text, mark))) {
		char *end;
		long line = strtol(at + strlen(mark), &end, 10);
		int there;
		const char *file = fusion_place(program, (int)line, &there);

		buf_add(&out, text, (size_t)(at - text));
		if (file)
			buf_printf(&out, "  # %s, line %d", file, there);
		else
			buf_add(&out, at, (size_t)(end - at));
		text = end;
	}
	buf_puts(&out, text);
	placed = json_stringn(out.data ? out.data : "", out.len);
	buf_finish(&out);
	return placed;
}

static void place_graphs(json_t *pass, const struct fusion_program *program)
{
	static const char *const keys[] = { "before", "after" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *text = json_string_value(json_object_get(pass, keys[i]));

		if (text)
			json_object_set_new(pass, keys[i], place_graph(text, program));
	}
}

/* What the program was given and what it made: a key "line" in there is its own. */
static bool is_of_program(const char *key)
{
	static const char *const keys[] = { "workload", "environment", "output", "inputs_after",
					    "grads",    "param_grads", "error" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static void walk(json_t *json, const struct fusion_program *program)
{
	const char *key;
	json_t *item;
	size_t i;

	json_array_foreach(json, i, item) walk(item, program);
	if (!json_is_object(json))
		return;
	json_object_foreach(json, key, item)
	{
		if (!is_of_program(key))
			walk(item, program);
	}
	place_line(json, program);
	place_lines(json, program);
	place_graphs(json, program);
}

void report_places(json_t *tree, const struct fusion_program *program)
{
	int there;

	if (program && fusion_place(program, 1, &there))
		walk(tree, program);
}

void report_places_of_run(json_t *report, const struct workload *w)
{
	json_t *points = json_object_get(report, "points"), *item;
	size_t i;

	if (w->sweep.kind != SWEEP_STATEMENTS) { /* one program */
		report_places(report, w->points[0].program);
		return;
	}
	json_array_foreach(points, i, item)
	{
		for (int k = 0; k < w->n_points; k++)
			if (w->points[k].n == json_integer_value(json_object_get(item, "n")))
				report_places(item, w->points[k].program);
	}
}
