/* server/queue/history_store.c -- see history_store.h. */
#include "server/queue/history_store.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"
#include "profiler/compare/figures.h"
#include "profiler/compare/settings.h"

enum { MOST_AT_ONCE = 64 };

static struct run_figure to_row(const struct figure *f)
{
	const struct metric_info *m = metric_info(f->metric);

	return (struct run_figure){ .metric = m->name,
				    .mode = f->mode,
				    .n = f->n,
				    .value = f->value.mid,
				    .lo = f->value.low,
				    .hi = f->value.high,
				    .samples = f->samples };
}

/* How quick wrong values come is no figure of a workload. */
static bool counts(const struct figure *f)
{
	return !f->disagrees || metric_info(f->metric)->kind == FIGURE_COUNTED;
}

static bool store(struct db *db, int64_t run, const json_t *report, const struct figures *f,
		  struct err *err)
{
	struct run_figure *rows = calloc(f->rows.len + 1, sizeof(*rows));
	char source_hash[HASH_HEX_BYTES], settings_hash[HASH_HEX_BYTES];
	struct buf key, program;
	size_t n = 0;
	bool ok;

	if (!rows)
		return err_set(err, ERR_MEMORY, "out of memory for figures");
	for (size_t i = 0; i < f->rows.len; i++)
		if (counts(&f->rows.at[i]))
			rows[n++] = to_row(&f->rows.at[i]);
	buf_init(&key, 0);
	settings_key(report, &key);
	hash_hex(key.data ? key.data : "", key.len, settings_hash);
	buf_init(&program, 0);
	settings_program(report, &program);
	hash_hex(program.data ? program.data : "", program.len, source_hash);
	ok = db_figures_put(db, run, source_hash, settings_hash, rows, n, err);
	buf_finish(&key);
	buf_finish(&program);
	free(rows);
	return ok;
}

bool history_store(struct db *db, int64_t run, const char *report, size_t len, struct err *err)
{
	json_t *json = json_loadb(report, len, 0, NULL);
	struct figures figures = { 0 };
	bool ok = figures_of(json, &figures, err) && store(db, run, json, &figures, err);

	figures_finish(&figures);
	json_decref(json);
	return ok;
}

bool history_catch_up(struct db *db, const char *name, int most, bool *left, struct err *err)
{
	int64_t runs[MOST_AT_ONCE + 1];
	int n;

	most = most < MOST_AT_ONCE ? most : MOST_AT_ONCE;
	n = db_figures_missing(db, name, runs, most + 1, err);
	*left = n > most;
	for (int i = 0; i < n && i < most; i++) {
		struct buf report = { 0 }, environment = { 0 };
		bool ok = db_report_get(db, runs[i], &report, &environment, err) &&
			  history_store(db, runs[i], report.data, report.len, err);

		buf_finish(&report);
		buf_finish(&environment);
		if (!ok)
			return false;
	}
	return n >= 0;
}
