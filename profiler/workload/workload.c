/* profiler/workload/workload.c -- JSON to struct workload, with a bound on everything.
 *
 * Whatever can be refused without running is refused here, since the server
 * calls this while the client still waits: fields, values, sizes, and the
 * source of every point.
 */
#include "profiler/workload/workload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/nearest.h"
#include "profiler/workload/call.h"
#include "profiler/workload/spec.h"

/* ---- the text of a workload's program: one source, or files.
 *
 *	"source": "...", "entry": "model"
 *	"files": {"train.py": "...", "models/unet.py": "..."}, "entry": "train.py:model"
 */

bool path_check(const char *path, struct err *err)
{
	size_t len = strlen(path);
	int depth = 0;

	if (len > WORKLOAD_MAX_PATH_BYTES)
		return err_set(err, ERR_BOUND, "the path %.60s... has %zu bytes; the limit is %d",
			       path, len, WORKLOAD_MAX_PATH_BYTES);
	for (const char *at = path;; at += strcspn(at, "/") + 1) {
		size_t n = strcspn(at, "/");

		if (n == 0 || (n == 1 && at[0] == '.') || (n == 2 && at[0] == '.' && at[1] == '.'))
			return err_set(err, ERR_WORKLOAD,
				       "'%s' is no path within the program's folder; write it as "
				       "models/unet.py",
				       path);
		if (++depth > WORKLOAD_MAX_PATH_DEPTH)
			return err_set(err, ERR_BOUND, "'%s' is over %d folders deep", path,
				       WORKLOAD_MAX_PATH_DEPTH);
		if (!at[n])
			break;
	}
	for (const char *c = path; *c; c++)
		if ((unsigned char)*c < 32 || *c == 127 || *c == '\\' || *c == ':')
			return err_set(err, ERR_WORKLOAD,
				       "a path of the program holds a backslash, a colon or a "
				       "control character; write it as models/unet.py");
	return true;
}

bool workload_path_check(const char *path, struct err *err)
{
	size_t len = strlen(path);

	return path_check(path, err) && ((len > 3 && strcmp(path + len - 3, ".py") == 0) ||
					 err_set(err, ERR_WORKLOAD, "'%s' is no .py file", path));
}

static bool read_files(struct workload *w, const json_t *files, struct err *err)
{
	struct fusion_file *list;
	size_t n = json_object_size(files), bytes = 0;
	const char *path;
	json_t *text;

	if (!json_is_object(files) || n == 0)
		return err_set(err, ERR_WORKLOAD,
			       "files must be an object of texts by path, as {\"train.py\": "
			       "\"import torch ...\"}");
	if (n > WORKLOAD_MAX_FILES)
		return err_set(err, ERR_BOUND, "files has %zu entries; the limit is %d", n,
			       WORKLOAD_MAX_FILES);
	list = calloc(n, sizeof(*list));
	if (!list)
		return err_set(err, ERR_MEMORY, "out of memory for the workload's files");
	w->files.at = list;
	json_object_foreach((json_t *)files, path, text)
	{
		struct fusion_file *f = &list[w->files.n++];

		*f = (struct fusion_file){ path, json_string_value(text),
					   json_string_length(text) };
		if (!workload_path_check(path, err))
			return false;
		if (!f->text || strlen(f->text) != f->len)
			return err_set(err, ERR_WORKLOAD,
				       "files['%s'] must be a text without zero bytes", path);
		if (f->len > WORKLOAD_MAX_SOURCE_BYTES)
			return err_set(err, ERR_BOUND, "%s has %zu bytes; the limit is %d", path,
				       f->len, WORKLOAD_MAX_SOURCE_BYTES);
		bytes += f->len;
	}
	return bytes <= WORKLOAD_MAX_FILES_BYTES ||
	       err_set(err, ERR_BOUND, "files have %zu bytes together; the limit is %d", bytes,
		       WORKLOAD_MAX_FILES_BYTES);
}

