/* server/text/break_text.c -- prints breaks of a report, with their source lines. */
#include "server/text/text.h"

#include <string.h>

#include "fusion/source.h"
#include "profiler/fields/breaks.h"
#include "profiler/profiler.h"

enum { MOST_SHOWN = 100 };

static void print_head(struct buf *out, const struct report_break *b, size_t rank, int64_t times,
		       const char *place)
{
	struct break_place at = break_place_of(b);
	bool lowering = strcmp(b->stage, "lowering") == 0;

	buf_printf(out, "%3zu  %s%s%s", rank, place, at.file ? "/" : "", report_text(at.file));
	if (at.line)
		buf_printf(out, ":%d", at.line);
	if (at.line && at.column)
		buf_printf(out, ":%d", at.column);
	buf_printf(out, ": %s", b->kind);
	if (b->gb)
		buf_printf(out, " (%s)", b->gb);
	if (lowering)
		buf_puts(out, ", in lowering");
	if (b->has.graph)
		buf_printf(out, ", %s graph %d", lowering ? "splits" : "ends", (int)b->graph);
	if (times > 1)
		buf_printf(out, ", hit %lld times", (long long)times);
	buf_putc(out, '\n');
}

static void print_line(struct buf *out, const char *label, const char *text)
{
	if (text && *text)
		buf_printf(out, "     %s%s\n", label, text);
}

static void print_stack(struct buf *out, const struct report_stack_line_list *stack)
{
	for (size_t i = stack->n; i-- > 1;) {
		const struct report_stack_line *caller = &stack->at[i - 1];
		const char *file = report_text(caller->file);

		buf_printf(out, "     called from %s, %s%sline %lld\n", caller->function, file,
			   *file ? ", " : "", (long long)caller->line);
	}
}

/* Indents what lang_underline() wrote by two, as the text around it is. */
static void print_source(struct buf *out, struct break_place place, const char *source)
{
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
static void print_block(struct buf *out, const struct report_break *b)
{
	if (b->cause && b->stack.n)
		buf_printf(out, "     the graph ends before line %lld, where PyTorch reports it\n",
			   (long long)b->stack.at[b->stack.n - 1].line);
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
static void print_rewrite(struct buf *out, const struct report_break *b, const char *source)
{
	const char *changed = b->rewrite;
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
	if (b->rewrite_gain)
		buf_puts(out, "; ");
	break_gain_print(out, b);
	buf_puts(out, ":\n");
	put_lines(out, '-', source + line, source + n);
	put_lines(out, '+', changed + line, changed + m);
}

/* How often the i-th break was met in all.  0: an earlier one of the list is the same. */
static int64_t break_times_met(const struct report_break_list *breaks, size_t i)
{
	int64_t times = 0;

	for (size_t k = 0; k < breaks->n; k++) {
		if (!break_same(&breaks->at[i], &breaks->at[k]))
			continue;
		if (k < i)
			return 0;
		times += breaks->at[k].count;
	}
	return times;
}

void break_text_print(struct buf *out, const struct report_break_list *breaks, const char *place,
		      const json_t *workload)
{
	size_t shown = 0;

	for (size_t i = 0; i < breaks->n; i++) {
		const struct report_break *b = &breaks->at[i];
		const struct report_because *because = b->because;
		struct break_place at = break_place_of(b);
		const char *source = workload_text(workload, at.file);
		int64_t times;

		if (shown == MOST_SHOWN) {
			buf_puts(out, "and more; --json has them all\n");
			return;
		}
		times = break_times_met(breaks, i);
		if (times == 0)
			continue;
		print_head(out, b, ++shown, times, place);
		if (source)
			print_source(out, at, source);
		print_line(out, "", b->message);
		print_line(out, "", because ? because->message : NULL);
		print_block(out, b);
		if (!because)
			print_line(out, "then: ", break_outcome_words(b->outcome));
		print_line(out, "instead: ", b->hint);
		print_line(out, "or: ", because ? because->hint : NULL);
		print_rewrite(out, b, source);
		print_stack(out, &b->stack);
	}
}
