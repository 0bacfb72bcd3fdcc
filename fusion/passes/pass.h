/* fusion/passes/pass.h -- what the files of this folder share; private to it.
 *
 * A pass that changes nodes walks the graph once through struct rewrite: the
 * old nodes come in order, their arguments already rewired, and the pass says
 * which node of the new list stands for each.  So ids ascend at all times and
 * nothing has to be compacted.
 */
#ifndef FUSION_PASSES_PASS_H
#define FUSION_PASSES_PASS_H

#include "fusion/passes/passes.h"

/* One function a row of passes.def: changes g in place, says whether it did.
 * false with *err when memory is out or an invariant is broken. */
typedef bool pass_fn(struct graph *g, bool *changed, struct err *err);

pass_fn pass_decompose;
pass_fn pass_fold;
pass_fn pass_simplify;
pass_fn pass_cse;
pass_fn pass_dce;

/* The last pass: fills out->group and out->n_groups, changes no node. */
bool pass_fuse(struct graph *g, bool no_fusion, struct pass_result *out, struct err *err);

#endif
