/* fusion/capture/methods_str.c -- methods of strings.
 *
 * Case and blanks are those of ASCII; other characters pass unchanged. */
#include <ctype.h>
#include <string.h>

#include "fusion/capture/builtins.h"
#include "fusion/capture/operators.h"

static bool text_argument(const struct builtin_call *call, int i, struct err *err)
{
	if (call->args[i].kind == VALUE_STR)
		return true;
	return err_set(err, ERR_TYPE, "%s() argument %d must be str, not %s", call->row->name,
		       i + 1, value_type_name(call->args[i]));
}

static bool is_at(const struct str *s, size_t at, const struct str *part)
{
	return s->len - at >= part->len && memcmp(s->text + at, part->text, part->len) == 0;
}

static bool fresh(struct vm *vm, const char *text, size_t len, struct value *out, struct err *err)
{
	return vm_room(vm, (int64_t)len, 1, err) && vm_keep(vm, value_str(text, len), out, err);
}

bool str_join(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct buf text = { .limit = vm->limits.object_bytes };
	struct value it, item;
	bool more = true, ok = true;
	int n = 0;

	if (!op_iter(vm, call->args[0], &it, err))
		return false;
	for (; ok; n++) {
		ok = op_next(vm, it.iter, &item, &more, err);
		if (!ok || !more)
			break;
		if (n > 0)
			buf_add(&text, call->self.str->text, call->self.str->len);
		if (value_is_text(item))
			ok = text_append(vm, item, &text, err);
		else
			ok = err_set(err, ERR_TYPE,
				     "sequence item %d: expected str instance, %s found", n,
				     value_type_name(item));
		value_unref(item);
		ok = ok && vm_spend(vm, 1, err);
	}
	value_unref(it);
	if (ok)
		return builtin_take_text(vm, &text, out, err);
	buf_finish(&text);
	return false;
}

static bool change_case(struct vm *vm, const struct builtin_call *call, int (*change)(int),
			struct value *out, struct err *err)
{
	const struct str *s = call->self.str;

	if (!fresh(vm, s->text, s->len, out, err))
		return false;
	for (size_t i = 0; i < s->len; i++)
		if ((unsigned char)s->text[i] < 0x80)
			out->str->text[i] = (char)change((unsigned char)s->text[i]);
	return true;
}

bool str_lower(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return change_case(vm, call, tolower, out, err);
}

bool str_upper(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return change_case(vm, call, toupper, out, err);
}

static bool push_part(struct vm *vm, struct list *list, const char *text, size_t len,
		      struct err *err)
{
	struct value part;
	bool ok;

	if (!vm_keep(vm, value_str(text, len), &part, err))
		return false;
	ok = value_list_push(list, part) || vm_out_of_memory(vm, err);
	value_unref(part);
	return ok && vm_spend(vm, 1, err);
}

/* `most`: how many separators count, -1 for all. */
static bool split_at_blanks(struct vm *vm, const struct str *s, int64_t most, struct list *list,
			    struct err *err)
{
	const char *p = s->text, *end = p + s->len, *from;

	for (;;) {
		while (p < end && isspace((unsigned char)*p))
			p++;
		if (p == end)
			return true;
		from = p;
		if (most >= 0 && most-- == 0)
			p = end;
		while (p < end && !isspace((unsigned char)*p))
			p++;
		if (!push_part(vm, list, from, (size_t)(p - from), err))
			return false;
	}
}

static bool split_at(struct vm *vm, const struct str *s, const struct str *separator, int64_t most,
		     struct list *list, struct err *err)
{
	size_t from = 0, at = 0;

	if (separator->len == 0)
		return err_set(err, ERR_VALUE, "empty separator");
	while (at < s->len && most != 0) {
		if (!is_at(s, at, separator)) {
			at++;
			continue;
		}
		if (!push_part(vm, list, s->text + from, at - from, err))
			return false;
		from = at += separator->len;
		most -= most > 0;
	}
	return push_part(vm, list, s->text + from, s->len - from, err);
}

