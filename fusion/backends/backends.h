/* fusion/backends/backends.h -- what turns a tile program into running code.
 *
 * A backend is a row in backends.c: interp (always there, compiles nothing),
 * cpu (C through the system compiler, cached on disk) and cuda (CUDA C through
 * NVRTC, likewise).  compile/ allocates buffers, of the backend's memory where it has
 * one of its own, and calls launch(); a backend never allocates tensors.
 */
#ifndef FUSION_BACKENDS_BACKENDS_H
#define FUSION_BACKENDS_BACKENDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/backends/memory/memory.h"
#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "fusion/base/pool.h"
#include "fusion/device.h"
#include "fusion/lower/lower.h"

struct blas;
struct kernel_builder;
struct device; /* private to its backend */
struct fence;
struct generators;

/* What a backend may use; borrowed, immutable while executables live. */
struct backend_env {
	const char *cache_dir;          /* NULL: no cache on disk */
	size_t cache_bytes;             /* of it; 0: 256 MiB */
	bool cache_rebuild;             /* kernels are compiled even where it has them */
	enum autotune autotune;         /* of kernels on a device */
	const char *compiler;           /* path of the system compiler; NULL: find one on PATH */
	struct kernel_builder *builder; /* who runs it, once started; NULL: this process */
	int compile_timeout_ms;         /* 0: 300 s; it ends what hangs, not what is slow */
	struct generators *random;      /* of all executables; NULL: the same numbers each time */
	const char *vector_unit;        /* one that this machine has; NULL: the best */
	struct blas *blas;     /* backend_blas_create(); NULL: our own products of matrices */
	struct device *device; /* of backend->open(); NULL: kernels run on the host */
	/* Memory is watched (memory.h): no store goes beyond the last element, not even into
	 * the slack that launch() speaks of.  NULL: it is not. */
	struct fence *fence;
	const struct backend *backend; /* the one that is called; the functions below set it */
};

struct executable; /* private to each backend; immutable but for launch state */
struct recording;  /* likewise */

struct compile_stats {
	int kernels_built; /* 0 where all came from the cache */
	bool cached;
	int64_t compile_ns; /* wall time of the whole step */
	const char *source; /* generated C, owned by the executable; NULL: none */
	const char *note;   /* what is wrong with the cache on disk, owned alike; NULL */
};

struct backend {
	const char *name;
	const char *purpose; /* one line for people */
	bool one_by_one;     /* wants a kernel for each node */
	bool on_device;      /* its kernels run elsewhere than here: see open() */
	const void *data;    /* a plugin's own */

	/* Whether it works on this machine; if not, `why` gets one line. */
	bool (*available)(const struct backend_env *env, char *why, size_t why_bytes);

	/* Of one that works: the i-th part that is not installed here and what is done
	 * without it, one line; NULL: there are no more.  The member NULL: it has no parts. */
	const char *(*lacks)(int i);

	/* Of backends whose kernels run elsewhere (NULL of others): what executables of
	 * an engine share, and the memory that buffers are to be in.  open(): NULL with
	 * what is missing. */
	struct device *(*open)(struct err *err);
	void (*close)(struct device *device); /* NULL is fine; after all executables */
	const struct device_memory *(*memory)(struct device *device);
	/* Kernels of its own, no library's, that it has launched there so far; NULL: it
	 * does not count. */
	int64_t (*launches)(const struct device *device);

	/* How many threads PyTorch starts at most where it draws random numbers there. */
	int64_t (*draw_threads)(const struct device *device);

	/* Gives the device n things to do that are nothing, and waits for them: see
	 * fusion_launch_nothing().  NULL: kernels run on the host. */
	bool (*launch_nothing)(struct device *device, int n);

	/* NULL: it does not say. */
	struct device_order (*order)(const struct device *device);

	/* Whether it makes a kernel for the node, of a graph as it was captured
	 * (composites whole).  If not: *by_type where the op would do with another
	 * dtype, and perhaps *why, static.  NULL: it takes all. */
	bool (*can_lower)(const struct backend *self, const struct graph *g, const struct node *n,
			  bool *by_type, const char **why);

	/* Of backends whose kernels run elsewhere: whether the node, of a graph that the
	 * passes have been over, is computed by the host all the same, between copies of
	 * its operands and its result.  NULL: none is. */
	bool (*on_host)(const struct graph *g, const struct node *n);

	/* Whether it has the calls of pass pattern_match (attention, biased); NULL: it has not. */
	bool (*has_calls)(const struct device *device);

	/* `l`, its graph and its arena must outlive the executable.  NULL with
	 * COMPILER, UNSUPPORTED or MEMORY. */
	struct executable *(*compile)(const struct backend_env *env, const struct lowered *l,
				      struct compile_stats *stats, struct err *err);

