/* fusion/vm/instance.h -- what reading and storing attributes of instances share. */
#ifndef FUSION_CAPTURE_INSTANCE_H
#define FUSION_CAPTURE_INSTANCE_H

#include "fusion/vm/frame.h"

/* Fails: the instance or class has no such attribute. */
bool instance_lacks(struct vm *vm, struct value o, const char *name, struct err *err);

/* Its own attributes, made where there are none yet; a new reference. */
/* Whether a module holds a submodule, a parameter or a buffer of that name. */
bool instance_has_child(struct vm *vm, const struct instance *i, const char *name, bool *out,
			struct err *err);

bool instance_dict(struct vm *vm, struct value o, struct value *out, struct err *err);

/* A submodule or a parameter: what a module keeps apart from its attributes. */
bool is_child_kind(struct value v);

#endif
