/* db/db.h -- the store: one SQLite file in WAL mode, or a database of PostgreSQL.
 *
 *	struct db *db = db_open("breakeven.db", &err);
 *	db_run_insert(db, &row, &id, &err);
 *	...
 *	db_close(db);
 *
 * Every function may be called from any thread: writes take turns on one
 * connection, reads use a few others.  Texts in results live in the caller's
 * arena.  Errors: STORAGE with the engine's own words, NOT_FOUND, CONFLICT.
 */
#ifndef DB_DB_H
#define DB_DB_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/arena.h"
#include "fusion/base/buf.h"
#include "fusion/base/err.h"

struct db;

/* Creates the file where there is none, brings an older schema up to date (after a copy of it, as
 * `PATH.before-N`, N the newer version: see db_backup()), and holds FILE.lock so that no second
 * server takes up the same jobs.  NULL with STORAGE: unwritable folder, locked, not a database, or
 * of a newer version. */
struct db *db_open(const char *path, struct err *err);
void db_close(struct db *db); /* NULL is fine */

/* Whether a path names a database that several servers may have: postgresql://... */
bool db_path_is_shared(const char *path);

/* To write small things, beside a server that has it or without one.  As db_open(), but for the
 * lock: where a server has it, the schema must be this version's. */
struct db *db_open_beside(const char *path, struct err *err);

/* To read alone, beside a server that has it or where nothing may be written: what writes must not
 * be called.  NULL with STORAGE where there is no such file, or it is of another version. */
struct db *db_open_reading(const char *path, struct err *err);

/* Another number than before where anything was written meanwhile; of what another process writes
 * it tells within a millisecond.  What was read after it is at least as new. */
uint64_t db_version(struct db *db);

/* From here on all that this thread writes is one transaction: others who write wait for it from
 * the first of it on, and nobody else sees any of it before db_join_end().  What fails within it
 * takes back what it wrote itself, no more.  db_join_end() stores it; with `ok` false, or where it
 * fails, all of it is as it was.  It does nothing where the thread has not joined. */
void db_join(struct db *db);
bool db_join_end(struct db *db, bool ok, struct err *err);

enum run_status { RUN_QUEUED, RUN_RUNNING, RUN_DONE, RUN_FAILED, RUN_CANCELLED, RUN_STATUS_COUNT };
const char *run_status_name(enum run_status status);
bool run_status_from_name(const char *name, enum run_status *out);

/* The verdict of a run with a mode whose values are not eager's; such a one has no speedup. */
#define RUN_DISAGREES "DISAGREES"

struct run_summary {
	const char *mode, *verdict; /* mode NULL: there is no summary */
	double speedup, speedup_lo, speedup_hi;
	double median_us, median_lo, median_hi; /* its interval NaN: a run of before it was kept */
	double calls_to_repay;                  /* infinite: never */
	double crossover_n;                     /* NaN: none */
	double at_n;                            /* NaN: no sweep */
	int breaks; /* of both stages, each once, in the mode and at the point that has most;
		     * -1: a run of before they were kept */
};

enum { RUN_RECENT = 12, RUN_FOUND = 3 };

/* Where a search found something, outside of a run's names. */
struct run_found {
	const char *in;   /* "note", "source", "reason" */
	const char *text; /* what is around it; what was looked for is between '\2' and '\3' */
};

struct run_row {
	int64_t id;
	const char *name, *project, *device, *workload, *modes, *commit, *branch;
	const char *host; /* the machine that runs it, by its name; "": the server's */
	const char *tags; /* joined by '\n'; "" for none */
	enum run_status status;
	bool trace; /* posted by another process while it records: no job */
	int attempts;
	int64_t created_ns, started_ns, finished_ns; /* 0: not yet */
	struct err error;                            /* code ERR_NONE: none */
	struct run_summary summary;
	int points_kept, points_of;   /* of a run that is not done: points of its sweep that its
				       * report has, and that it would have; 0: nothing is kept */
	const char *note;             /* "" for none */
	const char *author, *note_by; /* names of tokens or users; "" where nobody is known */
	bool baseline, pinned;
	const char *imported; /* JSON: which run it was, of which file; "": it ran here */
	const char *source_hash, *settings_hash; /* see db_figures_put(); "" before that */
	const char *about;  /* JSON of a recording or an import: what it is; "": it is none */
	int64_t suite;      /* that it is part of; 0: none */
	int64_t change;     /* of its workload's history, that begins with it; 0: none */
	int64_t stands_for; /* of a folded list: so many runs of its suite, of which it is the
			     * newest; 0: for itself */
	/* Of db_run_list() alone: the speedups of this run and those before it of its name,
	 * project, device and mode, newest first. */
	double recent[RUN_RECENT];
	int n_recent;
	struct run_found found[RUN_FOUND]; /* likewise, with `text` of its query */
	int n_found;
};

/* Queues a run; a trace is running at once.  Reads name, project, device, workload,
 * modes, commit, branch, host, trace and tags of *run; NULL texts are stored as ''. */
bool db_run_insert(struct db *db, const struct run_row *run, int64_t *id, struct err *err);

bool db_run_get(struct db *db, int64_t id, struct arena *arena, struct run_row *out,
		struct err *err);

