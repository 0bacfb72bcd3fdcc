/* fusion/vm/value_print.c -- values as Python prints them.
 *
 * A value may hold itself, or hold one list twice at each of many levels:
 * ancestors are recognised, depth is bounded, and a full buffer ends it all. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/narrow.h"
#include "fusion/base/utf8.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/value.h"

enum { DEEPEST = 100, DIGITS = 17 };

struct printer {
	struct buf *out;
	value_print_fn *tensor;
	void *context;
};

struct ancestor { /* the containers that are being printed, innermost first */
	const struct ancestor *up;
	const struct object *object;
	int depth;
};

static bool reads_back(const char *text, double f, enum scalar_type type)
{
	return (type == SCALAR_FLOAT32   ? (double)strtof(text, NULL)
		: type == SCALAR_FLOAT16 ? (double)half_to_float(float_to_half(strtof(text, NULL)))
					 : strtod(text, NULL)) == f;
}

/* The shortest digits that read back as `f`, in the form d.ddde[+-]xx.  The
 * doubles below a power of two lie closer than those above, so there a decimal
 * a little above may read back where the nearest one, below, does not. */
static void shortest(double f, enum scalar_type type, char text[32])
{
	int exponent;
	bool power_of_two = fabs(frexp(f, &exponent)) == 0.5;

	for (int digits = 0; digits < DIGITS; digits++) {
		char *last;

		snprintf(text, 32, "%.*e", digits, f);
		if (reads_back(text, f, type))
			return;
		last = strchr(text, 'e') - 1;
		if (!power_of_two || *last == '9' || *last == '.')
			continue;
		++*last;
		if (reads_back(text, f, type))
			return;
	}
}

static void print_float(struct buf *out, double f, enum scalar_type type)
{
	char text[32], digits[24];
	int n = 0, point;

	if (isnan(f) || isinf(f)) {
		buf_puts(out, isnan(f) ? "nan" : f > 0 ? "inf" : "-inf");
		return;
	}
	shortest(f, type, text);
	for (const char *p = text; *p && *p != 'e'; p++)
		if (*p >= '0' && *p <= '9')
			digits[n++] = *p;
	point = atoi(strchr(text, 'e') + 1) + 1; /* digits before the point */
	if (signbit(f))
		buf_putc(out, '-');
	if (point <= -4 || point > 16) {
		buf_add(out, digits, 1);
		if (n > 1) {
			buf_putc(out, '.');
			buf_add(out, digits + 1, (size_t)n - 1);
		}
		buf_printf(out, "e%c%02d", point > 0 ? '+' : '-', abs(point - 1));
		return;
	}
	if (point <= 0)
		buf_puts(out, "0.");
	for (int i = point; i < 0; i++)
		buf_putc(out, '0');
	for (int i = 0; i < n || i < point; i++) {
		if (i == point && i > 0)
			buf_putc(out, '.');
		buf_putc(out, i < n ? digits[i] : '0');
	}
	if (n <= point)
		buf_puts(out, ".0");
}

