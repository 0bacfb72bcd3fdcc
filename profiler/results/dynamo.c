/* profiler/results/dynamo.c -- CSV that PyTorch's benchmarks/dynamo writes: a row a model. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/utf8.h"
#include "profiler/results/reading.h"

enum { MOST_COLUMNS = 64, MOST_CELL = 400 };

/* A line, cut in place: its cells are texts. */
struct csv_line {
	int n;
	char cell[MOST_COLUMNS][MOST_CELL];
};

/* What the columns of its runner (function speedup_experiment there) are.  Gigabytes are 1e9 bytes
 * there. */
static const struct csv_column {
	const char *name, *kind, *unit;
	double scale;
} columns[] = {
	{ "speedup", "rate", "x", 1 },
	{ "abs_latency", "time", "us", 1e3 },
	{ "compilation_latency", "time", "us", 1e6 },
	{ "compression_ratio", "rate", "x", 1 },
	{ "eager_peak_mem", "amount", "B", 1e9 },
	{ "dynamo_peak_mem", "amount", "B", 1e9 },
	{ "graph_breaks", "breaks", "", 1 },
	{ "unique_graph_breaks", "breaks", "", 1 },
	{ "unique_graphs", "graphs", "", 1 },
	{ "cudagraph_skips", "amount", "", 1 },
};
/* What a result is of: results of others are not comparable. */
static const char parameters[] = "dev batch_size tag";
/* Exact, but more of them is neither better nor worse. */
static const char facts[] = "calls_captured autograd_captures autograd_compiles";

/* A cell of CSV (RFC 4180) from `at` on; where the next begins, or the line ends. */
static const char *take_cell(const char *at, const char *end, char out[MOST_CELL])
{
	bool quoted = at < end && *at == '"';
	size_t n = 0;

	for (at += quoted; at < end; at++) {
		if (quoted && *at == '"') {
			if (at + 1 == end || at[1] != '"') {
				quoted = false;
				continue;
			}
			at++;
		} else if (!quoted && (*at == ',' || *at == '\n'))
			break;
		if (n + 1 < MOST_CELL && *at != '\r' && *at != '\0')
			out[n++] = *at;
	}
	while (n > 0 && !utf8_valid(out, n)) /* cut within a character */
		n--;
	out[n] = '\0';
	return at;
}

/* Where the next line begins. */
static const char *take_line(const char *at, const char *end, struct csv_line *line)
{
	line->n = 0;
	while (at < end && line->n < MOST_COLUMNS) {
		at = take_cell(at, end, line->cell[line->n++]);
		if (at < end && *at++ == '\n')
			return at;
	}
	while (at < end && *at++ != '\n')
		;
	return at;
}

static int find(const struct csv_line *head, const char *name)
{
	for (int i = 0; i < head->n; i++)
		if (strcmp(head->cell[i], name) == 0)
			return i;
	return -1;
}

static bool is_dynamo(const struct results_file *file)
{
	static struct csv_line const empty;
	struct csv_line *head = malloc(sizeof(*head));
	const char *at = file->bytes, *end = at + file->len;
	bool is = false;

	if (head && !file->json && file->len > 0) {
		*head = empty;
		/* A header is a short line. */
		if (memchr(at, '\n', file->len < 8192 ? file->len : 8192))
			take_line(at, end, head);
		is = find(head, "name") >= 0 &&
		     (find(head, "speedup") >= 0 || find(head, "accuracy") >= 0 ||
		      find(head, "graph_breaks") >= 0 || find(head, "abs_latency") >= 0);
	}
	free(head);
	return is;
}

static const struct csv_column *column_of(const char *name)
{
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++)
		if (strcmp(columns[i].name, name) == 0)
			return &columns[i];
	return NULL;
}

/* A finite number that is the whole cell; NAN. */
static double number_of(const char *cell)
{
	char *end;
	double x = strtod(cell, &end);

	return end > cell && *end == '\0' && isfinite(x) ? x : (double)NAN;
}

/* pass, pass_due_to_skip; fail_accuracy, fail_to_run; else nothing was held against eager:
 * infra_error, eager_1st_run_OOM, model_fail_to_load, ... */
