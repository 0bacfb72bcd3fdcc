/* profiler/results/results.c -- results of other tools' benchmarks, as reports. */
#include "profiler/results/results.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"
#include "fusion/base/utf8.h"
#include "profiler/fields/fields.h"
#include "profiler/measure/stats.h"
#include "profiler/numbers/numbers.h"
#include "profiler/results/reading.h"

enum {
	NAME_BYTES = 180,
	NOTE_BYTES = 300,
	MODE_BYTES = 100,
	MOST_NOTES = 60,
	MOST_FACTS = 100,
	MOST_FIGURES = 60,
	NOISE_FROM = 15, /* samples: of fewer the interval says enough */
};

static const struct {
	const char *name;
	const struct results_format *of;
} formats[] = {
#define FORMAT(id, name, what) { name, &results_##id },
#include "profiler/results/formats.def"
#undef FORMAT
};
enum { FORMATS = sizeof(formats) / sizeof(formats[0]) };

/* ---- texts ---- */

/* So many bytes of a text at most, cut between characters. */
static size_t cut(const char *text, size_t most)
{
	size_t len = strlen(text);

	if (len <= most)
		return len;
	while (most > 0 && ((unsigned char)text[most] & 0xc0) == 0x80)
		most--;
	return most;
}

void reading_text(char *to, size_t bytes, const json_t *from)
{
	const char *text = json_is_string(from) ? json_string_value(from) : "";

	snprintf(to, bytes, "%.*s", (int)cut(text, bytes - 1), text);
}

/* What was cut within a character by a format stays a text. */
static void make_valid(char *text)
{
	if (utf8_valid(text, strlen(text)))
		return;
	for (; *text; text++)
		if ((unsigned char)*text >= 0x80)
			*text = '?';
}

void reading_note(struct results_reading *r, const char *format, ...)
{
	char text[NOTE_BYTES];
	va_list args;
	json_t *note;
	size_t i;

	va_start(args, format);
	vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	make_valid(text);
	json_array_foreach(r->notes, i, note)
	{
		if (strcmp(json_string_value(note), text) == 0)
			return;
	}
	if (i < MOST_NOTES)
		json_array_append_new(r->notes, json_string(text));
}

bool reading_among(const char *word, const char *words)
{
	size_t len = strlen(word);

	for (const char *at = words; *at; at += *at == ' ') {
		size_t n = strcspn(at, " ");

		if (n == len && memcmp(at, word, n) == 0)
			return true;
		at += n;
	}
	return false;
}

void reading_left(struct results_reading *r, const char *where, const json_t *object,
		  const char *known)
{
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)object, key, value)
	{
		if (!reading_among(key, known) && !json_is_null(value))
			reading_note(r, "not kept: %s of %s", key, where);
	}
}

/* ---- a benchmark ---- */

/* What lists and histories can show: one that is too long keeps its beginning and a hash. */
static void name_of(struct results_reading *r, const char *whole, char out[NAME_BYTES + 40])
{
	char hash[HASH_HEX_BYTES];
	size_t len = cut(whole, NAME_BYTES);
	json_int_t times;

	snprintf(out, NAME_BYTES + 20, "%.*s", (int)len, whole);
	make_valid(out);
	if (whole[len]) {
		hash_hex(whole, strlen(whole), hash);
		snprintf(out + len, 20, "... %.8s", hash);
	}
	times = json_integer_value(json_object_get(r->names, out)) + 1;
	json_object_set_new(r->names, out, json_integer(times));
	if (times > 1) {
		snprintf(out + strlen(out), 20, " (%d)", (int)times);
		reading_note(r, "benchmarks of one name are numbered");
	}
}

static void put(json_t *object, const char *key, const char *text)
{
	if (text && *text)
		json_object_set_new(object, key, json_string(text));
}

static const char *asked_or(const char *asked, const char *found)
{
	return asked && *asked ? asked : found;
}

