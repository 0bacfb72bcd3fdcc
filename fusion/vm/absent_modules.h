/* fusion/vm/absent_modules.h -- packages that the language leaves out, by absent_modules.def.
 *
 * A program may import them: a published file often imports what its model never
 * uses.  Such a module's attributes are modules of the same kind, and what calls
 * one, derives from it or computes with it is an error at that line. */
#ifndef FUSION_VM_ABSENT_MODULES_H
#define FUSION_VM_ABSENT_MODULES_H

#include "fusion/vm/frame.h"

/* What to write instead of "einops.layers.torch"; NULL where the package is none of them. */
const char *absent_module_advice(const char *module);

/* Whether v stands for something that is not there: a module that does not exist, or what is taken
 * from it. */
bool absent_module_is(struct vm *vm, struct value v);

/* The same by name, of a module or of what is taken from one, as `host` knows modules. */
bool absent_module_refused_by_name(struct vm_host *host, const char *name, struct err *err);

/* Fails, for a use of `v`, with its name and the advice; true where it is no such module. */
static inline bool absent_module_refused(struct vm *vm, struct value v, struct err *err)
{
	return v.kind != VALUE_MODULE ||
	       absent_module_refused_by_name(vm_host_here(vm), v.module->name, err);
}

/* Whether code at the level of the module or of a class runs: there a call of what is not there,
 * a class derived from it, an item of it are not there either, and fail where they are used. */
bool absent_module_may_wait(const struct vm *vm);

#endif
