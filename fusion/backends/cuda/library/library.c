/* fusion/backends/cuda/library/library.c -- which ops have a function on the device; what those
 * functions share. */
#include "fusion/backends/cuda/library/library.h"

#include <stdarg.h>
#include <stdio.h>

static const struct cuda_library cuda_none;

/* Python's floats are the host's to the bit: these stay there, as kernels of plugins do,
 * and what is drawn from the CPU's generator, or is a random order. */
const struct cuda_library *cuda_library_find(enum op op)
{
	static const struct cuda_library *const table[OP_COUNT] = {
#define LIBRARY(id, spellings, signature, doc, infer, cuda, ...) [OP_##id] = &cuda_##cuda,
#include "fusion/graph/ops_some.h"
	};

	return table[op] == &cuda_none ? NULL : table[op];
}

const char *cuda_element(enum dtype dtype)
{
	static const char *const names[DTYPE_COUNT] = {
		[DTYPE_F32] = "E_f32",   [DTYPE_F64] = "E_f64", [DTYPE_F16] = "E_f16",
		[DTYPE_BF16] = "E_bf16", [DTYPE_I64] = "E_i64", [DTYPE_I32] = "E_i32",
		[DTYPE_I16] = "E_i16",   [DTYPE_I8] = "E_i8",   [DTYPE_U8] = "E_u8",
		[DTYPE_BOOL] = "E_bool"
	};

	return names[dtype];
}

const char *cuda_bits(size_t bytes)
{
	return bytes == 1   ? "unsigned char"
	       : bytes == 2 ? "unsigned short"
	       : bytes == 4 ? "u32"
	       : bytes == 8 ? "unsigned long long"
			    : "pack<u32, 4>";
}

void cuda_emit_function(struct buf *out, struct cuda_function_name f, const char *args,
			const char *body, ...)
{
	char text[512];
	va_list list;

	va_start(list, body);
	vsnprintf(text, sizeof(text), body, list);
	va_end(list);
	buf_puts(out, "extern \"C\" __global__ void ");
	if (f.threads > 0)
		buf_printf(out, "__launch_bounds__(%d) ", f.threads);
	buf_printf(out, "l%d_%s(const __grid_constant__ %s a)\n{\n\t%s(a);\n}\n", f.kernel, f.name,
		   args, text);
}

bool cuda_function(const struct cuda_call *c, const char *name, CUfunction *out, struct err *err)
{
	char full[64];

	snprintf(full, sizeof(full), "l%d_%s", c->kernel, name);
	return cuda_check(c->device, c->device->api.cuModuleGetFunction(out, c->module, full),
			  "cuModuleGetFunction") ||
	       cuda_device_fault(c->device, err);
}

void cuda_start_shared(const struct cuda_call *c, CUfunction f, int64_t blocks, unsigned threads,
		       unsigned shared_bytes, void *args)
{
	struct device *d = c->device;
	void *params[] = { args };

	if (blocks <= 0)
		return;
	d->launches++;
	cuda_check(d,
		   d->api.cuLaunchKernel(f, (unsigned)blocks, 1, 1, threads, 1, 1, shared_bytes,
					 d->stream, params, NULL),
		   c->call->node->fx);
}

int64_t cuda_blocks(const struct cuda_call *c, int64_t points)
{
	int64_t wanted = (points + ARGS_THREADS - 1) / ARGS_THREADS;
	int64_t full = (int64_t)c->device->multiprocessors * 32;

	return wanted < full ? wanted : full;
}

bool cuda_row_by_row(const struct operand *x)
{
	int64_t step = 1;

	for (int d = x->rank - 1; d >= 0; d--) {
		if (x->size[d] != 1 && x->stride[d] != step)
			return false;
		step *= x->size[d];
	}
	return true;
}

void cuda_walk_fold(struct walk_args *w, int operands)
{
	int kept = 0;

	for (int d = 0; d < w->rank; d++) {
		long long size = w->size[d];
		bool joins = kept > 0;

		if (size == 1)
			continue;
		for (int k = 0; k < operands && joins; k++)
			joins = w->stride[k][kept - 1] == w->stride[k][d] * size;
		w->size[kept - joins] = joins ? w->size[kept - 1] * size : size;
		for (int k = 0; k < operands; k++)
			w->stride[k][kept - joins] = w->stride[k][d];
		kept += !joins;
	}
	w->rank = kept;
}

void *cuda_state(size_t bytes, struct err *err)
{
	void *state = calloc(1, bytes);

	if (!state)
		library_no_memory(err);
	return state;
}

