/* profiler/compare/changes.c -- see changes.h: breaks and graphs. */
#include "profiler/compare/changes.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/compare/lines.h"
#include "profiler/profiler.h"

enum { MOST_ITEMS = 2000 }; /* compared of a mode */

static json_t *of_place(struct place at)
{
	return json_pack("{s:s, s:o}", "mode", at.mode, "n",
			 at.n ? json_incref((json_t *)at.n) : json_null());
}

static json_t *kept_or_null(const json_t *value)
{
	return value ? json_incref((json_t *)value) : json_null();
}

/* ---- breaks */

static const char *line_of(const json_t *item, const char *source, int *line, int *len)
{
	*line = profiler_break_place(item).line;
	return lines_at(source, *line, len);
}

static bool same_break(const json_t *x, const char *in_x, const json_t *y, const char *in_y)
{
	static const char *const keys[] = { "stage", "kind", "gb" };
	const char *text_x, *text_y;
	int line, len_x, len_y;

	for (size_t k = 0; k < sizeof(keys) / sizeof(keys[0]); k++) {
		json_t *of_x = json_object_get(x, keys[k]), *of_y = json_object_get(y, keys[k]);

		if (!(of_x == of_y || (of_x && of_y && json_equal(of_x, of_y))))
			return false;
	}
	text_x = line_of(x, in_x, &line, &len_x);
	text_y = line_of(y, in_y, &line, &len_y);
	return len_x == len_y && memcmp(text_x, text_y, (size_t)len_x) == 0;
}

static json_t *break_side(const json_t *item, int line)
{
	if (!item)
		return json_null();
	return json_pack("{s:i, s:o, s:o, s:o}", "line", line, "count",
			 kept_or_null(json_object_get(item, "count")), "cost_us",
			 kept_or_null(json_object_get(item, "cost_us")), "ci_us",
			 kept_or_null(json_object_get(json_object_get(item, "cost"), "ci_us")));
}

static void add_break(json_t *list, struct place at, const json_t *x, const char *in_x,
		      const json_t *y, const char *in_y)
{
	const json_t *either = y ? y : x;
	int line_x = 0, line_y = 0, len = 0;
	const char *text = x ? line_of(x, in_x, &line_x, &len) : "";
	json_t *row = of_place(at), *words;

	if (y)
		text = line_of(y, in_y, &line_y, &len);
	words = json_stringn(text, (size_t)len);
	json_object_set_new(row, "change", json_string(!x ? "added" : y ? "kept" : "gone"));
	json_object_set_new(row, "stage", kept_or_null(json_object_get(either, "stage")));
	json_object_set_new(row, "kind", kept_or_null(json_object_get(either, "kind")));
	json_object_set_new(row, "gb", kept_or_null(json_object_get(either, "gb")));
	json_object_set_new(row, "text", words ? words : json_string(""));
	json_object_set_new(row, "a", break_side(x, line_x));
	json_object_set_new(row, "b", break_side(y, line_y));
	json_array_append_new(list, row);
}

void changes_breaks(json_t *list, struct place at, struct measured a, struct measured b)
{
	const json_t *in_a = json_object_get(a.mode, "breaks"),
		     *in_b = json_object_get(b.mode, "breaks");
	bool met[MOST_ITEMS] = { false };

	for (size_t i = 0; i < json_array_size(in_a) && i < MOST_ITEMS; i++) {
		const json_t *x = json_array_get(in_a, i), *y = NULL;

		for (size_t k = 0; !y && k < json_array_size(in_b) && k < MOST_ITEMS; k++)
			if (!met[k] && same_break(x, a.source, json_array_get(in_b, k), b.source)) {
				y = json_array_get(in_b, k);
				met[k] = true;
			}
		add_break(list, at, x, a.source, y, b.source);
	}
	for (size_t k = 0; k < json_array_size(in_b) && k < MOST_ITEMS; k++)
		if (!met[k])
			add_break(list, at, NULL, a.source, json_array_get(in_b, k), b.source);
}

/* ---- graphs */

/* How often each op stands in the graphs. */
static json_t *ops_of(const json_t *graphs)
{
	json_t *counts = json_object();
	const json_t *graph, *op;
	size_t i, k;

	json_array_foreach(graphs, i, graph)
	{
		json_array_foreach(json_object_get(graph, "ops"), k, op)
		{
			const char *name = json_string_value(op);
			json_t *n = name ? json_object_get(counts, name) : NULL;

			if (n)
				json_integer_set(n, json_integer_value(n) + 1);
			else if (name)
				json_object_set_new(counts, name, json_integer(1));
		}
	}
	return counts;
}

/* Those of x whose count in y is another; with `missing`, those alone that y has not. */
static void add_ops(json_t *list, const json_t *x, const json_t *y, bool missing)
{
	const char *op;
	json_t *n;

	json_object_foreach((json_t *)x, op, n)
	{
		json_int_t in_x = json_integer_value(n),
			   in_y = json_integer_value(json_object_get(y, op));

		if (missing ? in_y == 0 : in_x != in_y)
			json_array_append_new(list, json_pack("{s:s, s:I, s:I}", "op", op, "a",
							      missing ? (json_int_t)0 : in_x, "b",
							      missing ? in_x : in_y));
	}
}

void changes_graphs(json_t *list, struct place at, struct measured a, struct measured b)
{
	const json_t *in_a = json_object_get(a.mode, "graphs"),
		     *in_b = json_object_get(b.mode, "graphs");
	size_t n_a = json_array_size(in_a), n_b = json_array_size(in_b);
	json_t *ops_a = ops_of(in_a), *ops_b = ops_of(in_b), *ops = json_array();

	add_ops(ops, ops_a, ops_b, false);
	add_ops(ops, ops_b, ops_a, true);
	if (json_array_size(ops) || n_a != n_b) {
		json_t *row = of_place(at);

		json_object_set_new(row, "a", json_integer((json_int_t)n_a));
		json_object_set_new(row, "b", json_integer((json_int_t)n_b));
		json_object_set(row, "ops", ops);
		json_array_append_new(list, row);
	}
	json_decref(ops);
	json_decref(ops_a);
	json_decref(ops_b);
}
