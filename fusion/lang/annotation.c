/* fusion/lang/annotation.c -- annotations as text. */
#include "fusion/lang/annotation.h"

/* A name that no program has: who asks for an annotation of another form hears of it. */
static const char unwritten[] = "__annotation_of_another_form__";

static void write_node(struct buf *out, const struct ast_node *node);

static void write_list(struct buf *out, const struct node_list *list)
{
	for (int i = 0; i < list->n; i++) {
		buf_puts(out, i ? ", " : "");
		write_node(out, list->at[i]);
	}
}

/* A literal of Python's, in the quotes that repr() takes. */
static void write_literal(struct buf *out, const char *text, size_t len)
{
	bool single = false, both = false;
	char quote;

	for (size_t i = 0; i < len; i++) {
		single |= text[i] == '\'';
		both |= text[i] == '"';
	}
	quote = single && !both ? '"' : '\'';
	buf_putc(out, quote);
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c == (unsigned char)quote || c == '\\')
			buf_putc(out, '\\');
		if (c < ' ')
			buf_printf(out, "\\x%02x", c);
		else
			buf_putc(out, (char)c);
	}
	buf_putc(out, quote);
}

static void write_subscript(struct buf *out, const struct ast_node *node)
{
	const struct ast_node *index = node->subscript.index;

	write_node(out, node->subscript.value);
	buf_putc(out, '[');
	if (index->kind == NODE_TUPLE && index->list.n > 1)
		write_list(out, &index->list);
	else
		write_node(out, index);
	buf_putc(out, ']');
}

static void write_atom(struct buf *out, const struct ast_node *node)
{
	switch (node->kind) {
	case NODE_NAME:
		buf_puts(out, node->name);
		break;
	case NODE_NONE:
		buf_puts(out, "None");
		break;
	case NODE_TRUE:
		buf_puts(out, "True");
		break;
	case NODE_FALSE:
		buf_puts(out, "False");
		break;
	case NODE_ELLIPSIS:
		buf_puts(out, "...");
		break;
	case NODE_INTEGER:
		buf_printf(out, "%llu", (unsigned long long)node->integer);
		break;
	case NODE_FLOAT:
		buf_printf(out, "%.17g", node->real);
		break;
	case NODE_STRING:
		write_literal(out, node->string.text, node->string.len);
		break;
	default:
		buf_puts(out, unwritten);
	}
}

/* int | None, Literal[-1] */
static void write_operation(struct buf *out, const struct ast_node *node)
{
	if (node->kind == NODE_BINARY && node->binary.op == BIN_OR) {
		write_node(out, node->binary.left);
		buf_puts(out, " | ");
		write_node(out, node->binary.right);
	} else if (node->kind == NODE_UNARY && node->unary.op == UN_NEG) {
		buf_putc(out, '-');
		write_node(out, node->unary.operand);
	} else {
		buf_puts(out, unwritten);
	}
}

static void write_node(struct buf *out, const struct ast_node *node)
{
	switch (node->kind) {
	case NODE_ATTRIBUTE:
		write_node(out, node->attribute.value);
		buf_printf(out, ".%s", node->attribute.name);
		break;
	case NODE_SUBSCRIPT:
		write_subscript(out, node);
		break;
	case NODE_TUPLE:
		buf_putc(out, '(');
		write_list(out, &node->list);
		buf_puts(out, node->list.n == 1 ? ",)" : ")");
		break;
	case NODE_LIST:
		buf_putc(out, '[');
		write_list(out, &node->list);
		buf_putc(out, ']');
		break;
	case NODE_STARRED:
		buf_putc(out, '*');
		write_node(out, node->value);
		break;
	case NODE_KEYWORD:
		buf_printf(out, "%s%s", node->keyword.name ? node->keyword.name : "**",
			   node->keyword.name ? "=" : "");
		write_node(out, node->keyword.value);
		break;
	case NODE_CALL:
		write_node(out, node->call.callee);
		buf_putc(out, '(');
		write_list(out, &node->call.arguments);
		buf_putc(out, ')');
		break;
	case NODE_BINARY:
	case NODE_UNARY:
		write_operation(out, node);
		break;
	default:
		write_atom(out, node);
	}
}

void annotation_write(struct buf *out, const struct ast_node *node, bool as_text)
{
	struct buf text = { 0 };

	if (!as_text) {
		write_node(out, node);
		return;
	}
	write_node(&text, node);
	out->failed |= text.failed;
	if (!text.failed)
		write_literal(out, text.data, text.len);
	buf_finish(&text);
}
