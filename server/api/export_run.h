/* server/api/export_run.h -- a run of the store as an export wants it. */
#ifndef SERVER_EXPORT_RUN_H
#define SERVER_EXPORT_RUN_H

#include "db/db.h"
#include "profiler/export/export.h"

struct stored_run {
	struct export_run run;
	json_t *workload, *report, *environment;
	struct buf verdicts;
	struct db *db;
};

/* Texts live in the arena.  False with NOT_FOUND or STORAGE; finish it in any case. */
bool stored_run_load(struct stored_run *s, struct db *db, int64_t id, struct arena *arena,
		     struct err *err);
void stored_run_finish(struct stored_run *s);

/* A sink for export_write(): `self` is an int*, a file descriptor. */
bool export_to_file(void *self, const void *bytes, size_t len, struct err *err);

#endif
