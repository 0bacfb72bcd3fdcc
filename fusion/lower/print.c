/* fusion/lower/print.c -- the tile program as text.
 *
 *	%0 = input 0 x: float32[s0, 64]
 *	kernel 0 fused_exp_sum: rows [s0 | 64]  # the first kernel: ...
 *	  stage 0
 *	    p0 = float32 load x[i0*64 + i1]
 *	    p1 = float32 exp p0
 *	    r2 = float32 reduce sum p1
 *
 * A register is `u` (one value), `r` (one for the row) or `p` (for each point);
 * a buffer in an access is called after the node whose value it holds.
 */
#include <inttypes.h>
#include <stdio.h>

#include "fusion/lower/lower.h"

static const char *const kinds[] = { "input", "output", "temp", "const" };

const char *lower_form_name(enum kernel_form form)
{
	static const char *const forms[] = { "map", "rows", "cols", "library" };

	return forms[form];
}

static void print_reg(struct buf *out, const struct kernel *k, int reg)
{
	buf_printf(out, "%c%d", "urp"[k->regs[reg].level], reg);
}

/* "x[i0*64 + i1]" */
static void print_access(struct buf *out, const struct lowered *l, const struct kernel *k,
			 const struct access *at)
{
	const char *plus = "";

	buf_printf(out, "%s[", l->graph->nodes[l->buffers[at->buffer].node]->name);
	if (!sym_is(at->offset, 0)) {
		sym_print(out, at->offset);
		plus = " + ";
	}
	for (int d = 0; d < k->n_dims; d++) {
		if (sym_is(at->stride[d], 0))
			continue;
		buf_printf(out, "%si%d", plus, d);
		if (!sym_is(at->stride[d], 1)) {
			buf_puts(out, "*");
			sym_print(out, at->stride[d]);
		}
		plus = " + ";
	}
	buf_puts(out, *plus ? "]" : "0]");
}

static void print_join(struct buf *out, const struct lowered *l, const struct lower_join *join)
{
	buf_puts(out, "join");
	for (int i = 0; i < join->n; i++) {
		struct kernel part = { .n_dims = join->rank };

		buf_puts(out, i ? ", " : " ");
		print_access(out, l, &part, &join->part[i].at);
	}
}

/* " at i[i0]*64": where in it the indices are. */
static void print_indices(struct buf *out, const struct lowered *l, const struct kernel *k,
			  const struct lower_lookup *lookup)
{
	for (int i = 0; lookup && i < lookup->n; i++) {
		buf_puts(out, i ? ", " : " at ");
		print_access(out, l, k, &lookup->index[i].at);
		if (!sym_is(lookup->index[i].step, 1)) {
			buf_puts(out, "*");
			sym_print(out, lookup->index[i].step);
		}
	}
}

static void print_value(struct buf *out, const struct lowered *l, const struct kernel *k,
			const struct inst *inst)
{
	switch (inst->kind) {
	case INST_LOAD:
		if (inst->join) {
			print_join(out, l, inst->join);
			return;
		}
		buf_puts(out, "load ");
		print_access(out, l, k, &inst->at);
		print_indices(out, l, k, inst->lookup);
		return;
	case INST_IMM:
		if (inst->sym)
			sym_print(out, inst->sym);
		else if (dtype_category(inst->dtype) == CATEGORY_FLOAT)
			buf_printf(out, "%.9g", inst->imm_f);
		else
			buf_printf(out, "%lld", (long long)inst->imm_i);
		return;
	case INST_RESTORE:
		buf_printf(out, "restore slot %d", inst->slot);
		return;
	case INST_CAST:
		buf_puts(out, "cast");
		break;
	case INST_SCAN:
		buf_printf(out, "scan %s", op_info(inst->op)->id);
		break;
	case INST_REDUCE:
		buf_printf(out, "reduce %s", op_info(inst->op)->id);
		break;
	default:
		buf_puts(out, op_info(inst->op)->id);
		break;
	}
	for (int i = 0; i < 3 && inst->src[i] >= 0; i++) {
		buf_puts(out, i ? ", " : " ");
		print_reg(out, k, inst->src[i]);
	}
}

