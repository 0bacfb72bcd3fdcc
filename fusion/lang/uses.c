/* fusion/lang/uses.c -- finds where a source calls a function, and spells the call out.
 *
 * Statements are followed in the order in which they would run: those of the module, then of
 * functions that these call.  Of a branch both sides are followed, of a loop the first round.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/lang/spelling.h"

enum { MOST_FOLLOWED = 200, MOST_CALLS = 6, MOST_DEPTH = 100 };

/* How good a use is; the best is kept, of equal ones the first. */
enum rank { RANK_NONE, RANK_MADE, RANK_CALLED, RANK_WHOLE, RANK_MODULE };

struct use_search {
	struct lang_outline *o;
	struct speller *spelling; /* of the function under way */
	const char *name;         /* NULL: whatever the source seems to be for */
	bool local;               /* names are those of a function, or of `if __name__ ==` */
	const struct ast_node *followed[MOST_FOLLOWED];
	int n_followed, depth;
	struct lang_use best;
	enum rank rank;
};

/* ---- what is called ---- */

static bool has_method(const struct use_search *s, const char *class, const char *method)
{
	return class && outline_find(s->o, class, method);
}

/* What a call is of: `of`, and what made it where that is a module. */
struct called {
	const char *of;
	const struct outlined *function;
	const struct lang_construction *made;
};

static struct called called_by(struct use_search *s, const struct ast_node *callee)
{
	const struct ast_node *core = spelling_core(callee);
	struct called out = { NULL, NULL, NULL };
	const struct spelled_name *b;

	if (core->kind == NODE_ATTRIBUTE && strcmp(core->attribute.name, "forward") == 0)
		core = core->attribute.value;
	out.made = spelling_made(s->spelling, core);
	if (out.made && has_method(s, out.made->of, "forward")) {
		out.of = out.made->of;
		return out;
	}
	out.made = NULL;
	if (core->kind != NODE_NAME)
		return out;
	b = spelling_find(s->spelling, core->name);
	out.function = outline_find(s->o, NULL, b && b->text ? b->text : b ? "" : core->name);
	out.of = out.function ? out.function->signature.name : NULL;
	return out;
}

static bool is_wanted(const struct use_search *s, const struct called *c,
		      const struct ast_node *callee)
{
	if (strcmp(c->of, s->name) == 0)
		return true;
	return callee->kind == NODE_NAME && strcmp(callee->name, s->name) == 0;
}

/* What a script calls that it is not for. */
static bool is_about(const char *name)
{
	static const char *const whole[] = { "main", "train",    "test",     "run",
					     "demo", "evaluate", "seed",     "setup",
					     "fit",  "plot",     "benchmark" };
	static const char *const begins[] = { "get_",  "set_",        "load",     "make_",
					      "build", "parse",       "create",   "print",
					      "plot_", "save",        "log_",     "check_",
					      "test_", "seed_",       "setup_",   "_",
					      "init_", "train_epoch", "train_one" };

	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		if (strcmp(name, whole[i]) == 0)
			return true;
	for (size_t i = 0; i < sizeof(begins) / sizeof(begins[0]); i++)
		if (strncmp(name, begins[i], strlen(begins[i])) == 0)
			return true;
	return false;
}

static bool is_whole(const struct lang_use *use)
{
	for (int i = 0; i < use->n; i++)
		if (!use->arguments[i].text)
			return false;
	return use->callee != NULL;
}

static enum rank rank_of(const struct use_search *s, const struct called *c,
			 const struct ast_node *callee, const struct lang_use *use)
{
	if (s->name && !is_wanted(s, c, callee))
		return RANK_NONE;
	if (!s->name && !c->made && (is_about(c->of) || use->n == 0))
		return RANK_NONE;
	if (!is_whole(use))
		return use->callee ? RANK_CALLED : RANK_NONE;
	return c->made ? RANK_MODULE : RANK_WHOLE;
}

static void offer(struct use_search *s, const struct lang_use *use, enum rank rank)
{
	if (rank <= s->rank && !(rank == RANK_WHOLE && s->rank == rank && !s->name))
		return;
	s->best = *use;
	s->rank = rank;
}

static void follow(struct use_search *s, const struct outlined *f, const struct ast_node *call);

