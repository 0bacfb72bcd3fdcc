/* fusion/lang/parse_string.c -- string literals: escapes, f-strings, literals side by side. */
#include "fusion/lang/parser.h"

#include <string.h>

#include "fusion/base/utf8.h"

/* ---- escapes of string literals.
 *
 * An escape is never longer decoded than written, so `out` as long as the
 * token is enough.  An unknown escape (\d) stays as it is, as in Python.
 */

struct decoder {
	const struct token *token;
	const char *at, *end;
	char *out;
	struct err *err;
};

static int hex_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool wrong(struct decoder *d, const char *message)
{
	return err_at(d->err, ERR_SYNTAX, d->token->line, d->token->column, "%s", message);
}

static bool put_point(struct decoder *d, uint32_t point)
{
	if (point > 0x10ffff)
		return wrong(d, "\\U in this string names no character: 10FFFF is the highest");
	if (point >= 0xd800 && point < 0xe000)
		return err_at(d->err, ERR_UNSUPPORTED, d->token->line, d->token->column,
			      "\\u%04x in this string is half a character (a surrogate); write the "
			      "whole one with \\U",
			      point);
	if (d->token->flags & PREFIX_BYTES)
		*d->out++ = (char)point;
	else
		d->out += utf8_encode(point, d->out);
	return true;
}

static bool hex_escape(struct decoder *d, int digits)
{
	uint32_t point = 0;

	for (int i = 0; i < digits; i++) {
		int value = d->at < d->end ? hex_value(*d->at) : -1;

		if (value < 0)
			return wrong(d, digits == 2 ? "\\x in this string needs two hex digits"
					: digits == 4
					    ? "\\u in this string needs four hex digits"
					    : "\\U in this string needs eight hex digits");
		point = point << 4 | (uint32_t)value;
		d->at++;
	}
	return put_point(d, point);
}

static bool octal_escape(struct decoder *d, char first)
{
	uint32_t point = (uint32_t)(first - '0');

	for (int i = 0; i < 2 && d->at < d->end && *d->at >= '0' && *d->at <= '7'; i++)
		point = point * 8 + (uint32_t)(*d->at++ - '0');
	return put_point(d, point);
}

/* d->at is past the backslash. */
static bool escape(struct decoder *d)
{
	static const char letters[] = "\\'\"abfnrtv";
	static const char meanings[] = "\\'\"\a\b\f\n\r\t\v";
	bool bytes = d->token->flags & PREFIX_BYTES;
	char c = *d->at++;
	const char *known = strchr(letters, c);

	if (c == '\n')
		return true;
	if (known) {
		*d->out++ = meanings[known - letters];
		return true;
	}
	if (c >= '0' && c <= '7')
		return octal_escape(d, c);
	if (c == 'x')
		return hex_escape(d, 2);
	if (!bytes && (c == 'u' || c == 'U'))
		return hex_escape(d, c == 'u' ? 4 : 8);
	if (!bytes && c == 'N')
		return err_at(d->err, ERR_UNSUPPORTED, d->token->line, d->token->column,
			      "\\N{...} in a string is outside the language; write the character "
			      "itself, or \\u and its number");
	*d->out++ = '\\';
	d->at--;
	return true;
}

static bool decode(struct decoder *d)
{
	bool raw = d->token->flags & PREFIX_RAW, doubled = d->token->kind == TOK_FSTRING_MIDDLE;

	while (d->at < d->end) {
		if (*d->at == '\\' && !raw && d->at + 1 < d->end) {
			d->at++;
			if (!escape(d))
				return false;
			continue;
		}
		if ((unsigned char)*d->at >= 0x80 && d->token->flags & PREFIX_BYTES)
			return wrong(d, "bytes hold ASCII alone; write \\x escapes for the rest");
		if (doubled && (*d->at == '{' || *d->at == '}'))
			d->at++;
		*d->out++ = *d->at++;
	}
	return true;
}

/* Writes the text of a STRING or FSTRING_MIDDLE token, UTF-8 and not
 * terminated, to `out`, which has room for token->len bytes.  False with a
 * message at the token when an escape is wrong. */
static bool decode_string(const struct token *token, const char *source, char *out, size_t *len,
			  struct err *err)
{
	struct decoder d = { .token = token, .at = source + token->start, .out = out, .err = err };
	size_t quotes = token->flags & TRIPLE_QUOTED ? 3 : 1;

	d.end = d.at + token->len;
	if (token->kind == TOK_STRING) {
		while (*d.at != '"' && *d.at != '\'')
			d.at++; /* the prefix */
		d.at += quotes;
		d.end -= quotes;
	}
	if (!decode(&d))
		return false;
	*len = (size_t)(d.out - out);
	return true;
}

/* ---- string literals side by side, and f-strings.
 *
 * "a" "b" is one string; one f-string among them makes an f-string of all,
 * whose parts are STRING and FIELD nodes.
 */

/* The text of a token; interned, so that equal strings are one. */
static bool set_text(struct parser *p, struct ast_node *node, const char *text, size_t len)
{
	struct name *name = names_intern(p->names, text, len);

	if (!name)
		return no_memory(p);
	node->string.text = name->text;
	node->string.len = name->len;
	return true;
}

static struct ast_node *string_token(struct parser *p)
{
	const struct token *token = token_now(p);
	struct ast_node *node = node_start(p, NODE_STRING, token);
	struct err err = { 0 };
	char *text;
	size_t len;

	if (!node || !(text = PARSER_ARRAY(p, char, token->len + 1)))
		return NULL;
	if (token->flags & PREFIX_BYTES)
		node->kind = NODE_BYTES;
	if (!decode_string(token, p->source, text, &len, &err))
		return fault_at(p, err.code, err.line, err.column, "%s", err.message);
	advance(p);
	return set_text(p, node, text, len) ? node_end(p, node) : NULL;
}

