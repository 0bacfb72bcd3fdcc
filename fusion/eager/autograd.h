/* fusion/eager/autograd.h -- gradients of what eager ran.
 *
 * While the grad mode is on, an op on a tensor that requires a gradient leaves a
 * GRAD NODE: the op, its arguments as far as its rule needs their elements, and
 * where the gradients of its arguments go.  A rule is a function of the prelude
 * module _grads (prelude/grads.py); it runs on the VM, under the eager host, so
 * the gradient of a gradient needs nothing more.
 *
 * An in-place op gives its tensor a new node.  A view knows its base: a write
 * through it is, for gradients, a new value of the base (put_view), of which the
 * view is a part again (as_strided).  What is saved remembers how often its memory
 * had been written.
 *
 * A program that can ask for no gradient is not recorded: its tensors only know
 * that they would have one.
 */
#ifndef FUSION_EAGER_AUTOGRAD_H
#define FUSION_EAGER_AUTOGRAD_H

#include "fusion/base/vec.h"
#include "fusion/vm/vm.h"
#include "fusion/graph/op.h"
#include "fusion/graph/graph.h"
#include "fusion/tensor/tensor.h"
#include "fusion/vm/frame.h"

struct eager;
struct op_call;
struct autograd;
struct grad_node;

/* Where a gradient goes: to a result of a node, or to a tensor without one. */
struct grad_source {
	struct grad_node *node; /* a reference; NULL */
	int output;             /* of the node */
	struct value leaf;      /* a reference, where node is NULL; UNSET: nowhere */
};

struct tensor_grad { /* of a struct vtensor */
	struct autograd *owner;
	struct vtensor *of;
	struct tensor_grad *prev, *next;
	bool leaf;              /* it was asked for; it has no node then */
	bool retains;           /* retain_grad() */
	const char *light;      /* made by this op, which was not recorded; NULL */
	struct grad_node *node; /* that made it: a reference; NULL */
	int output;
	struct value grad;    /* UNSET: none */
	struct value hooks;   /* of a leaf: a list of functions of its gradient; UNSET */
	struct value after;   /* ... and of the leaf, once .grad has it; UNSET */
	struct value pending; /* of the backward pass under way */
	struct value base;    /* what it is a view of: a reference; UNSET */
	int64_t writes;       /* of a base: how often its value was replaced */
	int64_t seen;         /* of a view: the base's writes when `node` was made */
	bool part;            /* a view that split(), chunk() or unbind() gave, or a view of one */
	unsigned version;     /* ... of its storage when it was made */
	bool part_written;    /* ... and its elements were written while it was deferred */
};

struct grad_arg {
	struct value value; /* a reference; UNSET for a tensor */
	struct grad_source to;
	struct tensor *saved; /* a reference; NULL: the rule needs no elements */
	unsigned version;     /* of its storage */
	bool is_tensor;
	enum dtype dtype;
	int rank;
	int64_t size[MAX_RANK];
};

/* A node that no op made: a compiled piece of the program.  `given` are the
 * gradients of the results (UNSET: none), `made` those of the arguments. */
struct grad_custom {
	const uint64_t *made_of; /* by argument: the results (grad_bit) whose gradients its own
				  * is made of; NULL: of all */
	bool (*run)(struct grad_node *node, const struct value *given, struct value *made,
		    struct err *err);
	void (*finish)(struct grad_node *node);
	void *data;
	const char *name;
	bool piece; /* its outputs are results of a compiled piece, whatever ops made each */
};

