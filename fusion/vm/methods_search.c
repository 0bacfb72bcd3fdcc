/* fusion/vm/methods_search.c -- where a string has a text: find, count, startswith
 * and their kin, within bounds as those of a slice. */
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

/* The part of the string between the bounds. */
struct range_of_text {
	const char *whole, *at, *end;
	bool valid; /* its begin is not behind its end */
};

static const char *char_at(const struct str *s, int64_t i)
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
	out->at = char_at(s, at[0]);
	out->end = char_at(s, at[1]);
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
	for (const char *p = r.whole; found && p < found; p++)
		at += ((unsigned char)*p & 0xc0) != 0x80;
	*out = value_int(found ? at : -1);
	return true;
}

bool str_find(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return find(vm, call, false, out, err);
}

bool str_rfind(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return find(vm, call, true, out, err);
}

static bool need_found(struct vm *vm, const struct value *out, struct err *err)
{
	return out->i >= 0 || vm_raise(vm, CLASS_VALUE_ERROR, err, "substring not found");
}

bool str_index(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return find(vm, call, false, out, err) && need_found(vm, out, err);
}

bool str_rindex(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	return find(vm, call, true, out, err) && need_found(vm, out, err);
}

bool str_count(struct vm *vm, const struct builtin_call *call, struct value *out, struct err *err)
{
	struct range_of_text r;
	const struct str *part;
	int64_t n = 0;

	if (!need_text(vm, call, err) || !bounds(vm, call, &r, err))
		return false;
	part = call->args[0].str;
	if (part->len == 0) {
		n = r.valid;
		for (const char *p = r.at; p < r.end; p++)
			n += ((unsigned char)*p & 0xc0) != 0x80;
	}
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

bool str_startswith(struct vm *vm, const struct builtin_call *call, struct value *out,
		    struct err *err)
{
	return either_end(vm, call, true, out, err);
}

bool str_endswith(struct vm *vm, const struct builtin_call *call, struct value *out,
		  struct err *err)
{
	return either_end(vm, call, false, out, err);
}