static bool add_accuracy(struct results_reading *r, json_t *report, const char *cell,
			 struct err *err)
{
	bool passes = strncmp(cell, "pass", 4) == 0, fails = strncmp(cell, "fail", 4) == 0;
	struct reading_figure f = READING_ONE("accuracy", "rate", "", 1, passes);
	json_t *text = json_string(cell);

	f.of = "1: the values are eager's; 0: they are not";
	f.agrees = passes ? READING_AGREES : READING_DISAGREES;
	reading_fact(report, "about", "accuracy", text);
	json_decref(text);
	if (!passes && !fails)
		reading_note(r, "no accuracy of a model that ended with %.60s", cell);
	return (!passes && !fails) || reading_add(r, report, &f, err);
}

static bool add_cell(struct results_reading *r, json_t *report, const char *name, const char *cell,
		     struct err *err)
{
	const struct csv_column *c = column_of(name);
	double value = number_of(cell);
	struct reading_figure f = READING_ONE(name, c ? c->kind : reading_kind(name),
					      c ? c->unit : reading_unit(name), c ? c->scale : 1,
					      value);
	json_t *text;

	if (strcmp(name, "name") == 0 || !*cell || !*name)
		return true;
	if (strcmp(name, "accuracy") == 0)
		return add_accuracy(r, report, cell, err);
	if (isfinite(value) && !reading_among(name, parameters) && !reading_among(name, facts))
		return reading_add(r, report, &f, err);
	if (c)
		reading_note(r, "not kept: %.60s of a model, which is no number", name);
	text = json_string(cell);
	reading_fact(report, reading_among(name, parameters) ? "parameters" : "about", name, text);
	json_decref(text);
	return true;
}

/* The runner writes a model that failed with a speedup of zero. */
static bool failed(const struct csv_line *head, const struct csv_line *row)
{
	int speedup = find(head, "speedup"), accuracy = find(head, "accuracy");

	return accuracy < 0 && speedup >= 0 && speedup < row->n &&
	       !(number_of(row->cell[speedup]) > 0);
}

static bool one(struct results_reading *r, const struct csv_line *head, const struct csv_line *row,
		struct err *err)
{
	const char *name = row->cell[find(head, "name")];
	bool ok = true;
	json_t *report;

	if (failed(head, row)) {
		reading_note(r, "%.120s has no result: its speedup is none", name);
		return true;
	}
	if (row->n > head->n)
		reading_note(r, "not kept: cells of %.120s after the last column", name);
	report = reading_begin(r, name, err);
	for (int i = 0; report && ok && i < row->n && i < head->n; i++)
		ok = add_cell(r, report, head->cell[i], row->cell[i], err);
	return report && ok;
}

static bool read_dynamo(struct results_reading *r, const struct results_file *file, struct err *err)
{
	const char *at = file->bytes, *end = at + file->len;
	struct csv_line *lines = calloc(2, sizeof(*lines));
	bool ok = lines != NULL || err_set(err, ERR_MEMORY, "out of memory for results");
	int name;

	if (!ok)
		return false;
	if (!utf8_valid(file->bytes, file->len)) {
		free(lines);
		return err_set(err, ERR_WORKLOAD, "the file is no UTF-8");
	}
	at = take_line(at, end, &lines[0]);
	name = find(&lines[0], "name");
	for (int64_t number = 2; ok && at < end; number++) {
		at = take_line(at, end, &lines[1]);
		if (lines[1].n == 1 && !*lines[1].cell[0])
			continue; /* an empty line */
		if (lines[1].n == lines[0].n && strcmp(lines[1].cell[name], "name") == 0)
			continue; /* the header again: runs that were joined */
		ok = (name < lines[1].n && *lines[1].cell[name]) ||
		     err_set(err, ERR_WORKLOAD, "line %lld of the file has no name",
			     (long long)number);
		ok = ok && one(r, &lines[0], &lines[1], err);
	}
	free(lines);
	return ok;
}

const struct results_format results_dynamo = { is_dynamo, read_dynamo };
