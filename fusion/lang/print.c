/* fusion/lang/print.c -- code objects as text, for tests.
 *
 *	code model(x, k=..) line 3, stack 2
 *	  0   4:9    LOAD_FAST        x
 */
#include <string.h>

#include "fusion/lang/lang.h"

static const char *const binop_symbols[BIN_COUNT] = {
	[BIN_ADD] = "+",       [BIN_SUB] = "-", [BIN_MUL] = "*",  [BIN_TRUEDIV] = "/",
	[BIN_FLOORDIV] = "//", [BIN_MOD] = "%", [BIN_POW] = "**", [BIN_MATMUL] = "@",
	[BIN_AND] = "&",       [BIN_OR] = "|",  [BIN_XOR] = "^",  [BIN_LSHIFT] = "<<",
	[BIN_RSHIFT] = ">>",
};
static const char *const unop_symbols[UN_COUNT] = {
	[UN_NEG] = "-",
	[UN_POS] = "+",
	[UN_INVERT] = "~",
	[UN_NOT] = "not",
};
static const char *const cmpop_symbols[CMP_COUNT] = {
	[CMP_LT] = "<",  [CMP_LE] = "<=",         [CMP_EQ] = "==", [CMP_NE] = "!=",
	[CMP_GT] = ">",  [CMP_GE] = ">=",         [CMP_IS] = "is", [CMP_IS_NOT] = "is not",
	[CMP_IN] = "in", [CMP_NOT_IN] = "not in",
};

static const char *const op_names[CODE_COUNT] = {
#define CODE(id, arg, effect) [CODE_##id] = #id,
#include "fusion/lang/code.def"
#undef CODE
};

const char *binop_symbol(enum binop op)
{
	return (unsigned)op < BIN_COUNT ? binop_symbols[op] : "?";
}

const char *unop_symbol(enum unop op)
{
	return (unsigned)op < UN_COUNT ? unop_symbols[op] : "?";
}

const char *cmpop_symbol(enum cmpop op)
{
	return (unsigned)op < CMP_COUNT ? cmpop_symbols[op] : "?";
}

static void print_string(struct buf *out, const char *text, int len)
{
	buf_putc(out, '"');
	for (int i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if (c < ' ' || c == '"' || c == '\\' || c == 0x7f)
			buf_printf(out, "\\x%02x", c);
		else
			buf_putc(out, (char)c);
	}
	buf_putc(out, '"');
}

static void print_const(struct buf *out, const struct lang_const *c)
{
	switch (c->kind) {
	case CONST_NONE:
		buf_puts(out, "None");
		break;
	case CONST_BOOL:
		buf_puts(out, c->b ? "True" : "False");
		break;
	case CONST_INT:
		buf_printf(out, "%lld", (long long)c->i);
		break;
	case CONST_FLOAT:
		buf_printf(out, "float %.17g", c->f);
		break;
	case CONST_STR:
		print_string(out, c->str, c->n);
		break;
	case CONST_ELLIPSIS:
		buf_puts(out, "...");
		break;
	case CONST_TUPLE:
		buf_putc(out, '(');
		for (int i = 0; i < c->n; i++) {
			buf_puts(out, i ? ", " : "");
			print_const(out, &c->items[i]);
		}
		buf_puts(out, c->n == 1 ? ",)" : ")");
		break;
	}
}

static void print_format(struct buf *out, int argument)
{
	static const char *const conversions[] = { "", "!s", "!r", "!a" };

	buf_printf(out, "%s%s", conversions[argument & 3], argument & 4 ? ":spec" : "");
}

static void print_operator(struct buf *out, const struct lang_inst *inst)
{
	if (inst->op == CODE_UNARY_OP)
		buf_puts(out, unop_symbol((enum unop)inst->arg));
	else if (inst->op == CODE_COMPARE_OP)
		buf_puts(out, cmpop_symbol((enum cmpop)inst->arg));
	else
		buf_printf(out, "%s%s", binop_symbol((enum binop)inst->arg),
			   inst->op == CODE_INPLACE_OP ? "=" : "");
}

/* Instructions whose argument says nothing. */
static bool stands_alone(enum code_op op)
{
	switch (op) {
	case CODE_BINARY_SUBSCR:
	case CODE_STORE_SUBSCR:
	case CODE_GET_ITER:
	case CODE_POP:
	case CODE_RETURN:
	case CODE_IMPORT_STAR:
	case CODE_DELETE_SUBSCR:
	case CODE_LIST_TO_TUPLE:
	case CODE_CALL_EX:
	case CODE_PUSH_EXC:
	case CODE_POP_EXC:
	case CODE_EXC_MATCH:
	case CODE_RERAISE:
	case CODE_BEFORE_WITH:
	case CODE_WITH_EXIT:
	case CODE_WITH_EXCEPT:
	case CODE_RETURNED:
		return true;
	default:
		return false;
	}
}

/* Of the items of a sequence. */
static void print_counts(struct buf *out, const struct lang_inst *inst)
{
	if (inst->op == CODE_MATCH_SEQUENCE)
		buf_printf(out, "%d%s", inst->arg / 2, inst->arg % 2 ? " or more" : "");
	else
		buf_printf(out, "%d before, %d after", inst->arg & 255, inst->arg >> 8);
}