/* benchmark(layernorm, x, w): what is given to a helper with all that it needs. */
static void meet_given(struct use_search *s, const struct ast_node *n, const struct lang_use *use)
{
	const struct ast_node *first = n->call.arguments.n ? n->call.arguments.at[0] : NULL;
	struct lang_use given = *use;
	struct called c;
	int needed = 0;

	if (!first || first->kind != NODE_NAME || !use->arguments)
		return;
	c = called_by(s, first);
	if (!c.function || c.function->signature.is_class || (s->name && !is_wanted(s, &c, first)))
		return;
	for (int i = 0; i < c.function->signature.n; i++)
		needed += c.function->signature.parameters[i].kind < PARAMETER_BY_NAME &&
			  !c.function->signature.parameters[i].otherwise;
	given.of = given.callee = c.of;
	given.made = NULL;
	given.arguments = use->arguments + 1;
	given.n = 0;
	while (given.n < use->n - 1 && !given.arguments[given.n].name)
		given.n++;
	if (given.n == needed && needed && is_whole(&given))
		offer(s, &given, RANK_CALLED);
}

static void meet_call(struct use_search *s, const struct ast_node *n)
{
	struct called c = called_by(s, n->call.callee);
	struct lang_use use = { .of = c.of, .made = c.made, .line = n->line };
	bool class = c.function && c.function->signature.is_class;
	enum rank rank;

	if (!c.of) {
		use.arguments = spelling_arguments(s->spelling, n, &use.n);
		meet_given(s, n, &use);
		return;
	}
	if (class) { /* made here, and maybe not called anywhere */
		use.made = spelling_made(s->spelling, n);
		use.callee = use.made ? use.made->text : NULL;
		use.line = 0;
		if (use.callee && has_method(s, c.of, "forward") &&
		    (!s->name || strcmp(c.of, s->name) == 0))
			offer(s, &use, RANK_MADE);
		return;
	}
	use.callee = c.made ? spelling_text(s->spelling, spelling_core(n->call.callee)) : c.of;
	use.arguments = spelling_arguments(s->spelling, n, &use.n);
	rank = use.arguments ? rank_of(s, &c, n->call.callee, &use) : RANK_NONE;
	if (rank) {
		offer(s, &use, rank);
		return;
	}
	meet_given(s, n, &use);
	if (c.function)
		follow(s, c.function, n);
}

/* ---- expressions, in the order in which they are evaluated ---- */

static void look(void *self, const struct ast_node *n)
{
	struct use_search *s = self;

	if (!n || s->depth == MOST_DEPTH)
		return;
	s->depth++;
	ast_operands(n, look, s);
	if (n->kind == NODE_CALL)
		meet_call(s, n);
	s->depth--;
}

/* ---- statements ---- */

static void walk(struct use_search *s, const struct node_list *list);

/* At the level of the module a name is itself. */
static void keep_name(struct use_search *s, size_t from)
{
	for (size_t i = from; !s->local && i < s->spelling->names.len; i++) {
		s->spelling->names.at[i].text = s->spelling->names.at[i].name;
		s->spelling->names.at[i].form = SPELLED_WHOLE;
	}
}

static bool is_main(const struct ast_node *test)
{
	return test && test->kind == NODE_COMPARE && test->compare.operands.n == 2 &&
	       test->compare.operands.at[0]->kind == NODE_NAME &&
	       strcmp(test->compare.operands.at[0]->name, "__name__") == 0;
}

static void walk_main(struct use_search *s, const struct node_list *body)
{
	bool local = s->local;

	s->local = true;
	walk(s, body);
	s->local = local;
}

/* In the order of what is looked for: the last side that is followed is the one that counts. */
static void walk_branches(struct use_search *s, const struct ast_node *n)
{
	walk(s, &n->conditional.otherwise);
	for (int i = n->conditional.n; i-- > 0;)
		if (is_main(n->conditional.branches[i].test))
			walk_main(s, &n->conditional.branches[i].body);
		else
			walk(s, &n->conditional.branches[i].body);
}

static void walk_block(struct use_search *s, const struct ast_node *n)
{
	switch (n->kind) {
	case NODE_IF:
		walk_branches(s, n);
		break;
	case NODE_FOR:
		walk(s, &n->iteration.body);
		break;
	case NODE_WHILE:
		walk(s, &n->loop.body);
		break;
	case NODE_WITH:
		walk(s, &n->with.body);
		break;
	case NODE_TRY:
		walk(s, &n->attempt->body);
		break;
	default:
		break;
	}
}

