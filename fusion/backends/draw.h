/* fusion/backends/draw.h -- which numbers PyTorch's kernels draw on a GPU.  Private to
 * backends/.
 *
 * Each thread of a grid has a counter of Philox.  Where an element's number comes from
 * depends on how many threads PyTorch starts, so on the GPU, and on the kernel.  `draws`:
 *	gpu      its distributions: numbers of a thread lie as many elements apart as there are
 *	         threads; ints are of 64 bits where their range is 2^28 or more
 *	narrow, wide   likewise, ints of 32 and 64 bits
 *	open     a number itself, above 0 and up to 1
 *	log      its logarithm
 *	cauchy, geometric   of median a and scale b; of probability a
 *	exp      of a normal number, e to its power
 *	line     a number itself, one after the other of the first thread: a dropout within
 *	         PyTorch's memory-efficient attention
 *	fours    four side by side of a thread: bernoulli() of a tensor
 *	rows     one of a thread, and so many threads for a row: multinomial()
 * and OP_keep's, as many side by side as a dropout's kernel loads at once.
 */
#ifndef FUSION_BACKENDS_DRAW_H
#define FUSION_BACKENDS_DRAW_H

#include "fusion/backends/cuda/args.h"
#include "fusion/backends/library.h"

struct draw {
	struct draw_args args;
	uint64_t taken; /* the generator's offset moves on by so many */
};

/* What is made of a number, by an op's name for it (NULL: it has none). */
enum draw_how draw_how(enum op op, const char *draws);
/* Whether numbers have 32 bits, whatever the dtype. */
bool draw_alone(const char *draws);

/* Whether a call draws from the GPU's generator. */
bool draw_on_gpu(const struct library_call *call);

/* For such a call, but of OP_permutation; sizes are bound. */
void draw_plan(const struct library_call *call, struct draw *d);

/* Before the numbers of one run are made: takes them from the generator. */
void draw_take(struct draw *d, struct generators *g, void *out);

/* On the host: what the kernel does. */
void draw_run(const struct draw_args *a, enum dtype dtype);
void draw_permutation(struct generators *g, enum dtype dtype, void *out, int64_t n);

#endif
