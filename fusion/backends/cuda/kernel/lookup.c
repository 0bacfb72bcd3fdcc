/* fusion/backends/cuda/kernel/lookup.c -- the CUDA C of loads by indices, and of joins.
 *
 * Of an index that is the same for all lanes of a thread there is one number, and where x
 * then has the lanes side by side they are one access; else each lane has its own.
 */
#include "fusion/backends/cuda/kernel/kernel.h"

#include <math.h>
#include <stdio.h>

#include "fusion/backends/cuda/kernel/text.h"
#include "fusion/backends/library/library.h"

/* What these loads call; comes after intrinsics.cu.  struct launch_fault is struct cuda_fault of
 * args.h. */
static const char words[] =
    "struct launch_fault { int raised, claimed; const void *call; i64 index, size; };\n"
    "static __device__ __noinline__ void note_index(launch_fault *fault, const char *site, "
    "i64 index, i64 size)\n{\n"
    "\tif (atomicCAS(&fault->claimed, 0, 1) != 0)\n\t\treturn;\n"
    "\tfault->call = site;\n\tfault->index = index;\n\tfault->size = size;\n"
    "\t__threadfence_system();\n\t*(volatile int *)&fault->raised = 1;\n}\n"
    "// Without a branch, so that many loads are under way: *wrong is asked about later.\n"
    "WORD i64 named(i64 i, i64 least, i64 size, i64 *wrong)\n{\n"
    "\tconst i64 place = least < 0 && i < 0 ? i + size : i;\n"
    "\tconst bool inside = (unsigned long long)place < (unsigned long long)size;\n\n"
    "\t*wrong = inside ? *wrong : i == LOWEST_i64 ? i + 1 : i;\n"
    "\treturn inside ? place : 0;\n}\n"
    "WORD i64 wrapped(i64 i, i64 size)\n{\n\treturn i < 0 ? i + size : i;\n}\n"
    "template <class T, int N> WORD void get_wide(T (&to)[N], const T *from)\n{\n"
    "\tconstexpr int M = (int)(16 / sizeof(T)) < N ? (int)(16 / sizeof(T)) : N;\n"
    "\tfor (int i = 0; i < N / M; i++) {\n\t\tT part[M];\n\n\t\tget(part, from + i * M);\n"
    "\t\tfor (int j = 0; j < M; j++)\n\t\t\tto[i * M + j] = part[j];\n\t}\n}\n";

static bool is_in(const struct inst *insts, int n)
{
	for (int i = 0; i < n; i++)
		if (insts[i].lookup)
			return true;
	return false;
}

const char *cuda_looks_up(const struct kernel *k)
{
	bool any = is_in(k->setup, k->n_setup) || is_in(k->prologue, k->n_prologue);

	for (int s = 0; s < k->n_stages && !any; s++)
		any = is_in(k->stages[s].body, k->stages[s].n_body) ||
		      is_in(k->stages[s].post, k->stages[s].n_post);
	return any ? words : NULL;
}

static const struct sym *last_stride(const struct emit_text *t, const struct access *at)
{
	const struct kernel *k = t->c->kernel;

	return k->n_dims ? at->stride[k->n_dims - 1] : NULL;
}

static bool stands_still(const struct emit_text *t, const struct access *at)
{
	const struct sym *stride = last_stride(t, at);

	return !stride || sym_is(stride, 0);
}

static bool is_multiple(const struct sym *s, int n)
{
	return sym_is_const(s) && s->value % n == 0;
}

/* Whether the lanes of a thread lie side by side, and begin at a multiple of their number. */
static bool is_side_by_side(const struct emit_text *t, const struct access *at)
{
	const struct kernel *k = t->c->kernel;
	int lanes = t->c->lanes;
	bool fits = lanes > 1 && last_stride(t, at) && sym_is(last_stride(t, at), 1) &&
		    is_multiple(at->offset, lanes);

	for (int d = 0; d + 1 < k->n_dims && fits; d++)
		fits = is_multiple(at->stride[d], lanes);
	return fits;
}

