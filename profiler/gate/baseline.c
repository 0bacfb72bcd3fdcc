/* profiler/gate/baseline.c -- what of reports is the same on every machine, as one file. */
#include "profiler/gate/baseline.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/buf.h"

static const char form[] = "breakeven_baseline";
static const char members[] = "workloads";
enum { LINE_BYTES = 100 };

/* Of an object those of `keys`, which ends with NULL; new. */
static json_t *kept(const json_t *from, const char *const *keys)
{
	json_t *to = json_object();

	for (; *keys; keys++) {
		json_t *value = json_object_get(from, *keys);

		if (value && !json_is_null(value))
			json_object_set(to, *keys, value);
	}
	return to;
}

/* The same of each of a list. */
static json_t *kept_of_all(const json_t *list, const char *const *keys)
{
	json_t *to = json_array(), *item;
	size_t i;

	json_array_foreach(list, i, item) json_array_append_new(to, kept(item, keys));
	return to;
}

static json_t *kept_modes(const json_t *modes)
{
	static const char *const of_mode[] = { "agrees", "launches", NULL };
	static const char *const of_graph[] = { "id", "frame", "compile", "ops", NULL };
	static const char *const of_break[] = { "stage",  "kind",       "outcome", "gb",    "call",
						"graph",  "message",    "subject", "stack", "cause",
						"column", "end_column", "count",   NULL };
	json_t *to = json_object(), *mode;
	const char *name;

	json_object_foreach((json_t *)modes, name, mode)
	{
		json_t *one = kept(mode, of_mode);

		json_object_set_new(one, "graphs",
				    kept_of_all(json_object_get(mode, "graphs"), of_graph));
		json_object_set_new(one, "breaks",
				    kept_of_all(json_object_get(mode, "breaks"), of_break));
		json_object_set_new(one, "recompiles", json_array());
		json_object_set_new(to, name, one);
	}
	return to;
}

static json_t *kept_points(const json_t *points)
{
	json_t *to = json_array(), *point;
	size_t i;

	json_array_foreach(points, i, point) json_array_append_new(
	    to, json_pack("{s:O, s:o}", "n", json_object_get(point, "n"), "modes",
			  kept_modes(json_object_get(point, "modes"))));
	return to;
}

static json_t *kept_report(const json_t *report)
{
	static const char *const of_device[] = { "kind", "backend", NULL };
	json_t *workload = json_copy(json_object_get(report, "workload"));
	json_t *to = json_pack("{s:i, s:o, s:o, s:o}", "breakeven", 1, "workload", workload,
			       "device", kept(json_object_get(report, "device"), of_device),
			       "modes", kept_modes(json_object_get(report, "modes")));

	json_object_del(workload, "commit");
	json_object_del(workload, "branch");
	if (to && json_array_size(json_object_get(report, "points")))
		json_object_set_new(to, "points", kept_points(json_object_get(report, "points")));
	return to;
}

json_t *baseline_new(void)
{
	return json_pack("{s:i, s:{}}", form, 1, members);
}

bool baseline_put(json_t *baseline, const char *name, const json_t *report, struct err *err)
{
	json_t *all = json_object_get(baseline, members);

	if (json_object_get(all, name))
		return err_set(err, ERR_BAD_REQUEST,
			       "two workloads are called %.100s: a baseline has one of a name",
			       name);
	return json_object_set_new(all, name, kept_report(report)) == 0 ||
	       err_set(err, ERR_MEMORY, "out of memory for a baseline");
}

/* ---- as text ---- */

/* A key as JSON has it. */
static bool put_key(struct buf *out, const char *key)
{
	json_t *quoted = json_string(key);
	char *text = quoted ? json_dumps(quoted, JSON_ENCODE_ANY) : NULL;

	buf_printf(out, "%s: ", text ? text : "");
	json_decref(quoted);
	free(text);
	return text != NULL;
}

static char *on_one_line(const json_t *value)
{
	return json_dumps(value, JSON_ENCODE_ANY | JSON_SORT_KEYS);
}

/* Texts and numbers, as many on a line as it holds. */
static bool put_filled(struct buf *out, const json_t *list, int indent)
{
	size_t at = LINE_BYTES, i;
	json_t *item;
	bool ok = true;

	buf_puts(out, "[");
	json_array_foreach(list, i, item)
	{
		char *text = on_one_line(item);
		size_t len = text ? strlen(text) + 2 : 0;

		ok = ok && text;
		buf_puts(out, i ? "," : "");
		if (at + len > LINE_BYTES) {
			buf_printf(out, "\n%*s", indent, "");
			at = (size_t)indent;
		} else
			buf_puts(out, " ");
		buf_puts(out, text ? text : "");
		at += len;
		free(text);
	}
	buf_puts(out, "]");
	return ok;
}

static bool is_plain(const json_t *list)
{
	const json_t *item;
	size_t i;

	json_array_foreach(list, i,
			   item) if (json_is_array(item) || json_is_object(item)) return false;
	return json_is_array(list);
}

/* A value on one line where that is short, else with a line for each of what it holds. */
static bool put_text(struct buf *out, const json_t *value, int indent)
{
	char *text = on_one_line(value);
	const char *separator = "\n", *key;
	bool ok = text != NULL, is_short = ok && strlen(text) <= LINE_BYTES;
	json_t *item;
	size_t i;

	if (is_short || !(json_object_size(value) + json_array_size(value)))
		buf_puts(out, text ? text : "");
	free(text);
	if (is_short || !(json_object_size(value) + json_array_size(value)))
		return ok;
	if (is_plain(value))
		return put_filled(out, value, indent);
	buf_puts(out, json_is_array(value) ? "[" : "{");
	json_array_foreach(value, i, item)
	{
		buf_printf(out, "%s%*s", separator, indent, "");
		separator = ",\n";
		ok = ok && put_text(out, item, indent + 1);
	}
	json_object_foreach((json_t *)value, key, item)
	{
		buf_printf(out, "%s%*s", separator, indent, "");
		separator = ",\n";
		ok = ok && put_key(out, key) && put_text(out, item, indent + 1);
	}
	buf_puts(out, json_is_array(value) ? "]" : "}");
	return ok;
}

char *baseline_text(const json_t *baseline)
{
	struct buf out = { 0 };
	char *text = NULL;

	if (put_text(&out, baseline, 0) && !out.failed) {
		buf_puts(&out, "\n");
		text = buf_steal(&out);
	}
	buf_finish(&out);
	return text;
}

bool baseline_is(const json_t *file)
{
	return json_object_get(file, form) != NULL;
}

json_t *baseline_get(const json_t *baseline, const char *name)
{
	return json_object_get(json_object_get(baseline, members), name);
}