/* ---- what a kernel does after its product */

/* All that the kernel walks, row by row; a kernel may walk it as one line. */
static bool is_whole(const struct kernel *k, const struct access *at)
{
	return k->n_dims == 1 ? sym_is(at->stride[0], 1)
			      : sym_is(at->stride[1], 1) && at->stride[0] == k->extent[1];
}

static bool is_bias(const struct kernel *k, const struct access *at)
{
	return k->n_dims == 2 && sym_is(at->stride[1], 1) && sym_is(at->stride[0], 0);
}

/* What a kernel's registers are while its epilogue is read. */
struct sum_reader {
	const struct lowered *l;
	const struct kernel *k;
	enum dtype dtype; /* of the product, and so of all that is loaded and stored */
	int total;        /* the register of the sum so far; -1: none yet */
	struct cuda_sum *sum;
};

/* The load that a register has, as it is or widened; NULL: it is something else. */
static const struct inst *loaded(const struct sum_reader *r, int reg)
{
	const struct stage *s = r->k->stages;

	for (int i = s->n_body - 1; i >= 0; i--) {
		const struct inst *inst = &s->body[i];

		if (inst->dst != reg)
			continue;
		if (inst->kind != INST_CAST)
			return inst_loads(inst) && inst->dtype == r->dtype ? inst : NULL;
		reg = inst->dtype == DTYPE_F32 ? inst->src[0] : -1;
	}
	return NULL;
}

/* One more term of the sum; false: it is none. */
static bool take_term(const struct sum_reader *r, int reg)
{
	const struct inst *load = loaded(r, reg);
	struct cuda_sum *sum = r->sum;

	if (load && is_bias(r->k, &load->at) && sum->bias < 0) {
		sum->bias = load->at.buffer;
		sum->bias_offset = load->at.offset;
		return true;
	}
	if (!load || !is_whole(r->k, &load->at) || sum->rest >= 0)
		return false;
	sum->rest = load->at.buffer;
	sum->rest_offset = load->at.offset;
	return true;
}

/* False: the kernel does something else there. */
static bool read_step(struct sum_reader *r, const struct inst *inst)
{
	bool whole = inst->kind != INST_OP && inst->kind != INST_CAST && is_whole(r->k, &inst->at);

	switch (inst->kind) {
	case INST_LOAD:
		if (!inst->join && inst->at.buffer == r->k->out_buffer && r->total < 0 && whole &&
		    inst->dtype == r->dtype)
			r->total = inst->dst;
		return true;
	case INST_CAST:
		if (inst->src[0] != r->total)
			return loaded(r, inst->dst) != NULL;
		r->total = inst->dst;
		return inst->dtype == DTYPE_F32 || inst->dtype == r->dtype;
	case INST_OP:
		if (inst->op != OP_add || r->total < 0 ||
		    (inst->src[0] != r->total && inst->src[1] != r->total) ||
		    !take_term(r, inst->src[inst->src[0] == r->total]))
			return false;
		r->total = inst->dst;
		return true;
	case INST_STORE:
		if (inst->src[0] != r->total || r->sum->out >= 0 || !whole ||
		    !sym_is(inst->at.offset, 0) || r->l->buffers[inst->at.buffer].dtype != r->dtype)
			return false;
		r->sum->out = inst->at.buffer;
		return true;
	default:
		return false;
	}
}

bool cuda_epilogue_sum(const struct lowered *l, int kernel, struct cuda_sum *sum)
{
	const struct kernel *k = &l->kernels[kernel];
	const struct buffer *product = k->library ? &l->buffers[k->out_buffer] : NULL;
	struct sum_reader r = { .l = l, .k = k, .total = -1, .sum = sum };

	*sum = (struct cuda_sum){ .out = -1, .bias = -1, .rest = -1 };
	if (!product || k->form != FORM_MAP || k->n_dims < 1 || k->n_dims > 2 || k->n_setup ||
	    k->n_stages != 1)
		return false;
	r.dtype = product->dtype;
	for (int i = 0; i < k->stages->n_body; i++)
		if (!read_step(&r, &k->stages->body[i]))
			return false;
	sum->rows = k->n_dims == 2 ? k->extent[0] : NULL;
	sum->columns = k->extent[k->n_dims - 1];
	return sum->out >= 0 && (sum->bias >= 0 || sum->rest >= 0) && sum->rest != k->out_buffer &&
	       sum->bias != k->out_buffer &&
	       (k->out_buffer == sum->out ||
		(product->kind == BUFFER_TEMP && product->last_kernel == kernel));
}
