/* fusion/lang/spelling.c -- see spelling.h: names are replaced, token by token. */
#include "fusion/lang/spelling.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/buf.h"

enum { MOST_TEXT = 1000, MOST_LOCALS = 16, MOST_NESTED = 64 };

const struct spelled_name *spelling_find(const struct speller *s, const char *name)
{
	for (size_t i = s->names.len; i-- > 0;)
		if (strcmp(s->names.at[i].name, name) == 0)
			return &s->names.at[i];
	return NULL;
}

static void bind(struct speller *s, struct spelled_name b)
{
	s->o->failed |= !VEC_PUSH(&s->names, b);
}

static void bind_member(struct speller *s, struct member m)
{
	s->o->failed |= !VEC_PUSH(&s->members, m);
}

static bool is_one_of(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (strcmp(word, *words) == 0)
			return true;
	return false;
}

/* ---- text ---- */

static enum spelling_form form_of(const struct ast_node *n)
{
	if (n->kind == NODE_TUPLE && n->in_brackets)
		return SPELLED_WHOLE;
	switch (n->kind) {
	case NODE_BINARY:
	case NODE_UNARY:
	case NODE_BOOLEAN:
	case NODE_COMPARE:
	case NODE_TERNARY:
	case NODE_LAMBDA:
	case NODE_AWAIT:
		return SPELLED_PARTS;
	case NODE_TUPLE:
	case NODE_STARRED:
	case NODE_WALRUS:
	case NODE_GENERATOR:
	case NODE_YIELD:
	case NODE_YIELD_FROM:
		return SPELLED_OPEN;
	default:
		return SPELLED_WHOLE;
	}
}

struct writing {
	struct speller *s;
	const struct token *tokens; /* of the node */
	size_t n, i;
	struct buf out;
	const char *locals[MOST_LOCALS]; /* of its lambdas and comprehensions */
	int n_locals;
};

static enum token_kind kind_at(const struct writing *w, size_t i)
{
	return i < w->n ? w->tokens[i].kind : TOK_END;
}

static bool is_local(const struct writing *w, const char *name)
{
	for (int i = 0; i < w->n_locals; i++)
		if (w->locals[i] == name)
			return true;
	return false;
}

/* False: too many. */
static bool note_locals(struct writing *w)
{
	enum token_kind until = TOK_END;

	for (size_t i = 0; i < w->n; i++) {
		enum token_kind kind = w->tokens[i].kind;

		if (kind == TOK_FOR)
			until = TOK_IN;
		else if (kind == TOK_LAMBDA)
			until = TOK_COLON;
		else if (kind == until)
			until = TOK_END;
		else if (until != TOK_END && kind == TOK_NAME && kind_at(w, i + 1) != TOK_DOT) {
			if (w->n_locals == MOST_LOCALS)
				return false;
			w->locals[w->n_locals++] = w->tokens[i].name;
		}
	}
	return true;
}

/* The white space before a token: as it is within a line, else as little as will do. */
static void write_gap(struct writing *w)
{
	const struct token *now = &w->tokens[w->i], *before = now - 1;
	const char *from = w->s->o->source + before->start + before->len;
	const char *to = w->s->o->source + now->start;

	if (w->i == 0 || w->out.len == 0)
		return;
	if (before->end_line == now->line)
		buf_add(&w->out, from, (size_t)(to - from));
	else if (before->kind != TOK_LEFT_PAREN && before->kind != TOK_LEFT_BRACKET &&
		 now->kind != TOK_RIGHT_PAREN && now->kind != TOK_RIGHT_BRACKET)
		buf_putc(&w->out, ' ');
}

/* Whether what stands here is an item by itself: f(HERE), [HERE, 1]. */
static bool is_apart(const struct writing *w, size_t from, size_t to)
{
	enum token_kind before = from ? w->tokens[from - 1].kind : TOK_LEFT_PAREN;
	enum token_kind after = to < w->n ? w->tokens[to].kind : TOK_RIGHT_PAREN;

	return (before == TOK_LEFT_PAREN || before == TOK_LEFT_BRACKET || before == TOK_COMMA ||
		before == TOK_EQUAL) &&
	       (after == TOK_RIGHT_PAREN || after == TOK_RIGHT_BRACKET || after == TOK_COMMA);
}

