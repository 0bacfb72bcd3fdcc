/* profiler/import/stages.c -- see stages.h. */
#include "profiler/import/stages.h"

#include <string.h>

enum { MAX_MODELS = 1000 };

/* Files of one folder are of one model; all are where only one folder has logs of XLA. */
struct stages {
	const struct model *m;
	const json_t *files, *breaks;
	bool single;
};

/* What the files of a model say together. */
struct stage_sums {
	json_int_t captured, extracted, capture_breaks, compiled, executions;
	json_t *hashes, *reads, *fallbacks; /* {key: true} */
	double compile_us, run_us;
	bool has_log; /* of Dynamo */
};

/* The folder of a file, its name's part before the last slash; "" where there is none. */
static size_t folder_of(const json_t *files, size_t file, const char **text)
{
	const char *slash;

	*text = json_string_value(json_object_get(json_array_get(files, file), "name"));
	if (!*text)
		*text = "";
	slash = strrchr(*text, '/');
	return slash ? (size_t)(slash - *text) : 0;
}

static bool same_folder(const json_t *files, size_t a, size_t b)
{
	const char *x, *y;
	size_t n = folder_of(files, a, &x), k = folder_of(files, b, &y);

	return n == k && memcmp(x, y, n) == 0;
}

static bool same_model(const struct stages *g, size_t a, size_t b)
{
	return g->single || same_folder(g->files, a, b);
}

/* The last part of a folder's name; of a file in none its own. */
static json_t *model_name(const json_t *files, size_t file)
{
	const char *text;
	size_t end = folder_of(files, file, &text), from = end;

	if (end == 0)
		return json_string(text[0] == '/' ? text + 1 : text);
	while (from > 0 && text[from - 1] != '/')
		from--;
	return json_stringn(text + from, end - from);
}

static bool has_kind(const json_t *files, size_t file, const char *kind)
{
	const char *is = json_string_value(json_object_get(json_array_get(files, file), "kind"));

	return is && strcmp(is, kind) == 0;
}

static size_t file_of_process(const struct model *m, json_int_t process)
{
	return (size_t)json_integer_value(
	    json_object_get(json_array_get(m->compiles.processes, (size_t)process), "file"));
}

/* Graphs that Dynamo captured, and what broke them there. */
static void add_captured(const struct stages *g, size_t first, struct stage_sums *s)
{
	const struct model *m = g->m;
	const char *key;
	json_t *row;
	size_t i, k;

	json_object_foreach(m->compiles.rows, key, row)
	{
		size_t file = file_of_process(m,
					      json_integer_value(json_object_get(row, "process")));

		if (same_model(g, file, first))
			s->captured += json_integer_value(json_object_get(row, "graphs"));
	}
	json_array_foreach((json_t *)g->breaks, i, row)
	{
		const json_t *at;
		bool here = false;

		json_array_foreach(json_object_get(row, "compiles"), k, at)
		{
			json_int_t process = json_integer_value(json_object_get(at, "process"));

			here = here || same_model(g, file_of_process(m, process), first);
		}
		s->capture_breaks += here;
	}
}

static void add_lowered(const json_t *row, struct stage_sums *s)
{
	json_object_update_missing(s->hashes, json_object_get(row, "hashes"));
	json_object_update_missing(s->reads, json_object_get(row, "reads"));
	json_object_update_missing(s->fallbacks, json_object_get(row, "fallbacks"));
	s->compiled += json_integer_value(json_object_get(row, "compiled"));
	s->extracted += json_integer_value(json_object_get(row, "extracted"));
	s->executions += json_integer_value(json_object_get(row, "executions"));
	s->compile_us += json_number_value(json_object_get(row, "compile_us"));
	s->run_us += json_number_value(json_object_get(row, "execute_us"));
}

/* What is more than before; not below zero: LazyTensor joins what Dynamo splits. */
static json_int_t added(json_int_t behind, json_int_t before)
{
	return behind > before ? behind - before : 0;
}

static const char *main_stage(json_int_t capture, json_int_t lowering)
{
	if (capture == lowering)
		return capture ? "both" : "none";
	return capture > lowering ? "capture" : "lowering";
}

static json_t *model_row(json_t *name, const struct stage_sums *s)
{
	const char *from = s->has_log ? "log" : s->extracted ? "counter" : NULL;
	json_int_t captured = s->has_log ? s->captured : s->extracted;
	json_int_t lowered = (json_int_t)json_object_size(s->hashes);
	json_int_t capture, lowering;

	/* Blocks say which graphs; without them a counter says how many. */
	lowered = lowered ? lowered : s->compiled;
	capture = added(captured, 1);
	lowering = added(lowered, captured);
	return json_pack(
	    "{s:o, s:o, s:s?, s:o, s:I, s:I, s:o, s:I, s:f, s:f, s:I, s:s?}", "model", name,
	    "captured_graphs", from ? json_integer(captured) : json_null(), "captured_from", from,
	    "capture_added", from ? json_integer(capture) : json_null(), "capture_breaks",
	    s->capture_breaks, "lowered_graphs", lowered, "lowering_added",
	    from ? json_integer(lowering) : json_null(), "lowering_breaks",
	    (json_int_t)json_object_size(s->reads) + (json_int_t)json_object_size(s->fallbacks),
	    "compile_us", s->compile_us, "run_us", s->run_us, "executions", s->executions,
	    "main_stage", from ? main_stage(capture, lowering) : NULL);
}

/* The row of the model that file `first` is the first of; NULL: it says nothing of XLA. */
static json_t *row_of(const struct stages *g, size_t first)
{
	struct stage_sums s = { .hashes = json_object(),
				.reads = json_object(),
				.fallbacks = json_object() };
	size_t i, named = SIZE_MAX;
	const json_t *of;
	json_t *row = NULL;

	for (i = first; i < json_array_size(g->files); i++)
		if (same_model(g, i, first)) {
			s.has_log = s.has_log || has_kind(g->files, i, "torch_trace");
			if (named == SIZE_MAX && has_kind(g->files, i, "pt_xla"))
				named = i;
		}
	add_captured(g, first, &s);
	json_array_foreach(g->m->xla.files, i, of)
	{
		if (same_model(g, (size_t)json_integer_value(json_object_get(of, "file")), first))
			add_lowered(of, &s);
	}
	if (named != SIZE_MAX)
		row = model_row(model_name(g->files, named), &s);
	json_decref(s.hashes);
	json_decref(s.reads);
	json_decref(s.fallbacks);
	return row;
}

/* Whether all files that XLA wrote lie in one folder. */
static bool in_one_folder(const json_t *files)
{
	size_t first = SIZE_MAX;

	for (size_t i = 0; i < json_array_size(files); i++) {
		if (!has_kind(files, i, "pt_xla"))
			continue;
		if (first == SIZE_MAX)
			first = i;
		else if (!same_folder(files, i, first))
			return false;
	}
	return true;
}

json_t *stages_json(const struct model *m, const json_t *files, const json_t *breaks)
{
	const struct stages g = { m, files, breaks, in_one_folder(files) };
	json_t *list = json_array();

	for (size_t i = 0; i < json_array_size(files) && json_array_size(list) < MAX_MODELS; i++) {
		bool first = true;
		json_t *row;

		for (size_t k = 0; first && k < i; k++)
			first = !same_model(&g, k, i);
		row = first ? row_of(&g, i) : NULL;
		if (row)
			json_array_append_new(list, row);
	}
	return list;
}
