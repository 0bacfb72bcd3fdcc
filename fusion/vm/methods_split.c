/* fusion/vm/methods_split.c -- methods that take strings apart. */
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/letters.h"
#include "fusion/vm/operators.h"

static bool need_text(struct vm *vm, const struct builtin_call *call, int i, struct err *err)
{
	return call->args[i].kind == VALUE_STR ||
	       vm_raise(vm, CLASS_TYPE_ERROR, err, "%s() argument %d must be str, not %s",
			call->row->name, i + 1, value_type_name(call->args[i]));
}

static bool keep_text(struct vm *vm, const char *text, size_t len, struct value *out,
		      struct err *err)
{
	return vm_room(vm, (int64_t)len, 1, err) && vm_keep(vm, value_str(text, len), out, err);
}

static bool push_part(struct vm *vm, struct list *list, const char *from, const char *to,
		      struct err *err)
{
	struct value part;
	bool ok;

	if (!keep_text(vm, from, (size_t)(to - from), &part, err))
		return false;
	ok = value_list_push(list, part) || vm_out_of_memory(vm, err);
	value_unref(part);
	return ok && vm_spend(vm, 1, err);
}

/* The begin of the character before `at`. */
static const char *character_before(const char *from, const char *at)
{
	do
		at--;
	while (at > from && ((unsigned char)*at & 0xc0) == 0x80);
	return at;
}

/* ---- at blanks */

/* Past the blanks, or the others, at the front (or the back) of the text. */
static const char *skip(const char *from, const char *to, bool blanks)
{
	size_t bytes;

	while (from < to && char_is_blank(char_at(from, to, &bytes)) == blanks)
		from += bytes;
	return from;
}

static const char *skip_back(const char *from, const char *to, bool blanks)
{
	size_t bytes;

	while (to > from) {
		const char *last = character_before(from, to);

		if (char_is_blank(char_at(last, to, &bytes)) != blanks)
			break;
		to = last;
	}
	return to;
}

/* `most`: how many separators count, -1 for all. */
static bool split_at_blanks(struct vm *vm, const struct str *s, int64_t most, struct list *list,
			    struct err *err)
{
	const char *p = s->text, *end = p + s->len, *from;

	for (;;) {
		from = skip(p, end, true);
		if (from == end)
			return true;
		p = most >= 0 && most-- == 0 ? end : skip(from, end, false);
		if (!push_part(vm, list, from, p, err))
			return false;
	}
}

static bool rsplit_at_blanks(struct vm *vm, const struct str *s, int64_t most, struct list *list,
			     struct err *err)
{
	const char *begin = s->text, *p = begin + s->len, *to;

	for (;;) {
		to = skip_back(begin, p, true);
		if (to == begin)
			return true;
		p = most >= 0 && most-- == 0 ? begin : skip_back(begin, to, false);
		if (!push_part(vm, list, p, to, err))
			return false;
	}
}

/* ---- at a separator */

static bool split_at(struct vm *vm, const struct str *s, const struct str *separator, int64_t most,
		     struct list *list, struct err *err)
{
	const char *from = s->text, *end = from + s->len, *at;

	while (most != 0 &&
	       (at = memmem(from, (size_t)(end - from), separator->text, separator->len))) {
		if (!push_part(vm, list, from, at, err))
			return false;
		from = at + separator->len;
		most -= most > 0;
	}
	return push_part(vm, list, from, end, err);
}

static const char *last_of(const char *from, const char *to, const struct str *part)
{
	for (const char *at = to - part->len; (size_t)(to - from) >= part->len && at >= from; at--)
		if (memcmp(at, part->text, part->len) == 0)
			return at;
	return NULL;
}

static bool rsplit_at(struct vm *vm, const struct str *s, const struct str *separator, int64_t most,
		      struct list *list, struct err *err)
{
	const char *to = s->text + s->len, *at;

	while (most != 0 && (at = last_of(s->text, to, separator))) {
		if (!push_part(vm, list, at + separator->len, to, err))
			return false;
		to = at;
		most -= most > 0;
	}
	return push_part(vm, list, s->text, to, err);
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
	if (separator->kind == VALUE_STR && separator->str->len == 0)
		return err_set(err, ERR_VALUE, "empty separator");
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

/* The parts come from the last to the first. */
bool str_rsplit(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct value list, separator;
	int64_t most;
	bool ok;

	if (!split_arguments(vm, call, &separator, &most, err) ||
	    !vm_keep(vm, value_list(NULL, 0), &list, err))
		return false;
	ok = separator.kind == VALUE_NONE
		 ? rsplit_at_blanks(vm, call->self.str, most, list.list, err)
		 : rsplit_at(vm, call->self.str, separator.str, most, list.list, err);
	if (!ok) {
		value_unref(list);
		return false;
	}
	for (int i = 0, k = list.list->len - 1; i < k; i++, k--) {
		struct value first = list.list->at[i];

		list.list->at[i] = list.list->at[k];
		list.list->at[k] = first;
	}
	*out = list;
	return true;
}

static bool ends_line(uint32_t c)
{
	return (c >= '\n' && c <= '\r') || (c >= 0x1c && c <= 0x1e) || c == 0x85 || c == 0x2028 ||
	       c == 0x2029;
}

bool str_splitlines(struct vm *vm, const struct builtin_call *call, struct value *out,
		    struct err *err)
{
	const char *at = call->self.str->text, *end = at + call->self.str->len;
	struct value keep = call->n ? call->args[0] : value_bool(false), list;
	bool ok = true, ends;

