/* fusion/plugin.h -- the interface for plugins, and the only header that one needs.
 *
 * A plugin is a shared object that adds passes, ops and backends to the engine:
 *
 *	#include "plugin.h"
 *	static bool load(const struct be_host *host, struct be_registry *registry)
 *	{
 *		return host->add_pass(registry, &my_pass);
 *	}
 *	BE_PLUGIN(load)
 *
 *	cc -shared -fPIC -o mine.so mine.c
 *	breakeven run model.json --plugin ./mine.so
 *
 * It links against nothing of Breakeven: what it may call comes as a table of functions.
 * It is loaded when the process starts, from the command line alone; a server hands
 * the flag on to its workers.  A plugin is code that you trust: it runs within the
 * process, with all that this may do.  Where it crashes a worker, the run fails and
 * the server goes on.
 *
 * VERSION.  Exact: a plugin that was built for another BE_PLUGIN_VERSION is refused
 * when it is loaded.  Within a version members are only added at the end of struct
 * be_host, whose `bytes` says how many there are.
 *
 * THREADS.  load() runs once, on the main thread.  All other callbacks come from the
 * thread that uses the engine, one at a time for an engine; a process may have
 * several engines, so what `self` points to must not be changed without a lock.
 * Functions of the host are called within a callback alone, with what it was given.
 *
 * OWNERSHIP.  Structures that are registered, their strings and `self` must live
 * as long as the process (static storage).  What a callback is given is borrowed
 * until it returns.
 *
 * ERRORS.  A callback never prints and never ends the process.  What it reports as
 * failed ends the compilation with its words and the plugin's name.
 */
#ifndef FUSION_PLUGIN_H
#define FUSION_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BE_PLUGIN_VERSION 1

enum { BE_MAX_RANK = 8, BE_MAX_ARGS = 7 };

enum be_dtype {
	BE_BOOL, /* one byte, 0 or 1 */
	BE_UINT8,
	BE_INT8,
	BE_INT16,
	BE_INT32,
	BE_INT64,
	BE_FLOAT16,  /* IEEE binary16, as uint16_t */
	BE_BFLOAT16, /* the upper half of a float32, as uint16_t */
	BE_FLOAT32,
	BE_FLOAT64,
};

struct be_host;     /* what may be called: below */
struct be_registry; /* while load() runs */
struct be_graph;    /* a graph that may be read */
struct be_rewrite;  /* a graph that is being made */

/* ---- arguments and nodes */

enum be_arg_kind {
	BE_ARG_NONE,  /* left out */
	BE_ARG_NODE,  /* .node: a tensor */
	BE_ARG_INT,   /* .i */
	BE_ARG_FLOAT, /* .f */
	BE_ARG_TRUTH, /* .i: 0 or 1 */
	BE_ARG_OTHER, /* dims, a symbolic size, a dtype, a text: to be handed on as it is */
};

struct be_arg {
	enum be_arg_kind kind;
	int node;
	int64_t i;
	double f;
	const void *other; /* BE_ARG_OTHER; valid within the callback */
};

/* ---- passes */

enum {
	BE_THIS = -1,   /* as a node: the one that is visited; all others are ids */
	BE_KEEP = -2,   /* the node stays */
	BE_FAILED = -3, /* the compilation ends; fail() may have said why */
};

/* Visits the nodes of a graph in order: arguments before uses, each already what
 * earlier visits made of it. */
struct be_pass {
	const char *name;    /* "fold_pairs": an identifier that no other pass has */
	const char *purpose; /* one line for people */

	/* Properties of the graph, by blanks, of those that `breakeven passes` shows:
	 * what must hold before, what holds after it in any case, what may not hold
	 * any more.  NULL: none.  What it does not say it breaks is checked. */
	const char *needs, *makes, *breaks;

	/* Where it runs: before the pass of this name, or right after it. */
	const char *place;
	bool after;