/* What people say of a run; what is NULL or not set stays as it is. */
struct run_notes {
	const char *name;        /* the baseline of another name stays that: it is none any more */
	const char *project;     /* likewise */
	const char *note, *tags; /* tags are joined by '\n' */
	const char *by;          /* who says so; NULL: nobody is known */
	bool sets_baseline, baseline;
	bool sets_pinned, pinned;
};

/* A baseline takes the mark from the others of its name and project. */
bool db_run_annotate(struct db *db, int64_t id, const struct run_notes *notes, struct err *err);

enum run_sort {
	RUN_SORT_AGE,
	RUN_SORT_NAME,
	RUN_SORT_VERDICT,
	RUN_SORT_SPEEDUP,
	RUN_SORT_MEDIAN,
	RUN_SORT_REPAID, /* never: last of those that were measured */
	RUN_SORT_BREAKS,
	RUN_SORT_DEVICE,
	RUN_SORT_STATUS,
	RUN_SORT_COUNT
};
bool run_sort_from_name(const char *name, enum run_sort *out); /* "age", "name", ... */

/* What a number has to be; a run that has none is left out where it is asked for. */
struct run_range {
	bool asked;
	double least, most; /* finite */
};

struct run_query {
	const char *project, *tag, *device; /* NULL: any */
	const char *text;                   /* a search (db/list.c says what it may be) in names,
					     * notes, sources and reasons of breaks; NULL: any */
	const char *verdict;                /* a name of run_verdict_is(); NULL: any */
	const char *name, *branch;          /* NULL: any */
	const char *commit;                 /* its begin; NULL: any */
	bool pinned, baseline;              /* those alone */
	struct run_range speedup, breaks, median_us; /* of its summary */
	int status;                                  /* enum run_status; -1: any */
	enum run_sort sort;                          /* 0: by age; what has no value comes last */
	bool up;                                     /* the smallest (the oldest) first */
	int64_t before_id; /* 0: from the newest; by age, newest first, alone */
	int64_t offset;    /* so many of the order are passed over */
	bool fold;         /* by age, newest first, alone: the runs of a suite are one row */
	const char
	    *open; /* with `fold`: a JSON list of suites whose runs follow their row; NULL: none */
	int limit;
};

struct run_page {
	struct run_row *runs; /* without `workload` */
	int n;
	int64_t next;  /* before_id of the next page, 0 at the end and in any order but newest
			* first */
	int64_t total; /* all that match; folded, rows */
	int64_t total_runs;
};
/* Also BAD_REQUEST: what is wrong in the text of a search. */
bool db_run_list(struct db *db, const struct run_query *query, struct arena *arena,
		 struct run_page *out, struct err *err);

/* The reasons of a report's breaks, a line each: malloc'd; NULL: it is none, or no memory. */
typedef char *run_reasons_fn(const char *report, size_t len);

/* Has some of the runs of an earlier version found by a search; *more: there are more.  *look is
 * zeroed at first, and says how far it is. */
struct search_look {
	bool names_done;
	int64_t after;
};
bool db_search_catch_up(struct db *db, struct search_look *look, run_reasons_fn *reasons,
			bool *more, struct err *err);

/* A run whose verdict is another than that of the run before it: of its name, project, device and
 * mode. */
struct run_change {
	struct run_row run; /* without `workload` */
	int64_t before;
	const char *was; /* its verdict */
};
struct changes_query {
	const char *project; /* NULL or "": any */
	int64_t since_ns;    /* when they were posted */
	int limit;
};
struct run_changes {
	struct run_change *at; /* newest first */
	int n;
	int64_t total;                    /* of such runs */
	int64_t counts[RUN_STATUS_COUNT]; /* of all runs since then */
};
bool db_run_changes(struct db *db, const struct changes_query *query, struct arena *arena,
		    struct run_changes *out, struct err *err);

/* Whether runs can be filtered by it: "faster", "slower", "same", "ambiguous" or
 * "not-enough" of the mode they are judged by, or "broken": failed, or part of a suite with a
 * mode that failed or disagrees with eager. */
bool run_verdict_is(const char *name);

/* What runs can be filtered by, with how many there are of each, most first. */
struct run_facet {
	const char *kind, *value; /* "project", "tag", "device", "status", "verdict" */
	int64_t runs;
};
enum { RUN_MAX_FACETS = 400 };
bool db_run_facets(struct db *db, const char *project, struct arena *arena, struct run_facet **out,
		   int *n, struct err *err); /* project NULL or "": of all */

/* Takes the oldest queued run of this machine (of `suite` alone, where that is not 0) and marks it
 * running; *found is false when the queue has none. */
bool db_run_claim(struct db *db, int64_t suite, struct arena *arena, struct run_row *out,
		  bool *found, struct err *err);

/* A block of a run's timeline (profiler/timeline/timeline.h); times are of its own clock. */
struct timeline_row {
	int64_t kind, events, t0_ns, t1_ns;
	const void *data;
	size_t len;
};

/* One mode of a run, as a suite shows it; numbers that were not measured are NaN, counts
 * -1. */