/* The colon between the file and what is called of it: "train.py:Net({1: 2})"; NULL. */
static const char *colon_of(const char *entry)
{
	const char *py = strstr(entry, ".py:");

	return py ? py + 3 : strrchr(entry, ':');
}

/* "train.py:model": the file's index, and w->entry. */
static bool find_entry(struct workload *w, const char *entry, struct err *err)
{
	const char *colon = colon_of(entry);
	size_t len = colon ? (size_t)(colon - entry) : strlen(entry);
	char path_text[WORKLOAD_MAX_PATH_BYTES + 1];
	struct nearest near;

	snprintf(path_text, sizeof(path_text), "%.*s", (int)len, entry);
	near = nearest_to(path_text);
	if (len < 3 || strncmp(entry + len - 3, ".py", 3) != 0)
		return err_set(
		    err, ERR_WORKLOAD,
		    "entry must name the file and what it defines, as \"train.py:model\"; "
		    "it is '%.100s'",
		    entry);
	for (int i = 0; i < w->files.n; i++) {
		const char *path = w->files.at[i].path;

		if (strncmp(path, entry, len) == 0 && path[len] == '\0') {
			w->files.entry = i;
			w->source = w->files.at[i].text;
			w->entry = colon && colon[1] ? colon + 1 : "model";
			return true;
		}
		nearest_offer(&near, path);
	}
	return err_set(err, ERR_WORKLOAD, "entry: the program has no file %.*s%s%s", (int)len,
		       entry, near.best ? "; did you mean " : "", near.best ? near.best : "");
}

static bool one_source(struct workload *w, const char *entry, struct err *err)
{
	struct fusion_file *only = calloc(1, sizeof(*only));

	w->files = (struct fusion_files){ only, 1, 0 };
	if (!only)
		return err_set(err, ERR_MEMORY, "out of memory for the workload");
	*only = (struct fusion_file){ "", w->source, strlen(w->source) };
	w->entry = entry;
	return true;
}

/* files.c.  Reads `files` and the file that `entry` names, or the one text of `source`: fills
 * w->files, w->source and w->entry.  WORKLOAD or BOUND. */
static bool files_read(struct workload *w, struct err *err)
{
	const json_t *files = json_object_get(w->json, "files");
	const char *entry;

	if (!field_string(w->json, "entry", "model", 200, &entry, err) ||
	    !field_string(w->json, "source", NULL, WORKLOAD_MAX_SOURCE_BYTES, &w->source, err))
		return false;
	if (field_given(files)) {
		if (w->source)
			return err_set(
			    err, ERR_WORKLOAD,
			    "a workload has source or files, not both; leave source out");
		return read_files(w, files, err) && find_entry(w, entry, err);
	}
	if (!w->source)
		return err_set(err, ERR_WORKLOAD,
			       "source is missing: the text of a program that defines %s", entry);
	return one_source(w, entry, err);
}

static void files_forget(struct workload *w)
{
	free((void *)w->files.at);
	w->files = (struct fusion_files){ 0 };
}

struct fusion_program *workload_program(const struct workload *w, const char *source, size_t len,
					struct err *err)
{
	struct fusion_file *list = calloc((size_t)w->files.n, sizeof(*list));
	struct fusion_files files = w->files;
	struct fusion_program *p;

	if (!list) {
		err_set(err, ERR_MEMORY, "out of memory for the program's files");
		return NULL;
	}
	memcpy(list, files.at, (size_t)files.n * sizeof(*list));
	list[files.entry].text = source;
	list[files.entry].len = len;
	files.at = list;
	p = fusion_parse_in(w->registry, &files, w->entry, err);
	if (!p && !err->file[0] && err->line > 0) /* only the entry's file must compile */
		snprintf(err->file, sizeof(err->file), "%s", list[files.entry].path);
	free(list);
	return p;
}