static void print_argument(struct buf *out, const struct code *code, const struct lang_inst *inst)
{
	switch (inst->op) {
	case CODE_LOAD_CONST:
	case CODE_REFUSE:
		print_const(out, &code->consts[inst->arg]);
		break;
	case CODE_LOAD_FAST:
	case CODE_STORE_FAST:
	case CODE_DELETE_FAST:
	case CODE_CLEAR_FAST:
		buf_puts(out, code->locals[inst->arg]);
		break;
	case CODE_LOAD_DEREF:
	case CODE_STORE_DEREF:
	case CODE_LOAD_CLOSURE:
	case CODE_DELETE_DEREF:
	case CODE_MAKE_CELL:
		buf_puts(out, code->cells[inst->arg]);
		break;
	case CODE_LOAD_GLOBAL:
	case CODE_STORE_GLOBAL:
	case CODE_LOAD_ATTR:
	case CODE_STORE_ATTR:
	case CODE_IMPORT:
	case CODE_DELETE_GLOBAL:
	case CODE_DELETE_ATTR:
	case CODE_LOAD_NAME:
	case CODE_STORE_NAME:
	case CODE_DELETE_NAME:
		buf_puts(out, code->names[inst->arg]);
		break;
	case CODE_BINARY_OP:
	case CODE_INPLACE_OP:
	case CODE_UNARY_OP:
	case CODE_COMPARE_OP:
		print_operator(out, inst);
		break;
	case CODE_FOR_ITER:
	case CODE_JUMP:
	case CODE_JUMP_IF_FALSE:
	case CODE_JUMP_IF_TRUE:
		buf_printf(out, "to %d", inst->arg);
		break;
	case CODE_MAKE_FUNCTION:
		buf_puts(out, code->nested[inst->arg]->name);
		break;
	case CODE_YIELD:
		buf_puts(out, inst->arg ? "from" : "");
		break;
	case CODE_MATCH_SEQUENCE:
	case CODE_UNPACK_EX:
		print_counts(out, inst);
		break;
	case CODE_FORMAT_VALUE:
		print_format(out, inst->arg);
		break;
	default:
		if (!stands_alone(inst->op))
			buf_printf(out, "%d", inst->arg);
	}
}

/* In the order of the source; locals have *args after the keyword-only ones. */
static void print_parameters(struct buf *out, const struct code *code)
{
	int star = code->n_positional + code->n_keyword_only;
	const char *comma = "";

	buf_putc(out, '(');
	for (int i = 0; i < star; i++) {
		if (i == code->n_positional) {
			buf_printf(out, "%s*%s", comma,
				   code->has_varargs ? code->locals[star] : "");
			comma = ", ";
		}
		buf_printf(out, "%s%s", comma, code->locals[i]);
		comma = ", ";
	}
	if (code->has_varargs && !code->n_keyword_only) {
		buf_printf(out, "%s*%s", comma, code->locals[star]);
		comma = ", ";
	}
	if (code->has_kwargs)
		buf_printf(out, "%s**%s", comma, code->locals[star + code->has_varargs]);
	buf_putc(out, ')');
}

static void print_cells(struct buf *out, const struct code *code)
{
	for (int i = 0; i < code->n_cells; i++) {
		buf_printf(out, "%s%s", i ? " " : ", cells ", code->cells[i]);
		if (i >= code->n_own_cells)
			buf_puts(out, " (outer)");
		else if (code->cell_local[i] >= 0)
			buf_puts(out, " (parameter)");
	}
}

static void print_inst(struct buf *out, const struct code *code, int i)
{
	const struct lang_inst *inst = &code->insts[i];

	buf_printf(out, "%4d  %3d:%-3d %-16s ", i, inst->line, inst->column, op_names[inst->op]);
	print_argument(out, code, inst);
	while (!out->failed && out->data[out->len - 1] == ' ')
		out->data[--out->len] = '\0';
	buf_putc(out, '\n');
}

static void print_handlers(struct buf *out, const struct code *code)
{
	static const char *const kinds[] = {
		[HANDLER_TRY] = "try", [HANDLER_WITH] = "with", [HANDLER_CLEANUP] = "cleanup"
	};

	for (int i = 0; i < code->n_handlers; i++) {
		const struct lang_handler *h = &code->handlers[i];

		buf_printf(out, "      %s: errors in %d..%d to %d, depth %d\n", kinds[h->kind],
			   h->start, h->end - 1, h->target, h->depth);
	}
}

void lang_print(struct buf *out, const struct code *code)
{
	const char *kind = code->is_generator    ? "generator"
			   : code->has_namespace ? "class"
						 : "code";

	buf_printf(out, "%s %s", kind, code->name);
	print_parameters(out, code);
	buf_printf(out, " line %d, stack %d", code->line, code->stack_depth);
	print_cells(out, code);
	buf_putc(out, '\n');
	for (int i = 0; i < code->n_insts; i++)
		print_inst(out, code, i);
	print_handlers(out, code);
	for (int i = 0; i < code->n_nested; i++) {
		buf_putc(out, '\n');
		lang_print(out, code->nested[i]);
	}
}
