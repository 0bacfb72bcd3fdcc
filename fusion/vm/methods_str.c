/* fusion/vm/methods_str.c -- methods of str that look for texts, cut and join. */
#include <string.h>

#include "fusion/base/utf8.h"
#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/letters.h"
#include "fusion/vm/operators.h"

/* ---- where a string has a text: find, count, startswith
 * and their kin, within bounds as those of a slice.
 */

/* The part of the string between the bounds. */
struct range_of_text {
	const char *whole, *at, *end;
	bool valid; /* its begin is not after its end */
};

static const char *place_of(const struct str *s, int64_t i)
{
	const char *p = s->text, *end = s->text + s->len;

	while (p < end && i > 0) {
		p++;
		while (p < end && ((unsigned char)*p & 0xc0) == 0x80)
			p++;
		i--;
	}
	return p;
}

static bool bounds(struct vm *vm, const struct builtin_call *call, struct range_of_text *out,
		   struct err *err)
{
	const struct str *s = call->self.str;
	int64_t length = str_length(s), at[2] = { 0, length };

	for (int i = 1; i < call->n; i++) {
		if (call->args[i].kind == VALUE_NONE)
			continue;
		if (!op_index(vm, call->args[i], "a bound", &at[i - 1], err))
			return false;
		if (at[i - 1] < 0)
			at[i - 1] = at[i - 1] + length < 0 ? 0 : at[i - 1] + length;
	}
	out->valid = at[0] <= (at[1] > length ? length : at[1]);
	out->whole = s->text;
	out->at = place_of(s, at[0]);
	out->end = place_of(s, at[1]);
	return vm_spend(vm, (int64_t)s->len / 16, err);
}

static bool need_text(struct vm *vm, const struct builtin_call *call, struct err *err)
{
	return call->args[0].kind == VALUE_STR ||
	       vm_raise(vm, CLASS_TYPE_ERROR, err, "%s() argument 1 must be str, not %s",
			call->row->name, value_type_name(call->args[0]));
}

static const char *first_in(const struct range_of_text *r, const struct str *part)
{
	return memmem(r->at, (size_t)(r->end - r->at), part->text, part->len);
}

static const char *last_in(const struct range_of_text *r, const struct str *part)
{
	if ((size_t)(r->end - r->at) < part->len)
		return NULL;
	for (const char *p = r->end - part->len; p >= r->at; p--)
		if (memcmp(p, part->text, part->len) == 0)
			return p;
	return NULL;
}

static bool find(struct vm *vm, const struct builtin_call *call, bool last, struct value *out,
		 struct err *err)
{
	struct range_of_text r;
	const char *found;
	int64_t at = 0;

	if (!need_text(vm, call, err) || !bounds(vm, call, &r, err))
		return false;
	found = !r.valid ? NULL : (last ? last_in : first_in)(&r, call->args[0].str);
	if (found)
		at = utf8_count(r.whole, found);
	*out = value_int(found ? at : -1);
	return true;
}

static bool str_find(struct vm *vm, const struct builtin_call *call, struct value *out,
		     struct err *err)
{
	return find(vm, call, false, out, err);
}

static bool str_rfind(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	return find(vm, call, true, out, err);
}

static bool need_found(struct vm *vm, const struct value *out, struct err *err)
{
	return out->i >= 0 || vm_raise(vm, CLASS_VALUE_ERROR, err, "substring not found");
}

static bool str_index(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	return find(vm, call, false, out, err) && need_found(vm, out, err);
}

static bool str_rindex(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	return find(vm, call, true, out, err) && need_found(vm, out, err);
}

static bool str_count(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	struct range_of_text r;
	const struct str *part;
	int64_t n = 0;

	if (!need_text(vm, call, err) || !bounds(vm, call, &r, err))
		return false;
	part = call->args[0].str;
	if (part->len == 0)
		n = r.valid + utf8_count(r.at, r.end);
	for (const char *p; part->len > 0 && r.valid && (p = first_in(&r, part)); n++)
		r.at = p + part->len;
	*out = value_int(n);
	return true;
}

static bool has_end(const struct range_of_text *r, const struct str *part, bool front)
{
	return r->valid && (size_t)(r->end - r->at) >= part->len &&
	       memcmp(front ? r->at : r->end - part->len, part->text, part->len) == 0;
}

