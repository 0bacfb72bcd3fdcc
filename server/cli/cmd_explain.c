/* server/cli/cmd_explain.c -- `breakeven explain FILE`: capture, shown as text.
 *
 * Counterpart of torch._dynamo.explain().  The calls run once, by the
 * interpreter tier; nothing is compiled by the system compiler, nothing timed.
 */
#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/utf8.h"
#include "fusion/fusion.h"
#include "profiler/fields/fields.h"
#include "profiler/numbers/numbers.h"
#include "profiler/profiler.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/cli/heap.h"
#include "server/cli/workload_file.h"
#include "server/text/text.h"

/* ---- what was captured, as text ---- */

enum { MOST_TRACES = 100 };

/* "torch.sin, operator.add x3" */
static void print_ops(struct buf *out, const struct report_texts *ops)
{
	size_t i = 0;

	while (i < ops->n) {
		size_t same = 1;

		while (i + same < ops->n && strcmp(ops->at[i], ops->at[i + same]) == 0)
			same++;
		buf_printf(out, "%s%s", i ? ", " : "", ops->at[i]);
		if (same > 1)
			buf_printf(out, " x%zu", same);
		i += same;
	}
}

static void print_arg(struct buf *out, const json_t *arg, const struct report_node_list *nodes)
{
	const json_t *node = json_object_get(arg, "node");
	char *text;
	size_t i;
	json_t *item;

	if (json_is_integer(node)) {
		for (i = 0; i < nodes->n; i++)
			if (nodes->at[i].id == json_integer_value(node))
				buf_printf(out, "%%%s", nodes->at[i].name);
		return;
	}
	if (json_is_array(arg)) {
		buf_puts(out, "[");
		json_array_foreach((json_t *)arg, i, item) {
			buf_puts(out, i ? ", " : "");
			print_arg(out, item, nodes);
		}
		buf_puts(out, "]");
		return;
	}
	if (json_is_string(arg)) { /* a size: "s0 + 1" */
		buf_puts(out, json_string_value(arg));
		return;
	}
	if (json_is_boolean(arg)) {
		buf_puts(out, json_is_true(arg) ? "True" : "False");
		return;
	}
	text = json_dumps(arg, JSON_ENCODE_ANY | JSON_REAL_PRECISION(6));
	buf_puts(out, json_is_null(arg) ? "None" : text ? text : "?");
	free(text);
}

enum { COLUMNS = 7, MOST_WIDE = 40 };

/* The cells of a node, one after the other, each ended by \0. */
static void node_cells(const struct report_node *node, const struct report_node_list *nodes,
		       struct buf *cells)
{
	bool input = strcmp(node->op, "placeholder") == 0;
	const char *file = report_text(node->file);
	size_t i;
	json_t *arg;

	buf_printf(cells, "%s%c%s%c%s%c(", input ? "placeholder" : "call_function", 0, node->name,
		   0, input ? "" : node->op, 0);
	json_array_foreach(node->args, i, arg) {
		buf_puts(cells, i ? ", " : "");
		print_arg(cells, arg, nodes);
	}
	buf_printf(cells, ")%c%s%c%s%c", 0, report_text(node->shape), 0, report_text(node->dtype),
		   0);
	if (node->line)
		buf_printf(cells, "%s%s%lld", file, *file ? ":" : "", (long long)node->line);
	buf_putc(cells, '\0');
}

static void widen(const struct buf *cells, int width[COLUMNS])
{
	const char *at = cells->data;

	for (int c = 0; at && c < COLUMNS; c++, at += strlen(at) + 1) {
		int len = utf8_count(at, at + strlen(at));

		if (len > width[c])
			width[c] = len < MOST_WIDE ? len : MOST_WIDE;
	}
}

static void print_row(struct buf *out, const struct buf *cells, const int width[COLUMNS])
{
	const char *at = cells->data;

	buf_puts(out, "   ");
	for (int c = 0; at && c < COLUMNS; c++, at += strlen(at) + 1)
		buf_printf(out, "  %*s", c == COLUMNS - 1 ? 0 : text_width(-width[c], at), at);
	buf_putc(out, '\n');
}

static void print_table(struct buf *out, const struct report_node_list *nodes)
{
	static const char heads[] = "opcode\0name\0target\0args\0shape\0dtype\0line";
	int width[COLUMNS] = { 0 };
	struct buf cells = { 0 };

	buf_add(&cells, heads, sizeof(heads));
	widen(&cells, width);
	for (size_t i = 0; i < nodes->n; i++) {
		buf_clear(&cells);
		node_cells(&nodes->at[i], nodes, &cells);
		widen(&cells, width);
	}
	buf_clear(&cells);
	buf_add(&cells, heads, sizeof(heads));
	print_row(out, &cells, width);
	for (size_t i = 0; i < nodes->n; i++) {
		buf_clear(&cells);
		node_cells(&nodes->at[i], nodes, &cells);
		print_row(out, &cells, width);
	}
	buf_finish(&cells);
}

