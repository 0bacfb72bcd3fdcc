/* server/api/api.h -- what the rest of the server sees of the API: its routes, and what commands
 * share with them. */
#ifndef SERVER_API_API_H
#define SERVER_API_API_H

#include "db/db.h"
#include "profiler/compare/compare.h"
#include "profiler/compare/figures.h"
#include "profiler/export/export.h"
#include "server/http/route.h"

/* The table of routes.def. */
extern const struct route_table routes;

/* events_describe_fn: the run's state as a server-sent event; `self` is the struct app. */
size_t run_event(void *self, int64_t id, char *out, size_t size, bool *last);

/* hook_describe_fn of server/queue/queue.h; `self` is the struct app. */
struct hook_news;
json_t *hook_body(void *self, const struct hook_news *news, struct err *err);

/* Rows as the API answers them; new. */
json_t *hook_json(const struct hook_row *hook);
json_t *delivery_json(const struct delivery_row *delivery);
json_t *audit_json(const struct audit_row *row);

/* The workload that a first start runs, of web/examples/; new. */
json_t *examples_first(struct err *err);

/* ---- api_export.c: runs that are being written for others.  Thread-safe. ---- */

enum { EXPORTS_MOST = 4 }; /* at once */

struct export_row {
	int64_t id, run;
	int64_t started_ns; /* since 1970 */
	const char *format; /* a name of profiler/export/formats.def */
	char author[72];    /* who asked for it, as a caller's name; "": nobody has a name */
	int64_t bytes;      /* written so far */
	double share;       /* of the timeline that it has read, 0..1 */
	bool cancelled;
};

struct exports *exports_create(void); /* NULL when out of memory */
void exports_destroy(struct exports *e);

/* Those of the run that are under way (0: of all), the oldest first; returns how many. */
int exports_list(struct exports *e, int64_t run, struct export_row rows[EXPORTS_MOST]);

/* ---- run_filter.c: which runs a list has, by its parameters ---- */

struct run_params {
	/* The text of a parameter of GET /runs; NULL: it is not given. */
	const char *(*get)(void *self, const char *name);
	void *self;
	const json_t *view; /* what a saved view says of those that are not given; NULL: nothing */
};

/* All but what goes through the list: limit, offset, cursor, fold, open.  Texts are borrowed.
 * BAD_REQUEST naming the parameter. */
bool run_filter_read(const struct run_params *p, struct run_query *filter, struct err *err);

/* ---- api_runs.c ---- */

/* A row of the list; with the live state where a worker has it in hand. */
json_t *run_list_json(struct app *app, const struct run_row *run);

/* ---- api_history.c: one figure over the runs of a workload ---- */

struct history_asked {
	struct history_query query; /* name NULL: which workloads there are; mode NULL: static, or
				     * the first that has the figure */
	enum figure_metric metric;  /* METRIC_COUNT: speedup, or the first that there is */
	bool reads_only; /* the store is another's: figures that it has not are left for a server */
};

/* The answer of GET /history, in the draft; NULL with MEMORY or STORAGE. */
struct report_history *history_answer(struct app *app, const struct history_asked *asked,
				      struct report_draft *draft, struct err *err);

/* ---- api_since.c: what the last hours brought ---- */

enum { SINCE_HOURS_MOST = 24 * 365 };

/* The answer of GET /since; new.  `project` NULL or "": of all.  NULL with MEMORY or STORAGE. */
json_t *since_answer(struct app *app, const char *project, int64_t hours, struct err *err);

/* ---- api_compare.c: runs that are compared ---- */

struct loaded_runs {
	struct compared_run at[COMPARE_MAX_RUNS];
	int n;
	struct arena arena; /* has the repeats */
};

/* A run that has ended well, with what the store has of its repeats.  CONFLICT where it has not,
 * NOT_FOUND, STORAGE. */
bool loaded_add_run(struct loaded_runs *l, struct db *db, int64_t id, struct err *err);

/* One more; takes over both.  BAD_REQUEST where there are too many, MEMORY. */
bool loaded_add(struct loaded_runs *l, json_t *head, json_t *report, struct err *err);
void loaded_finish(struct loaded_runs *l);

/* ---- api_export.c: a run of the store as an export wants it ---- */

struct stored_run {
	struct export_run run;
	json_t *workload, *report, *environment;
	struct db *db;
};

/* Texts live in the arena.  False with NOT_FOUND or STORAGE; finish it in any case. */
bool stored_run_load(struct stored_run *s, struct db *db, int64_t id, struct arena *arena,
		     struct err *err);
void stored_run_finish(struct stored_run *s);

/* A sink for export_write(): `self` is an int*, a file descriptor. */
bool export_to_file(void *self, const void *bytes, size_t len, struct err *err);

#endif
