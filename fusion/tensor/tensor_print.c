/* fusion/tensor/tensor_print.c -- a tensor as PyTorch prints it.
 *
 * torch.set_printoptions() says how many digits there are, how long a line is, and of how
 * many elements the first and last along each dimension are shown.  One width serves all
 * elements, and is found from those that are finite and not zero. */
#include "fusion/tensor/tensor.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { TEXT_BYTES = 400 }; /* of an element: 309 digits of a float64, a point and its digits */

struct format {
	const struct tensor *t;
	const struct print_options *o;
	bool floating, whole, scientific, summary;
	double least, most; /* absolute values, of those that decide */
	int width;
};

static bool skips(const struct format *f, int64_t i, int64_t n)
{
	return f->summary && n > 2 * f->o->edge && i >= f->o->edge && i < n - f->o->edge;
}

static int element(const struct format *f, int64_t at, char text[TEXT_BYTES])
{
	double v;

	if (f->t->dtype == DTYPE_BOOL)
		return snprintf(text, TEXT_BYTES, "%s",
				tensor_get_int(f->t, at) ? "True" : "False");
	if (!f->floating)
		return snprintf(text, TEXT_BYTES, "%lld", (long long)tensor_get_int(f->t, at));
	v = tensor_get_double(f->t, at);
	if (isnan(v))
		return snprintf(text, TEXT_BYTES, "nan");
	if (isinf(v))
		return snprintf(text, TEXT_BYTES, v > 0 ? "inf" : "-inf");
	if (f->scientific)
		return snprintf(text, TEXT_BYTES, "%.*e", f->o->precision, v);
	if (f->whole)
		return snprintf(text, TEXT_BYTES, "%.0f.", v);
	return snprintf(text, TEXT_BYTES, "%.*f", f->o->precision, v);
}

static bool decides(const struct format *f, int64_t at)
{
	double v = f->floating ? tensor_get_double(f->t, at) : 1;

	return v != 0 && isfinite(v);
}

static void note_range(struct format *f, int64_t at)
{
	double v = f->floating ? fabs(tensor_get_double(f->t, at)) : 1;

	f->whole = f->whole && v == ceil(v);
	f->least = fmin(f->least, v);
	f->most = fmax(f->most, v);
}

static void note_width(struct format *f, int64_t at)
{
	char text[TEXT_BYTES];
	int len = element(f, at, text);

	f->width = len > f->width ? len : f->width;
}

/* Every element that is shown and decides. */
static void walk(struct format *f, int dim, int64_t at, void (*note)(struct format *f, int64_t at))
{
	if (dim == f->t->rank) {
		if (decides(f, at))
			note(f, at);
		return;
	}
	for (int64_t i = 0; i < f->t->size[dim]; i++) {
		if (skips(f, i, f->t->size[dim]))
			i = f->t->size[dim] - f->o->edge;
		walk(f, dim + 1, at * f->t->size[dim] + i, note);
	}
}

static void choose(struct format *f)
{
	f->floating = dtype_category(f->t->dtype) == CATEGORY_FLOAT;
	f->whole = true;
	f->width = 1;
	f->least = INFINITY;
	f->summary = tensor_numel(f->t) > f->o->threshold;
	walk(f, 0, 0, note_range);
	if (f->floating && f->most > 0)
		f->scientific = f->most / f->least > 1000 || f->most > 1e8 ||
				(!f->whole && f->least < 1e-4);
	walk(f, 0, 0, note_width);
	if (f->floating && f->most > 0 && f->o->scientific >= 0)
		f->scientific = f->o->scientific; /* the width stays, as PyTorch's does */
}

static void put_element(struct buf *out, const struct format *f, int64_t at)
{
	char text[TEXT_BYTES];

	element(f, at, text);
	buf_printf(out, "%*s", f->width, text);
}

static void new_line(struct buf *out, int lines, int indent)
{
	for (int i = 0; i < lines; i++)
		buf_putc(out, '\n');
	buf_printf(out, "%*s", indent, "");
}

static void put_vector(struct buf *out, const struct format *f, int64_t at, int64_t n, int indent)
{
	int per_line = (f->o->line - indent) / (f->width + 2), column = 0;

	if (per_line < 1)
		per_line = 1;
	buf_putc(out, '[');
	for (int64_t i = 0; i < n && !out->failed; i++) {
		bool dots = skips(f, i, n);

		if (i > 0) {
			buf_putc(out, ',');
			if (column == per_line) {
				new_line(out, 1, indent + 1);
				column = 0;
			} else {
				buf_putc(out, ' ');
			}
		}
		if (dots) {
			buf_puts(out, " ...");
			i = n - f->o->edge - 1;
		} else {
			put_element(out, f, at + i);
		}
		column++;
	}
	buf_putc(out, ']');
}

static void put_dim(struct buf *out, const struct format *f, int dim, int64_t at, int indent)
{
	int64_t n = f->t->size[dim];

	if (dim == f->t->rank - 1) {
		put_vector(out, f, at * n, n, indent);
		return;
	}
	buf_putc(out, '[');
	for (int64_t i = 0; i < n && !out->failed; i++) {
		if (i > 0) {
			buf_putc(out, ',');
			new_line(out, f->t->rank - 1 - dim, indent + 1);
		}
		if (skips(f, i, n)) {
			buf_puts(out, "...");
			i = n - f->o->edge - 1;
		} else {
			put_dim(out, f, dim + 1, at * n + i, indent + 1);
		}
	}
	buf_putc(out, ']');
}

enum { INDENT = sizeof("tensor(") - 1 };

static void put_suffix(struct buf *out, size_t from, int most, const char *suffix)
{
	const char *line = out->data ? memrchr(out->data + from, '\n', out->len - from) : NULL;
	size_t used = line ? (size_t)(out->data + out->len - line) : out->len - from + 2;

	if (used + strlen(suffix) + 2 > (size_t)most)
		buf_printf(out, ",\n%*s%s", INDENT, "", suffix);
	else
		buf_printf(out, ", %s", suffix);
}

void tensor_print(struct buf *out, const struct tensor *t, const struct tensor_form *how)
{
	struct format f = { .t = t, .o = how->options };
	const int line = how->options->line;
	size_t from = out->len;
	char suffix[64];

	buf_puts(out, "tensor(");
	if (tensor_numel(t) == 0) {
		buf_puts(out, "[]");
		if (t->rank != 1) {
			buf_puts(out, ", size=(");
			for (int d = 0; d < t->rank; d++)
				buf_printf(out, "%s%lld", d ? ", " : "", (long long)t->size[d]);
			buf_puts(out, ")");
		}
		if (t->dtype != how->real)
			buf_printf(out, ", dtype=torch.%s", dtype_name(t->dtype));
		if (*how->last)
			put_suffix(out, from, line, how->last);
		buf_putc(out, ')');
		return;
	}
	choose(&f);
	if (t->rank == 0)
		put_element(out, &f, 0);
	else
		put_dim(out, &f, 0, 0, INDENT);
	if (t->dtype != how->real && t->dtype != DTYPE_I64 && t->dtype != DTYPE_BOOL) {
		snprintf(suffix, sizeof(suffix), "dtype=torch.%s", dtype_name(t->dtype));
		put_suffix(out, from, line, suffix);
	}
	if (*how->last)
		put_suffix(out, from, line, how->last);
	buf_putc(out, ')');
}
