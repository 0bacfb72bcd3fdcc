/* fusion/torch/natives.h -- functions of torch that are no ops.
 *
 * Each host asks natives_wants() before it takes a call for an op.  What is
 * made of ops goes through the host's decomposer, so it works in every mode;
 * what needs elements only where the host has them.
 */
#ifndef FUSION_TORCH_NATIVES_H
#define FUSION_TORCH_NATIVES_H

#include "fusion/base/nearest.h"
#include "fusion/vm/frame.h"
#include "fusion/base/generators.h"
#include "fusion/torch/decomposition.h"
#include "fusion/report/report.h"
#include "fusion/data.h"
#include "fusion/tensor/tensor.h"

enum torch_native_more {
	MORE_FIRST = 1 << 15,
#define NATIVE(id, spellings, parameters, why) MORE_##id,
#include "fusion/torch/natives.def"
#undef NATIVE
	MORE_END
};

/* The id of a spelling, -1: none. */
int natives_find(const char *spelling);

/* Offers the names in a scope, "torch" or "Tensor"; one that is nearest is kept. */
enum { NATIVE_NAME_BYTES = 64 };
void natives_offer(const char *scope, struct nearest *n, char kept[NATIVE_NAME_BYTES]);

/* What a capture reports of a call, BREAK_NONE: it stays in the graph.  Ids of
 * every kind are welcome. */
enum break_id natives_break(int id);

/* Where elements are: the eager host. */
struct torch_memory {
	struct allocator *allocator;
	struct generators *random;             /* may be NULL */
	const struct fusion_data_files *files; /* that the program may read; may be NULL */
};

/* Whether the call of this native is one of these: max(x, dim), topk, nonzero,
 * x.to("cpu") and others; args without self.  Most ops are none without keywords, which is
 * seen without a call. */
bool natives_among(const struct native *f, const struct arguments *args);
static inline bool natives_wants(const struct native *f, const struct arguments *args)
{
	enum op op = (enum op)f->id;

	if (f->id < OP_COUNT && !args->kw && op != OP_max && op != OP_min && op != OP_to &&
	    op != OP_where && op != OP_tensor && op != OP_view && !op_has(op, FACT_TUPLE))
		return false;
	return natives_among(f, args);
}

/* Calls it.  `memory` NULL: a host without elements, where those that need them
 * fail with UNSUPPORTED (a capture asks natives_break() first). */
bool natives_call(const struct decomposer *c, const struct torch_memory *memory,
		  const struct native *f, const struct arguments *args, struct value *out,
		  struct err *err);

/* return_types.c, interpolate.c (whose name is "fx:pad") and data_dependent.c: args with self in
 * front. */
bool return_types_call(const struct decomposer *c, int id, const char *name,
		       const struct arguments *args, struct value *out, struct err *err);
bool interpolate_call(const struct decomposer *c, int id, const char *name,
		      const struct arguments *args, struct value *out, struct err *err);
bool data_dependent_call(const struct torch_memory *memory, int id, const char *name,
			 const struct arguments *args, struct value *out, struct err *err);

/* data_dependent.c, of ops alone but for the places: it has a gradient. */
bool masked_select_call(const struct decomposer *c, const char *name, const struct arguments *args,
			struct value *out, struct err *err);

/* random.c: whether `device` is a GPU; whether random numbers are of the GPU's generator, for a
 * tensor or for device= (None: without); that generator, "gpu" or "cpu"; and
 * torch.set_default_device(). */
static inline bool random_names_gpu(struct value device)
{
	return device.kind == VALUE_INT ||
	       (device.kind == VALUE_STR && strncmp(device.str->text, "cpu", 3) != 0);
}

bool random_on_gpu(const struct decomposer *c, struct value place);
bool random_generator(const struct decomposer *c, struct value place, struct value *out,
		      struct err *err);

static inline void random_set_device(const struct decomposer *c, struct value device)
{
	if (c->gpu && *c->gpu != GPU_ABSENT && random_names_gpu(device))
		*c->gpu = GPU_DEFAULT;
}

/* rand, randn, randint, rand_like, randn_like */
bool random_call(const struct decomposer *c, int id, const char *name, const struct arguments *args,
		 struct value *out, struct err *err);

#endif
