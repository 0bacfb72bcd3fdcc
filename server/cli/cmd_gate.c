/* server/cli/cmd_gate.c -- `breakeven gate WORKLOADS --baseline WHAT`: runs them, and says by its
 * exit status whether they pass beside a baseline.
 *
 * Each run is a process of its own: this program with other words. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fusion/base/scratch.h"
#include "fusion/base/spawn.h"
#include "profiler/gate/baseline.h"
#include "profiler/gate/gate.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/cli/interrupt.h"
#include "server/cli/post.h"
#include "server/cli/report_file.h"
#include "server/cli/results_file.h"
#include "server/cli/workload_file.h"

extern char **environ;

enum { MOST = 1000, PATH_BYTES = 1024, MARGIN_MOST = 100, WAIT_S = 1, EXIT_GATE_NOT_ENOUGH = 3 };

struct gate_flags {
	const char *words[MOST];
	int n;
	const char *baseline, *db, *server, *margin, *fail_on, *save, *modes, *commit, *branch;
	const char *markdown, *junit, *sarif, *save_baseline, *machine;
	bool json, github, no_timing;
	struct gate_options options;
};

struct gate_work {
	struct gate_flags *f;
	struct scratch scratch;
	char *files[MOST]; /* workloads; of a folder each in it */
	json_t
	    *measured[MOST]; /* of a file of results a report; NULL: of a workload, which is run */
	const char *keys[MOST]; /* "chain" of "bench/chain.json" */
	json_t *baseline;       /* that is a file of results */
	int n;
	const volatile sig_atomic_t *stop; /* Ctrl-C */
	struct arena arena;
	struct gate_pair pairs[MOST];
	struct loaded_runs now[MOST], then[MOST];
};

/* ---- flags ---- */

static bool check_flags(struct gate_flags *f)
{
	struct err err = { 0 };
	char *end;

	f->options = (struct gate_options){ f->baseline, GATE_ALL, 0 };
	if (!f->n)
		return flags_refuse("gate", "which WORKLOADS? files, or folders of them", "");
	if (!f->baseline || !*f->baseline)
		return flags_refuse(
		    "gate", "--baseline is needed: a branch, a tag, a run, a file or a folder", "");
	if (f->fail_on && !gate_kinds_read(f->fail_on, &f->options.fails_on, &err))
		return flags_refuse("gate", "--fail-on ", err.message);
	if (f->margin) {
		f->options.margin = strtod(f->margin, &end) / 100;
		if (end == f->margin || *end ||
		    !(f->options.margin > 0 && f->options.margin <= MARGIN_MOST / 100.0))
			return flags_refuse("gate",
					    "--margin is a percentage above 0 and up to 100, not ",
					    f->margin);
	}
	if (f->server && (f->save || f->db || f->modes || f->save_baseline || f->no_timing))
		return flags_refuse("gate",
				    "with --server the server runs and stores: no --save, "
				    "--save-baseline, --db, --modes, --no-timing",
				    "");
	return true;
}

static int read_flags(int argc, char **argv, struct gate_flags *f)
{
	const struct flag table[] = {
		{ "--baseline", .value = &f->baseline },
		{ "--db", .value = &f->db },
		{ "--server", .value = &f->server },
		{ "--margin", .value = &f->margin },
		{ "--fail-on", .value = &f->fail_on },
		{ "--save", .value = &f->save },
		{ "--save-baseline", .value = &f->save_baseline },
		{ "--modes", .value = &f->modes },
		{ "--commit", .value = &f->commit },
		{ "--branch", .value = &f->branch },
		{ "--machine", .value = &f->machine },
		{ "--markdown", .value = &f->markdown },
		{ "--junit", .value = &f->junit },
		{ "--sarif", .value = &f->sarif },
		{ "--json", .on = &f->json },
		{ "--github", .on = &f->github },
		{ "--no-timing", .on = &f->no_timing },
	};
	struct flags flags = {
		.command = "gate",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = f->words,
			   .most = MOST,
			   .over = "at most 1000 workloads, not also " },
	};
	int status = flags_read(&flags, argc, argv);

	f->n = flags.words.n;
	return status >= 0 || check_flags(f) ? status : EXIT_USAGE;
}