/* `{x=}`: the text between the braces, as written, before the value. */
static struct ast_node *self_documenting(struct parser *p, const struct token *open)
{
	struct ast_node *node = node_start(p, NODE_STRING, open);
	size_t from = open->start + open->len, to = token_now(p)->start;

	return node && set_text(p, node, p->source + from, to - from) ? node_end(p, node) : NULL;
}

static bool parse_conversion(struct parser *p, struct ast_node *field)
{
	const struct token *name;

	if (!accept(p, TOK_EXCLAMATION))
		return true;
	name = token_now(p);
	if (name->kind != TOK_NAME || strlen(name->name) != 1 || !strchr("rsa", name->name[0]))
		return unexpected(p, "after ! in an f-string stands r, s or a");
	field->field.conversion = name->name[0];
	advance(p);
	return true;
}

static bool parse_parts(struct parser *p, enum token_kind end);

static bool parse_spec(struct parser *p, struct ast_node *field)
{
	struct ast_node *spec;
	size_t mark = p->scratch.len;

	if (!at(p, TOK_COLON))
		return true;
	spec = node_start(p, NODE_FSTRING, token_now(p));
	advance(p);
	if (!spec || !parse_parts(p, TOK_RIGHT_BRACE) || !list_take(p, mark, &spec->list))
		return false;
	field->field.spec = node_end(p, spec);
	return true;
}

/* Pushes the field, and before it the text of a self-documenting one. */
static bool parse_field(struct parser *p)
{
	const struct token *open = token_now(p);
	struct ast_node *field = node_start(p, NODE_FIELD, open);
	bool documents;

	if (!field)
		return false;
	advance(p);
	if (at(p, TOK_RIGHT_BRACE) || at(p, TOK_COLON) || at(p, TOK_EXCLAMATION))
		return unexpected(p, "a field of an f-string needs an expression; {{ and }} are "
				     "the characters themselves");
	field->field.value = parse_yield_or_expressions(p);
	if (!field->field.value)
		return false;
	documents = accept(p, TOK_EQUAL);
	if (documents && !list_push(p, self_documenting(p, open)))
		return false;
	if (!parse_conversion(p, field) || !parse_spec(p, field))
		return false;
	if (documents && !field->field.conversion && !field->field.spec)
		field->field.conversion = 'r';
	if (!accept(p, TOK_RIGHT_BRACE))
		return item_not_closed(p, "}");
	return list_push(p, node_end(p, field));
}

/* Text and fields, pushed, up to the end token, which stays. */
static bool parse_parts(struct parser *p, enum token_kind end)
{
	int saved;

	if (!parser_enter(p, &saved))
		return false;
	while (!at(p, end)) {
		if (at(p, TOK_FSTRING_MIDDLE)) {
			if (!list_push(p, string_token(p)))
				return false;
		} else if (at(p, TOK_LEFT_BRACE)) {
			if (!parse_field(p))
				return false;
		} else {
			return unexpected(p, "the f-string is not well formed here");
		}
	}
	parser_leave(p, saved);
	return true;
}

static bool push_literal(struct parser *p, bool *is_fstring)
{
	if (at(p, TOK_STRING))
		return list_push(p, string_token(p));
	*is_fstring = true;
	advance(p);
	if (!parse_parts(p, TOK_FSTRING_END))
		return false;
	advance(p);
	return true;
}

static bool same_type(struct parser *p, const struct node_list *parts)
{
	for (int i = 1; i < parts->n; i++) {
		const struct ast_node *part = parts->at[i];

		if ((part->kind == NODE_BYTES) != (parts->at[0]->kind == NODE_BYTES))
			return fault_at(p, ERR_SYNTAX, part->line, part->column,
					"bytes and strings cannot be joined");
	}
	return true;
}

static bool has_fields(const struct node_list *parts)
{
	for (int i = 0; i < parts->n; i++)
		if (parts->at[i]->kind == NODE_FIELD)
			return true;
	return false;
}

/* "a" "b" to "ab"; f"a" is such a string, too. */
static struct ast_node *join(struct parser *p, struct ast_node *node, const struct node_list *parts)
{
	size_t len = 0;
	char *text;

	for (int i = 0; i < parts->n; i++)
		len += parts->at[i]->string.len;
	text = PARSER_ARRAY(p, char, len + 1);
	if (!text)
		return NULL;
	len = 0;
	for (int i = 0; i < parts->n; i++) {
		memcpy(text + len, parts->at[i]->string.text, parts->at[i]->string.len);
		len += parts->at[i]->string.len;
	}
	node->kind = parts->n ? parts->at[0]->kind : NODE_STRING;
	return set_text(p, node, text, len) ? node_end(p, node) : NULL;
}

struct ast_node *parse_strings(struct parser *p)
{
	struct ast_node *node = node_start(p, NODE_FSTRING, token_now(p));
	size_t mark = p->scratch.len;
	bool is_fstring = false;
	struct node_list parts;

	if (!node)
		return NULL;
	while (at(p, TOK_STRING) || at(p, TOK_FSTRING_START))
		if (!push_literal(p, &is_fstring))
			return NULL;
	if (!list_take(p, mark, &parts) || !same_type(p, &parts))
		return NULL;
	if (is_fstring && parts.n && parts.at[0]->kind == NODE_BYTES)
		return fault_at(p, ERR_SYNTAX, node->line, node->column,
				"bytes and strings cannot be joined");
	if (!has_fields(&parts))
		return join(p, node, &parts);
	node->list = parts;
	return node_end(p, node);
}