	/* BE_KEEP; or the id of the node, made now or before, that replaces this one:
	 * of the same dtype and shape.  The graph that comes out is
	 * verified, and what is wrong is said with the name of the pass. */
	int (*visit)(const struct be_host *host, struct be_rewrite *rw, const struct be_graph *g,
		     void *self);
	void *self;
};

/* ---- ops */

enum be_dtype_rule {
	BE_RESULT_SAME,  /* the promoted dtype of the operands */
	BE_RESULT_FLOAT, /* that, float32 where it is no floating point type */
	BE_RESULT_BOOL,
};

enum be_shape_rule {
	BE_SHAPE_FIRST,     /* that of the first operand */
	BE_SHAPE_BROADCAST, /* all operands, broadcast */
	BE_SHAPE_SCALAR,    /* no dims */
};

/* A tensor's memory.  Strides are in elements, 0 where it broadcasts. */
struct be_tensor {
	enum be_dtype dtype;
	int rank;
	int64_t size[BE_MAX_RANK], stride[BE_MAX_RANK];
	void *data;
};

/* An operand of what is computed: a tensor, or a number. */
struct be_operand {
	bool is_tensor;
	struct be_tensor tensor;
	double f;  /* the number */
	int64_t i; /* the same as an int, where it is one */
};

struct be_op {
	const char *name; /* "softclip": as reports show it; an identifier */

	/* How programs spell it, by blanks: "torch.ops.demo.softclip Tensor.softclip".
	 * None may be taken. */
	const char *spellings;

	/* As in ops.def, with the types Tensor, Tensor|Scalar, Scalar, float, int and
	 * bool: "Tensor x, float limit=1.0".  At most BE_MAX_ARGS, a tensor first. */
	const char *signature;
	const char *doc; /* one line */
	enum be_dtype_rule dtype;
	enum be_shape_rule shape;

	/* One of the two.  expand: writes the op as others, and gives the id of the
	 * node with its value (of that dtype and shape), or BE_FAILED; it then fuses
	 * and runs on every backend.  args[i] is parameter i. */
	int (*expand)(const struct be_host *host, struct be_rewrite *rw, const struct be_arg *args,
		      int n, void *self);

	/* compute: fills `result`, whose elements lie row by row.  Operands have been
	 * checked by the signature, not converted.  It cannot fail. */
	void (*compute)(const struct be_operand *operands, int n, const struct be_tensor *result,
			void *self);
	void *self;

	/* There are no gradients of plugins' ops in this version: an operand that
	 * requires one is an error at the line of the call. */
};

/* ---- backends */

/* A node to be run: after the passes, so of no op that is made of others. */
struct be_step {
	const char *op; /* id of ops.def: "add", "sum" */
	int n;
	struct be_operand operands[BE_MAX_ARGS + 1];
	struct be_tensor result; /* row by row */
	unsigned reduced;        /* a reduction: bit d for dim d of the first operand */
};

/* What a node is, for the question whether it can be run. */
struct be_question {
	const char *op;
	enum be_dtype result;  /* dtype */
	enum be_dtype compute; /* that operands are converted to first */
	int n;
	enum be_dtype operands[BE_MAX_ARGS + 1]; /* of tensors; of numbers: compute */
};

/* Runs graphs node by node.  Views are strides of operands; copies and fills are
 * done by the engine.  What a backend does not take is run by the interpreter
 * between two of its pieces, and is reported as a break of stage lowering. */
struct be_backend {
	const char *name;    /* "loops": for --backend and the field `backend` */
	const char *purpose; /* one line for people */

	/* Whether it works on this machine; if not, one line in `why`.  NULL: it does. */
	bool (*available)(char *why, size_t why_bytes, void *self);

	/* Whether it runs such a node; an op that is made of others is asked by its
	 * parts.  If not, *why may be one static line. */
	bool (*takes)(const struct be_question *question, const char **why, void *self);

	/* Runs one.  It cannot fail: what can was to be refused above. */
	void (*run)(const struct be_step *step, void *self);
	void *self;
};

/* ---- what a plugin may call */

