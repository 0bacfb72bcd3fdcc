/* fusion/capture/entry.h -- private to capture/: one compiled version of a piece.
 *
 * A PIECE of the program begins at a point of a frame (its start, or where it
 * goes on after a break) and ends where the frame returns, or before an
 * instruction that ends the graph.  Natively that may be in a function that is
 * called: then the piece leaves a CHAIN of frames, the next one goes on in the
 * innermost, and returns into the others.  An entry is what one capture of it led to:
 * guards, an exec, and a reconstruction for what it leaves.  It serves every call whose
 * values pass the guards.
 */
#ifndef FUSION_CAPTURE_ENTRY_H
#define FUSION_CAPTURE_ENTRY_H

#include "fusion/capture/backward/backward.h"
#include "fusion/compile/compile.h"
#include "fusion/capture/guards/guards.h"
#include "fusion/capture/trace/trace.h"
#include "fusion/capture/reconstruction.h"

/* What the piece did to objects of the program: done again in each call, after the kernels. */
enum effect_kind {
	EFFECT_ITEMS,    /* the list's items are those of the list made by `step` */
	EFFECT_KEYS,     /* the same for a set */
	EFFECT_STORE,    /* dict, instance, class or tensor: key is what `step` made */
	EFFECT_REMOVE,   /* ... the key is gone */
	EFFECT_CONTENT,  /* a cell's; step -1: unset */
	EFFECT_GLOBAL,   /* number: the global; step -1: unset */
	EFFECT_POSITION, /* an iterator's: number */
	EFFECT_GRAD,     /* a tensor's .grad */
	EFFECT_HOOKS,    /* the list is of hooks that it has, too */
};

struct effect {
	enum effect_kind kind;
	int source; /* the object; -1: of GRAD and STORE the tensor of step `number` */
	int step;   /* of the reconstruction */
	int64_t number;
	struct value key; /* a reference */
	int key_step;     /* of the reconstruction, where the key is an object; -1 */
};

struct effects {
	struct effect *at;
	int n;
};

struct entry_write {         /* a tensor from outside that the piece changed */
	int source;          /* -1: a lifted one */
	struct value lifted; /* its tensor: a reference */
	int output;          /* of the graph: the new elements */
	int input;           /* of the graph: the old ones, -1; entry.c */
	bool in_place;       /* a kernel may write the new ones over them */
	bool replaces;       /* x.data = y: it has the new ones' memory from then on */
	struct tensor *old;  /* what it had, until the end of the call under way; a reference */
};

struct entry_place { /* of a frame that goes on */
	int index;   /* of the local */
	int step;    /* of the reconstruction; -1: the local is not needed any more */
};

/* A frame that is where the piece ends.  Each but the innermost, which goes on
 * there, is in its call of the next one. */
struct entry_frame {
	int function;                 /* reconstruction step; -1: the frame was there before */
	const struct lang_inst *inst; /* that it is before, or whose call it waits for */
	struct entry_place *places;   /* locals that differ from before */
	int n_places;
	int *cells; /* reconstruction steps; of a frame that was there before they stay */
	int n_cells;
	int *operands; /* reconstruction steps of the operand stack */
	int n_operands;
};

struct entry_print {
	int text;      /* reconstruction step */
	int condition; /* reconstruction step of a bool; -1: always */
};

/* What the piece prints when its graph has run. */
struct prints {
	struct entry_print *at;
	int n;
};

/* A call that is replayed without its guards.
 *
 * Mode graphs.  Most guards are about what a program finds outside of a call: its module
 * and parameters, globals, closures, functions.  While nothing has run that may
 * change an object of a program, what held then holds now: the next call checks only what its
 * arguments may fail.  exec_env.changes counts what may change objects: every call and every
 * question of the engine but those that are replayed here, and so every one of another
 * session too.  Zeroed: the entry has not been looked at yet. */
struct entry_replay {
	bool ready;    /* it has been looked at */
	bool possible; /* guards may be left out */
	int *steps;    /* of the guards: those that arguments may fail */
	int n_steps;
	int *inputs; /* of the graph: those that arguments are */
	int n_inputs;
	bool plain;        /* the call's result is output 0, and nothing else comes of it */
	struct value kept; /* the result of the last such call: a reference; else no tensor */
	int64_t changes;   /* exec_env.changes when all guards held */
	int64_t left_out;  /* calls in which guards were left out */
};