	builtin_keyword(call, "keepends", &keep);
	if (!op_truth(vm, keep, &ends, err) || !vm_keep(vm, value_list(NULL, 0), &list, err))
		return false;
	while (ok && at < end) {
		const char *from = at, *to;
		size_t bytes = 0;

		while (at < end && !ends_line(char_at(at, end, &bytes)))
			at += bytes;
		to = at;
		if (at < end)
			at += *at == '\r' && at + 1 < end && at[1] == '\n' ? 2 : bytes;
		ok = push_part(vm, list.list, from, ends ? at : to, err);
	}
	if (ok)
		*out = list;
	else
		value_unref(list);
	return ok;
}

/* ---- in three, or without an end */

static bool partition(struct vm *vm, const struct builtin_call *call, bool last, struct value *out,
		      struct err *err)
{
	const struct str *s = call->self.str, *part;
	const char *at, *end = s->text + s->len;
	struct value three[3];
	bool ok;

	if (!need_text(vm, call, 0, err))
		return false;
	part = call->args[0].str;
	if (part->len == 0)
		return vm_raise(vm, CLASS_VALUE_ERROR, err, "empty separator");
	at = last ? last_of(s->text, end, part) : memmem(s->text, s->len, part->text, part->len);
	if (at) {
		three[0] = value_str(s->text, (size_t)(at - s->text));
		three[1] = value_ref(call->args[0]);
		three[2] = value_str(at + part->len, (size_t)(end - at) - part->len);
	} else {
		three[0] = last ? value_str("", 0) : value_ref(call->self);
		three[1] = value_str("", 0);
		three[2] = last ? value_ref(call->self) : value_str("", 0);
	}
	ok = vm_keep(vm, value_tuple(three, 3), out, err);
	for (int i = 0; i < 3; i++)
		value_unref(three[i]);
	return ok;
}

bool str_partition(struct vm *vm, const struct builtin_call *call, struct value *out,
		   struct err *err)
{
	return partition(vm, call, false, out, err);
}

bool str_rpartition(struct vm *vm, const struct builtin_call *call, struct value *out,
		    struct err *err)
{
	return partition(vm, call, true, out, err);
}

bool str_removeprefix(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	const struct str *s = call->self.str, *p;
	size_t cut;

	if (!need_text(vm, call, 0, err))
		return false;
	p = call->args[0].str;
	cut = s->len >= p->len && memcmp(s->text, p->text, p->len) == 0 ? p->len : 0;
	return keep_text(vm, s->text + cut, s->len - cut, out, err);
}

bool str_removesuffix(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	const struct str *s = call->self.str, *p;
	size_t cut;

	if (!need_text(vm, call, 0, err))
		return false;
	p = call->args[0].str;
	cut = s->len >= p->len && memcmp(s->text + s->len - p->len, p->text, p->len) == 0 ? p->len
											  : 0;
	return keep_text(vm, s->text, s->len - cut, out, err);
}

/* Whether the character goes: a blank, or one of the given ones. */
static bool goes(const struct builtin_call *call, const char *c, const char *end)
{
	size_t bytes;
	uint32_t point = char_at(c, end, &bytes);

	if (call->n == 0 || call->args[0].kind == VALUE_NONE)
		return char_is_blank(point);
	return memmem(call->args[0].str->text, call->args[0].str->len, c, bytes) != NULL;
}

static bool strip(struct vm *vm, const struct builtin_call *call, bool left, bool right,
		  struct value *out, struct err *err)
{
	const char *from = call->self.str->text, *to = from + call->self.str->len;
	size_t bytes;

	if (call->n > 0 && call->args[0].kind != VALUE_NONE && !need_text(vm, call, 0, err))
		return false;
	while (left && from < to && goes(call, from, to)) {
		char_at(from, to, &bytes);
		from += bytes;
	}
	while (right && to > from && goes(call, character_before(from, to), to))
		to = character_before(from, to);
	return keep_text(vm, from, (size_t)(to - from), out, err);
}

bool str_strip(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return strip(vm, call, true, true, out, err);
}

bool str_lstrip(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return strip(vm, call, true, false, out, err);
}

bool str_rstrip(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return strip(vm, call, false, true, out, err);
}