struct be_host {
	uint32_t version; /* BE_PLUGIN_VERSION of the engine */
	size_t bytes;     /* sizeof(struct be_host) there */

	/* In load().  False: refused; hand that on, error() has said why. */
	bool (*add_pass)(struct be_registry *registry, const struct be_pass *pass);
	bool (*add_op)(struct be_registry *registry, const struct be_op *op);
	bool (*add_backend)(struct be_registry *registry, const struct be_backend *backend);

	/* Why load() is about to return false, in the plugin's words. */
	void (*error)(struct be_registry *registry, const char *message);

	/* Reading.  `node` is an id from 0 to node_count() - 1, or BE_THIS in a visit.
	 * Strings live as long as the callback. */
	int (*node_count)(const struct be_graph *g);
	const char *(*node_op)(const struct be_graph *g, int node);   /* "add" */
	const char *(*node_name)(const struct be_graph *g, int node); /* "add_1" */
	int (*node_line)(const struct be_graph *g, int node);         /* 0: nowhere */
	enum be_dtype (*node_dtype)(const struct be_graph *g, int node);
	int (*node_rank)(const struct be_graph *g, int node);
	/* False where the size is symbolic. */
	bool (*node_size)(const struct be_graph *g, int node, int dim, int64_t *size);
	int (*arg_count)(const struct be_graph *g, int node);
	struct be_arg (*arg)(const struct be_graph *g, int node, int index);
	/* The elements of a constant, row by row; NULL of any other node. */
	const void *(*node_data)(const struct be_graph *g, int node);

	/* Making.  A call of an op, by its id ("mul") or a plugin's name, with arguments
	 * in the order of its signature: the id of the new node, or BE_FAILED, which is
	 * to be returned.  It gets the line of the node that is visited or expanded. */
	int (*make)(struct be_rewrite *rw, const char *op, const struct be_arg *args, int n);
	/* A tensor of these elements (copied). */
	int (*make_constant)(struct be_rewrite *rw, enum be_dtype dtype, int rank,
			     const int64_t *size, const void *data);
	/* The graph so far, for reading what was made. */
	const struct be_graph *(*made)(struct be_rewrite *rw);
	/* Notes for who watches that a rule is applied to the visited node. */
	void (*fired)(struct be_rewrite *rw, const char *rule);
	/* Why BE_FAILED is about to be returned. */
	void (*fail)(struct be_rewrite *rw, const char *message);
};

/* What a plugin exports: the version, and the function that adds what it has. */
#if defined(__GNUC__)
#define BE_EXPORT __attribute__((visibility("default")))
#else
#define BE_EXPORT
#endif

typedef bool be_load_fn(const struct be_host *host, struct be_registry *registry);

#ifdef __cplusplus
#define BE_SYMBOL extern "C" BE_EXPORT
#else
#define BE_SYMBOL extern BE_EXPORT
#endif

#define BE_PLUGIN(load)                                                                            \
	BE_SYMBOL const uint32_t breakeven_plugin_version;                                         \
	const uint32_t breakeven_plugin_version = BE_PLUGIN_VERSION;                               \
	BE_SYMBOL bool breakeven_plugin_load(const struct be_host *host,                           \
					     struct be_registry *registry);                        \
	bool breakeven_plugin_load(const struct be_host *host, struct be_registry *registry)       \
	{                                                                                          \
		return load(host, registry);                                                       \
	}

static inline struct be_arg be_node(int node)
{
	struct be_arg arg = { BE_ARG_NODE, 0, 0, 0, NULL };

	arg.node = node;
	return arg;
}

static inline struct be_arg be_float(double f)
{
	struct be_arg arg = { BE_ARG_FLOAT, 0, 0, 0, NULL };

	arg.f = f;
	return arg;
}

static inline struct be_arg be_int(int64_t i)
{
	struct be_arg arg = { BE_ARG_INT, 0, 0, 0, NULL };

	arg.i = i;
	return arg;
}

#ifdef __cplusplus
}
#endif

#endif
