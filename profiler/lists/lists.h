/* profiler/lists/lists.h -- what this engine has, as JSON: ops, backends, passes.
 *
 * Each reads the tables that the engine itself reads, so a list cannot be out of
 * date.  `registry` may be NULL: what is built in.  The caller owns the value;
 * NULL with MEMORY.
 */
#ifndef PROFILER_LISTS_LISTS_H
#define PROFILER_LISTS_LISTS_H

#include <jansson.h>

#include "fusion/base/err.h"
#include "fusion/registry.h"

/* {"ops": [{name, kind, spellings, operators, signature, dtypes, doc, gradient,
 * autocast: {cpu, cuda} (the class, "lower", "float32", "promote", "banned" or "none"),
 * backends: {NAME: [dtypes that it lowers]}, plugin}]}; `name` (NULL: all) is an
 * id or a spelling: NAME, with the nearest, where there is no such op.  Rows that
 * no program can spell are left out. */
json_t *lists_ops(const struct registry *registry, const char *name, struct err *err);

/* {"module", "names": sorted}: what programs find in a module, torch.nn, or what tensors have:
 * torch.Tensor.  Of no such module none. */
json_t *lists_names(const char *module, struct err *err);

/* {"backends": [{name, purpose, available, why_not, default, vector_unit, compiler,
 * plugin}]}.  Runs the compiler once, to ask for its version. */
json_t *lists_backends(const struct registry *registry, struct err *err);

/* Engine torch, of that Python (NULL: it is switched off): {name, purpose, available,
 * why_not}, and what profiler_torch_probe() says.  Takes seconds where it is there. */
json_t *lists_torch(const char *python, bool confined);

/* {"passes": [{name, purpose, needs, makes, breaks, after, required, why_required,
 * plugin}], "properties": [{name, text}]} in the order of execution. */
json_t *lists_passes(const struct registry *registry, struct err *err);

#endif
