/* fusion/lang/parse_import.c -- import a.b as c; from a.b import c as d. */
#include "fusion/lang/parser.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/buf.h"

enum { DOTTED_BYTES = 512 };

/* a.b.c, interned as one name. */
static bool parse_dotted(struct parser *p, const char **dotted, const char **first)
{
	char text[DOTTED_BYTES];
	const struct name *name;
	size_t len = 0;

	*first = token_now(p)->name;
	do {
		const struct token *part = token_now(p);

		if (part->kind != TOK_NAME)
			return not_a_name(p, "a module");
		if (len + part->len + 1 > sizeof(text))
			return fault_at(p, ERR_BOUND, part->line, part->column,
					"the name of this module is longer than %d bytes",
					DOTTED_BYTES);
		if (len)
			text[len++] = '.';
		memcpy(text + len, part->name, strlen(part->name));
		len += strlen(part->name);
		advance(p);
	} while (accept(p, TOK_DOT));
	name = names_intern(p->names, text, len);
	if (!name)
		return no_memory(p);
	*dotted = name->text;
	return true;
}

static bool parse_alias(struct parser *p, struct import_name *out)
{
	if (!accept(p, TOK_AS))
		return true;
	if (!at(p, TOK_NAME))
		return not_a_name(p, "what is imported");
	out->alias = token_now(p)->name;
	advance(p);
	return true;
}

static bool module_name(struct parser *p, struct import_name *out)
{
	return parse_dotted(p, &out->name, &out->first) && parse_alias(p, out);
}

static bool member_name(struct parser *p, struct import_name *out)
{
	if (!at(p, TOK_NAME))
		return not_a_name(p, "what is imported");
	out->name = out->first = token_now(p)->name;
	advance(p);
	return parse_alias(p, out);
}

struct import_names {
	VEC(struct import_name) names;
};

static bool parse_names(struct parser *p, bool (*one)(struct parser *, struct import_name *),
			bool in_brackets, struct import_names *out)
{
	do {
		struct import_name name = { .line = token_now(p)->line,
					    .column = token_now(p)->column };

		if (in_brackets && at(p, TOK_RIGHT_PAREN) && out->names.len)
			return true; /* after a trailing comma */
		if (!one(p, &name))
			return false;
		if (!VEC_PUSH(&out->names, name))
			return no_memory(p);
	} while (accept(p, TOK_COMMA));
	return true;
}

static bool take_names(struct parser *p, const struct import_names *names, struct import *import)
{
	import->n = (int)names->names.len;
	import->at = PARSER_ARRAY(p, struct import_name, import->n);
	if (!import->at)
		return false;
	memcpy(import->at, names->names.at, names->names.len * sizeof(*import->at));
	return true;
}

struct node *parse_import(struct parser *p)
{
	struct node *node = node_start(p, NODE_IMPORT, token_now(p));
	struct import_names names = { 0 };
	bool ok;

	if (!node || !(node->import = PARSER_ARRAY(p, struct import, 1)))
		return NULL;
	advance(p);
	ok = parse_names(p, module_name, false, &names) && take_names(p, &names, node->import);
	VEC_FREE(&names.names);
	if (ok && at(p, TOK_FROM))
		return unexpected(p,
				  "an import from a module is written `from module import name`");
	return ok ? node_end(p, node) : NULL;
}

static bool parse_from(struct parser *p, struct import *import, struct import_names *names)
{
	const char *first;
	bool brackets;

	while (at(p, TOK_DOT) || at(p, TOK_ELLIPSIS)) {
		import->level += at(p, TOK_DOT) ? 1 : 3;
		advance(p);
	}
	if ((!import->level || !at(p, TOK_IMPORT)) && !parse_dotted(p, &import->module, &first))
		return false;
	if (!expect(p, TOK_IMPORT, "after the module"))
		return false;
	if (at(p, TOK_STAR)) {
		struct import_name star = { .name = "*",
					    .line = token_now(p)->line,
					    .column = token_now(p)->column };

		advance(p);
		return VEC_PUSH(&names->names, star) || no_memory(p);
	}
	brackets = accept(p, TOK_LEFT_PAREN);
	if (!parse_names(p, member_name, brackets, names))
		return false;
	return !brackets || accept(p, TOK_RIGHT_PAREN) || item_not_closed(p, ")");
}

struct node *parse_import_from(struct parser *p)
{
	struct node *node = node_start(p, NODE_IMPORT_FROM, token_now(p));
	struct import_names names = { 0 };
	bool ok;

	if (!node || !(node->import = PARSER_ARRAY(p, struct import, 1)))
		return NULL;
	advance(p);
	ok = parse_from(p, node->import, &names) && take_names(p, &names, node->import);
	VEC_FREE(&names.names);
	return ok ? node_end(p, node) : NULL;
}