/* "4.2 MB" */
static void print_bytes(struct buf *out, int64_t n)
{
	static const char *const units[] = { "B", "kB", "MB", "GB" };
	double bytes = (double)n;
	char number[NUMBER_BYTES];
	int unit = 0;

	for (; bytes >= 1e3 && unit < 3; unit++)
		bytes /= 1e3;
	number_short(number, bytes);
	buf_printf(out, "%s %s", number, units[unit]);
}

/* Each kernel, what it moves, and why it is one of its own. */
static void print_kernels(struct buf *out, const struct report_kernel_list *kernels)
{
	if (kernels->n)
		buf_puts(out, "     kernels\n");
	for (size_t i = 0; i < kernels->n; i++) {
		const struct report_kernel *k = &kernels->at[i];

		buf_printf(out, "     %3zu  %s: %lld op%s, ", i, k->name, (long long)k->ops,
			   k->ops == 1 ? "" : "s");
		print_bytes(out, k->read_bytes);
		buf_puts(out, " read, ");
		print_bytes(out, k->written_bytes);
		buf_puts(out, " written");
		if (k->ops > 1) {
			buf_puts(out, ", ");
			print_bytes(out, k->saved_bytes);
			buf_puts(out, " saved");
		}
		buf_printf(out, "\n          %s\n", k->why);
	}
}

static void print_graph(struct buf *out, const struct report_graph *graph, bool table)
{
	long long id = (long long)graph->id, placeholders = (long long)graph->placeholders;

	if (table && id > 0)
		buf_putc(out, '\n');
	buf_printf(out, "%3lld  %s [%s]: %zu op%s, %lld placeholder%s: ", id,
		   report_text(graph->frame), report_text(graph->compile), graph->ops.n,
		   graph->ops.n == 1 ? "" : "s", placeholders, placeholders == 1 ? "" : "s");
	print_ops(out, &graph->ops);
	buf_putc(out, '\n');
	if (table) {
		print_table(out, &graph->nodes);
		print_kernels(out, &graph->kernel_details);
	}
}

static void print_entry(struct buf *out, const struct report_entry *entry)
{
	buf_printf(out, "     %s, made by call %lld, used %lld time%s", report_text(entry->compile),
		   (long long)entry->call, (long long)entry->uses, entry->uses == 1 ? "" : "s");
	if (entry->bail_outs > 0)
		buf_printf(out, ", %lld of them bailed out to eager", (long long)entry->bail_outs);
	if (entry->reason)
		buf_printf(out, "; compiled because %s", entry->reason);
	buf_putc(out, '\n');
	for (size_t i = 0; i < entry->symbols.n; i++) {
		const struct report_symbol *symbol = &entry->symbols.at[i];

		buf_printf(out, "       %s = %s", symbol->name, report_text(symbol->source));
		if (symbol->range)
			buf_printf(out, ", %s", symbol->range);
		buf_putc(out, '\n');
	}
	for (size_t i = 0; i < entry->guards.n; i++)
		buf_printf(out, "       %s\n", entry->guards.at[i]);
}

static void print_frames(struct buf *out, const struct report_frame_list *tree)
{
	if (tree->n)
		buf_puts(out, "\nFrames, their cache entries and guards\n");
	for (size_t i = 0; i < tree->n; i++) {
		const struct report_frame *frame = &tree->at[i];
		const char *file = report_text(frame->file);

		buf_printf(out, "  %s (%s%sline %lld)%s\n", frame->frame, file, *file ? ", " : "",
			   (long long)frame->line,
			   frame->skipped    ? ": runs in eager"
			   : frame->run_only ? ": it hit the recompile limit"
					     : "");
		for (size_t k = 0; k < frame->entries.n; k++)
			print_entry(out, &frame->entries.at[k]);
	}
}

static void print_trace(struct buf *out, const struct report_trace_run *run)
{
	const char *file = report_text(run->file);

	buf_printf(out, "  call %lld, %s%sline %lld in %s: ", (long long)run->call, file,
		   *file ? ", " : "", (long long)run->line, run->function);
	if (run->has.graph)
		buf_printf(out, "graph %d, ", (int)run->graph);
	buf_printf(out, "%s, %lld input%s, %lld output%s, hash %.32s\n     %s\n",
		   run->compiled ? "compiled" : "found in the cache", (long long)run->inputs,
		   run->inputs == 1 ? "" : "s", (long long)run->outputs,
		   run->outputs == 1 ? "" : "s", run->hash, run->cause);
	if (*report_text(run->message))
		buf_printf(out, "     %s\n", run->message);
}

