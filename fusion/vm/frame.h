/* fusion/vm/frame.h -- the inside of the VM: frames, units, globals.
 *
 * A call of a program's function is a struct frame on the VM's own stack, not
 * a C call, so its whole state (instruction, locals, cells, operands) lies in
 * one place: it can be inspected, copied, abandoned or resumed between any two
 * instructions.  C recursion happens only where a builtin calls back (map,
 * sorted's key), and the depth limit counts it too.
 */
#ifndef FUSION_VM_FRAME_H
#define FUSION_VM_FRAME_H

#include <string.h>

#include "fusion/base/arena.h"
#include "fusion/base/twister.h"
#include "fusion/base/vec.h"
#include "fusion/vm/value.h"
#include "fusion/vm/vm.h"

/* What LOAD_ATTR found the last time at its place: torch.sin is looked up once,
 * and so is the method append of lists. */
struct attr_site {
	struct value module; /* UNSET: nothing found yet */
	struct value value;
	int epoch;            /* of the host that answered */
	enum value_kind kind; /* whose method `builtin` is; UNSET: none */
	int builtin;
};

/* A code object and what it needs to run: one for each, for the VM's life.  All but the first
 * five is there when its first frame is pushed. */
struct unit {
	const struct code *code;
	const void *owner;    /* of its globals: see struct global */
	const char *module;   /* of the prelude, whose text it is; NULL */
	struct vm_file *home; /* the program's file; NULL: its only one, or the prelude's */
	bool hidden;          /* of the prelude: stacks, errors and captures leave it out */
	bool ready;
	struct value *consts;
	int *globals;            /* by name: slot in vm->globals, -1 for mere attributes */
	struct attr_site *sites; /* by instruction */
	int *handler; /* by instruction: of code->handlers, -1: none; NULL: none at all */
	struct unit *nested;
	uint64_t refused; /* parameters that must keep their default (unit.c); 0: none */
};

struct global {
	const char *name;
	const void *owner;    /* a prelude's program, a file of the program; NULL: its first */
	bool ours;            /* a prelude's */
	struct value value;   /* UNSET: not assigned */
	struct value builtin; /* what the name means then; UNSET: nothing */
	int next;             /* global_of: one before it with that hash, from 1; 0: none */
};

/* What no program changes: a global of a prelude, but for its lists, which are state. */
static inline bool global_is_fixed(const struct global *g)
{
	return g->ours && g->value.kind != VALUE_LIST;
}

struct frame {
	struct frame *up; /* the caller; NULL at the bottom */
	struct unit *unit;
	const struct code *code;      /* unit->code */
	const struct lang_inst *inst; /* the one that runs */
	struct function *function;    /* a reference; NULL: the module's code */
	struct value *locals;         /* code->n_locals */
	struct value *cells;          /* code->n_cells, VALUE_CELL */
	struct value *stack;          /* operands: [stack, top) */
	struct value *top;
	struct dict *namespace;      /* of a class body, a reference; NULL: no class body */
	struct generator *generator; /* that owns its memory; NULL: a chunk */
	bool marked, grad_before;    /* the function has a grad mode; the one to go back to */
	bool named;                  /* capture: FX's node of the call has been made */
	int shadow_of;               /* capture: which frame of the call, from 1; 0: none */
	struct instance *module;     /* call_path.h: whose method it runs, a reference; NULL */
	size_t bytes;                /* of the chunk, with this struct */
};

/* Whose generator draws, where the run is on a GPU: what is made before the first call is made
 * on the CPU and moved, unless the program names the GPU; PyTorch, when it runs beside Breakeven,
 * does so.  Within calls all is on the GPU. */
enum gpu_use {
	GPU_ABSENT,
	GPU_NAMED, /* by device= */
	GPU_DEFAULT
};

/* torch.set_printoptions(): how a tensor is written. */
struct print_options {
	int precision;     /* digits after the point */
	int64_t threshold; /* a tensor of more elements is shown by its edges */
	int64_t edge;      /* of each dim's first and last elements */
	int line;          /* characters */
	int scientific;    /* 1: always, 0: never, -1: as the numbers need it */
};

enum { PRINT_PRECISION_MOST = 40, PRINT_LINE_MOST = 1000000 };

static const struct print_options PRINT_DEFAULTS = { 4, 1000, 3, 80, -1 };

/* What a program sets for all that comes after. */
struct torch_modes {
	bool grad_off;
	unsigned char derivatives;    /* of torch.func that are being taken, one inside the other */
	unsigned char function_modes; /* TorchFunctionModes that are open */
	unsigned autocast;            /* torch/autocast.h has its bits; 0: off */
	enum gpu_use gpu;
	enum dtype real; /* torch.get_default_dtype() */
	bool ordered;    /* torch.are_deterministic_algorithms_enabled() */
	struct print_options print;
};

struct chunk; /* of stack memory; frames never move */

enum { GLOBAL_HASHES = 256 };

