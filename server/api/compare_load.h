/* server/api/compare_load.h -- runs of the store and reports in files, to be compared. */
#ifndef SERVER_COMPARE_LOAD_H
#define SERVER_COMPARE_LOAD_H

#include "db/db.h"
#include "profiler/compare/compare.h"

/* The number of a run or a suite; 0 where the text is none: a file. */
int64_t loaded_id(const char *text);

/* A file as JSON, which is said to be no `what` ("run") of the store where there is no such
 * file.  New; NULL with IO, TOO_LARGE or JSON. */
json_t *loaded_json(const char *path, const char *what, struct err *err);

struct loaded_runs {
	struct compared_run at[COMPARE_MAX_RUNS];
	int n;
	struct arena arena; /* has the repeats */
};

/* A run that has ended well, with what the store has of its repeats.  CONFLICT where it has not,
 * NOT_FOUND, STORAGE. */
bool loaded_add_run(struct loaded_runs *l, struct db *db, int64_t id, struct err *err);

/* A file: what `breakeven run --json` prints, `export --format json` writes, or
 * GET /runs/{id} answers.  IO, JSON, or WORKLOAD where it holds no report. */
bool loaded_add_file(struct loaded_runs *l, const char *path, struct err *err);

void loaded_finish(struct loaded_runs *l);

#endif
