/* fusion/graph/shape.c -- shapes: equality, broadcasting, text. */
#include "fusion/graph/infer.h"

#include <stdio.h>
#include <string.h>

bool shape_equal(const struct shape *a, const struct shape *b)
{
	if (a->rank != b->rank)
		return false;
	for (int i = 0; i < a->rank; i++)
		if (a->size[i] != b->size[i])
			return false;
	return true;
}

const struct sym *shape_numel(struct symtab *t, const struct shape *s)
{
	const struct sym *n = sym_const(t, 1);

	for (int i = 0; n && i < s->rank; i++)
		n = sym_mul(t, n, s->size[i]);
	return n;
}

void shape_print(struct buf *out, const struct shape *s)
{
	buf_putc(out, '[');
	for (int i = 0; i < s->rank; i++) {
		if (i)
			buf_puts(out, ", ");
		sym_print(out, s->size[i]);
	}
	buf_putc(out, ']');
}

const char *shape_text(const struct shape *s, char out[SHAPE_TEXT_BYTES])
{
	struct buf text;

	buf_init(&text, 0);
	shape_print(&text, s);
	snprintf(out, SHAPE_TEXT_BYTES, "%s", text.data ? text.data : "?");
	buf_finish(&text);
	return out;
}

/* Size i counted from the last dim; NULL past the first, which is as 1. */
static const struct sym *size_from_end(const struct shape *s, int i)
{
	return i < s->rank ? s->size[s->rank - 1 - i] : NULL;
}

static bool sizes_meet(const struct sym *a, const struct sym *b)
{
	return !a || !b || a == b || sym_is(a, 1) || sym_is(b, 1);
}

/* The dim, counted from the last, where a and b do not broadcast; -1: none. */
static int find_conflict(const struct shape *a, const struct shape *b)
{
	for (int i = 0; i < a->rank || i < b->rank; i++)
		if (!sizes_meet(size_from_end(a, i), size_from_end(b, i)))
			return i;
	return -1;
}

bool shape_conflict(const struct shape *a, const struct shape *b, const struct sym *pair[2])
{
	int i = find_conflict(a, b);

	if (i < 0)
		return false;
	pair[0] = size_from_end(a, i);
	pair[1] = size_from_end(b, i);
	return true;
}

static bool conflict_error(const struct shape *a, const struct shape *b, int i, struct err *err)
{
	struct shape x = { .rank = 1, .size = { size_from_end(a, i) } };
	struct shape y = { .rank = 1, .size = { size_from_end(b, i) } };
	char all_a[SHAPE_TEXT_BYTES], all_b[SHAPE_TEXT_BYTES];
	char one_a[SHAPE_TEXT_BYTES], one_b[SHAPE_TEXT_BYTES];
	int dim = a->rank == b->rank ? a->rank - 1 - i : -1 - i;

	shape_text(&x, one_a);
	shape_text(&y, one_b);
	one_a[strlen(one_a) - 1] = one_b[strlen(one_b) - 1] = 0; /* without the brackets */
	return err_set(err, ERR_SHAPE,
		       "sizes %s and %s do not broadcast: dim %d is %s and %s; equal sizes or a 1 "
		       "would fit",
		       shape_text(a, all_a), shape_text(b, all_b), dim, one_a + 1, one_b + 1);
}

bool shape_broadcast(struct symtab *t, const struct shape *a, const struct shape *b,
		     struct shape *out, struct err *err)
{
	int conflict = find_conflict(a, b);
	const struct sym *x, *y;
	struct shape result = { .rank = a->rank > b->rank ? a->rank : b->rank };

	(void)t; /* sizes are taken over, none is computed */
	if (conflict >= 0)
		return conflict_error(a, b, conflict, err);
	for (int i = 0; i < result.rank; i++) {
		x = size_from_end(a, i);
		y = size_from_end(b, i);
		result.size[result.rank - 1 - i] = !x || (y && sym_is(x, 1)) ? y : x;
	}
	*out = result;
	return true;
}