json_t *reading_begin(struct results_reading *r, const char *whole, struct err *err)
{
	json_t *report = json_pack("{s:i, s:{}, s:{}, s:{}, s:{}, s:{}}", "breakeven", 1,
				   "workload", "device", "environment", "result", "modes");
	json_t *workload = json_object_get(report, "workload");
	json_t *result = json_object_get(report, "result");
	char name[NAME_BYTES + 40];

	if (json_array_size(r->results) >= RESULTS_MOST) {
		json_decref(report);
		err_set(err, ERR_BOUND, "the file has more than %d benchmarks", RESULTS_MOST);
		return NULL;
	}
	if (!report || json_array_append_new(r->results, report) != 0) {
		err_set(err, ERR_MEMORY, "out of memory for results");
		return NULL;
	}
	name_of(r, *whole ? whole : "unnamed", name);
	put(workload, "name", name);
	put(workload, "result", r->format);
	put(workload, "project", r->request->project);
	put(workload, "commit", asked_or(r->request->commit, r->commit));
	put(workload, "branch", asked_or(r->request->branch, r->branch));
	put(json_object_get(report, "environment"), "cpu", r->cpu);
	put(result, "format", r->format);
	put(result, "version", r->version);
	put(result, "file", r->request->file);
	put(result, "machine", asked_or(r->request->machine, r->machine));
	put(result, "build", r->build);
	put(result, "measured", r->measured);
	if (strcmp(name, whole) != 0)
		put(result, "benchmark", whole);
	if (r->about)
		json_object_set_new(result, "about", json_deep_copy(r->about));
	return report;
}

/* A value as text: of a list or an object its JSON; "" of null. */
static void fact_text(const json_t *value, char *out, size_t bytes)
{
	char number[NUMBER_BYTES];

	out[0] = '\0';
	if (json_is_string(value))
		reading_text(out, bytes, value);
	else if (json_is_boolean(value))
		snprintf(out, bytes, "%s", json_is_true(value) ? "true" : "false");
	else if (json_is_integer(value))
		snprintf(out, bytes, "%lld", (long long)json_integer_value(value));
	else if (json_is_real(value)) {
		number_plain(number, json_real_value(value));
		snprintf(out, bytes, "%s", number);
	} else if (value && !json_is_null(value)) {
		char *text = json_dumps(value, JSON_COMPACT);

		snprintf(out, bytes, "%.*s", text ? (int)cut(text, bytes - 1) : 0,
			 text ? text : "");
		free(text);
	}
}

static void put_fact(json_t *facts, const char *name, const json_t *value)
{
	char text[500];

	fact_text(value, text, sizeof(text));
	if (*text && json_object_size(facts) < MOST_FACTS)
		put(facts, name, text);
}

void reading_fact(json_t *report, const char *of, const char *name, const json_t *value)
{
	json_t *result = json_object_get(report, "result"), *facts = json_object_get(result, of);

	if (!facts) {
		facts = json_object();
		json_object_set_new(result, of, facts);
	}
	put_fact(facts, name, value);
}

void reading_common(struct results_reading *r, const char *name, const json_t *value)
{
	put_fact(r->about, name, value);
}

/* ---- a figure ---- */

const char *reading_unit(const char *name)
{
	static const char *const units[][2] = { { "bytes_per_second", "B/s" },
						{ "items_per_second", "items/s" },
						{ "bytes", "B" } };

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strstr(name, units[i][0]))
			return units[i][1];
	return "";
}

const char *reading_kind(const char *name)
{
	static const char *const more[] = { "per_second", "/s",    "throughput", "_rate",
					    "Rate",       "flops", "FLOPS",      "speedup",
					    "bandwidth",  "score", "accuracy",   "hit_ratio" };

	for (size_t i = 0; i < sizeof(more) / sizeof(more[0]); i++)
		if (strstr(name, more[i]))
			return "rate";
	return "amount";
}

/* The numbers of a list, scaled; those that are none are left out.  The caller frees. */
static double *numbers_of(struct results_reading *r, const struct reading_figure *f, int *n)
{
	double *x = calloc(json_array_size(f->samples) + 1, sizeof(*x));
	const json_t *item;
	size_t i;

	*n = 0;
	json_array_foreach(f->samples, i, item)
	{
		double value = json_number_value(item) * f->scale;

		if (x && json_is_number(item) && isfinite(value) && fabs(value) < 1e300)
			x[(*n)++] = value;
		else
			reading_note(r, "not kept: samples of %s that are no numbers", f->mode);
	}
	return x;
}

static json_t *kept_samples(struct results_reading *r, const double *x, int n)
{
	int step = n / RESULTS_MOST_SAMPLES + 1;
	json_t *list = json_array();

	for (int i = 0; i < n; i += step)
		json_array_append_new(list, json_real(x[i]));
	if (step > 1)
		reading_note(r, "of more than %d samples every %d. is kept; figures are of all",
			     RESULTS_MOST_SAMPLES, step);
	return list;
}