struct run_result {
	int64_t run;
	const char *engine, *mode, *status, *reason; /* reason NULL: none */
	double speedup, speedup_lo, speedup_hi;
	double median_us, compile_ms, launches, peak_bytes, max_abs_error;
	int64_t graphs, capture_breaks, lowering_breaks, recompiles;
};

/* A figure of a run: see profiler/compare/figures.def.  n, lo and hi are NaN where there are
 * none. */
struct run_figure {
	const char *metric, *mode;
	double n, value, lo, hi;
	int64_t samples;
};

/* The figures of a run, with the hashes of its source and of the settings that decide
 * comparability. */
struct run_figures {
	const char *source_hash, *settings_hash;
	const struct run_figure *at;
	size_t n;
};

/* What a run leaves; texts and arrays are borrowed. */
struct run_outcome {
	const char *report; /* JSON text */
	size_t report_len;
	const char *environment; /* JSON text */
	const char *findings;    /* JSON text; NULL: not made yet */
	const char *reasons;     /* of its breaks, a line each, which it is found by; NULL: not
				  * known yet, see db_search_catch_up() */
	const char *version;     /* of the program that made them */
	struct run_summary summary;
	struct run_figures figures;       /* source_hash NULL: they are not stored yet */
	const struct run_result *results; /* kept where the run is part of a suite */
	size_t n_results;
	const struct timeline_row *blocks; /* in order */
	size_t n_blocks;
	int points_kept, points_of; /* of a run that is not done alone: see struct run_row */
	const char
	    *about; /* of db_trace_become() and db_runs_measured(), likewise; NULL: nothing */
};

/* Ends a running run with all of its outcome, in one transaction: it is stored whole, or the
 * run is as it was.  CONFLICT when it is not running any more. */
bool db_run_finish(struct db *db, int64_t id, const struct run_outcome *outcome, struct err *err);

/* The same for a trace that turns out to be a run that came from a file: it becomes the run
 * of `as` (name, project, device, workload, modes, commit, branch, tags, trace, imported).  Of
 * the outcome the report, the environment, the findings and the summary are read; the trace keeps
 * its blocks. */
bool db_trace_become(struct db *db, int64_t id, const struct run_row *as,
		     const struct run_outcome *outcome, struct err *err);

/* And for one that was failed or cancelled; of what it had measured until then the same is kept as
 * by db_run_end(). */
struct run_ended {
	enum run_status status;
	const struct err *why;          /* may be of no code */
	const struct run_outcome *kept; /* NULL: nothing */
};
bool db_trace_become_ended(struct db *db, int64_t id, const struct run_row *as,
			   const struct run_ended *end, struct err *err);

/* Ends a queued or running run as failed or cancelled; `why` may be NULL.  Of what it measured
 * until then the report, the environment and the findings are kept; `kept` NULL: nothing is. */
bool db_run_end(struct db *db, int64_t id, enum run_status status, const struct err *why,
		const struct run_outcome *kept, struct err *err);

/* Puts a running run back into the queue (the server stops, not the run). */
bool db_run_requeue(struct db *db, int64_t id, struct err *err);

/* After a start: runs that were under way here when the last server went are queued
 * again, or failed where that was their third attempt.  *n counts them.  Of a shared store those of
 * servers that are there no more: also later. */
bool db_run_recover(struct db *db, int *n, struct err *err);

/* Takes an ended run out of all that is read.  db_run_restore() has it back, until
 * db_run_purge() removes it with all that belongs to it.  CONFLICT while it is queued or running,
 * and of what was removed with its suite: that is restored. */
bool db_run_delete(struct db *db, int64_t id, struct err *err);

/* A run that was taken out and is not purged, as db_run_get(); NOT_FOUND: there is none such. */
bool db_run_removed(struct db *db, int64_t id, struct arena *arena, struct run_row *out,
		    struct err *err);
bool db_run_restore(struct db *db, int64_t id, struct err *err);

/* Removes those that were taken out before then, and suites of which no run is left; *more: there
 * are some left. */
bool db_run_purge(struct db *db, int64_t before_ns, bool *more, struct err *err);

/* The report's JSON text and the environment's. */
bool db_report_get(struct db *db, int64_t id, struct buf *report, struct buf *environment,
		   struct err *err);

/* What a run's figures say, JSON text, where a program of this version made it; *found is false
 * where none did.  *out is replaced. */
bool db_findings_get(struct db *db, int64_t run, const char *version, struct buf *out, bool *found,
		     struct err *err);

/* Keeps it, in place of what the run has; of a run that is gone nothing. */
bool db_findings_put(struct db *db, int64_t run, const char *version, const char *findings,
		     struct err *err);

/* Blocks for a trace that is running. */
struct trace_post {
	int64_t at; /* the first is block `at` of the run */
	const struct timeline_row *blocks;
	size_t n;
	size_t most_bytes; /* that the run keeps in all */
	int64_t most_events;
};

/* Adds them.  Those that the run has are not stored again, so that a post whose answer was lost
 * can be repeated.  CONFLICT when it is no such run or blocks are missing, TOO_LARGE past the
 * bound; then none is added. */
bool db_trace_append(struct db *db, int64_t run, const struct trace_post *post, struct err *err);

/* Traces whose recorder has been silent for so long have failed. */
bool db_trace_expire(struct db *db, int64_t silent_ns, struct err *err);

