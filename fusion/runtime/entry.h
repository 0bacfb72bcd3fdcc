/* fusion/runtime/entry.h -- private to runtime/: one compiled version of a function.
 *
 * An entry is what one capture led to: guards, an exec, and a recipe for the
 * result.  It serves every call whose arguments pass the guards.
 */
#ifndef FUSION_RUNTIME_ENTRY_H
#define FUSION_RUNTIME_ENTRY_H

#include "fusion/runtime/exec.h"
#include "fusion/runtime/guards.h"
#include "fusion/runtime/partition.h"
#include "fusion/runtime/recipe.h"

struct entry_write {         /* an argument or global that the function changed */
	int slot;            /* -1: a global */
	struct value lifted; /* its tensor: a reference */
	int output;          /* of the graph: the new elements */
};

struct entry {
	struct arena arena;
	struct slots slots;
	struct guards guards;
	struct graph *captured;
	struct exec *exec; /* NULL: the function computes no tensor */
	struct recipe recipe;
	struct trace_input *inputs; /* by graph input */
	struct value *lifted;       /* by graph input: the tensor of a global */
	int n_inputs;
	struct entry_write *writes;
	int n_writes;
	struct tensor **input_tensors, **output_tensors; /* of the call under way */
	int n_outputs;
	int compile_id;
	int graph; /* index among the session's graphs; -1: no ops */
	int n_placeholders;
	int64_t capture_ns, compile_ns;
	int64_t uses;
	const char **kernel_names;
};

struct entry_options {
	struct torch_names *names;
	const struct torch_operators *operators;
	const struct exec_env *env;
	const struct backend *backend;
	uint64_t passes_disabled;
	struct lowering lowering;
	bool dynamic;
};

/* Captures `callee` (of `vm`, whose host is changed: the caller sets it back)
 * for these arguments and compiles it.  `slots`, already made in e->arena,
 * belongs to the entry.  NULL with *err; the arguments are unchanged. */
struct entry *entry_create(const struct entry_options *options, struct entry *e, struct vm *vm,
			   struct value callee, struct err *err);
void entry_destroy(struct entry *e);

/* Runs it on arguments that passed e->guards. */
bool entry_run(struct entry *e, const struct value *args, struct value *out,
	       const struct fusion_observer *observer, struct err *err);

bool entry_no_memory(struct err *err); /* always false */

#endif
