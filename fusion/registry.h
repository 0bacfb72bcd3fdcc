/* fusion/registry.h -- what an engine has: ops, passes, backends, and plugins that add some.
 *
 * main makes one, loads the plugins that the command line names, and passes it
 * down; from then on it is immutable and may be shared by threads.  It must
 * outlive every engine, program and workload that was given it.  Wherever one is asked for,
 * NULL is what is built in.  Strings live as long as the registry.
 */
#ifndef FUSION_REGISTRY_H
#define FUSION_REGISTRY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/dtype.h"

struct buf; /* fusion/base/buf.h */
struct err; /* fusion/base/err.h */
struct registry;

struct registry *registry_create(struct err *err);
void registry_destroy(struct registry *r); /* NULL is fine */

/* ---- plugins ---- */

enum { REGISTRY_MAX_PLUGINS = 16 };

/* Loads a plugin (fusion/plugin.h) and takes in what it adds.  PLUGIN, naming the
 * file and what was wrong; the registry is then as it was.  Only before it is
 * handed to anyone. */
bool registry_load(struct registry *r, const char *file, struct err *err);

/* The plugins, by their absolute paths; NULL past the last. */
const char *registry_plugin_path(const struct registry *r, int index);

/* ---- the process that compiles ----
 *
 * Starts one that runs the C compiler and writes the kernel cache for all engines that are given
 * `r`, in place of this process, which may then give up its rights to do so (but must be able to
 * read the cache, or the temporary folder where there is none).  `confine(self)` is called in it
 * first, where it is not NULL.  Before this process has threads; it ends with it.  IO. */
bool registry_builder_start(const struct registry *r, const char *cache_dir,
			    void (*confine)(void *self), void *self, struct err *err);

/* ---- backends: ours first ---- */

struct fusion_backend {
	const char *name, *purpose; /* NULL past the last */
	const char *plugin;         /* whose it is; NULL: ours */
	bool on_device;             /* its kernels run elsewhere than here */
	bool opens_device;          /* and this program was built with what that takes */
};
struct fusion_backend fusion_backend(const struct registry *r, int index);
int fusion_backend_find(const struct registry *r, const char *name);    /* its index; -1 */
void registry_backend_names(const struct registry *r, struct buf *out); /* "interp, cpu" */

/* Whether it works on this machine; if not, `why` gets one line. */
bool fusion_backend_works(const struct registry *r, int index, char *why, size_t why_bytes);

/* Of one that works: part i that is not installed here and what is done without it, one
 * line; NULL: there are no more. */
const char *fusion_backend_lacks(const struct registry *r, int index, int i);

/* ---- passes, in their order ---- */

struct fusion_pass {
	const char *name;              /* "cse"; NULL past the last */
	const char *purpose;           /* one line for people */
	unsigned needs, makes, breaks; /* bit i: fusion_pass_property(i) */
	const char *after;             /* names of passes, by blanks: they come before it; NULL */
	const char *plugin;            /* whose it is; NULL: ours */
	bool required;                 /* others need what it makes */
};
struct fusion_pass fusion_pass(const struct registry *r, int index);

/* What may hold of a graph. */
struct fusion_pass_property {
	const char *name; /* "primitive"; NULL past the last */
	const char *text; /* "no op that is made of others is left" */
};
struct fusion_pass_property fusion_pass_property(int index);

/* Sets the bit of the pass `name`.  NAME, with the nearest, or PASS_ORDER for one
 * that others need. */
bool fusion_pass_disable(const struct registry *r, const char *name, uint64_t *disabled,
			 struct err *err);

/* Whether the order satisfies every need, that of the lowering too, where the
 * passes of `disabled` are left out.  PASS_ORDER names both passes and the
 * property. */
bool fusion_passes_check(const struct registry *r, uint64_t disabled, struct err *err);

/* ---- ops: those of ops.def, then those of plugins ---- */

struct fusion_op {
	const char *name, *fx;    /* "truediv"; the target name of FX; NULL past the last */
	const char *kind;         /* "pointwise", "reduction", ... */
	const char *signature;    /* "Tensor x, int[]? dim=None, bool keepdim=False" */
	const char *spellings;    /* "torch.sum Tensor.sum op:+", by blanks */
	const char *doc;          /* one line */
	const char *result;       /* the dtype of its result, in words */
	bool has_gradient;        /* a rule in vm/prelude/grads*.py */
	const char *autocast_cpu; /* "lower", "float32", "promote", "banned", "none" */
	const char *autocast_cuda;
	const char *plugin; /* whose it is; NULL: ours */
	bool listed;        /* a program can spell it: else it is of graphs alone */
};
struct fusion_op fusion_op(const struct registry *r, int index);

/* Whether the backend makes kernels of the op for tensors of the dtype; of one whose kernels
 * run on a device, whether the host computes it, or a part of what it is made of, all the
 * same.  Asked of the backend, with a node as a capture would make it of small tensors. */
enum fusion_lowered { FUSION_NOT_LOWERED, FUSION_LOWERED, FUSION_ON_HOST };
enum fusion_lowered fusion_op_lowered(const struct registry *r, int op, int backend,
				      enum dtype dtype);

/* Whether an op has this name: its own, one that graphs give it ("multiply"), or a spelling,
 * with its module or without ("torch.sum", "sum", "+"). */
bool fusion_op_known(const struct registry *r, const char *name);

/* Calls back for each name that programs find in a module: "torch.nn", "math"; "torch.Tensor": what
 * tensors have.  In no order, some more than once; of no such module none. */
void fusion_each_name(const char *module, void (*each)(void *self, const char *name), void *self);

/* The spelling of an op nearest to this one ("torch.sinn"); NULL: none is near.  Static. */
const char *fusion_op_nearest(const char *spelling);

#endif
