/* fusion/vm/prelude.h -- modules that are written in the workload language.
 *
 * torch.nn's classes, functools, dataclasses and their like: text that is built
 * in, compiled and run when a program first asks for something of it.  Its code
 * objects are marked hidden. */
#ifndef FUSION_VM_PRELUDE_H
#define FUSION_VM_PRELUDE_H

#include "fusion/base/nearest.h"
#include "fusion/vm/frame.h"
#include "fusion/vm/modules.h"

/* Their compiled texts, which VMs of one thread share: to compile them again for
 * each would take longer than most programs do. */
struct prelude_programs *prelude_programs_create(void);    /* NULL: out of memory */
void prelude_programs_destroy(struct prelude_programs *p); /* after its VMs; NULL is fine */

/* Whether a prelude has names of the module. */
bool prelude_has_module(const char *module);

/* Whether the prelude of that module defines the name; for checks before a run. */
bool prelude_defines(const char *module, const char *name);

/* Offers the names that it defines. */
void prelude_offer(const char *module, struct nearest *n);

/* Whether it does so in a line `name = None`. */
bool prelude_defines_none(const char *module, const char *name);

/* module.name; *found false where its prelude, if any, has no such name. */
bool prelude_attribute(struct vm *vm, const char *module, const char *name, struct value *out,
		       bool *found, struct err *err);

void prelude_release(struct vm *vm);

#endif
