/* profiler/layout/groups.c -- what the nodes of a graph are part of. */
#include "profiler/layout/groups.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_PARTS = 64 }; /* of a path: modules and loops */

/* Of a path: a module's name, or a loop (>= 0). */
struct path_part {
	const char *text;
	size_t len;
	int loop;
};

/* A group as it is drawn again in a kernel. */
struct copy {
	int kernel, of, group;
};

struct grouper {
	const struct grouped_graph *graph;
	int by;
	struct node_groups *out;
	int *group_of_loop; /* -1 */
	json_t *calls;      /* of each path of modules, so far */
	VEC(struct copy) copies;
};

/* Takes the texts over; -1 when out of memory. */
static int add_group(struct grouper *gr, struct node_group group)
{
	bool whole = group.title && (group.path || group.kind == GROUP_KERNEL);

	if (whole && VEC_PUSH(&gr->out->all, group))
		return (int)gr->out->all.len - 1;
	free(group.title);
	free(group.path);
	return -1;
}

static char *printed(const char *format, ...) __attribute__((format(printf, 1, 2)));
static char *printed(const char *format, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, format);
	if (vasprintf(&text, format, args) < 0)
		text = NULL;
	va_end(args);
	return text;
}

static int parent_of(const struct grouper *gr, int group)
{
	return gr->out->all.at[group].parent;
}

static int depth_of(const struct grouper *gr, int group)
{
	int depth = 0;

	for (; group >= 0; group = parent_of(gr, group))
		depth++;
	return depth;
}

/* The innermost that holds both; -1: none does. */
static int around_both(const struct grouper *gr, int a, int b)
{
	int below = depth_of(gr, a) - depth_of(gr, b);

	for (; below > 0; below--)
		a = parent_of(gr, a);
	for (; below < 0; below++)
		b = parent_of(gr, b);
	while (a != b) {
		a = parent_of(gr, a);
		b = parent_of(gr, b);
	}
	return a;
}

/* ---- modules and loops */

static bool same_part(const struct path_part *a, const struct path_part *b)
{
	return a->loop == b->loop && a->len == b->len &&
	       (a->loop >= 0 || memcmp(a->text, b->text, a->len) == 0);
}

static int split_module(const struct grouper *gr, int node, struct path_part parts[MAX_PARTS])
{
	const char *module = gr->by & GROUP_BY_MODULE ? gr->graph->nodes[node].module : "";
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
	int n = split_module(gr, node, parts), n_modules = n;
	int loop = gr->graph->nodes[node].loop;
	struct path_part modules[MAX_PARTS], around[MAX_PARTS];

	memcpy(modules, parts, sizeof(*parts) * (size_t)n);
	for (; loop >= 0 && n < MAX_PARTS; loop = gr->graph->loops[loop].parent) {
		int of = gr->graph->loops[loop].node, depth = 0;
		int n_around = of < 0 ? 0 : split_module(gr, of, around);

		while (depth < n_around && depth < n_modules &&
		       same_part(&around[depth], &modules[depth]))
			depth++;
		memmove(parts + depth + 1, parts + depth, sizeof(*parts) * (size_t)(n - depth));
		parts[depth] = (struct path_part){ .loop = loop };
		n++;
	}
	return n;
}

static int open_loop(struct grouper *gr, int loop, const char *around, int parent)
{
	struct node_group group = { .kind = GROUP_LOOP, .parent = parent, .number = loop };

	if (gr->group_of_loop[loop] < 0) {
		group.title = printed("while loop, line %d", gr->graph->loops[loop].line);
		group.path = printed("%sloop %d", around, loop);
		gr->group_of_loop[loop] = add_group(gr, group);
	}
	return gr->group_of_loop[loop];
}

static int open_part(struct grouper *gr, const struct path_part *part, int parent)
{
	struct node_group group = { .kind = GROUP_MODULE, .parent = parent };
	const char *above = parent < 0 ? NULL : gr->out->all.at[parent].path;
	char *around = printed("%s%s", above ? above : "", above ? "/" : "");
	int found = -1;

	if (around && part->loop >= 0) {
		found = open_loop(gr, part->loop, around, parent);
	} else if (around) {
		group.title = strndup(part->text, part->len);
		if (group.title && strchr(group.title, ':'))
			*strchr(group.title, ':') = ' ';
		group.path = printed("%s%.*s", around, (int)part->len, part->text);
		if (group.path) {
			group.number =
			    (int)json_integer_value(json_object_get(gr->calls, group.path)) + 1;
			json_object_set_new_nocheck(gr->calls, group.path,
						    json_integer(group.number));
		}
		found = add_group(gr, group);
	}
	free(around);
	return found;
}

static bool find_modules(struct grouper *gr)
{
	struct path_part stack[MAX_PARTS], parts[MAX_PARTS];
	int groups[MAX_PARTS], depth = 0;

	for (size_t i = 0; i < gr->graph->n_nodes; i++) {
		int n, same = 0;

		if (gr->graph->nodes[i].given)
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
		gr->out->of[i] = depth ? groups[depth - 1] : -1;
	}
	return true;
}

/* ---- kernels */

