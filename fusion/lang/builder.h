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
	struct arena *program; /* code objects live here */
	struct arena *scratch;
	struct names keys; /* of constants, to find equal ones */
	struct err *err;
};

struct place {
	int line, column, end_column;
};

struct label {
	int at;    /* instruction, or -1 */
	int chain; /* last jump that waits for it, or -1; each one's arg is the one before */
	int depth; /* of the operand stack there */
};

struct loop {
	struct loop *outer;
	struct label *next, *out; /* for continue and break */
	bool iterates;            /* an iterator is on the stack */
};

struct builder {
	struct compiler *c;
	const struct scope *scope;
	struct loop *loop;
	VEC(struct lang_inst) insts;
	VEC(struct lang_const) consts;
	VEC(const char *) names;
	VEC(struct code *) nested;
	struct name_map const_map, name_map;
	int depth, deepest;
	bool dead;
};

void builder_init(struct builder *b, struct compiler *c, const struct scope *scope);
void builder_finish(struct builder *b);

static inline struct place place_of(const struct node *node)
{
	return (struct place){ node->line, node->column, node->end_column };
}

/* All that follow: false when out of memory. */
bool emit(struct builder *b, struct place at, enum code_op op, int arg);
bool emit_const(struct builder *b, struct place at, struct lang_const value);
bool emit_name(struct builder *b, struct place at, enum code_op op, const char *name);
bool emit_jump(struct builder *b, struct place at, enum code_op op, struct label *to);

static inline struct label label_new(void)
{
	return (struct label){ -1, -1, 0 };
}
void label_bind(struct builder *b, struct label *label); /* here */

/* The code object, in the program's arena; parameters are not filled in. */
struct code *builder_code(struct builder *b, const char *name, int line);

bool out_of_memory(struct builder *b);

#endif
