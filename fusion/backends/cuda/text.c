/* fusion/backends/cuda/text.c -- the parts of generated CUDA C.
 *
 * Values are named r<register>, buffers b<buffer>, coordinates x<dim>.  Nothing
 * of the user's reaches the text: names are numbers, values literals.
 */
#include "fusion/backends/cuda/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "fusion/backends/words.h"

const char *text_element(enum dtype dtype)
{
	static const char *const names[DTYPE_COUNT] = { [DTYPE_F32] = "f32",
							[DTYPE_F64] = "f64",
							[DTYPE_I64] = "i64",
							[DTYPE_BOOL] = "unsigned char",
							[DTYPE_F16] = "unsigned short",
							[DTYPE_BF16] = "unsigned short",
							[DTYPE_I32] = "int",
							[DTYPE_I16] = "short",
							[DTYPE_I8] = "signed char",
							[DTYPE_U8] = "unsigned char" };
	return names[dtype];
}

const char *text_value(enum dtype dtype)
{
	return dtype == DTYPE_BOOL ? "bool" : text_element(dtype);
}

const char *text_suffix(enum dtype dtype)
{
	return dtype == DTYPE_BOOL  ? "mask"
	       : dtype == DTYPE_F32 ? "f32"
	       : dtype == DTYPE_F64 ? "f64"
				    : "i64";
}

static enum dtype dtype_of(const struct text *t, int r)
{
	return t->c->kernel->regs[r].dtype;
}

void text_number(struct text *t, const struct sym *s)
{
	size_t i = 0;

	if (sym_is_const(s)) {
		buf_printf(t->out, "%" PRId64, s->value);
		if (s->value > INT32_MAX || s->value < INT32_MIN)
			buf_puts(t->out, "LL");
		return;
	}
	while (i < t->c->numbers.len && t->c->numbers.at[i] != s)
		i++;
	if (i == t->c->numbers.len && !VEC_PUSH(&t->c->numbers, s))
		t->out->failed = true;
	buf_printf(t->out, "z%zu", i);
}

void text_coordinates(struct text *t, const struct sym *const *extent, int first, int last,
		      const char *flat, const char *name)
{
	if (last <= first)
		return;
	if (last - first == 1) {
		buf_printf(t->out, "\tconst u32 %s%d = %s;\n", name, first, flat);
		return;
	}
	buf_printf(t->out, "\tu32 %s%d = %s;\n", name, first, flat);
	for (int d = last - 1; d > first; d--) {
		buf_printf(t->out, "\tconst u32 %s%d = %s%d %% (u32)", name, d, name, first);
		text_number(t, extent[d]);
		buf_printf(t->out, ";\n\t%s%d /= (u32)", name, first);
		text_number(t, extent[d]);
		buf_puts(t->out, ";\n");
	}
}

void text_address(struct text *t, const struct access *at, int n_dims, const char *name)
{
	buf_printf(t->out, "b%d", at->buffer);
	if (!sym_is(at->offset, 0)) {
		buf_puts(t->out, " + ");
		text_number(t, at->offset);
	}
	for (int d = 0; d < n_dims; d++) {
		if (!at->stride[d] || sym_is(at->stride[d], 0))
			continue;
		buf_printf(t->out, " + (i64)%s%d", name, d);
		if (!sym_is(at->stride[d], 1)) {
			buf_puts(t->out, " * ");
			text_number(t, at->stride[d]);
		}
	}
}

void text_from_memory(struct text *t, enum dtype dtype, const char *from)
{
	buf_printf(t->out, dtype == DTYPE_BOOL ? "%s != 0" : "%s", from);
}

static void put_imm(struct text *t, const struct inst *inst)
{
	const char *type = text_suffix(inst->dtype);

	if (inst->sym) {
		buf_printf(t->out, "(%s)%s", text_value(inst->dtype),
			   inst->real ? "__longlong_as_double(" : "");
		text_number(t, inst->sym);
		buf_puts(t->out, inst->real ? ")" : "");
	} else if (inst->dtype == DTYPE_BOOL) {
		buf_puts(t->out, inst->imm_i ? "true" : "false");
	} else if (!text_is_float(inst->dtype)) {
		buf_printf(t->out, "(%s)0x%" PRIx64 "ULL", text_value(inst->dtype),
			   (uint64_t)inst->imm_i);
	} else if (isnan(inst->imm_f)) {
		buf_printf(t->out, "NAN_%s", type);
	} else if (isinf(inst->imm_f)) {
		buf_printf(t->out, "%sINF_%s", inst->imm_f < 0 ? "-" : "", type);
	} else if (inst->dtype == DTYPE_F32) {
		buf_printf(t->out, "%af", (double)(float)inst->imm_f);
	} else {
		buf_printf(t->out, "%a", inst->imm_f);
	}
}

