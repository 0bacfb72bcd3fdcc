/* server/api/run_filter.c -- which runs a list has, by its parameters. */
#include "server/api/api.h"

#include <ctype.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *get(const struct run_params *p, const char *name)
{
	const char *text = p->get(p->self, name);

	return text || !p->view ? text : json_string_value(json_object_get(p->view, name));
}

/* "name", or "-name" for the largest first; the newest first where nothing is asked for. */
static bool read_sort(const struct run_params *p, struct run_query *filter, struct err *err)
{
	const char *sort = get(p, "sort");
	bool down = !sort || !*sort || *sort == '-';

	if (sort && *sort && !run_sort_from_name(sort + down, &filter->sort))
		return err_set(err, ERR_BAD_REQUEST,
			       "sort=%.40s: one of age, name, verdict, speedup, median, repaid, "
			       "device, status is needed, with - before it for the largest first",
			       sort);
	filter->up = !down;
	return true;
}

/* ">2", "<=1.1" or "3" in a parameter. */
static bool read_range(const struct run_params *p, const char *name, struct run_range *out,
		       struct err *err)
{
	const char *text = get(p, name), *at = text;
	bool less, more, equal;
	char *end;
	double value;

	if (!text || !*text)
		return true;
	less = *at == '<';
	more = *at == '>';
	at += less || more;
	equal = (!less && !more) || *at == '=';
	at += *at == '=' && (less || more);
	value = strtod(at, &end);
	if (end == at || *end || !isfinite(value) || isspace((unsigned char)*at))
		return err_set(err, ERR_BAD_REQUEST,
			       "%s=%.40s: a number is needed, with <, <=, > or >= before it where "
			       "it is a bound",
			       name, text);
	*out = (struct run_range){ true, -DBL_MAX, DBL_MAX };
	if (!less)
		out->least = equal ? value : nextafter(value, DBL_MAX);
	if (!more)
		out->most = equal ? value : nextafter(value, -DBL_MAX);
	return true;
}

/* Those alone that have a mark: "1". */
static bool read_mark(const struct run_params *p, const char *name, bool *out, struct err *err)
{
	const char *text = get(p, name);

	*out = text && strcmp(text, "1") == 0;
	return !text || !*text || *out ||
	       err_set(err, ERR_BAD_REQUEST, "%s=%.40s: it is 1, or left out", name, text);
}

bool run_filter_read(const struct run_params *p, struct run_query *filter, struct err *err)
{
	const char *status = get(p, "status");
	enum run_status wanted;

	*filter = (struct run_query){ .project = get(p, "project"),
				      .tag = get(p, "tag"),
				      .device = get(p, "device"),
				      .text = get(p, "q"),
				      .verdict = get(p, "verdict"),
				      .name = get(p, "name"),
				      .branch = get(p, "branch"),
				      .commit = get(p, "commit"),
				      .status = -1 };
	if (!read_mark(p, "pinned", &filter->pinned, err) ||
	    !read_mark(p, "baseline", &filter->baseline, err))
		return false;
	if (filter->verdict && *filter->verdict && !run_verdict_is(filter->verdict))
		return err_set(err, ERR_BAD_REQUEST,
			       "verdict=%.40s: one of faster, slower, same, ambiguous, "
			       "not-enough, disagrees, broken is needed",
			       filter->verdict);
	if (!read_range(p, "speedup", &filter->speedup, err) ||
	    !read_range(p, "breaks", &filter->breaks, err) ||
	    !read_range(p, "median", &filter->median_us, err))
		return false;
	if (!read_sort(p, filter, err))
		return false;
	if (!status || !*status)
		return true;
	if (!run_status_from_name(status, &wanted))
		return err_set(err, ERR_BAD_REQUEST,
			       "status=%.40s: one of queued, running, done, failed, "
			       "cancelled is needed",
			       status);
	filter->status = wanted;
	return true;
}
