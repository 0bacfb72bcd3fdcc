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

static bool is_whole(const struct kernel *k, const struct access *at)
{
	return sym_is(at->stride[1], 1) && at->stride[0] == k->extent[1];
}

static bool is_bias(const struct access *at)
{
	return sym_is(at->stride[1], 1) && sym_is(at->stride[0], 0);
}

/* One more term of the sum; false: it is none. */
static bool take_term(struct cuda_sum *sum, const struct kernel *k, const struct inst *load)
{
	const struct access *at = &load->at;

	if (is_bias(at) && sum->bias < 0) {
		sum->bias = at->buffer;
		sum->bias_offset = at->offset;
		return true;
	}
	if (!is_whole(k, at) || sum->rest >= 0)
		return false;
	sum->rest = at->buffer;
	sum->rest_offset = at->offset;
	return true;
}

static const struct inst *writer(const struct stage *s, int reg)
{
	for (int i = 0; i < s->n_body; i++)
		if (s->body[i].dst == reg && inst_loads(&s->body[i]) &&
		    s->body[i].dtype == DTYPE_F32)
			return &s->body[i];
	return NULL;
}

bool cuda_epilogue_sum(const struct lowered *l, int kernel, struct cuda_sum *sum)
{
	const struct kernel *k = &l->kernels[kernel];
	const struct stage *s = k->stages;
	const struct buffer *product = k->library ? &l->buffers[k->out_buffer] : NULL;
	int total = -1; /* the register of the sum so far */

	*sum = (struct cuda_sum){ .out = -1, .bias = -1, .rest = -1 };
	if (!k->library || k->form != FORM_MAP || k->n_dims != 2 || k->n_setup || k->n_stages != 1)
		return false;
	for (int i = 0; i < s->n_body; i++) {
		const struct inst *inst = &s->body[i];
		const struct inst *x = inst->kind == INST_OP ? writer(s, inst->src[0]) : NULL;
		const struct inst *y = inst->kind == INST_OP ? writer(s, inst->src[1]) : NULL;

		if (inst->kind == INST_LOAD) {
			if (!inst->join && inst->at.buffer == k->out_buffer && total < 0 &&
			    is_whole(k, &inst->at) && inst->dtype == DTYPE_F32)
				total = inst->dst;
		} else if (inst->kind == INST_OP && inst->op == OP_add && inst->src[0] == total &&
			   y) {
			total = take_term(sum, k, y) ? inst->dst : -2;
		} else if (inst->kind == INST_OP && inst->op == OP_add && inst->src[1] == total &&
			   x) {
			total = take_term(sum, k, x) ? inst->dst : -2;
		} else if (inst->kind == INST_STORE && inst->src[0] == total && sum->out < 0 &&
			   is_whole(k, &inst->at) && sym_is(inst->at.offset, 0)) {
			sum->out = inst->at.buffer;
		} else {
			return false;
		}
	}
	sum->rows = k->extent[0];
	sum->columns = k->extent[1];
	return sum->out >= 0 && (sum->bias >= 0 || sum->rest >= 0) && sum->rest != k->out_buffer &&
	       sum->bias != k->out_buffer &&
	       (k->out_buffer == sum->out ||
		(product->kind == BUFFER_TEMP && product->last_kernel == kernel));
}