/* Which blocks: those of a kind that reach into [t0_ns, t1_ns]. */
struct block_range {
	int64_t kind, t0_ns, t1_ns;
};
#define BLOCKS_ALL(of)                                                                             \
	(struct block_range)                                                                       \
	{                                                                                          \
		(of), INT64_MIN, INT64_MAX                                                         \
	}

/* In order; `row` and its data live for the length of the call.  Ends at the first that `each`
 * refuses. */
typedef bool timeline_row_fn(void *self, const struct timeline_row *row, struct err *err);
bool db_timeline_each(struct db *db, int64_t run, struct block_range range, timeline_row_fn *each,
		      void *self, struct err *err);

/* How many blocks of the kind the run has. */
bool db_timeline_count(struct db *db, int64_t run, int64_t kind, int64_t *n, struct err *err);

/* An answer about a timeline that does not change any more, kept under the name of its lanes;
 * one of another version is not found.  Goes with the blocks.  *out is replaced. */
struct answer_key {
	int64_t run;
	const char *lanes;
	int64_t version;
};
bool db_timeline_answer_put(struct db *db, const struct answer_key *key, const void *bytes,
			    size_t len, struct err *err);
bool db_timeline_answer_get(struct db *db, const struct answer_key *key, struct buf *out,
			    bool *found, struct err *err);

/* A run that is part of a suite. */
struct suite_member {
	struct run_row run;
	int64_t workload; /* its place in the suite */
	const char *policy;
	const char *likeness; /* equal where program, settings, engine and machine are; NULL, "": it
			       * is like none */
	bool kept;            /* the run was made for an earlier suite: nothing has changed since */
};

struct suite {
	int64_t id;
	const char *name, *project, *request, *workloads;
	int64_t created_ns;
	int64_t counts[RUN_STATUS_COUNT]; /* of its runs, without those that are kept */
	int64_t kept;                     /* runs of earlier suites that it has */
	bool again;                       /* none is to be kept; db_suite_insert() alone */
};

/* Queues the runs of a suite, all or none; a member whose run.error is set has failed at
 * once.  One that is like a run of an earlier suite of the project, done with all its modes passed
 * (of another machine: as the newest run that came from there says the machine is now), has that:
 * it is kept, and nothing is queued.  Reads name, project, request, workloads and again of *suite,
 * and of each member what db_run_insert() reads, workload, policy and likeness; sets the ids, kept
 * and the count of these. */
bool db_suite_insert(struct db *db, struct suite *suite, struct suite_member *members, size_t n,
		     struct err *err);

/* Stores runs that were measured elsewhere, each done with its outcome (without blocks), all or
 * none; outcomes[i] is that of members[i].  Of a suite, where one is given, as db_suite_insert();
 * NULL: each stands alone.  Sets the ids. */
bool db_runs_measured(struct db *db, struct suite *suite, struct suite_member *members,
		      const struct run_outcome *outcomes, size_t n, struct err *err);

bool db_suite_get(struct db *db, int64_t id, struct arena *arena, struct suite *out,
		  struct err *err);

struct suite_query {
	int64_t before_id; /* 0: from the newest */
	int limit;         /* >= 1 */
};
struct suite_page {
	struct suite *suites; /* newest first */
	int n;
	int64_t next;  /* before_id of the next page; 0 at the end */
	int64_t total; /* all that there are */
};
bool db_suite_list(struct db *db, const struct suite_query *query, struct arena *arena,
		   struct suite_page *out, struct err *err);

/* Its runs in the order of their ids, without `run.workload`, and what their modes gave.  One that
 * is kept may be there twice, for two workloads that are alike. */
struct suite_contents {
	struct suite_member *members;
	int n_members;
	struct run_result *results;
	int n_results;
};
bool db_suite_members(struct db *db, int64_t id, struct arena *arena, struct suite_contents *out,
		      struct err *err);

/* Queues those of its runs again that were cancelled, as if they had never begun; *n: how many.
 * CONFLICT where none was, or another machine still ends one. */
bool db_suite_resume(struct db *db, int64_t id, int64_t *n, struct err *err);

/* Takes a suite and those of its runs that are there out of all that is read; one that another
 * suite keeps becomes a run of that, and this one would keep it.  db_suite_restore() has both back,
 * until db_run_purge() removes them.  CONFLICT while one of them is queued or running. */
bool db_suite_delete(struct db *db, int64_t id, struct err *err);

/* `author`: FORBIDDEN where a run of it is another's; NULL: whosoever they are.  NOT_FOUND: no such
 * suite was removed, or it is gone for good. */
bool db_suite_restore(struct db *db, int64_t id, const char *author, struct err *err);

/* Stores these in place of those that the run has. */
bool db_figures_put(struct db *db, int64_t run, const struct run_figures *figures, struct err *err);

/* Runs of a workload that are done and whose figures are not stored: those that an older
 * version measured.  Newest first, at most `most`; returns how many, -1 with STORAGE. */
int db_figures_missing(struct db *db, const char *name, int64_t *runs, int most, struct err *err);

/* One figure over the runs of a workload. */
struct history_query {
	const char *name;
	const char *project, *source_hash, *settings_hash; /* beginnings of hashes; NULL: any */
	const char *metric, *mode;
	double n; /* NaN: of each run its last point */
	int limit;
};