struct vm {
	const struct lang_program *program;
	struct vm_host *host, *first_host;
	int epoch; /* counts hosts */
	struct vm_limits limits;
	struct heap *heap;
	struct arena arena; /* units and globals */
	struct unit module;
	VEC(struct unit *) expressions; /* that were evaluated, in the arena */
	struct global *globals;
	int n_globals, cap_globals;
	int global_of[GLOBAL_HASHES]; /* by hash of the name: the last of them, from 1 */
	VEC(struct value) modules;    /* by name, each once */
	struct frame *frame;          /* innermost; NULL: idle */
	struct chunk *chunk;
	int depth; /* frames and callbacks */
	int64_t steps_left;
	struct vm_evaluator evaluator; /* evaluate NULL: none */
	bool has_tensor_classes; /* it has a class that derives from torch.Tensor, or a mode */
	struct value handled;    /* the exception whose except block runs; UNSET: none */
	struct value raised;     /* the exception that an error stands for; UNSET: see its code */
	struct class **classes;  /* classes.c: by enum class_id, NULL: not made yet */
	struct regexes *regexes; /* regex.c: patterns that were compiled; NULL: none */
	struct files *files;     /* files.c; NULL: the program has one */
	struct torch_modes modes;
	double clock;                   /* of module time, which begins with each VM; seconds */
	VEC(struct twister) generators; /* random.c: of the module random, by number */
	struct prelude *prelude;        /* prelude.c: modules written in the workload language */
	struct evaluated *evaluated;    /* evaluate.c: texts that became code, the last one first */
	bool generators_handle;         /* one was made whose code has a try or with statement */
	struct generator *dropped;      /* whose finally blocks are to run, the last one first */
};

/* unit.c: makes a unit whose first five members are set ready to run; checks that operands, jumps
 * and stack depth are within bounds (INTERNAL, or MEMORY).  What is nested in it waits for frames
 * of its own: most of a prelude never runs. */
bool unit_prepare(struct vm *vm, struct unit *unit, struct err *err);
void unit_release(struct unit *unit);

/* unit.c: whether frame f, whose arguments are bound, has the defaults of parameters of the
 * prelude that its code never reads: else UNSUPPORTED. */
bool unused_keep_defaults(const struct frame *f, struct err *err);

/* The slot of a global of `owner` (NULL: the program), made where there is none; -1 when out of
 * memory. */
int vm_global_slot(struct vm *vm, const void *owner, const char *name);
/* -1: there is none. */
int vm_global_find(const struct vm *vm, const void *owner, const char *name);

/* frame.c: a new innermost frame; RECURSION or MEMORY.  Locals are unset and
 * the function's own cells are not made yet: frame_enter() does that once the
 * arguments are bound. */
struct frame *frame_push(struct vm *vm, struct unit *unit, struct function *function,
			 struct err *err);
bool frame_enter(struct vm *vm, struct frame *f, struct err *err);
/* A function that torch.no_grad() decorates runs in its grad mode, until its frame
 * is popped. */
static inline void frame_mark(struct vm *vm, struct frame *f)
{
	if (__builtin_expect(!f->function || f->function->grad == GRAD_AS_IS || f->marked, 1))
		return;
	f->marked = true;
	f->grad_before = vm->modes.grad_off;
	vm->modes.grad_off = f->function->grad == GRAD_OFF;
}
void frame_pop(struct vm *vm);
void frame_forget(struct vm *vm); /* pops it, but its references live on elsewhere */
bool frame_too_deep(const struct vm *vm, const struct code *code, struct err *err);
void frame_chunks_free(struct vm *vm);

/* call.c: gives the parameters of `f` their values, as Python does; TYPE. */
bool frame_bind(struct vm *vm, struct frame *f, const struct arguments *args, struct err *err);

/* Calls anything that can be called, from C. */
bool vm_invoke(struct vm *vm, struct value callee, const struct arguments *args, struct value *out,
	       struct err *err);

/* Takes a value fresh from its constructor into the VM's heap.  MEMORY where
 * it is UNSET or too much; *out is then untouched. */
bool vm_keep(struct vm *vm, struct value fresh, struct value *out, struct err *err);

/* MEMORY unless `bytes` more would fit: before making something large. */
bool vm_room(struct vm *vm, int64_t count, size_t bytes_each, struct err *err);
bool vm_out_of_memory(struct vm *vm, struct err *err);

/* Counts steps that a builtin does inside one instruction. */
bool vm_spend(struct vm *vm, int64_t steps, struct err *err);

/* The innermost frame of the user's code; NULL: none. */
const struct frame *vm_visible_frame(const struct vm *vm);

/* except.c.  Whether the instruction that runs lies in the body of a try, or of a with whose
 * manager may end an error. */
bool frame_is_tried(const struct frame *f);

/* The host, after it is given the place of the instruction that runs. */
struct vm_host *vm_host_here(struct vm *vm);

/* The module of that name, borrowed; NAME where there is none. */
bool vm_has_module(struct vm *vm, const char *name);
bool vm_module(struct vm *vm, const char *name, struct value *out, struct err *err);

/* Whether a function of the prelude is a frame in torch, as the step of an optimiser: its
 * docstring begins with "A frame". */
static inline bool code_is_frame(const struct code *code)
{
	return code->doc && strncmp(code->doc, "A frame", strlen("A frame")) == 0;
}

/* NULL: none; copied */
static inline void vm_set_evaluator(struct vm *vm, const struct vm_evaluator *e)
{
	vm->evaluator = e ? *e : (struct vm_evaluator){ 0 };
}

/* evaluate NULL: none */
static inline void vm_get_evaluator(const struct vm *vm, struct vm_evaluator *e)
{
	*e = vm->evaluator;
}

#endif
