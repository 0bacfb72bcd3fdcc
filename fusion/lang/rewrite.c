/* fusion/lang/rewrite.c -- finds the statement of a break and changes its text.
 *
 * Everything but that statement stays as it was written, comments included.
 */
#include "fusion/lang/rewrite.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/arena.h"
#include "fusion/lang/lexer.h"
#include "fusion/lang/names.h"
#include "fusion/lang/parser.h"
#include "fusion/lang/rewrites.h"
#include "fusion/lang/utf8.h"

enum { DEPTH = 200, NODES = 500000, ARENA_BYTES = 64 << 20, MOST_BYTES = 1 << 20 };

size_t rewrite_line_start(const struct rewrite *r, int line)
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

size_t rewrite_offset(const struct rewrite *r, int line, int column)
{
	size_t at = rewrite_line_start(r, line);

	for (int i = 1; i < column && at < r->len; i++) {
		uint32_t point;
		int n = utf8_decode(r->source + at, r->len - at, &point);

		at += n ? (size_t)n : 1;
	}
	return at;
}

void rewrite_text(const struct rewrite *r, const struct node *n)
{
	size_t from = rewrite_offset(r, n->line, n->column),
	       to = rewrite_offset(r, n->end_line, n->end_column);

	buf_add(r->out, r->source + from, to - from);
}

int rewrite_indent(const struct rewrite *r, const struct node *statement)
{
	size_t start = rewrite_line_start(r, statement->line);
	size_t at = rewrite_offset(r, statement->line, statement->column);

	for (size_t i = start; i < at; i++)
		if (r->source[i] != ' ' && r->source[i] != '\t')
			return -1;
	return (int)(at - start);
}

bool rewrite_ends_line(const struct rewrite *r, const struct node *statement)
{
	size_t at = rewrite_offset(r, statement->end_line, statement->end_column);

	while (r->source[at] == ' ' || r->source[at] == '\t')
		at++;
	return at >= r->len || r->source[at] == '\n' || r->source[at] == '#';
}

void rewrite_free_name(const struct rewrite *r, const char *wanted, char out[32])
{
	snprintf(out, 32, "%s", wanted);
	for (int i = 1; strstr(r->source, out) && i < 1000; i++)
		snprintf(out, 32, "%.19s_%d", wanted, i);
}

static bool find_in(const struct rewrite *r, enum node_kind kind, const struct node *function,
		    const struct node_list *block, struct place_in *out);

/* In the blocks of a compound statement. */
static bool find_inside(const struct rewrite *r, enum node_kind kind, const struct node *function,
			const struct node *n, struct place_in *out)
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

static bool find_in(const struct rewrite *r, enum node_kind kind, const struct node *function,
		    const struct node_list *block, struct place_in *out)
{
	for (int i = 0; i < block->n; i++) {
		const struct node *n = block->at[i];

		if (n->kind == kind && n->line == r->line) {
			*out = (struct place_in){ function, block, i };
			return true;
		}
		if (find_inside(r, kind, function, n, out))
			return true;
	}
	return false;
}

bool rewrite_find(const struct rewrite *r, enum node_kind kind, struct place_in *out)
{
	return find_in(r, kind, NULL, r->module, out);
}

static bool is_name(const struct token *t, const char *name)
{
	return t->kind == TOK_NAME && strcmp(t->name, name) == 0;
}

/* `.item()` goes; of `float(x)` and `int(x)` the name goes, `(x)` stays. */
bool rewrite_tensor(struct rewrite *r)
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
		const struct node *n = block->at[i];
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

static bool is_print(const struct node *n)
{
	const struct node *call = n->value;

	return call->kind == NODE_CALL && call->call.callee->kind == NODE_NAME &&
	       strcmp(call->call.callee->name, "print") == 0;
}

/* Between the print and the return nothing else may leave the function. */
static const struct node *return_after(const struct place_in *at)
{
	struct node_list between = { at->block->at + at->index + 1, at->block->n - at->index - 2 };
	const struct node *last = at->block->at[at->block->n - 1];

	if (between.n < 0 || last->kind != NODE_RETURN || !last->value || has_return(&between))
		return NULL;
	if (between.n == 0 && last->value->kind == NODE_NAME)
		return NULL; /* it stands there already */
	return last;
}

bool rewrite_print(struct rewrite *r)
{
	struct place_in at;
	const struct node *print, *last;
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
bool rewrite_drop(struct rewrite *r)
{
	struct place_in at;
	const struct node *n, *call;
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

static bool change(struct rewrite *r, enum lang_rewrite kind)
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
	struct names names;
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
	    ast_parse(source, &w->tokens, &limits, &w->arena, &w->names, &w->module, NULL))
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
	struct rewrite r = { .source = w->source,
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