struct history_point {
	struct run_row run;       /* without `workload` */
	struct run_figure figure; /* value NaN: it has none */
};

/* The newest `limit` runs that ended. */
struct history {
	struct history_point *points; /* oldest first */
	int n;
	int64_t total; /* all that match */
};
bool db_history(struct db *db, const struct history_query *query, struct arena *arena,
		struct history *out, struct err *err);

struct figure_list {
	struct run_figure *at;
	int n;
};

/* What the runs of a workload have figures of: each metric, mode and point once, in order;
 * values are NaN. */
bool db_figures_known(struct db *db, const char *name, struct arena *arena, struct figure_list *out,
		      struct err *err);

/* The newest run of a workload at a commit, or on a day where no commit is known. */
struct heat_cell {
	const char *name, *column; /* a commit, or a day: "2026-11-29" */
	int64_t run;
	struct run_summary summary;
};
enum { HEAT_COLUMNS = 30, HEAT_ROWS = 60 };
struct heat {
	struct heat_cell *at; /* by workload, the one that ran last first */
	int n;
	const char **columns; /* those that came last, oldest first: by commits where their parents
			       * are known, else as they came */
	int n_columns;
};
bool db_heat(struct db *db, const char *project, struct arena *arena, struct heat *out,
	     struct err *err); /* project NULL or "": of all */

/* Which run of a workload: the newest that is done of a branch, else of a tag, or the one that is
 * marked where `of` is "baseline"; one with these settings before others. */
struct newest_query {
	const char *name, *project, *of;
	const char *settings_hash; /* "" or NULL: whichever */
	int64_t but;               /* that run is not meant */
};
bool db_run_newest(struct db *db, const struct newest_query *query, struct arena *arena,
		   struct run_row *out, bool *found, struct err *err);

/* The newest run of exactly this workload (JSON text as it is stored) that waits, runs or is done.
 */
bool db_run_same(struct db *db, const char *workload, struct arena *arena, struct run_row *out,
		 bool *found, struct err *err);

/* Names of workloads that have runs, the one of the newest run first, with how many. */
struct workload_name {
	const char *name;
	int64_t runs;
};
bool db_workload_names(struct db *db, int limit, struct arena *arena, struct workload_name **names,
		       int *n, struct err *err);

/* latency and speedup of this run and of all that repeat it: the same name, source,
 * settings, commit and environment (of which the version is a part), the newest 20.  Values
 * of one figure follow each other. */
bool db_repeats(struct db *db, int64_t run, struct arena *arena, struct figure_list *out,
		struct err *err);

/* ---- changes (changes.c): where figures of a workload stepped to another level ---- */

/* A figure of a run that is done. */
struct scope_figure {
	int64_t run;
	int place; /* of the run in its history, from 0: by commits where they are known */
	const char *source_hash;
	struct run_figure figure;
};
enum { SCOPE_RUNS = 400 };

struct change_span {
	double low, mid, high;
};

struct change_step_row {
	const char *metric, *mode, *verdict;
	double n;                                  /* NaN: no sweep */
	int64_t from_run, before_run, run, to_run; /* the old level, the new one */
	int64_t earliest, latest;                  /* the new one begins between them, with 95 % */
	int64_t runs_before, runs_after, ended;
	struct change_span old, new, ratio; /* of counts `ratio` is the difference */
};

struct change_row {
	int64_t id;
	const char *name, *project, *branch, *settings_hash, *verdict;
	int64_t before, run, found_ns;
	bool gone; /* with the runs since then it is none any more */
	bool acknowledged;
	const char *note, *note_by; /* "" for none */
	int64_t said_ns;            /* 0: nobody said anything */
	struct change_step_row *steps;
	int n_steps;
};

struct change_list {
	struct change_row *at; /* newest run first */
	int n;
	int64_t total;
};

/* Finds the changes of runs that are held against each other (of one project, branch and settings).
 * Their figures come by metric, mode and point, and in each by place.  Of what it fills in
 * `run`, `before`, `verdict` and the steps are read. */
typedef bool change_find_fn(const struct scope_figure *figures, int n, struct arena *arena,
			    struct change_list *out, struct err *err);

/* Looks at those runs of a workload again that are others than when they were looked at last, the
 * newest SCOPE_RUNS of each project, branch and settings (fewer, at least 20, of long sweeps); of
 * at most `most` of these.  What people said stays with the change that is still there.  *more:
 * there is more to look at. */
bool db_changes_look(struct db *db, const char *name, int most, change_find_fn *find, bool *more,
		     struct err *err);

struct change_query {
	int64_t id;          /* 0: any */
	int64_t run;         /* 0: any; else those that begin with it, or may */
	const char *name;    /* NULL or "": of all workloads */
	const char *project; /* NULL or "": of all */
	int64_t since_ns;    /* found since then */
	bool open;           /* neither acknowledged nor gone */
	int limit;
};
bool db_changes_list(struct db *db, const struct change_query *query, struct arena *arena,
		     struct change_list *out, struct err *err);