struct grad_node {
	int refs;
	struct autograd *owner;
	struct grad_node *prev, *next;
	int64_t birth; /* of those that may run in a backward pass the youngest is first */
	enum op op;
	const struct grad_custom *custom; /* NULL: an op */
	bool saves, released;
	bool last; /* of the pass under way: what is saved is not needed again */
	int n_outputs;
	struct tensor_grad **retaining; /* by output: retain_grad() was called; NULL: of none */
	struct value *hooks; /* by output: a list of functions of the gradient, UNSET; NULL: none */
	struct value *given; /* by output, of the backward pass under way; UNSET */
	struct value one;    /* `given` of a node with one output */
	int64_t pass;        /* the last one that came here */
	bool needed;
	uint64_t came;  /* results (grad_bit) that eager has a gradient of, in that pass */
	uint64_t spent; /* ... and in those before that were to be the last */
	int senders; /* of that pass: arguments of other nodes, yet to run, that come from here */
	struct tensor *out;         /* saved; NULL */
	struct grad_packed *packed; /* what hooks made of what is saved; NULL: there were none */
	unsigned out_version;
	enum dtype dtype;
	int n_args;
	struct grad_arg args[];
};

/* The bit of a result in a mask; those beyond share the last. */
static inline uint64_t grad_bit(int result)
{
	return (uint64_t)1 << (result < 63 ? result : 63);
}

struct grad_rules;

struct autograd {
	struct eager *eager;
	struct vm *vm;
	bool recording;            /* the program may ask for a gradient */
	bool twice;                /* ... and for that of a gradient */
	bool splits;               /* it calls what makes several views */
	struct value pack, unpack; /* saved_tensors_hooks that are open; UNSET: none */
	bool notes;    /* it splits, or shows tensors: what requires a gradient is known of each */
	int n_tracked; /* tensors with a struct tensor_grad */
	struct tensor_grad *tensors;
	struct grad_node *nodes;
	struct grad_node *doomed; /* without references, to be freed */
	bool freeing;
	int64_t births, passes;
	struct grad_rules *rules;
};

static inline void autograd_init(struct autograd *a, struct eager *eager)
{
	*a = (struct autograd){ .eager = eager,
				.pack = { .kind = VALUE_UNSET },
				.unpack = { .kind = VALUE_UNSET } };
}

void autograd_finish(struct autograd *a); /* nodes and records go; tensors may live on */

/* Whether ops have to ask here. */
static inline bool autograd_wants(const struct autograd *a)
{
	return a->recording || a->n_tracked > 0;
}

/* The grad mode: the VM's. */
static inline bool autograd_enabled(const struct autograd *a)
{
	return a->vm && !a->vm->modes.grad_off;
}

static inline void autograd_enable(struct autograd *a, bool enabled)
{
	a->vm->modes.grad_off = !enabled;
}

/* Whether gradients go through the op: a comparison does not ask what made its operands. */
bool autograd_differentiable(struct autograd *a, enum op op, bool inplace, bool *out,
			     struct err *err);
/* For mode lazy, which runs ops later and records none.  The first refuses what eager does: a
 * write to what split(), chunk() or unbind() gave, and its use after such a write.  The second
 * notes that `out`, of that dtype, would require a gradient, and is such a part; the others
 * that its elements were written, or computed. */
bool autograd_check_deferred(struct autograd *a, const struct op_call *c, struct err *err);
bool autograd_note_deferred(struct autograd *a, const struct op_call *c, enum dtype dtype,
			    struct value out, struct err *err);

static inline void autograd_deferred_written(struct vtensor *t)
{
	if (t->grad && t->grad->part)
		t->grad->part_written = true;
}

static inline void autograd_deferred_made(struct vtensor *t)
{
	if (t->grad && t->grad->part)
		t->grad->version = t->memory->storage->version;
}

/* `out`, which the op of that id made (static text; LIGHT_GRAPH: a compiled graph), would
 * require a gradient; nothing is recorded of it. */
#define LIGHT_GRAPH ""
bool autograd_note_light(struct autograd *a, const char *id, struct value out, struct err *err);

/* eager_run() with its record. */
bool autograd_run(struct autograd *a, const struct op_call *c, struct value *out, struct err *err);

/* Notes that `view` lies in the memory of `of`.  `renew`: its node is made when it is
 * asked for. */
bool autograd_note_view(struct autograd *a, struct value of, struct value view, bool renew,
			struct err *err);

/* `view` is a part of a tensor (OP_parts): neither it nor that tensor may be written where
 * gradients are recorded, if the part is used afterwards.  `stale`: it was written already. */
