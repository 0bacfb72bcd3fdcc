/* profiler/export/graph_groups.c -- what the nodes of a drawn graph are part of. */
#include "profiler/export/graph_groups.h"

#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 64, MAX_KERNEL = 1000000 }; /* of a path: modules and loops */

/* Of a path: a module's name, or a loop (>= 0). */
struct path_part {
	const char *text;
	size_t len;
	int loop;
};

struct loop_group {
	int node, parent, group; /* -1 */
};

/* A group as it is drawn again in a kernel. */
struct copy {
	int kernel, of, group;
};

struct grouper {
	struct drawn_graph *g;
	const struct report_graph *graph;
	VEC(struct loop_group) loops;
	int *loop_of;   /* by node: the innermost; -1 */
	int *kernel_of; /* by node: its number; -1 */
	VEC(struct copy) copies;
};

/* Takes the title over; -1 when out of memory. */
static int add_group(struct drawn_graph *g, enum graph_group_kind kind, int parent, char *title)
{
	struct graph_group group = { .kind = kind, .parent = parent, .title = title };

	if (title && VEC_PUSH(&g->groups, group))
		return (int)g->groups.len - 1;
	free(title);
	return -1;
}

/* "k3 fused_sin_mul", "while loop, line 12". */
static char *numbered(const char *before, long long n, const char *after)
{
	struct buf buf;

	buf_init(&buf, 0);
	buf_printf(&buf, "%s%lld%s%s", before, n, *after ? " " : "", after);
	return buf_steal(&buf);
}

static int depth_of(const struct drawn_graph *g, int group)
{
	int depth = 0;

	for (; group >= 0; group = g->groups.at[group].parent)
		depth++;
	return depth;
}

/* The innermost that holds both; -1: none does. */
static int around_both(const struct drawn_graph *g, int a, int b)
{
	int below = depth_of(g, a) - depth_of(g, b);

	for (; below > 0; below--)
		a = g->groups.at[a].parent;
	for (; below < 0; below++)
		b = g->groups.at[b].parent;
	while (a != b) {
		a = g->groups.at[a].parent;
		b = g->groups.at[b].parent;
	}
	return a;
}

/* ---- loops */

static int loop_depth(const struct grouper *gr, int loop)
{
	int depth = 0, most = (int)gr->loops.len;

	for (; gr->loops.at && loop >= 0 && depth <= most; loop = gr->loops.at[loop].parent)
		depth++;
	return depth;
}

static void note_member(struct grouper *gr, int64_t id, int loop)
{
	int node = graph_find(gr->g, id);

	if (node >= 0 &&
	    (gr->loop_of[node] < 0 || loop_depth(gr, loop) > loop_depth(gr, gr->loop_of[node])))
		gr->loop_of[node] = loop;
}

static void note_members(struct grouper *gr, const struct report_subgraph *s, int loop)
{
	note_member(gr, s->node, loop);
	for (size_t i = 0; i < s->nodes.n; i++)
		note_member(gr, s->nodes.at[i], loop);
	for (size_t i = 0; i < s->carried.n; i++) {
		const struct report_carried *c = &s->carried.at[i];

		if (c->has.node)
			note_member(gr, c->node, loop);
		if (c->has.result)
			note_member(gr, c->result, loop);
	}
}

static bool find_loops(struct grouper *gr)
{
	struct report_subgraph_list all = gr->graph->subgraphs;

	for (size_t i = 0; i < all.n; i++) {
		const struct report_subgraph *s = &all.at[i];
		int64_t up = s->has.parent ? s->parent : -1;
		struct loop_group loop = { graph_find(gr->g, s->node),
					   up < (int64_t)all.n ? (int)up : -1, -1 };

		if (!VEC_PUSH(&gr->loops, loop))
			return false;
	}
	for (size_t i = 0; i < all.n; i++)
		note_members(gr, &all.at[i], (int)i);
	return true;
}

/* ---- modules */

static bool same_part(const struct path_part *a, const struct path_part *b)
{
	return a->loop == b->loop && a->len == b->len &&
	       (a->loop >= 0 || memcmp(a->text, b->text, a->len) == 0);
}

static int split_module(const struct graph_node *node, struct path_part parts[MAX_PARTS])
{
	const char *module = node->of->module ? node->of->module : "";
	int n = 0;

	while (*module && n < MAX_PARTS / 2) {
		size_t len = strcspn(module, "/");

		parts[n++] = (struct path_part){ module, len, -1 };
		module += len + (module[len] == '/');
	}
	return n;
}