static bool is_wide(const struct emit_text *t, const struct inst *inst)
{
	const struct lower_lookup *l = inst->lookup;
	bool fits = is_side_by_side(t, &inst->at);

	for (int i = 0; i < l->n && fits; i++)
		fits = stands_still(t, &l->index[i].at) &&
		       is_multiple(l->index[i].step, t->c->lanes);
	return fits;
}

/* Number of the site that faults of an index name. */
static int site_of(struct emit_text *t, const struct inst *inst, const struct lower_index *index)
{
	if (!VEC_PUSH(&t->c->sites, (struct cuda_site){ inst->node, index->size }))
		t->out->failed = true;
	return (int)t->c->sites.len - 1;
}

void text_sites_end(struct emit_text *t)
{
	for (size_t i = (size_t)t->told; i < t->c->sites.len; i++) {
		buf_printf(t->out,
			   "\tif (w%zu != LOWEST_i64) note_index(fault, sites + %zu, w%zu, ", i,
			   i * sizeof(struct library_call), i);
		text_number(t, t->c->sites.at[i].size);
		buf_puts(t->out, ");\n");
	}
	t->told = (int)t->c->sites.len;
}

/* Whether what an index adds fits into 31 bits. */
static bool is_near(const struct lower_index *index)
{
	return sym_is_const(index->size) && sym_is_const(index->step) && index->step->value >= 0 &&
	       (double)index->size->value * (double)index->step->value < INT32_MAX;
}

/* What the number `i` of an index adds to the place. */
static void put_offset(struct emit_text *t, const struct inst *inst,
		       const struct lower_index *index, const char *i)
{
	bool near = is_near(index);

	buf_puts(t->out, near ? "(u32)" : "");
	if (index->known && !index->from_end) {
		buf_printf(t->out, "(i64)%s", i);
	} else if (index->known) {
		buf_printf(t->out, "wrapped((i64)%s, ", i);
		text_number(t, index->size);
		buf_puts(t->out, ")");
	} else {
		buf_printf(t->out, "named((i64)%s, ", i);
		if (index->from_end)
			buf_puts(t->out, "-(i64)");
		if (index->from_end)
			text_number(t, index->size);
		else
			buf_puts(t->out, "0");
		buf_puts(t->out, ", ");
		text_number(t, index->size);
		buf_printf(t->out, ", &w%d)", site_of(t, inst, index));
	}
	buf_puts(t->out, near ? " * (u32)" : " * (i64)");
	text_number(t, index->step);
}

/* How far numbers of so many steps go; -1: it is not known. */
static double reach_of(const struct sym *size, const struct sym *step)
{
	if (!step || sym_is(step, 0))
		return 0;
	if (!sym_is_const(size) || !sym_is_const(step))
		return -INFINITY;
	return fabs((double)size->value * (double)step->value);
}

/* Whether all places of the load are known to be within 31 bits: offsets of 32 bits do, and
 * what goes below 0 on the way comes back. */
static bool is_within_reach(const struct emit_text *t, const struct inst *inst)
{
	const struct kernel *k = t->c->kernel;
	double reach = sym_is_const(inst->at.offset) ? (double)inst->at.offset->value : -INFINITY;

	for (int d = 0; d < k->n_dims; d++)
		reach += reach_of(k->extent[d], inst->at.stride[d]);
	for (int i = 0; i < inst->lookup->n; i++)
		reach += reach_of(inst->lookup->index[i].size, inst->lookup->index[i].step);
	return reach >= 0 && reach < INT32_MAX;
}

