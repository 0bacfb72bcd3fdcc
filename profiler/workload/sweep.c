/* profiler/workload/sweep.c -- one workload, many points.
 *
 * A statements sweep puts lines where the source has `...`, so the lines of a
 * point's source are not those that the user posted: sweep_locate() goes back.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/workload/call.h"
#include "profiler/workload/spec.h"
#include "profiler/workload/workload.h"

static int compare_points(const void *a, const void *b)
{
	int64_t x = ((const struct point *)a)->n, y = ((const struct point *)b)->n;

	return (x > y) - (x < y);
}

/* Reads ascending n into w->points from a list that `path` names. */
static bool read_points(struct workload *w, const json_t *list, const char *path, int64_t most,
			struct err *err)
{
	size_t n = json_array_size(list);

	if (!json_is_array(list) || n == 0)
		return err_set(err, ERR_WORKLOAD, "%s must be a list of integers, as [1, 5, 10]",
			       path);
	if (n > WORKLOAD_MAX_POINTS)
		return err_set(err, ERR_BOUND, "%s has %zu points; the limit is %d", path, n,
			       WORKLOAD_MAX_POINTS);
	w->points = calloc(n, sizeof(*w->points));
	if (!w->points)
		return err_set(err, ERR_MEMORY, "out of memory for the sweep");
	w->n_points = (int)n;
	for (size_t i = 0; i < n; i++) {
		const json_t *item = json_array_get(list, i);

		w->points[i].n = json_integer_value(item);
		if (!json_is_integer(item) || w->points[i].n < 0)
			return err_set(err, ERR_WORKLOAD, "%s[%zu] must be an integer >= 0", path,
				       i);
		if (w->points[i].n > most)
			return err_set(err, ERR_BOUND,
				       "%s[%zu] is %" PRId64 "; the limit is %" PRId64, path, i,
				       w->points[i].n, most);
	}
	qsort(w->points, n, sizeof(*w->points), compare_points);
	for (size_t i = 1; i < n; i++)
		if (w->points[i].n == w->points[i - 1].n)
			return err_set(err, ERR_WORKLOAD, "%s holds %" PRId64 " twice", path,
				       w->points[i].n);
	return true;
}

/* Finds the one line that is `...` and nothing else. */
static bool find_dots(struct workload *w, struct err *err)
{
	int line = 1, found = 0;

	for (const char *at = w->source; at; line++) {
		size_t indent = strspn(at, " \t");
		const char *rest = at + indent;
		const char *end = strchr(at, '\n');

		if (strncmp(rest, "...", 3) == 0 && (rest[3 + strspn(rest + 3, " \t\r")] == '\n' ||
						     rest[3 + strspn(rest + 3, " \t\r")] == '\0')) {
			if (found++ == 0) {
				w->sweep.line = line;
				w->sweep.indent = (int)indent;
			}
		}
		at = end ? end + 1 : NULL;
	}
	if (found == 1)
		return true;
	return err_set(err, ERR_WORKLOAD,
		       "sweep.statements needs one line of source that is `...`, where the "
		       "statements go; source has %s",
		       found ? "several" : "none");
}

static bool check_pool(const json_t *pool, struct err *err)
{
	size_t i;
	json_t *line;

	if (!json_is_array(pool) || json_array_size(pool) == 0)
		return err_set(err, ERR_WORKLOAD,
			       "sweep.statements.pool must be a list of lines of source");
	if (json_array_size(pool) > WORKLOAD_MAX_POOL)
		return err_set(err, ERR_BOUND,
			       "sweep.statements.pool has %zu lines; the limit is %d",
			       json_array_size(pool), WORKLOAD_MAX_POOL);
	json_array_foreach((json_t *)pool, i, line)
	{
		const char *text = json_string_value(line);

		if (!text || strpbrk(text, "\r\n") || strlen(text) != json_string_length(line))
			return err_set(err, ERR_WORKLOAD,
				       "sweep.statements.pool[%zu] must be a string of one line",
				       i);
	}
	return true;
}

/* The source with the first p->n lines of the pool, cycling, for the dots. */
static bool expand(const struct workload *w, struct point *p, struct err *err)
{
	struct buf text;
	const char *dots = w->source, *rest;

	for (int line = 1; line < w->sweep.line; line++)
		dots = strchr(dots, '\n') + 1;
	rest = strchr(dots, '\n');
	buf_init(&text, WORKLOAD_MAX_SOURCE_BYTES);
	buf_add(&text, w->source, (size_t)(dots - w->source));
	for (int64_t i = 0; i < p->n; i++) {
		size_t at = (size_t)i % json_array_size(w->sweep.pool);
		const json_t *line = json_array_get(w->sweep.pool, at);

		buf_add(&text, dots, (size_t)w->sweep.indent);
		buf_puts(&text, json_string_value(line));
		buf_putc(&text, '\n');
	}
	if (rest)
		buf_puts(&text, rest + 1);
	p->source = buf_steal(&text);
	buf_finish(&text);
	if (p->source)
		return true;
	return err_set(err, ERR_BOUND,
		       "the source with %" PRId64 " statements is longer than 1 MiB, the limit",
		       p->n);
}

