/* db/archive.h -- what a store keeps of old runs, and what of it another store takes.  As db.h
 * says, any thread may call any of it.
 */
#ifndef DB_ARCHIVE_H
#define DB_ARCHIVE_H

#include "db/db.h"

/* ---- retain.c: what is not kept for ever ---- */

/* Runs that have ended, are neither pinned nor a baseline, came before then and have not been
 * thinned out. */
struct retain_query {
	int64_t before_ns;
	const char *project; /* NULL or "": of all */
	int64_t after;       /* id: those after it */
	int limit;
};
struct retain_row {
	int64_t id, created_ns;
	const char *name, *project;
	int64_t timeline_bytes;               /* with what is answered of it */
	int64_t report_bytes, findings_bytes; /* as they are stored; 0: there is none */
};
struct retain_list {
	struct retain_row *at; /* by id */
	int n;
	int64_t total, timeline_bytes, report_bytes, findings_bytes; /* of all that match */
};
bool db_retain_list(struct db *db, const struct retain_query *query, struct arena *arena,
		    struct retain_list *out, struct err *err);

/* Takes a run's timeline, answers and findings away, and puts the report in place of the one it has
 * (NULL: it has none).  *freed is how many bytes less are stored, -1 where nothing was done: the
 * run was pinned, made a baseline, thinned or removed meanwhile. */
struct run_thinned {
	const char *report;
	size_t len;
	int64_t now_ns;
	bool dry_run; /* *freed alone: nothing is changed */
};
bool db_run_thin(struct db *db, int64_t id, const struct run_thinned *as, int64_t *freed,
		 struct err *err);

/* ---- views.c: filters of a list or a history that people keep under a name ---- */

enum { VIEWS_MOST = 200, VIEWS_LISTED = 1000 }; /* of a project; of all that are listed */

struct saved_view {
	int64_t id;
	const char *project, *name; /* project "": of all; a name but once in each */
	const char *page;           /* "runs" or "history" */
	const char *query;          /* JSON: texts by parameter of GET /runs or /history */
	const char *author;         /* "": nobody is known */
	int64_t created_ns;
};

/* Stores it and sets id and created_ns.  CONFLICT where the project has one of that name, or
 * VIEWS_MOST. */
bool db_view_add(struct db *db, struct saved_view *view, struct err *err);

struct view_query {
	int64_t id;              /* 0: any */
	const char *project;     /* NULL or "": any */
	bool common;             /* with a project: those of all projects too */
	const char *page, *name; /* NULL or "": any */
};
bool db_view_list(struct db *db, const struct view_query *query, struct arena *arena,
		  struct saved_view **out, int *n, struct err *err);

/* Gives the view `id` this name and query.  CONFLICT where the name is taken, or it is gone. */
bool db_view_change(struct db *db, const struct saved_view *to, struct err *err);
bool db_view_remove(struct db *db, int64_t id, struct err *err);

/* ---- bundle.c, bundle_take.c: runs and suites as one file, for another store ---- */

/* Of what: those of its runs that have ended. */
struct bundle_of {
	int64_t run, suite;  /* one of them, or neither: 0 */
	const char *project; /* where neither; "": all there are */
};

/* Writes it to a descriptor: {"version", "runs": ids, "suites": ids, "left_out": runs that have not
 * ended, "bytes", "sha256"}, which the caller owns.  NULL with NOT_FOUND, CONFLICT where no run has
 * ended, STORAGE, FULL. */
json_t *db_bundle_write(struct db *db, const struct bundle_of *of, int fd, struct err *err);

struct bundle_take {
	const char *author;  /* who takes it */
	const char *project; /* that all of it is of from now on; NULL: its own */
	run_reasons_fn *reasons;
	/* Whether a block of a timeline is as its row says. */
	bool (*block)(const struct timeline_row *row, struct err *err);
};

/* Stores all that a bundle has, with ids of this store, or nothing: {"runs": rows of was and id,
 * "suites": likewise}, which the caller owns.  NULL with BAD_REQUEST where a byte is not as it was
 * written, or what is in it cannot be. */
json_t *db_bundle_take(struct db *db, const void *bytes, size_t len, const struct bundle_take *as,
		       struct err *err);

#endif
