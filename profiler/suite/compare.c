/* profiler/suite/compare.c -- two suites, workload by workload: see suite.h.
 *
 * What is compared is the speedup over eager, each suite's against its own eager: the pace
 * of the machine, which both share, cancels out.  Its change has an interval: half-widths
 * of independent logs add up in quadrature, as in stats.h.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/measure/break_even.h"
#include "profiler/suite/suite.h"
#include "profiler/suite/stats.h"

/* A speedup that a suite's report has was of enough rounds. */
enum { ENOUGH_ROUNDS = 1000 };

static bool same_text(const json_t *a, const json_t *b, const char *field)
{
	const char *x = json_string_value(json_object_get(a, field));
	const char *y = json_string_value(json_object_get(b, field));

	return x && y && strcmp(x, y) == 0;
}

/* {name: workload}.  New. */
static json_t *by_name(const json_t *workloads)
{
	json_t *index = json_object(), *w;
	size_t i;

	json_array_foreach((json_t *)workloads, i, w)
	{
		const char *name = json_string_value(json_object_get(w, "name"));

		if (name)
			json_object_set(index, name, w);
	}
	return index;
}

static const json_t *find_named(const json_t *index, const json_t *like)
{
	const char *name = json_string_value(json_object_get(like, "name"));

	return name ? json_object_get(index, name) : NULL;
}

/* The result of the same engine, policy and mode. */
static const json_t *find_result(const json_t *workload, const json_t *like)
{
	const json_t *r;
	size_t i;

	json_array_foreach(json_object_get(workload, "results"), i, r)
	{
		if (same_text(r, like, "engine") && same_text(r, like, "policy") &&
		    same_text(r, like, "mode"))
			return r;
	}
	return NULL;
}

static enum suite_status status_of(const json_t *result)
{
	const char *name = json_string_value(json_object_get(result, "status"));
	enum suite_status status = SUITE_WAITING;

	if (name)
		suite_status_from_name(name, &status);
	return status;
}

static bool has_ended(enum suite_status status)
{
	return status == SUITE_PASS || status == SUITE_DISAGREES || status == SUITE_FAILED;
}

/* Pass to not pass, and back; "" where neither, or where one has not ended. */
static const char *turn_of(enum suite_status before, enum suite_status after)
{
	if (!has_ended(before) || !has_ended(after))
		return "unknown";
	if (before == SUITE_PASS)
		return after == SUITE_PASS ? "passes" : "broken";
	return after == SUITE_PASS ? "fixed" : "still-bad";
}

/* A result's speedup; false where it has none with an interval. */
static bool speedup_of(const json_t *result, struct interval *out)
{
	const json_t *ci = json_object_get(result, "speedup_ci");

	*out = (struct interval){ .low = json_number_value(json_array_get(ci, 0)),
				  .mid = json_number_value(json_object_get(result, "speedup")),
				  .high = json_number_value(json_array_get(ci, 1)) };
	return status_of(result) == SUITE_PASS && out->low > 0 && out->mid >= out->low &&
	       out->high >= out->mid;
}

/* After over before. */
static struct interval ratio_of(const struct interval *before, const struct interval *after)
{
	double mid = log(after->mid / before->mid);
	double below = hypot(log(after->mid / after->low), log(before->high / before->mid));
	double above = hypot(log(after->high / after->mid), log(before->mid / before->low));

	return (struct interval){ exp(mid - below), exp(mid), exp(mid + above) };
}

static const char *word_of(const struct interval *ratio)
{
	return verdict_word(verdict_of(ratio, ENOUGH_ROUNDS));
}

/* The geomean of the changes that were seen, and how many. */
static json_t *change_json(const struct interval *ratios, int n)
{
	struct interval mean;

	if (n == 0)
		return json_pack("{s:i, s:n, s:n, s:n}", "n", 0, "ratio", "ratio_ci", "verdict");
	mean = suite_geomean(ratios, n);
	return json_pack("{s:i, s:f, s:[f, f], s:s}", "n", n, "ratio", mean.mid, "ratio_ci",
			 mean.low, mean.high, "verdict", word_of(&mean));
}

static json_t *rate_of(const json_t *column)
{
	json_t *rate = json_object_get(column, "pass_rate");

	return rate ? json_incref(rate) : json_null();
}

static const json_t *find_column(const json_t *columns, const json_t *like)
{
	const json_t *c;
	size_t i;

	json_array_foreach((json_t *)columns, i, c)
	{
		if (same_text(c, like, "engine") && same_text(c, like, "policy") &&
		    same_text(c, like, "mode"))
			return c;
	}
	return NULL;
}

