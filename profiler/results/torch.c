/* profiler/results/torch.c -- Measurements of torch.utils.benchmark, as pickle.dump or torch.save
 * wrote them: one, or lists, tuples and dicts of them.  Nothing of the pickle is executed. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fusion/data.h"
#include "profiler/results/reading.h"

#define MODULE "torch.utils.benchmark.utils.common."

enum { MOST_DEPTH = 20, MOST_VISITED = 200000 };

static bool is_torch(const struct results_file *file)
{
	static const char module[] = "torch.utils.benchmark";

	return file->len > 2 && !file->json &&
	       ((unsigned char)file->bytes[0] == 0x80 || memcmp(file->bytes, "PK", 2) == 0) &&
	       memmem(file->bytes, file->len, module, sizeof(module) - 1);
}

/* ---- attributes ---- */

static struct value get(struct value of, const char *name)
{
	struct value key = value_str(name, strlen(name)), out = value_none();

	if (of.kind == VALUE_DICT && key.kind == VALUE_STR)
		value_dict_get(of.dict, key, &out);
	value_unref(key);
	return out;
}

static double number(struct value v)
{
	return v.kind == VALUE_INT ? (double)v.i : v.kind == VALUE_FLOAT ? v.f : (double)NAN;
}

/* A text, or a number, of an attribute; "" of all else. */
static void text(struct value of, const char *name, char *out, size_t bytes)
{
	struct value v = get(of, name);
	json_t *string = v.kind == VALUE_STR ? json_string(value_text(v, NULL)) : NULL;

	out[0] = '\0';
	if (string)
		reading_text(out, bytes, string);
	else if (v.kind == VALUE_INT)
		snprintf(out, bytes, "%lld", (long long)v.i);
	json_decref(string);
}

static bool is_a(struct value v, const char *class)
{
	struct value name = get(v, "");

	return name.kind == VALUE_STR && strcmp(value_text(name, NULL), class) == 0;
}

/* ---- a measurement ---- */

/* What Measurement.title shows: the label (or the statement), the sub-label, the description; and
 * threads, where there are several. */
static void name_of(struct value spec, char *out, size_t bytes)
{
	char label[160], sub[160], description[160], threads[24];
	size_t len;

	text(spec, "label", label, sizeof(label));
	if (!*label)
		text(spec, "stmt", label, sizeof(label));
	text(spec, "sub_label", sub, sizeof(sub));
	text(spec, "description", description, sizeof(description));
	text(spec, "num_threads", threads, sizeof(threads));
	len = (size_t)snprintf(out, bytes, "%s%s%s%s%s", label, *sub ? ": " : "", sub,
			       *description ? ", " : "", description);
	if (len < bytes && *threads && strcmp(threads, "1") != 0)
		snprintf(out + len, bytes - len, ", %s threads", threads);
	for (char *at = out; *at; at++)
		if (*at == '\n')
			*at = ' ';
}

static void fact(json_t *report, const char *of, const char *name, struct value spec,
		 const char *attribute)
{
	char value[500];
	json_t *string;

	text(spec, attribute, value, sizeof(value));
	string = *value ? json_string(value) : NULL;
	if (string)
		reading_fact(report, of, name, string);
	json_decref(string);
}

/* Seconds of a call of each raw time, new; NULL: they are no numbers, or memory. */
static json_t *samples_of(struct value times, double calls)
{
	json_t *list = json_array();

	for (int i = 0; list && i < value_length(times); i++) {
		double seconds = number(value_item(times, i)) / calls;

		if (!isfinite(seconds) || json_array_append_new(list, json_real(seconds)) != 0) {
			json_decref(list);
			return NULL;
		}
	}
	return list;
}

static bool measurement(struct results_reading *r, struct value m, struct err *err)
{
	struct value spec = get(m, "task_spec"), times = get(m, "raw_times");
	struct reading_figure f = { "time", "time", "us", NULL, 1e6, NULL, READING_NONE };
	double calls = number(get(m, "number_per_run"));
	char name[600];
	json_t *report, *samples;
	bool ok;

	if (!is_a(spec, MODULE "TaskSpec") || !(calls >= 1) ||
	    (times.kind != VALUE_LIST && times.kind != VALUE_TUPLE))
		return err_set(err, ERR_WORKLOAD,
			       "measurement %zu of the file lacks its times, their calls or its "
			       "task",
			       json_array_size(r->results));
	name_of(spec, name, sizeof(name));
	if (value_length(times) > RESULTS_MOST_NUMBERS)
		return err_set(err, ERR_BOUND, "the file has more than %d samples",
			       RESULTS_MOST_NUMBERS);
	text(spec, "env", r->build, sizeof(r->build));
	report = reading_begin(r, name, err);
	samples = report ? samples_of(times, calls) : NULL;
	if (report && !samples)
		err_set(err, ERR_WORKLOAD, "the times of %.200s are no numbers", name);
	if (!samples)
		return false;
	fact(report, "about", "statement", spec, "stmt");
	fact(report, "about", "setup", spec, "setup");
	fact(report, "about", "calls a sample", m, "number_per_run");
	fact(report, "parameters", "threads", spec, "num_threads");
	if (get(m, "metadata").kind != VALUE_NONE)
		reading_note(r, "not kept: metadata of a measurement");
	f.samples = samples;
	ok = reading_add(r, report, &f, err);
	json_decref(samples);
	return ok;
}

/* ---- what holds them ---- */

struct torch_walk {
	struct results_reading *r;
	int visited;
};

static bool visit(struct torch_walk *w, struct value v, int depth, struct err *err)
{
	if (++w->visited > MOST_VISITED || depth > MOST_DEPTH)
		return err_set(err, ERR_BOUND,
			       "the file has more than %d objects, or they are nested deeper than "
			       "%d",
			       MOST_VISITED, MOST_DEPTH);
	if (is_a(v, MODULE "Measurement"))
		return measurement(w->r, v, err);
	if (v.kind != VALUE_LIST && v.kind != VALUE_TUPLE && v.kind != VALUE_DICT) {
		reading_note(w->r, "not kept: what is no Measurement in the file");
		return true;
	}
	for (int i = 0; i < value_length(v); i++)
		if (!visit(w, value_item(v, i), depth + 1, err))
			return false;
	return true;
}

static bool read_torch(struct results_reading *r, const struct results_file *file, struct err *err)
{
	static const char *const classes[] = { MODULE "Measurement", MODULE "TaskSpec", NULL };
	struct torch_walk w = { r, 0 };
	struct value all;
	bool ok;

	if (!fusion_data_objects(file->bytes, file->len, classes, &all, err))
		return false;
	ok = visit(&w, all, 0, err);
	value_unref(all);
	return ok;
}

const struct results_format results_torch = { is_torch, read_torch };
