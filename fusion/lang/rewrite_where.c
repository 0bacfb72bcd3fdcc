/* fusion/lang/rewrite_where.c -- a branch on a tensor as torch.where.
 *
 *	if x.sum() > 0:		y = torch.where(x.sum() > 0, x * 2, x)
 *	    y = x * 2
 *	else:
 *	    y = x
 *
 * Both sides are computed then, so they may hold nothing but expressions that
 * change nothing: no in-place methods, no calls of the program's own functions.
 */
#include <string.h>

#include "fusion/lang/rewrites.h"

enum { MOST_NAMES = 64, MOST_SIDES = 16 };

struct reads { /* names that an expression reads */
	const char *at[MOST_NAMES];
	int n;
};

/* Random draws would be made for the side that is not taken, too. */
static bool harmless_method(const char *name)
{
	static const char *const effects[] = { "append", "extend",  "insert",   "pop",
					       "update", "clear",   "backward", "rand",
					       "randn",  "randint", "dropout",  "bernoulli" };
	size_t len = strlen(name);

	for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++)
		if (strcmp(name, effects[i]) == 0)
			return false;
	return len < 2 || name[len - 1] != '_' || name[len - 2] == '_';
}

static bool pure(const struct node *n, struct reads *reads);

static bool pure_list(const struct node_list *list, struct reads *reads)
{
	for (int i = 0; i < list->n; i++)
		if (!pure(list->at[i], reads))
			return false;
	return true;
}

/* Whether evaluating it changes nothing; notes what it reads. */
static bool pure(const struct node *n, struct reads *reads)
{
	if (!n)
		return true;
	switch (n->kind) {
	case NODE_NAME:
		if (reads->n == MOST_NAMES)
			return false;
		reads->at[reads->n++] = n->name;
		return true;
	case NODE_NONE:
	case NODE_TRUE:
	case NODE_FALSE:
	case NODE_ELLIPSIS:
	case NODE_INTEGER:
	case NODE_FLOAT:
	case NODE_STRING:
		return true;
	case NODE_TUPLE:
	case NODE_LIST:
		return pure_list(&n->list, reads);
	case NODE_ATTRIBUTE:
		return pure(n->attribute.value, reads);
	case NODE_SUBSCRIPT:
		return pure(n->subscript.value, reads) && pure(n->subscript.index, reads);
	case NODE_SLICE:
		return pure(n->slice.start, reads) && pure(n->slice.stop, reads) &&
		       pure(n->slice.step, reads);
	case NODE_CALL:
		return n->call.callee->kind == NODE_ATTRIBUTE &&
		       harmless_method(n->call.callee->attribute.name) &&
		       pure(n->call.callee, reads) && pure_list(&n->call.arguments, reads);
	case NODE_KEYWORD:
		return n->keyword.name && pure(n->keyword.value, reads);
	case NODE_BINARY:
		return pure(n->binary.left, reads) && pure(n->binary.right, reads);
	case NODE_UNARY:
		return pure(n->unary.operand, reads);
	case NODE_COMPARE:
		return pure_list(&n->compare.operands, reads);
	default:
		return false;
	}
}

static bool reads_name(const struct reads *reads, const char *name)
{
	for (int i = 0; i < reads->n; i++)
		if (strcmp(reads->at[i], name) == 0)
			return true;
	return false;
}

/* One name that the branch assigns; NULL: that side leaves it. */
struct side {
	const char *name;
	const struct node *then, *otherwise;
};

struct sides {
	struct side at[MOST_SIDES];
	int n;
};

/* `name = value` or `name += value`. */
static const char *assigned(const struct node *n)
{
	if (n->kind == NODE_ASSIGN && n->assign.targets.n == 1 &&
	    n->assign.targets.at[0]->kind == NODE_NAME)
		return n->assign.targets.at[0]->name;
	if (n->kind == NODE_AUG_ASSIGN && n->augmented.target->kind == NODE_NAME)
		return n->augmented.target->name;
	return NULL;
}