struct change_said {
	bool sets_acknowledged, acknowledged;
	const char *note, *by; /* note NULL: as it is */
};
/* NOT_FOUND. */
bool db_change_say(struct db *db, int64_t id, const struct change_said *said, struct err *err);

/* ---- commits of users' projects (commits.c) ---- */

enum { COMMITS_SHOWN = 50, COMMIT_PARENTS = 16 };

struct known_commit {
	const char *id, *subject, *author;
	int64_t committed_ns;
	const char *parents[COMMIT_PARENTS]; /* not read */
	int n_parents;
};

/* Adds those that are not known, and numbers the generations of all: histories go by them.
 * *added: how many were added.  CONFLICT: the store is full. */
bool db_commits_put(struct db *db, const char *project, const struct known_commit *commits, int n,
		    int *added, struct err *err);

struct commits_between {
	struct known_commit *at; /* the newest first, at most COMMITS_SHOWN */
	int n, total;
	bool whole; /* false: others lie between that are not known */
};
struct commit_range {
	const char *project, *from, *to; /* ids */
};
/* The commits that `to` has and `from` has not. */
bool db_commits_between(struct db *db, const struct commit_range *range, struct arena *arena,
			struct commits_between *out, struct err *err);

/* ---- webhooks (hooks.c): who is told of changes and verdicts, and what was sent ---- */

enum { HOOKS_MOST = 50, HOOK_URL_BYTES = 2000, HOOK_SAID_BYTES = 200, HOOK_LOG_KEPT = 200 };

struct hook_row {
	int64_t id;
	const char *project, *url, *secret, *events, *author; /* project "": of all */
	int64_t created_ns;
	int64_t waiting;  /* of its deliveries */
	const char *last; /* state of its last delivery that was tried; "": none was */
	int64_t last_ns;  /* when; 0 */
};

/* CONFLICT where there are HOOKS_MOST.  Reads project, url, secret, events and author. */
bool db_hook_add(struct db *db, const struct hook_row *row, int64_t *id, struct err *err);
bool db_hook_remove(struct db *db, int64_t id, struct err *err); /* NOT_FOUND */

/* Oldest first; project NULL or "": of all, else that one's alone. */
bool db_hook_list(struct db *db, const char *project, struct arena *arena, struct hook_row **out,
		  int *n, struct err *err);

/* Whether there is one of that id, among those that db_hook_list gives; else NOT_FOUND. */
bool db_hook_find(struct db *db, const char *project, int64_t id, struct arena *arena,
		  struct err *err);

enum delivery_state { DELIVERY_WAITING, DELIVERY_DELIVERED, DELIVERY_FAILED };
const char *delivery_state_name(enum delivery_state state); /* "waiting", ... */

struct delivery_row {
	int64_t id, hook;
	const char *event, *body;
	int64_t subject; /* the change or the run; 0: none */
	enum delivery_state state;
	int64_t tries, created_ns, due_ns, tried_ns; /* 0: not yet */
	int64_t status;                              /* of the answer; 0: there was none */
	const char *said;                            /* why the last try failed; "" */
	const char *url, *secret; /* of its webhook; of db_delivery_due() alone */
};

struct delivery_list {
	struct delivery_row *at;
	int n;
};

/* For each hook of the project (of all, where the hook is for all) that wants the event; with
 * `hook` for that one alone, whatever it wants.  Reads hook, event, subject and body.  Of a hook
 * the newest HOOK_LOG_KEPT that do not wait are kept; where 500 wait, it has failed at once.  *id
 * is that of the last; 0: nobody is told. */
bool db_delivery_add(struct db *db, const char *project, const struct delivery_row *row,
		     int64_t *id, struct err *err);

/* The one that is due first, with its hook's address, where it is due by `now_ns`; else its id is
 * 0, and due_ns is when the next will be, 0 for never. */
bool db_delivery_due(struct db *db, int64_t now_ns, struct arena *arena, struct delivery_row *out,
		     struct err *err);

/* Stores a try: state, due_ns, status and said are read, and the id. */
bool db_delivery_tried(struct db *db, const struct delivery_row *row, struct err *err);

/* Of a hook, the newest first; without `body`. */
bool db_delivery_list(struct db *db, int64_t hook, int limit, struct arena *arena,
		      struct delivery_list *out, struct err *err);

/* A change that somebody wants to hear of and that was not told. */
struct alert_row {
	int64_t change, run; /* run: that it waits for; 0: it waits for none yet */
	int64_t newest;      /* with `run` 0: the newest run of the same that this server made;
			      * 0: there is none */
	const char *name, *project;
};
enum { ALERTS_AT_ONCE = 20 };

/* Those that are SLOWER, FASTER, MORE or LESS, neither gone nor acknowledged, found since a hook
 * was made that wants them; up to ALERTS_AT_ONCE, oldest first. */
bool db_alerts(struct db *db, struct arena *arena, struct alert_row **out, int *n, struct err *err);
bool db_alert_set(struct db *db, int64_t change, int64_t run, bool told, struct err *err);

/* A run that ended since the last that was looked at. */
struct ended_run {
	int64_t id, before; /* before: the run of the same that ended before it; 0 */
	const char *name, *project;
	const char *verdict, *was; /* of both; "" where one has none */
	int64_t finished_ns;
};

