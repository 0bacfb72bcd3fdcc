/* server/cli/cmd_suite.c -- `breakeven suite FOLDER|FILE...`: many workloads as one. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fusion/base/refused.h"
#include "fusion/base/scratch.h"
#include "fusion/base/vec.h"
#include "profiler/fields/fields.h"
#include "profiler/findings/sentence.h"
#include "profiler/gather/gather.h"
#include "profiler/numbers/numbers.h"
#include "profiler/profiler.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/cli/interrupt.h"
#include "server/cli/post.h"
#include "server/cli/workload_file.h"
#include "server/queue/queue.h"
#include "server/text/text.h"

/* ---- the workloads of a folder, of files and of lists of files ---- */

enum { LINE_BYTES = 8192 };

static bool ends_with(const char *path, const char *end)
{
	size_t len = strlen(path), n = strlen(end);

	return len > n && strcmp(path + len - n, end) == 0;
}

static bool is_workload(const char *path)
{
	return ends_with(path, ".json") || ends_with(path, ".py");
}

struct weights_place {
	char name[256]; /* as programs say it */
	char *path;
	char id[WEIGHTS_ID_BYTES];
};

/* What is gathered: the workloads, and the files of weights that they read. */
struct suite_source {
	json_t *list;
	VEC(struct weights_place) places; /* first those that all workloads are given */
	size_t common;                    /* how many these are */
};

static void suite_source_finish(struct suite_source *g)
{
	for (size_t i = 0; i < g->places.len; i++)
		free(g->places.at[i].path);
	VEC_FREE(&g->places);
}

static bool add_place(struct suite_source *g, const char *path, struct weights_place place,
		      struct err *err)
{
	place.path = realpath(path, NULL);
	if (place.path && VEC_PUSH(&g->places, place))
		return true;
	free(place.path);
	return err_set(err, ERR_IO, "%.300s cannot be opened: %s", path, strerror(errno));
}

/* "PATH" or "NAME=PATH", for all workloads. */
static bool add_common(struct suite_source *g, const char *text, struct err *err)
{
	struct weights_place place = { .path = NULL };
	const char *path = workload_weights_path(text, place.name);

	if (!weights_id(path, place.id, err) || !add_place(g, path, place, err))
		return false;
	g->common++;
	return true;
}

/* Of one workload alone. */
static bool add_own(void *self, const char *path, const char *id, struct err *err)
{
	struct weights_place place = { .path = NULL };
	struct suite_source *g = self;

	for (size_t i = 0; i < g->places.len; i++)
		if (strcmp(g->places.at[i].id, id) == 0)
			return true;
	snprintf(place.id, sizeof(place.id), "%s", id);
	return add_place(g, path, place, err);
}

/* A workload that names such a file itself keeps what it names. */
static void give_common(const struct suite_source *g, json_t *json)
{
	json_t *weights = json_object_get(json, "weights");

	if (g->common && !json_is_object(weights)) {
		weights = json_object();
		json_object_set_new(json, "weights", weights);
	}
	for (size_t i = 0; i < g->common; i++)
		if (!json_object_get(weights, g->places.at[i].name))
			json_object_set_new(weights, g->places.at[i].name,
					    json_string(g->places.at[i].id));
}

static json_t *load_with_weights(struct suite_source *g, struct workload_file *file,
				 struct err *err)
{
	json_t *json = workload_file_load(file, err);

	if (json && workload_file_each_weights(file, json, add_own, g, err)) {
		give_common(g, json);
		return json;
	}
	json_decref(json);
	json_decref(file->listed);
	file->listed = NULL;
	return NULL;
}

static void add_loaded(struct suite_source *g, struct workload_file *file)
{
	const char *slash = strrchr(file->file, '/');
	struct err err = { 0 };
	json_t *json = load_with_weights(g, file, &err);

	if (!json)
		json = json_pack("{s:s, s:s}", "name", slash ? slash + 1 : file->file, "error",
				 err.message);
	if (!json) /* its name is no text */
		json = json_pack("{s:s, s:s}", "name", "?", "error",
				 "the name of its file is not UTF-8");
	json_array_append_new(g->list, json);
}

static void add_file(struct suite_source *g, const char *path)
{
	add_loaded(g, &(struct workload_file){ .file = path });
}