/* The group as it is drawn in the kernel; -1 when out of memory. */
static int copy_into(struct grouper *gr, int kernel, int group, int around)
{
	struct copy copy = { .kernel = kernel, .of = group };
	struct node_group again;
	int parent;

	if (group == around)
		return kernel;
	for (size_t i = 0; i < gr->copies.len; i++)
		if (gr->copies.at[i].kernel == kernel && gr->copies.at[i].of == group)
			return gr->copies.at[i].group;
	parent = copy_into(gr, kernel, parent_of(gr, group), around);
	if (parent < 0)
		return -1;
	again = gr->out->all.at[group];
	again.parent = parent;
	again.title = strdup(again.title);
	again.path = strdup(again.path);
	copy.group = add_group(gr, again);
	return copy.group >= 0 && VEC_PUSH(&gr->copies, copy) ? copy.group : -1;
}

/* Nodes of one kernel, from its first on: chained by `next`, -1 ends them. */
static bool place_kernel(struct grouper *gr, int first, const int *next)
{
	int number = gr->graph->nodes[first].kernel, around = gr->out->of[first], kernel;
	const char *name = (size_t)number < gr->graph->n_kernel_names
			       ? gr->graph->kernel_names[number]
			       : "";

	for (int i = first; i >= 0; i = next[i])
		around = around_both(gr, around, gr->out->of[i]);
	kernel = add_group(
	    gr, (struct node_group){ .kind = GROUP_KERNEL,
				     .parent = around,
				     .number = number,
				     .title = printed("k%d%s%s", number, *name ? " " : "", name) });
	for (int i = first; kernel >= 0 && i >= 0; i = next[i]) {
		gr->out->of[i] = copy_into(gr, kernel, gr->out->of[i], around);
		if (gr->out->of[i] < 0)
			return false;
	}
	return kernel >= 0;
}

static bool place_kernels(struct grouper *gr)
{
	const struct grouped_graph *g = gr->graph;
	int most = -1, *next = calloc(g->n_nodes + 1, sizeof(*next)), *last;
	bool *begins = calloc(g->n_nodes + 1, sizeof(*begins)), ok;

	for (size_t i = 0; i < g->n_nodes; i++)
		most = g->nodes[i].kernel > most ? g->nodes[i].kernel : most;
	last = calloc((size_t)most + 2, sizeof(*last)); /* its place + 1 */
	ok = next && begins && last;
	for (size_t i = 0; ok && i < g->n_nodes; i++) {
		int k = g->nodes[i].kernel;

		next[i] = -1;
		if (k < 0)
			continue;
		begins[i] = last[k] == 0;
		if (last[k])
			next[last[k] - 1] = (int)i;
		last[k] = (int)i + 1;
	}
	for (size_t i = 0; ok && i < g->n_nodes; i++)
		ok = !begins[i] || place_kernel(gr, (int)i, next);
	free(next);
	free(begins);
	free(last);
	return ok;
}

/* ---- what is given */

/* The innermost module around it that no kernel and no loop is around. */
static int outside(const struct grouper *gr, int group)
{
	int found = group;

	for (; group >= 0; group = parent_of(gr, group))
		if (gr->out->all.at[group].kind != GROUP_MODULE)
			found = parent_of(gr, group);
	return found;
}

static bool place_given(struct grouper *gr)
{
	bool *read = calloc(gr->graph->n_nodes + 1, sizeof(*read));

	for (size_t e = 0; read && e < gr->graph->n_reads; e++) {
		int from = gr->graph->reads[e].from;
		int of = outside(gr, gr->out->of[gr->graph->reads[e].to]);

		if (!gr->graph->nodes[from].given || gr->graph->nodes[from].kernel >= 0)
			continue;
		gr->out->of[from] = read[from] ? around_both(gr, gr->out->of[from], of) : of;
		read[from] = true;
	}
	free(read);
	return read != NULL;
}

bool groups_make(const struct grouped_graph *graph, int by, struct node_groups *out)
{
	struct grouper gr = { .graph = graph, .by = by, .out = out, .calls = json_object() };
	bool ok;

	*out = (struct node_groups){ .of = calloc(graph->n_nodes + 1, sizeof(*out->of)) };
	gr.group_of_loop = calloc(graph->n_loops + 1, sizeof(*gr.group_of_loop));
	ok = out->of && gr.group_of_loop && gr.calls;
	for (size_t i = 0; ok && i < graph->n_nodes; i++)
		out->of[i] = -1;
	for (size_t i = 0; ok && i < graph->n_loops; i++)
		gr.group_of_loop[i] = -1;
	ok = ok && find_modules(&gr) && (!(by & GROUP_BY_KERNEL) || place_kernels(&gr)) &&
	     place_given(&gr);
	free(gr.group_of_loop);
	json_decref(gr.calls);
	VEC_FREE(&gr.copies);
	return ok;
}

void groups_finish(struct node_groups *groups)
{
	for (size_t i = 0; i < groups->all.len; i++) {
		free(groups->all.at[i].title);
		free(groups->all.at[i].path);
	}
	VEC_FREE(&groups->all);
	free(groups->of);
}