/* "b3[512u + x0 * 64u + n0_0[2]]" */
static void put_near_element(struct emit_text *t, const struct inst *inst, int load, int lane)
{
	const struct kernel *k = t->c->kernel;

	buf_printf(t->out, "b%d[%uu", t->c->places[inst->at.buffer],
		   (unsigned)inst->at.offset->value);
	for (int d = 0; d < k->n_dims; d++) {
		const struct sym *stride = inst->at.stride[d];

		if (stride && !sym_is(stride, 0))
			buf_printf(t->out, " + (x%d + %du) * %uu", d,
				   d + 1 == k->n_dims ? (unsigned)lane : 0,
				   (unsigned)stride->value);
	}
	for (int i = 0; i < inst->lookup->n; i++)
		buf_printf(t->out, " + (u32)n%d_%d[%d]", load, i,
			   stands_still(t, &inst->lookup->index[i].at) ? 0 : lane);
	buf_puts(t->out, "]");
}

/* "(b3 + (i64)x0)[2 * z0]": lane j of an access. */
static void put_element(struct emit_text *t, const struct access *at, int lane)
{
	buf_puts(t->out, "(");
	text_address(t, at, t->c->kernel->n_dims, "x");
	buf_puts(t->out, ")[");
	if (lane > 0 && !stands_still(t, at)) {
		buf_printf(t->out, "%d * ", lane);
		text_number(t, last_stride(t, at));
	} else {
		buf_puts(t->out, "0");
	}
}

/* n<load>_<i>[lanes], or [1] where all are the same: what index i adds to the place. */
static void put_index(struct emit_text *t, const struct inst *inst, int load, int i, int lanes)
{
	const struct lower_index *index = &inst->lookup->index[i];
	enum dtype dtype = t->c->lowered->buffers[index->at.buffer].dtype;
	bool same = stands_still(t, &index->at);
	char name[32];

	lanes = same ? 1 : lanes;
	buf_printf(t->out, "\t%s q%d_%d[%d];\n", text_element(dtype), load, i, lanes);
	if (!same && is_side_by_side(t, &index->at)) {
		buf_printf(t->out, "\tget_wide(q%d_%d, ", load, i);
		text_address(t, &index->at, t->c->kernel->n_dims, "x");
		buf_puts(t->out, ");\n");
	} else {
		for (int j = 0; j < lanes; j++) {
			buf_printf(t->out, "\tq%d_%d[%d] = ", load, i, j);
			put_element(t, &index->at, j);
			buf_puts(t->out, "];\n");
		}
	}
	snprintf(name, sizeof(name), "q%d_%d[j]", load, i);
	buf_printf(t->out, "\t%s n%d_%d[%d];\n\tfor (int j = 0; j < %d; j++) n%d_%d[j] = ",
		   is_near(index) ? "u32" : "i64", load, i, lanes, lanes, load, i);
	put_offset(t, inst, index, name);
	buf_puts(t->out, ";\n");
}

/* " + n0_0[2] + n0_1[0]" */
static void put_sum(struct emit_text *t, const struct inst *inst, int load, int lane)
{
	for (int i = 0; i < inst->lookup->n; i++)
		buf_printf(t->out, " + (i64)n%d_%d[%d]", load, i,
			   stands_still(t, &inst->lookup->index[i].at) ? 0 : lane);
}

/* "z0 > 0 && ": of sizes that may be 0, where no place is the tensor's; whether there are any. */
static bool put_sizes(struct emit_text *t, const struct inst *inst)
{
	bool any = false;

	for (int i = 0; i < inst->lookup->n; i++) {
		const struct sym *size = inst->lookup->index[i].size;

		if (sym_is_const(size) && size->value > 0)
			continue;
		buf_puts(t->out, any ? " && (i64)" : "(i64)");
		text_number(t, size);
		buf_puts(t->out, " > 0");
		any = true;
	}
	return any;
}

static void put_lane(struct emit_text *t, const struct inst *inst, int load, int lane)
{
	if (put_sizes(t, inst))
		buf_puts(t->out, " ? ");
	if (is_within_reach(t, inst)) {
		put_near_element(t, inst, load, lane);
	} else {
		put_element(t, &inst->at, lane);
		put_sum(t, inst, load, lane);
		buf_puts(t->out, "]");
	}
	for (int i = 0; i < inst->lookup->n; i++) {
		const struct sym *size = inst->lookup->index[i].size;

		if (!sym_is_const(size) || size->value <= 0) {
			buf_printf(t->out, " : (%s)0", text_element(inst->dtype));
			break;
		}
	}
}

