/* fusion/backends/cuda/library/args.h -- the arguments of kernels of ops with a function of their
 * own: read by C, and pasted in front of library.cu for NVRTC.
 */
#ifndef FUSION_BACKENDS_CUDA_LIBRARY_ARGS_H
#define FUSION_BACKENDS_CUDA_LIBRARY_ARGS_H

enum {
	ARGS_RANK = 8,
	ARGS_WALKED = 5,
	ARGS_THREADS = 256,  /* of a block where points are strode over */
	SCAN_ITEMS = 4,      /* that lie side by side, of a thread */
	LOOKUP_STEPS = 4,    /* points of a thread whose loads are under way at once */
	ADD_LINES = 4,       /* scatter_add: of a block, a warp each, */
	ADD_STAGE = 128,     /* and so many elements of each at a time, */
	ADD_PARTS = 8,       /* in so many parts of a line at most, which come together in order; */
	ADD_MANY = 512,      /* of so many places 32 are often all different */
	NEAR_THREADS = 1024, /* scatter_add in any order: of a block that holds its lines' sums, */
	NEAR_STEPS = 4,      /* and elements of a thread that are under way at once */
	ROWS_WARPS = 8,      /* sums of whole rows: of a block, a place each, */
	ROWS_LANES = 4,      /* so many elements of a row for each thread at a time; */
	ROWS_FEW = 256,      /* rows of one place that a warp puts in order, */
	ROWS_MANY = 4096,    /* and that a block does; more are looked for one after another */
	SORT_WARPS = 2,      /* of a block, a short line each */
	SORT_SHORT = 1024,   /* elements of a line that a warp sorts */
	SORT_RADIX = 256,    /* digits, and threads of a block that sorts a tile by them */
	SORT_ITEMS = 8,      /* of a tile, a thread */
	SORT_TILE = SORT_RADIX * SORT_ITEMS,
	SORT_LOOKS = 8,     /* tiles before it that a tile looks at together */
	SORT_CHUNK = 4,     /* tiles whose digits a block counts */
	SORT_OWN = 1,       /* what a tile says: how many it has of a digit, times 4, */
	SORT_UP_TO = 2,     /* or how many there are up to its end */
	TOP_THREADS = 1024, /* of the block that chooses a few of a line, */
	TOP_ROOM = 4096,    /* and has room for so many */
	LOSS_THREADS = 512, /* of a block that adds up losses, each of which has so many */
	LOSS_POINTS = 4 * LOSS_THREADS,
	DEPTHWISE_THREADS = 128,
	POOL_ROWS = 4, /* windows of a thread, one below the other, where there are many */
	ATTEND_THREADS = 128,
	ATTEND_KEYS = 64,  /* that a block looks at together */
	ATTEND_PARTS = 64, /* of the keys, at most */
};

/* An index out of bounds, noted in memory that the host sees: the first one counts, and
 * is all there once it is `raised`. */
struct cuda_fault {
	int raised, claimed;
	const void *call; /* the host's library_call */
	long long index, size;
};

/* A space, and the offsets of operands in elements along it. */
struct walk_args {
	int rank;
	long long points;
	long long size[ARGS_RANK], stride[ARGS_WALKED][ARGS_RANK];
};

/* library.h: 0 the source, 1 the target, 2.. the indices. */
struct lookup_args {
	struct walk_args walk;
	long long least[3];           /* that indices may be; below 0: counts from the end */
	long long size[3], stride[3]; /* of the dims that they name */
	const void *from, *index[3];  /* from NULL: `bits` at each point */
	void *to;
	struct cuda_fault *fault;
	unsigned *winner; /* for each place of the target: 1 + the last point that names it (NULL:
			   * no two name one); of sums of whole rows: struct row_lists */
	int fresh;        /* claims: what is named has no winner yet */
	long long bits;
	long long length, along[3]; /* scatter_add: of a line, and its steps (source, -, index) */
	const void *call;           /* of a fault */
	/* Where all offsets and points are below 2^31: division by a size is a product, and
	 * a shift. */
	int near, shift[ARGS_RANK];
	unsigned magic[ARGS_RANK];
	const void *base; /* scatter_add: what is added to; lies as the target does */
	int parts;        /* of its lines */
	int lines;        /* in any order: of a block */
	int across;       /* its lines lie side by side */
	int tiles;        /* sums of whole rows: parts of a row that have warps of their own; */
	int team;         /* of rows that lie together, lanes of a warp that share one */
};

/* Lines along one dim: where each begins in the operand, and how it goes on. */
struct line_args {
	struct walk_args walk;   /* a point is a line */
	long long length, taken; /* of the operand, of the result */
	long long inner;         /* elements from one to the next in the result */
	int rank;                /* of what a line walks */
	long long size[ARGS_RANK], stride[ARGS_RANK];
	const void *in;
	void *out;
	int descending;
	long long tiles; /* of a line: argmax, sorting long lines */
	/* argmax: keys and places that tiles have found.  Sorting: keys, of up to 4 bytes
	 * with their places after them; how often each digit is in each line; what tiles
	 * say, by pass; tiles begun, by pass. */
	unsigned long long *keys[2];
	unsigned *places[2], *counts, *said, *tickets;
	int digit; /* the pass: 0 is the lowest */
};

