/* fusion/lang/rewrite.c -- finds the statement of a break and changes its text.
 *
 * Everything but that statement stays as it was written, comments included.
 */
#include "fusion/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/arena.h"
#include "fusion/lang/token.h"
#include "fusion/lang/names.h"
#include "fusion/lang/parser.h"
#include "fusion/lang/rewrites.h"
#include "fusion/base/utf8.h"

static size_t rewrite_line_start(const struct source_rewrite *r, int line);
static void rewrite_text(const struct source_rewrite *r, const struct ast_node *n);
static int rewrite_indent(const struct source_rewrite *r, const struct ast_node *statement);
static bool rewrite_ends_line(const struct source_rewrite *r, const struct ast_node *statement);
static void rewrite_free_name(const struct source_rewrite *r, const char *wanted, char out[32]);
static bool rewrite_find(const struct source_rewrite *r, enum node_kind kind, struct place_in *out);

/* ---- a branch on a tensor as torch.where.
 *
 * 	if x.sum() > 0:		y = torch.where(x.sum() > 0, x * 2, x)
 * 	    y = x * 2
 * 	else:
 * 	    y = x
 *
 * Both sides are computed then, so they may hold nothing but expressions that
 * change nothing: no in-place methods, no calls of the program's own functions.
 */

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

static bool pure(const struct ast_node *n, struct reads *reads);

static bool pure_list(const struct node_list *list, struct reads *reads)
{
	for (int i = 0; i < list->n; i++)
		if (!pure(list->at[i], reads))
			return false;
	return true;
}

/* Whether evaluating it changes nothing; notes what it reads. */
static bool pure(const struct ast_node *n, struct reads *reads)
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
struct rewrite_side {
	const char *name;
	const struct ast_node *then, *otherwise;
};

struct sides {
	struct rewrite_side at[MOST_SIDES];
	int n;
};

/* `name = value` or `name += value`. */
static const char *assigned(const struct ast_node *n)
{
	if (n->kind == NODE_ASSIGN && n->assign.targets.n == 1 &&
	    n->assign.targets.at[0]->kind == NODE_NAME)
		return n->assign.targets.at[0]->name;
	if (n->kind == NODE_AUG_ASSIGN && n->augmented.target->kind == NODE_NAME)
		return n->augmented.target->name;
	return NULL;
}

static struct rewrite_side *side_of(struct sides *s, const char *name)
{
	for (int i = 0; i < s->n; i++)
		if (strcmp(s->at[i].name, name) == 0)
			return &s->at[i];
	if (s->n == MOST_SIDES)
		return NULL;
	s->at[s->n] = (struct rewrite_side){ .name = name };
	return &s->at[s->n++];
}

static bool collect(struct sides *s, const struct node_list *body, bool then)
{
	for (int i = 0; i < body->n; i++) {
		const struct ast_node *n = body->at[i];
		const char *name = assigned(n);
		struct rewrite_side *side = name ? side_of(s, name) : NULL;

		if (n->kind == NODE_PASS)
			continue;
		if (!side || (then ? side->then : side->otherwise))
			return false;
		*(then ? &side->then : &side->otherwise) = n;
	}
	return true;
}

static const struct ast_node *value_of(const struct ast_node *assignment)
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
	const struct ast_parameters *p = &at->function->function->parameters;

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
static void put_test(const struct source_rewrite *r, const struct ast_node *test)
{
	bool compares = test->kind == NODE_COMPARE && test->compare.operands.n == 2;

	buf_puts(r->out, compares ? "" : "(");
	rewrite_text(r, test);
	buf_puts(r->out, compares ? "" : ") != 0");
}

static void put_side(const struct source_rewrite *r, const struct rewrite_side *s,
		     const struct ast_node *assignment)
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

static void put_sides(const struct source_rewrite *r, const struct sides *s,
		      const struct ast_node *test, const char *indent, int width)
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

/* `if c: return a` with `else: return b`, or with `return b` after it. */
static const struct ast_node *other_return(const struct place_in *at, const struct ast_node *branch)
{
	const struct node_list *otherwise = &branch->conditional.otherwise;
	struct node_list rest = { at->block->at + at->index + 1, 1 };

	if (returns_value(otherwise))
		return otherwise->at[0];
	if (otherwise->n == 0 && at->index + 2 == at->block->n && returns_value(&rest))
		return rest.at[0];
	return NULL;
}

