/* fusion/vm/methods_str.c -- join() and replace() of strings. */
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/operators.h"

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
