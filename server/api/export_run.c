/* server/api/export_run.c -- see export_run.h. */
#include "server/api/export_run.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "server/cli/commands.h"
#include "server/text/run_table.h"

struct giving {
	timeline_block_fn *each;
	void *self;
};

static bool give(void *self, const struct timeline_row *row, struct err *err)
{
	struct giving *g = self;

	return g->each(g->self, row->data, row->len, err);
}

static bool blocks(void *store, int64_t kind, timeline_block_fn *each, void *self, struct err *err)
{
	struct stored_run *s = store;
	struct giving g = { each, self };

	return db_timeline_each(s->db, s->run.id, BLOCKS_ALL(kind), give, &g, err);
}

static bool load_report(struct stored_run *s, struct err *err)
{
	struct buf report = { 0 }, environment = { 0 };
	bool ok = db_report_get(s->db, s->run.id, &report, &environment, err);

	if (ok) {
		s->report = json_loadb(report.data, report.len, 0, NULL);
		s->environment = json_loadb(environment.data, environment.len, 0, NULL);
		ok = s->report || err_set(err, ERR_MEMORY, "out of memory for the report");
	}
	buf_finish(&report);
	buf_finish(&environment);
	return ok;
}

/* Whether a run came from a file that had left out its source. */
static bool is_redacted(const char *imported)
{
	json_t *mark = *imported ? json_loads(imported, 0, NULL) : NULL;
	bool redacted = json_is_true(json_object_get(json_object_get(mark, "run"), "redacted"));

	json_decref(mark);
	return redacted;
}

bool stored_run_load(struct stored_run *s, struct db *db, int64_t id, struct arena *arena,
		     struct err *err)
{
	struct run run;

	*s = (struct stored_run){ .db = db };
	if (!db_run_get(db, id, arena, &run, err))
		return false;
	s->run = (struct export_run){
		.id = id,
		.created_ns = run.created_ns,
		.name = run.name,
		.project = run.project,
		.status = run_status_name(run.status),
		.device = run.device,
		.commit = run.commit,
		.branch = run.branch,
		.version = breakeven_version(),
		.blocks = blocks,
		.store = s,
	};
	if (run.error.code) {
		s->run.error = arena_strdup(arena, run.error.message);
		s->run.error_code = err_name(run.error.code);
		s->run.error_line = run.error.line;
		s->run.error_column = run.error.column;
	}
	s->workload = json_loads(run.workload, 0, NULL);
	s->run.redacted = is_redacted(run.imported);
	if (run.status == RUN_DONE && !load_report(s, err))
		return false;
	run_table_sentences(&s->verdicts, s->report);
	s->run.verdicts = s->verdicts.data;
	s->run.workload = s->workload;
	s->run.report = s->report;
	s->run.environment = s->environment;
	return true;
}

void stored_run_finish(struct stored_run *s)
{
	buf_finish(&s->verdicts);
	json_decref(s->workload);
	json_decref(s->report);
	json_decref(s->environment);
}

bool export_to_file(void *self, const void *bytes, size_t len, struct err *err)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t n = write(*(int *)self, at, len);

		if (n < 0 && errno != EINTR)
			return err_set(err, ERR_IO, "the export could not be written: %s",
				       strerror(errno));
		at += n > 0 ? n : 0;
		len -= n > 0 ? (size_t)n : 0;
	}
	return true;
}
