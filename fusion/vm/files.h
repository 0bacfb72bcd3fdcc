/* fusion/vm/files.h -- modules that are files of the program: imports between them, as Python's
 * importlib has them.
 *
 * A file is a module by the name that it is imported by; one file is one module.  Top modules are
 * looked for beside the entry (in the folder of its outermost package), then in the program's
 * folder, then in its folder src.  The entry is a module of its own name, "train" or
 * "models.unet", as where another file imports it: its __name__ is not "__main__". */
#ifndef FUSION_VM_FILES_H
#define FUSION_VM_FILES_H

#include "fusion/vm/frame.h"

enum run_state { FILE_NOT_RUN, FILE_RUNNING, FILE_HAS_RUN };

struct vm_file {
	const char *name;             /* "models.unet" */
	const char *package;          /* what `.` is: "models"; "" in none */
	const char *folder;           /* of a package, what is below it: "models/"; else NULL */
	const struct lang_file *file; /* NULL: a folder without __init__.py */
	const void *owner;            /* of its globals */
	struct unit *unit, own;
	enum run_state state;
	struct value module;
};

/* Of a program with files: the entry's module.  False: out of memory. */
bool files_begin(struct vm *vm);
void files_release(struct vm *vm);

/* Runs the packages that the entry is in, and the entry. */
bool files_run_entry(struct vm *vm, struct err *err);

/* IMPORT and IMPORT_STAR, also of what is no file of the program.  Names with dots in front are
 * relative.  ImportError and its like. */
bool inst_import(struct vm *vm, struct frame *f, const struct lang_inst *inst, struct err *err);

/* module.name, which `from module import name` asks for, too; and module.name = v, where UNSET
 * deletes it. */
bool files_attribute(struct vm *vm, struct attr_site *site, struct value module, const char *name,
		     struct value *out, struct err *err);
bool files_store(struct vm *vm, struct value module, const char *name, struct value v,
		 struct err *err);

/* Whether code is the one at the level of a module of the program. */
static inline bool files_is_module_code(const struct unit *unit)
{
	return unit->home && unit == unit->home->unit;
}

/* Without a VM: whether a file of the program is what a program that says `import name` gets. */
bool files_have(const struct lang_files *files, const char *name);

#endif