bool autograd_note_part(struct autograd *a, struct value view, bool stale, struct err *err);

static inline bool autograd_is_part(struct value t)
{
	return t.tensor->grad && t.tensor->grad->part;
}

bool autograd_is_stale_part(struct value t); /* it was written, or what it is a part of */

/* The record of a tensor, made where there is none; NULL with MEMORY. */
struct tensor_grad *autograd_of(struct autograd *a, struct value t, struct err *err);
void autograd_forget(struct vtensor *t); /* before it is freed */

bool autograd_requires(struct value t);
bool autograd_is_leaf(struct value t);
bool autograd_set_leaf(struct autograd *a, struct value t, bool requires_grad, struct err *err);

/* Its .grad, borrowed; None where it has none. */
struct value autograd_gradient(struct value t);
bool autograd_set_gradient(struct autograd *a, struct value t, struct value v, struct err *err);

/* "AddBackward0"; NULL: a leaf. */
const char *autograd_name(struct value t, char text[80]);

/* A view whose base got another value is a part of that one from now on. */
bool autograd_renew(struct autograd *a, struct value t, struct err *err);
/* Where the gradient of t goes; leaf UNSET and node NULL: nowhere.  The caller's. */
bool autograd_source(struct autograd *a, struct value t, struct grad_source *out, struct err *err);
void grad_source_drop(struct grad_source *s);

/* A node of a compiled piece for the arguments (tensors; each with its source),
 * whose results are set by autograd_give(). */
struct grad_node *autograd_node(struct autograd *a, int n_args, int n_outputs, struct err *err);
bool autograd_give(struct autograd *a, struct grad_node *node, int output, struct value t,
		   struct err *err);
/* A result whose backward pass was run already: another one raises. */
bool autograd_spend(struct autograd *a, struct value t, struct err *err);
/* Its gradient is kept in .grad too; it has a node. */
bool autograd_retain(struct tensor_grad *record, struct err *err);
void grad_node_unref(struct grad_node *node);
void grad_arg_set(struct grad_arg *arg, struct value t); /* its shape and dtype */

/* Saves an argument's elements; false where they were changed since: *err. */
static inline void grad_save(struct grad_arg *arg, struct tensor *t)
{
	arg->saved = tensor_ref(t);
	arg->version = t->storage->version;
}

/* The same as they are now, whatever is written. */
bool grad_save_as_is(struct grad_arg *arg, struct tensor *t, struct err *err);
bool grad_check(struct autograd *a, const struct grad_arg *arg, struct err *err);
bool grad_unpack(struct autograd *a, const struct grad_node *node, const struct grad_arg *arg,
		 struct value *out, struct err *err);
bool grad_unpack_out(struct autograd *a, struct grad_node *node, struct value *out,
		     struct err *err);

/* autograd_saved.c.  From now on a node of an op keeps what pack(t) makes of each tensor that it
 * saves, until a backward pass asks unpack() for it; pack None: no longer. */
void autograd_hook_saved(struct autograd *a, struct value pack, struct value unpack);
/* Whether such are open: compiled pieces save past them, so none may run. */
static inline bool autograd_hooks_saved(const struct autograd *a)
{
	return a->pack.kind != VALUE_UNSET;
}
bool grad_pack(struct autograd *a, struct grad_node *node, struct err *err);
/* Argument i (n_args: the result) where hooks have it (*known): a reference. */
bool grad_unpack_hooked(struct autograd *a, const struct grad_node *node, int i, bool *known,
			struct value *out, struct err *err);
void grad_drop_packed(struct grad_node *node);