static const struct ast_node *last_of(const struct ast_node *branch)
{
	const struct node_list *body = branch->conditional.otherwise.n
					   ? &branch->conditional.otherwise
					   : &branch->conditional.branches[0].body;

	return body->at[body->n - 1];
}

/* The text before and after the lines that are replaced. */
static void put_before(const struct source_rewrite *r, const struct ast_node *first)
{
	buf_add(r->out, r->source, rewrite_line_start(r, first->line));
}

static void put_behind(const struct source_rewrite *r, const struct ast_node *last)
{
	size_t end = rewrite_line_start(r, last->end_line + 1);

	buf_add(r->out, r->source + end, r->len - end);
}

static bool where_returns(const struct source_rewrite *r, const struct ast_node *branch,
			  const struct ast_node *then, const struct ast_node *otherwise,
			  const char *indent, int width)
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
static bool imports_torch(const struct source_rewrite *r)
{
	for (int i = 0; i < r->module->n; i++) {
		const struct ast_node *n = r->module->at[i];

		for (int k = 0; n->kind == NODE_IMPORT && k < n->import->n; k++)
			if (strcmp(n->import->at[k].first, "torch") == 0 && !n->import->at[k].alias)
				return true;
	}
	return false;
}

static bool rewrite_where(struct source_rewrite *r)
{
	struct place_in at;
	struct sides sides = { .n = 0 };
	struct reads reads = { .n = 0 };
	const struct ast_node *branch, *otherwise;
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

enum { DEPTH = 200, NODES = 500000, ARENA_BYTES = 64 << 20, MOST_BYTES = 1 << 20 };

/* Byte offsets. */
static size_t rewrite_line_start(const struct source_rewrite *r, int line)
{
	const char *at = r->source;

	for (; line > 1; line--) {
		const char *end = strchr(at, '\n');

		if (!end)
			return r->len;
		at = end + 1;
	}
	return (size_t)(at - r->source);
}

/* Byte offsets. */
static size_t rewrite_offset(const struct source_rewrite *r, int line, int column)
{
	size_t at = rewrite_line_start(r, line);

	for (int i = 1; i < column && at < r->len; i++) {
		uint32_t point;
		int n = utf8_decode(r->source + at, r->len - at, &point);

		at += n ? (size_t)n : 1;
	}
	return at;
}

/* The text of an expression, to r->out. */
static void rewrite_text(const struct source_rewrite *r, const struct ast_node *n)
{
	size_t from = rewrite_offset(r, n->line, n->column),
	       to = rewrite_offset(r, n->end_line, n->end_column);

	buf_add(r->out, r->source + from, to - from);
}

/* The white space before a statement that begins its line; -1: it does not. */
static int rewrite_indent(const struct source_rewrite *r, const struct ast_node *statement)
{
	size_t start = rewrite_line_start(r, statement->line);
	size_t at = rewrite_offset(r, statement->line, statement->column);

	for (size_t i = start; i < at; i++)
		if (r->source[i] != ' ' && r->source[i] != '\t')
			return -1;
	return (int)(at - start);
}

/* Whether nothing but a comment follows the statement on its last line. */
static bool rewrite_ends_line(const struct source_rewrite *r, const struct ast_node *statement)
{
	size_t at = rewrite_offset(r, statement->end_line, statement->end_column);

	while (r->source[at] == ' ' || r->source[at] == '\t')
		at++;
	return at >= r->len || r->source[at] == '\n' || r->source[at] == '#';
}

/* `wanted`, or with a number after it, so that the source has no such word. */
static void rewrite_free_name(const struct source_rewrite *r, const char *wanted, char out[32])
{
	snprintf(out, 32, "%s", wanted);
	for (int i = 1; strstr(r->source, out) && i < 1000; i++)
		snprintf(out, 32, "%.19s_%d", wanted, i);
}

static bool find_in(const struct source_rewrite *r, enum node_kind kind,
		    const struct ast_node *function, const struct node_list *block,
		    struct place_in *out);

/* In the blocks of a compound statement. */
static bool find_inside(const struct source_rewrite *r, enum node_kind kind,
			const struct ast_node *function, const struct ast_node *n,
			struct place_in *out)
{
	switch (n->kind) {
	case NODE_FUNCTION:
		return find_in(r, kind, n, &n->function->body, out);
	case NODE_CLASS:
		return find_in(r, kind, function, &n->class->body, out);
	case NODE_IF:
		for (int i = 0; i < n->conditional.n; i++)
			if (find_in(r, kind, function, &n->conditional.branches[i].body, out))
				return true;
		return find_in(r, kind, function, &n->conditional.otherwise, out);
	case NODE_FOR:
		return find_in(r, kind, function, &n->iteration.body, out);
	case NODE_WHILE:
		return find_in(r, kind, function, &n->loop.body, out);
	case NODE_WITH:
		return find_in(r, kind, function, &n->with.body, out);
	default:
		return false;
	}
}

static bool find_in(const struct source_rewrite *r, enum node_kind kind,
		    const struct ast_node *function, const struct node_list *block,
		    struct place_in *out)
{
	for (int i = 0; i < block->n; i++) {
		const struct ast_node *n = block->at[i];

		if (n->kind == kind && n->line == r->line) {
			*out = (struct place_in){ function, block, i };
			return true;
		}
		if (find_inside(r, kind, function, n, out))
			return true;
	}
	return false;
}

/* The innermost statement of kind `kind` that begins at r->line. */
static bool rewrite_find(const struct source_rewrite *r, enum node_kind kind, struct place_in *out)
{
	return find_in(r, kind, NULL, r->module, out);
}

static bool is_name(const struct token *t, const char *name)
{
	return t->kind == TOK_NAME && strcmp(t->name, name) == 0;
}

/* `.item()` goes; of `float(x)` and `int(x)` the name goes, `(x)` stays. */
static bool rewrite_tensor(struct source_rewrite *r)
{
	const struct token *t = r->tokens->tokens.at;
	size_t n = r->tokens->tokens.len, from = 0;
	bool changed = false;

	for (size_t i = 1; i + 3 < n; i++) {
		size_t upto = 0;

		if (t[i].line != r->line)
			continue;
		if (t[i].kind == TOK_DOT && is_name(&t[i + 1], "item") &&
		    t[i + 2].kind == TOK_LEFT_PAREN && t[i + 3].kind == TOK_RIGHT_PAREN)
			upto = t[i + 3].start + t[i + 3].len;
		else if (is_name(&t[i], "float") && t[i + 1].kind == TOK_LEFT_PAREN &&
			 t[i - 1].kind != TOK_DOT)
			upto = t[i].start + t[i].len;
		if (!upto)
			continue;
		buf_add(r->out, r->source + from, t[i].start - from);
		from = upto;
		changed = true;
	}
	buf_add(r->out, r->source + from, r->len - from);
	return changed;
}

static bool has_return(const struct node_list *block)
{
	for (int i = 0; i < block->n; i++) {
		const struct ast_node *n = block->at[i];
		bool found = n->kind == NODE_RETURN;

		if (n->kind == NODE_IF) {
			for (int k = 0; k < n->conditional.n; k++)
				found = found || has_return(&n->conditional.branches[k].body);
			found = found || has_return(&n->conditional.otherwise);
		} else if (n->kind == NODE_FOR) {
			found = has_return(&n->iteration.body);
		} else if (n->kind == NODE_WHILE) {
			found = has_return(&n->loop.body);
		} else if (n->kind == NODE_WITH) {
			found = has_return(&n->with.body);
		} else if (n->kind == NODE_TRY) {
			found = true; /* not looked into */
		}
		if (found)
			return true;
	}
	return false;
}

static bool is_print(const struct ast_node *n)
{
	const struct ast_node *call = n->value;

	return call->kind == NODE_CALL && call->call.callee->kind == NODE_NAME &&
	       strcmp(call->call.callee->name, "print") == 0;
}

/* Between the print and the return nothing else may leave the function. */
static const struct ast_node *return_after(const struct place_in *at)
{
	struct node_list between = { at->block->at + at->index + 1, at->block->n - at->index - 2 };
	const struct ast_node *last = at->block->at[at->block->n - 1];

	if (between.n < 0 || last->kind != NODE_RETURN || !last->value || has_return(&between))
		return NULL;
	if (between.n == 0 && last->value->kind == NODE_NAME)
		return NULL; /* it is there already */
	return last;
}

static bool rewrite_print(struct source_rewrite *r)
{
	struct place_in at;
	const struct ast_node *print, *last;
	size_t print_start, print_end, return_start, return_end;
	int indent;
	char name[32];

	if (!rewrite_find(r, NODE_EXPRESSION, &at) || !at.function ||
	    at.block != &at.function->function->body || !is_print(at.block->at[at.index]))
		return false;
	print = at.block->at[at.index];
	last = return_after(&at);
	if (!last || rewrite_indent(r, print) < 0 || !rewrite_ends_line(r, print))
		return false;
	indent = rewrite_indent(r, last);
	if (indent < 0 || !rewrite_ends_line(r, last))
		return false;
	print_start = rewrite_line_start(r, print->line);
	print_end = rewrite_line_start(r, print->end_line + 1);
	return_start = rewrite_line_start(r, last->line);
	return_end = rewrite_line_start(r, last->end_line + 1);
	buf_add(r->out, r->source, print_start);
	buf_add(r->out, r->source + print_end, return_start - print_end);
	rewrite_free_name(r, "result", name);
	if (last->value->kind != NODE_NAME) {
		buf_printf(r->out, "%.*s%s = ", indent, r->source + return_start, name);
		rewrite_text(r, last->value);
		buf_putc(r->out, '\n');
	}
	buf_add(r->out, r->source + print_start, print_end - print_start);
	if (last->value->kind == NODE_NAME)
		buf_add(r->out, r->source + return_start, return_end - return_start);
	else
		buf_printf(r->out, "%.*sreturn %s\n", indent, r->source + return_start, name);
	buf_add(r->out, r->source + return_end, r->len - return_end);
	return true;
}

/* The line goes; `pass` where it was all that its block has. */
static bool rewrite_drop(struct source_rewrite *r)
{
	struct place_in at;
	const struct ast_node *n, *call;
	size_t start, end;
	bool explicit;

	if (!rewrite_find(r, NODE_EXPRESSION, &at))
		return false;
	n = at.block->at[at.index];
	call = n->value;
	explicit = call->kind == NODE_CALL && call->call.callee->kind == NODE_ATTRIBUTE &&
		   strcmp(call->call.callee->attribute.name, "graph_break") == 0;
	if ((!explicit && !is_print(n)) || rewrite_indent(r, n) < 0 || !rewrite_ends_line(r, n))
		return false;
	start = rewrite_line_start(r, n->line);
	end = rewrite_line_start(r, n->end_line + 1);
	buf_add(r->out, r->source, start);
	if (at.block->n == 1)
		buf_printf(r->out, "%.*spass\n", rewrite_indent(r, n), r->source + start);
	buf_add(r->out, r->source + end, r->len - end);
	return true;
}

static bool change(struct source_rewrite *r, enum lang_rewrite kind)
{
	switch (kind) {
	case REWRITE_WHERE:
		return rewrite_where(r);
	case REWRITE_TENSOR:
		return rewrite_tensor(r);
	case REWRITE_PRINT:
		return rewrite_print(r);
	case REWRITE_DROP:
		return rewrite_drop(r);
	}
	return false;
}

struct lang_rewriter {
	struct arena arena;
	struct lang_names names;
	struct token_list tokens;
	struct node_list module;
	const char *source;
	size_t len;
};

struct lang_rewriter *lang_rewriter_create(const char *source, size_t len)
{
	struct ast_limits limits = { DEPTH, NODES };
	struct lang_rewriter *w = calloc(1, sizeof(*w));

	if (!w)
		return NULL;
	w->source = source;
	w->len = len;
	w->names.arena = &w->arena;
	arena_init(&w->arena, ARENA_BYTES);
	/* as an old editor wrote it: offsets would differ */
	if (len <= MOST_BYTES && !memchr(source, '\r', len) && !(len && source[0] == '\xef') &&
	    lex(source, len, &w->arena, &w->names, &w->tokens, NULL) &&
	    ast_parse(&(struct ast_source){ source, &w->tokens, limits }, &w->arena, &w->names,
		      &w->module, NULL))
		return w;
	lang_rewriter_destroy(w);
	return NULL;
}

void lang_rewriter_destroy(struct lang_rewriter *w)
{
	if (!w)
		return;
	VEC_FREE(&w->tokens.tokens);
	arena_finish(&w->arena);
	free(w);
}

bool lang_rewrite(const struct lang_rewriter *w, enum lang_rewrite kind, int line, struct buf *out)
{
	struct source_rewrite r = { .source = w->source,
				    .len = w->len,
				    .line = line,
				    .tokens = &w->tokens,
				    .module = &w->module,
				    .out = out };
	size_t before = out->len;
	bool ok = change(&r, kind) && !out->failed;

	if (!ok && out->data && out->len > before) {
		out->len = before;
		out->data[before] = '\0';
	}
	return ok;
}
