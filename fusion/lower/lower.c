/* fusion/lower/lower.c -- from groups of nodes to kernels and buffers.
 *
 * Nodes whose value another kernel or the caller reads get a buffer; inside a
 * kernel values live in registers.  Constants of one element and fills have no
 * memory: they are immediates wherever they are used.  What people read of a kernel is
 * made here too: its name, and its lines of the source.
 */
#include "fusion/lower/lower.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/graph/view.h"
#include "fusion/lower/build.h"

enum { NAME_OPS = 6, NAME_CHARS = 64 };

static const struct node *node_of(const struct build *b, int id)
{
	return b->g->nodes[id];
}

static enum op_kind kind_of(const struct node *n)
{
	return op_info(n->op)->kind;
}

static bool is_one_element(const struct shape *s)
{
	return domain_varying_dims(s) == 0;
}

static int add_buffer(struct build *b, const struct node *n, enum buffer_kind kind, int index)
{
	int id = b->l->n_buffers++;
	struct buffer *buffer = &b->l->buffers[id];
	const struct sym **stride = b->strides[id];
	const struct shape memory = view_memory(b->g, n, stride);

	*buffer = (struct buffer){ .kind = kind,
				   .index = index,
				   .node = n->id,
				   .dtype = n->dtype,
				   .shape = n->shape,
				   .numel = shape_numel(b->g->syms, &memory),
				   .data = kind == BUFFER_CONST ? n->data : NULL,
				   .first_kernel = -1,
				   .last_kernel = -1 };
	if (!buffer->numel)
		b->failed = true;
	if (n->op == OP_input)
		memcpy(stride, n->stride, sizeof(n->stride));
	for (int d = 0; d < n->shape.rank; d++)
		b->failed |= !stride[d];
	b->state[n->id].buffer = id;
	return id;
}

/* The buffer of a value that memory holds, made where it is missing. */
static int build_buffer(struct build *b, int node)
{
	const struct node *n = node_of(b, node);
	if (b->state[node].buffer >= 0)
		return b->state[node].buffer;
	if (kind_of(n) == KIND_CONSTANT)
		return add_buffer(b, n, BUFFER_CONST, -1);
	return add_buffer(b, n, BUFFER_TEMP, -1);
}

struct access build_access(struct build *b, int node)
{
	struct access at = { .buffer = -1, .offset = b->zero };
	struct view_layout layout;

	if (!view_layout(b->g, node, &layout)) {
		b->failed = true;
		return at;
	}
	at.buffer = build_buffer(b, layout.base);
	at.offset = layout.offset;
	memcpy(at.stride, layout.stride, sizeof(at.stride));
	return at;
}

/* Buffers of inputs, of outputs, and of what passes between kernels. */
static bool make_buffers(struct build *b)
{
	const struct graph *g = b->g;

	for (int i = 0; i < g->n_inputs; i++)
		add_buffer(b, node_of(b, g->inputs[i]), BUFFER_INPUT, i);
	for (int i = 0; i < g->n_outputs; i++) {
		const struct node *n = node_of(b, view_base(g, g->outputs[i]));
		if (b->state[n->id].buffer < 0 && kind_of(n) != KIND_CONSTANT)
			add_buffer(b, n, BUFFER_OUTPUT, i);
		b->l->outputs[i] = build_buffer(b, n->id);
	}
	for (int id = 0; id < g->n_nodes; id++) {
		const struct node *n = g->nodes[id];
		for (int a = 0; a < n->n_args; a++) {
			int p = n->args[a].kind == ARG_NODE ? view_base(g, n->args[a].node) : -1;
			if (p < 0 || b->group[id] < 0 || b->group[p] == b->group[id])
				continue;
			if (kind_of(n) == KIND_LIBRARY || kind_of(n) == KIND_JOIN ||
			    !b->state[p].constant)
				build_buffer(b, p);
		}
	}
	return !b->failed;
}

/* A library call with its operands; its result is the caller's. */
static void library_place(struct build *b, struct kernel *k, const struct node *n)
{
	k->op = n->op;
	k->library = n;
	for (int a = 0; a < n->n_args; a++)
		if (n->args[a].kind == ARG_NODE) {
			k->arg_at[a] = build_access(b, n->args[a].node);
			k->arg_buffer[a] = k->arg_at[a].buffer;
		}
}

/* The product that the kernel begins with; NULL. */
static const struct node *product_of(const struct build *b)
{
	for (int i = 0; i < b->n_nodes; i++)
		if (op_is_product(b->g->nodes[b->nodes[i]]->op))
			return b->g->nodes[b->nodes[i]];
	return NULL;
}