static void show(json_t *measure, const struct interval *v, const char *unit)
{
	static const struct number_unit as_it_is = { "", 1 };
	double least = fabs(v->mid);
	bool time = strcmp(unit, "us") == 0, bytes = strcmp(unit, "B") == 0;
	struct number_unit in = time    ? number_time_unit(least)
				: bytes ? number_bytes_unit(least, least)
					: as_it_is;
	char text[4 * NUMBER_BYTES + 80], suffix[80];
	const char *name = time || bytes ? in.name : unit;

	snprintf(suffix, sizeof(suffix), "%s%.60s", *name ? " " : "", name);
	if (in.scale == 1 && !time && !(v->low < v->high) && v->mid == round(v->mid) && least < 1e6)
		snprintf(text, sizeof(text), "%.0f%s", v->mid, suffix); /* a count, exact */
	else
		number_interval(text, v->mid / in.scale,
				(struct report_interval){ v->low / in.scale, v->high / in.scale },
				suffix);
	put(measure, "shown", text);
}

/* From samples, or from what the tool made of them. */
static bool value_of(struct results_reading *r, const struct reading_figure *f, struct interval *v,
		     json_t *measure, struct err *err)
{
	char noise[300];
	double *x;
	int n;

	*v = (struct interval){ f->low * f->scale, f->value * f->scale, f->high * f->scale };
	json_object_set_new(measure, "n", json_integer(f->n));
	if (!f->samples)
		return true;
	r->numbers += json_array_size(f->samples);
	if (r->numbers > RESULTS_MOST_NUMBERS)
		return err_set(err, ERR_BOUND, "the file has more than %d samples",
			       RESULTS_MOST_NUMBERS);
	x = numbers_of(r, f, &n);
	if (!x || (n && !stats_median(x, n, v))) {
		free(x);
		return err_set(err, ERR_MEMORY, "out of memory for samples");
	}
	if (n == 0)
		v->mid = NAN;
	if (n < STATS_MIN_SAMPLES)
		v->low = v->high = NAN;
	json_object_set_new(measure, "n", json_integer(n));
	json_object_set_new(measure, "samples", kept_samples(r, x, n));
	if (n >= NOISE_FROM && stats_noise(x, n, noise, sizeof(noise)))
		put(measure, "noise", noise);
	free(x);
	return true;
}

bool reading_add(struct results_reading *r, json_t *report, const struct reading_figure *f,
		 struct err *err)
{
	json_t *modes = json_object_get(report, "modes"), *measure = json_object(), *mode;
	struct interval v;

	if (!measure || !value_of(r, f, &v, measure, err)) {
		json_decref(measure);
		return err->code == ERR_NONE &&
		       err_set(err, ERR_MEMORY, "out of memory for a figure");
	}
	if (!isfinite(v.mid) || json_object_size(modes) >= MOST_FIGURES ||
	    strlen(f->mode) > MODE_BYTES) {
		reading_note(r,
			     "not kept: %.100s of a benchmark, which is no number, one too "
			     "many, or has too long a name",
			     f->mode);
		json_decref(measure);
		return true;
	}
	put(measure, "kind", f->kind);
	json_object_set_new(measure, "unit", json_string(f->unit));
	json_object_set_new(measure, "value", json_real(v.mid));
	json_object_set_new(measure, "ci",
			    isfinite(v.low) && isfinite(v.high) ? json_pack("[f, f]", v.low, v.high)
								: json_null());
	if (isfinite(f->bound_low))
		json_object_set_new(measure, "low", json_real(f->bound_low * f->scale));
	if (isfinite(f->bound_high))
		json_object_set_new(measure, "high", json_real(f->bound_high * f->scale));
	put(measure, "of", f->of);
	show(measure, &v, f->unit);
	mode = json_pack("{s:[], s:[], s:[], s:o}", "graphs", "breaks", "recompiles", "measure",
			 measure);
	if (f->agrees != READING_NOT_HELD)
		json_object_set_new(mode, "agrees", json_boolean(f->agrees == READING_AGREES));
	return mode && json_object_set_new(modes, f->mode, mode) == 0;
}

/* ---- a file ---- */

