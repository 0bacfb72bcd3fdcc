/* fusion/lang/builder.h -- puts one code object together.
 *
 * Jumps go to labels, forward or back.  What cannot be reached -- after a
 * jump or a return, before a label that something jumps to -- is dropped, so
 * the depth of the operand stack is known at every instruction.
 * Private to fusion/lang.
 */
#ifndef FUSION_LANG_BUILDER_H
#define FUSION_LANG_BUILDER_H

#include "fusion/base/arena.h"
#include "fusion/base/vec.h"
#include "fusion/lang/ast.h"
#include "fusion/lang/names.h"
#include "fusion/lang/scope.h"

/* What all code objects of a program share. */
struct compiler {
	int lines_before;      /* of the file */
	bool expression;       /* the module is one, whose value it returns */
	bool texts;            /* from __future__ import annotations: they are their texts */
	struct arena *program; /* code objects live here */
	struct arena *scratch;
	struct lang_names keys; /* of constants, to find equal ones */
	const struct known_names *known;
	int work;      /* instructions and statements; a finally block counts each time */
	int unwinding; /* statements under way that leave blocks, inside each other */
	struct err *err;
};

struct code_place {
	int line, column, end_column;
};

struct label {
	int at;    /* instruction, or -1 */
	int chain; /* last jump that waits for it, or -1; each one's arg is the one before */
	int depth; /* of the operand stack there */
};

/* The instructions whose errors go to one place.  They need not be in one piece:
 * what leaves a block is outside of it. */
struct code_guard {
	enum handler_kind kind;
	int start; /* of the piece under way */
	int depth;
	int chain;            /* last piece, or -1; each one's target is the one before */
	struct code_place at; /* of a `try`; else zero */
};

enum block_kind {
	BLOCK_WHILE,
	BLOCK_FOR,     /* the iterator is on the stack */
	BLOCK_TRY,     /* the body of try */
	BLOCK_EXCEPT,  /* on the stack: the exception handled before */
	BLOCK_NAMED,   /* `except E as name`: the name is unset at the end */
	BLOCK_FINALLY, /* what runs before its finally block */
	BLOCK_RAISED,  /* the finally block after an error; as EXCEPT, and the error */
	BLOCK_WITH,    /* the exit is on the stack */
	BLOCK_VALUE,   /* a finally block that a return runs, with its value on the stack */
};

/* What return, break and continue leave on their way. */
struct code_block {
	enum block_kind kind;
	struct code_block *outer;
	struct code_place at;
	struct label *next, *out;        /* of a loop, for continue and break */
	struct code_guard guard;         /* of all but loops and VALUE */
	const struct node_list *finally; /* BLOCK_FINALLY */
	const char *name;                /* BLOCK_NAMED */
};

struct builder {
	struct compiler *c;
	const struct scope *scope;
	struct code_block *block;
	VEC(struct lang_inst) insts;
	VEC(struct lang_const) consts;
	VEC(const char *) names;
	VEC(struct code *) nested;
	VEC(struct lang_handler) handlers;
	VEC(struct lang_comprehension) comprehensions;
	struct name_map const_map, name_map;
	int depth, deepest;
	bool dead;
};

static inline void builder_init(struct builder *b, struct compiler *c, const struct scope *scope)
{
	*b = (struct builder){ .c = c, .scope = scope };
	b->const_map.arena = b->name_map.arena = c->scratch;
}

void builder_finish(struct builder *b);

static inline struct code_place place_of(const struct ast_node *node)
{
	return (struct code_place){ node->line, node->column, node->end_column };
}

/* All that follow: false when out of memory. */
bool emit(struct builder *b, struct code_place at, enum code_op op, int arg);
bool emit_const(struct builder *b, struct code_place at, struct lang_const value);
bool emit_name(struct builder *b, struct code_place at, enum code_op op, const char *name);
bool emit_jump(struct builder *b, struct code_place at, enum code_op op, struct label *to);

static inline struct label label_new(void)
{
	return (struct label){ -1, -1, 0 };
}
void label_bind(struct builder *b, struct label *label); /* here */

/* After a close. */
static inline void guard_again(struct builder *b, struct code_guard *guard)
{
	guard->start = (int)b->insts.len;
}

/* Errors from here on, which drop the topmost `above` operands and what is yet to
 * come ... */
static inline void guard_open(struct builder *b, struct code_guard *guard, enum handler_kind kind,
			      int above)
{
	*guard = (struct code_guard){ .kind = kind, .depth = b->depth - above, .chain = -1 };
	guard_again(b, guard);
}
bool guard_close(struct builder *b, struct code_guard *guard); /* ... to here */
/* ... come here, with the exception on the stack.  Where nothing was guarded,
 * what follows cannot be reached. */
void guard_bind(struct builder *b, struct code_guard *guard);

/* The cells that the code of `inner` takes from here, as a tuple. */
bool emit_closure(struct builder *b, struct code_place at, const struct scope *inner);
/* MAKE_FUNCTION, with what it takes on the stack. */
bool emit_function(struct builder *b, struct code_place at, struct code *code);

/* How far a code object has come, so that a statement can be taken back. */
struct builder_mark {
	size_t insts, nested, handlers, comprehensions;
	struct code_block *block;
	int depth, deepest, unwinding;
	bool dead;
};
struct builder_mark builder_mark(const struct builder *b);

/* Takes back what a statement has emitted since the mark; in its place comes an
 * instruction that fails, where it is reached, with the message of c->err, which is then
 * empty.  False where something outside of the statement already refers to what it
 * emitted (c->err is then unchanged, and the statement around it can be taken back), or
 * when out of memory. */
bool builder_refuse(struct builder *b, const struct builder_mark *mark);

/* The code object, in the program's arena; parameters are not filled in. */
struct code *builder_code(struct builder *b, const char *name, int line);

static inline bool out_of_memory(struct builder *b)
{
	return err_set(b->c->err, ERR_MEMORY, "out of memory while compiling the program");
}

/* Counts one more step of the compiler; BOUND where they are too many. */
bool builder_works(struct builder *b, struct code_place at);

#endif
