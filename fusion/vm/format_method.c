/* fusion/vm/format_method.c -- "{0} {name!r:>{width}}".format(args).
 *
 * The text between two braces is a field: what to show, `!` how, `:` a specification,
 * which may hold fields itself. */
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/format.h"
#include "fusion/vm/operators.h"

enum { DEEPEST = 2 }; /* fields in a field's specification, and no further */

enum numbering { NUMBERING_OPEN, NUMBERING_AUTOMATIC, NUMBERING_MANUAL };

struct template
{
	struct vm *vm;
	const struct builtin_call *call;
	long next; /* the number of the next field without one */
	enum numbering numbering;
};

struct replacement_field {
	const char *name, *name_end;
	char how; /* r s a, 0: none */
	const char *spec, *spec_end;
	bool nested; /* the specification has fields */
};

static bool wrong(const struct template *t, struct err *err, const char *text)
{
	return vm_raise(t->vm, CLASS_VALUE_ERROR, err, "%s", text);
}

/* ---- the parts of a field; *at is after its { */

static bool parse_spec(const struct template *t, const char **at, const char *end,
		       struct replacement_field *f, struct err *err)
{
	int depth = 1;

	f->spec = *at;
	for (; *at < end; ++*at) {
		if (**at == '{')
			f->nested = true;
		depth += **at == '{' ? 1 : **at == '}' ? -1 : 0;
		if (depth == 0) {
			f->spec_end = (*at)++;
			return true;
		}
	}
	return wrong(t, err, "unmatched '{' in format spec");
}

static bool parse_field(const struct template *t, const char **at, const char *end,
			struct replacement_field *f, struct err *err)
{
	char stop;

	*f = (struct replacement_field){ .name = *at };
	while (*at < end && !strchr("{}:!", **at)) {
		if (**at == '[')
			while (*at + 1 < end && **at != ']')
				++*at;
		++*at;
	}
	if (*at == end)
		return wrong(t, err, "expected '}' before end of string");
	f->name_end = *at;
	stop = *(*at)++;
	if (stop == '{')
		return wrong(t, err, "unexpected '{' in field name");
	if (stop == '}')
		return true;
	if (stop == '!') {
		if (*at == end)
			return wrong(t, err,
				     "end of string while looking for conversion specifier");
		f->how = *(*at)++;
		if (*at == end)
			return wrong(t, err, "unmatched '{' in format spec");
		stop = *(*at)++;
		if (stop == '}')
			return true;
		if (stop != ':')
			return wrong(t, err, "expected ':' after conversion specifier");
	}
	return parse_spec(t, at, end, f, err);
}

/* ---- what it shows */

/* The number that the text is; -1: none. */
static long number_of(const struct value text)
{
	if (text.str->len == 0 || strspn(text.str->text, "0123456789") != text.str->len)
		return -1;
	return strtol(text.str->text, NULL, 10);
}

static bool argument(struct template *t, struct value name, struct value *out, struct err *err)
{
	long i = number_of(name);
	bool automatic = name.str->len == 0;

	if (automatic || i >= 0) {
		if (t->numbering == (automatic ? NUMBERING_MANUAL : NUMBERING_AUTOMATIC))
			return wrong(t, err,
				     automatic ? "cannot switch from manual field specification to "
						 "automatic field numbering"
					       : "cannot switch from automatic field numbering to "
						 "manual field specification");
		t->numbering = automatic ? NUMBERING_AUTOMATIC : NUMBERING_MANUAL;
		i = automatic ? t->next++ : i;
		if (i >= t->call->n)
			return vm_raise(t->vm, CLASS_INDEX_ERROR, err,
					"Replacement index %ld out of range for positional args "
					"tuple",
					i);
		*out = value_ref(t->call->args[i]);
		return true;
	}
	if (!builtin_keyword(t->call, name.str->text, out))
		return vm_raise(t->vm, CLASS_KEY_ERROR, err, "%s", name.str->text);
	value_ref(*out);
	return true;
}

/* *v.name or *v[name], which *v becomes. */
static bool part_of(struct template *t, struct value *v, struct value name, bool index,
		    struct err *err)
{
	struct value part;
	long i = index ? number_of(name) : -1;

	if (name.str->len == 0)
		return wrong(t, err, "Empty attribute in format string");
	if (index ? !op_subscript(t->vm, *v, i >= 0 ? value_int(i) : name, &part, err)
		  : !op_attribute(t->vm, NULL, *v, name.str->text, &part, err))
		return false;
	value_unref(*v);
	*v = part;
	return true;
}

