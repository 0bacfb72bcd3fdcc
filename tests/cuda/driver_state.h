/* tests/cuda/driver_state.h -- private to the stand-in driver: what its files share. */
#ifndef TESTS_CUDA_DRIVER_STATE_H
#define TESTS_CUDA_DRIVER_STATE_H

#include <cuda.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/cuda/driver.h"

void stand_in_stream(CUstream stream); /* something is asked for in this one; for blas.c too */

enum { MAX_PARAMS = 64, MAX_NODES = 64, LOG_BYTES = 1 << 20, MAX_GRAPHS = 4096 };

/* A kernel's function; only nvrtc.c's say how many parameters they have. */
struct function {
	struct function *next;
	char name[32];
	int n_params;
};

struct module {
	struct function *functions;
	const char *source; /* of the function's text; NULL: machine code */
};

struct launch {
	const struct function *function;
	unsigned grid[2], block[2];
	uint64_t param[MAX_PARAMS];
	struct graph *within; /* or another graph's launches */
	int index;            /* in its graph */
};

struct graph {
	int n;
	struct launch node[MAX_NODES];
};

struct stand_in {
	char log[LOG_BYTES];
	size_t log_len;
	char fault[16]; /* its kind; "": none */
	long at, left;  /* of the memory: in use, at most */
	CUresult code, sticky;
	int launches, kernels, graphs, waits, strays;
	CUstream stream;                                     /* the last that was made */
	size_t graph_from[MAX_GRAPHS], graph_to[MAX_GRAPHS]; /* their places in the log */
	struct graph *capture; /* what the stream is being captured into */
};

/* There is one driver in a process.  Not to be seen outside the library. */
#pragma GCC visibility push(hidden)
extern struct stand_in state;

bool ordered(const char *kind); /* a fault of this kind */
CUresult describe(struct launch *l, const CUDA_KERNEL_NODE_PARAMS *p);

/* Runs it, or writes it down where the stream is captured. */
CUresult run(const struct launch *l);
#pragma GCC visibility pop

#endif
