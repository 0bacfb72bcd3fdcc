/* fusion/vm/call_path.h -- which module of the program is at work. */
#ifndef FUSION_VM_CALL_PATH_H
#define FUSION_VM_CALL_PATH_H

#include "fusion/base/buf.h"
#include "fusion/vm/vm.h"

enum { CALL_PATH_MODULES = 32 }; /* of a path, the innermost */

/* Valid while the calls run; after them only for call_path_equal(). */
struct call_path {
	const struct instance *modules[CALL_PATH_MODULES]; /* innermost first */
	unsigned births[CALL_PATH_MODULES];                /* which tell them from later ones */
	int n;
};

/* Of a capture: its frames stand for real ones, which lie below them. */
struct call_path_stands {
	const struct frame *base; /* the outermost of them */
	struct frame *below;      /* that called what it stands for; NULL: nothing did */
	/* The object that one of a capture stands for, itself where it stands for none. */
	struct value (*real)(const void *self, struct value v);
	const void *self;
};

/* The modules (nn.Module) whose methods are under way; `stands` is NULL where all is real. */
void call_path_find(const struct vm *vm, const struct call_path_stands *stands,
		    struct call_path *out);

/* Appends them, outermost first: "GPT/blocks.0:Block/attn:Attention".  Each but the first
 * has its name in the one before it, as named_modules() gives it, and its class; the class
 * alone where that one does not hold it.  Nothing where there is none. */
void call_path_print(const struct call_path *p, struct buf *out);

/* The module whose method the frame runs, borrowed; NULL: there is none, or the program is
 * done with it and no value kept it. */
struct instance *call_path_module(const struct frame *f);

/* The frame runs a method of the same module as `like`: itself, or what it stands for.  Not
 * where it is known already; nothing where that is no method of a module. */
void call_path_keep(struct frame *f, const struct frame *like);

#endif