static bool text_between(struct template *t, const char *from, const char *to, struct value *out,
			 struct err *err)
{
	return vm_keep(t->vm, value_str(from, (size_t)(to - from)), out, err);
}

/* One .name or [index]; *at is after it. */
static bool next_part(struct template *t, const char **at, const char *end, struct value *v,
		      struct err *err)
{
	const char *from = *at + 1, *to = from;
	bool index = **at == '[', ok;
	struct value name;

	if (!index && **at != '.')
		return wrong(t, err, "Only '.' or '[' may follow ']' in format field specifier");
	while (to < end && (index ? *to != ']' : *to != '.' && *to != '['))
		to++;
	if (index && to == end)
		return wrong(t, err, "Missing ']' in format string");
	*at = to + index;
	if (!text_between(t, from, to, &name, err))
		return false;
	ok = part_of(t, v, name, index, err);
	value_unref(name);
	return ok;
}

static bool shown(struct template *t, const struct replacement_field *f, struct value *out,
		  struct err *err)
{
	const char *at = f->name;
	struct value name;
	bool ok;

	while (at < f->name_end && *at != '.' && *at != '[')
		at++;
	if (!text_between(t, f->name, at, &name, err))
		return false;
	ok = argument(t, name, out, err);
	value_unref(name);
	if (!ok)
		return false;
	while (ok && at < f->name_end)
		ok = next_part(t, &at, f->name_end, out, err);
	if (!ok)
		value_unref(*out);
	return ok;
}

/* ---- !r, !s and !a */

static bool converted(struct template *t, char how, struct value *v, struct err *err)
{
	struct buf text = { .limit = t->vm->limits.object_bytes };
	struct builtin_call call = { .args = v, .n = 1 };
	struct value made;
	bool ok;

	if (how == 0)
		return true;
	if (how == 'a') {
		ok = builtin_ascii(t->vm, &call, &made, err);
	} else if (how == 'r' || how == 's') {
		ok = builtin_text(t->vm, *v, how == 's', &text, err) &&
		     builtin_take_text(t->vm, &text, &made, err);
		if (!ok)
			buf_finish(&text);
	} else {
		return vm_raise(t->vm, CLASS_VALUE_ERROR, err, "Unknown conversion specifier %c",
				how);
	}
	if (ok) {
		value_unref(*v);
		*v = made;
	}
	return ok;
}

/* ---- the template */

static bool expand(struct template *t, const char *at, const char *end, int depth, struct buf *out,
		   struct err *err);

static bool put_field(struct template *t, const struct replacement_field *f, int depth,
		      struct buf *out, struct err *err)
{
	struct buf spec = { .limit = out->limit };
	const char *text = f->spec ? f->spec : "";
	size_t len = f->spec ? (size_t)(f->spec_end - f->spec) : 0;
	struct value v;
	bool ok;

	if (!shown(t, f, &v, err))
		return false;
	ok = converted(t, f->how, &v, err);
	if (ok && f->nested) {
		ok = expand(t, text, text + len, depth - 1, &spec, err);
		text = spec.data ? spec.data : "";
		len = spec.len;
	}
	ok = ok && op_format(t->vm, v, text, len, out, err);
	buf_finish(&spec);
	value_unref(v);
	return ok;
}

static bool expand(struct template *t, const char *at, const char *end, int depth, struct buf *out,
		   struct err *err)
{
	struct replacement_field f;

	if (depth <= 0)
		return wrong(t, err, "Max string recursion exceeded");
	while (at < end) {
		char c = *at++;

		if (c != '{' && c != '}') {
			buf_putc(out, c);
		} else if (at < end && *at == c) {
			buf_putc(out, c);
			at++;
		} else if (c == '}') {
			return wrong(t, err, "Single '}' encountered in format string");
		} else if (at == end) {
			return wrong(t, err, "Single '{' encountered in format string");
		} else if (!parse_field(t, &at, end, &f, err) ||
			   !put_field(t, &f, depth, out, err)) {
			return false;
		}
	}
	return true;
}

static bool str_format(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	struct buf text = { .limit = vm->limits.object_bytes };
	struct template t = { .vm = vm, .call = call };
	const struct str *s = call->self.str;

	if (expand(&t, s->text, s->text + s->len, DEEPEST, &text, err))
		return builtin_take_text(vm, &text, out, err);
	buf_finish(&text);
	return false;
}

#define BUILTINS_OF_FORMAT_METHOD
const struct builtin format_method_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