static bool parse_statements(struct workload *w, const json_t *fields, struct err *err)
{
	w->sweep.kind = SWEEP_STATEMENTS;
	w->sweep.pool = json_object_get(fields, "pool");
	if (!check_pool(w->sweep.pool, err) || !find_dots(w, err) ||
	    !read_points(w, json_object_get(fields, "counts"), "sweep.statements.counts",
			 WORKLOAD_MAX_STATEMENTS, err))
		return false;
	for (int i = 0; i < w->n_points; i++)
		if (!expand(w, &w->points[i], err))
			return false;
	return true;
}

static bool names_n(void *self, const char *text, const char *path)
{
	(void)self, (void)path;
	return !fusion_expression_uses_n(text);
}

/* Whether some expression of the calls names n. */
static bool workload_uses_n(const struct workload *w)
{
	for (int i = 0; i < w->n_calls; i++) {
		const json_t *call = json_array_get(w->calls, (size_t)i);

		for (size_t k = 0; k < call_length(call); k++)
			if (!spec_each_python(call_spec(call, k), "", names_n, NULL))
				return true;
	}
	return false;
}

static bool parse_input(struct workload *w, const json_t *fields, struct err *err)
{
	const json_t *arg = json_object_get(fields, "arg"), *dim = json_object_get(fields, "dim");

	w->sweep.kind = SWEEP_INPUT;
	w->n_is_size = workload_uses_n(w);
	if (w->n_is_size && (field_given(arg) || field_given(dim)))
		return err_set(
		    err, ERR_WORKLOAD,
		    "sweep.input: the expressions of calls say where n goes; leave arg and "
		    "dim out");
	if ((arg && !json_is_integer(arg)) || json_integer_value(arg) < 0 ||
	    json_integer_value(arg) >= WORKLOAD_MAX_ARGS)
		return err_set(err, ERR_WORKLOAD,
			       "sweep.input.arg must be the index of an argument, from 0 on");
	if ((dim && !json_is_integer(dim)) || llabs(json_integer_value(dim)) > MAX_RANK)
		return err_set(err, ERR_WORKLOAD,
			       "sweep.input.dim must be the index of a dimension, from 0 on");
	w->sweep.arg = (int)json_integer_value(arg);
	w->sweep.dim = (int)json_integer_value(dim);
	return read_points(w, json_object_get(fields, "sizes"), "sweep.input.sizes",
			   (int64_t)1 << SPEC_MAX_ELEMENTS_LOG2, err);
}

bool sweep_parse(struct workload *w, const json_t *sweep, struct err *err)
{
	const json_t *statements = json_object_get(sweep, "statements");
	const json_t *input = json_object_get(sweep, "input");

	if (!sweep || json_is_null(sweep)) {
		w->points = calloc(1, sizeof(*w->points));
		w->n_points = w->points != NULL;
		return w->points || err_set(err, ERR_MEMORY, "out of memory for the run");
	}
	if (json_object_size(sweep) == 1 && json_is_object(statements))
		return parse_statements(w, statements, err);
	if (json_object_size(sweep) == 1 && json_is_object(input))
		return parse_input(w, input, err);
	return err_set(err, ERR_WORKLOAD,
		       "sweep must have one of {\"statements\": {\"pool\", \"counts\"}} and "
		       "{\"input\": {\"arg\", \"dim\", \"sizes\"}}");
}

json_t *workload_calls(const struct workload *w, const struct point *p, struct err *err)
{
	json_t *calls;

	if (w->sweep.kind != SWEEP_INPUT || w->n_is_size)
		return json_incref((json_t *)w->calls);
	calls = json_array();
	for (int i = 0; i < w->n_calls; i++) {
		json_t *call = json_deep_copy(json_array_get(w->calls, (size_t)i)), *resized;
		size_t n = call_length(call), arg = (size_t)w->sweep.arg;
		char path[CALL_PATH_BYTES];

		json_array_append_new(calls, call);
		if (arg >= n) {
			err_set(err, ERR_WORKLOAD,
				"sweep.input.arg is %d, but calls[%d] has %zu argument%s",
				w->sweep.arg, i, n, n == 1 ? "" : "s");
			goto fail;
		}
		call_path(call, i, arg, path);
		resized = spec_resize(call_spec(call, arg), path, w->sweep.dim, p->n, err);
		if (!resized)
			goto fail;
		call_set(call, arg, resized);
	}
	return calls;
fail:
	json_decref(calls);
	return NULL;
}

void sweep_locate(const struct workload *w, const struct point *p, struct err *err)
{
	int first = w->sweep.line;
	char message[ERR_MESSAGE_BYTES];

	bool elsewhere = err && err->file[0] &&
			 strcmp(err->file, w->files.at[w->files.entry].path) != 0;

	if (!err || elsewhere || w->sweep.kind != SWEEP_STATEMENTS || err->line < first)
		return;
	if (err->line >= first + p->n) {
		err->line -= (int)p->n - 1;
		return;
	}
	snprintf(message, sizeof(message), "in pool line %d, column %d: %.*s",
		 (int)((err->line - first) % (int)json_array_size(w->sweep.pool)) + 1,
		 err->column > w->sweep.indent ? err->column - w->sweep.indent : err->column,
		 (int)sizeof(message) - 64, err->message);
	memcpy(err->message, message, sizeof(message));
	err->line = first;
	err->column = w->sweep.indent + 1;
}