static void write_as(struct writing *w, const char *text, enum spelling_form form, size_t end)
{
	bool brackets = w->n > end - w->i && (form == SPELLED_OPEN ||
					      (form == SPELLED_PARTS && !is_apart(w, w->i, end)));

	write_gap(w);
	buf_printf(&w->out, brackets ? "(%s)" : "%s", text);
	w->i = end;
}

/* The default of a field of a class, of `class Config: width: int = 64`; NULL. */
static const char *field_of(struct speller *s, const struct lang_construction *made,
			    const char *name)
{
	const struct outlined *class = outline_find(s->o, NULL, made->of);
	const struct node_list none = { 0 };
	const struct node_list *body = class && class->signature.is_class
					   ? &class->node->class->body
					   : &none;

	for (int i = 0; i < made->n; i++)
		if (made->arguments[i].name && strcmp(made->arguments[i].name, name) == 0)
			return made->arguments[i].text;
	for (int i = 0; i < body->n; i++) {
		const struct ast_node *n = body->at[i];

		if (n->kind == NODE_ANN_ASSIGN && n->annotated.value &&
		    n->annotated.target->kind == NODE_NAME &&
		    strcmp(n->annotated.target->name, name) == 0)
			return spelling_text(s, n->annotated.value);
	}
	return NULL;
}

/* What owner.name stands for; NULL: nothing of its own. */
static const char *member_text(struct speller *s, const struct spelled_name *b, const char *name)
{
	const struct member *m = spelling_member(s, b->members ? b->members : b->name, name);
	const char *text = m ? m->text : b->made ? field_of(s, b->made, name) : NULL;

	return text && strspn(text, "0123456789.") == strlen(text) ? text : m ? m->text : NULL;
}

/* A name with what it stands for, and owner.name where that is known.  False: it is not known. */
static bool write_name(struct writing *w)
{
	const struct token *t = &w->tokens[w->i];
	const struct spelled_name *b = is_local(w, t->name) ? NULL : spelling_find(w->s, t->name);
	const char *member = NULL;

	if (!b || (w->i && kind_at(w, w->i - 1) == TOK_DOT) || kind_at(w, w->i + 1) == TOK_EQUAL) {
		write_gap(w);
		buf_add(&w->out, w->s->o->source + t->start, t->len);
		w->i++;
		return true;
	}
	if (kind_at(w, w->i + 1) == TOK_DOT && kind_at(w, w->i + 2) == TOK_NAME)
		member = member_text(w->s, b, w->tokens[w->i + 2].name);
	if (!member && !b->text)
		return false;
	write_as(w, member ? member : b->text, member ? SPELLED_PARTS : b->form,
		 w->i + (member ? 3 : 1));
	return true;
}

static bool write_tokens(struct writing *w)
{
	if (!note_locals(w))
		return false;
	while (w->i < w->n) {
		const struct token *t = &w->tokens[w->i];

		if (t->kind == TOK_NAME) {
			if (!write_name(w))
				return false;
			continue;
		}
		if (t->kind != TOK_NEWLINE && t->kind != TOK_INDENT && t->kind != TOK_DEDENT) {
			write_gap(w);
			buf_add(&w->out, w->s->o->source + t->start, t->len);
		}
		w->i++;
	}
	return true;
}

const char *spelling_text(struct speller *s, const struct ast_node *node)
{
	struct writing w = { .s = s };
	size_t first = outline_token(s->o, node), end = first;
	const char *text = NULL;

	while (end < s->o->tokens.tokens.len && !outline_past(&s->o->tokens.tokens.at[end], node))
		end++;
	w.tokens = s->o->tokens.tokens.at + first;
	w.n = end - first;
	buf_init(&w.out, MOST_TEXT);
	if (write_tokens(&w) && w.out.data && !w.out.failed && !strchr(w.out.data, '\n'))
		text = arena_strndup(&s->o->arena, w.out.data, w.out.len);
	buf_finish(&w.out);
	return text;
}

