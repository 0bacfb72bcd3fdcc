/* server/cli/cmd_runs.c -- `breakeven runs`: the runs of a store, by a filter or a saved view. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "db/archive.h"
#include "profiler/numbers/numbers.h"
#include "server/api/api.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/text/text.h"

enum { ROWS = 20, ROWS_MOST = 1000, WHEN_BYTES = 32 };

/* Parameters of GET /runs, each a flag of its name but for the search, which is a word. */
enum { TAG, DEVICE, STATUS, VERDICT, BRANCH, COMMIT, SORT, N_PARAMS };
static const char *const param_names[N_PARAMS] = { "tag",    "device", "status", "verdict",
						   "branch", "commit", "sort" };

struct runs_flags {
	const char *view, *project, *limit, *db, *words[1], *params[N_PARAMS];
	bool json;
};

static const char *param(void *self, const char *name)
{
	const struct runs_flags *f = self;

	if (strcmp(name, "q") == 0)
		return f->words[0];
	if (strcmp(name, "project") == 0)
		return f->project;
	for (int i = 0; i < N_PARAMS; i++)
		if (strcmp(name, param_names[i]) == 0)
			return f->params[i];
	return NULL;
}

/* What the view of --view says; new.  NULL with NOT_FOUND, CONFLICT or STORAGE. */
static json_t *read_view(struct db *db, const struct runs_flags *f, struct arena *arena,
			 struct err *err)
{
	struct view_query query = {
		.project = f->project, .common = true, .page = "runs", .name = f->view
	};
	struct saved_view *found;
	json_t *json = NULL;
	int n;

	if (!db_view_list(db, &query, arena, &found, &n, err))
		return NULL;
	if (n == 0)
		err_set(err, ERR_NOT_FOUND, "there is no view '%.80s' of runs", f->view);
	else if (n > 1)
		err_set(err, ERR_CONFLICT,
			"%d projects have a view '%.80s'; --project says which is meant", n,
			f->view);
	else if (!(json = json_loads(found->query, 0, NULL)))
		err_set(err, ERR_MEMORY, "out of memory for a view");
	return json;
}

static void print_row(const struct run_row *run)
{
	time_t at = (time_t)(run->created_ns / 1000000000);
	char when[WHEN_BYTES] = "", speedup[NUMBER_BYTES + 2] = "";
	const struct run_summary *s = &run->summary;
	struct tm utc;

	if (gmtime_r(&at, &utc))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M", &utc);
	if (s->mode) {
		number_short(speedup, s->speedup);
		strcat(speedup, "x");
	}
	printf("#%-6lld %s  %*s  %-12s %-9s %-8s %s\n", (long long)run->id, when,
	       text_width(-32, run->name), run->name,
	       s->mode ? s->verdict : run_status_name(run->status), speedup, s->mode ? s->mode : "",
	       run->project);
}

static int print(struct app *app, const struct runs_flags *f, const struct run_page *page)
{
	json_t *list;

	if (!f->json) {
		for (int i = 0; i < page->n; i++)
			print_row(&page->runs[i]);
		printf("%s%d of %lld run%s\n", page->n ? "\n" : "", page->n, (long long)page->total,
		       page->total == 1 ? "" : "s");
		return EXIT_DONE;
	}
	list = json_array();
	for (int i = 0; i < page->n; i++)
		json_array_append_new(list, run_list_json(app, &page->runs[i]));
	return json_flag_print(
	    "runs", json_pack("{s:o, s:I}", "runs", list, "total", (json_int_t)page->total));
}

static int answer(struct runs_flags *f, int limit, struct err *err)
{
	struct app app = { .db = db_open_reading(f->db, err) };
	struct run_params params = { .get = param, .self = f };
	struct arena arena = { 0 };
	struct run_query query;
	struct run_page page;
	json_t *view = NULL;
	int status = EXIT_FAILED;
	bool ok = app.db != NULL;

	if (ok && f->view)
		ok = (view = read_view(app.db, f, &arena, err)) != NULL;
	params.view = view;
	if (ok && run_filter_read(&params, &query, err)) {
		query.limit = limit;
		if (db_run_list(app.db, &query, &arena, &page, err))
			status = print(&app, f, &page);
	}
	if (err->code == ERR_BAD_REQUEST)
		status = EXIT_USAGE;
	json_decref(view);
	arena_finish(&arena);
	db_close(app.db);
	return status;
}

int cmd_runs(int argc, char **argv, const struct registry *registry)
{
	struct runs_flags f = { .db = "breakeven.db" };
	const struct flag table[] = {
		{ "--view", .value = &f.view },
		{ "--project", .value = &f.project },
		{ "--tag", .value = &f.params[TAG] },
		{ "--device", .value = &f.params[DEVICE] },
		{ "--status", .value = &f.params[STATUS] },
		{ "--verdict", .value = &f.params[VERDICT] },
		{ "--branch", .value = &f.params[BRANCH] },
		{ "--commit", .value = &f.params[COMMIT] },
		{ "--sort", .value = &f.params[SORT] },
		{ "--limit", .value = &f.limit },
		{ "--json", .on = &f.json },
		{ "--db", .value = &f.db },
	};
	struct flags flags = { .command = "runs",
			       .table = table,
			       .n = sizeof(table) / sizeof(table[0]),
			       .words = { .at = f.words,
					  .most = 1,
					  .over = "one search at a time, in quotes, not also " } };
	int status = flags_read(&flags, argc, argv);
	struct err err = { 0 };
	long long limit = ROWS;

	(void)registry;
	if (status >= 0)
		return status;
	if (!flags_integer("runs", "--limit", f.limit, 1, ROWS_MOST, &limit))
		return EXIT_USAGE;
	status = answer(&f, (int)limit, &err);
	if (err.code != ERR_NONE)
		fprintf(stderr, "breakeven runs: %s\n", err.message);
	return status;
}
