/* fusion/capture/control/cond.h -- private to capture/: branches on tensors, both ways.
 *
 * Policy native.  Where the program branches on a tensor, the capture runs one
 * side up to where both meet, puts everything back, runs the other, and chooses
 * between what they left: tensors by torch.where, numbers as tensors of 0 dims.
 * A BRANCH that does not come out is noted; the next attempt ends the graph
 * there, as TorchDynamo does.
 *
 * A body that is called (torch's wrap and map, in policy dynamo) is held to what it may change by
 * the same means. cond.c runs the sides and bodies, cond_state.c saves and puts back, cond_merge.c
 * chooses.
 */
#ifndef FUSION_CAPTURE_CONTROL_COND_H
#define FUSION_CAPTURE_CONTROL_COND_H

#include "fusion/capture/trace/trace.h"

/* What an object held.  Of dicts and attributes: keys too. */
struct cond_content {
	struct value object; /* a reference */
	struct value *keys, *values;
	int n; /* -1: no attributes yet */
	int64_t position;
};
typedef VEC(struct cond_content) cond_contents;

/* What a tensor object stood for. */
struct cond_write {
	struct value tensor; /* a reference */
	int node, writes;
	bool written, source_written;
};
typedef VEC(struct cond_write) cond_writes;

/* The frame and the globals at one time. */
struct cond_place {
	struct value *locals, *cells, *stack; /* one block, references */
	int n_stack, n_fixed;
	VEC(struct value) globals; /* references */
	bool grad_off;             /* the modes: an exception leaves blocks that set them */
	unsigned autocast;
};

struct cond {
	struct cond *up; /* the one that this one is in */
	struct trace *trace;
	struct frame *frame;
	const struct lang_inst *inst;
	unsigned birth; /* objects born before are older than the branch */
	int tensor_birth;
	struct value condition; /* a bool tensor of 0 dims: a reference */
	struct cond_place before, first;
	cond_contents contents; /* before, of objects that may change */
	cond_contents changed;  /* after the first side, of those that did */
	cond_writes writes;     /* before, of tensors that a side changed */
	cond_writes first_writes;
	size_t n_asserts, n_prints; /* those before are not of the side that runs */
	bool raised;                /* a side left the frame with an exception */
	char why[160];              /* it does not come out */
	bool stores_again;          /* x += 1, where x is a variable from outside */
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
	CARRIED_SOURCE, /* that of a source */
	CARRIED_LIFTED, /* a lifted one */
	/* of the loop */
	CARRIED_CHECK, /* whether the assertions of the last round held */
	CARRIED_MORE,  /* whether there is another round */
};
struct carried_place {
	enum carried_kind kind;
	int index;
	int item; /* of a PART: in its content */
};
enum { MAX_CARRIED = 64 };

/* A while loop on a tensor: outlasts attempts. */
struct while_loop_note {
	const struct lang_inst *inst;
	char why[160]; /* it cannot be a loop of the graph; "": it can */
	struct carried_place places[MAX_CARRIED];
	int n_places;
};

/* A new stand-in: open branches must know what it began with. */
bool cond_note_stand_in(struct trace *t, struct value stand_in);
/* A tensor object is about to stand for another node. */
bool cond_note_write(struct trace *t, struct value tensor);

/* while_loop.c: a loop that begins at f->inst, where it is one. */
bool while_loop_try(struct trace *t, struct frame *f, bool *handled, struct err *err);
/* Why it is no loop of the graph; NULL: it has not been tried, or is. */
const char *while_loop_refusal(const struct trace *t, const struct lang_inst *inst);

/* Between the files: false is out of memory, or *why is set. */
bool cond_refuse(struct cond *k, const char *format, ...) __attribute__((format(printf, 2, 3)));
bool cond_save(struct cond *k);                           /* before the first side */
bool cond_switch(struct cond *k);                         /* between them */
bool cond_restore(struct cond *k);                        /* as it was before */
bool cond_merge(struct cond *k, int at, struct err *err); /* after the second */
void cond_finish(struct cond *k);
/* Why a run of the frame did not come to its end; what ends the attempt anyway
 * stays.  Always false. */
bool cond_side_failed(struct cond *k, struct err *err);
/* tensor != 0 or tensor == 0, as a bool of 0 dims. */
bool cond_test(struct trace *t, struct value tensor, enum op op, struct value *out,
	       struct err *err);
struct value cond_global_before(const struct cond *k, size_t i);

bool cond_may_change(struct value v); /* it has content */

/* The content of an object now; false out of memory. */
bool cond_content_read(struct value object, struct cond_content *out);
bool cond_content_write(const struct cond_content *c);
void cond_content_drop(struct cond_content *c);
bool cond_content_same(const struct trace *t, const struct cond_content *before,
		       const struct cond_content *now);
bool cond_same(const struct trace *t, struct value before, struct value now);
struct cond_write cond_write_read(const struct trace *t, struct value tensor);
void cond_write_put(struct trace *t, const struct cond_write *w);

#endif