static void put_lanes(struct emit_text *t, const struct inst *inst, int load)
{
	bool same = stands_still(t, &inst->at), sized = true;
	int lanes = t->c->lanes;

	buf_puts(t->out, "\t{\n");
	for (int i = 0; i < inst->lookup->n; i++) {
		const struct lower_index *index = &inst->lookup->index[i];

		put_index(t, inst, load, i, lanes);
		same &= stands_still(t, &index->at);
		sized &= sym_is_const(index->size) && index->size->value > 0;
	}
	if (sized && is_wide(t, inst)) {
		buf_printf(t->out, "\tget(l%d, ", load);
		text_address(t, &inst->at, t->c->kernel->n_dims, "x");
		put_sum(t, inst, load, 0);
		buf_puts(t->out, ");\n");
	}
	for (int j = 0; j < lanes && !(sized && is_wide(t, inst)); j++) {
		buf_printf(t->out, "\tl%d[%d] = ", load, j);
		if (same && j > 0)
			buf_printf(t->out, "l%d[0]", load);
		else
			put_lane(t, inst, load, j);
		buf_puts(t->out, ";\n");
	}
	buf_puts(t->out, "\t}\n");
}

/* The register of a row, or of the launch. */
static void put_one(struct emit_text *t, const struct inst *inst)
{
	buf_printf(t->out, "\t%s v%d;\n\t{\n", text_element(inst->dtype), inst->dst);
	for (int i = 0; i < inst->lookup->n; i++)
		put_index(t, inst, inst->dst, i, 1);
	buf_printf(t->out, "\tv%d = ", inst->dst);
	put_lane(t, inst, inst->dst, 0);
	buf_printf(t->out, ";\n\t}\n\tconst %s r%d = v%d%s;\n", text_value(inst->dtype), inst->dst,
		   inst->dst, inst->dtype == DTYPE_BOOL ? " != 0" : "");
}

/* Loads of a join: which part a run of lanes is in decides where it lies. */
static void put_join(struct emit_text *t, const struct inst *inst, int id)
{
	const struct lower_join *join = inst->join;
	struct buf *out = t->out;

	buf_puts(out, "\t{\n\tu32 q = p;\n");
	for (int d = join->rank - 1; d >= 0; d--) {
		buf_printf(out, "\tconst u32 w%d = (u32)(", d);
		for (int i = 0; d == join->dim && i < join->n; i++) {
			buf_puts(out, i ? " + " : "");
			text_number(t, join->part[i].extent[d]);
		}
		if (d != join->dim)
			text_number(t, join->part[0].extent[d]);
		buf_printf(out, ");\n\t%su32 y%d = q %% w%d;\n\tq /= w%d;\n",
			   d == join->dim ? "" : "const ", d, d, d);
	}
	for (int i = 0; i < join->n; i++) {
		if (i + 1 < join->n) {
			buf_printf(out, "\tif (y%d < (u32)", join->dim);
			text_number(t, join->part[i].extent[join->dim]);
			buf_puts(out, ") ");
		}
		buf_printf(out, "{ get(l%d, ", id);
		text_address(t, &join->part[i].at, join->rank, "y");
		buf_puts(out, "); }\n");
		if (i + 1 < join->n) {
			buf_printf(out, "\telse { y%d -= (u32)", join->dim);
			text_number(t, join->part[i].extent[join->dim]);
			buf_puts(out, ";\n");
		}
	}
	for (int i = 0; i + 1 < join->n; i++)
		buf_puts(out, "\t}");
	buf_puts(out, "\n\t}\n");
}

void text_lookup(struct emit_text *t, const struct inst *inst, int load)
{
	if (inst->join)
		put_join(t, inst, load);
	else if (load < 0)
		put_one(t, inst);
	else
		put_lanes(t, inst, load);
}
