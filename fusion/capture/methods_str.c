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
		if (item.kind == VALUE_STR)
			buf_add(&text, item.str->text, item.str->len);
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

bool str_strip(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	const char *from = call->self.str->text, *to = from + call->self.str->len;

	while (from < to && isspace((unsigned char)*from))
		from++;
	while (to > from && isspace((unsigned char)to[-1]))
		to--;
	return fresh(vm, from, (size_t)(to - from), out, err);
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

static bool split_at_blanks(struct vm *vm, const struct str *s, struct list *list, struct err *err)
{
	const char *p = s->text, *end = p + s->len, *from;

	for (;;) {
		while (p < end && isspace((unsigned char)*p))
			p++;
		if (p == end)
			return true;
		for (from = p; p < end && !isspace((unsigned char)*p);)
			p++;
		if (!push_part(vm, list, from, (size_t)(p - from), err))
			return false;
	}
}

static bool split_at(struct vm *vm, const struct str *s, const struct str *separator,
		     struct list *list, struct err *err)
{
	size_t from = 0, at = 0;

	if (separator->len == 0)
		return err_set(err, ERR_VALUE, "empty separator");
	while (at < s->len) {
		if (!is_at(s, at, separator)) {
			at++;
			continue;
		}
		if (!push_part(vm, list, s->text + from, at - from, err))
			return false;
		from = at += separator->len;
	}
	return push_part(vm, list, s->text + from, s->len - from, err);
}

bool str_split(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	bool blanks = call->n == 0 || call->args[0].kind == VALUE_NONE, ok;
	struct value list;

	if (!blanks && !text_argument(call, 0, err))
		return false;
	if (!vm_keep(vm, value_list(NULL, 0), &list, err))
		return false;
	ok = blanks ? split_at_blanks(vm, call->self.str, list.list, err)
		    : split_at(vm, call->self.str, call->args[0].str, list.list, err);
	if (ok)
		*out = list;
	else
		value_unref(list);
	return ok;
}

bool str_replace(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct buf text = { .limit = vm->limits.object_bytes };
	const struct str *s = call->self.str, *old, *new;
	size_t at = 0;

	if (!text_argument(call, 0, err) || !text_argument(call, 1, err) ||
	    !vm_spend(vm, (int64_t)s->len / 16, err))
		return false;
	old = call->args[0].str;
	new = call->args[1].str;
	while (at < s->len) {
		if (old->len > 0 && is_at(s, at, old)) {
			buf_add(&text, new->text, new->len);
			at += old->len;
			continue;
		}
		if (old->len == 0 && ((unsigned char)s->text[at] & 0xc0) != 0x80)
			buf_add(&text, new->text, new->len); /* before each character */
		buf_putc(&text, s->text[at++]);
	}
	if (old->len == 0)
		buf_add(&text, new->text, new->len);
	return builtin_take_text(vm, &text, out, err);
}

bool str_startswith(struct vm *vm, const struct builtin_call *call, struct value *out,
		    struct err *err)
{
	(void)vm;
	if (!text_argument(call, 0, err))
		return false;
	*out = value_bool(is_at(call->self.str, 0, call->args[0].str));
	return true;
}

bool str_endswith(struct vm *vm, const struct builtin_call *call, struct value *out,
		  struct err *err)
{
	const struct str *s = call->self.str;

	(void)vm;
	if (!text_argument(call, 0, err))
		return false;
	*out = value_bool(s->len >= call->args[0].str->len &&
			  is_at(s, s->len - call->args[0].str->len, call->args[0].str));
	return true;
}

bool str_find(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	const struct str *s = call->self.str;
	const char *found;
	int64_t at = 0;

	if (!text_argument(call, 0, err) || !vm_spend(vm, (int64_t)s->len / 16, err))
		return false;
	found = memmem(s->text, s->len, call->args[0].str->text, call->args[0].str->len);
	for (const char *p = s->text; found && p < found; p++)
		at += ((unsigned char)*p & 0xc0) != 0x80;
	*out = value_int(found ? at : -1);
	return true;
}

bool str_count(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	const struct str *s = call->self.str, *part;
	int64_t n = 0;

	if (!text_argument(call, 0, err) || !vm_spend(vm, (int64_t)s->len / 16, err))
		return false;
	part = call->args[0].str;
	if (part->len == 0)
		n = str_length(s) + 1;
	for (size_t at = 0; part->len > 0 && at < s->len;) {
		bool here = is_at(s, at, part);

		n += here;
		at += here ? part->len : 1;
	}
	*out = value_int(n);
	return true;
}