/* A buffer that is stored where the product would be read for the last time; -1. */
static int find_stored(const struct build *b, const struct kernel *k, int product)
{
	const struct buffer *buffers = b->l->buffers;

	for (int s = 0; s < k->n_stages; s++)
		for (int i = 0; i < k->stages[s].n_body; i++) {
			const struct inst *inst = &k->stages[s].body[i];

			if (inst->kind == INST_STORE &&
			    buffers[inst->at.buffer].dtype == buffers[product].dtype &&
			    kernel_overwrites(k, product, inst->at.buffer))
				return inst->at.buffer;
		}
	return -1;
}

static void load_from(struct kernel *k, int from, int to)
{
	for (int s = 0; s < k->n_stages; s++)
		for (int i = 0; i < k->stages[s].n_body; i++)
			if (k->stages[s].body[i].at.buffer == from)
				k->stages[s].body[i].at.buffer = to;
}

/* Its function writes its result, and the tile program loads it from there.  Where nobody
 * else reads the result it lies in the memory of a value that the program stores at the same
 * points, so that it needs none of its own.  The tile program is complete; `k` has no product yet,
 * as far as kernel_overwrites() knows. */
static void product_place(struct build *b, struct kernel *k)
{
	const struct node *n = product_of(b);
	int own = b->state[n->id].buffer, stored = -1;

	if (b->own_result)
		stored = find_stored(b, k, own);
	if (stored >= 0)
		load_from(k, own, stored);
	library_place(b, k, n);
	k->out_buffer = stored >= 0 ? stored : own;
}

/* Names of kernels before this one that open with the same text. */
static int count_namesakes(const struct build *b, const char *name)
{
	int count = 0;
	size_t len = strlen(name);
	for (int i = 0; i < b->kernel; i++) {
		const char *other = b->l->kernels[i].name;
		if (strncmp(other, name, len) == 0 &&
		    (!other[len] || strspn(other + len, "_0123456789") == strlen(other + len)))
			count++;
	}
	return count;
}

/* "fused_" and the ops in order, each once, as many as fit; NULL when out of memory. */
static const char *label_name(struct build *b, const struct kernel *k)
{
	char name[NAME_CHARS + 32];
	size_t len = (size_t)snprintf(name, sizeof(name), "%s",
				      k->form == FORM_LIBRARY ? "library" : "fused");
	bool used[OP_COUNT] = { false };

	for (int i = 0, listed = 0; i < k->n_nodes; i++) {
		const struct node *n = b->g->nodes[k->nodes[i]];
		const char *op = op_info(n->op)->id;
		if (used[n->op])
			continue;
		used[n->op] = true;
		/* The first ones and the last one say what it is. */
		if (listed >= NAME_OPS && i + 1 < k->n_nodes)
			continue;
		if (len + 1 + strlen(op) >= NAME_CHARS)
			break;
		len += (size_t)snprintf(name + len, sizeof(name) - len, "_%s", op);
		listed++;
	}
	int before = count_namesakes(b, name);
	if (before > 0)
		snprintf(name + len, sizeof(name) - len, "_%d", before);
	return arena_strdup(b->arena, name);
}

/* The lines of the source; false when out of memory. */
static bool label_lines(struct build *b, struct kernel *k)
{
	int *lines = ARENA_ARRAY(b->arena, int, (size_t)k->n_nodes);

	for (int i = 0; lines && i < k->n_nodes; i++) {
		int line = b->g->nodes[k->nodes[i]]->line, at = 0;

		while (at < k->n_lines && lines[at] != line)
			at++;
		if (line > 0 && at == k->n_lines)
			lines[k->n_lines++] = line;
	}
	k->lines = lines;
	return lines != NULL;
}

/* Forgets the registers of the kernel before. */
static void begin_kernel(struct build *b)
{
	b->setup.len = b->prologue.len = b->regs.len = b->slots.len = 0;
	for (int s = 0; s < DOMAIN_MAX_STAGES; s++)
		b->body[s].len = b->post[s].len = 0;
	for (int i = 0; i < b->n_nodes; i++) {
		const struct node *n = node_of(b, b->nodes[i]);
		b->state[n->id].reg = -1;
		for (int a = 0; a < n->n_args; a++)
			if (n->args[a].kind == ARG_NODE)
				b->state[n->args[a].node].reg = -1;
	}
}

static struct inst *keep_list(struct build *b, const inst_list *list, int *n)
{
	*n = (int)list->len;
	if (list->len == 0)
		return NULL;
	struct inst *copy = ARENA_ARRAY(b->arena, struct inst, list->len);
	if (copy)
		memcpy(copy, list->at, list->len * sizeof(*copy));
	else
		b->failed = true;
	return copy;
}