/* ---- what only says where and how ---- */

static bool names_device(const struct ast_node *n)
{
	if (n->kind == NODE_NAME)
		return strstr(n->name, "device") != NULL;
	if (n->kind == NODE_ATTRIBUTE)
		return strstr(n->attribute.name, "device") != NULL;
	if (n->kind == NODE_CALL)
		return names_device(n->call.callee);
	return n->kind == NODE_STRING &&
	       (strncmp(n->string.text, "cuda", 4) == 0 || strcmp(n->string.text, "cpu") == 0);
}

const struct ast_node *spelling_core(const struct ast_node *n)
{
	static const char *const wrappers[] = { "compile", "script", "DataParallel", NULL };

	for (int i = 0; i < MOST_NESTED; i++) {
		const struct ast_node *callee = n->kind == NODE_CALL ? n->call.callee : NULL;
		const struct node_list *args = callee ? &n->call.arguments : NULL;

		if (!callee || callee->kind != NODE_ATTRIBUTE)
			break;
		if (args->n == 0 ? strcmp(callee->attribute.name, "cuda") == 0 ||
				       strcmp(callee->attribute.name, "cpu") == 0
				 : args->n == 1 && strcmp(callee->attribute.name, "to") == 0 &&
				       names_device(args->at[0]))
			n = callee->attribute.value;
		else if (args->n && is_one_of(callee->attribute.name, wrappers) &&
			 args->at[0]->kind != NODE_KEYWORD && args->at[0]->kind != NODE_STRING)
			n = args->at[0];
		else
			break;
	}
	return n;
}

/* ---- constructions ---- */

const struct lang_argument *spelling_arguments(struct speller *s, const struct ast_node *call,
					       int *n)
{
	const struct node_list *list = &call->call.arguments;
	struct lang_argument *at = ARENA_ARRAY(&s->o->arena, struct lang_argument,
					       (size_t)list->n + 1);

	*n = 0;
	for (int i = 0; at && i < list->n; i++) {
		const struct ast_node *item = list->at[i];
		const struct ast_node *value = item->kind == NODE_KEYWORD ? item->keyword.value
									  : item;

		if (item->kind == NODE_STARRED ||
		    (item->kind == NODE_KEYWORD && !item->keyword.name))
			at[*n].name = ""; /* more, and nobody knows which */
		else
			at[*n].name = item->kind == NODE_KEYWORD ? item->keyword.name : NULL;
		if (!at[*n].name || at[*n].name[0])
			at[*n].text = spelling_text(s, spelling_core(value));
		at[*n].made = spelling_made(s, value);
		++*n;
	}
	return at;
}

/* Whether its arguments say what goes in. */
static bool says_sizes(const struct lang_construction *made)
{
	static const char *const sizeless[] = { "Flatten", "Dropout", "Identity", "ReLU",
						"GELU",    "SiLU",    "Tanh",     NULL };
	const char *dot = strrchr(made->of, '.');

	return !is_one_of(dot ? dot + 1 : made->of, sizeless);
}

/* The first of a list that is made by a call. */
static const struct lang_construction *first_of(struct speller *s, const struct node_list *list)
{
	const struct lang_construction *made = NULL;

	for (int i = 0; i < list->n && (!made || !says_sizes(made)); i++)
		made = spelling_made(s, list->at[i]);
	return made;
}

static const struct lang_construction *construct(struct speller *s, const struct ast_node *call,
						 const char *of)
{
	static const char *const containers[] = { "Sequential", "ModuleList", NULL };
	struct lang_construction *made = ARENA_NEW(&s->o->arena, struct lang_construction);
	const char *dot = strrchr(of, '.');

	if (!made)
		return NULL;
	made->of = of;
	made->line = call->line;
	made->arguments = spelling_arguments(s, call, &made->n);
	made->text = spelling_text(s, call);
	for (int i = 0; is_one_of(dot ? dot + 1 : of, containers) && i < made->n && !made->first;
	     i++)
		if (made->arguments[i].made && says_sizes(made->arguments[i].made))
			made->first = made->arguments[i].made;
	return made->arguments ? made : NULL;
}