/* One column of both: counts of what turned, and of the ratios. */
static json_t *column_json(const json_t *before, const json_t *index, const json_t *after,
			   const json_t *column)
{
	static const char *const counted[] = { "broken", "fixed", "FASTER",
					       "SLOWER", "SAME",  "AMBIGUOUS" };
	const json_t *workloads = json_object_get(after, "workloads"), *w;
	struct interval *ratios = calloc(json_array_size(workloads) + 1, sizeof(*ratios));
	json_t *counts = json_object(), *json;
	int n = 0;
	size_t i;

	for (i = 0; i < sizeof(counted) / sizeof(counted[0]); i++)
		json_object_set_new(counts, counted[i], json_integer(0));
	json_array_foreach((json_t *)workloads, i, w)
	{
		const json_t *old = find_result(find_named(index, w), column),
			     *new = find_result(w, column);
		const char *turn = old && new ? turn_of(status_of(old), status_of(new)) : "";
		struct interval a, b;

		if (json_object_get(counts, turn))
			json_object_set_new(
			    counts, turn,
			    json_integer(1 + json_integer_value(json_object_get(counts, turn))));
		if (!ratios || !old || !new || !speedup_of(old, &a) || !speedup_of(new, &b))
			continue;
		ratios[n] = ratio_of(&a, &b);
		turn = word_of(&ratios[n++]);
		json_object_set_new(
		    counts, turn,
		    json_integer(1 + json_integer_value(json_object_get(counts, turn))));
	}
	json = json_pack(
	    "{s:O, s:O, s:O, s:o, s:o, s:o}", "engine", json_object_get(column, "engine"), "policy",
	    json_object_get(column, "policy"), "mode", json_object_get(column, "mode"),
	    "pass_rate_before", rate_of(find_column(json_object_get(before, "columns"), column)),
	    "pass_rate_after", rate_of(column), "geomean",
	    change_json(ratios ? ratios : &(struct interval){ 0 }, n));
	json_object_update(json, counts);
	json_decref(counts);
	free(ratios);
	return json;
}

/* A result of both suites. */
static json_t *result_json(const json_t *old, const json_t *new)
{
	json_t *json = json_pack(
	    "{s:O, s:O, s:O, s:s, s:s, s:s, s:O?, s:O?, s:O?, s:O?}", "engine",
	    json_object_get(new, "engine"), "policy", json_object_get(new, "policy"), "mode",
	    json_object_get(new, "mode"), "before", suite_status_name(status_of(old)), "after",
	    suite_status_name(status_of(new)), "turn", turn_of(status_of(old), status_of(new)),
	    "reason", json_object_get(new, "reason"), "run_before", json_object_get(old, "run"),
	    "run", json_object_get(new, "run"), "speedup", json_object_get(new, "speedup"));
	struct interval a, b, ratio;

	json_object_set(json, "speedup_before", json_object_get(old, "speedup"));
	if (speedup_of(old, &a) && speedup_of(new, &b)) {
		ratio = ratio_of(&a, &b);
		json_object_set_new(json, "ratio", json_real(ratio.mid));
		json_object_set_new(json, "ratio_ci", json_pack("[f, f]", ratio.low, ratio.high));
		json_object_set_new(json, "verdict", json_string(word_of(&ratio)));
	} else {
		json_object_set_new(json, "ratio", json_null());
		json_object_set_new(json, "ratio_ci", json_null());
		json_object_set_new(json, "verdict", json_null());
	}
	return json;
}

static json_t *workload_json(const json_t *old, const json_t *new)
{
	json_t *results = json_array();
	const json_t *r;
	size_t i;

	json_array_foreach(json_object_get(new, "results"), i, r)
	{
		const json_t *was = find_result(old, r);

		if (was)
			json_array_append_new(results, result_json(was, r));
	}
	return json_pack("{s:O, s:o}", "name", json_object_get(new, "name"), "results", results);
}

/* Names of workloads that the other suite has not. */
static json_t *only_in(const json_t *workloads, const json_t *other)
{
	json_t *names = json_array();
	const json_t *w;
	size_t i;

	json_array_foreach((json_t *)workloads, i, w)
	{
		if (!find_named(other, w))
			json_array_append(names, json_object_get(w, "name"));
	}
	return names;
}

json_t *suite_compare(const json_t *before, const json_t *after, struct err *err)
{
	const json_t *old = json_object_get(before, "workloads"),
		     *new = json_object_get(after, "workloads"), *item;
	json_t *columns = json_array(), *workloads = json_array(), *was_in, *is_in, *json;
	size_t i;

	if (!json_is_array(old) || !json_is_array(new)) {
		json_decref(columns);
		json_decref(workloads);
		err_set(err, ERR_JSON, "no report of a suite: it has no workloads");
		return NULL;
	}
	was_in = by_name(old);
	is_in = by_name(new);
	json_array_foreach(json_object_get(after, "columns"), i, item)
	{
		if (find_column(json_object_get(before, "columns"), item))
			json_array_append_new(columns, column_json(before, was_in, after, item));
	}
	json_array_foreach((json_t *)new, i, item)
	{
		const json_t *was = find_named(was_in, item);

		if (was)
			json_array_append_new(workloads, workload_json(was, item));
	}
	json = json_pack("{s:i, s:o, s:o, s:o, s:o}", "breakeven_suites", 1, "columns", columns,
			 "workloads", workloads, "only_before", only_in(old, is_in), "only_after",
			 only_in(new, was_in));
	json_decref(was_in);
	json_decref(is_in);
	return json;
}
