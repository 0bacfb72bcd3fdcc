/* fusion/backends/cuda/kernel/text.c -- numbers, addresses and steps of the tile program as CUDA C.
 */
#include "fusion/backends/cuda/kernel/text.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "fusion/backends/simd/simd.h"

static inline bool text_is_float(enum dtype dtype)
{
	return dtype_category(dtype) == CATEGORY_FLOAT;
}

/* An element in memory; what intrinsics.cu has a short name for is called so. */
const char *text_element(enum dtype dtype)
{
	return dtype == DTYPE_F32   ? "f32"
	       : dtype == DTYPE_F64 ? "f64"
	       : dtype == DTYPE_I64 ? "i64"
				    : intrinsics_element(dtype);
}

/* How words of ops.def are called for it: "f32", "f64", "i64" or "mask". */
static const char *text_suffix(enum dtype dtype)
{
	return dtype == DTYPE_BOOL  ? "mask"
	       : dtype == DTYPE_F32 ? "f32"
	       : dtype == DTYPE_F64 ? "f64"
				    : "i64";
}

static enum dtype dtype_of(const struct emit_text *t, int r)
{
	return t->c->kernel->regs[r].dtype;
}

/* A literal, or the parameter that it becomes. */
void text_number(struct emit_text *t, const struct sym *s)
{
	size_t i = 0;

	if (sym_is_const(s) && !t->any_size) {
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

/* b<parameter> + where the access lies at x0, x1, ... */
void text_address(struct emit_text *t, const struct access *at, int n_dims, const char *name)
{
	buf_printf(t->out, "b%d", t->c->places[at->buffer]);
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

static void put_imm(struct emit_text *t, const struct inst *inst)
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

static void put_cast(struct emit_text *t, const struct inst *inst)
{
	enum dtype from = dtype_of(t, inst->src[0]), to = inst->dtype;
	int r = inst->src[0];
	bool narrow = from == DTYPE_F16 || from == DTYPE_BF16;
	int rounded = narrow ? cuda_rounded_from(t->c->kernel, r) : -1;

	if (to == DTYPE_BOOL)
		buf_printf(t->out, "r%d != 0", r);
	else if (rounded >= 0)
		buf_printf(t->out, "rounded_%s(r%d)", from == DTYPE_F16 ? "half" : "bfloat",
			   rounded);
	else if (narrow)
		buf_printf(t->out, "%s_to_f32(r%d)", from == DTYPE_F16 ? "half" : "bfloat", r);
	else if (to == DTYPE_F16 || to == DTYPE_BF16)
		buf_printf(t->out, "f32_to_%s(r%d)", to == DTYPE_F16 ? "half" : "bfloat", r);
	else if (text_is_float(from) && !text_is_float(to))
		buf_printf(t->out, "(%s)to_i64(r%d)", text_value(to), r);
	else
		buf_printf(t->out, "(%s)r%d", text_value(to), r);
}

/* Ops that have a word good enough for what is stored in 16 bits. */
static const char *quick_word(enum op op)
{
	return op == OP_truediv   ? "quick_quotient"
	       : op == OP_sqrt    ? "quick_sqrt"
	       : op == OP_rsqrt   ? "quick_rsqrt"
	       : op == OP_tanh    ? "quick_tanh"
	       : op == OP_exp     ? "quick_exp"
	       : op == OP_sigmoid ? "quick_sigmoid"
				  : NULL;
}

/* Ops that have a shorter word where their operand or the kernel's results allow it, or at
 * all. */
static bool put_short(struct emit_text *t, const struct inst *inst)
{
	bool wave = inst->op == OP_sin || inst->op == OP_cos;

	if (inst->kind != INST_OP || dtype_of(t, inst->src[0]) != DTYPE_F32)
		return false;
	if (t->c->narrow && quick_word(inst->op))
		buf_printf(t->out, inst->src[1] < 0 ? "%s(r%d)" : "%s(r%d, r%d)",
			   quick_word(inst->op), inst->src[0], inst->src[1]);
	else if (wave && cuda_is_near(t->c->kernel, inst->src[0]))
		buf_printf(t->out, "near_%s(r%d)", inst->op == OP_cos ? "cos" : "sin",
			   inst->src[0]);
	else if (inst->op == OP_sigmoid)
		buf_printf(t->out, "sigmoid_f32(r%d)", inst->src[0]);
	else
		return false;
	return true;
}

/* `inst` (IMM, OP, CAST) as the declaration of its register. */
void text_compute(struct emit_text *t, const struct inst *inst)
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

		intrinsics_put(t->out, op_info(inst->op)->value, text_suffix(type),
			       type == DTYPE_BOOL, args);
	}
	buf_puts(t->out, ";\n");
}

/* One element: LOAD above LEVEL_POINT. */
static void text_load_one(struct emit_text *t, const struct inst *inst)
{
	buf_printf(t->out, "\tconst %s r%d = *(", text_value(inst->dtype), inst->dst);
	text_address(t, &inst->at, t->c->kernel->n_dims, "x");
	buf_printf(t->out, ")%s;\n", inst->dtype == DTYPE_BOOL ? " != 0" : "");
}

/* And STORE of such a register. */
static void text_store_one(struct emit_text *t, const struct inst *inst)
{
	buf_puts(t->out, "\t*(");
	text_address(t, &inst->at, t->c->kernel->n_dims, "x");
	buf_printf(t->out, ") = r%d;\n", inst->src[0]);
}

/* `op` of two values as a call of intrinsics: of the partial results of a reduction. */
void text_join(struct emit_text *t, enum op op, enum dtype dtype, const char *a, const char *b)
{
	if (dtype == DTYPE_F32 && (op == OP_amax || op == OP_amin)) {
		buf_printf(t->out, "%s_nan(%s, %s)", op == OP_amax ? "max" : "min", a, b);
		return;
	}
	intrinsics_put(t->out, op_info(op)->value, text_suffix(dtype), dtype == DTYPE_BOOL,
		       (const char *[3]){ a, b, "" });
}

void text_first(struct emit_text *t, enum op op, enum dtype dtype)
{
	intrinsics_put(t->out, op_info(op)->first, text_suffix(dtype), dtype == DTYPE_BOOL,
		       (const char *[3]){ "", "", "" });
}

/* Joined in a wide type, rounded once: what threads have found, then blocks. */
const char *text_wide(const struct inst *inst)
{
	bool exact = inst->op == OP_amax || inst->op == OP_amin;

	if (op_is_search(inst->op))
		return "u64";
	if (inst->dtype == DTYPE_BOOL)
		return "bool";
	if (!text_is_float(inst->dtype))
		return "i64";
	return exact && inst->dtype == DTYPE_F32 ? "f32" : "f64";
}

static enum dtype wide_dtype(const struct inst *inst)
{
	const char *name = text_wide(inst);

	return name[0] == 'b'   ? DTYPE_BOOL
	       : name[0] == 'i' ? DTYPE_I64
	       : name[1] == '3' ? DTYPE_F32
				: DTYPE_F64;
}

/* struct j<n>: the reduction as a type that intrinsics.cu takes. */
void text_joiner(struct emit_text *t, const struct inst *inst)
{
	const char *type = text_wide(inst);
	enum dtype dtype = wide_dtype(inst);

	if (op_is_search(inst->op)) {
		buf_printf(t->out, "\tusing j%d = finding;\n", inst->dst);
		return;
	}
	buf_printf(t->out, "\tstruct j%d {\n\tstatic __device__ %s join(%s a, %s b) { return ",
		   inst->dst, type, type, type);
	text_join(t, inst->op, dtype, "a", "b");
	buf_printf(t->out, "; }\n\tstatic __device__ %s first() { return ", type);
	text_first(t, inst->op, dtype);
	buf_puts(t->out, "; }\n\t};\n");
}

/* A prologue, or a post: once a row (COLS: once a column). */
void text_once(struct emit_text *t, const struct inst *insts, int n)
{
	for (int i = 0; i < n; i++)
		if (insts[i].lookup)
			text_lookup(t, &insts[i], -1);
		else if (insts[i].kind == INST_LOAD)
			text_load_one(t, &insts[i]);
		else if (insts[i].kind != INST_STORE)
			text_compute(t, &insts[i]);
	for (int i = 0; i < n; i++)
		if (insts[i].kind == INST_STORE) {
			buf_puts(t->out, "\tif (first_of_team && live) {");
			text_store_one(t, &insts[i]);
			buf_puts(t->out, "\t}\n");
		}
	text_sites_end(t);
}

/* ---- what kernels call */

/* What the threads of a row before this one have, and *all of them: a sum in their order. */
static const char scan_words[] =
    "template <int T, int R> WORD f64 sum_ahead(f64 x, f64 *all)\n{\n"
    "\tconstexpr int W = T < 32 ? T : 32;\n\tconst int lane = threadIdx.x % W;\n"
    "\tconst int first = (threadIdx.y * T + threadIdx.x) % 32 - lane;\n\tf64 sum = x;\n"
    "#pragma unroll\n\tfor (int o = 1; o < W; o *= 2) {\n"
    "\t\tconst f64 other = __shfl_sync(0xffffffffu, sum, first + (lane >= o ? lane - o : "
    "lane));\n\n"
    "\t\tsum = lane >= o ? other + sum : sum;\n\t}\n"
    "\tf64 ahead = __shfl_sync(0xffffffffu, sum, first + (lane > 0 ? lane - 1 : 0));\n\n"
    "\tahead = lane == 0 ? 0 : ahead;\n"
    "\t*all = __shfl_sync(0xffffffffu, sum, first + W - 1);\n"
    "\tif (T > 32) {\n\t\t__shared__ f64 warps[T > 32 ? T / 32 : 1];\n"
    "\t\tf64 before = 0, total = 0;\n\n"
    "\t\tif (lane == 31)\n\t\t\twarps[threadIdx.x / 32] = sum;\n\t\t__syncthreads();\n"
    "#pragma unroll\n\t\tfor (int w = 0; w < T / 32; w++) {\n"
    "\t\t\tbefore = w == threadIdx.x / 32 ? total : before;\n\t\t\ttotal += warps[w];\n\t\t}\n"
    "\t\tahead = before + ahead;\n\t\t*all = total;\n\t\t__syncthreads();\n\t}\n"
    "\treturn ahead;\n}\n";

/* The best so far and where it was, NaN before all.  What is no better than the worst there can
 * be is nowhere: where a row has nothing else, its first point is it.  As words that are joined
 * by their order: the order of the best, then places from the last to the first. */
static const char search_words[] =
    "template <bool LARGEST> struct search {\n"
    "\tf32 best = LARGEST ? -INF_f32 : INF_f32;\n\tu32 at = ~0u;\n\n"
    "\t__device__ __forceinline__ void look(f32 x, u32 place)\n\t{\n"
    "\t\tconst bool better = (LARGEST ? !(x <= best) : !(x >= best)) && best == best;\n\n"
    "\t\tbest = better ? x : best;\n\t\tat = better ? place : at;\n\t}\n"
    "\t__device__ __forceinline__ u64 word() const\n\t{\n"
    "\t\tconst u32 bits = __float_as_uint((LARGEST ? best : -best) + 0.0f);\n"
    "\t\tconst u32 order = bits >> 31 ? ~bits : bits | 0x80000000u;\n\n"
    "\t\treturn (u64)(best != best ? ~0u : order) << 32 | (u32)~at;\n\t}\n};\n"
    "struct finding {\n\tstatic __device__ u64 join(u64 a, u64 b) { return a > b ? a : b; }\n"
    "\tstatic __device__ u64 first() { return 0; }\n};\n"
    "WORD i64 found_place(u64 word) { return (u32)word ? (i64)(u32)~(u32)word : 0; }\n";

static bool searches_rows(const struct kernel *k)
{
	for (int s = 0; s < k->n_stages; s++)
		for (int i = 0; i < k->stages[s].n_body; i++)
			if (k->stages[s].body[i].kind == INST_REDUCE &&
			    op_is_search(k->stages[s].body[i].op))
				return true;
	return false;
}

void cuda_kernel_words(struct buf *out, const struct kernel *kernels, int n)
{
	bool scans = false, searches = false;
	const char *looks_up = NULL;

	for (int i = 0; i < n; i++) {
		looks_up = looks_up ? looks_up : cuda_looks_up(&kernels[i]);
		scans |= cuda_scans_rows(&kernels[i]);
		searches |= searches_rows(&kernels[i]);
	}
	buf_puts(out, looks_up ? looks_up : "");
	buf_puts(out, scans ? scan_words : "");
	buf_puts(out, searches ? search_words : "");
}