const struct lang_construction *spelling_made(struct speller *s, const struct ast_node *node)
{
	static const char *const same[] = { "eval",   "train", "to",       "cuda",           "half",
					    "double", "float", "bfloat16", "requires_grad_", NULL };
	const struct ast_node *n = spelling_core(node), *callee;
	const struct spelled_name *b = n->kind == NODE_NAME ? spelling_find(s, n->name) : NULL;

	if (n->kind == NODE_LIST || n->kind == NODE_TUPLE)
		return first_of(s, &n->list);
	if (n->kind == NODE_LIST_COMP || n->kind == NODE_GENERATOR)
		return spelling_made(s, n->comprehension->element);
	if (n->kind == NODE_STARRED)
		return spelling_made(s, n->value);
	if (n->kind != NODE_CALL)
		return b ? b->made : NULL;
	callee = n->call.callee;
	if (callee->kind == NODE_ATTRIBUTE && callee->attribute.value->kind != NODE_NAME &&
	    is_one_of(callee->attribute.name, same))
		return spelling_made(s, callee->attribute.value);
	if (callee->kind == NODE_ATTRIBUTE && callee->attribute.value->kind == NODE_NAME) {
		b = spelling_find(s, callee->attribute.value->name);
		if (b)
			return b->made && is_one_of(callee->attribute.name, same) ? b->made : NULL;
	}
	if (callee->kind == NODE_NAME &&
	    ((b = spelling_find(s, callee->name)) || outline_find(s->o, NULL, callee->name)) &&
	    (b || !outline_find(s->o, NULL, callee->name)->signature.is_class))
		return NULL;
	if (callee->kind != NODE_NAME && callee->kind != NODE_ATTRIBUTE)
		return NULL;
	return construct(s, n, spelling_text(s, callee) ? spelling_text(s, callee) : "");
}

/* ---- names get values ---- */

static const char *item_text(struct speller *s, const char *text, int i)
{
	return text ? arena_printf(&s->o->arena, "%s[%d]", text, i) : NULL;
}

/* `text` needs no brackets; NULL: not known. */
static void assign_text(struct speller *s, const struct ast_node *target, const char *text)
{
	if (target->kind == NODE_NAME)
		bind(s, (struct spelled_name){ .name = target->name, .text = text });
	if (target->kind != NODE_TUPLE && target->kind != NODE_LIST)
		return;
	for (int i = 0; i < target->list.n; i++)
		assign_text(s, target->list.at[i],
			    text && strlen(text) < MOST_TEXT ? item_text(s, text, i) : NULL);
}

static const char *closed_text(struct speller *s, const struct ast_node *n)
{
	const char *text = spelling_text(s, n);

	return text && form_of(n) != SPELLED_WHOLE ? arena_printf(&s->o->arena, "(%s)", text)
						   : text;
}

/* args = parser.parse_args(). */
static const char *parser_of(const struct ast_node *value)
{
	const struct ast_node *callee = value->kind == NODE_CALL ? value->call.callee : NULL;

	return callee && callee->kind == NODE_ATTRIBUTE &&
		       strcmp(callee->attribute.name, "parse_args") == 0 &&
		       callee->attribute.value->kind == NODE_NAME
		   ? callee->attribute.value->name
		   : NULL;
}

static void assign_name(struct speller *s, const char *name, const struct ast_node *value)
{
	const struct spelled_name *from = value->kind == NODE_NAME ? spelling_find(s, value->name)
								   : NULL;
	struct spelled_name b = { .name = name,
				  .text = spelling_text(s, value),
				  .form = from ? from->form : form_of(value),
				  .made = spelling_made(s, value),
				  .members = from ? from->members : parser_of(value) };

	if (from && !b.members)
		b.members = from->name;
	if (b.members && !from)
		b.text = NULL; /* the parser's options are known one by one */
	bind(s, b);
}

