/* server/cli/explain_text.c -- prints what was captured of a program. */
#include "server/cli/explain_text.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/fields/fields.h"
#include "server/text/text.h"
#include "profiler/numbers/numbers.h"

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
		int len = (int)strlen(at);

		if (len > width[c])
			width[c] = len < MOST_WIDE ? len : MOST_WIDE;
	}
}

static void print_row(struct buf *out, const struct buf *cells, const int width[COLUMNS])
{
	const char *at = cells->data;

	buf_puts(out, "   ");
	for (int c = 0; at && c < COLUMNS; c++, at += strlen(at) + 1)
		buf_printf(out, "  %-*s", c == COLUMNS - 1 ? 0 : width[c], at);
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
		buf_puts(out, "\nFrames, their compiled versions and guards\n");
	for (size_t i = 0; i < tree->n; i++) {
		const struct report_frame *frame = &tree->at[i];
		const char *file = report_text(frame->file);

		buf_printf(out, "  %s (%s%sline %lld)%s\n", frame->frame, file, *file ? ", " : "",
			   (long long)frame->line,
			   frame->skipped    ? ": runs in eager"
			   : frame->run_only ? ": nothing is compiled any more"
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

void explain_text_print(struct buf *out, const struct report_explain *e, const char *place,
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