/* RuntimeError, with the text. */
bool autograd_error(struct autograd *a, struct err *err, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* autograd_rule.c.  Whether the op has a gradient. */
bool grad_rule_known(struct autograd *a, enum op op, bool *known, struct err *err);

/* The same.  Bit i: the rule needs the elements of argument i, for the gradients of the
 * arguments `wanted`; bit MAX_ARGS: those of the result. */
bool grad_rule_needs(struct autograd *a, enum op op, unsigned wanted, bool *known, unsigned *needs,
		     struct err *err);
/* To which of those a write is an error, since PyTorch's autograd saves them itself; after
 * grad_rule_needs().  `rank`: the dims of the first argument. */
unsigned grad_rule_watches(struct autograd *a, enum op op, unsigned wanted, int rank);

/* What a rule is given: of a node of the tape, or of a graph. */
struct grad_giver {
	void *self;
	/* The op's argument `index` (-1: the result) as a value. */
	bool (*value)(void *self, int index, struct value *out, struct err *err);
	/* Its shape as a tuple or its dtype; None where it is no tensor. */
	bool (*shape)(void *self, int index, struct value *out, struct err *err);
	bool (*dtype)(void *self, int index, struct value *out, struct err *err);
};

/* What a rule is run for. */
struct grad_request {
	enum op op;
	unsigned wanted; /* bit i: the gradient of argument i */
	struct value g;  /* the gradient of the result */
	const struct grad_giver *giver;
};

/* Runs the rule: made[i] is the gradient of argument i, UNSET where none is. */
bool grad_rule_run(struct autograd *a, const struct grad_request *request,
		   struct value made[MAX_ARGS], struct err *err);

/* The parameters of an op that no gradient goes to, although it has one: a mask for each. */
unsigned grad_rule_refuses(struct autograd *a, enum op op);
/* g in this shape and dtype (a tuple, a DTYPE), which takes it over. */
bool grad_fit(struct autograd *a, struct value *g, struct value shape, struct value dtype,
	      struct err *err);
/* For tests: whether argument `index` of an op has a rule, and whether it ran. */
void grad_rule_state(struct autograd *a, enum op op, int index, bool *has, bool *ran);
void grad_rules_finish(struct autograd *a);

bool autograd_has_hooks(struct value t);
/* `hooks`, a list that the program may change, are called where a hook added now would be. */
bool autograd_add_hooks(struct autograd *a, struct value t, struct value hooks, struct err *err);
bool autograd_run_hooks(struct autograd *a, struct value hooks, struct value *g, struct err *err);

/* autograd_backward.c */
struct backward {
	const struct value *roots, *seeds; /* seeds: UNSET or None for ones */
	int n;
	const struct value *inputs; /* NULL: all leaves */
	int n_inputs;
	struct value *results; /* by input; NULL: they are added to .grad */
	bool keep, create;
};
bool autograd_backward(struct autograd *a, const struct backward *b, struct err *err);

/* What a call of backward(), torch.autograd.backward() or torch.autograd.grad() asks for;
 * the tensors are those of the arguments. */
struct backward_call {
	struct value v[9];
	struct backward b;
	bool grad;          /* the results are handed out */
	bool unused, zeros; /* grad(): an input may have none: None, or zeros */
};
bool backward_parse(const struct native *f, const struct arguments *args, struct backward_call *c,
		    struct err *err);

/* autograd_host.c: runs what torch_grad_find() finds: backward(), torch.autograd.grad() and others.
 */
bool autograd_call(struct autograd *a, const struct native *f, const struct arguments *args,
		   struct value *out, struct err *err);
/* x.grad, x.requires_grad, ...: *known false for another name. */
bool autograd_attr(struct autograd *a, struct value t, const char *name, bool *known,
		   struct value *out, struct err *err);
/* The floating point tensors in v, in whatever it is made of: as leaves; and the
 * gradient of the one there is, or of the sum of all. */
bool autograd_leaves(struct autograd *a, struct value v, struct err *err);
bool autograd_from(struct autograd *a, struct value v, struct err *err);
enum autograd_word {
	AUTOGRAD_GRADIENT, /* asks for a gradient, or says what requires one */
	AUTOGRAD_TWICE,    /* create_graph=: for one that has a gradient itself */
	AUTOGRAD_SPLITS,   /* makes several views, whose writes eager refuses */
	AUTOGRAD_SHOWS,    /* makes texts, which say what a tensor's gradient goes to */
};

/* Whether the program's text has such a name. */
bool autograd_asked(const struct code *code, enum autograd_word what);

#endif
