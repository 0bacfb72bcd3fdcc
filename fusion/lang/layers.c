/* fusion/lang/layers.c -- what a function's own text says of a parameter: who takes it, its sizes.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/lang/spelling.h"

enum { MOST_DEPTH = 60, MOST_METHODS = 4 };

struct taker {
	struct speller spelling; /* of __init__: members of self */
	const char *class;
	const char *self, *parameter; /* their names in the method under way */
	int depth, methods;
	struct lang_construction found;
	bool is_found;
};

static void look(void *self, const struct ast_node *n);
static void walk(struct taker *t, const struct node_list *list);

/* x, x.float(), x.view(-1, 784): what takes that says how large x is. */
static bool is_parameter(const struct taker *t, const struct ast_node *whole)
{
	static const char *const keep[] = { "view", "reshape",    "flatten", "float",
					    "to",   "contiguous", "long",    "half" };
	const struct ast_node *n = spelling_core(whole);

	for (size_t i = 0; n->kind == NODE_CALL && n->call.callee->kind == NODE_ATTRIBUTE &&
			   i < sizeof(keep) / sizeof(keep[0]);
	     i++)
		if (strcmp(n->call.callee->attribute.name, keep[i]) == 0)
			return is_parameter(t, n->call.callee->attribute.value);
	return n->kind == NODE_NAME && t->parameter && strcmp(n->name, t->parameter) == 0;
}

static int place_of(const struct taker *t, const struct ast_node *call)
{
	for (int i = 0; i < call->call.arguments.n; i++)
		if (is_parameter(t, call->call.arguments.at[i]))
			return i;
	return -1;
}

/* self.encode(x): who takes it there. */
static void enter_method(struct taker *t, const struct outlined *method, int place)
{
	const struct ast_parameters *p = &method->node->function->parameters;
	const char *self = t->self, *parameter = t->parameter;

	if (p->n < place + 2 || t->methods == MOST_METHODS)
		return;
	t->methods++;
	t->self = p->at[0].name;
	t->parameter = p->at[place + 1].name;
	walk(t, &method->node->function->body);
	t->self = self;
	t->parameter = parameter;
	t->methods--;
}

static void meet_call(struct taker *t, const struct ast_node *n)
{
	const struct ast_node *callee = n->call.callee;
	int place = place_of(t, n);
	const struct outlined *method;
	const struct member *m;

	if (place < 0)
		return;
	while (callee->kind == NODE_SUBSCRIPT) /* self.layers[0](x) */
		callee = callee->subscript.value;
	if (callee->kind == NODE_NAME) { /* for layer in self.layers: x = layer(x) */
		const struct spelled_name *b = spelling_find(&t->spelling, callee->name);

		if (b && b->made) {
			t->found = *b->made;
			t->is_found = true;
		}
		return;
	}
	if (callee->kind != NODE_ATTRIBUTE || callee->attribute.value->kind != NODE_NAME ||
	    strcmp(callee->attribute.value->name, t->self) != 0)
		return;
	m = spelling_member(&t->spelling, "self", callee->attribute.name);
	method = outline_find(t->spelling.o, t->class, callee->attribute.name);
	if (m && m->made) {
		t->found = *m->made;
		t->is_found = true;
	} else if (method) {
		enter_method(t, method, place);
	}
}

static void look(void *self, const struct ast_node *n)
{
	struct taker *t = self;

	if (!n || t->is_found || t->depth == MOST_DEPTH)
		return;
	t->depth++;
	ast_operands(n, look, t);
	if (n->kind == NODE_CALL && !t->is_found)
		meet_call(t, n);
	t->depth--;
}

/* for layer in self.layers: what made the first of them. */
static void note_loop(struct taker *t, const struct ast_node *n)
{
	const struct ast_node *over = n->iteration.over, *target = n->iteration.target;
	const struct member *m = NULL;

	if (over->kind == NODE_ATTRIBUTE && over->attribute.value->kind == NODE_NAME &&
	    strcmp(over->attribute.value->name, t->self) == 0)
		m = spelling_member(&t->spelling, "self", over->attribute.name);
	if (!m || !m->made || !m->made->first || target->kind != NODE_NAME)
		return;
	if (!VEC_PUSH(&t->spelling.names,
		      (struct spelled_name){ .name = target->name, .made = m->made->first }))
		t->spelling.o->failed = true;
}

