/* fusion/capture/sources/reach.c -- the tensors that a program keeps between calls.
 *
 * They are found as the program would reach them: from its globals, and from a module that
 * is the entry itself.  "net.up.weight", "opt.state[0].exp_avg".
 */
#include <stdio.h>
#include <string.h>

#include "fusion/vm/frame.h"
#include "fusion/capture/capture.h"

enum { MOST_OBJECTS = 4096, MOST_DEPTH = 16 };

struct reach {
	session_tensor_fn *each;
	void *self;
	char path[512];
	VEC(const void *) seen;
};

static bool is_new(struct reach *r, const void *object)
{
	for (size_t i = 0; i < r->seen.len; i++)
		if (r->seen.at[i] == object)
			return false;
	return r->seen.len < MOST_OBJECTS && VEC_PUSH(&r->seen, object);
}

static void visit(struct reach *r, struct value v, size_t len, int depth);

/* What is below the path so far, under a name or (NULL) at a position. */
static void below(struct reach *r, struct value v, size_t len, const char *name, int at, int depth)
{
	size_t room = sizeof(r->path) - len;
	int more;

	if (v.kind != VALUE_TENSOR && v.kind != VALUE_INSTANCE && v.kind != VALUE_DICT &&
	    v.kind != VALUE_LIST && v.kind != VALUE_TUPLE)
		return;
	more = name ? snprintf(r->path + len, room, "%s%s", len ? "." : "", name)
		    : snprintf(r->path + len, room, "[%d]", at);
	if (more > 0 && (size_t)more < room)
		visit(r, v, len + (size_t)more, depth);
}

static void visit_dict(struct reach *r, const struct dict *dict, size_t len, int depth)
{
	for (int i = 0; dict && i < dict->len; i++)
		below(r, dict->values[i], len,
		      dict->keys[i].kind == VALUE_STR ? dict->keys[i].str->text : NULL, i, depth);
}

static void visit(struct reach *r, struct value v, size_t len, int depth)
{
	if (depth > MOST_DEPTH || !is_new(r, v.object))
		return;
	if (v.kind == VALUE_TENSOR && v.tensor->memory)
		r->each(r->self, r->path, v);
	else if (v.kind == VALUE_INSTANCE)
		visit_dict(r, v.instance->attributes, len, depth + 1);
	else if (v.kind == VALUE_DICT)
		visit_dict(r, v.dict, len, depth + 1);
	for (int i = 0; (v.kind == VALUE_LIST || v.kind == VALUE_TUPLE) && i < v.list->len; i++)
		below(r, v.list->at[i], len, NULL, i, depth + 1);
}

void session_tensors(const struct session *s, session_tensor_fn *each, void *self)
{
	struct reach r = { .each = each, .self = self };

	if (s->callee.kind == VALUE_INSTANCE)
		visit(&r, s->callee, 0, 0);
	for (int i = 0; i < s->vm->n_globals; i++)
		if (!s->vm->globals[i].owner)
			below(&r, s->vm->globals[i].value, 0, s->vm->globals[i].name, 0, 0);
	VEC_FREE(&r.seen);
}