const json_t *workload_files(const json_t *workload)
{
	const json_t *files = json_object_get(workload, "files");

	return json_is_object(files) ? files : NULL;
}

const char *workload_entry_text(const json_t *files, const char *entry)
{
	char path[2 * WORKLOAD_MAX_PATH_BYTES];
	const char *colon = colon_of(entry);
	int len = (int)(colon ? colon - entry : (ptrdiff_t)strlen(entry));

	if (snprintf(path, sizeof(path), "%.*s", len, entry) >= (int)sizeof(path))
		return NULL;
	return json_string_value(json_object_get(files, path));
}

struct wanted_expression {
	const char *path, *text;
};

static bool is_wanted(void *self, const char *text, const char *path)
{
	struct wanted_expression *w = self;

	if (strcmp(path, w->path) != 0)
		return true;
	w->text = text;
	return false;
}

/* The expression at a path of spec_each_python(), "calls[0][1].2"; NULL: there is none. */
static const char *expression_at(const json_t *calls, const char *path)
{
	struct wanted_expression w = { .path = path };

	for (size_t i = 0; i < json_array_size(calls); i++) {
		const json_t *call = json_array_get(calls, i);

		for (size_t k = 0; k < call_length(call); k++) {
			char at[CALL_PATH_BYTES];

			call_path(call, (int)i, k, at);
			if (!spec_each_python(call_spec(call, k), at, is_wanted, &w))
				return w.text;
		}
	}
	return NULL;
}

/* Of "train.py:Net(3)" what is after the file. */
static const char *entry_called(const char *entry, bool has_files)
{
	const char *colon = entry && has_files ? colon_of(entry) : NULL;

	return colon ? colon + 1 : entry;
}

const char *workload_text(const json_t *workload, const char *file)
{
	const json_t *files = workload_files(workload);
	const char *entry = json_string_value(json_object_get(workload, "entry"));

	if (file && strncmp(file, "calls[", 6) == 0)
		return expression_at(json_object_get(workload, "calls"), file);
	if (file && strcmp(file, "entry") == 0)
		return entry_called(entry, files != NULL);
	if (!files)
		return json_string_value(json_object_get(workload, "source"));
	if (file && *file)
		return json_string_value(json_object_get(files, file));
	return entry ? workload_entry_text(files, entry) : NULL;
}

void workload_set_files(json_t *workload, json_t *files, const char *entry)
{
	json_object_del(workload, "source");
	json_object_set_new(workload, "files", files);
	json_object_set_new(workload, "entry", json_string(entry));
}

/* ---- */

bool field_string(const json_t *json, const char *field, const char *otherwise, size_t most,
		  const char **out, struct err *err)
{
	const json_t *value = json_object_get(json, field);
	const char *text = json_string_value(value);

	*out = otherwise;
	if (!field_given(value))
		return true;
	if (!text)
		return err_set(err, ERR_WORKLOAD, "%s must be a string", field);
	if (json_string_length(value) > most)
		return err_set(err, ERR_BOUND, "%s has %zu bytes; the limit is %zu", field,
			       json_string_length(value), most);
	if (strlen(text) != json_string_length(value))
		return err_set(err, ERR_WORKLOAD, "%s holds a zero byte", field);
	*out = text;
	return true;
}

/* ---- the fields ---- */

static const char *const known_fields[] = {
	"name",    "source", "entry",  "calls",    "params",  "modes",      "device",     "backend",
	"threads", "policy", "grad",   "autocast", "passes",  "deny",       "sweep",      "time",
	"project", "tags",   "commit", "branch",   "title",   "record_api", "keep_going", "seconds",
	"engines", "before", "poison", "files",    "weights", "autotune",   "host",
};
enum { N_FIELDS = sizeof(known_fields) / sizeof(known_fields[0]) };

