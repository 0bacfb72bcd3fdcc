/* server/text/break_text.c -- prints breaks of a report, with their source lines. */
#include "server/text/text.h"

#include <string.h>

#include "fusion/source.h"
#include "profiler/fields/json.h"
#include "profiler/profiler.h"

enum { MOST_SHOWN = 100 };

/* What became of it, in words. */
static const char *outcome_words(const char *outcome)
{
	static const char *const words[][2] = {
		{ "resume", "runs in eager, and the function is captured again after it" },
		{ "jump", "each side is captured when it is first taken" },
		{ "step", "the rest of the function runs in eager" },
		{ "skip", "the whole function runs in eager" },
		{ "inline", "the caller stops before its call; the callee is captured by itself" },
		{ "barrier", "the pending trace is run" },
		{ "ordered", "runs after its graph, in order" },
	};

	for (size_t i = 0; outcome && i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(words[i][0], outcome) == 0)
			return words[i][1];
	return "";
}

static void print_head(struct buf *out, const json_t *item, size_t rank, int times,
		       const char *place)
{
	const char *gb = text_field_or(item, "gb", NULL), *kind = text_field_or(item, "kind", NULL),
		   *stage = text_field_or(item, "stage", NULL);
	const json_t *graph = json_object_get(item, "graph");
	struct break_place at = profiler_break_place(item);

	buf_printf(out, "%3zu  %s%s%s", rank, place, at.file ? "/" : "", at.file ? at.file : "");
	if (at.line)
		buf_printf(out, ":%d", at.line);
	if (at.line && at.column)
		buf_printf(out, ":%d", at.column);
	buf_printf(out, ": %s", kind ? kind : "break");
	if (gb)
		buf_printf(out, " (%s)", gb);
	if (stage && strcmp(stage, "lowering") == 0)
		buf_puts(out, ", in lowering");
	if (json_is_integer(graph))
		buf_printf(out, ", %s graph %d",
			   stage && strcmp(stage, "lowering") == 0 ? "splits" : "ends",
			   (int)json_integer_value(graph));
	if (times > 1)
		buf_printf(out, ", met %d times", times);
	buf_putc(out, '\n');
}

static void print_line(struct buf *out, const char *label, const char *text)
{
	if (text && *text)
		buf_printf(out, "     %s%s\n", label, text);
}

static void print_stack(struct buf *out, const json_t *stack)
{
	for (size_t i = json_array_size(stack); i-- > 1;) {
		const json_t *caller = json_array_get(stack, i - 1);
		const char *function = text_field_or(caller, "function", NULL);

		buf_printf(out, "     called from %s, %s%sline %lld\n", function ? function : "?",
			   text_field(caller, "file"), *text_field(caller, "file") ? ", " : "",
			   whole_field(caller, "line"));
	}
}

/* Indents what lang_underline() wrote by two, as the text around it is. */
static void print_source(struct buf *out, const json_t *item, const char *source)
{
	struct break_place place = profiler_break_place(item);
	struct buf lines;

	buf_init(&lines, 4096);
	lang_underline(&lines, source, place.line, place.column, place.end_column);
	for (const char *at = lines.data; at && *at;) {
		const char *end = strchr(at, '\n');

		buf_printf(out, "  %.*s\n", (int)(end - at), at);
		at = end + 1;
	}
	buf_finish(&lines);
}

/* Where the graph ends, if not at the break itself. */
static void print_block(struct buf *out, const json_t *item)
{
	const json_t *stack = json_object_get(item, "stack");
	size_t n = json_array_size(stack);

	if (json_is_object(json_object_get(item, "cause")) && n)
		buf_printf(out, "     the graph ends before line %lld, where PyTorch reports it\n",
			   whole_field(json_array_get(stack, n - 1), "line"));
}

static void put_lines(struct buf *out, char sign, const char *from, const char *to)
{
	while (from < to) {
		const char *end = memchr(from, '\n', (size_t)(to - from));
		const char *stop = end ? end : to;

		buf_printf(out, "     %c %.*s\n", sign, (int)(stop - from), from);
		from = stop + 1;
	}
}

