/* server/api/api_compare.c -- /api/v1/compare: two runs or more. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "server/api/compare_load.h"
#include "server/api/routes.h"

/* Percents of a difference that is worth telling. */
static const double margin_most = 100;

static bool add_one(struct req *req, const char *name, const char *text, struct loaded_runs *runs,
		    struct err *err)
{
	char *end;
	long long id;

	errno = 0;
	id = strtoll(text, &end, 10);
	if (errno || end == text || *end || id <= 0)
		return err_set(err, ERR_BAD_REQUEST,
			       "%s=%.40s is no run; runs have numbers from "
			       "1 on",
			       name, text);
	return loaded_add_run(runs, req->app->db, id, err);
}

/* a=, then every b=, then c= to h=. */
static bool load(struct req *req, struct loaded_runs *runs, struct err *err)
{
	static const char *const names[] = { "a", "b", "c", "d", "e", "f", "g", "h" };
	const char *values[COMPARE_MAX_RUNS + 1];

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		int n = req_query_all(req, names[i], values, COMPARE_MAX_RUNS + 1);

		if (n == 0 && i < 2)
			return err_set(err, ERR_BAD_REQUEST,
				       "%s= is missing: /compare?a=1&b=2 "
				       "compares run 2 with run 1",
				       names[i]);
		if (n > 1 && i != 1)
			return err_set(err, ERR_BAD_REQUEST,
				       "%s= stands twice; more runs are "
				       "further b=",
				       names[i]);
		for (int k = 0; k < n; k++)
			if (!add_one(req, names[i], values[k], runs, err))
				return false;
	}
	return true;
}

static bool read_options(struct req *req, struct compare_options *o, struct err *err)
{
	const char *margin = req_query(req, "margin"), *force = req_query(req, "force");
	char *end;

	o->metric = req_query(req, "metric");
	o->force = force && strcmp(force, "1") == 0;
	if (force && !o->force && strcmp(force, "0") != 0)
		return err_set(err, ERR_BAD_REQUEST, "force=%.40s: 1 or 0 is needed", force);
	if (!margin)
		return true;
	o->margin = strtod(margin, &end) / 100;
	return (end != margin && !*end && o->margin > 0 && o->margin <= margin_most / 100) ||
	       err_set(err, ERR_BAD_REQUEST,
		       "margin=%.40s: percents above 0 and up to %.0f are "
		       "needed",
		       margin, margin_most);
}

bool api_compare(struct req *req, struct reply *reply, struct err *err)
{
	struct compare_options options = { 0 };
	struct loaded_runs runs = { 0 };

	if (read_options(req, &options, err) && load(req, &runs, err))
		reply->json = compare_runs(runs.at, runs.n, &options, err);
	loaded_finish(&runs);
	return reply->json != NULL;
}
