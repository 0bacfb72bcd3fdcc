/* fusion/session/parameters.c -- the tensors of a session: parameters by name, and what the program
 * keeps.
 *
 * "up.weight" is looked up as torch's state_dict() spells it: submodules by
 * name, then the tensor.  Values are copied into the module's own tensor, so
 * that every name for it sees them.
 */
#include "fusion/session/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/frame.h"

/* An entry of the dict that the instance holds under `table`. */
static struct value *entry_of(const struct instance *at, const char *table, const char *name)
{
	struct value *dict = at->attributes ? value_dict_find(at->attributes, table) : NULL;

	return dict && dict->kind == VALUE_DICT ? value_dict_find(dict->dict, name) : NULL;
}

static struct value *find_part(const struct instance *at, const char *name)
{
	static const char *const tables[] = { "_parameters", "_buffers", "_modules" };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct value *found = entry_of(at, tables[i], name);

		if (found)
			return found;
	}
	return at->attributes ? value_dict_find(at->attributes, name) : NULL;
}

static struct vtensor *find_tensor(struct value at, const char *path)
{
	char name[256];

	while (at.kind == VALUE_INSTANCE) {
		const char *dot = strchr(path, '.');
		size_t len = dot ? (size_t)(dot - path) : strlen(path);
		struct value *found;

		if (len >= sizeof(name))
			return NULL;
		memcpy(name, path, len);
		name[len] = '\0';
		found = find_part(at.instance, name);
		if (!found)
			return NULL;
		at = *found;
		if (!dot)
			break;
		path = dot + 1;
	}
	return at.kind == VALUE_TENSOR ? at.tensor : NULL;
}

bool session_set_parameter(struct session *s, const char *name, const struct tensor *t,
			   struct err *err)
{
	struct vtensor *found = find_tensor(s->callee, name);

	if (s->callee.kind != VALUE_INSTANCE)
		return err_set(err, ERR_WORKLOAD,
			       "params names %.100s, but %s is no nn.Module: it has no parameters",
			       name, s->report.frame);
	if (!found || !found->memory)
		return err_set(err, ERR_WORKLOAD,
			       "params names %.100s, which %s does not have as a tensor", name,
			       s->report.frame);
	if (found->memory->dtype != t->dtype || found->memory->rank != t->rank ||
	    memcmp(found->memory->size, t->size, (size_t)t->rank * sizeof(t->size[0])) != 0)
		return err_set(err, ERR_WORKLOAD,
			       "params gives %.100s another shape or dtype than %s has it in", name,
			       s->report.frame);
	tensor_copy(found->memory, t);
	return true;
}

const char *session_parameter_name(const struct session *s, int index)
{
	const struct code *code = s->function.kind == VALUE_FUNCTION ? s->function.function->code
								     : NULL;
	int self = s->self.kind != VALUE_UNSET;

	return code && index + self < code->n_positional ? code->locals[index + self] : NULL;
}

struct lister {
	void (*each)(void *self, const char *name, struct value t);
	void *self;
	char name[512];
	VEC(const void *) seen;
};

static bool is_unlisted(struct lister *l, const void *object)
{
	for (size_t i = 0; i < l->seen.len; i++)
		if (l->seen.at[i] == object)
			return false;
	return VEC_PUSH(&l->seen, object);
}

static void list(struct lister *l, struct value at, size_t len, int depth)
{
	const struct dict *dict = at.instance->attributes;

	for (int i = 0; dict && depth < MAX_NESTING && i < dict->len; i++) {
		struct value v = dict->values[i];
		size_t more;

		if (dict->keys[i].kind != VALUE_STR ||
		    (v.kind != VALUE_INSTANCE && v.kind != VALUE_TENSOR))
			continue;
		more = len + (size_t)snprintf(l->name + len, sizeof(l->name) - len, "%s%s",
					      len ? "." : "", dict->keys[i].str->text);
		if (more >= sizeof(l->name) || !is_unlisted(l, v.object))
			continue;
		if (v.kind == VALUE_INSTANCE)
			list(l, v, more, depth + 1);
		else if (v.tensor->is_parameter)
			l->each(l->self, l->name, v);
	}
}

void session_parameters(struct session *s,
			void (*each)(void *self, const char *name, struct value t), void *self)
{
	struct lister l = { .each = each, .self = self };

	if (s->callee.kind == VALUE_INSTANCE)
		list(&l, s->callee, 0, 0);
	VEC_FREE(&l.seen);
}

/* ---- The tensors that a program keeps between calls.
 *
 * They are found as the program would reach them: from its globals, and from a module that
 * is the entry itself.  "net.up.weight", "opt.state[0].exp_avg". */

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
		if (!s->vm->globals[i].ours)
			below(&r, s->vm->globals[i].value, 0, s->vm->globals[i].name, 0, 0);
	VEC_FREE(&r.seen);
}