/* Up to ALERTS_AT_ONCE, oldest first; none where there are no hooks.  db_ended_mark(): up to then
 * they were. */
bool db_ended(struct db *db, struct arena *arena, struct ended_run **out, int *n, struct err *err);
bool db_ended_mark(struct db *db, int64_t finished_ns, struct err *err);

/* ---- who may ask (tokens.c) ---- */

/* Each may do what those before it may. */
enum token_scope { SCOPE_OPEN, SCOPE_READ, SCOPE_SUBMIT, SCOPE_ADMIN, SCOPE_COUNT };
const char *scope_name(enum token_scope scope); /* "open", "read", "submit", "admin" */
bool scope_from_name(const char *name, enum token_scope *out);

enum {
	SECRET_HASH_BYTES = 32, /* SHA-256 of a token, or of a session's cookie */
	TOKENS_MOST = 1000,
};

struct token_row {
	int64_t id;
	const char *name, *project; /* project "": all */
	enum token_scope scope;
	int64_t created_ns, expires_ns, revoked_ns; /* 0: never, not */
};

/* Reads name, project, scope and expires_ns.  CONFLICT where there is one of that name, or was,
 * or where there are TOKENS_MOST. */
bool db_token_add(struct db *db, const struct token_row *row, const uint8_t hash[SECRET_HASH_BYTES],
		  struct err *err);

/* It counts no more, nor do sessions that began with it.  NOT_FOUND. */
bool db_token_revoke(struct db *db, const char *name, struct err *err);

/* The token of a secret, if it counts now. */
struct token_secret {
	uint8_t hash[SECRET_HASH_BYTES];
	bool session; /* a session's: the token that it began with is meant */
};
bool db_token_find(struct db *db, const struct token_secret *secret, struct arena *arena,
		   struct token_row *out, bool *found, struct err *err);

/* All, also those that do not count any more, oldest first. */
bool db_token_list(struct db *db, struct arena *arena, struct token_row **out, int *n,
		   struct err *err);

/* Whether there is or was one: such a store has accounts, and is never open again. */
bool db_has_tokens(struct db *db, bool *has, struct err *err);

/* A browser signs in until then, and out.  A token has at most 100 sessions: the one that ends
 * first goes. */
bool db_session_add(struct db *db, const uint8_t hash[SECRET_HASH_BYTES], int64_t token,
		    int64_t expires_ns, struct err *err);
bool db_session_end(struct db *db, const uint8_t hash[SECRET_HASH_BYTES], struct err *err);

/* What was made, changed or removed.  The newest AUDIT_KEPT are kept. */
enum { AUDIT_KEPT = 100000 };
struct audit_row {
	int64_t id, at_ns, subject;        /* subject: a run or a suite; 0: none */
	const char *who, *address, *route; /* who "": the server has no accounts */
};
bool db_audit_add(struct db *db, const struct audit_row *row, struct err *err);
bool db_audit_list(struct db *db, int limit, struct arena *arena, struct audit_row **out, int *n,
		   struct err *err); /* newest first */

/* ---- posts that make nothing twice (keys.c) ---- */

struct request_key {
	const char *who, *key;
	const char *request; /* a hash of what is asked */
	int64_t status;      /* of the answer; 0: it is under way */
	const char *answer, *location;
};

/* Takes a key for a day; *added: it was not there.  Else the request, the status and the answer of
 * the first time are read into *k.  One that was under way when its server ended can be taken
 * again: what it is for was not stored (db_join()). */
bool db_key_take(struct db *db, struct request_key *k, struct arena *arena, bool *added,
		 struct err *err);

/* Keeps the answer; status 0: the key can be taken again. */
bool db_key_answer(struct db *db, const struct request_key *k, struct err *err);

/* Gives a part of the space of what was deleted back to the disk, a little is kept for what comes
 * next unless it is to give `all`; *more: there may be more to give.  It holds the writer's turn
 * for a moment.  Where it has given all it counts again how many runs there are of what. */
bool db_give_back(struct db *db, bool all, bool *more, struct err *err);

/* Runs of a status that few have: it reads each of them. */
bool db_run_count(struct db *db, enum run_status status, int64_t *n, struct err *err);

/* Runs by status; counts has RUN_STATUS_COUNT entries.  It reads a row of an index for each run. */
bool db_run_counts(struct db *db, int64_t *counts, struct err *err);

/* When the run that waits longest was queued, since 1970; 0: none waits. */
bool db_queue_since(struct db *db, int64_t *since_ns, struct err *err);

/* Runs that wait, of those that the audit log knows to have been posted one by one by `who`; where
 * that is "", from the address. */
bool db_run_waiting_of(struct db *db, const char *who, const char *address, int64_t *n,
		       struct err *err);

/* From here on what this process does with a store for long asks whether to end early, which gives
 * CANCELLED or STORAGE.  Before there are threads. */
void db_stop_when(bool (*stopped)(void));

/* ---- check.c, backup.c: whether a store is whole, and a copy of it in one file ---- */

/* Looks at pages, references, what is packed and the hashes of the files beside it, of a store of
 * any version, also while a server writes it: {"store", "ok", "version": of its schema, "bytes",
 * "free_bytes", "tables": rows by name, "files": bytes by SHA-256, "problems": texts}.  The caller
 * owns it.  NULL with STORAGE where there is no store to look at. */
