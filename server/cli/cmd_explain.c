/* server/cli/cmd_explain.c -- `breakeven explain FILE`: capture, shown as text.
 *
 * Counterpart of torch._dynamo.explain().  The calls run once, by the
 * interpreter tier; nothing is compiled by the system compiler, nothing timed.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "fusion/fusion.h"
#include "profiler/fields/json.h"
#include "profiler/profiler.h"
#include "server/cli/cli.h"
#include "server/cli/explain_text.h"
#include "server/cli/flags.h"
#include "server/cli/heap.h"
#include "server/cli/workload_file.h"

/* ---- what the passes did, as text ---- */

enum { MOST_LINES = 400, MOST_PLACES = 6 };

/* The length of the line, without its end. */
static size_t line_length(const char *at)
{
	return strcspn(at, "\n");
}

static const char *next_line(const char *at)
{
	at += line_length(at);
	return *at ? at + 1 : at;
}

static bool same_line(const char *a, const char *b)
{
	size_t len = line_length(a);

	return len == line_length(b) && memcmp(a, b, len) == 0;
}

static bool has_line(const char *text, const char *line)
{
	for (; *text; text = next_line(text))
		if (same_line(text, line))
			return true;
	return false;
}

static void print_line(struct buf *out, char sign, const char *line, int *left)
{
	if ((*left)-- > 0)
		buf_printf(out, "        %c %.*s\n", sign, (int)line_length(line), line);
}

/* Lines that went and came; those that stay are not shown. */
static void print_difference(struct buf *out, const char *before, const char *after)
{
	int left = MOST_LINES;

	while (*before || *after) {
		if (*before && *after && same_line(before, after)) {
			before = next_line(before);
			after = next_line(after);
		} else if (*before && !has_line(after, before)) {
			print_line(out, '-', before, &left);
			before = next_line(before);
		} else if (*after && !has_line(before, after)) {
			print_line(out, '+', after, &left);
			after = next_line(after);
		} else if (*before) { /* it has moved */
			print_line(out, '-', before, &left);
			before = next_line(before);
		} else {
			print_line(out, '+', after, &left);
			after = next_line(after);
		}
	}
	if (left < 0)
		buf_printf(out, "          and %d lines more; --json has all\n", -left);
}

static void print_rule(struct buf *out, const json_t *rule)
{
	const json_t *at = json_object_get(rule, "at");
	long long last = 0;
	int shown = 0;
	json_t *place;
	size_t i;

	buf_printf(out, "      %s", text_field(rule, "rule"));
	if (whole_field(rule, "count") > 1)
		buf_printf(out, ", %lld times", whole_field(rule, "count"));
	json_array_foreach((json_t *)at, i, place) {
		long long line = whole_field(place, "line");

		if (line == 0 || line == last || shown == MOST_PLACES)
			continue;
		buf_printf(out, "%s%lld", shown ? ", " : ": line ", line);
		last = line;
		shown++;
	}
	if (shown == MOST_PLACES)
		buf_puts(out, ", ...");
	buf_putc(out, '\n');
}

/* Prints a step; `before` is the text in front of it, and then after it. */
static void print_step(struct buf *out, const json_t *step, const char **before, long long *nodes)
{
	const char *after = json_string_value(json_object_get(step, "after"));
	json_t *rule;
	size_t i;

	buf_printf(out, "    %-13s ", text_field(step, "pass"));
	if (json_is_true(json_object_get(step, "off"))) {
		buf_puts(out, "switched off\n");
		return;
	}
	if (json_is_false(json_object_get(step, "changed"))) {
		buf_puts(out, "changed nothing\n");
	} else {
		buf_printf(out, "%lld nodes -> %lld, %.1f us\n", *nodes, whole_field(step, "nodes"),
			   json_number_value(json_object_get(step, "us")));
	}
	json_array_foreach(json_object_get(step, "rules"), i, rule) {
		print_rule(out, rule);
	}
	*nodes = whole_field(step, "nodes");
	if (after && *before)
		print_difference(out, *before, after);
	else if (json_is_true(json_object_get(step, "changed")))
		buf_puts(out, "        the graph is left out: it is over the limit\n");
	if (after || json_is_true(json_object_get(step, "changed")))
		*before = after;
}

static void print_part(struct buf *out, const json_t *graph, const json_t *part)
{
	const char *before = json_string_value(json_object_get(part, "before"));
	long long nodes = whole_field(part, "nodes");
	json_t *step;
	size_t i;

	buf_printf(out, "\nPasses over graph %lld of %s (%s)%s%s\n", whole_field(graph, "id"),
		   text_field(graph, "frame"), text_field(graph, "compile"),
		   *text_field(part, "part") ? ", " : "", text_field(part, "part"));
	if (json_object_get(part, "error")) {
		buf_printf(out, "    %s\n", text_field(part, "error"));
		return;
	}
	json_array_foreach(json_object_get(part, "steps"), i, step) {
		print_step(out, step, &before, &nodes);
	}
}

static void print_passes(struct buf *out, const json_t *explanation)
{
	json_t *graph, *part;
	size_t i, k;

	json_array_foreach(json_object_get(explanation, "graphs"), i, graph) {
		json_array_foreach(json_object_get(graph, "passes"), k, part) {
			print_part(out, graph, part);
		}
	}
}

/* ---- the command ---- */