/* A loop is below the modules that its own node is of. */
static int parts_of(const struct grouper *gr, int node, struct path_part parts[MAX_PARTS])
{
	int n = split_module(&gr->g->nodes.at[node], parts);
	int loop = gr->loop_of[node];
	struct path_part modules[MAX_PARTS], around[MAX_PARTS];
	int n_modules = n;

	memcpy(modules, parts, sizeof(*parts) * (size_t)n);
	for (; loop >= 0 && n < MAX_PARTS; loop = gr->loops.at[loop].parent) {
		int of = gr->loops.at[loop].node, depth = 0;
		int n_around = of < 0 ? 0 : split_module(&gr->g->nodes.at[of], around);

		while (depth < n_around && depth < n_modules &&
		       same_part(&around[depth], &modules[depth]))
			depth++;
		memmove(parts + depth + 1, parts + depth, sizeof(*parts) * (size_t)(n - depth));
		parts[depth] = (struct path_part){ .loop = loop };
		n++;
	}
	return n;
}

static int open_part(struct grouper *gr, const struct path_part *part, int parent)
{
	struct loop_group *loop = part->loop >= 0 ? &gr->loops.at[part->loop] : NULL;
	char *title;

	if (!loop) {
		title = strndup(part->text, part->len);
		if (title && strchr(title, ':'))
			*strchr(title, ':') = ' ';
		return add_group(gr->g, GROUP_MODULE, parent, title);
	}
	if (loop->group >= 0)
		return loop->group;
	title = numbered("while loop, line ", (long long)gr->graph->subgraphs.at[part->loop].line,
			 "");
	loop->group = add_group(gr->g, GROUP_LOOP, parent, title);
	return loop->group;
}

/* Nothing is computed for it: it is drawn with what reads it. */
static bool is_given(const struct graph_node *n)
{
	const char *op = n->of->op;

	return n->is_input || strcmp(op, "constant") == 0 || strcmp(op, "tensor") == 0;
}

/* A module that is called again, with something else in between, is another group: none
 * reads, by way of others, what it made itself. */
static bool find_modules(struct grouper *gr)
{
	struct path_part stack[MAX_PARTS], parts[MAX_PARTS];
	int groups[MAX_PARTS], depth = 0;

	for (size_t i = 0; i < gr->g->nodes.len; i++) {
		int n, same = 0;

		if (is_given(&gr->g->nodes.at[i]))
			continue;
		n = parts_of(gr, (int)i, parts);
		while (same < depth && same < n && same_part(&stack[same], &parts[same]))
			same++;
		for (depth = same; depth < n; depth++) {
			stack[depth] = parts[depth];
			groups[depth] = open_part(gr, &parts[depth],
						  depth ? groups[depth - 1] : -1);
			if (groups[depth] < 0)
				return false;
		}
		gr->g->nodes.at[i].group = depth ? groups[depth - 1] : -1;
	}
	return true;
}

/* ---- kernels */

/* "kernel 2: %sin, %mul" below the text of a piece, whose kernels begin with `first`. */
static void read_kernels(struct grouper *gr, const json_t *by_name, const char *text, int first)
{
	for (const char *line = text; line; line = strchr(line, '\n')) {
		const char *end;
		long k;

		line += *line == '\n';
		if (strncmp(line, "kernel ", 7) != 0)
			continue;
		k = strtol(line + 7, NULL, 10);
		if (k < 0 || k > MAX_KERNEL)
			continue;
		end = line + strcspn(line, "\n");
		for (const char *p = memchr(line, '%', (size_t)(end - line)); p;
		     p = memchr(p, '%', (size_t)(end - p))) {
			size_t len = strcspn(++p, ",\n");
			const json_t *node = json_object_getn(by_name, p, len);

			if (node && gr->kernel_of[json_integer_value(node)] < 0)
				gr->kernel_of[json_integer_value(node)] = first + (int)k;
			p += len;
		}
	}
}

/* The graph after its last pass; NULL: unknown. */
static const char *last_text(const struct report_pass_part *part)
{
	for (size_t k = part->steps.n; k-- > 0;)
		if (part->steps.at[k].after)
			return part->steps.at[k].after;
	return NULL;
}