static void check_fields(struct workload *w)
{
	const char *key;
	json_t *value;

	json_object_foreach(w->json, key, value)
	{
		struct nearest near = nearest_to(key);
		struct err err = { 0 };
		bool known = false;

		for (int i = 0; i < N_FIELDS && !known; i++) {
			known = strcmp(key, known_fields[i]) == 0;
			nearest_offer(&near, known_fields[i]);
		}
		if (known)
			continue;
		if (near.best)
			err_set(&err, ERR_WORKLOAD,
				"the field '%.40s' is unknown; did you mean '%s'?", key, near.best);
		else
			err_set(&err, ERR_WORKLOAD,
				"the field '%.40s' is unknown; a workload has name, source, entry, "
				"calls, modes, threads, backend, sweep, time and more",
				key);
		workload_take(w, false, &err);
	}
}

/* ---- the program ---- */

struct point_listing {
	struct workload *w;
	const struct point *p;
};

static void list_problem(void *self, const struct err *problem, bool certain)
{
	struct point_listing *l = self;
	struct err at = *problem;

	sweep_locate(l->w, l->p, &at);
	if (certain)
		workload_take(l->w, false, &at);
	else if (l->w->each)
		l->w->each(l->w->each_self, &at, false);
}

/* All that is seen in the text of a point.  *anyway: its program, be it refused; NULL. */
static void list_problems(struct workload *w, const struct point *p, struct fusion_program **anyway)
{
	struct fusion_file *all = calloc((size_t)w->files.n, sizeof(*all));
	struct fusion_files files = { all, w->files.n, w->files.entry };
	struct point_listing listing = { w, p };
	struct err err = { 0 };

	if (!all) {
		workload_take(w, err_set(&err, ERR_MEMORY, "out of memory for the workload"), &err);
		return;
	}
	memcpy(all, w->files.at, sizeof(*all) * (size_t)w->files.n);
	all[files.entry].text = point_source(w, p);
	all[files.entry].len = strlen(all[files.entry].text);
	fusion_problems(w->registry, &files, w->entry, list_problem, &listing);
	if (!p->program && w->each && !*anyway)
		*anyway = fusion_parse_anyway(w->registry, &files, w->entry);
	free(all);
}

static void parse_programs(struct workload *w, struct fusion_program **anyway)
{
	for (int i = 0; i < w->n_points; i++) {
		struct point *p = &w->points[i];
		const char *source = point_source(w, p);
		struct err err = { 0 };
		int before = w->n_problems;

		if (i > 0 && !p->source)
			break; /* an input sweep: one program for all points */
		p->program = workload_program(w, source, strlen(source), &err);
		if (!p->program || (w->each && i == 0))
			list_problems(w, p, anyway);
		if (p->program)
			continue;
		sweep_locate(w, p, &err);
		workload_take(w, w->n_problems > before, &err);
		break;
	}
}

/* Reads `before`, the program that this one is a change of; after the sweep. */
static bool parse_before(struct workload *w, const json_t *before, struct err *err)
{
	const char *source = json_string_value(before);

	if (!before || json_is_null(before))
		return true;
	if (!source || json_string_length(before) > WORKLOAD_MAX_SOURCE_BYTES)
		return err_set(err, ERR_WORKLOAD,
			       "before must be the source that this program is a change of, a "
			       "string of at most 1 MiB");
	if (w->sweep.kind == SWEEP_STATEMENTS)
		return err_set(err, ERR_WORKLOAD,
			       "before goes with no sweep of statements: post the program of one "
			       "point");
	w->before.source = strdup(source);
	w->before.program = workload_program(w, source, strlen(source), err);
	if (w->before.source && w->before.program)
		return true;
	return err_set(err, err->code ? err->code : ERR_MEMORY,
		       "the program before the change, line %d: %.300s", err->line, err->message);
}