static void print_str(struct buf *out, const struct str *s)
{
	char quote = memchr(s->text, '\'', s->len) && !memchr(s->text, '"', s->len) ? '"' : '\'';
	const char *p = s->text;
	uint32_t c;
	int step;

	buf_putc(out, quote);
	for (size_t i = 0; i < s->len; i += (size_t)step) {
		step = utf8_decode(p + i, s->len - i, &c);
		if (step == 0) { /* no text: shown byte by byte */
			step = 1;
			buf_printf(out, "\\x%02x", (unsigned)(unsigned char)p[i]);
		} else if (c == (unsigned char)quote || c == '\\') {
			buf_printf(out, "\\%c", (char)c);
		} else if (c == '\n' || c == '\r' || c == '\t') {
			buf_puts(out, c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t");
		} else if (c < 0x20 || (c >= 0x7f && c <= 0xa0) || c == 0xad) {
			buf_printf(out, "\\x%02x", c);
		} else {
			buf_add(out, p + i, (size_t)step);
		}
	}
	buf_putc(out, quote);
}

static void print_device(struct buf *out, const char *name)
{
	const char *colon = strchr(name, ':');

	buf_printf(out, "device(type='%.*s'", (int)strcspn(name, ":"), name);
	if (colon)
		buf_printf(out, ", index=%s", colon + 1);
	buf_putc(out, ')');
}

static void print(struct printer *p, struct value v, bool plain, const struct ancestor *up);

static void print_items(struct printer *p, const struct value *at, int n, const struct ancestor *up)
{
	for (int i = 0; i < n && !p->out->failed; i++) {
		if (i > 0)
			buf_puts(p->out, ", ");
		print(p, at[i], false, up);
	}
}

static void print_sequence(struct printer *p, const struct list *list, const struct ancestor *up)
{
	bool tuple = list->head.kind == VALUE_TUPLE;

	if (list->is_size)
		buf_puts(p->out, "torch.Size(");
	buf_putc(p->out, tuple && !list->is_size ? '(' : '[');
	print_items(p, list->at, list->len, up);
	if (tuple && !list->is_size && list->len == 1)
		buf_putc(p->out, ',');
	buf_putc(p->out, tuple && !list->is_size ? ')' : ']');
	if (list->is_size)
		buf_putc(p->out, ')');
}

/* Name(field=item, ..); torch's own put each on a line. */
static void print_named(struct printer *p, const struct list *list, const struct ancestor *up)
{
	bool lines = strncmp(list->type_name, "torch.", 6) == 0;

	buf_printf(p->out, lines ? "%s(\n" : "%s(", list->type_name);
	for (int i = 0; i < list->len && !p->out->failed; i++) {
		if (i > 0)
			buf_puts(p->out, lines ? ",\n" : ", ");
		buf_printf(p->out, "%s=", list->fields[i]);
		print(p, list->at[i], false, up);
	}
	buf_putc(p->out, ')');
}

static void print_set(struct printer *p, const struct dict *set, const struct ancestor *up)
{
	const char *name = set->frozen ? "frozenset" : "set";

	if (set->len == 0) {
		buf_printf(p->out, "%s()", name);
		return;
	}
	buf_puts(p->out, set->frozen ? "frozenset({" : "{");
	print_items(p, set->keys, set->len, up);
	buf_puts(p->out, set->frozen ? "})" : "}");
}

static void print_dict(struct printer *p, const struct dict *dict, const struct ancestor *up)
{
	buf_putc(p->out, '{');
	for (int i = 0; i < dict->len && !p->out->failed; i++) {
		if (i > 0)
			buf_puts(p->out, ", ");
		print(p, dict->keys[i], false, up);
		buf_puts(p->out, ": ");
		print(p, dict->values[i], false, up);
	}
	buf_putc(p->out, '}');
}

static void print_view(struct printer *p, const struct iter *it, const struct ancestor *up)
{
	const struct dict *dict = it->over.dict;

	buf_printf(p->out, "%s([", value_type_name(value_of((void *)(uintptr_t)it)));
	for (int i = 0; i < dict->len && !p->out->failed; i++) {
		if (i > 0)
			buf_puts(p->out, ", ");
		if (it->iter_kind == ITER_ITEMS)
			buf_putc(p->out, '(');
		if (it->iter_kind != ITER_VALUES)
			print(p, dict->keys[i], false, up);
		if (it->iter_kind == ITER_ITEMS)
			buf_puts(p->out, ", ");
		if (it->iter_kind != ITER_SEQUENCE)
			print(p, dict->values[i], false, up);
		if (it->iter_kind == ITER_ITEMS)
			buf_putc(p->out, ')');
	}
	buf_puts(p->out, "])");
}

static void print_container(struct printer *p, struct value v, const struct ancestor *up)
{
	struct ancestor here = { up, v.object, up ? up->depth + 1 : 0 };
	const char *around = v.kind == VALUE_LIST   ? "[...]"
			     : v.kind == VALUE_DICT ? "{...}"
			     : v.kind == VALUE_SET  ? "{...}"
						    : "(...)";

	for (; up; up = up->up)
		if (up->object == v.object || here.depth > DEEPEST) {
			buf_puts(p->out, around);
			return;
		}
	switch (v.kind) {
	case VALUE_DICT:
		print_dict(p, v.dict, &here);
		break;
	case VALUE_SET:
		print_set(p, v.dict, &here);
		break;
	case VALUE_ITER:
		print_view(p, v.iter, &here);
		break;
	case VALUE_SLICE:
		buf_puts(p->out, "slice(");
		print_items(p, (struct value[]){ v.slice->start, v.slice->stop, v.slice->step }, 3,
			    &here);
		buf_putc(p->out, ')');
		break;
	default:
		if (v.list->fields && v.list->type_name)
			print_named(p, v.list, &here);
		else
			print_sequence(p, v.list, &here);
	}
}

static void print_range(struct buf *out, const struct range *r)
{
	buf_printf(out, "range(%lld, %lld", (long long)r->start, (long long)r->stop);
	if (r->step != 1)
		buf_printf(out, ", %lld", (long long)r->step);
	buf_putc(out, ')');
}

/* int, list and torch.Tensor are types. */
static void print_native(struct buf *out, const struct native *f)
{
	static const char *const types[] = { "int",   "float", "bool",    "str", "list",
					     "tuple", "dict",  "range",   "set", "frozenset",
					     "type",  "slice", "NoneType" };

	for (size_t i = 0;
	     f->builtin && f->self.kind == VALUE_UNSET && i < sizeof(types) / sizeof(types[0]); i++)
		if (strcmp(f->name, types[i]) == 0) {
			buf_printf(out, "<class '%s'>", f->name);
			return;
		}
	if (native_is_typing(f))
		buf_printf(out, "%s%s", f->self.kind == VALUE_NONE ? "~" : "typing.", f->name);
	else if (!f->builtin && native_is_type(f))
		buf_printf(out, "<class '%s'>", f->name);
	else if (f->builtin && strcmp(f->name, "NotImplemented") == 0)
		buf_puts(out, f->name);
	else
		buf_printf(out, "<built-in %s %s>",
			   f->self.kind == VALUE_UNSET ? "function" : "method", f->name);
}

static void print_scalar(struct buf *out, struct value v)
{
	switch (v.kind) {
	case VALUE_NONE:
		buf_puts(out, "None");
		break;
	case VALUE_BOOL:
		buf_puts(out, v.b ? "True" : "False");
		break;
	case VALUE_INT:
		buf_printf(out, "%lld", (long long)v.i);
		break;
	case VALUE_FLOAT:
		print_float(out, v.f, v.scalar);
		break;
	case VALUE_ELLIPSIS:
		buf_puts(out, "Ellipsis");
		break;
	case VALUE_DTYPE:
		buf_printf(out, "torch.%s", dtype_name(v.dtype));
		break;
	case VALUE_RANGE:
		print_range(out, v.range);
		break;
	case VALUE_FUNCTION:
		buf_printf(out, "<function %s>", v.function->code->name);
		break;
	case VALUE_NATIVE:
		print_native(out, v.native);
		break;
	case VALUE_CLASS:
		buf_printf(out,
			   v.class->builtin == CLASS_PROGRAM && !v.class->hidden
			       ? "<class '__main__.%s'>"
			       : "<class '%s'>",
			   v.class->name);
		break;
	case VALUE_METHOD:
		buf_printf(out, "<bound method %s>",
			   v.method->function.kind == VALUE_FUNCTION
			       ? v.method->function.function->code->name
			       : value_type_name(v.method->function));
		break;
	case VALUE_INSTANCE:
		buf_printf(out, "<%s object>", value_type_name(v));
		break;
	case VALUE_MODULE:
		buf_printf(out, "<module '%s'>", v.module->name);
		break;
	default:
		buf_printf(out, "<%s>", value_type_name(v));
	}
}

/* repr() of NumPy's numbers: np.float32(0.1), np.True_. */
static void print_typed(struct buf *out, struct value v)
{
	if (v.kind == VALUE_BOOL) {
		buf_puts(out, v.b ? "np.True_" : "np.False_");
		return;
	}
	buf_printf(out, "np%s(", strchr(value_type_name(v), '.'));
	print_scalar(out, v);
	buf_putc(out, ')');
}

static void print(struct printer *p, struct value v, bool plain, const struct ancestor *up)
{
	switch (v.kind) {
	case VALUE_STR:
		if (plain)
			buf_add(p->out, v.str->text, v.str->len);
		else if (v.str->is_device)
			print_device(p->out, v.str->text);
		else
			print_str(p->out, v.str);
		break;
	case VALUE_TUPLE:
	case VALUE_LIST:
	case VALUE_DICT:
	case VALUE_SET:
	case VALUE_SLICE:
		print_container(p, v, up);
		break;
	case VALUE_ITER:
		if (v.iter->view)
			print_container(p, v, up);
		else
			print_scalar(p->out, v);
		break;
	case VALUE_TENSOR:
	case VALUE_SYMINT:
	case VALUE_SYMBOOL:
	case VALUE_SYMREAL:
	case VALUE_SYMFLOAT:
	case VALUE_DEFERRED_INT:
	case VALUE_DEFERRED_BOOL:
	case VALUE_DEFERRED_TEXT:
	case VALUE_INSTANCE:
		if (p->tensor)
			p->tensor(p->context, p->out, v);
		else if (v.kind == VALUE_INSTANCE)
			print_scalar(p->out, v);
		else
			buf_puts(p->out, v.kind == VALUE_TENSOR ? "tensor(...)" : "<size>");
		break;
	case VALUE_CLASS:
		if (p->tensor && v.class->meta)
			p->tensor(p->context, p->out, v);
		else
			print_scalar(p->out, v);
		break;
	default:
		if (v.scalar && !plain)
			print_typed(p->out, v);
		else
			print_scalar(p->out, v);
	}
}

void value_print_with(struct buf *out, struct value v, bool plain, value_print_fn *tensor,
		      void *context)
{
	struct printer printer = { out, tensor, context };

	print(&printer, v, plain, NULL);
}

void value_print(struct buf *out, struct value v, bool plain)
{
	value_print_with(out, v, plain, NULL, NULL);
}