/* NaN and Infinity, which are no JSON, become empty texts, which are no numbers. */
static void without_nan(char *text, size_t len)
{
	static const char *const words[] = { "-Infinity", "Infinity", "NaN" };
	bool quoted = false;

	for (size_t i = 0; i < len; i++) {
		if (text[i] == '"')
			quoted = !quoted;
		else if (quoted && text[i] == '\\')
			i++;
		for (size_t k = 0; !quoted && k < 3; k++) {
			size_t n = strlen(words[k]);

			if (len - i < n || memcmp(text + i, words[k], n) != 0)
				continue;
			/* Three bytes hold no null; an empty text is no number either. */
			memset(text + i, ' ', n);
			memcpy(text + i, "\"\"", 2);
			i += n - 1;
			break;
		}
	}
}

static json_t *json_of(const char *bytes, size_t len)
{
	json_t *json = json_loadb(bytes, len, 0, NULL);
	char *copy;

	if (json || len == 0 || (*bytes != '{' && *bytes != '[' && *bytes > ' '))
		return json;
	copy = malloc(len);
	if (!copy)
		return NULL;
	memcpy(copy, bytes, len);
	without_nan(copy, len);
	json = json_loadb(copy, len, JSON_DECODE_INT_AS_REAL, NULL);
	free(copy);
	return json;
}

/* FORMATS: none. */
static size_t find_format(const struct results_file *file)
{
	size_t i = 0;

	while (i < FORMATS && !formats[i].of->is(file))
		i++;
	return i;
}

static const char trace[] = "\"traceEvents\"";
enum { HEAD_BYTES = 64 << 10 };

bool results_recognises(const void *bytes, size_t len)
{
	struct results_file file = { bytes, len, NULL };
	const char *head = bytes;
	bool known;

	/* A trace, which is long, is not parsed to be asked. */
	if (len == 0 || len > RESULTS_MOST_BYTES || *head == '[' ||
	    memmem(head, len < HEAD_BYTES ? len : HEAD_BYTES, trace, sizeof(trace) - 1))
		return false;
	file.json = json_of(bytes, len);
	known = find_format(&file) < FORMATS;
	json_decref(file.json);
	return known;
}

/* A benchmark that nothing was measured of is none. */
static void drop_empty(struct results_reading *r)
{
	for (size_t i = json_array_size(r->results); i-- > 0;) {
		const json_t *report = json_array_get(r->results, i);
		const json_t *name = json_object_get(json_object_get(report, "workload"), "name");

		if (json_object_size(json_object_get(report, "modes")) > 0)
			continue;
		reading_note(r, "%.180s has no figures", report_text(json_string_value(name)));
		json_array_remove(r->results, i);
	}
}

static json_t *whole(struct results_reading *r, struct err *err)
{
	struct arena arena = { 0 };
	json_t *json, *first;
	size_t n;

	drop_empty(r);
	n = json_array_size(r->results);
	first = json_array_get(r->results, 0);
	if (n == 0) {
		json_t *why = json_array_get(r->notes, 0);

		err_set(err, ERR_WORKLOAD, "the file of %s has no result%s%.200s", r->format,
			why ? ": " : "", why ? json_string_value(why) : "");
		return NULL;
	}
	if (!*report_text(
		json_string_value(json_object_get(json_object_get(first, "result"), "machine"))))
		reading_note(r,
			     "the file does not say which machine: name it (machine=, --machine), "
			     "or results of several are taken for one's");
	json = json_pack("{s:i, s:s, s:O, s:O}", "breakeven_results", 1, "format", r->format,
			 "results", r->results, "notes", r->notes);
	if (json)
		put(json, "name",
		    asked_or(r->request->name, *r->suite ? r->suite : r->request->file));
	if (json && n == 1 && r->request->name)
		put(json_object_get(first, "workload"), "name", r->request->name);
	if (json && !report_read_results(json, &arena, err)) {
		json_decref(json);
		json = NULL;
	}
	arena_finish(&arena);
	if (!json && err->code == ERR_NONE)
		err_set(err, ERR_MEMORY, "out of memory for results");
	return json;
}

json_t *results_read(const void *bytes, size_t len, const struct results_request *request,
		     struct err *err)
{
	struct results_file file = { bytes, len, json_of(bytes, len) };
	struct results_reading r = { .request = request,
				     .results = json_array(),
				     .notes = json_array(),
				     .names = json_object(),
				     .about = json_object() };
	size_t format = find_format(&file);
	json_t *json = NULL;