static bool keep_kernel(struct build *b, struct kernel *k)
{
	k->setup = keep_list(b, &b->setup, &k->n_setup);
	k->prologue = keep_list(b, &b->prologue, &k->n_prologue);
	k->n_stages = b->n_stages;
	k->stages = ARENA_ARRAY(b->arena, struct stage, (size_t)k->n_stages);
	k->n_regs = (int)b->regs.len;
	k->regs = ARENA_ARRAY(b->arena, struct reg, b->regs.len + 1);
	k->n_slots = (int)b->slots.len;
	enum dtype *slots = ARENA_ARRAY(b->arena, enum dtype, b->slots.len + 1);
	if (!k->stages || !k->regs || !slots)
		return false;
	for (int s = 0; s < k->n_stages; s++) {
		k->stages[s].body = keep_list(b, &b->body[s], &k->stages[s].n_body);
		k->stages[s].post = keep_list(b, &b->post[s], &k->stages[s].n_post);
	}
	for (int i = 0; i < k->n_regs; i++)
		k->regs[i] = (struct reg){ b->regs.at[i].dtype, b->regs.at[i].home.level };
	for (int i = 0; i < k->n_slots; i++)
		slots[i] = b->slots.at[i];
	k->slot_dtype = slots;
	return !b->failed;
}

static void touch(struct build *b, int buffer)
{
	struct buffer *at = &b->l->buffers[buffer];
	if (at->first_kernel < 0)
		at->first_kernel = b->kernel;
	at->last_kernel = b->kernel;
}

static void touch_list(struct build *b, const struct inst *list, int n)
{
	for (int i = 0; i < n; i++) {
		if (list[i].at.buffer >= 0)
			touch(b, list[i].at.buffer);
		for (int j = 0; list[i].join && j < list[i].join->n; j++)
			touch(b, list[i].join->part[j].at.buffer);
		for (int j = 0; list[i].lookup && j < list[i].lookup->n; j++)
			touch(b, list[i].lookup->index[j].at.buffer);
	}
}

static void touch_all(struct build *b, const struct kernel *k)
{
	touch_list(b, k->setup, k->n_setup);
	touch_list(b, k->prologue, k->n_prologue);
	for (int s = 0; s < k->n_stages; s++) {
		touch_list(b, k->stages[s].body, k->stages[s].n_body);
		touch_list(b, k->stages[s].post, k->stages[s].n_post);
	}
	for (int a = 0; k->library && a < MAX_ARGS; a++)
		if (k->arg_buffer[a] >= 0)
			touch(b, k->arg_buffer[a]);
	if (k->library)
		touch(b, k->out_buffer);
}

static bool build_library(struct build *b, struct kernel *k)
{
	const struct node *n = node_of(b, b->nodes[0]);

	k->form = FORM_LIBRARY;
	b->domain = (struct domain){ .full = n->shape };
	library_place(b, k, n);
	k->out_buffer = build_buffer(b, n->id);
	touch_all(b, k);
	return !b->failed;
}

static bool build_fused(struct build *b, struct kernel *k)
{
	const struct node *product = product_of(b);

	if (!domain_find(b->g, b->nodes, b->n_nodes, &b->domain) ||
	    !domain_place(&(struct domain_set){ b->g, b->nodes, b->n_nodes, b->group, b->kernel },
			  &b->domain, 0, b->places))
		return err_set(b->err, ERR_INTERNAL,
			       "kernel %d, from %%%s to %%%s, has no iteration space that holds "
			       "all its nodes",
			       b->kernel, node_of(b, b->nodes[0])->name,
			       node_of(b, b->nodes[b->n_nodes - 1])->name);
	begin_kernel(b);
	b->own_result = product && b->state[product->id].buffer < 0;
	if (product)
		build_buffer(b, product->id);
	if (!schedule_kernel(b) || !space_choose(b, k) || !keep_kernel(b, k))
		return false;
	if (product)
		product_place(b, k);
	touch_all(b, k);
	return !b->failed;
}

/* A search alone, where kernels answer one. */
static bool is_walked(const struct build *b, const struct node *n)
{
	return b->searches && domain_searches(b->g, n);
}