/* The changed lines of the source: what both begin or end with is left out. */
static void print_rewrite(struct buf *out, const json_t *item, const char *source)
{
	const char *changed = text_field_or(item, "rewrite", NULL);
	const json_t *gain = json_object_get(item, "rewrite_gain");
	const json_t *graphs = json_object_get(gain, "graphs");
	const json_t *breaks = json_object_get(gain, "breaks");
	int together = whole_field(gain, "together");
	size_t line = 0, n, m;

	if (!changed || !source)
		return;
	for (size_t same = 0; source[same] && source[same] == changed[same]; same++)
		if (source[same] == '\n')
			line = same + 1;
	n = strlen(source);
	m = strlen(changed);
	for (; n > line && m > line && source[n - 1] == changed[m - 1]; n--)
		m--;
	n += strcspn(source + n, "\n");
	m += strcspn(changed + m, "\n");
	buf_puts(out, "     rewritten");
	if (together > 1)
		buf_printf(out, ", with the %d other rewrite%s", together - 1,
			   together == 2 ? "" : "s");
	buf_printf(out, "; these calls come out the same, with graphs %d -> %d, breaks %d -> %d:\n",
		   (int)json_integer_value(json_array_get(graphs, 0)),
		   (int)json_integer_value(json_array_get(graphs, 1)),
		   (int)json_integer_value(json_array_get(breaks, 0)),
		   (int)json_integer_value(json_array_get(breaks, 1)));
	put_lines(out, '-', source + line, source + n);
	put_lines(out, '+', changed + line, changed + m);
}

static bool same_place(const json_t *a, const json_t *b)
{
	static const char *const keys[] = { "stage",  "kind",  "outcome", "message",
					    "column", "stack", "cause" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (!json_equal(json_object_get(a, keys[i]), json_object_get(b, keys[i])))
			return false;
	return true;
}

/* How often the break was met in all; 0: an earlier one of the list is the same. */
static int times_met(const json_t *breaks, size_t index)
{
	const json_t *item = json_array_get(breaks, index), *other;
	int times = 0;

	for (size_t i = 0; i < json_array_size(breaks); i++) {
		other = json_array_get(breaks, i);
		if (!same_place(item, other))
			continue;
		if (i < index)
			return 0;
		times += whole_field(other, "count");
	}
	return times;
}

void break_text_print(struct buf *out, const json_t *breaks, const char *place,
		      const json_t *workload)
{
	size_t i, shown = 0;
	json_t *item;

	json_array_foreach((json_t *)breaks, i, item)
	{
		const json_t *because = json_object_get(item, "because");
		const char *hint = text_field_or(because, "hint", NULL);
		const char *source = workload_text(workload, profiler_break_place(item).file);
		int times;

		if (shown == MOST_SHOWN) {
			buf_puts(out, "and more; --json has them all\n");
			return;
		}
		times = times_met(breaks, i);
		if (times == 0)
			continue;
		print_head(out, item, ++shown, times, place);
		if (source)
			print_source(out, item, source);
		print_line(out, "", text_field_or(item, "message", NULL));
		print_line(out, "", text_field_or(because, "message", NULL));
		print_block(out, item);
		if (!json_is_object(because))
			print_line(out,
				   "then: ", outcome_words(text_field_or(item, "outcome", NULL)));
		print_line(out, "instead: ", text_field_or(item, "hint", NULL));
		print_line(out, "or: ", hint);
		print_rewrite(out, item, source);
		print_stack(out, json_object_get(item, "stack"));
	}
}

void break_text_short(struct buf *out, const char *mode, const json_t *m)
{
	const json_t *breaks = json_object_get(m, "breaks");
	const json_t *first = json_array_get(breaks, 0);
	const char *message = text_field_or(first, "message", NULL);
	int distinct = 0;

	for (size_t i = 0; i < json_array_size(breaks) && i < MOST_SHOWN; i++)
		distinct += times_met(breaks, i) > 0;
	if (!distinct)
		return;
	buf_printf(out, "%s: %d graph break%s; %sline %d: %s\n", mode, distinct,
		   distinct == 1 ? "" : "s", distinct == 1 ? "" : "the first, ",
		   profiler_break_place(first).line, message ? message : "");
}