/* name = value; of a tuple of names each, and self.name as a member. */
static void assign(struct speller *s, const struct ast_node *target, const struct ast_node *value)
{
	bool list = target->kind == NODE_TUPLE || target->kind == NODE_LIST;
	const struct ast_node *core = spelling_core(value);

	if (target->kind == NODE_NAME) {
		assign_name(s, target->name, core);
	} else if (target->kind == NODE_ATTRIBUTE && target->attribute.value->kind == NODE_NAME) {
		bind_member(s,
			    (struct member){ target->attribute.value->name, target->attribute.name,
					     spelling_text(s, core), spelling_made(s, core) });
	} else if (list && core->kind == NODE_TUPLE && core->list.n == target->list.n) {
		for (int i = 0; i < target->list.n; i++)
			assign(s, target->list.at[i], core->list.at[i]);
	} else if (list) {
		assign_text(s, target, closed_text(s, core));
	} else if (target->kind == NODE_SUBSCRIPT && target->subscript.value->kind == NODE_NAME) {
		assign_text(s, target->subscript.value, NULL); /* it is another one now */
	}
}

static void assign_again(struct speller *s, const struct ast_node *n)
{
	const struct ast_node *target = n->augmented.target;
	const char *old = closed_text(s, target), *more = closed_text(s, n->augmented.value);
	const char *text = old && more ? arena_printf(&s->o->arena, "(%s %s %s)", old,
						      binop_symbol(n->augmented.op), more)
				       : NULL;

	assign_text(s, target, text && strlen(text) < MOST_TEXT ? text : NULL);
}

/* ---- for x in ... ---- */

static bool calls(const struct ast_node *n, const char *name, int least)
{
	return n->kind == NODE_CALL && n->call.callee->kind == NODE_NAME &&
	       strcmp(n->call.callee->name, name) == 0 && n->call.arguments.n >= least;
}

/* The first item of what a loop runs over. */
static void assign_first(struct speller *s, const struct ast_node *target,
			 const struct ast_node *over)
{
	const struct node_list *args = over->kind == NODE_CALL ? &over->call.arguments : NULL;
	const char *text;

	if (calls(over, "range", 1)) {
		text = args->n > 1 ? closed_text(s, args->at[0]) : "0";
	} else if (calls(over, "tqdm", 1)) {
		assign_first(s, target, args->at[0]);
		return;
	} else if (calls(over, "enumerate", 1) && target->kind == NODE_TUPLE &&
		   target->list.n == 2) {
		assign_text(s, target->list.at[0], "0");
		assign_first(s, target->list.at[1], args->at[0]);
		return;
	} else if ((over->kind == NODE_LIST || over->kind == NODE_TUPLE) && over->list.n) {
		assign(s, target, over->list.at[0]);
		return;
	} else {
		text = spelling_text(s, over);
		text = text ? arena_printf(&s->o->arena, "next(iter(%s))", text) : NULL;
	}
	assign_text(s, target, text);
}

/* ---- parsers of arguments ---- */

static const struct ast_node *keyword_of(const struct ast_node *call, const char *name)
{
	for (int i = 0; i < call->call.arguments.n; i++) {
		const struct ast_node *a = call->call.arguments.at[i];

		if (a->kind == NODE_KEYWORD && a->keyword.name &&
		    strcmp(a->keyword.name, name) == 0)
			return a->keyword.value;
	}
	return NULL;
}

/* parser.add_argument("--batch-size", default=64): batch_size is 64. */
static void add_option(struct speller *s, const char *parser, const struct ast_node *call)
{
	const struct ast_node *value = keyword_of(call, "default"),
			      *action = keyword_of(call, "action"),
			      *dest = keyword_of(call, "dest");
	const char *name = NULL, *text = value ? spelling_text(s, value) : "None";
	char *word;

	for (int i = 0; i < call->call.arguments.n; i++) {
		const struct ast_node *a = call->call.arguments.at[i];

		if (a->kind == NODE_STRING && (!name || strncmp(a->string.text, "--", 2) == 0))
			name = a->string.text;
	}
	if (dest && dest->kind == NODE_STRING)
		name = dest->string.text;
	if (!name || (name[0] != '-' && !dest && !value))
		return;
	if (!value && action && action->kind == NODE_STRING)
		text = strcmp(action->string.text, "store_true") == 0    ? "False"
		       : strcmp(action->string.text, "store_false") == 0 ? "True"
									 : text;
	word = arena_strdup(&s->o->arena, name + strspn(name, "-"));
	for (char *at = word; at && *at; at++)
		*at = *at == '-' ? '_' : *at;
	if (word)
		bind_member(s, (struct member){ .owner = parser, .name = word, .text = text });
}