static void put_cast(struct text *t, const struct inst *inst)
{
	enum dtype from = dtype_of(t, inst->src[0]), to = inst->dtype;
	int r = inst->src[0];

	if (to == DTYPE_BOOL)
		buf_printf(t->out, "r%d != 0", r);
	else if (from == DTYPE_F16 || from == DTYPE_BF16)
		buf_printf(t->out, "%s_to_f32(r%d)", from == DTYPE_F16 ? "half" : "bfloat", r);
	else if (to == DTYPE_F16 || to == DTYPE_BF16)
		buf_printf(t->out, "f32_to_%s(r%d)", to == DTYPE_F16 ? "half" : "bfloat", r);
	else if (text_is_float(from) && !text_is_float(to))
		buf_printf(t->out, "(%s)to_i64(r%d)", text_value(to), r);
	else
		buf_printf(t->out, "(%s)r%d", text_value(to), r);
}

/* Ops that have a shorter word where their operand allows it, or at all. */
static bool put_short(struct text *t, const struct inst *inst)
{
	bool wave = inst->op == OP_sin || inst->op == OP_cos;

	if (inst->kind != INST_OP || dtype_of(t, inst->src[0]) != DTYPE_F32)
		return false;
	if (wave && text_is_near(t->c->kernel, inst->src[0]))
		buf_printf(t->out, "near_%s(r%d)", inst->op == OP_cos ? "cos" : "sin",
			   inst->src[0]);
	else if (inst->op == OP_sigmoid)
		buf_printf(t->out, "sigmoid_f32(r%d)", inst->src[0]);
	else
		return false;
	return true;
}

void text_compute(struct text *t, const struct inst *inst)
{
	int last = inst->src[2] >= 0 ? 2 : inst->src[1] >= 0 ? 1 : 0;
	char names[3][16];
	const char *args[3] = { names[0], names[1], names[2] };

	for (int k = 0; k < 3; k++)
		snprintf(names[k], sizeof(names[k]), "r%d", inst->src[k]);
	buf_printf(t->out, "\tconst %s r%d = ", text_value(inst->dtype), inst->dst);
	if (inst->kind == INST_IMM) {
		put_imm(t, inst);
	} else if (inst->kind == INST_CAST) {
		put_cast(t, inst);
	} else if (!put_short(t, inst)) {
		enum dtype type = dtype_of(t, inst->src[last]);

		words_put(t->out, op_info(inst->op)->value, text_suffix(type), type == DTYPE_BOOL,
			  args);
	}
	buf_puts(t->out, ";\n");
}

void text_load_one(struct text *t, const struct inst *inst)
{
	buf_printf(t->out, "\tconst %s r%d = *(", text_value(inst->dtype), inst->dst);
	text_address(t, &inst->at, t->c->kernel->n_dims, "x");
	buf_printf(t->out, ")%s;\n", inst->dtype == DTYPE_BOOL ? " != 0" : "");
}

void text_store_one(struct text *t, const struct inst *inst)
{
	buf_puts(t->out, "\t*(");
	text_address(t, &inst->at, t->c->kernel->n_dims, "x");
	buf_printf(t->out, ") = r%d;\n", inst->src[0]);
}

void text_join(struct text *t, enum op op, enum dtype dtype, const char *a, const char *b)
{
	if (dtype == DTYPE_F32 && (op == OP_amax || op == OP_amin)) {
		buf_printf(t->out, "%s_nan(%s, %s)", op == OP_amax ? "max" : "min", a, b);
		return;
	}
	words_put(t->out, op_info(op)->value, text_suffix(dtype), dtype == DTYPE_BOOL,
		  (const char *[3]){ a, b, "" });
}

void text_first(struct text *t, enum op op, enum dtype dtype)
{
	words_put(t->out, op_info(op)->first, text_suffix(dtype), dtype == DTYPE_BOOL,
		  (const char *[3]){ "", "", "" });
}
