/* fusion/lang/lang.h -- the workload language: source text to code objects.
 *
 *	struct lang_program *p = lang_compile(text, len, &limits, &err);
 *	if (!p) ... err has code, line, column and message
 *	...
 *	lang_destroy(p);
 *
 * The lexer and the parser take all of Python's grammar that a model has a use
 * for; a statement with what is left out (async, bytes, metaclasses, ...) fails where
 * it is reached (instruction REFUSE), with what to write instead.  A compiled program is immutable:
 *any number of threads may run it.
 */
#ifndef FUSION_LANG_LANG_H
#define FUSION_LANG_LANG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/buf.h"
#include "fusion/base/err.h"

enum binop {
	BIN_ADD,
	BIN_SUB,
	BIN_MUL,
	BIN_TRUEDIV,
	BIN_FLOORDIV,
	BIN_MOD,
	BIN_POW,
	BIN_MATMUL,
	BIN_AND,
	BIN_OR,
	BIN_XOR,
	BIN_LSHIFT,
	BIN_RSHIFT,
	BIN_COUNT
};
enum unop { UN_NEG, UN_POS, UN_INVERT, UN_NOT, UN_COUNT };
enum cmpop {
	CMP_LT,
	CMP_LE,
	CMP_EQ,
	CMP_NE,
	CMP_GT,
	CMP_GE,
	CMP_IS,
	CMP_IS_NOT,
	CMP_IN,
	CMP_NOT_IN,
	CMP_COUNT
};

/* "+", "-", "<=", "is not": for messages and for op:<symbol> spellings. */
const char *binop_symbol(enum binop op);
const char *unop_symbol(enum unop op);
const char *cmpop_symbol(enum cmpop op);

enum code_op {
#define CODE(id, arg, effect) CODE_##id,
#include "fusion/lang/code.def"
#undef CODE
	CODE_COUNT
};

/* By how much the instruction changes the depth of the operand stack; of one
 * that may jump, where it does not. */
int code_effect(enum code_op op, int arg);

enum const_kind {
	CONST_NONE,
	CONST_BOOL,
	CONST_INT,
	CONST_FLOAT,
	CONST_STR,
	CONST_ELLIPSIS,
	CONST_TUPLE
};

struct lang_const {
	enum const_kind kind;
	int n; /* CONST_TUPLE: items; CONST_STR: bytes, as a string may hold NULs */
	union {
		bool b;
		int64_t i;
		double f;
		const char *str;
		const struct lang_const *items;
	};
};

struct lang_inst {
	enum code_op op;
	int arg;
	int line, column; /* of the expression or statement it is part of */
	int end_column;   /* one past its last column, on `line` or later: for carets */
};

/* Where an error in the instructions [start, end) goes: operands above `depth`
 * are dropped, the exception is pushed, the frame goes on at `target`.  The
 * first handler in the list that covers an instruction is the innermost. */
enum handler_kind {
	HANDLER_TRY,    /* except, finally, and what they need to clean up */
	HANDLER_WITH,   /* a with statement's; its exit lies at depth - 1 */
	HANDLER_CLEANUP /* inside an except or finally block: restores and goes on */
};
struct lang_handler {
	enum handler_kind kind;
	int start, end, target, depth;
	int line, column; /* of its `try`; 0: another statement's */
};

/* The instructions [start, end) of a list, set or dict comprehension: at start
 * the first iterator is on top of the operands, at end the result is. */
struct lang_comprehension {
	int start, end;
};

/* One function, lambda, class body, generator expression or the module itself.
 * List, set and dict comprehensions run inside the code around them, as
 * in CPython 3.12. */
struct code {
	const char *name;        /* "model", "<module>", "<lambda>" */
	const char *doc;         /* the string that its body begins with; NULL */
	const char *owner;       /* the class whose method it is; NULL */
	const char *annotations; /* of parameters and result, "{'x': int}"; NULL: there are none */
	int line;                /* where it is defined */
	int lines_before;        /* its file's: a line of that is so much less */
	struct lang_inst *insts;
	int n_insts;
	int stack_depth; /* deepest operand stack */
	const struct lang_const *consts;
	int n_consts;
	const char *const *names; /* of globals and attributes */
	int n_names;
	/* Locals: parameters first, in order: positional, keyword-only,
	 * *args if any, **kwargs if any; then the others. */
	const char *const *locals;
	int n_locals;
	int n_positional, n_keyword_only;
	int n_positional_only; /* so many of n_positional cannot be named in a call */
	bool has_varargs, has_kwargs;
	uint64_t unused; /* parameters that the code never loads, by their local; the first 64 */
	/* Comprehensions have theirs here, too: a name may be there twice.
	 * Cells: n_own are made on entry (cell_local[i] is the parameter whose
	 * value it takes over, or -1), the rest come from the closure. */
	const char *const *cells;
	int n_cells, n_own_cells;
	const int *cell_local;
	struct code *const *nested;
	int n_nested;
	const struct lang_handler *handlers;
	int n_handlers;
	const struct lang_comprehension *comprehensions; /* outer ones after inner ones */
	int n_comprehensions;
	bool is_generator; /* a call makes a generator; a generator expression has one
			    * parameter, .0, the iterator of its first `for` */
	/* A class body: LOAD_NAME and STORE_NAME go to its dict.  Where it annotates names,
	 * __annotations__ there has them in order, each with its annotation as text: what a
	 * dataclass is made from. */
	bool has_namespace;
};

struct lang_limits {
	size_t source_bytes; /* 0: 1 MiB */
	int depth;           /* 0: 200, nesting of expressions and blocks */
	int nodes;           /* 0: 500,000 */
	int lines_before;    /* lines are counted from here: of the program's other files */
	bool expression;     /* the source is one, and running it returns its value */
};

/* A program of several files counts its lines through all of them, as Go's token.FileSet does,
 * so that a line number alone says where something is. */
struct lang_file {
	const char *path;                   /* "models/unet.py" */
	const struct lang_program *program; /* NULL: it does not compile */
	struct err failed;                  /* why */
	int lines_before, n_lines;
};
struct lang_files {
	struct lang_file *at; /* the entry's is the first */
	int n;
	struct arena *arena; /* owns the list and its paths */
};

struct lang_program {
	const char *source; /* a copy, NUL terminated */
	size_t source_len;
	const char **lines; /* start of each line; lines[i] is line i+1 */
	int n_lines;
	const struct code *module;
	struct arena *arena;            /* owns all of it but `files` */
	const struct lang_files *files; /* it begins a program of several, borrowed; NULL */
};

/* The source is copied; lines may end in \n, \r\n or \r, columns count
 * characters.  NULL with SYNTAX, UNSUPPORTED, BOUND or MEMORY, at line and
 * column but where the source as a whole is too large.  The caller gives the
 * program to lang_destroy(). */
struct lang_program *lang_compile(const char *source, size_t len, const struct lang_limits *limits,
				  struct err *err);
void lang_destroy(struct lang_program *p); /* NULL is fine */

/* Compiles the files, `entry` first: that one must compile, the others fail when they are
 * imported.  What it returns is the entry's program, for lang_files_destroy(). */
struct lang_text {
	const char *path, *text;
	size_t len;
};
struct lang_program *lang_compile_files(const struct lang_text *texts, int n, int entry,
					struct err *err);
void lang_files_destroy(struct lang_program *p); /* also of a program of one file; NULL is fine */

/* The file of a line that is counted through all; NULL: it has no such line. */
const struct lang_file *lang_file_at(const struct lang_files *files, int line);

/* One instruction a line, for tests. */
void lang_print(struct buf *out, const struct code *code);

#endif