	/* Computes what depends on the symbols (extents, strides) once; must be
	 * called before the first launch and again when the symbols change.
	 * `vars` has sym_var_count() entries, copied.  False: out of memory. */
	bool (*bind)(struct executable *exe, const int64_t *vars, struct err *err);

	/* Runs one kernel, or has it run in the order of the calls (memory().wait()
	 * waits).  buffers[i] is the memory of lowered->buffers[i], 64-byte
	 * aligned or a view into such memory, with 64 bytes of slack past its end:
	 * vectors read and write there (a BUFFER_CONST is not touched, NULL will
	 * do).  Never fails: all that can fail was done in compile and bind.
	 * `backward` is a hint to begin at the end, where the kernel before has left
	 * its last writes in the cache; the results are the same bits. */
	void (*launch)(struct executable *exe, int kernel, void *const *buffers, struct pool *pool,
		       bool backward);

	/* Whether the launches since the last call of it stayed within bounds that
	 * only their data decides, such as those of an index; VALUE otherwise, with
	 * the place. */
	bool (*fault)(struct executable *exe, struct err *err);

	void (*destroy)(struct executable *exe); /* NULL is fine */

	/* RECORDING: the launches of a bound executable as one thing, that is replayed
	 * with the memory it was given: nothing is looked up again.  All are NULL where
	 * the backend cannot; launch() then serves. */

	/* `buffers` as for launch(), copied; NULL where point() gives them before the first
	 * replay.  Good until the executable is bound again, and to be erased before it
	 * is destroyed.  NULL with MEMORY or UNSUPPORTED. */
	struct recording *(*record)(struct executable *exe, void *const *buffers, struct err *err);

	/* lowered->buffers[buffer] lies elsewhere from the next replay on. */
	void (*point)(struct recording *r, int buffer, void *memory);

	/* All launches in order, each in the other direction than the one before; or, for
	 * an observer, the one of `kernel` (-1: all).  The same results as those
	 * of launch(), to the bit; fault() reports on it likewise. */
	void (*replay)(struct recording *r, int kernel, struct pool *pool, bool backward);

	/* Readies a replay() of all.  True where that is one launch, a CUDA graph: into
	 * counts[kernel] then how many of its nodes do something on the device (kernels,
	 * copies and sets) for this kernel; they run in the order of the kernels.  NULL of
	 * backends that have no such thing. */
	bool (*whole)(struct recording *r, int *counts);

	/* Why replay() launches kernel by kernel (a CUDA graph cannot
	 * be made), owned by the recording and known once it was replayed; NULL: it does
	 * not.  NULL of backends that have nothing else. */
	const char *(*why_direct)(const struct recording *r);

	void (*erase)(struct recording *r); /* NULL is fine */

	/* What a kernel of a bound executable takes of the device; false where it is no
	 * generated one.  NULL: there is no device. */
	bool (*use)(struct executable *exe, int kernel, struct kernel_use *out);
};

/* backend->available() and ->compile(), with env->backend set. */
bool backend_available(const struct backend *backend, const struct backend_env *env, char *why,
		       size_t why_bytes);
struct executable *backend_compile(const struct backend *backend, const struct backend_env *env,
				   const struct lowered *l, struct compile_stats *stats,
				   struct err *err);

/* By name ("interp", "cpu"); NULL if unknown. */
const struct backend *backend_find(const char *name);

/* The table, for listing. */
const struct backend *backend_at(int index); /* NULL past the last */

/* OpenBLAS for the products of an engine, found when one is first wanted (see
 * gemm.h).  NULL when out of memory; destroyed after all executables. */
struct blas *backend_blas_create(void);
void backend_blas_destroy(struct blas *b); /* NULL is fine */

/* One line: its version, or why it is not used.  Looks for it. */
const char *backend_blas_note(struct blas *b);

/* The vector unit that kernels use here: "avx512", "avx2" or "sse". */
const char *backend_vector_unit(void);

/* ---- host/builder.c: a process that compiles kernels for this one ---- */

struct kernel_builder_options {
	const char *cache_dir; /* NULL: no cache; borrowed */
	size_t cache_bytes;
	void (*confine)(void *self); /* called in it first; NULL: nothing is */
	void *self;
};

struct kernel_builder *
kernel_builder_create(void); /* not started: this process compiles; NULL: no memory */
bool kernel_builder_start(struct kernel_builder *b, const struct kernel_builder_options *start,
			  struct err *err);            /* IO */
void kernel_builder_destroy(struct kernel_builder *b); /* and ends it; NULL is fine */

#endif
