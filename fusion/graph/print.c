/* fusion/graph/print.c -- a graph as text, one line a node.
 *
 * Tensors and numbers come in place, all else as name=value; arguments that
 * have their default are left out.  Floats have as many digits as it takes to
 * read the same double back.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/graph/infer.h"

enum { SHOWN_ELEMENTS = 8 };

static void print_float(struct buf *out, double f)
{
	char text[40];

	if (isnan(f) || isinf(f)) {
		buf_puts(out, isnan(f) ? "nan" : f < 0 ? "-inf" : "inf");
		return;
	}
	for (int digits = 15; digits <= 17; digits++) {
		snprintf(text, sizeof(text), "%.*g", digits, f);
		if (strtod(text, NULL) == f)
			break;
	}
	buf_puts(out, text);
	if (!strpbrk(text, ".e"))
		buf_puts(out, ".0");
}

static void print_ints(struct buf *out, const struct arg *arg)
{
	buf_putc(out, '(');
	for (int i = 0; i < arg->n; i++) {
		if (i)
			buf_puts(out, ", ");
		sym_print(out, arg->ints[i]);
	}
	buf_puts(out, arg->n == 1 ? ",)" : ")");
}

static void print_arg(struct buf *out, const struct graph *g, const struct arg *arg)
{
	switch (arg->kind) {
	case ARG_NONE:
		buf_puts(out, "None");
		break;
	case ARG_NODE:
		buf_printf(out, "%%%s", g->nodes[arg->node]->name);
		break;
	case ARG_INT:
	case ARG_REAL:
		sym_print(out, arg->sym);
		break;
	case ARG_FLOAT:
		print_float(out, arg->f);
		break;
	case ARG_BOOL:
		buf_puts(out, arg->b ? "True" : "False");
		break;
	case ARG_DTYPE:
		buf_puts(out, dtype_name(arg->dtype));
		break;
	case ARG_INTS:
		print_ints(out, arg);
		break;
	case ARG_STR:
		buf_printf(out, "'%s'", arg->str);
		break;
	}
}

/* Whether the argument is what args_bind() fills in. */
static bool has_default(const struct op_param *param, const struct arg *arg)
{
	struct buf text;
	bool same;

	if (arg->kind == ARG_NONE)
		return true;
	if (!param->optional || arg->kind == ARG_NODE)
		return false;
	if (arg->kind == ARG_STR)
		return !strcmp(arg->str, param->fallback);
	if (arg->kind == ARG_FLOAT)
		return param->fallback[0] != 'N' && strtod(param->fallback, NULL) == arg->f;
	buf_init(&text, 0);
	print_arg(&text, NULL, arg);
	same = text.data && !strcmp(text.data, param->fallback);
	buf_finish(&text);
	return same;
}

/* Of a plugin's op: in place, up to the last that it has. */
static void print_custom_args(struct buf *out, const struct graph *g, const struct node *n)
{
	int end = n->n_args;

	while (end > 1 && n->args[end - 1].kind == ARG_NONE)
		end--;
	for (int i = 1; i < end; i++) {
		buf_puts(out, i > 1 ? ", " : "");
		print_arg(out, g, &n->args[i]);
	}
}

static void print_args(struct buf *out, const struct graph *g, const struct node *n)
{
	const struct op_info *info = op_info(n->op);
	bool in_place = true;

	if (n->op == OP_custom || n->op == OP_custom_kernel) {
		print_custom_args(out, g, n);
		return;
	}

	for (int i = 0; i < n->n_args; i++) {
		const struct op_param *param = &info->params[i];

		if (has_default(param, &n->args[i])) {
			in_place = false;
			continue;
		}
		if (i)
			buf_puts(out, ", ");
		if (!in_place ||
		    (param->kind != PARAM_TENSOR && param->kind != PARAM_TENSOR_SCALAR))
			buf_printf(out, "%s=", param->name);
		print_arg(out, g, &n->args[i]);
	}
}

static void print_elements(struct buf *out, const struct node *n)
{
	int64_t count = 1;

	for (int i = 0; i < n->shape.rank; i++)
		count *= n->shape.size[i]->value;
	for (int64_t i = 0; i < count && i < SHOWN_ELEMENTS; i++) {
		if (i)
			buf_puts(out, ", ");
		if (n->dtype == DTYPE_BOOL)
			buf_puts(out, ((const uint8_t *)n->data)[i] ? "True" : "False");
		else if (dtype_category(n->dtype) == CATEGORY_INT)
			buf_printf(out, "%lld", (long long)dtype_get_int(n->dtype, n->data, i));
		else if (n->dtype == DTYPE_F64)
			print_float(out, ((const double *)n->data)[i]);
		else
			buf_printf(out, "%.9g", dtype_get_double(n->dtype, n->data, i));
	}
	if (count > SHOWN_ELEMENTS)
		buf_puts(out, ", ...");
}

static bool is_row_major(const struct graph *g, const struct node *n)
{
	const struct sym *step = sym_const(g->syms, 1);

	for (int i = n->shape.rank - 1; i >= 0; i--) {
		if (n->stride[i] != step)
			return false;
		step = sym_mul(g->syms, step, n->shape.size[i]);
	}
	return true;
}

static void print_node(struct buf *out, const struct graph *g, const struct node *n)
{
	struct shape strides = { .rank = n->shape.rank };

	buf_printf(out, "%%%s: %s", n->name, dtype_name(n->dtype));
	shape_print(out, &n->shape);
	buf_printf(out, " = %s(",
		   n->op == OP_custom || n->op == OP_custom_kernel ? n->args[0].str
								   : op_info(n->op)->id);
	if (n->op == OP_input) {
		buf_printf(out, "%d", n->input);
		memcpy(strides.size, n->stride, sizeof(strides.size));
		if (!is_row_major(g, n)) {
			buf_puts(out, ", strides=");
			shape_print(out, &strides);
		}
	} else if (op_info(n->op)->kind == KIND_CONSTANT) {
		print_elements(out, n);
	} else {
		print_args(out, g, n);
	}
	buf_putc(out, ')');
	if (n->line)
		buf_printf(out, "  # line %d", n->line);
	buf_putc(out, '\n');
}

void graph_print(struct buf *out, const struct graph *g)
{
	const char *module = NULL;

	for (int i = 0; i < g->n_nodes; i++) {
		const struct node *n = g->nodes[i];
		bool other = n->module && module ? strcmp(n->module, module) != 0
						 : n->module != module;

		/* What is only handed in belongs to no module, and ends none. */
		if (other && n->op != OP_input && op_info(n->op)->kind != KIND_CONSTANT) {
			module = n->module;
			buf_printf(out, "in %s\n", module ? module : "the program");
		}
		print_node(out, g, n);
	}
	buf_puts(out, "return");
	for (int i = 0; i < g->n_outputs; i++)
		buf_printf(out, "%s %%%s", i ? "," : "", g->nodes[g->outputs[i]]->name);
	buf_putc(out, '\n');
}