static struct side *side_of(struct sides *s, const char *name)
{
	for (int i = 0; i < s->n; i++)
		if (strcmp(s->at[i].name, name) == 0)
			return &s->at[i];
	if (s->n == MOST_SIDES)
		return NULL;
	s->at[s->n] = (struct side){ .name = name };
	return &s->at[s->n++];
}

static bool collect(struct sides *s, const struct node_list *body, bool then)
{
	for (int i = 0; i < body->n; i++) {
		const struct node *n = body->at[i];
		const char *name = assigned(n);
		struct side *side = name ? side_of(s, name) : NULL;

		if (n->kind == NODE_PASS)
			continue;
		if (!side || (then ? side->then : side->otherwise))
			return false;
		*(then ? &side->then : &side->otherwise) = n;
	}
	return true;
}

static const struct node *value_of(const struct node *assignment)
{
	return assignment->kind == NODE_ASSIGN ? assignment->assign.value
					       : assignment->augmented.value;
}

/* Sides are pure, and with several names none reads what another one assigns. */
static bool independent(const struct sides *s)
{
	for (int i = 0; i < s->n; i++) {
		struct reads reads = { .n = 0 };

		if ((s->at[i].then && !pure(value_of(s->at[i].then), &reads)) ||
		    (s->at[i].otherwise && !pure(value_of(s->at[i].otherwise), &reads)))
			return false;
		for (int k = 0; k < s->n; k++)
			if (k != i && reads_name(&reads, s->at[k].name))
				return false;
	}
	return s->n > 0;
}

/* A name that one side leaves must have a value before the branch. */
static bool bound_before(const struct place_in *at, const char *name)
{
	const struct parameters *p = &at->function->function->parameters;

	for (int i = 0; i < p->n; i++)
		if (strcmp(p->at[i].name, name) == 0)
			return true;
	for (int i = 0; i < at->index; i++) {
		const char *other = assigned(at->block->at[i]);

		if (other && strcmp(other, name) == 0)
			return true;
	}
	return false;
}

static bool all_bound(const struct place_in *at, const struct sides *s)
{
	for (int i = 0; i < s->n; i++)
		if ((!s->at[i].then || !s->at[i].otherwise) && !bound_before(at, s->at[i].name))
			return false;
	return true;
}

/* A comparison is a bool tensor already; where() takes no other. */
static void put_test(const struct rewrite *r, const struct node *test)
{
	bool compares = test->kind == NODE_COMPARE && test->compare.operands.n == 2;

	buf_puts(r->out, compares ? "" : "(");
	rewrite_text(r, test);
	buf_puts(r->out, compares ? "" : ") != 0");
}

static void put_side(const struct rewrite *r, const struct side *s, const struct node *assignment)
{
	if (!assignment) {
		buf_puts(r->out, s->name);
		return;
	}
	if (assignment->kind == NODE_AUG_ASSIGN)
		buf_printf(r->out, "%s %s (", s->name, binop_symbol(assignment->augmented.op));
	rewrite_text(r, value_of(assignment));
	if (assignment->kind == NODE_AUG_ASSIGN)
		buf_putc(r->out, ')');
}

static void put_sides(const struct rewrite *r, const struct sides *s, const struct node *test,
		      const char *indent, int width)
{
	char condition[32];

	rewrite_free_name(r, "condition", condition);
	if (s->n > 1) {
		buf_printf(r->out, "%.*s%s = ", width, indent, condition);
		put_test(r, test);
		buf_putc(r->out, '\n');
	}
	for (int i = 0; i < s->n; i++) {
		buf_printf(r->out, "%.*s%s = torch.where(", width, indent, s->at[i].name);
		if (s->n > 1)
			buf_puts(r->out, condition);
		else
			put_test(r, test);
		buf_puts(r->out, ", ");
		put_side(r, &s->at[i], s->at[i].then);
		buf_puts(r->out, ", ");
		put_side(r, &s->at[i], s->at[i].otherwise);
		buf_puts(r->out, ")\n");
	}
}