/* Each part is read even where others are wrong, as far as it does not need them. */
static void fill(struct workload *w)
{
	struct fusion_program *anyway = NULL; /* to look at expressions */
	struct err err = { 0 };
	bool source, points;

	check_fields(w);
	workload_take(w, field_string(w->json, "name", "workload", 200, &w->name, &err), &err);
	source = workload_take(w, files_read(w, &err), &err);
	settings_read(w);
	workload_take(w, weights_read(w, &err), &err);
	arguments_read(w);
	points = source &&
		 workload_take(w, sweep_parse(w, json_object_get(w->json, "sweep"), &err), &err);
	if (points)
		parse_programs(w, &anyway);
	if (w->calls_read)
		arguments_check(w, anyway ? anyway : w->n_points ? w->points[0].program : NULL);
	fusion_program_destroy(anyway);
	if (source)
		workload_take(w, parse_before(w, json_object_get(w->json, "before"), &err), &err);
}

bool workload_take(struct workload *w, bool ok, struct err *err)
{
	if (ok)
		return true;
	if (w->n_problems++ == 0)
		w->first_problem = *err;
	if (w->each && w->n_problems <= WORKLOAD_MAX_PROBLEMS)
		w->each(w->each_self, err, true);
	*err = (struct err){ 0 };
	return false;
}

struct workload *workload_parse(const json_t *json, struct err *err)
{
	return workload_parse_in(json, NULL, err);
}

static struct workload *parse(const json_t *json, const struct registry *registry,
			      fusion_problem_fn *each, void *self, struct err *err)
{
	struct workload *w;

	if (!json_is_object(json)) {
		err_set(err, ERR_WORKLOAD, "a workload is a JSON object with source and calls");
		return NULL;
	}
	w = calloc(1, sizeof(*w));
	if (w)
		w->json = json_deep_copy(json);
	if (!w || !w->json) {
		workload_destroy(w);
		err_set(err, ERR_MEMORY, "out of memory for the workload");
		return NULL;
	}
	w->registry = registry;
	w->each = each;
	w->each_self = self;
	fill(w);
	w->each = NULL;
	if (w->n_problems == 0)
		return w;
	if (err)
		*err = w->first_problem;
	workload_destroy(w);
	return NULL;
}

struct workload *workload_parse_in(const json_t *json, const struct registry *registry,
				   struct err *err)
{
	return parse(json, registry, NULL, NULL, err);
}

void workload_problems(const json_t *json, const struct registry *registry,
		       void (*each)(void *self, const struct err *problem, bool certain),
		       void *self)
{
	struct err err = { 0 };
	struct workload *w = parse(json, registry, each, self, &err);

	if (!w && !json_is_object(json))
		each(self, &err, true);
	workload_destroy(w);
}

void workload_destroy(struct workload *w)
{
	if (!w)
		return;
	for (int i = 0; i < w->n_points; i++) {
		fusion_program_destroy(w->points[i].program);
		free(w->points[i].source);
	}
	for (int mode = 0; mode < FUSION_MODE_COUNT; mode++)
		free(w->timed[mode]);
	fusion_program_destroy(w->before.program);
	free(w->before.source);
	files_forget(w);
	weights_forget(w);
	free(w->points);
	free(w->deny);
	json_decref(w->json);
	free(w);
}

struct workload workload_quick(const struct workload *w)
{
	struct workload quick = *w;

	quick.backend = "interp";
	quick.threads = 1;
	return quick;
}

bool workload_on_device(const struct workload *w)
{
	int b = w->backend ? fusion_backend_find(w->registry, w->backend) : -1;

	return b >= 0 && fusion_backend(w->registry, b).opens_device;
}

bool workload_wants_torch(const struct workload *w)
{
	return w->torch;
}

const char *workload_name(const struct workload *w)
{
	return w->name;
}

enum fusion_mode workload_explained_mode(const struct workload *w)
{
	bool given = field_given(json_object_get(w->json, "modes"));

	for (int i = 0; given && i < w->n_modes; i++)
		if (w->modes[i] != FUSION_EAGER)
			return w->modes[i];
	return FUSION_AUTO;
}
