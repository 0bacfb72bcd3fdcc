/* fusion/tensor/view.h -- tensors that share memory.
 *
 * Running, a view is a struct tensor over its base's storage.  Capturing, it is
 * a tensor object that knows its BASE (a tensor object that has the elements)
 * and the STEPS that lead to it.  A write through either one goes to the base's
 * node; the other views are then out of date and are made again, from the base,
 * when they are read next.
 */
#ifndef FUSION_TENSOR_VIEW_H
#define FUSION_TENSOR_VIEW_H

#include "fusion/vm/value.h"
#include "fusion/graph/view.h"
#include "fusion/tensor/tensor.h"

/* Another tensor over the storage of `base`; `offset` counts from the start of
 * the storage.  NULL with MEMORY. */
struct tensor *tensor_view(struct tensor *base, int rank, const int64_t *size,
			   const int64_t *stride, int64_t offset, struct err *err);

/* The same memory with its dims at other places: what lay.h calls an order, of a tensor whose dims
 * lie so.  Takes over the reference; NULL with MEMORY. */
struct tensor *tensor_lay(struct tensor *t, uint32_t order, struct err *err);

/* Whether two elements are one in memory, as in an expanded tensor: those cannot
 * be written one by one. */
bool tensor_repeats(const struct tensor *t);

/* The run of its storage that a tensor lies in. */
struct tensor_extent {
	int64_t first, end;
};
struct tensor_extent tensor_extent(const struct tensor *t);

/* Whether some of their memory may be the same: the runs that they lie in meet. */
bool tensors_overlap(const struct tensor *a, const struct tensor *b);

/* How one that is written meets one that is read, as far as PyTorch can say: it asks only
 * where both take up all of the run that they lie in. */
enum meeting { MEET_NOT, MEET_IN_PART, MEET_AS_ONE };

enum meeting tensors_meet(const struct tensor *a, const struct tensor *b);

/* Whether it lies row by row and nothing lies after it in its storage: then
 * vectors may write past its end. */
static inline bool tensor_ends_storage(const struct tensor *t)
{
	int64_t end = t->offset + tensor_numel(t);

	return tensor_contiguous(t) && !t->storage->mapping &&
	       (size_t)end * dtype_bytes(t->dtype) >= t->storage->bytes;
}

/* A view of `base` as a capture described it, under these symbol values; the
 * layout is over the strides that the base's guards promise. */
struct tensor *view_replay(struct tensor *base, const struct view_layout *layout,
			   const int64_t *vars, struct err *err);

/* One step from a base to a view: an op and its arguments but the first. */
struct view_step {
	enum op op;
	struct arg args[MAX_ARGS];
};

/* What a capturing host keeps of a tensor object that is a view. */
struct traced_view {
	struct value base;        /* a reference; no view itself */
	struct value detached_of; /* the result of detach() that it is a view of, in turn: writes to
				     that one give it a gradient; a reference, or VALUE_UNSET */
	int made_at;              /* vtensor_writes() of the base when the view was made */
	int written;              /* vtensor_writes() of the base when the node was made */
	struct view_layout layout; /* in elements of the base, row by row */
	bool writable;             /* the layout is known */
	bool detached;             /* no gradient goes through one of the steps */
	bool part;                 /* one of the steps cut it off (OP_parts) */
	bool of_leaf;              /* one of the steps made a leaf, which the gradient goes to */
	int n_steps;
	struct view_step steps[];
};

/* A write of node `value` to the view of node `base` that `layout` describes. */
struct view_write {
	int base;
	const struct view_layout *layout;
	int value;
	int line, column; /* in the user's source; 0: nowhere */
};

/* What the base is after the write: a node of g, -1 with *err. */
int view_write(struct graph *g, const struct view_write *w, struct err *err);

#endif