static bool returns_value(const struct node_list *body)
{
	return body->n == 1 && body->at[0]->kind == NODE_RETURN && body->at[0]->value;
}

/* `if c: return a` with `else: return b`, or with `return b` behind it. */
static const struct node *other_return(const struct place_in *at, const struct node *branch)
{
	const struct node_list *otherwise = &branch->conditional.otherwise;
	struct node_list rest = { at->block->at + at->index + 1, 1 };

	if (returns_value(otherwise))
		return otherwise->at[0];
	if (otherwise->n == 0 && at->index + 2 == at->block->n && returns_value(&rest))
		return rest.at[0];
	return NULL;
}

static const struct node *last_of(const struct node *branch)
{
	const struct node_list *body = branch->conditional.otherwise.n
					   ? &branch->conditional.otherwise
					   : &branch->conditional.branches[0].body;

	return body->at[body->n - 1];
}

/* The text before and behind the lines that are replaced. */
static void put_before(const struct rewrite *r, const struct node *first)
{
	buf_add(r->out, r->source, rewrite_line_start(r, first->line));
}

static void put_behind(const struct rewrite *r, const struct node *last)
{
	size_t end = rewrite_line_start(r, last->end_line + 1);

	buf_add(r->out, r->source + end, r->len - end);
}

static bool where_returns(const struct rewrite *r, const struct node *branch,
			  const struct node *then, const struct node *otherwise, const char *indent,
			  int width)
{
	struct reads reads = { .n = 0 };

	if (!pure(then->value, &reads) || !pure(otherwise->value, &reads) ||
	    then->value->kind == NODE_TUPLE || otherwise->value->kind == NODE_TUPLE ||
	    !rewrite_ends_line(r, otherwise))
		return false;
	put_before(r, branch);
	buf_printf(r->out, "%.*sreturn torch.where(", width, indent);
	put_test(r, branch->conditional.branches[0].test);
	buf_puts(r->out, ", ");
	rewrite_text(r, then->value);
	buf_puts(r->out, ", ");
	rewrite_text(r, otherwise->value);
	buf_puts(r->out, ")\n");
	put_behind(r, otherwise);
	return true;
}

/* `import torch` at the top of the module: the change needs the name. */
static bool imports_torch(const struct rewrite *r)
{
	for (int i = 0; i < r->module->n; i++) {
		const struct node *n = r->module->at[i];

		for (int k = 0; n->kind == NODE_IMPORT && k < n->import->n; k++)
			if (strcmp(n->import->at[k].first, "torch") == 0 && !n->import->at[k].alias)
				return true;
	}
	return false;
}

bool rewrite_where(struct rewrite *r)
{
	struct place_in at;
	struct sides sides = { .n = 0 };
	struct reads reads = { .n = 0 };
	const struct node *branch, *otherwise;
	const struct branch *first;
	const char *indent;
	int width;

	if (!imports_torch(r) || !rewrite_find(r, NODE_IF, &at) || !at.function)
		return false;
	branch = at.block->at[at.index];
	first = &branch->conditional.branches[0];
	width = rewrite_indent(r, branch);
	indent = r->source + rewrite_line_start(r, branch->line);
	if (branch->conditional.n != 1 || width < 0 || !pure(first->test, &reads))
		return false;
	otherwise = other_return(&at, branch);
	if (otherwise && returns_value(&first->body))
		return where_returns(r, branch, first->body.at[0], otherwise, indent, width);
	if (!collect(&sides, &first->body, true) ||
	    !collect(&sides, &branch->conditional.otherwise, false) || !independent(&sides) ||
	    !all_bound(&at, &sides) || !rewrite_ends_line(r, last_of(branch)))
		return false;
	put_before(r, branch);
	put_sides(r, &sides, first->test, indent, width);
	put_behind(r, last_of(branch));
	return true;
}
