/* fusion/vm/namedtuple.h -- tuples whose items have names. */
#ifndef FUSION_VM_NAMEDTUPLE_H
#define FUSION_VM_NAMEDTUPLE_H

#include "fusion/vm/frame.h"

/* class(args): the tuple; TYPE where they do not fit its fields. */
bool namedtuple_new(struct vm *vm, struct class *class, const struct arguments *args,
		    struct value *out, struct err *err);

/* The values of the last fields that are left out, any iterable; TYPE where there are too many. */
bool namedtuple_set_defaults(struct vm *vm, struct class *c, struct value defaults,
			     struct err *err);

/* P._make of the class P, which takes the items as one iterable. */
bool namedtuple_make(struct vm *vm, struct value class, struct value *out, struct err *err);

/* t.name; *found false where there is no such field. */
bool namedtuple_attribute(struct vm *vm, const struct list *t, const char *name, struct value *out,
			  bool *found, struct err *err);

/* A class that stands for another has its fields, too. */
bool class_copy_names(struct class *to, const struct class *from);

#endif