	if (len > RESULTS_MOST_BYTES)
		err_set(err, ERR_TOO_LARGE, "a file of results has at most %d MiB",
			RESULTS_MOST_BYTES >> 20);
	else if (format == FORMATS)
		err_set(err, ERR_UNSUPPORTED,
			"no tool that is known wrote it: results are JSON of pytest-benchmark, "
			"Google Benchmark, hyperfine, asv or Bencher, CSV of benchmarks/dynamo, or "
			"pickled Measurements of torch.utils.benchmark");
	else {
		r.format = formats[format].name;
		if (formats[format].of->read(&r, &file, err))
			json = whole(&r, err);
	}
	json_decref(r.results);
	json_decref(r.notes);
	json_decref(r.names);
	json_decref(r.about);
	json_decref(file.json);
	return json;
}

/* ---- our own ---- */

static bool is_own(const struct results_file *file)
{
	return json_integer_value(json_object_get(file->json, "breakeven_results")) == 1;
}

/* Its tool, of those that are known; "breakeven" else. */
static const char *format_named(const char *name)
{
	for (size_t i = 0; i < FORMATS; i++)
		if (strcmp(formats[i].name, name) == 0)
			return formats[i].name;
	return "breakeven";
}

/* What a list shows of it, each text cut; the rest of a workload is not a result's. */
static json_t *workload_of(const struct results_reading *r, const json_t *from)
{
	static const char *const keys[] = { "name",   "result", "project",
					    "commit", "branch", "command" };
	const char *const asked[] = {
		NULL, NULL, r->request->project, r->request->commit, r->request->branch, NULL
	};
	json_t *workload = json_object();

	for (size_t i = 0; workload && i < sizeof(keys) / sizeof(keys[0]); i++) {
		char text[NAME_BYTES + 20];

		reading_text(text, sizeof(text), json_object_get(from, keys[i]));
		put(workload, keys[i], asked_or(asked[i], text));
	}
	return workload;
}

/* Of a mode its figure, and whether its values are eager's. */
static json_t *own_modes(const struct report_run *run)
{
	json_t *modes = json_object();

	for (size_t i = 0; modes && i < run->modes.n; i++) {
		const char *name = run->modes.keys[i];
		const json_t *from = json_object_get(json_object_get(run->json, "modes"), name);
		json_t *mode = json_pack("{s:[], s:[], s:[], s:O?, s:O*}", "graphs", "breaks",
					 "recompiles", "measure", json_object_get(from, "measure"),
					 "agrees", json_object_get(from, "agrees"));

		json_object_set_new(modes, name, mode);
	}
	return modes;
}

static bool own_one(struct results_reading *r, size_t i, const struct report_run *run,
		    struct err *err)
{
	static const char *const kept[] = { "environment", "result" };
	json_t *report = json_pack("{s:i, s:{}, s:{}}", "breakeven", 1, "device", "environment");
	bool ok = run->result && run->workload && run->workload->name && *run->workload->name &&
		  run->modes.n > 0 && run->modes.n <= MOST_FIGURES && i < RESULTS_MOST;

	for (size_t k = 0; ok && k < run->modes.n; k++)
		ok = run->modes.at[k].measure && strlen(run->modes.keys[k]) <= MODE_BYTES;
	if (!ok)
		err_set(err, ERR_WORKLOAD,
			"result %zu of the file lacks a name, figures or `result`, has a mode that "
			"is no figure, or is one too many",
			i);
	for (size_t k = 0; ok && k < sizeof(kept) / sizeof(kept[0]); k++)
		if (json_object_get(run->json, kept[k]))
			json_object_set_new(report, kept[k],
					    json_deep_copy(json_object_get(run->json, kept[k])));
	json_object_set_new(report, "modes", own_modes(run));
	json_object_set_new(report, "workload",
			    workload_of(r, json_object_get(run->json, "workload")));
	put(json_object_get(report, "result"), "machine", r->request->machine);
	json_array_append_new(r->results, report);
	return ok;
}

static bool read_own(struct results_reading *r, const struct results_file *file, struct err *err)
{
	struct arena arena = { 0 };
	const struct report_results *from = report_read_results(file->json, &arena, err);
	bool ok = from != NULL;

	for (size_t i = 0; ok && i < from->results.n; i++)
		ok = own_one(r, i, &from->results.at[i], err);
	for (size_t i = 0; ok && i < from->notes.n; i++)
		reading_note(r, "%s", from->notes.at[i]);
	if (ok) {
		r->format = format_named(from->format);
		reading_text(r->suite, sizeof(r->suite), json_object_get(file->json, "name"));
	}
	arena_finish(&arena);
	return ok;
}

const struct results_format results_own = { is_own, read_own };