struct entry {
	struct arena arena;
	struct sources sources;
	struct guards guards;
	struct graph *captured;
	struct exec *exec; /* NULL: the function computes no tensor */
	struct reconstruction reconstruction;
	struct effects effects;
	struct prints prints;
	struct entry_grad *grad; /* NULL: nothing asks for gradients */
	struct autograd *autograd;
	struct entry_frame *frames; /* outermost first; the first was there before */
	int n_frames;               /* 0: the outermost frame of the call returns */
	int n_left;                 /* frames of the call that have returned, innermost */
	bool draws_alone;           /* its one output is read by nothing */
	bool rest_eager;            /* the rest of the innermost frame runs in eager */
	bool at_return;             /* it ends after a return: nothing runs in between */
	int result;                 /* reconstruction step of what the outermost returns */
	struct trace_input *inputs; /* by graph input */
	struct value *lifted;       /* by graph input: the tensor of a global */
	int n_inputs;
	struct entry_write *writes;
	int n_writes;
	struct tensor **given; /* by output: what it is written to in place; NULL: none is */
	bool *spent;           /* by output: its backward pass was run in the piece; NULL: none */
	int *asserts;          /* outputs of the graph that must be true */
	int n_asserts;
	struct tensor **numbers; /* by graph input: a float of the call, as a tensor */
	struct tensor **input_tensors, **output_tensors; /* of the call under way */
	int n_outputs;
	uint32_t *orders; /* by output: lay.h */
	int compile_id;
	int graph; /* index among the session's graphs; -1: no ops */
	int broke; /* the break that it ends at, in the report; -1: it returns */
	int n_placeholders;
	struct fusion_origin *origins; /* of its graph's inputs, when it was made */
	int n_origins;
	bool sets_modes; /* the piece leaves other modes than it found: these */
	bool grad_off_after;
	unsigned char derivatives_after, function_modes_after;
	unsigned autocast_after;
	int64_t capture_ns, compile_ns;
	int64_t uses;
	int64_t refuted;              /* of the uses: eager ran the piece */
	struct record_memory *record; /* mode graphs: the session's; NULL */
	struct exec_recorded recorded;
	struct entry_replay replay;
};

struct entry_options {
	struct torch_names *names;
	const struct torch_operators *operators;
	const struct exec_env *env;
	const struct backend *backend;
	uint64_t passes_disabled;
	struct lowering lowering;
	struct autograd *autograd;
	enum fusion_mode mode;
	enum fusion_policy policy;
	bool constants;               /* numbers that rounds of a loop change are no symbols */
	struct record_memory *record; /* launches are recorded there; NULL: they are not */
};

/* Why a capture led to no entry, or stopped short. */
struct entry_break {
	struct trace_break at;
	enum break_outcome outcome;
	enum break_id because;
	bool ended;               /* the entry ends at it: it has its graph */
	struct break_cause cause; /* where it really is, if at.stack is the block around it */
};

/* What a capture is made of. */
struct entry_source {
	struct vm *vm;
	struct frame *frame; /* the real one, innermost; at the point */
	struct frame *base;  /* the outermost: those from it on are in their calls */
	struct memory *memory;
};

enum entry_fate {
	ENTRY_MADE,
	ENTRY_SKIP,  /* never capture from here */
	ENTRY_EAGER, /* not this time: eager will fail with the same error */
	ENTRY_FAILED
};

void entry_destroy(struct entry *e);

/* An assertion does not hold, and nothing was changed: eager shall run the
 * piece and raise the error.  As *err of entry_run(). */
static inline bool entry_refuted(const struct err *err)
{
	return err->code == ERR_BREAK;
}

/* Whether the outermost frame of the call returns with it. */
static inline bool entry_returns(const struct entry *e)
{
	return e->n_frames == 0;
}

/* Runs it on values that passed e->guards.  Where the entry returns, *out is
 * the caller's; else the VM's frames then are where it ends. */
bool entry_run(struct entry *e, const struct roots *roots, struct vm *vm, struct value *out,
	       const struct fusion_observer *observer, struct err *err);

/* always false */
static inline bool entry_no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory while compiling the call");
}

/* Fills in the reconstruction, guards and outputs of an attempt that has come to its end. */
struct attempt;
bool entry_describe(struct entry *e, struct attempt *a, const struct entry_options *options,
		    struct err *err);
/* Drops what a description that failed has left: another attempt follows. */
void entry_undescribe(struct entry *e);

/* Compiles the graph of a described entry; the captured graph, and the forward part, stay as
 * they are. */
bool entry_compile(struct entry *e, const struct entry_options *options, struct err *err);

/* Sets the grad and autocast modes that a piece leaves. */
void entry_set_modes(const struct entry *e, struct vm *vm, struct autocast *autocast);

/* Why each call checks all guards: a run may change what they look at; NULL: it does not. */
const char *entry_why_guarded(const struct entry *e);

#endif