/* The argument is a string, or a tuple of them. */
static bool either_end(struct vm *vm, const struct builtin_call *call, bool front,
		       struct value *out, struct err *err)
{
	struct value v = call->args[0];
	struct range_of_text r;
	bool holds = false;

	if ((v.kind != VALUE_TUPLE && !need_text(vm, call, err)) || !bounds(vm, call, &r, err))
		return false;
	if (v.kind == VALUE_STR)
		holds = has_end(&r, v.str, front);
	for (int i = 0; v.kind == VALUE_TUPLE && i < v.list->len && !holds; i++)
		holds = v.list->at[i].kind == VALUE_STR && has_end(&r, v.list->at[i].str, front);
	*out = value_bool(holds);
	return true;
}

static bool str_startswith(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	return either_end(vm, call, true, out, err);
}

static bool str_endswith(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	return either_end(vm, call, false, out, err);
}

/* ---- methods that take strings apart. ---- */

static bool need_text_at(struct vm *vm, const struct builtin_call *call, int i, struct err *err)
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

/* Blanks of any script, as split() and strip() see them. */
static bool is_blank(uint32_t c)
{
	if (c < 0x100)
		return (char_kind(c) & CHAR_BLANK) != 0;
	return c == 0x1680 || (c >= 0x2000 && c <= 0x200a) || c == 0x2028 || c == 0x2029 ||
	       c == 0x202f || c == 0x205f || c == 0x3000;
}

/* Past the blanks, or the others, at the front (or the back) of the text. */
static const char *skip(const char *from, const char *to, bool blanks)
{
	size_t bytes;

	while (from < to && is_blank(char_at(from, to, &bytes)) == blanks)
		from += bytes;
	return from;
}

static const char *skip_back(const char *from, const char *to, bool blanks)
{
	size_t bytes;

	while (to > from) {
		const char *last = character_before(from, to);

		if (is_blank(char_at(last, to, &bytes)) != blanks)
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

static bool str_split(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
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
static bool str_rsplit(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
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

static bool str_splitlines(struct vm *vm, const struct builtin_call *call, struct value *out,
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

	if (!need_text_at(vm, call, 0, err))
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

static bool str_partition(struct vm *vm, const struct builtin_call *call, struct value *out,
			  struct err *err)
{
	return partition(vm, call, false, out, err);
}

static bool str_rpartition(struct vm *vm, const struct builtin_call *call, struct value *out,
			   struct err *err)
{
	return partition(vm, call, true, out, err);
}

static bool str_removeprefix(struct vm *vm, const struct builtin_call *call, struct value *out,
			     struct err *err)
{
	const struct str *s = call->self.str, *p;
	size_t cut;

	if (!need_text_at(vm, call, 0, err))
		return false;
	p = call->args[0].str;
	cut = s->len >= p->len && memcmp(s->text, p->text, p->len) == 0 ? p->len : 0;
	return keep_text(vm, s->text + cut, s->len - cut, out, err);
}

static bool str_removesuffix(struct vm *vm, const struct builtin_call *call, struct value *out,
			     struct err *err)
{
	const struct str *s = call->self.str, *p;
	size_t cut;

	if (!need_text_at(vm, call, 0, err))
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
		return is_blank(point);
	return memmem(call->args[0].str->text, call->args[0].str->len, c, bytes) != NULL;
}

static bool strip(struct vm *vm, const struct builtin_call *call, bool left, bool right,
		  struct value *out, struct err *err)
{
	const char *from = call->self.str->text, *to = from + call->self.str->len;
	size_t bytes;

	if (call->n > 0 && call->args[0].kind != VALUE_NONE && !need_text_at(vm, call, 0, err))
		return false;
	while (left && from < to && goes(call, from, to)) {
		char_at(from, to, &bytes);
		from += bytes;
	}
	while (right && to > from && goes(call, character_before(from, to), to))
		to = character_before(from, to);
	return keep_text(vm, from, (size_t)(to - from), out, err);
}

static bool str_strip(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	return strip(vm, call, true, true, out, err);
}

static bool str_lstrip(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	return strip(vm, call, true, false, out, err);
}

static bool str_rstrip(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	return strip(vm, call, false, true, out, err);
}

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

static bool str_join(struct vm *vm, const struct builtin_call *call, struct value *out,
		     struct err *err)
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
		if (value_is_text(value_plain(item)))
			ok = text_append(vm, value_plain(item), &text, err);
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

static bool str_replace(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
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

#define BUILTINS_OF_METHODS_STR
const struct builtin methods_str_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
