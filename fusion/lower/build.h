/* fusion/lower/build.h -- what the files of this folder share; private to it.
 *
 * lower.c makes the buffers and goes through the kernels; schedule.c decides
 * what a kernel computes in which stage and appends the instructions, with
 * strides over the dims of the domain; space.c turns these into the kernel's
 * own dims and picks the form; traffic.c counts its bytes.
 */
#ifndef FUSION_LOWER_BUILD_H
#define FUSION_LOWER_BUILD_H

#include "fusion/base/vec.h"
#include "fusion/graph/domain.h"
#include "fusion/lower/lower.h"

/* Where a register is written, which says where it can be read. */
struct home {
	enum reg_level level;
	int stage; /* POINT: of the body; ROW: of the post, -1: the prologue */
};

struct reg_info {
	enum dtype dtype;
	struct home home;
	int wide;        /* narrow: the register of its wide dtype with the same values; -1 */
	enum dtype kept; /* wide: the narrow dtype that holds its values too; its own: none */
};

/* What is known of a node while its kernel is built. */
struct node_state {
	int buffer;           /* that holds its value, -1 */
	int reg;              /* that holds its value last, -1 */
	int8_t map[MAX_RANK]; /* of that register, where it was loaded */
	uint32_t needed;      /* bit s: the body of stage s computes or fetches it */
	int slot;             /* SAVE slot, -1 */
	bool saved;           /* kept for later stages */
	int cost;             /* of computing it again, in cheap ops; saved: of fetching it */
	bool constant;        /* an immediate where it is used */
};

typedef VEC(struct inst) inst_list;

struct build {
	const struct graph *g;
	const int *group;
	const char *const *why; /* by group; NULL */
	struct lowered *l;
	struct arena *arena;  /* of the result */
	struct arena scratch; /* of the build */
	struct err *err;
	const struct sym *zero;
	struct node_state *state;               /* by node */
	struct domain_place *places;            /* by node, of its own kernel */
	const struct sym *(*strides)[MAX_RANK]; /* by buffer */
	/* The kernel under construction. */
	int kernel;
	const int *nodes;
	int n_nodes;
	struct domain domain;
	int n_stages;
	bool own_result; /* what its product makes is read here alone */
	inst_list setup, prologue, body[DOMAIN_MAX_STAGES], post[DOMAIN_MAX_STAGES];
	VEC(struct reg_info) regs;
	VEC(enum dtype) slots;
	VEC(struct access *) accesses;
	bool searches; /* kernels answer them: lower_graph() */
	bool failed;   /* out of memory; the message comes at the end */
};

/* lower.c: where a value lies that memory holds, itself or as a view of what it
 * does; strides over its own dims. */
struct access build_access(struct build *b, int node);

/* schedule.c: fills the lists of the kernel from its nodes. */
bool schedule_kernel(struct build *b);

/* space.c: dims, strides and form of the kernel. */
bool space_choose(struct build *b, struct kernel *k);

/* traffic.c: the kernel's bytes, under the hints. */
void traffic_count(const struct build *b, struct kernel *k);

#endif