/* ---- which workloads ---- */

static bool add_work(struct gate_work *g, const char *path, json_t *measured, struct err *err)
{
	if (g->n == MOST)
		return err_set(err, ERR_BAD_REQUEST, "at most %d workloads", MOST);
	g->files[g->n] = strdup(path);
	g->measured[g->n] = json_incref(measured);
	return g->files[g->n++] || err_set(err, ERR_MEMORY, "out of memory for workloads");
}

/* Each benchmark of a file of results. */
static bool add_results(struct gate_work *g, const char *path, struct err *err)
{
	const struct gate_flags *f = g->f;
	const struct results_request request = { .commit = f->commit,
						 .branch = f->branch,
						 .machine = f->machine };
	json_t *results, *report;
	bool ok;
	size_t i;

	if (f->server || f->save || f->modes || f->save_baseline || f->no_timing)
		return err_set(err, ERR_BAD_REQUEST,
			       "%.200s has results, which are not run: they take no --server (post "
			       "them, then ask by their runs), --save, --save-baseline, --modes or "
			       "--no-timing",
			       path);
	results = results_file_read(path, NULL, &request, err);
	ok = results != NULL;
	json_array_foreach(json_object_get(results, "results"), i, report)
		ok = ok && add_work(g, path, report, err);
	json_decref(results);
	return ok;
}

static bool add_path(struct gate_work *g, const char *path, struct err *err)
{
	return results_file_is(path) ? add_results(g, path, err) : add_work(g, path, NULL, err);
}

static int is_workload(const struct dirent *e)
{
	const char *dot = strrchr(e->d_name, '.');

	return *e->d_name != '.' && dot && (strcmp(dot, ".json") == 0 || strcmp(dot, ".py") == 0);
}

static bool add_folder(struct gate_work *g, const char *folder, struct err *err)
{
	struct dirent **found = NULL;
	int n = scandir(folder, &found, is_workload, alphasort);
	char path[PATH_BYTES];
	bool ok = n > 0 || err_set(err, ERR_IO, "%.300s has no .json and no .py", folder);

	for (int i = 0; i < n; i++) {
		snprintf(path, sizeof(path), "%.500s/%.255s", folder, found[i]->d_name);
		ok = ok && add_path(g, path, err);
		free(found[i]);
	}
	free(found);
	return ok;
}

static bool list_workloads(struct gate_work *g, struct err *err)
{
	for (int i = 0; i < g->f->n; i++) {
		struct stat st;

		if (stat(g->f->words[i], &st) != 0)
			return err_set(err, ERR_IO, "%.300s cannot be opened: %s", g->f->words[i],
				       strerror(errno));
		if (!(S_ISDIR(st.st_mode) ? add_folder(g, g->f->words[i], err)
					  : add_path(g, g->f->words[i], err)))
			return false;
	}
	return true;
}

/* "bench/chain.json": "chain" */
static const char *stem(struct gate_work *g, const char *path)
{
	const char *name = strrchr(path, '/') ? strrchr(path, '/') + 1 : path;

	return arena_printf(&g->arena, "%.*s", (int)strcspn(name, "."), name);
}

/* ---- here ---- */

