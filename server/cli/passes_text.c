/* server/cli/passes_text.c -- see passes_text.h. */
#include "server/cli/passes_text.h"

#include <string.h>

enum { MOST_LINES = 400, MOST_PLACES = 6 };

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "";
}

static long long number_of(const json_t *object, const char *key)
{
	return (long long)json_integer_value(json_object_get(object, key));
}

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

	buf_printf(out, "      %s", text_of(rule, "rule"));
	if (number_of(rule, "count") > 1)
		buf_printf(out, ", %lld times", number_of(rule, "count"));
	json_array_foreach((json_t *)at, i, place) {
		long long line = number_of(place, "line");

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

/* Prints a step; `before` is the text in front of it, and then behind it. */
static void print_step(struct buf *out, const json_t *step, const char **before, long long *nodes)
{
	const char *after = json_string_value(json_object_get(step, "after"));
	json_t *rule;
	size_t i;

	buf_printf(out, "    %-10s ", text_of(step, "pass"));
	if (json_is_true(json_object_get(step, "off"))) {
		buf_puts(out, "switched off\n");
		return;
	}
	if (json_is_false(json_object_get(step, "changed"))) {
		buf_puts(out, "changed nothing\n");
	} else {
		buf_printf(out, "%lld nodes -> %lld, %.1f us\n", *nodes, number_of(step, "nodes"),
			   json_number_value(json_object_get(step, "us")));
	}
	json_array_foreach(json_object_get(step, "rules"), i, rule) {
		print_rule(out, rule);
	}
	*nodes = number_of(step, "nodes");
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
	long long nodes = number_of(part, "nodes");
	json_t *step;
	size_t i;

	buf_printf(out, "\nPasses over graph %lld of %s (%s)%s%s\n", number_of(graph, "id"),
		   text_of(graph, "frame"), text_of(graph, "compile"),
		   *text_of(part, "part") ? ", " : "", text_of(part, "part"));
	if (json_object_get(part, "error")) {
		buf_printf(out, "    %s\n", text_of(part, "error"));
		return;
	}
	json_array_foreach(json_object_get(part, "steps"), i, step) {
		print_step(out, step, &before, &nodes);
	}
}

void passes_text_print(struct buf *out, const json_t *explanation)
{
	json_t *graph, *part;
	size_t i, k;

	json_array_foreach(json_object_get(explanation, "graphs"), i, graph) {
		json_array_foreach(json_object_get(graph, "passes"), k, part) {
			print_part(out, graph, part);
		}
	}
}
