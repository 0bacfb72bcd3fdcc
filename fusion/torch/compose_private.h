/* fusion/torch/compose_private.h -- between the files compose*.c; private to them. */
#ifndef FUSION_RUNTIME_COMPOSE_PRIVATE_H
#define FUSION_RUNTIME_COMPOSE_PRIVATE_H

#include "fusion/torch/compose.h"

/* compose_more.c: natives from NATIVE_INDEX_ADD on, of the tensor `t`; `name` is
 * what the last op is called. */
bool compose_more(const struct composer *c, const struct native *f, const char *name,
		  struct value t, const struct value *args, int n, const struct keywords *kw,
		  struct value *out, struct err *err);

#endif
