/* fusion/vm/builtins.h -- the functions that the VM defines itself.
 *
 * builtins.def is their one table: Python's builtins, the module math, and the
 * methods of list, tuple, dict and str.  builtin_call() checks the counts and
 * keywords of a call against the row before its function runs.
 */
#ifndef FUSION_VM_BUILTINS_H
#define FUSION_VM_BUILTINS_H

#include "fusion/vm/frame.h"

struct builtin_call {
	const struct builtin *row;
	struct value self; /* of a method; UNSET otherwise */
	const struct value *args;
	int n;                     /* positional */
	const struct keywords *kw; /* may be NULL; their values follow the positional ones */
};

typedef bool builtin_fn(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err);

struct builtin {
	const char *scope; /* "": everywhere; "math": of a module; "list": methods of a type */
	const char *name;
	builtin_fn *run;
	int least, most;      /* positional arguments; most -1: any number */
	const char *keywords; /* names apart by blanks; "*": any */
	const char *doc;
	bool impure; /* the host is asked before it runs */
};

/* The table of each section of builtins.def, at the end of the file of its functions; the row
 * after the last has no name. */
#define BUILTIN(scope, name, function, least, most, keywords, doc)                                 \
	{ scope, name, function, least, most, keywords, doc, false },
#define IMPURE(scope, name, function, least, most, keywords, doc)                                  \
	{ scope, name, function, least, most, keywords, doc, true },
#define BUILTINS_SECTION(file) extern const struct builtin file##_builtins[];
#include "fusion/vm/builtins.def"
#undef BUILTINS_SECTION

/* ascii(v): format() has it too. */
builtin_fn builtin_ascii;

/* Whether it is a method of a type and not of what is of that type: str.maketrans(). */
bool builtin_is_static(const struct builtin *row);

/* The id of a row, -1 where there is none. */
int builtin_find(const char *scope, const char *name);
int builtin_count(void);
const struct builtin *builtin_row(int id);

/* What a name means that nothing defines: a builtin or a class of Python's;
 * UNSET where there is none (or no memory). */
struct value builtin_named(struct vm *vm, const char *name);
bool builtin_is_name(const char *name);

/* A VALUE_NATIVE that calls the row; UNSET when out of memory. */
static inline struct value builtin_value(int id, struct value self)
{
	return value_native(builtin_row(id)->name, id, true, self);
}

bool builtin_call(struct vm *vm, const struct native *f, const struct arguments *args,
		  struct value *out, struct err *err);

/* The value of a keyword, borrowed; false where it was not given. */
bool builtin_keyword(const struct builtin_call *call, const char *name, struct value *out);

/* A float from a number, or through the host; TYPE otherwise. */
bool builtin_double(struct vm *vm, struct value v, double *out, struct err *err);

/* Appends str(v), or repr(v); the host prints tensors. */
bool builtin_text(struct vm *vm, struct value v, bool plain, struct buf *text, struct err *err);

/* A value of the text, which is emptied. */
bool builtin_take_text(struct vm *vm, struct buf *text, struct value *out, struct err *err);

#endif