/* `breakeven run FILE --json > out`; whether it left a report. */
static bool run_one(struct gate_work *g, const char *file, const char *out)
{
	const char *words[16] = { "breakeven", "run", file, "--json" };
	const char *const given[][2] = { { "--modes", g->f->modes },
					 { "--commit", g->f->commit },
					 { "--branch", g->f->branch } };
	posix_spawn_file_actions_t files;
	int n = 4, code, status = 0;
	struct stat st;
	pid_t pid;

	for (size_t i = 0; i < sizeof(given) / sizeof(given[0]); i++)
		if (given[i][1]) {
			words[n++] = given[i][0];
			words[n++] = given[i][1];
		}
	if (g->f->no_timing) {
		words[n++] = "--no-timing";
		words[n++] = "--brief";
	}
	posix_spawn_file_actions_init(&files);
	code = posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	if (code == 0)
		code = posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, out,
							O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (code == 0)
		code = spawn_apart(&pid, "/proc/self/exe", &files, words,
				   (const char *const *)environ);
	posix_spawn_file_actions_destroy(&files);
	if (code != 0) {
		fprintf(stderr, "breakeven gate: no process: %s\n", strerror(code));
		return false;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		if (*g->stop)
			kill(-pid, SIGINT);
	return !*g->stop && stat(out, &st) == 0 && st.st_size > 2;
}

/* NULL: it is none. */
static const char *baseline_file(struct gate_work *g, const char *name)
{
	const char *path = g->f->baseline;
	struct stat st;

	if (stat(path, &st) != 0)
		return NULL;
	return S_ISDIR(st.st_mode) ? arena_printf(&g->arena, "%s/%s.json", path, name) : path;
}

static bool baseline_of_store(struct gate_work *g, struct db *db, int i, struct err *err)
{
	const char *of = g->f->baseline;
	const json_t *head = g->now[i].at[0].head;
	struct run_row run;
	char *end;
	long long id = strtoll(of, &end, 10);
	bool found = id > 0 && !*end;

	if (found)
		return loaded_add_run(&g->then[i], db, id, err);
	if (!db_run_newest(db,
			   &(struct newest_query){
			       .name = json_string_value(json_object_get(head, "name")), .of = of },
			   &g->arena, &run, &found, err))
		return false;
	return !found || loaded_add_run(&g->then[i], db, run.id, err);
}

static const char *name_of(const json_t *report)
{
	return report_text(
	    json_string_value(json_object_get(json_object_get(report, "workload"), "name")));
}

/* A report of results, as what is compared. */
static bool add_measured(struct loaded_runs *to, json_t *report, struct err *err)
{
	const json_t *w = json_object_get(report, "workload");
	json_t *head = json_pack("{s:s, s:O*, s:O*, s:O*}", "name", name_of(report), "project",
				 json_object_get(w, "project"), "commit",
				 json_object_get(w, "commit"), "branch",
				 json_object_get(w, "branch"));

	return loaded_add(to, head, json_incref(report), err);
}

/* That of workload i in a baseline that is a file of results. */
static bool baseline_of_results(struct gate_work *g, int i, struct err *err)
{
	struct gate_pair *pair = &g->pairs[i];
	json_t *report;
	size_t k;

	json_array_foreach(json_object_get(g->baseline, "results"), k, report)
		if (strcmp(name_of(report), pair->name) == 0)
			return add_measured(&g->then[i], report, err);
	pair->why = arena_printf(&g->arena, "%s has no %s", g->f->baseline, pair->name);
	return true;
}

static bool read_baseline(struct gate_work *g, struct err *err)
{
	const struct results_request request = { .machine = g->f->machine };

	if (!results_file_is(g->f->baseline))
		return true;
	g->baseline = results_file_read(g->f->baseline, NULL, &request, err);
	return g->baseline != NULL;
}

/* A baseline that lacks the workload is none of it. */
static bool is_not_there(struct gate_pair *pair, struct gate_work *g, struct err *err)
{
	if (err->code != ERR_NOT_FOUND)
		return false;
	pair->why = arena_strdup(&g->arena, err->message);
	*err = (struct err){ 0 };
	return pair->why || err_set(err, ERR_MEMORY, "out of memory for a gate");
}

/* The baseline of workload i, where there is one. */
static bool load_baseline(struct gate_work *g, struct db **db, int i, struct err *err)
{
	struct gate_pair *pair = &g->pairs[i];
	const char *file = baseline_file(g, g->keys[i]);
	const char *store = g->f->db ? g->f->db : "breakeven.db";
	struct stat st;
	bool ok = true;

	if (g->baseline)
		ok = baseline_of_results(g, i, err);
	else if (file && stat(file, &st) == 0)
		ok = report_file_add(&g->then[i], file, g->keys[i], err) ||
		     is_not_there(pair, g, err);
	else if (file)
		pair->why = arena_printf(&g->arena, "there is no %s", file);
	else if (stat(store, &st) != 0)
		pair->why = arena_printf(&g->arena, "%s is no file, and there is no store %s",
					 g->f->baseline, store);
	else {
		*db = *db ? *db : db_open_reading(store, err);
		ok = *db && baseline_of_store(g, *db, i, err);
		if (ok && !g->then[i].n)
			pair->why = arena_printf(&g->arena,
						 "no run of %s in %s has branch or tag %s",
						 pair->name, store, g->f->baseline);
	}
	pair->a = ok && g->then[i].n ? &g->then[i].at[0] : NULL;
	return ok;
}

static bool load_now(struct gate_work *g, int i, const char *folder, struct err *err)
{
	const char *name = g->keys[i] = stem(g, g->files[i]);
	const char *out = arena_printf(&g->arena, "%s/%s.json", folder, name);
	struct gate_pair *pair = &g->pairs[i];

	*pair = (struct gate_pair){ .name = name, .file = g->files[i] };
	if (g->measured[i]) {
		pair->name = name_of(g->measured[i]);
		if (!add_measured(&g->now[i], g->measured[i], err))
			return false;
		pair->b = &g->now[i].at[0];
		return true;
	}
	if (isatty(STDERR_FILENO))
		fprintf(stderr, "running %s\n", g->files[i]);
	if (!run_one(g, g->files[i], out)) {
		if (*g->stop)
			return err_set(err, ERR_CANCELLED, "interrupted: nothing is judged");
		pair->why = "it did not run: its message is above";
		return true;
	}
	if (!report_file_add(&g->now[i], out, NULL, err))
		return false;
	pair->b = &g->now[i].at[0];
	pair->name = json_string_value(json_object_get(g->now[i].at[0].head, "name"));
	return true;
}

static bool folder_for(struct gate_work *g, const char **out, struct err *err)
{
	if (g->f->save) {
		*out = g->f->save;
		return mkdir(g->f->save, 0777) == 0 || errno == EEXIST ||
		       err_set(err, ERR_IO, "%.300s cannot be made: %s", g->f->save,
			       strerror(errno));
	}
	*out = g->scratch.path;
	return scratch_create(&g->scratch, "reports", err);
}

static bool run_all(struct gate_work *g, struct err *err)
{
	const char *folder = NULL;
	struct db *db = NULL;
	bool ok = list_workloads(g, err) && read_baseline(g, err) && folder_for(g, &folder, err);

	for (int i = 0; ok && i < g->n; i++)
		ok = load_now(g, i, folder, err) &&
		     (!g->pairs[i].b || load_baseline(g, &db, i, err));
	db_close(db);
	return ok;
}

/* ---- on a server ---- */

static json_t *request_for(struct gate_work *g, struct err *err)
{
	json_t *list = json_array(), *asked;

	for (int i = 0; i < g->n; i++) {
		struct workload_file file = { .file = g->files[i] };
		json_t *one = workload_file_load(&file, err);

		json_decref(file.listed);
		if (!one) {
			json_decref(list);
			return NULL;
		}
		if (g->f->commit)
			json_object_set_new(one, "commit", json_string(g->f->commit));
		if (g->f->branch)
			json_object_set_new(one, "branch", json_string(g->f->branch));
		json_array_append_new(list, one);
	}
	asked = json_pack("{s:o, s:s}", "workloads", list, "baseline", g->f->baseline);
	if (asked && g->f->options.margin > 0)
		json_object_set_new(asked, "margin", json_real(100 * g->f->options.margin));
	if (asked && g->f->fail_on)
		json_object_set_new(asked, "fails_on", json_string(g->f->fail_on));
	return asked;
}

/* Asks until all runs have ended. */
static json_t *ask_server(struct gate_work *g, struct err *err)
{
	json_t *asked = list_workloads(g, err) ? request_for(g, err) : NULL, *answer = NULL;
	char *text = asked ? json_dumps(asked, JSON_COMPACT) : NULL;
	struct post *post = text ? post_open(g->f->server, err) : NULL;

	while (post &&
	       post_send(post, "/gate",
			 (struct post_body){
			     .type = "application/json", .bytes = text, .len = strlen(text) },
			 &answer, err) &&
	       json_object_get(answer, "status")) {
		json_decref(answer);
		answer = NULL;
		sleep(WAIT_S);
		if (*g->stop) {
			err_set(err, ERR_CANCELLED,
				"interrupted: nothing is judged; its runs go on at %.200s",
				g->f->server);
			break;
		}
	}
	post_close(post);
	free(text);
	json_decref(asked);
	return answer;
}

/* ---- what comes of it ---- */

static bool write_file(const struct report_gate *gate, const char *form, const char *path,
		       struct err *err)
{
	struct buf out = { 0 };
	FILE *file = NULL;
	bool ok;

	if (!path)
		return true;
	ok = gate_write(gate, form, &out, err) &&
	     ((file = fopen(path, "w")) ||
	      err_set(err, ERR_IO, "%.300s cannot be written: %s", path, strerror(errno)));
	ok = ok && fwrite(out.data, 1, out.len, file) == out.len;
	if (file && fclose(file) != 0)
		ok = false;
	buf_finish(&out);
	return ok || (err->code == ERR_NONE ? err_set(err, ERR_IO, "%.300s cannot be written: %s",
						      path, strerror(errno))
					    : false);
}

/* What was measured, as a baseline; a workload that did not run has none. */
static bool save_baseline(const struct gate_work *g, const char *path, struct err *err)
{
	json_t *all = path ? baseline_new() : NULL;
	char *text = NULL;
	FILE *file = NULL;
	bool ok = !path || all || err_set(err, ERR_MEMORY, "out of memory for a baseline");

	for (int i = 0; path && ok && i < g->n; i++)
		ok = !g->now[i].n || baseline_put(all, g->keys[i], g->now[i].at[0].report, err);
	if (path && ok) {
		text = baseline_text(all);
		file = text ? fopen(path, "w") : NULL;
		ok = file && fputs(text, file) >= 0;
		if ((file && fclose(file) != 0) || !ok)
			ok = err_set(err, ERR_IO, "%.300s cannot be written: %s", path,
				     strerror(errno));
	}
	free(text);
	json_decref(all);
	return ok;
}

static bool print(const struct gate_flags *f, const struct report_gate *gate, struct err *err)
{
	struct buf out = { 0 };
	bool ok = gate_write(gate, f->json ? "json" : "text", &out, err) &&
		  (!f->github || gate_write(gate, "github", &out, err));

	if (ok && (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0))
		ok = err_set(err, ERR_IO, "the result could not be written: %s", strerror(errno));
	buf_finish(&out);
	return ok && write_file(gate, "markdown", f->markdown, err) &&
	       write_file(gate, "junit", f->junit, err) && write_file(gate, "sarif", f->sarif, err);
}

static const struct report_gate *judge(struct gate_work *g, struct report_draft *draft,
				       struct err *err)
{
	json_t *answer;

	if (!g->f->server)
		return run_all(g, err) && save_baseline(g, g->f->save_baseline, err)
			   ? gate_judge(g->pairs, g->n, &g->f->options, draft, err)
			   : NULL;
	answer = report_draft_value(draft, ask_server(g, err));
	return answer ? report_read_gate(answer, &draft->arena, err) : NULL;
}

int cmd_gate(int argc, char **argv, const struct registry *registry)
{
	struct gate_flags f = { .n = 0 };
	struct report_draft draft = { 0 };
	struct gate_work *g = calloc(1, sizeof(*g));
	const struct report_gate *gate = NULL;
	struct err err = { 0 };
	int status = g ? read_flags(argc, argv, &f) : EXIT_FAILED;

	(void)registry;
	if (g && status < 0) {
		g->f = &f;
		g->stop = interrupt_watch();
		gate = judge(g, &draft, &err);
		status = err.code == ERR_CANCELLED ? EXIT_INTERRUPTED
			 : !gate                   ? EXIT_GATE_NOT_ENOUGH
			 : print(&f, gate, &err)   ? (int)gate->exit
						   : EXIT_FAILED;
		if (err.code != ERR_NONE)
			fprintf(stderr, "breakeven gate: %s\n", err.message);
	}
	report_draft_finish(&draft);
	for (int i = 0; g && i < MOST; i++) {
		loaded_finish(&g->now[i]);
		loaded_finish(&g->then[i]);
		json_decref(g->measured[i]);
		free(g->files[i]);
	}
	if (g) {
		json_decref(g->baseline);
		scratch_destroy(&g->scratch);
		arena_finish(&g->arena);
	}
	free(g);
	return status;
}