json_t *db_check(const char *path, struct err *err);

enum backup_what {
	BACKUP_WHOLE, /* checked, and with the files beside the store; `to` must not be there */
	BACKUP_STORE, /* the database as it is; takes the place of `to` */
};

/* Writes a store as it is at one moment, whoever writes it, to one file: a database that SQLite
 * reads, with a table of the files beside the store, and after it what it holds and the SHA-256 of
 * all.  It is there whole or not at all (`TO.partial` is what a killed one leaves).  Answers
 * {"backup", "bytes", "sha256", "version", "made_ns", "tables", "files"}; the caller owns it.  NULL
 * with STORAGE, FULL, CONFLICT. */
json_t *db_backup(const char *from, const char *to, enum backup_what what, struct err *err);

/* Makes a store of a backup where there is none; it answers what db_backup() did.  NULL with
 * STORAGE where a byte of the backup is not as it was written; nothing is made then. */
json_t *db_restore(const char *from, const char *to, struct err *err);

/* ---- query.c: SQL over one run, in memory, that reads and nothing else ---- */

enum query_table {
#define TABLE(id, name, columns) QUERY_##id,
#include "db/query.def"
#undef TABLE
	QUERY_TABLE_COUNT
};

enum query_kind { QUERY_NULL, QUERY_TEXT, QUERY_INTEGER, QUERY_REAL };

struct query_cell {
	enum query_kind kind;
	const char *text; /* NULL: null */
	int64_t integer;
	double real; /* what is no number is null */
};

enum { QUERY_SQL_BYTES = 64 << 10 };

struct query_limits {
	int64_t rows, bytes;  /* of the answer */
	int64_t ms;           /* of the statement */
	int64_t memory_bytes; /* of all of SQLite in this process; 0: none */
};

struct query;

/* One thread each.  NULL with MEMORY or STORAGE. */
struct query *query_create(const struct query_limits *limits, struct err *err);
void query_destroy(struct query *q); /* NULL is fine */

/* A row of a table, its cells in the order of query.def.  TOO_LARGE where there is no room. */
bool query_add(struct query *q, enum query_table table, const struct query_cell *cells, int n,
	       struct err *err);

/* {"columns": texts, "rows": lists, "cut": null, or which limit of the answer it reached: "rows",
 * "bytes"}.  Once, after all rows.  NULL with BAD_REQUEST, and line and column where they are
 * known, for what the statement does wrong.  The caller owns it. */
json_t *query_run(struct query *q, const char *sql, struct err *err);

/* ---- placements.c: runs that other machines take ---- */

/* A run of another machine that waits, or that an executor was handed, until it is dropped. */
struct placement {
	int64_t run, suite; /* suite 0: it is part of none */
	const char *host;
	enum run_status status; /* of the run */
	int attempts;           /* times that it was taken, or its job ended before that */
	const char *job;        /* the executor's name of it; "": none yet */
	const char *said;       /* what the executor says of it */
	int64_t lost_ns;        /* since when the executor does not have it; 0: it has */
	bool handed;            /* it is being handed over, or was */
	bool taken;             /* a process has it */
};

/* The oldest `limit`, by run.  Rows live in the arena. */
bool db_placement_list(struct db *db, int limit, struct arena *arena, struct placement **out,
		       int *n, struct err *err);

/* The token of what is handed over together. */
struct placement_secret {
	uint8_t hash[SECRET_HASH_BYTES];
	int64_t expires_ns; /* since 1970 */
};

/* Before an executor is handed queued runs: who has the token may take them. */
bool db_placement_begin(struct db *db, const int64_t *runs, int n,
			const struct placement_secret *secret, struct err *err);

/* The executor calls it so. */
bool db_placement_handed(struct db *db, int64_t run, const char *job, struct err *err);

/* What the executor says of it, and since when it has it no more (0: it has it). */
bool db_placement_say(struct db *db, int64_t run, const char *said, int64_t lost_ns,
		      struct err *err);

/* Nobody may post of the run any more. */
enum placement_end {
	PLACEMENT_OVER,
	PLACEMENT_REFUSED, /* the executor did not take it: it waits to be handed over */
	PLACEMENT_LOST,    /* its job is over, and it is not: it waits likewise, and that counts */
};
bool db_placement_drop(struct db *db, int64_t run, enum placement_end end, struct err *err);

/* After a start: what was being handed over when the last server went waits again; who was handed
 * it all the same may not post. */
bool db_placement_forget_unknown(struct db *db, struct err *err);

/* Whether a token is that of a run that was handed over (run 0: of any). */
bool db_placement_counts(struct db *db, const uint8_t hash[SECRET_HASH_BYTES], int64_t run,
			 bool *counts, struct err *err);

/* The process `attempt` (a name that it made up) has the run from now on; *taken is false where the
 * run has ended or was taken three times before. */
bool db_placement_take(struct db *db, int64_t run, const char *attempt, bool *taken,
		       struct err *err);

/* Runs of workloads that this machine is to do, by status: of those that have ended none is
 * counted. */
bool db_run_counts_here(struct db *db, int64_t counts[RUN_STATUS_COUNT], struct err *err);

#endif