/* Other sizes, and changes of the source that would take breaks away, are tried
 * until so much processor time is used, where the flags do not ask for all. */
static const double tries_ms = 14;

struct explain_flags {
	struct workload_file source;
	const char *mode, *policy, *without;
	bool json, graph, passes, sizes, rewrites, poison;
	const struct registry *registry;
};

static int read_flags(int argc, char **argv, struct explain_flags *f)
{
	struct flag_texts inputs = workload_file_inputs(&f->source);
	struct flag_texts weights = workload_file_weights(&f->source);
	const struct flag table[] = {
		{ "--mode", .value = &f->mode },
		{ "--policy", .value = &f->policy },
		{ "--without", .value = &f->without },
		WORKLOAD_FILE_FLAGS(&f->source, &inputs, &weights),
		{ "--json", .on = &f->json },
		{ "--graph", .on = &f->graph },
		{ "--passes", .on = &f->passes },
		{ "--sizes", .on = &f->sizes },
		{ "--rewrites", .on = &f->rewrites },
		{ "--poison", .on = &f->poison },
	};
	struct flags flags = {
		.command = "explain",
		.table = table,
		.n = sizeof(table) / sizeof(table[0]),
		.words = { .at = &f->source.file, .most = 1, .over = "more than one FILE: " },
	};
	int status = flags_read(&flags, argc, argv);

	f->source.n_inputs = inputs.n;
	f->source.n_weights = weights.n;
	return status >= 0 || workload_file_check_flags(&f->source, "explain") ? status
									       : EXIT_USAGE;
}

static bool read_mode(const struct explain_flags *f, enum fusion_mode *mode)
{
	enum fusion_policy policy;
	struct err err = { 0 };

	*mode = FUSION_AUTO;
	if (f->mode && (!fusion_mode_from_name(f->mode, mode) || *mode == FUSION_EAGER))
		return flags_refuse("explain",
				    "--mode is one of auto, static, dynamic, lazy and graphs, not ",
				    f->mode);
	if (f->policy && !fusion_policy_from_name(f->policy, &policy))
		return flags_refuse("explain", "--policy is dynamo or native, not ", f->policy);
	if (f->without && !pass_flag_check(f->registry, f->without, &err))
		return flags_refuse("explain", "--without: ", err.message);
	return true;
}

static json_t *explain(const struct explain_flags *f, const json_t *json, enum fusion_mode mode,
		       struct err *err)
{
	struct explain_options options = { .mode = mode,
					   .sizes_ms = f->sizes ? -1 : tries_ms,
					   .rewrites_ms = f->rewrites ? -1 : tries_ms,
					   .passes = f->passes,
					   .brief = !f->json && !f->graph };
	struct workload *w = workload_file_parse(&f->source, json, f->registry, err);
	json_t *out = w ? profiler_explain(w, &options, err) : NULL;

	workload_destroy(w);
	return out;
}

static bool print(const struct explain_flags *f, const json_t *json, const json_t *e)
{
	struct buf text;
	bool ok;

	if (f->json)
		return json_dumpf(e, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF &&
		       fflush(stdout) == 0;
	buf_init(&text, 0);
	explain_text_print(&text, e, f->source.place, json, f->graph);
	if (f->passes)
		print_passes(&text, e);
	ok = text.data && fputs(text.data, stdout) != EOF && fflush(stdout) == 0;
	buf_finish(&text);
	return ok;
}

/* The program's own error, after what was captured before it. */
static int report_error(const struct explain_flags *f, const json_t *json, const json_t *e)
{
	const json_t *error = json_object_get(e, "error");
	const char *message = json_string_value(json_object_get(error, "message"));
	struct err err;

	if (!message)
		return EXIT_DONE;
	err = (struct err){ .line = (int)json_integer_value(json_object_get(error, "line")),
			    .column = (int)json_integer_value(json_object_get(error, "column")) };
	snprintf(err.message, sizeof(err.message), "%s", message);
	snprintf(err.file, sizeof(err.file), "%s", text_field(error, "file"));
	workload_file_error(&f->source, "explain", json, f->registry, &err);
	return EXIT_FAILED;
}

int cmd_explain(int argc, char **argv, const struct registry *registry)
{
	struct explain_flags f = { .registry = registry };
	struct err err = { 0 };
	enum fusion_mode mode;
	json_t *json, *e = NULL;
	int status;

	status = read_flags(argc, argv, &f);
	if (status >= 0)
		return status;
	if (!read_mode(&f, &mode))
		return EXIT_USAGE;
	status = EXIT_FAILED;
	heap_take();
	json = workload_file_load(&f.source, &err);
	if (json && f.policy)
		json_object_set_new(json, "policy", json_string(f.policy));
	if (json && f.source.entry)
		json_object_set_new(json, "entry", json_string(f.source.entry));
	if (json && f.poison)
		json_object_set_new(json, "poison", json_true());
	if (json && f.without)
		pass_flag_apply(json, f.without);
	if (json)
		e = explain(&f, json, mode, &err);
	if (!e)
		workload_file_error(&f.source, "explain", json, f.registry, &err);
	else if (print(&f, json, e))
		status = report_error(&f, json, e);
	else
		fprintf(stderr, "breakeven explain: the result could not be written: %s\n",
			strerror(errno));
	json_decref(e);
	json_decref(json);
	return status;
}