/* Windows over the last two dims: [0] down, [1] across. */
struct window_args {
	struct walk_args planes;
	long long in_size[2], in_stride[2], out_size[2];
	long long kernel[2], stride[2], padding[2], dilation[2]; /* kernel 0: adaptive */
	int all;                                                 /* avg_pool2d: padding counts */
	int near; /* offsets and points are below 2^31; 2: and there are many (not where channels
		     lie last) */
	const void *in;
	void *out;
};

struct conv_args {
	long long batch, channels, groups, out_channels; /* channels: of a group */
	long long in_size[2], out_size[2], kernel[2], stride[2], padding[2], dilation[2];
	long long x_stride[4], w_stride[4], y_stride[4];
	const void *x, *w, *y; /* y: of gradients, that of the windows */
	void *out, *packed;    /* packed: the filters row by row, for cuDNN */
};

struct create_args {
	struct walk_args rows; /* tril, triu: of the operand, but for its last dim */
	long long points, columns, height, step, diagonal;
	int exact; /* arange: start and step are ints */
	double start, by, end;
	long long start_int, by_int;
	const void *in;
	void *out;
};

/* Sums of products: the dims of the result (0, 1: operands, 2: result), and those summed. */
enum { SUM_DIMS = 16 };
struct sum_args {
	int rank, summed;
	long long points, terms;
	long long size[SUM_DIMS], stride[3][SUM_DIMS];
	long long sum_size[SUM_DIMS], sum_stride[2][SUM_DIMS];
	const void *a, *b; /* b NULL: sums of a */
	void *out;
};

/* An operand of attention: its matrices' rows and columns. */
struct attention_operand {
	const void *at;
	long long row, column;
};
struct attention_args {
	struct walk_args batch; /* 0: q, 1: k, 2: v, 3: mask, 4: the result */
	struct attention_operand q, k, v, out;
	const void *mask;
	long long mask_row, mask_column, rows, keys;
	unsigned tiles; /* of rows, of each matrix */
	int wide;       /* all rows are multiples of 16 bytes apart, and begin at such */
	float scale, fill;
	/* Keys in parts of `span`, each with a block: what they leave, and how many have. */
	unsigned parts;
	long long span;
	float *left;
	unsigned *arrived;
};

/* Its gradients: `a` has q, k, v and the mask; its result is that of q, then of k, then of v, row
 * by row without gaps. */
struct attention_back_args {
	struct attention_args a;
	struct walk_args more;         /* of the matrices of a.batch; 0: g, 1: o */
	struct attention_operand g, o; /* the gradient of attention's result, and the result */
	float *shift, *slope;          /* a number for each row of each matrix (attention.cu) */
	unsigned key_tiles;            /* of each matrix */
	int out_wide;                  /* the result has rows of multiples of 16 bytes */
};

struct loss_args {
	struct walk_args targets; /* 0: scores of class 0, 1: target, 2: base, 3: even */
	long long classes, step, weight_step, ignored;
	double share;
	int reduction;    /* 'n', 's' or 'm' */
	const void *call; /* of a fault */
	const void *scores, *weight, *base, *even;
	const long long *target;
	void *out;
	struct cuda_fault *fault;
	double *left; /* of several blocks: two sums of each, and how many have left them */
	unsigned *arrived;
};

/* Numbers of PyTorch's generator of a GPU (backends/library/library.h): `calls` of Philox, each by
 * one of `threads` of a grid, give `values` of 32 bits or half as many of 64. */
enum draw_how {
	DRAW_UNIT,
	DRAW_OPEN,
	DRAW_LOG,
	DRAW_CAUCHY,
	DRAW_GEOMETRIC,
	DRAW_NORMAL,
	DRAW_EXP,
	DRAW_INTS,
	DRAW_KEEP,
	DRAW_DROP
};

struct draw_args {
	long long points, calls, threads;
	long long row, pitch; /* a number for each thread, `pitch` of them for `row` numbers; 0 */
	int side;             /* elements side by side of a thread; 0: `threads` apart */
	enum draw_how how;
	int wide;          /* of 64 bits */
	double a, b;       /* value = a + b * number; KEEP: b where the number is below a,
			    * DROP: times an element of x;
			    * GEOMETRIC: of probability a */
	double start, end; /* UNIT: a value that is rounded up to the end is the start */
	long long low;     /* INTS: low + word % range */
	unsigned long long range;
	unsigned long long key, first; /* the seed, and the counter that the grid begins with */
	void *out;
	const void *x; /* DROP: as many elements as `out`, which may be these */
};

#endif