/* Mode lazy: what made each trace run, in PyTorch/XLA's words. */
static void print_lazy(struct buf *out, const struct report_lazy *lazy)
{
	size_t shown = lazy->runs.n < MOST_TRACES ? lazy->runs.n : MOST_TRACES;

	if (lazy->runs.n)
		buf_puts(out, "\nTraces that were run, and why\n");
	for (size_t i = 0; i < shown; i++)
		print_trace(out, &lazy->runs.at[i]);
	if (lazy->left_out || lazy->runs.n > shown)
		buf_printf(out, "  and %lld more\n",
			   (long long)lazy->left_out + (long long)(lazy->runs.n - shown));
}

static void print_recompiles(struct buf *out, const struct report_recompile_list *recompiles)
{
	if (recompiles->n)
		buf_puts(out, "\nRecompiles\n");
	for (size_t i = 0; i < recompiles->n; i++) {
		const struct report_recompile *r = &recompiles->at[i];

		buf_printf(out, "  call %lld, %s: %s\n", (long long)r->call, report_text(r->frame),
			   r->reason);
	}
}

static void print_result(struct buf *out, const struct report_size_try *row)
{
	const char *then = report_text(row->then);

	if (strcmp(row->result, "same entry") == 0)
		buf_puts(out, "served by the entry that is there");
	else if (strcmp(row->result, "recompiled") == 0)
		buf_printf(out, "recompiled: %s", report_text(row->reason));
	else if (strcmp(row->result, "new frames") == 0)
		buf_puts(out, "the program goes another way: what it meets there is captured");
	else if (strcmp(row->result, "error") == 0)
		buf_printf(out, "fails: %s", report_text(row->reason));
	if (strcmp(then, "same entry") == 0)
		buf_puts(out, "; the next other size is then served without compiling");
	else if (*then)
		buf_puts(out, "; the next other size compiles once more");
	buf_putc(out, '\n');
}

static void print_sizes(struct buf *out, const struct report_size_try_list *sizes)
{
	int left_out = 0;

	if (sizes->n)
		buf_puts(out, "\nAt other sizes\n");
	for (size_t i = 0; i < sizes->n; i++) {
		const struct report_size_try *row = &sizes->at[i];

		if (strcmp(row->result, "not tried") == 0) {
			left_out++;
			continue;
		}
		buf_puts(out, "  ");
		if (row->where.n == 0) {
			buf_puts(out, "the same call again: ");
			print_result(out, row);
			continue;
		}
		for (size_t k = 0; k < row->where.n; k++)
			buf_printf(out, "%s%s", k ? ", " : "", row->where.at[k]);
		buf_printf(out, ", %s: ", row->change);
		print_result(out, row);
	}
	if (left_out)
		buf_printf(out, "  %d were not tried, it would take too long; --sizes tries all\n",
			   left_out);
}

/* Counts as torch._dynamo.explain() has them, breaks under their source lines,
 * graphs (as tables where `tables`), guards and recompiles of each frame, and
 * what other sizes lead to.  `place` and `workload` are those of break_text_print(). */
static void print_capture(struct buf *out, const struct report_explain *e, const char *place,
			  const json_t *workload, bool tables)
{
	buf_printf(out, "Graph Count: %lld\nGraph Break Count: %lld\nOp Count: %lld\n",
		   (long long)e->graph_count, (long long)e->graph_break_count,
		   (long long)e->op_count);
	if (e->breaks.n)
		buf_puts(out, "\nBreaks\n");
	break_text_print(out, &e->breaks, place, workload);
	if (e->has.rewrites_tried && !e->rewrites_tried)
		buf_puts(out,
			 "     rewrites were not tried, it would take too long; --rewrites tries "
			 "all\n");
	if (e->graphs.n)
		buf_puts(out, "\nGraphs\n");
	for (size_t i = 0; i < e->graphs.n; i++)
		print_graph(out, &e->graphs.at[i], tables);
	print_frames(out, &e->tree);
	if (e->lazy)
		print_lazy(out, e->lazy);
	print_recompiles(out, &e->recompiles);
	print_sizes(out, &e->sizes);
}

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
		buf_printf(out, "%lld nodes -> %lld, %.1f µs\n", (long long)*nodes,
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
	print_capture(&text, e, f->source.place, json, f->graph);
	if (f->passes)
		print_passes(&text, &e->graphs);
	ok = !text.failed && fputs(text.data, stdout) != EOF && fflush(stdout) == 0;
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
	bool proposed;
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
	proposed = json && workload_file_proposed(&f.source, "explain", json, registry);
	if (json && !proposed)
		w = workload_file_parse(&f.source, json, registry, &err);
	if (w)
		e = explain(&f, w, mode, &draft, &err);
	if (proposed)
		status = EXIT_FAILED;
	else if (!e)
		workload_file_error(&f.source, "explain", json, f.registry, &err);
	else if (print(&f, json, e))
		status = report_error(&f, json, e->error);
	else
		fprintf(stderr, "breakeven explain: the result could not be written: %s\n",
			strerror(errno));
	report_draft_finish(&draft);
	workload_destroy(w);
	json_decref(json);
	json_decref(f.source.listed);
	return status;
}