static void print_inst(struct buf *out, const struct lowered *l, const struct kernel *k,
		       const struct inst *inst)
{
	buf_puts(out, "    ");
	if (inst->kind == INST_STORE) {
		buf_puts(out, "store ");
		print_access(out, l, k, &inst->at);
		buf_puts(out, " = ");
		print_reg(out, k, inst->src[0]);
	} else if (inst->kind == INST_SAVE) {
		buf_printf(out, "save slot %d = ", inst->slot);
		print_reg(out, k, inst->src[0]);
	} else {
		print_reg(out, k, inst->dst);
		buf_printf(out, " = %s ", dtype_name(inst->dtype));
		print_value(out, l, k, inst);
	}
	buf_putc(out, '\n');
}

static void print_list(struct buf *out, const struct lowered *l, const struct kernel *k,
		       const char *title, const struct inst *list, int n)
{
	if (n == 0)
		return;
	buf_printf(out, "  %s\n", title);
	for (int i = 0; i < n; i++)
		print_inst(out, l, k, &list[i]);
}

static void print_dims(struct buf *out, const struct kernel *k)
{
	buf_putc(out, '[');
	for (int d = 0; d < k->n_dims; d++) {
		if (d == k->n_outer)
			buf_puts(out, d ? " | " : "| ");
		else if (d)
			buf_puts(out, ", ");
		sym_print(out, k->extent[d]);
	}
	buf_putc(out, ']');
}

static void print_kernel(struct buf *out, const struct lowered *l, int id)
{
	const struct kernel *k = &l->kernels[id];

	buf_printf(out, "kernel %d %s: %s ", id, k->name, lower_form_name(k->form));
	if (k->form != FORM_LIBRARY)
		print_dims(out, k);
	if (k->form != FORM_LIBRARY && k->library)
		buf_printf(out, " after %s ", op_info(k->op)->id);
	for (int a = 0; k->library && a < MAX_ARGS; a++)
		if (k->arg_buffer[a] >= 0)
			buf_printf(out, "%%%d ", k->arg_buffer[a]);
	if (k->library)
		buf_printf(out, "-> %%%d", k->out_buffer);
	if (k->why[0])
		buf_printf(out, "  # %s", k->why);
	buf_putc(out, '\n');
	print_list(out, l, k, "setup", k->setup, k->n_setup);
	print_list(out, l, k, "prologue", k->prologue, k->n_prologue);
	for (int s = 0; s < k->n_stages; s++) {
		char title[32];
		snprintf(title, sizeof(title), "stage %d", s);
		print_list(out, l, k, title, k->stages[s].body, k->stages[s].n_body);
		snprintf(title, sizeof(title), "post %d", s);
		print_list(out, l, k, title, k->stages[s].post, k->stages[s].n_post);
	}
}

void lower_print(struct buf *out, const struct lowered *l)
{
	for (int i = 0; i < l->n_buffers; i++) {
		const struct buffer *b = &l->buffers[i];
		buf_printf(out, "%%%d = %s", i, kinds[b->kind]);
		if (b->index >= 0)
			buf_printf(out, " %d", b->index);
		buf_printf(out, " %s: %s", l->graph->nodes[b->node]->name, dtype_name(b->dtype));
		shape_print(out, &b->shape);
		if (l->graph->nodes[b->node]->pitch)
			buf_printf(out, ", rows %" PRId64 " apart",
				   l->graph->nodes[b->node]->pitch);
		if (l->graph->nodes[b->node]->channels_last)
			buf_puts(out, ", channels last");
		if (b->kind == BUFFER_TEMP && b->first_kernel >= 0)
			buf_printf(out, "  # kernels %d to %d", b->first_kernel, b->last_kernel);
		buf_putc(out, '\n');
	}
	for (int i = 0; i < l->n_kernels; i++)
		print_kernel(out, l, i);
	buf_puts(out, "return");
	for (int i = 0; i < l->n_outputs; i++)
		buf_printf(out, "%s %%%d", i ? "," : "", l->outputs[i]);
	buf_putc(out, '\n');
}
