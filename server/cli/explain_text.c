/* server/cli/explain_text.c -- prints what was captured of a program. */
#include "server/cli/explain_text.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/fields/json.h"
#include "server/text/text.h"
#include "profiler/numbers/numbers.h"

enum { MOST_TRACES = 100 };

/* "torch.sin, operator.add x3" */
static void print_ops(struct buf *out, const json_t *ops)
{
	size_t n = json_array_size(ops), i = 0;

	while (i < n) {
		const char *op = json_string_value(json_array_get(ops, i));
		size_t same = 1;

		while (i + same < n &&
		       strcmp(op, json_string_value(json_array_get(ops, i + same))) == 0)
			same++;
		buf_printf(out, "%s%s", i ? ", " : "", op);
		if (same > 1)
			buf_printf(out, " x%zu", same);
		i += same;
	}
}

static void print_arg(struct buf *out, const json_t *arg, const json_t *nodes)
{
	const json_t *node = json_object_get(arg, "node");
	char *text;
	size_t i;
	json_t *item;

	if (json_is_integer(node)) {
		json_array_foreach((json_t *)nodes, i, item) {
			if (whole_field(item, "id") == (int)json_integer_value(node))
				buf_printf(out, "%%%s", text_field(item, "name"));
		}
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
static void node_cells(const json_t *node, const json_t *nodes, struct buf *cells)
{
	bool input = strcmp(text_field(node, "op"), "placeholder") == 0;
	size_t i;
	json_t *arg;

	buf_printf(cells, "%s%c%s%c%s%c(", input ? "placeholder" : "call_function", 0,
		   text_field(node, "name"), 0, input ? "" : text_field(node, "op"), 0);
	json_array_foreach(json_object_get(node, "args"), i, arg) {
		buf_puts(cells, i ? ", " : "");
		print_arg(cells, arg, nodes);
	}
	buf_printf(cells, ")%c%s%c%s%c", 0, text_field(node, "shape"), 0, text_field(node, "dtype"),
		   0);
	if (whole_field(node, "line"))
		buf_printf(cells, "%s%s%lld", text_field(node, "file"),
			   *text_field(node, "file") ? ":" : "", whole_field(node, "line"));
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

static void print_table(struct buf *out, const json_t *nodes)
{
	static const char heads[] = "opcode\0name\0target\0args\0shape\0dtype\0line";
	int width[COLUMNS] = { 0 };
	struct buf cells = { 0 };
	size_t i;
	json_t *node;

	buf_add(&cells, heads, sizeof(heads));
	widen(&cells, width);
	json_array_foreach((json_t *)nodes, i, node) {
		buf_clear(&cells);
		node_cells(node, nodes, &cells);
		widen(&cells, width);
	}
	buf_clear(&cells);
	buf_add(&cells, heads, sizeof(heads));
	print_row(out, &cells, width);
	json_array_foreach((json_t *)nodes, i, node) {
		buf_clear(&cells);
		node_cells(node, nodes, &cells);
		print_row(out, &cells, width);
	}
	buf_finish(&cells);
}

/* "4.2 MB read" */
static void print_bytes(struct buf *out, const json_t *kernel, const char *key, const char *after)
{
	double bytes = json_number_value(json_object_get(kernel, key));
	static const char *const units[] = { "B", "kB", "MB", "GB" };
	char number[NUMBER_BYTES];
	int unit = 0;

	for (; bytes >= 1e3 && unit < 3; unit++)
		bytes /= 1e3;
	number_short(number, bytes);
	buf_printf(out, "%s %s%s", number, units[unit], after);
}

/* Each kernel, what it moves, and why it is one of its own. */
static void print_kernels(struct buf *out, const json_t *kernels)
{
	size_t i;
	json_t *k;

	if (json_array_size(kernels))
		buf_puts(out, "     kernels\n");
	json_array_foreach((json_t *)kernels, i, k) {
		buf_printf(out, "     %3zu  %s: %lld op%s, ", i, text_field(k, "name"),
			   whole_field(k, "ops"), whole_field(k, "ops") == 1 ? "" : "s");
		print_bytes(out, k, "read_bytes", " read");
		buf_puts(out, ", ");
		print_bytes(out, k, "written_bytes", " written");
		if (whole_field(k, "ops") > 1) {
			buf_puts(out, ", ");
			print_bytes(out, k, "saved_bytes", " saved");
		}
		buf_printf(out, "\n          %s\n", text_field(k, "why"));
	}
}

static void print_graph(struct buf *out, const json_t *graph, bool table)
{
	const json_t *ops = json_object_get(graph, "ops"), *nodes = json_object_get(graph, "nodes");
	size_t n = json_array_size(ops);

	if (table && whole_field(graph, "id") > 0)
		buf_putc(out, '\n');
	buf_printf(out, "%3lld  %s [%s]: %zu op%s, %lld placeholder%s: ", whole_field(graph, "id"),
		   text_field(graph, "frame"), text_field(graph, "compile"), n, n == 1 ? "" : "s",
		   whole_field(graph, "placeholders"),
		   whole_field(graph, "placeholders") == 1 ? "" : "s");
	print_ops(out, ops);
	buf_putc(out, '\n');
	if (table) {
		print_table(out, nodes);
		print_kernels(out, json_object_get(graph, "kernel_details"));
	}
}

static void print_entry(struct buf *out, const json_t *entry)
{
	const char *reason = text_field(entry, "reason");
	int bailed = whole_field(entry, "bail_outs");
	size_t i;
	json_t *item;

	buf_printf(out, "     %s, made by call %lld, used %lld time%s",
		   text_field(entry, "compile"), whole_field(entry, "call"),
		   whole_field(entry, "uses"), whole_field(entry, "uses") == 1 ? "" : "s");
	if (bailed > 0)
		buf_printf(out, ", %d of them bailed out to eager", bailed);
	if (*reason)
		buf_printf(out, "; compiled because %s", reason);
	buf_putc(out, '\n');
	json_array_foreach(json_object_get(entry, "symbols"), i, item) {
		buf_printf(out, "       %s = %s", text_field(item, "name"),
			   text_field(item, "source"));
		if (*text_field(item, "range"))
			buf_printf(out, ", %s", text_field(item, "range"));
		buf_putc(out, '\n');
	}
	json_array_foreach(json_object_get(entry, "guards"), i, item) {
		buf_printf(out, "       %s\n", json_string_value(item));
	}
}

static void print_frames(struct buf *out, const json_t *tree)
{
	size_t i, k;
	json_t *frame, *entry;

	if (json_array_size(tree))
		buf_puts(out, "\nFrames, their compiled versions and guards\n");
	json_array_foreach((json_t *)tree, i, frame) {
		buf_printf(out, "  %s (%s%sline %lld)%s\n", text_field(frame, "frame"),
			   text_field(frame, "file"), *text_field(frame, "file") ? ", " : "",
			   whole_field(frame, "line"),
			   json_is_true(json_object_get(frame, "skipped")) ? ": runs in eager"
			   : json_is_true(json_object_get(frame, "run_only"))
			       ? ": nothing is compiled any more"
			       : "");
		json_array_foreach(json_object_get(frame, "entries"), k, entry) {
			print_entry(out, entry);
		}
	}
}

/* Mode lazy: what made each trace run, in PyTorch/XLA's words. */
static void print_lazy(struct buf *out, const json_t *lazy)
{
	const json_t *runs = json_object_get(lazy, "runs");
	size_t n = json_array_size(runs), i;
	int left_out = whole_field(lazy, "left_out");
	json_t *run;

	if (n)
		buf_puts(out, "\nTraces that were run, and why\n");
	json_array_foreach((json_t *)runs, i, run) {
		const json_t *graph = json_object_get(run, "graph");
		const char *message = text_field(run, "message");

		if (i == MOST_TRACES)
			break;
		buf_printf(out, "  call %lld, %s%sline %lld in %s: ", whole_field(run, "call"),
			   text_field(run, "file"), *text_field(run, "file") ? ", " : "",
			   whole_field(run, "line"), text_field(run, "function"));
		if (json_is_integer(graph))
			buf_printf(out, "graph %d, ", (int)json_integer_value(graph));
		buf_printf(out, "%s, %lld input%s, %lld output%s, hash %.32s\n     %s\n",
			   json_is_true(json_object_get(run, "compiled")) ? "compiled"
									  : "found in the cache",
			   whole_field(run, "inputs"), whole_field(run, "inputs") == 1 ? "" : "s",
			   whole_field(run, "outputs"), whole_field(run, "outputs") == 1 ? "" : "s",
			   text_field(run, "hash"), text_field(run, "cause"));
		if (*message)
			buf_printf(out, "     %s\n", message);
	}
	if (left_out || n > MOST_TRACES)
		buf_printf(out, "  and %d more\n", left_out + (int)(n - i));
}

static void print_recompiles(struct buf *out, const json_t *recompiles)
{
	size_t i;
	json_t *item;

	if (json_array_size(recompiles))
		buf_puts(out, "\nRecompiles\n");
	json_array_foreach((json_t *)recompiles, i, item) {
		buf_printf(out, "  call %lld, %s: %s\n", whole_field(item, "call"),
			   text_field(item, "frame"), text_field(item, "reason"));
	}
}

static void print_result(struct buf *out, const json_t *row)
{
	const char *result = text_field(row, "result"), *then = text_field(row, "then");

	if (strcmp(result, "same entry") == 0)
		buf_puts(out, "served by the entry that is there");
	else if (strcmp(result, "recompiled") == 0)
		buf_printf(out, "recompiled: %s", text_field(row, "reason"));
	else if (strcmp(result, "new frames") == 0)
		buf_puts(out, "the program goes another way: what it meets there is captured");
	else if (strcmp(result, "error") == 0)
		buf_printf(out, "fails: %s", text_field(row, "reason"));
	if (strcmp(then, "same entry") == 0)
		buf_puts(out, "; the next other size is then served without compiling");
	else if (*then)
		buf_puts(out, "; the next other size compiles once more");
	buf_putc(out, '\n');
}

static void print_sizes(struct buf *out, const json_t *sizes)
{
	size_t i, k;
	json_t *row, *name;
	int left_out = 0;

	if (json_array_size(sizes))
		buf_puts(out, "\nAt other sizes\n");
	json_array_foreach((json_t *)sizes, i, row) {
		if (strcmp(text_field(row, "result"), "not tried") == 0) {
			left_out++;
			continue;
		}
		buf_puts(out, "  ");
		if (json_array_size(json_object_get(row, "where")) == 0) {
			buf_puts(out, "the same call again: ");
			print_result(out, row);
			continue;
		}
		json_array_foreach(json_object_get(row, "where"), k, name) {
			buf_printf(out, "%s%s", k ? ", " : "", json_string_value(name));
		}
		buf_printf(out, ", %s: ", text_field(row, "change"));
		print_result(out, row);
	}
	if (left_out)
		buf_printf(out, "  %d were not tried, it would take too long; --sizes tries all\n",
			   left_out);
}

void explain_text_print(struct buf *out, const json_t *e, const char *place, const json_t *workload,
			bool tables)
{
	const json_t *breaks = json_object_get(e, "breaks"), *graphs = json_object_get(e, "graphs");
	size_t i;
	json_t *graph;

	buf_printf(out, "Graph Count: %lld\nGraph Break Count: %lld\nOp Count: %lld\n",
		   whole_field(e, "graph_count"), whole_field(e, "graph_break_count"),
		   whole_field(e, "op_count"));
	if (json_array_size(breaks))
		buf_puts(out, "\nBreaks\n");
	break_text_print(out, breaks, place, workload);
	if (json_is_false(json_object_get(e, "rewrites_tried")))
		buf_puts(out,
			 "     rewrites were not tried, it would take too long; --rewrites tries "
			 "all\n");
	if (json_array_size(graphs))
		buf_puts(out, "\nGraphs\n");
	json_array_foreach((json_t *)graphs, i, graph) {
		print_graph(out, graph, tables);
	}
	print_frames(out, json_object_get(e, "tree"));
	print_lazy(out, json_object_get(e, "lazy"));
	print_recompiles(out, json_object_get(e, "recompiles"));
	print_sizes(out, json_object_get(e, "sizes"));
}