static bool find_kernels(struct grouper *gr)
{
	struct report_pass_part_list parts = gr->graph->passes;
	json_t *by_name = json_object();

	for (size_t i = 0; by_name && i < gr->g->nodes.len; i++)
		if (!is_given(&gr->g->nodes.at[i]))
			json_object_set_new(by_name, gr->g->nodes.at[i].of->name,
					    json_integer((json_int_t)i));
	for (size_t i = 0; by_name && i < parts.n; i++) {
		const struct report_pass_part *part = &parts.at[i];
		int64_t first = part->first_kernel;

		if (strncmp(part->part, "backward", 8) == 0 || first < 0 || first > MAX_KERNEL ||
		    (!part->has.first_kernel && parts.n > 1)) /* numbered by themselves */
			continue;
		if (last_text(part))
			read_kernels(gr, by_name, last_text(part), (int)first);
	}
	json_decref(by_name);
	return by_name != NULL;
}

/* The group as it is drawn in the kernel; -1 when out of memory. */
static int copy_into(struct grouper *gr, int kernel, int group, int around)
{
	int parent;
	struct copy copy = { .kernel = kernel, .of = group };

	if (group == around)
		return kernel;
	for (size_t i = 0; i < gr->copies.len; i++)
		if (gr->copies.at[i].kernel == kernel && gr->copies.at[i].of == group)
			return gr->copies.at[i].group;
	parent = copy_into(gr, kernel, gr->g->groups.at[group].parent, around);
	copy.group = parent < 0 ? -1
				: add_group(gr->g, gr->g->groups.at[group].kind, parent,
					    strdup(gr->g->groups.at[group].title));
	return copy.group >= 0 && VEC_PUSH(&gr->copies, copy) ? copy.group : -1;
}

static bool place_kernel(struct grouper *gr, int number, size_t first)
{
	struct drawn_graph *g = gr->g;
	struct report_texts names = gr->graph->kernels;
	const char *name = (size_t)number < names.n ? names.at[number] : "";
	int around = g->nodes.at[first].group, kernel;

	for (size_t i = first; i < g->nodes.len; i++)
		if (gr->kernel_of[i] == number)
			around = around_both(g, around, g->nodes.at[i].group);
	kernel = add_group(g, GROUP_KERNEL, around, numbered("k", number, name));
	for (size_t i = first; kernel >= 0 && i < g->nodes.len; i++) {
		if (gr->kernel_of[i] != number)
			continue;
		gr->kernel_of[i] = -1;
		g->nodes.at[i].group = copy_into(gr, kernel, g->nodes.at[i].group, around);
		if (g->nodes.at[i].group < 0)
			return false;
	}
	return kernel >= 0;
}

static bool place_kernels(struct grouper *gr)
{
	for (size_t i = 0; i < gr->g->nodes.len; i++)
		if (gr->kernel_of[i] >= 0 && !place_kernel(gr, gr->kernel_of[i], i))
			return false;
	return true;
}

/* ---- what is given */

/* The innermost module around it that no kernel and no loop is around: what comes from
 * outside comes once. */
static int outside(const struct drawn_graph *g, int group)
{
	int found = group;

	for (; group >= 0; group = g->groups.at[group].parent)
		if (g->groups.at[group].kind != GROUP_MODULE)
			found = g->groups.at[group].parent;
	return found;
}

static void place_given(struct drawn_graph *g)
{
	for (size_t e = 0; e < g->edges.len; e++) {
		struct graph_node *from = &g->nodes.at[g->edges.at[e].from];
		int of = outside(g, g->nodes.at[g->edges.at[e].to].group);

		if (!is_given(from))
			continue;
		from->group = from->read ? around_both(g, from->group, of) : of;
		from->read = true;
	}
}

/* Modules all of whose nodes went into kernels are empty. */
static void count_nodes(struct drawn_graph *g)
{
	for (size_t i = 0; i < g->nodes.len; i++)
		for (int k = g->nodes.at[i].group; k >= 0; k = g->groups.at[k].parent)
			g->groups.at[k].n_nodes++;
}

bool graph_group(struct drawn_graph *g, const struct report_graph *graph)
{
	struct grouper gr = { .g = g, .graph = graph };
	bool ok;

	gr.loop_of = calloc(g->nodes.len + 1, sizeof(*gr.loop_of));
	gr.kernel_of = calloc(g->nodes.len + 1, sizeof(*gr.kernel_of));
	for (size_t i = 0; gr.loop_of && gr.kernel_of && i < g->nodes.len; i++)
		g->nodes.at[i].group = gr.loop_of[i] = gr.kernel_of[i] = -1;
	ok = gr.loop_of && gr.kernel_of && find_loops(&gr) && find_modules(&gr) &&
	     find_kernels(&gr) && place_kernels(&gr);
	if (ok) {
		place_given(g);
		count_nodes(g);
	}
	free(gr.loop_of);
	free(gr.kernel_of);
	VEC_FREE(&gr.loops);
	VEC_FREE(&gr.copies);
	return ok;
}