static void look_at(struct use_search *s, const struct ast_node *n)
{
	if (n->kind == NODE_EXPRESSION || n->kind == NODE_RETURN)
		look(s, n->value);
	else if (n->kind == NODE_ASSIGN)
		look(s, n->assign.value);
	else if (n->kind == NODE_ANN_ASSIGN)
		look(s, n->annotated.value);
	else if (n->kind == NODE_AUG_ASSIGN)
		look(s, n->augmented.value);
	else if (n->kind == NODE_FOR)
		look(s, n->iteration.over);
	else if (n->kind == NODE_ASSERT)
		look(s, n->assertion.test);
}

static void walk(struct use_search *s, const struct node_list *list)
{
	for (int i = 0; i < list->n && !s->o->failed && s->depth < MOST_DEPTH; i++) {
		const struct ast_node *n = list->at[i];
		size_t names = s->spelling->names.len;

		look_at(s, n);
		if (n->kind != NODE_FUNCTION || s->local)
			spelling_statement(s->spelling, n);
		keep_name(s, names);
		s->depth++;
		walk_block(s, n);
		s->depth--;
	}
}

/* ---- functions ---- */

static bool was_followed(struct use_search *s, const struct ast_node *node)
{
	for (int i = 0; i < s->n_followed; i++)
		if (s->followed[i] == node)
			return true;
	if (s->n_followed == MOST_FOLLOWED)
		return true;
	s->followed[s->n_followed++] = node;
	return false;
}

/* Options that a caller hands on: train(args). */
static void hand_on(struct use_search *s, const struct ast_parameters *p,
		    const struct ast_node *call, struct speller *inside)
{
	for (int i = 0; i < call->call.arguments.n && i < p->n; i++) {
		const struct ast_node *value = call->call.arguments.at[i];
		const char *name = p->at[i].name;
		const struct spelled_name *b;

		if (value->kind == NODE_KEYWORD) {
			name = value->keyword.name;
			value = value->keyword.value;
		}
		b = value->kind == NODE_NAME ? spelling_find(s->spelling, value->name) : NULL;
		if (b && b->members && name)
			s->o->failed |= !VEC_PUSH(
			    &inside->names,
			    (struct spelled_name){ .name = name, .members = b->members });
	}
	for (size_t i = 0; i < s->spelling->members.len; i++)
		s->o->failed |= !VEC_PUSH(&inside->members, s->spelling->members.at[i]);
}

/* With the names of the module alone, and the function's own.  `call` NULL: nobody calls it. */
static void follow(struct use_search *s, const struct outlined *f, const struct ast_node *call)
{
	struct speller inside = { .o = s->o }, *outside = s->spelling;
	const struct lang_argument *at = NULL;
	bool local = s->local;
	int n = 0;

	if (f->signature.is_class || s->depth > MOST_DEPTH / 2 || was_followed(s, f->node))
		return;
	for (size_t i = 0; i < outside->names.len; i++)
		if (outside->names.at[i].text == outside->names.at[i].name)
			s->o->failed |= !VEC_PUSH(&inside.names, outside->names.at[i]);
	if (call)
		at = spelling_arguments(outside, call, &n);
	spelling_parameters(&inside, f->node->function, false, at, n);
	if (call)
		hand_on(s, &f->node->function->parameters, call, &inside);
	s->spelling = &inside;
	s->local = true;
	s->depth += MOST_DEPTH / 2 / MOST_CALLS;
	walk(s, &f->node->function->body);
	s->depth -= MOST_DEPTH / 2 / MOST_CALLS;
	s->local = local;
	s->spelling = outside;
	spelling_finish(&inside);
}

/* What nobody calls: the last class of modules, else the last function that takes something. */
static void take_last(struct use_search *s)
{
	for (size_t i = s->o->functions.len; i-- > 0;) {
		const struct lang_signature *f = &s->o->functions.at[i].signature;

		if (f->is_class && has_method(s, f->name, "forward")) {
			s->best.of = f->name;
			return;
		}
		if (!f->is_class && !f->owner && f->n && !is_about(f->name) && !s->best.of)
			s->best.of = f->name;
	}
}

bool lang_outline_use(struct lang_outline *o, const char *name, struct lang_use *out)
{
	struct speller module = { .o = o };
	struct use_search s = { .o = o, .spelling = &module, .name = name };

	walk(&s, &o->module);
	for (size_t i = 0; i < o->functions.len && s.rank < RANK_WHOLE; i++)
		if (!o->functions.at[i].signature.owner)
			follow(&s, &o->functions.at[i], NULL);
	spelling_finish(&module);
	if (s.rank == RANK_NONE && !name)
		take_last(&s);
	*out = s.best;
	return s.best.of && !o->failed;
}