static bool is_folder(const char *path)
{
	struct stat info;

	return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

/* "train.py" of a folder's files where it alone says inputs and has a function model. */
static const char *own_entry(const json_t *files)
{
	const char *path, *found = NULL;
	json_t *text;

	json_object_foreach((json_t *)files, path, text) {
		const char *source = json_string_value(text);

		if (!strchr(path, '/') && strstr(source, "# input:") &&
		    strstr(source, "def model("))
			found = found ? "" : path;
	}
	return found && *found ? found : NULL;
}

/* A program of several files, if the folder has .py files. */
static void add_program(struct suite_source *g, const char *path)
{
	struct err err = { 0 };
	json_t *files = gather_folder(path, &err);
	const char *entry = files ? own_entry(files) : NULL, *slash = strrchr(path, '/');
	char *named = NULL;

	if (!files && err.code == ERR_WORKLOAD && strstr(err.message, "holds no .py file"))
		return;
	if (entry && asprintf(&named, "%s:model", entry) < 0) {
		named = NULL;
		memory_note_refused();
	} else if (entry)
		add_loaded(g, &(struct workload_file){ .file = path, .entry = named });
	else
		json_array_append_new(
		    g->list,
		    json_pack("{s:s, s:s}", "name", slash ? slash + 1 : path, "error",
			      files ? "no one file of the folder has lines '# input:' and a "
				      "function model; give it in a list, a line such as 'net "
				      "--entry train.py:step --input x=float32[8,16]'"
				    : err.message));
	free(named);
	json_decref(files);
}

static int wanted(const struct dirent *entry)
{
	return entry->d_name[0] != '.' && strcmp(entry->d_name, "__pycache__") != 0 &&
	       (is_workload(entry->d_name) || entry->d_type == DT_DIR);
}

static int by_name(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

static bool add_folder(struct suite_source *g, const char *path, struct err *err)
{
	size_t before = json_array_size(g->list);
	struct dirent **entries;
	int n = scandir(path, &entries, wanted, by_name);

	if (n < 0)
		return err_set(err, ERR_IO, "%.300s cannot be read: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		char *file;

		if (asprintf(&file, "%s/%s", path, entries[i]->d_name) > 0) {
			if (is_folder(file))
				add_program(g, file);
			else
				add_file(g, file);
			free(file);
		} else {
			memory_note_refused(); /* the suite would lack one */
		}
		free(entries[i]);
	}
	free(entries);
	return json_array_size(g->list) > before ||
	       err_set(err, ERR_IO,
		       "%.300s has no workloads: files that end in .json "
		       "or .py, or folders of them",
		       path);
}

/* "net --entry train.py:step --input x=float32[8,16]": of a line its file, with what belongs to
 * it.  False with BAD_REQUEST. */
static bool add_line(struct suite_source *g, const char *folder, char *line, struct err *err)
{
	struct workload_file file = { 0 };
	struct flag_texts inputs = workload_file_inputs(&file);
	struct flag_texts weights = workload_file_weights(&file);
	const char *path = strsep(&line, " \t"), *word;
	char *full;

	while ((word = strsep(&line, " \t"))) {
		const char *value = *word ? strsep(&line, " \t") : "";

		if (!*word)
			continue;
		if (value && strcmp(word, "--entry") == 0)
			file.entry = value;
		else if (value && strcmp(word, "--input") == 0 && file.n_inputs < inputs.most)
			file.inputs[file.n_inputs++] = value;
		else if (value && strcmp(word, "--weights") == 0 && file.n_weights < weights.most)
			file.weights[file.n_weights++] = value;
		else
			return err_set(err, ERR_BAD_REQUEST,
				       "'%.80s' after %.80s: --entry FILE.py:NAME, --input "
				       "NAME=VALUE or --weights PATH is needed",
				       word, path);
	}
	if (asprintf(&full, "%s%s", *path == '/' ? "" : folder, path) < 0)
		return err_set(err, ERR_MEMORY, "out of memory for the list");
	file.file = full;
	add_loaded(g, &file);
	free(full);
	return true;
}

/* Files by name, one a line. */
static bool add_list(struct suite_source *g, const char *path, struct err *err)
{
	FILE *f = fopen(path, "re");
	const char *slash = strrchr(path, '/');
	char line[LINE_BYTES], *folder = strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
	bool ok = folder || err_set(err, ERR_MEMORY, "out of memory for the list");
	int n = 0;

	if (!f) {
		free(folder);
		return err_set(err, ERR_IO, "%.300s cannot be opened: %s", path, strerror(errno));
	}
	while (ok && fgets(line, sizeof(line), f)) {
		char *name = line + strspn(line, " \t");

		name[strcspn(name, "#\r\n")] = '\0';
		while (*name && strchr(" \t", name[strlen(name) - 1]))
			name[strlen(name) - 1] = '\0';
		if (!*name)
			continue;
		ok = add_line(g, folder, name, err);
		n++;
	}
	if (ok && ferror(f))
		ok = err_set(err, ERR_IO, "%.300s cannot be read: %s", path, strerror(errno));
	fclose(f);
	free(folder);
	if (!ok)
		return false;
	return n > 0 || err_set(err, ERR_IO, "%.300s names no workloads, one a line", path);
}

static bool add_blocks(struct suite_source *g, struct err *err)
{
	json_t *blocks = embedded_programs("suite", err);
	bool ok = blocks && json_array_extend(g->list, blocks) == 0;

	json_decref(blocks);
	return ok;
}

/* Adds the workloads of `path`: a folder's .json and .py files by name, one
 * such file, "blocks" (those that come with the program, where no file has that name), or
 * any other file, which names such files, one a line (# begins a comment; names are as
 * seen from the file's folder).  A file that is no workload is {"name", "error"}.  False
 * where the path itself cannot be read, or has none. */
static bool add_path(struct suite_source *g, const char *path, struct err *err)
{
	struct stat info;

	if (stat(path, &info) != 0) {
		if (strcmp(path, "blocks") == 0)
			return add_blocks(g, err);
		return err_set(err, ERR_IO, "%.300s cannot be opened: %s", path, strerror(errno));
	}
	if (S_ISDIR(info.st_mode))
		return add_folder(g, path, err);
	if (!is_workload(path))
		return add_list(g, path, err);
	add_file(g, path);
	return true;
}

/* ---- the report as text ---- */

/* "1.32x (1.28-1.36)"; "" of NULL. */
static const char *figure_cell(char out[4 * NUMBER_BYTES], const struct report_figure *f)
{
	if (f && f->low)
		snprintf(out, 4 * NUMBER_BYTES, "%s (%s-%s)", f->text, f->low, f->high);
	else
		snprintf(out, 4 * NUMBER_BYTES, "%s", f ? f->text : "");
	return out;
}

static void columns_table(struct buf *out, const struct report_suite_column_list *columns)
{
	static const struct report_suite_shown of_another_version;

	buf_printf(out, "\n%-10s %-7s %-8s %9s %11s  %-22s %7s %7s %7s %12s %8s %9s\n", "engine",
		   "policy", "mode", "passed", "pass rate", "geomean, common set", "min", "median",
		   "max", "compile ms", "captures", "lowerings");
	for (size_t i = 0; i < columns->n; i++) {
		const struct report_suite_column *c = &columns->at[i];
		const struct report_suite_shown *shown = c->shown ? c->shown : &of_another_version;
		char ratio[4 * NUMBER_BYTES], ms[NUMBER_BYTES], passed[32];

		number_short(ms, c->compile_ms);
		snprintf(passed, sizeof(passed), "%lld/%lld", (long long)c->pass,
			 (long long)c->workloads);
		buf_printf(out, "%-10s %-7s %-8s %9s %11s  %-22s %7s %7s %7s %12s %8lld %9lld\n",
			   c->engine, c->policy, c->mode, passed, report_text(shown->pass_rate),
			   figure_cell(ratio, shown->geomean), report_text(shown->min),
			   report_text(shown->median), report_text(shown->max), ms,
			   (long long)c->breaks->capture, (long long)c->breaks->lowering);
	}
}

/* Our result in mode static under the policy, or the first that is not eager. */
static const struct report_suite_result *shown_result(const struct report_suite_workload *workload,
						      const char *policy)
{
	const struct report_suite_result *found = NULL;

	for (size_t i = 0; i < workload->results.n; i++) {
		const struct report_suite_result *r = &workload->results.at[i];

		if (strcmp(r->engine, "breakeven") != 0 || strcmp(r->policy, policy) != 0 ||
		    strcmp(r->mode, "eager") == 0)
			continue;
		if (!found || strcmp(r->mode, "static") == 0)
			found = r;
	}
	return found;
}

/* "2 + 0": breaks of capture, and of lowering. */
static const char *breaks_cell(const struct report_suite_workload *w, const char *policy)
{
	const struct report_suite_result *r = shown_result(w, policy);

	return r && r->shown ? r->shown->breaks : "";
}

static bool is_of(const struct report_suite_result *r, const struct report_suite_column *c)
{
	return strcmp(r->policy, c->policy) == 0 && strcmp(r->engine, c->engine) == 0 &&
	       strcmp(r->mode, c->mode) == 0;
}

static void speedup_cells(struct buf *out, const struct report_suite_workload *workload,
			  const struct report_suite_column_list *columns)
{
	for (size_t i = 0; i < columns->n; i++) {
		const struct report_suite_column *c = &columns->at[i];
		char cell[4 * NUMBER_BYTES] = "";

		if (strcmp(c->mode, "eager") == 0)
			continue;
		for (size_t k = 0; k < workload->results.n; k++) {
			const struct report_suite_result *r = &workload->results.at[k];

			if (!is_of(r, c))
				continue;
			if (strcmp(r->status, "pass") == 0)
				figure_cell(cell, r->shown ? r->shown->speedup : NULL);
			else
				snprintf(cell, sizeof(cell), "%s", r->status);
		}
		buf_printf(out, "  %-20s", cell);
	}
}

static void workloads_table(struct buf *out, const struct report_suite *report)
{
	buf_printf(out, "\n%-28s", "workload");
	for (size_t i = 0; i < report->columns.n; i++) {
		const struct report_suite_column *c = &report->columns.at[i];
		bool ours = strcmp(c->engine, "breakeven") == 0;
		char head[64];

		snprintf(head, sizeof(head), "%s, %s", c->mode, ours ? c->policy : c->engine);
		if (strcmp(c->mode, "eager") != 0)
			buf_printf(out, "  %-20s", head);
	}
	buf_printf(out, "  breaks dynamo  native\n");
	for (size_t i = 0; i < report->workloads.n; i++) {
		const struct report_suite_workload *w = &report->workloads.at[i];

		buf_printf(out, "%*s", text_width(-28, w->name), w->name);
		speedup_cells(out, w, &report->columns);
		buf_printf(out, "  %13s  %6s\n", breaks_cell(w, "dynamo"),
			   breaks_cell(w, "native"));
	}
	buf_puts(out, "\nBreaks are those of capture + those of lowering, in mode static where it "
		      "ran.\n");
}

static bool said_together(const struct report_suite_result *a, const struct report_suite_result *b)
{
	return b && strcmp(a->engine, b->engine) == 0 && strcmp(a->policy, b->policy) == 0 &&
	       strcmp(a->status, b->status) == 0 &&
	       strcmp(report_text(a->reason), report_text(b->reason)) == 0;
}

/* Modes that failed alike share a line. */
static void reasons(struct buf *out, const struct report_suite_workload *w)
{
	const struct report_suite_result *last = NULL, *end = w->results.at + w->results.n;

	for (const struct report_suite_result *r = w->results.at; r < end; r++) {
		if (strcmp(r->status, "pass") == 0 || strcmp(r->status, "waiting") == 0)
			continue;
		if (said_together(r, last))
			buf_printf(out, ", %s", r->mode);
		else
			buf_printf(out, "%s%s: %s, %s, %s: %s", last ? "\n" : "", r->status,
				   w->name, r->engine, r->policy, r->mode);
		last = r;
		if (!said_together(r, r + 1 < end ? r + 1 : NULL))
			buf_printf(out, ": %s", report_text(r->reason));
	}
	buf_puts(out, last ? "\n" : "");
}

/* Why workloads did not pass, the most frequent first. */
static void causes(struct buf *out, const struct report_suite_cause_list *list)
{
	if (!list->n)
		return;
	buf_printf(out, "\n%9s  %-9s %s\n", "workloads", "status", "cause");
	for (size_t i = 0; i < list->n; i++)
		buf_printf(out, "%9zu  %-9s %s\n", list->at[i].workloads.n, list->at[i].status,
			   list->at[i].cause);
	buf_puts(out, "\n");
}

static void print_suite(struct buf *out, const struct report_suite *report)
{
	long long n = (long long)report->common->of;

	buf_printf(out,
		   "Suite %s: %lld workload%s.  Geomeans are over the common set, the %lld that "
		   "have a speedup in every\ncolumn that has any; pass: it ran, and its values "
		   "agree with eager's.\n",
		   report_text(report->name), n, n == 1 ? "" : "s", (long long)report->common->n);
	sentence_say(out, &report->sentence);
	buf_puts(out, "\n");
	if (report->kept)
		buf_printf(out,
			   "%lld run%s of an earlier suite %s kept: programs, settings, engine and "
			   "machine are the same.  --again measures all.\n",
			   (long long)report->kept, report->kept == 1 ? "" : "s",
			   report->kept == 1 ? "is" : "are");
	columns_table(out, &report->columns);
	workloads_table(out, report);
	causes(out, &report->causes);
	for (size_t i = 0; i < report->workloads.n; i++)
		reasons(out, &report->workloads.at[i]);
	if (report->has.seconds)
		buf_printf(out, "%s; %.0f s in all\n",
			   report_text(report->environment ? report->environment->cpu : NULL),
			   report->seconds);
}

/* ---- the command ---- */

enum { MAX_PATHS = 1024 };

static const char all_modes[] = "eager,static,dynamic,auto,lazy,graphs";

struct suite_flags {
	const char *modes, *policy, *device, *backend, *threads, *seconds, *name, *project, *post,
	    *db;
	const char *engines, *torch_python;
	const char *paths[MAX_PATHS], *weights[WORKLOAD_FILE_MAX_WEIGHTS];
	int n_paths, n_weights;
	bool json, again;
};

static int read_flags(int argc, char **argv, struct suite_flags *f)
{
	struct flag_texts weights = { .at = f->weights,
				      .most = WORKLOAD_FILE_MAX_WEIGHTS,
				      .over = "there are more than 64 files of weights, with " };
	const struct flag table[] = {
		{ "--modes", .value = &f->modes },
		{ "--policy", .value = &f->policy },
		{ "--device", .value = &f->device },
		{ "--backend", .value = &f->backend },
		{ "--threads", .value = &f->threads },
		{ "--weights", .many = &weights },
		{ "--seconds", .value = &f->seconds },
		{ "--name", .value = &f->name },
		{ "--project", .value = &f->project },
		{ "--post", .value = &f->post },
		{ "--db", .value = &f->db },
		{ "--engine", .value = &f->engines },
		{ "--again", .on = &f->again },
		{ "--json", .on = &f->json },
		{ "--torch-python", .value = &f->torch_python },
	};
	struct flags flags = {
		.command = "suite",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = f->paths, .most = MAX_PATHS, .over = "too many paths from " },
	};
	int status = flags_read(&flags, argc, argv);

	f->n_paths = flags.words.n;
	f->n_weights = weights.n;
	if (status < 0 && !f->n_paths) {
		flags_refuse("suite", "a folder, a file or blocks is missing", "");
		return EXIT_USAGE;
	}
	return status;
}

/* "eager,static" as a list. */
static json_t *list_of(const char *text)
{
	char *copy = strdup(text), *rest = copy;
	json_t *list = json_array();

	for (char *name; copy && (name = strsep(&rest, ","));)
		json_array_append_new(list, json_string(name));
	free(copy);
	return list;
}

/* The seconds of sampling for each run, where they are given. */
static bool set_seconds(json_t *request, const struct suite_flags *f)
{
	double seconds;
	char *end;

	if (!f->seconds)
		return true;
	seconds = strtod(f->seconds, &end);
	if (end == f->seconds || *end || !(seconds >= 0 && seconds <= 1e6))
		return flags_refuse("suite", "--seconds needs a number from 0 to 1e6, not ",
				    f->seconds);
	json_object_set_new(request, "seconds", json_real(seconds));
	return true;
}

/* "models" of one path; of several the first and how many more there are. */
static json_t *name_of(const struct suite_flags *f)
{
	const char *path = f->paths[0], *from;
	size_t len = strlen(path);

	if (f->name)
		return json_string(f->name);
	while (len > 1 && path[len - 1] == '/')
		len--;
	for (from = path + len; from > path && from[-1] != '/'; from--)
		;
	len -= (size_t)(from - path);
	return f->n_paths > 1 ? json_sprintf("%.*s and %d more", (int)len, from, f->n_paths - 1)
			      : json_stringn(from, len);
}

/* The request without its workloads; NULL after a message. */
static json_t *request_of(const struct suite_flags *f)
{
	static const char *const devices[] = { "cpu", "cuda", NULL },
				 *const policies[] = { "dynamo", "native", "both", NULL },
				 *const backends[] = { "cpu", "interp", "cuda", NULL };
	const struct {
		const char *name, *value;
	} texts[] = { { "policy", f->policy },
		      { "device", f->device },
		      { "backend", f->backend },
		      { "project", f->project } };
	long long threads = 0;
	json_t *request;

	if (f->engines && strstr(f->engines, "torch") && !f->torch_python && !f->post) {
		fprintf(stderr, "breakeven suite: " TORCH_SWITCHED_OFF "\n");
		return NULL;
	}
	if (!flags_one_of("suite", "--device", f->device, devices) ||
	    !flags_one_of("suite", "--policy", f->policy, policies) ||
	    !flags_one_of("suite", "--backend", f->backend, backends) ||
	    !flags_integer("suite", "--threads", f->threads, 0, 1000000, &threads))
		return NULL;
	request = json_object();
	if (f->again)
		json_object_set_new(request, "again", json_true());
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		if (texts[i].value)
			json_object_set_new(request, texts[i].name, json_string(texts[i].value));
	if (f->modes)
		json_object_set_new(request, "modes",
				    list_of(strcmp(f->modes, "all") == 0 ? all_modes : f->modes));
	if (f->engines)
		json_object_set_new(request, "engines", list_of(f->engines));
	json_object_set_new(request, "name", name_of(f));
	if (f->threads)
		json_object_set_new(request, "threads", json_integer(threads));
	if (set_seconds(request, f))
		return request;
	json_decref(request);
	return NULL;
}

static bool read_workloads(const struct suite_flags *f, json_t *request, struct suite_source *g,
			   struct err *err)
{
	bool ok;

	*g = (struct suite_source){ .list = json_array() };
	ok = json_object_set_new(request, "workloads", g->list) == 0 && !memory_refused();
	if (!ok) {
		g->list = NULL; /* it is gone, or goes with the request */
		return memory_refused_error(err, "the suite");
	}
	for (int i = 0; ok && i < f->n_weights; i++)
		ok = add_common(g, f->weights[i], err);
	for (int i = 0; ok && i < f->n_paths; i++)
		ok = add_path(g, f->paths[i], err);
	return ok && (!memory_refused() || memory_refused_error(err, "the suite"));
}

static void show_progress(void *self, int done, int of, const char *name, const char *policy)
{
	if (*(bool *)self)
		fprintf(stderr, "\r%d of %d  %s, %s\033[K", done, of, name, policy);
}

/* Whether no result is other than a pass. */
static bool all_passed(const struct report_suite_progress *results)
{
	return results->disagrees + results->failed + results->cancelled == 0;
}

static bool print_report(const struct suite_flags *f, const struct report_suite *report,
			 struct err *err)
{
	struct buf text;
	bool ok;

	if (f->json) {
		ok = json_dumpf(report->json, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF;
	} else {
		buf_init(&text, 0);
		print_suite(&text, report);
		ok = text.data && fputs(text.data, stdout) != EOF;
		buf_finish(&text);
	}
	return (ok && fflush(stdout) == 0) ||
	       err_set(err, ERR_IO, "the result could not be written: %s", strerror(errno));
}

static bool post_places(struct post *p, const struct suite_source *g, struct err *err)
{
	for (size_t i = 0; i < g->places.len; i++) {
		const struct weights_place *place = &g->places.at[i];
		struct err why = { 0 };

		if (!post_weights(p, place->path, place->id, &why))
			return err_set(err, why.code, "--weights %.200s: %.250s", place->path,
				       why.message);
	}
	return true;
}

/* The server runs it: prints where. */
static bool post_suite(const struct suite_flags *f, const json_t *request,
		       const struct suite_source *g, struct err *err)
{
	char *text = json_dumps(request, JSON_COMPACT);
	struct post *p = text ? post_open(f->post, err) : NULL;
	const struct report_created *made = NULL;
	struct arena arena = { 0 };
	json_t *answer = NULL;
	bool ok = p && post_places(p, g, err) &&
		  post_send(p, "/suites",
			    (struct post_body){
				.type = "application/json", .bytes = text, .len = strlen(text) },
			    &answer, err);

	if (ok && f->json)
		ok = json_dumpf(answer, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF;
	else if (ok)
		made = report_read_created(answer, &arena, err);
	if (made)
		printf("%s/suites/%lld\n", f->post, (long long)made->id);
	ok = ok && (f->json || made);
	arena_finish(&arena);
	json_decref(answer);
	post_close(p);
	free(text);
	return ok;
}

/* A folder as workers look for weights in: links by the digits of the ids.  None is made where
 * there are no weights. */
static bool link_places(const struct suite_source *g, struct scratch *folder, struct err *err)
{
	if (g->places.len && !scratch_create(folder, "weights", err))
		return false;
	for (size_t i = 0; i < g->places.len; i++) {
		const struct weights_place *place = &g->places.at[i];
		char link[sizeof(folder->path) + WEIGHTS_ID_BYTES];

		snprintf(link, sizeof(link), "%s/%s", folder->path, strchr(place->id, ':') + 1);
		if (symlink(place->path, link) != 0 && errno != EEXIST)
			return err_set(err, ERR_IO, "%s: %s", link, strerror(errno));
	}
	return true;
}

static int run_here(const struct suite_flags *f, const json_t *request, const struct scratch *files,
		    const struct registry *registry, const volatile sig_atomic_t *interrupted,
		    struct err *err)
{
	bool terminal = isatty(STDERR_FILENO);
	char cache[4096];
	const struct suite_options options = { .run_seconds = WORKER_WALL_S,
					       .db = f->db,
					       .cache_dir = default_cache_dir(cache, sizeof(cache))
								? cache
								: NULL,
					       .registry = registry,
					       .torch_python = f->torch_python,
					       .files_folder = files->path[0] ? files->path : NULL,
					       .progress = show_progress,
					       .self = &terminal,
					       .interrupted = interrupted };
	const struct report_suite *suite;
	struct arena arena = { 0 };
	struct suite_plan plan;
	json_t *report;
	int status = EXIT_FAILED;

	if (!suite_plan_make(&plan, request, registry, err))
		return err->code == ERR_MEMORY ? EXIT_FAILED : EXIT_USAGE;
	report = suite_run(&plan, &options, err);
	if (terminal)
		fprintf(stderr, "\r\033[K");
	suite = report ? report_read_suite(report, &arena, err) : NULL;
	if (suite && print_report(f, suite, err) && all_passed(suite->results))
		status = EXIT_DONE;
	arena_finish(&arena);
	json_decref(report);
	suite_plan_finish(&plan);
	return status;
}

static int suite_command(const struct suite_flags *f, const struct registry *registry)
{
	json_t *request = request_of(f);
	struct err err = { 0 };
	const volatile sig_atomic_t *interrupted;
	int status = EXIT_FAILED;
	struct scratch folder = { 0 };
	struct suite_source g;

	if (!request && !memory_refused())
		return EXIT_USAGE;
	interrupted = interrupt_watch();
	if (read_workloads(f, request, &g, &err)) {
		if (f->post)
			status = post_suite(f, request, &g, &err) ? EXIT_DONE : EXIT_FAILED;
		else if (link_places(&g, &folder, &err))
			status = run_here(f, request, &folder, registry, interrupted, &err);
		scratch_destroy(&folder);
	}
	suite_source_finish(&g);
	if (*interrupted && !f->post) {
		fputs("breakeven suite: interrupted; what had not ended was cancelled\n", stderr);
		status = EXIT_INTERRUPTED;
	}
	if (err.code != ERR_NONE)
		fprintf(stderr, "breakeven suite: %s\n", err.message);
	json_decref(request);
	return status;
}

int cmd_suite(int argc, char **argv, const struct registry *registry)
{
	struct suite_flags f = { 0 };
	int status = read_flags(argc, argv, &f);

	/* A server chooses its own GPU. */
	if (status < 0 && !f.post && !device_flag_take("suite", &f.device))
		status = EXIT_USAGE;
	return status >= 0 ? status : suite_command(&f, registry);
}
