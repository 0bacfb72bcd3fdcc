/* fusion/capture/control/cond.h -- private to capture/: branches on tensors, both ways.
 *
 * Policy native.  Where the program branches on a tensor, the capture runs one
 * side up to where both meet, puts everything back, runs the other, and chooses
 * between what they left: tensors by torch.where, numbers as tensors of 0 dims.
 * A FORK that does not come out is noted; the next attempt ends the graph
 * there, as TorchDynamo does.
 *
 * cond.c runs the sides, cond_state.c saves and puts back, cond_merge.c chooses.
 */
#ifndef FUSION_RUNTIME_FORK_H
#define FUSION_RUNTIME_FORK_H

#include "fusion/capture/trace/trace.h"

/* What an object held.  Of dicts and attributes: keys too. */
struct fork_content {
	struct value object; /* a reference */
	struct value *keys, *values;
	int n; /* -1: no attributes yet */
	int64_t position;
};
typedef VEC(struct fork_content) fork_contents;

/* What a tensor object stood for. */
struct fork_write {
	struct value tensor; /* a reference */
	int node, writes;
	bool written, slot_written;
};
typedef VEC(struct fork_write) fork_writes;

/* The frame and the globals at one time. */
struct fork_place {
	struct value *locals, *cells, *stack; /* one block, references */
	int n_stack, n_fixed;
	VEC(struct value) globals; /* references */
	bool grad_off;             /* the modes: an exception leaves blocks that set them */
	unsigned autocast;
};

struct fork {
	struct fork *up; /* the one that this one stands in */
	struct trace *trace;
	struct frame *frame;
	const struct lang_inst *inst;
	unsigned birth; /* objects born before are older than the fork */
	int tensor_birth;
	struct value condition; /* a bool tensor of 0 dims: a reference */
	struct fork_place before, first;
	fork_contents contents; /* before, of objects that may change */
	fork_contents changed;  /* after the first side, of those that did */
	fork_writes writes;     /* before, of tensors that a side changed */
	fork_writes first_writes;
	size_t n_asserts, n_prints; /* those before are not of the side that runs */
	bool raised;                /* a side left the frame with an exception */
	char why[160];              /* it does not come out */
	bool is_loop;               /* a round of a loop (while_loop.h) */
	bool holds;                 /* the side under way is the one where the condition holds */
};

/* A place that changes from round to round of a loop. */
enum carried_kind {
	/* another tensor, or number */
	CARRIED_LOCAL,  /* in a local variable */
	CARRIED_GLOBAL, /* in one of the VM's globals */
	CARRIED_PART,   /* in an object: a cell, attribute, item */
	CARRIED_FIRST,  /* in a local that a round sets for the first time */
	/* the tensor itself is written */
	CARRIED_ROOT,   /* that of a local, or what it is a view of */
	CARRIED_SLOT,   /* that of a slot */
	CARRIED_LIFTED, /* a lifted one */
	/* of the loop */
	CARRIED_CHECK, /* whether the assertions of the last round held */
	CARRIED_MORE,  /* whether there is another round */
};
struct fork_place_note {
	enum carried_kind kind;
	int index;
	int item; /* of a PART: in its content */
};
enum { MAX_CARRIED = 64 };

/* A while loop on a tensor: outlasts attempts. */
struct fork_loop {
	const struct lang_inst *inst;
	char why[160]; /* it cannot be a loop of the graph; "": it can */
	struct fork_place_note places[MAX_CARRIED];
	int n_places;
};

/* A new stand-in: open forks must know what it began with. */
bool fork_note_stand(struct trace *t, struct value stand);
/* A tensor object is about to stand for another node. */
bool fork_note_write(struct trace *t, struct value tensor);

/* while_loop.c: a loop that begins at f->inst, where it is one. */
bool fork_loop(struct trace *t, struct frame *f, bool *handled, struct err *err);
/* Why it is no loop of the graph; NULL: it has not been tried, or is. */
const char *fork_loop_refusal(const struct trace *t, const struct lang_inst *inst);

/* Between the files: false is out of memory, or *why is set. */
bool fork_refuse(struct fork *k, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool fork_save(struct fork *k);                             /* before the first side */
bool fork_switch(struct fork *k);                           /* between them */
bool fork_restore(struct fork *k);                          /* as it was before */
bool fork_merge(struct fork *k, int join, struct err *err); /* after the second */
void fork_finish(struct fork *k);
/* Why a run of the frame did not come to its end; what ends the attempt anyway
 * stays.  Always false. */
bool fork_side_failed(struct fork *k, struct err *err);
/* tensor != 0 or tensor == 0, as a bool of 0 dims. */
bool fork_condition(struct trace *t, struct value tensor, enum op op, struct value *out,
		    struct err *err);
struct value fork_global_before(const struct fork *k, size_t i);

bool fork_may_change(struct value v); /* it has content */

/* The content of an object now; false out of memory. */
bool fork_content_read(struct value object, struct fork_content *out);
bool fork_content_write(const struct fork_content *c);
void fork_content_drop(struct fork_content *c);
bool fork_content_same(const struct trace *t, const struct fork_content *before,
		       const struct fork_content *now);
bool fork_same(const struct trace *t, struct value before, struct value now);
struct fork_write fork_write_read(const struct trace *t, struct value tensor);
void fork_write_put(struct trace *t, const struct fork_write *w);

#endif