/* ---- statements ---- */

/* x.append(1), x.fill_(0): x is another one after it. */
static void note_change(struct speller *s, const struct ast_node *call)
{
	static const char *const changes[] = { "append", "extend", "insert", "update",
					       "pop",    "remove", "clear",  NULL };
	const struct ast_node *callee = call->call.callee;
	const struct ast_node *of = callee->kind == NODE_ATTRIBUTE ? callee->attribute.value : NULL;
	size_t len = of ? strlen(callee->attribute.name) : 0;
	const struct spelled_name *b = of && of->kind == NODE_NAME ? spelling_find(s, of->name)
								   : NULL;
	struct spelled_name changed;

	if (!of || of->kind != NODE_NAME)
		return;
	if (strcmp(callee->attribute.name, "add_argument") == 0) {
		add_option(s, of->name, call);
	} else if (b && is_one_of(callee->attribute.name, changes)) {
		assign_text(s, of, NULL);
	} else if (b && ((len > 1 && callee->attribute.name[len - 1] == '_') ||
			 (b->made && (strcmp(callee->attribute.name, "eval") == 0 ||
				      strcmp(callee->attribute.name, "half") == 0)))) {
		changed = *b;
		changed.text = spelling_text(s, call);
		changed.form = SPELLED_WHOLE;
		bind(s, changed);
	}
}

void spelling_statement(struct speller *s, const struct ast_node *n)
{
	switch (n->kind) {
	case NODE_ASSIGN:
		for (int i = 0; i < n->assign.targets.n; i++)
			assign(s, n->assign.targets.at[i], n->assign.value);
		break;
	case NODE_ANN_ASSIGN:
		if (n->annotated.value)
			assign(s, n->annotated.target, n->annotated.value);
		break;
	case NODE_AUG_ASSIGN:
		assign_again(s, n);
		break;
	case NODE_FOR:
		assign_first(s, n->iteration.target, n->iteration.over);
		break;
	case NODE_WITH:
		for (int i = 0; i < n->with.n; i++)
			if (n->with.items[i].target)
				assign_text(s, n->with.items[i].target, NULL);
		break;
	case NODE_FUNCTION: /* one that the module does not have */
		bind(s, (struct spelled_name){ .name = n->function->name });
		break;
	case NODE_EXPRESSION:
		if (n->value->kind == NODE_CALL)
			note_change(s, n->value);
		break;
	default:
		break;
	}
}

/* A number or a name. */
static bool is_word(const char *text)
{
	while (isalnum((unsigned char)*text) || *text == '_' || *text == '.')
		text++;
	return *text == '\0';
}

void spelling_parameters(struct speller *s, const struct ast_function *f, bool skip_first,
			 const struct lang_argument *arguments, int n)
{
	const struct ast_parameters *p = &f->parameters;
	int place = 0;

	for (int i = skip_first; i < p->n; i++) {
		const struct ast_node *otherwise = p->at[i].value;
		struct spelled_name b = { .name = p->at[i].name, .form = SPELLED_PARTS };
		bool given = false;

		while (place < n && arguments[place].name)
			place++;
		if (i < p->n_positional && place < n) {
			b.text = arguments[place].text;
			b.made = arguments[place++].made;
			given = true;
		}
		for (int k = 0; k < n; k++)
			if (arguments[k].name && strcmp(arguments[k].name, b.name) == 0) {
				b.text = arguments[k].text;
				b.made = arguments[k].made;
				given = true;
			}
		if (!given && otherwise) {
			b.text = spelling_text(s, otherwise);
			b.made = spelling_made(s, otherwise);
		}
		if (b.text && is_word(b.text))
			b.form = SPELLED_WHOLE;
		bind(s, b);
	}
}
