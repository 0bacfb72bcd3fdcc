/* profiler/workload/hints.h -- inputs guessed from what a program's text says of its parameters.
 *
 * Annotations (Float[Tensor, "b c h w"]), docstrings (x: (B, T, C)), the names that a function
 * unpacks a shape into, and the layer that takes the parameter first.
 */
#ifndef PROFILER_WORKLOAD_HINTS_H
#define PROFILER_WORKLOAD_HINTS_H

#include <stdbool.h>

#include "fusion/source.h"

struct hints {
	struct lang_outline *outline;
	const struct lang_signature *function;  /* whose parameters they are; a method's too */
	const struct lang_construction *module; /* what made the module that is called; NULL */
	int depth;                              /* of constructions in constructions: 0 */
	bool guess; /* where nothing tells: floats, or integers where the name is that of indices */
};

enum { HINT_BYTES = 400 };

/* A value for a parameter in the language of inputs. */
struct hint {
	char text[HINT_BYTES];
	char because[HINT_BYTES]; /* what tells: "conv takes it: nn.Conv2d(3, 64)" */
	bool sized;               /* a tensor whose sizes something tells */
};

/* False: nothing tells. */
bool hint_find(const struct hints *h, const struct lang_parameter *p, struct hint *out);

/* "Net(dim=64, heads=4)": a call that makes one of a class, its parameters by their names and
 * annotations.  False: one of them is nothing that these tell. */
enum { HINT_ARGUMENTS = 24, HINT_ARGUMENT_BYTES = 120 };
struct hint_made {
	char text[HINT_BYTES];
	struct lang_construction made;
	struct lang_argument at[HINT_ARGUMENTS];
	char texts[HINT_ARGUMENTS][HINT_ARGUMENT_BYTES];
};
bool hint_construct(struct lang_outline *o, const char *class, struct hint_made *out);

#endif
