/* fusion/torch/autocast.h -- torch.autocast, in every host.
 *
 * A host casts an op's operands before it runs or traces the op, by the op's class
 * in ops.def, with casts that are ops like others: gradients go through them, back to
 * the dtype that a tensor has.  The MODE is a field of the VM's modes (vm/frame.h).
 *
 * As in torch a parameter's cast is kept until the outermost block ends, so that its
 * uses share one, and its gradient is summed up in the lower dtype.  A parameter that
 * was written since is cast again (torch hands out the old elements).
 */
#ifndef FUSION_TORCH_AUTOCAST_H
#define FUSION_TORCH_AUTOCAST_H

#include "fusion/base/vec.h"
#include "fusion/torch/decomposition.h"

/* Bits of the mode; 0: on the CPU, no block is open. */
enum {
	AUTOCAST_ON_CPU = 1,
	AUTOCAST_CPU_HALF = 2, /* the CPU's dtype is float16, not bfloat16 */
	AUTOCAST_ON_CUDA = 4,
	AUTOCAST_CUDA_BFLOAT16 = 8, /* CUDA's is bfloat16, not float16 */
	AUTOCAST_NO_CACHE = 16,
	AUTOCAST_RUNS_CUDA = 32, /* tensors lie on a GPU: the blocks on CUDA count, no others */
	AUTOCAST_STATE = 63,     /* what guards compare */
	AUTOCAST_BLOCK = 64,     /* from here on: how many blocks are open, at most MAX_BLOCKS */
	AUTOCAST_MAX_BLOCKS = 1 << 20,
};

struct autocast_kept {
	struct value from, to; /* references */
	int node;
	unsigned version; /* of its storage */
};

struct autocast {
	const struct decomposer *decomposer;
	bool *grad_off; /* of the host: a cast that is kept is recorded in any grad mode */
	/* Whether the cast of a tensor is kept: a leaf that requires a gradient. */
	bool (*keeps)(void *self, struct value tensor);
	VEC(struct autocast_kept) kept;
};

/* Inside a block on that device: the mode with one block more. */
unsigned autocast_enter(unsigned mode, enum autocast_device device, enum dtype dtype, bool enabled,
			bool cache);
/* The mode of a workload's field: a block around each call, on the device that the run is on;
 * outside all blocks for no dtype of autocast. */
unsigned autocast_ambient(enum dtype dtype, bool on_gpu);
/* Outside all blocks. */
static inline unsigned autocast_none(unsigned mode)
{
	return mode & AUTOCAST_RUNS_CUDA;
}

/* The device whose blocks count. */
static inline enum autocast_device autocast_place(unsigned mode)
{
	return mode & AUTOCAST_RUNS_CUDA ? AUTOCAST_CUDA : AUTOCAST_CPU;
}

bool autocast_enabled(unsigned mode, enum autocast_device device);
enum dtype autocast_dtype(unsigned mode, enum autocast_device device);

static inline bool autocast_wants(unsigned mode)
{
	return (mode & (mode & AUTOCAST_RUNS_CUDA ? AUTOCAST_ON_CUDA : AUTOCAST_ON_CPU)) != 0;
}

struct autocast_call { /* of an op; all borrowed */
	enum op op;
	const struct value *values;
	int n;
};

/* The operands of an op as autocast gives them to it.  *any false: as they are, and
 * `cast` is not written; else cast[0..n) are the caller's, for autocast_drop(). */
bool autocast_values(struct autocast *a, unsigned mode, const struct autocast_call *call, bool *any,
		     struct value *cast, struct err *err);

static inline void autocast_drop(struct value *cast, int n)
{
	for (int i = 0; i < n; i++)
		value_unref(cast[i]);
}

/* Outside all blocks nothing is kept. */
void autocast_forget(struct autocast *a);
static inline void autocast_settle(struct autocast *a, unsigned mode)
{
	if (a->kept.len > 0 && mode < AUTOCAST_BLOCK)
		autocast_forget(a);
}

static inline void autocast_finish(struct autocast *a)
{
	autocast_forget(a);
	VEC_FREE(&a->kept);
}

#endif