static void walk(struct taker *t, const struct node_list *list)
{
	for (int i = 0; i < list->n && !t->is_found && t->depth < MOST_DEPTH; i++) {
		const struct ast_node *n = list->at[i];

		t->depth++;
		if (n->kind == NODE_EXPRESSION || n->kind == NODE_RETURN) {
			look(t, n->value);
		} else if (n->kind == NODE_ASSIGN) {
			look(t, n->assign.value);
		} else if (n->kind == NODE_AUG_ASSIGN) {
			look(t, n->augmented.value);
		} else if (n->kind == NODE_ANN_ASSIGN) {
			look(t, n->annotated.value);
		} else if (n->kind == NODE_FOR) {
			note_loop(t, n);
			walk(t, &n->iteration.body);
		} else if (n->kind == NODE_WITH) {
			walk(t, &n->with.body);
		} else if (n->kind == NODE_IF) {
			for (int k = 0; k < n->conditional.n; k++)
				walk(t, &n->conditional.branches[k].body);
			walk(t, &n->conditional.otherwise);
		}
		t->depth--;
	}
}

/* What __init__ gives self, of a module that was made so. */
static void read_members(struct taker *t, const struct lang_construction *self)
{
	const struct outlined *init = outline_find(t->spelling.o, t->class, "__init__");
	const struct ast_function *f = init ? init->node->function : NULL;

	if (!f || f->parameters.n == 0)
		return;
	spelling_parameters(&t->spelling, f, true, self ? self->arguments : NULL,
			    self ? self->n : 0);
	if (!VEC_PUSH(&t->spelling.names, (struct spelled_name){ .name = "self" }))
		t->spelling.o->failed = true;
	for (int i = 0; i < f->body.n; i++)
		spelling_statement(&t->spelling, f->body.at[i]);
}

bool lang_outline_layer(struct lang_outline *o, const struct lang_signature *method,
			const char *parameter, const struct lang_construction *self,
			struct lang_construction *out)
{
	const struct outlined *f = outline_find(o, method->owner, method->name);
	struct taker t = { .spelling = { .o = o }, .class = method->owner, .parameter = parameter };

	if (!f || !method->owner || method->n == 0)
		return false;
	t.self = method->parameters[0].name;
	read_members(&t, self);
	walk(&t, &f->node->function->body);
	spelling_finish(&t.spelling);
	if (t.is_found)
		*out = t.found;
	return t.is_found && !o->failed;
}

/* ---- sizes ---- */

/* Whether the value is parameter.shape or parameter.size(). */
static bool is_shape(const struct ast_node *n, const char *parameter)
{
	const struct ast_node *of = n;
	const char *name = "shape";

	if (n->kind == NODE_CALL && n->call.arguments.n == 0) {
		of = n->call.callee;
		name = "size";
	}
	return of->kind == NODE_ATTRIBUTE && strcmp(of->attribute.name, name) == 0 &&
	       of->attribute.value->kind == NODE_NAME &&
	       strcmp(of->attribute.value->name, parameter) == 0;
}

static const char *names_in(struct lang_outline *o, const struct ast_node *tuple)
{
	const char *text = "";

	for (int i = 0; i < tuple->list.n && text; i++) {
		const struct ast_node *n = tuple->list.at[i];

		if (n->kind != NODE_NAME)
			return NULL;
		text = arena_printf(&o->arena, "%s%s%s", text, i ? ", " : "", n->name);
	}
	return text;
}

/* The left side of rearrange(x, "b c h w -> b (h w) c"). */
static const char *pattern_in(const struct ast_node *n, const char *parameter)
{
	static const char *const takers[] = { "rearrange", "reduce", "repeat" };
	const struct ast_node *callee = n->kind == NODE_CALL ? n->call.callee : NULL;
	const char *name = !callee                          ? ""
			   : callee->kind == NODE_NAME      ? callee->name
			   : callee->kind == NODE_ATTRIBUTE ? callee->attribute.name
							    : "";
	const struct node_list *args = callee ? &n->call.arguments : NULL;

	for (size_t i = 0; i < sizeof(takers) / sizeof(takers[0]); i++)
		if (strcmp(name, takers[i]) == 0 && args->n > 1 && args->at[0]->kind == NODE_NAME &&
		    strcmp(args->at[0]->name, parameter) == 0 && args->at[1]->kind == NODE_STRING)
			return args->at[1]->string.text;
	return NULL;
}

const char *lang_outline_sizes(struct lang_outline *o, const struct lang_signature *function,
			       const char *parameter)
{
	const struct outlined *f = outline_find(o, function->owner, function->name);
	const struct node_list *body = f && !function->is_class ? &f->node->function->body : NULL;

	for (int i = 0; body && i < body->n; i++) {
		const struct ast_node *n = body->at[i];
		const struct ast_node *value = n->kind == NODE_ASSIGN   ? n->assign.value
					       : n->kind == NODE_RETURN ? n->value
									: NULL;
		const struct ast_node *target = n->kind == NODE_ASSIGN ? n->assign.targets.at[0]
								       : NULL;

		if (target && target->kind == NODE_TUPLE && is_shape(value, parameter))
			return names_in(o, target);
		if (value && pattern_in(value, parameter))
			return pattern_in(value, parameter);
	}
	return NULL;
}
