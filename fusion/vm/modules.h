/* fusion/vm/modules.h -- the small modules of Python's library that are
 * rows of builtins.def: math, time, random, copy, typing, warnings. */
#ifndef FUSION_VM_MODULES_H
#define FUSION_VM_MODULES_H

#include "fusion/vm/frame.h"

enum { MODULE_NAME_BYTES = 256 };

/* Whether there is such a module: rows, a prelude's, or one that the host has (a plugin's,
 * torch.ops.name, too). */
bool module_exists(struct vm_host *host, const char *name);

/* Whether the machine has the module: a prelude's, or rows. */
bool module_is_native(const char *name);

/* torch.dtype and torch.Size: types that the VM itself knows.  `vm` NULL: only
 * whether it is one. */
bool module_type(struct vm *vm, const char *module, const char *name, struct value *out,
		 bool *found, struct err *err);

/* The module that a module's names are those of: torch.nn for torch.nn.modules.conv, else
 * itself. */
const char *module_real(const char *name);

/* Whether module.name is such a module, torch.nn.modules.conv, or os.path; and that one. */
bool module_is_file(const char *module, const char *name);
bool module_file(struct vm *vm, const char *module, const char *name, struct value *out,
		 struct err *err);

/* Offers the names of a module that the machine has: rows, and those of preludes. */
struct nearest;
void module_offer(const char *module, struct nearest *n);

/* What the program has stored as module.name (instance.c), of a module that is no file of it;
 * UNSET where it has not. */
bool module_stored(struct vm *vm, const struct module *module, const char *name, struct value *out,
		   struct err *err);

/* __annotations__ of a class or function: its own from now on. */
bool typing_annotations(struct vm *vm, struct value o, struct value *out, struct err *err);

/* What the prelude's function of typing makes of so many arguments: the value of annotations, and
 * of types that [] and | make. */
bool typing_ask(struct vm *vm, const char *function, const struct value *args, int n,
		struct value *out, struct err *err);

/* module.name; NAME.  `vm` NULL: only whether it exists, *out is untouched. */
bool native_attribute(struct vm *vm, const char *module, const char *name, struct value *out,
		      struct err *err);

#endif