/* The arguments of split() and rsplit(). */
static bool split_arguments(struct vm *vm, const struct builtin_call *call, struct value *separator,
			    int64_t *most, struct err *err)
{
	struct value limit = value_int(-1);

	*separator = call->n > 0 ? call->args[0] : value_none();
	if (call->n == 0)
		builtin_keyword(call, "sep", separator);
	if (call->n == 2)
		limit = call->args[1];
	else
		builtin_keyword(call, "maxsplit", &limit);
	if (separator->kind != VALUE_NONE && separator->kind != VALUE_STR)
		return err_set(err, ERR_TYPE, "must be str or None, not %s",
			       value_type_name(*separator));
	return op_index(vm, limit, "maxsplit", most, err);
}

bool str_split(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct value list, separator;
	int64_t most;
	bool ok;

	if (!split_arguments(vm, call, &separator, &most, err) ||
	    !vm_keep(vm, value_list(NULL, 0), &list, err))
		return false;
	ok = separator.kind == VALUE_NONE
		 ? split_at_blanks(vm, call->self.str, most, list.list, err)
		 : split_at(vm, call->self.str, separator.str, most, list.list, err);
	if (ok)
		*out = list;
	else
		value_unref(list);
	return ok;
}

/* Splits at all separators, then joins what is too much at the front. */
bool str_rsplit(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct builtin_call all = *call;
	struct value separator, first;
	const struct str *s = call->self.str;
	struct list *list;
	int64_t most;
	size_t tail = 0;
	int extra;

	if (!split_arguments(vm, call, &separator, &most, err))
		return false;
	all.n = 1;
	all.args = &separator;
	all.kw = NULL;
	if (!str_split(vm, &all, out, err))
		return false;
	list = out->list;
	extra = most >= 0 && most < list->len - 1 ? list->len - 1 - (int)most : 0;
	if (extra == 0)
		return true;
	if (separator.kind == VALUE_NONE) {
		value_unref(*out);
		return err_set(err, ERR_UNSUPPORTED,
			       "rsplit() with maxsplit needs a separator here");
	}
	for (int i = extra + 1; i < list->len; i++)
		tail += separator.str->len + list->at[i].str->len;
	if (!fresh(vm, s->text, s->len - tail, &first, err)) {
		value_unref(*out);
		return false;
	}
	for (int i = 0; i <= extra; i++)
		value_unref(list->at[i]);
	memmove(list->at + 1, list->at + extra + 1,
		sizeof(struct value) * (size_t)(list->len - extra - 1));
	list->at[0] = first;
	list->len -= extra;
	return true;
}

bool str_replace(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct buf text = { .limit = vm->limits.object_bytes };
	const struct str *s = call->self.str, *old, *new;
	struct value limit = call->n == 3 ? call->args[2] : value_int(-1);
	int64_t left;
	size_t at = 0;

	if (call->n == 2)
		builtin_keyword(call, "count", &limit);
	if (!text_argument(call, 0, err) || !text_argument(call, 1, err) ||
	    !op_index(vm, limit, "count", &left, err) || !vm_spend(vm, (int64_t)s->len / 16, err))
		return false;
	old = call->args[0].str;
	new = call->args[1].str;
	while (at < s->len) {
		if (left != 0 && old->len > 0 && is_at(s, at, old)) {
			buf_add(&text, new->text, new->len);
			at += old->len;
			left--;
			continue;
		}
		if (left != 0 && old->len == 0 && ((unsigned char)s->text[at] & 0xc0) != 0x80) {
			buf_add(&text, new->text, new->len); /* before each character */
			left--;
		}
		buf_putc(&text, s->text[at++]);
	}
	if (old->len == 0 && left != 0)
		buf_add(&text, new->text, new->len);
	return builtin_take_text(vm, &text, out, err);
}
