/* fusion/vm/evaluate.h -- the texts that a program evaluates while it runs. */
#ifndef FUSION_VM_EVALUATE_H
#define FUSION_VM_EVALUATE_H

#include "fusion/vm/frame.h"

/* What eval() or exec() has compiled, which the VM keeps: a function may be left of it. */
struct evaluated {
	struct evaluated *before; /* NULL: it was the first */
	int n;                    /* with those before it */
	struct lang_program *program;
	struct unit unit;
};

#endif