static bool build_kernel(struct build *b)
{
	struct kernel *k = &b->l->kernels[b->kernel];
	const struct node *first = node_of(b, b->nodes[0]);

	*k = (struct kernel){ .nodes = b->nodes, .n_nodes = b->n_nodes, .out_buffer = -1 };
	for (int a = 0; a < MAX_ARGS; a++)
		k->arg_buffer[a] = -1;
	for (int i = 0; i < b->n_nodes; i++) {
		const struct node *n = node_of(b, b->nodes[i]);
		enum op_kind kind = kind_of(n);
		if (kind == KIND_POINTWISE || kind == KIND_REDUCE || kind == KIND_JOIN ||
		    op_is_product(n->op) || op_is_lookup(n->op) || op_is_scan(n->op) ||
		    op_is_search(n->op) || b->n_nodes == 1)
			if (kind != KIND_COMPOSITE && kind != KIND_VIEW)
				continue;
		return err_set(b->err, ERR_INTERNAL,
			       "%%%s: %s cannot be lowered as a part of "
			       "a kernel",
			       n->name, op_info(n->op)->id);
	}
	if (!(kind_of(first) == KIND_LIBRARY && b->n_nodes == 1 && !is_walked(b, first)
		  ? build_library(b, k)
		  : build_fused(b, k)))
		return false;
	k->name = label_name(b, k);
	k->why = b->why ? b->why[b->kernel] : "";
	traffic_count(b, k);
	return label_lines(b, k) && k->name != NULL;
}

/* The node lists of all groups, one after the other, in the result's arena. */
static bool build_kernels(struct build *b)
{
	int n = b->g->n_nodes, count = b->l->n_kernels;
	int *begin = ARENA_ARRAY(&b->scratch, int, (size_t)count + 2);
	int *nodes = ARENA_ARRAY(b->arena, int, (size_t)n + 1);

	if (!begin || !nodes)
		return false;
	for (int id = 0; id < n; id++)
		if (b->group[id] >= 0)
			begin[b->group[id] + 2]++;
	for (int k = 0; k < count; k++)
		begin[k + 2] += begin[k + 1];
	for (int id = 0; id < n; id++)
		if (b->group[id] >= 0)
			nodes[begin[b->group[id] + 1]++] = id;
	for (b->kernel = 0; b->kernel < count; b->kernel++) {
		b->nodes = nodes + begin[b->kernel];
		b->n_nodes = begin[b->kernel + 1] - begin[b->kernel];
		if (b->n_nodes == 0)
			return err_set(b->err, ERR_INTERNAL, "group %d has no nodes", b->kernel);
		if (!build_kernel(b))
			return false;
	}
	return true;
}

static bool init(struct build *b)
{
	const struct graph *g = b->g;
	struct lowered *l = ARENA_NEW(b->arena, struct lowered);
	size_t n = (size_t)g->n_nodes + 1;

	if (!l)
		return false;
	b->l = l;
	l->graph = g;
	for (int id = 0; id < g->n_nodes; id++)
		if (b->group[id] >= l->n_kernels)
			l->n_kernels = b->group[id] + 1;
	l->n_outputs = g->n_outputs;
	l->kernels = ARENA_ARRAY(b->arena, struct kernel, (size_t)l->n_kernels + 1);
	l->buffers = ARENA_ARRAY(b->arena, struct buffer, n);
	l->outputs = ARENA_ARRAY(b->arena, int, (size_t)g->n_outputs + 1);
	b->state = ARENA_ARRAY(&b->scratch, struct node_state, n);
	b->places = ARENA_ARRAY(&b->scratch, struct domain_place, n);
	b->strides = arena_array(&b->scratch, n, sizeof(*b->strides));
	b->zero = sym_const(g->syms, 0);
	if (!l->kernels || !l->buffers || !l->outputs || !b->state || !b->places || !b->strides ||
	    !b->zero)
		return false;
	for (int id = 0; id < g->n_nodes; id++) {
		const struct node *node = g->nodes[id];
		enum op_kind kind = kind_of(node);
		b->state[id] = (struct node_state){ .buffer = -1, .reg = -1, .slot = -1 };
		b->state[id].constant = kind == KIND_CREATE ||
					(kind == KIND_CONSTANT && is_one_element(&node->shape));
	}
	return true;
}

static void finish(struct build *b)
{
	VEC_FREE(&b->setup);
	VEC_FREE(&b->prologue);
	for (int s = 0; s < DOMAIN_MAX_STAGES; s++) {
		VEC_FREE(&b->body[s]);
		VEC_FREE(&b->post[s]);
	}
	VEC_FREE(&b->regs);
	VEC_FREE(&b->slots);
	VEC_FREE(&b->accesses);
	arena_finish(&b->scratch);
}

struct lowered *lower_graph(const struct graph *g, const int *group, const char *const *reasons,
			    bool searches, struct arena *arena, struct err *err)
{
	struct err why = { 0 };
	struct build b = { .g = g,
			   .group = group,
			   .why = reasons,
			   .arena = arena,
			   .err = &why,
			   .searches = searches };
	bool ok = init(&b) && make_buffers(&b) && build_kernels(&b);

	finish(&b);
	if (ok)
		return b.l;
	if (why.code == ERR_NONE)
		err_set(&why, ERR_MEMORY, "out of memory while lowering a graph of %d nodes",
			g->n_nodes);
	if (err)
		*err = why;
	return NULL;
}
