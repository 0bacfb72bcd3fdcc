/* server/queue/retain.c -- retention: what an old run keeps, what taking the rest away frees, and
 * taking it. */
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "profiler/export/export.h"
#include "server/queue/queue.h"

static const int64_t day_ns = INT64_C(86400) * 1000000000;

int64_t retain_before(int64_t days)
{
	return clock_wall_ns() - days * day_ns;
}

/* The report as it is kept, of which day it is; malloc'd, NULL where the run has none. */
static bool thin_report(struct db *db, int64_t run, int64_t now_ns, char **out, struct err *err)
{
	static const char *const others[] = { "explain", NULL };
	struct buf report = { 0 }, environment = { 0 };
	struct err why = { 0 };
	json_t *whole = NULL, *thin;

	*out = NULL;
	if (!db_report_get(db, run, &report, &environment, &why)) {
		if (why.code != ERR_NOT_FOUND)
			*err = why;
		return why.code == ERR_NOT_FOUND;
	}
	whole = json_loadb(report.data, report.len, 0, NULL);
	thin = whole ? report_slim(whole, others) : NULL;
	if (thin && json_object_set_new(thin, "thinned_ns", json_integer(now_ns)) == 0)
		*out = json_dumps(thin, JSON_COMPACT | JSON_ENSURE_ASCII);
	json_decref(thin);
	json_decref(whole);
	buf_finish(&report);
	buf_finish(&environment);
	return *out ||
	       err_set(err, ERR_MEMORY, "out of memory while thinning run %lld", (long long)run);
}

/* The day, so that what a dry run says is what is done later that day. */
static int64_t today(void)
{
	int64_t now = clock_wall_ns();

	return now - now % day_ns;
}

/* *freed is -1 where the run keeps all after all. */
static bool thin_one(struct db *db, int64_t run, bool dry_run, int64_t *freed, struct err *err)
{
	struct run_thinned as = { .now_ns = today(), .dry_run = dry_run };
	char *thin;
	bool ok = thin_report(db, run, as.now_ns, &thin, err);

	as.report = thin;
	as.len = thin ? strlen(thin) : 0;
	ok = ok && db_run_thin(db, run, &as, freed, err);
	free(thin);
	return ok;
}

bool retain_frees(struct db *db, int64_t run, int64_t *bytes, struct err *err)
{
	bool ok = thin_one(db, run, true, bytes, err);

	*bytes = *bytes > 0 ? *bytes : 0;
	return ok;
}

bool retain_some(struct db *db, const struct retain_query *query, struct retained *out, bool *more,
		 struct err *err)
{
	struct arena arena = { 0 };
	struct retain_list list;
	bool ok = db_retain_list(db, query, &arena, &list, err);

	*more = false;
	for (int i = 0; ok && i < list.n; i++) {
		int64_t freed = -1;

		ok = thin_one(db, list.at[i].id, false, &freed, err);
		out->runs += ok && freed >= 0;
		out->bytes += ok && freed >= 0 ? freed : 0;
	}
	*more = ok && list.total > list.n;
	arena_finish(&arena);
	return ok;
}
