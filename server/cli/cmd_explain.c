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
#include "profiler/fields/fields.h"
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

static void print_rule(struct buf *out, const struct report_rule *rule)
{
	int64_t last = 0;
	int shown = 0;

	buf_printf(out, "      %s", rule->rule);
	if (rule->count > 1)
		buf_printf(out, ", %lld times", (long long)rule->count);
	for (size_t i = 0; i < rule->at.n; i++) {
		int64_t line = rule->at.at[i].line;

		if (line == 0 || line == last || shown == MOST_PLACES)
			continue;
		buf_printf(out, "%s%lld", shown ? ", " : ": line ", (long long)line);
		last = line;
		shown++;
	}
	if (shown == MOST_PLACES)
		buf_puts(out, ", ...");
	buf_putc(out, '\n');
}

/* Prints a step; `before` is the text in front of it, and then after it. */
static void print_step(struct buf *out, const struct report_pass_step *step, const char **before,
		       int64_t *nodes)
{
	const char *after = step->after;

	buf_printf(out, "    %-13s ", step->pass);
	if (step->off) {
		buf_puts(out, "switched off\n");
		return;
	}
	if (step->changed)
		buf_printf(out, "%lld nodes -> %lld, %.1f us\n", (long long)*nodes,
			   (long long)step->nodes, step->us);
	else
		buf_puts(out, "changed nothing\n");
	for (size_t i = 0; i < step->rules.n; i++)
		print_rule(out, &step->rules.at[i]);
	*nodes = step->nodes;
	if (after && *before)
		print_difference(out, *before, after);
	else if (step->changed)
		buf_puts(out, "        the graph is left out: it is over the limit\n");
	if (after || step->changed)
		*before = after;
}

static void print_part(struct buf *out, const struct report_graph *graph,
		       const struct report_pass_part *part)
{
	const char *before = part->before;
	int64_t nodes = part->nodes;

	buf_printf(out, "\nPasses over graph %lld of %s (%s)%s%s\n", (long long)graph->id,
		   report_text(graph->frame), report_text(graph->compile), *part->part ? ", " : "",
		   part->part);
	if (part->error) {
		buf_printf(out, "    %s\n", part->error);
		return;
	}
	for (size_t i = 0; i < part->steps.n; i++)
		print_step(out, &part->steps.at[i], &before, &nodes);
}

static void print_passes(struct buf *out, const struct report_graph_list *graphs)
{
	for (size_t i = 0; i < graphs->n; i++)
		for (size_t k = 0; k < graphs->at[i].passes.n; k++)
			print_part(out, &graphs->at[i], &graphs->at[i].passes.at[k]);
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

static const struct report_explain *explain(const struct explain_flags *f, const struct workload *w,
					    enum fusion_mode mode, struct report_draft *draft,
					    struct err *err)
{
	struct explain_options options = { .mode = mode,
					   .sizes_ms = f->sizes ? -1 : tries_ms,
					   .rewrites_ms = f->rewrites ? -1 : tries_ms,
					   .passes = f->passes,
					   .brief = !f->json && !f->graph };
	const struct workload_file_rights rights = { .command = "explain",
						     .registry = f->registry };

	if (!workload_file_confine(&f->source, w, &rights, err))
		return NULL;
	return profiler_explain(w, &options, draft, err);
}

static bool print_json(const struct report_explain *e)
{
	json_t *json = report_write_explain(e);
	bool ok = json && json_dumpf(json, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF &&
		  fflush(stdout) == 0;

	json_decref(json);
	return ok;
}

static bool print(const struct explain_flags *f, const json_t *json, const struct report_explain *e)
{
	struct buf text;
	bool ok;

	if (f->json)
		return print_json(e);
	buf_init(&text, 0);
	explain_text_print(&text, e, f->source.place, json, f->graph);
	if (f->passes)
		print_passes(&text, &e->graphs);
	ok = text.data && fputs(text.data, stdout) != EOF && fflush(stdout) == 0;
	buf_finish(&text);
	return ok;
}

/* The program's own error, after what was captured before it. */
static int report_error(const struct explain_flags *f, const json_t *json,
			const struct report_failure *error)
{
	struct err err;

	if (!error)
		return EXIT_DONE;
	err = (struct err){ .line = (int)error->line, .column = (int)error->column };
	snprintf(err.message, sizeof(err.message), "%s", error->message);
	snprintf(err.file, sizeof(err.file), "%s", report_text(error->file));
	workload_file_error(&f->source, "explain", json, f->registry, &err);
	return EXIT_FAILED;
}

int cmd_explain(int argc, char **argv, const struct registry *registry)
{
	struct explain_flags f = { .registry = registry };
	struct err err = { 0 };
	enum fusion_mode mode;
	struct workload *w = NULL;
	const struct report_explain *e = NULL;
	struct report_draft draft = { 0 };
	json_t *json;
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
		w = workload_file_parse(&f.source, json, registry, &err);
	if (w)
		e = explain(&f, w, mode, &draft, &err);
	if (!e)
		workload_file_error(&f.source, "explain", json, f.registry, &err);
	else if (print(&f, json, e))
		status = report_error(&f, json, e->error);
	else
		fprintf(stderr, "breakeven explain: the result could not be written: %s\n",
			strerror(errno));
	report_draft_finish(&draft);
	workload_destroy(w);
	json_decref(json);
	return status;
}
