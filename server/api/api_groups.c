/* server/api/api_groups.c -- POST /groups: what the nodes of a graph are part of, for the page. */
#define HANDLER_groups(name) name
#include <stdlib.h>

#include "profiler/fields/fields.h"
#include "profiler/layout/groups.h"
#include "server/api/routes.h"

enum { MOST_NODES = 50000, MOST_READS = 200000 };

struct grouping_asked {
	const char **modules;
	struct grouped_node *nodes;
	struct grouped_loop *loops;
	struct grouped_read *reads;
	int n_modules, n_nodes, n_loops, n_reads;
};

static void asked_finish(struct grouping_asked *a)
{
	free(a->modules);
	free(a->nodes);
	free(a->loops);
	free(a->reads);
}

/* A list of that name: how many it has, at most `most`; -1 with an error. */
static int count(const json_t *list, const char *name, size_t most, struct err *err)
{
	if (!json_is_array(list)) {
		err_set(err, ERR_BAD_REQUEST, "%s is missing: a list", name);
		return -1;
	}
	if (json_array_size(list) > most) {
		err_set(err, ERR_TOO_LARGE, "%zu rows in %s; at most %zu are grouped",
			json_array_size(list), name, most);
		return -1;
	}
	return (int)json_array_size(list);
}

static bool within(int value, int least, int end)
{
	return value >= least && value < end;
}

static bool read_modules(const json_t *list, struct grouping_asked *a, struct err *err)
{
	for (int i = 0; i < a->n_modules; i++) {
		a->modules[i] = json_string_value(json_array_get(list, (size_t)i));
		if (!a->modules[i])
			return err_set(err, ERR_BAD_REQUEST, "modules[%d] is no text", i);
	}
	return true;
}

static bool read_loops(const json_t *list, struct grouping_asked *a, struct err *err)
{
	for (int i = 0; i < a->n_loops; i++) {
		struct grouped_loop *l = &a->loops[i];

		if (json_unpack(json_array_get(list, (size_t)i), "[iii!]", &l->node, &l->parent,
				&l->line) != 0 ||
		    !within(l->node, -1, a->n_nodes) || !within(l->parent, -1, a->n_loops) ||
		    l->parent == i)
			return err_set(err, ERR_BAD_REQUEST,
				       "loops[%d] is not [node, parent, line]: -1 or a node, -1 or "
				       "another loop, and a line",
				       i);
	}
	return true;
}

static bool read_nodes(const json_t *list, struct grouping_asked *a, struct err *err)
{
	for (int i = 0; i < a->n_nodes; i++) {
		struct grouped_node *n = &a->nodes[i];
		int module, given;

		if (json_unpack(json_array_get(list, (size_t)i), "[iiii!]", &module, &n->loop,
				&n->kernel, &given) != 0 ||
		    !within(module, -1, a->n_modules) || !within(n->loop, -1, a->n_loops) ||
		    !within(n->kernel, -1, GROUPS_MAX_KERNEL + 1) || !within(given, 0, 2))
			return err_set(err, ERR_BAD_REQUEST,
				       "nodes[%d] is not [module, loop, kernel, given]: -1 or one "
				       "of each, and 0 or 1",
				       i);
		n->module = module < 0 ? "" : a->modules[module];
		n->given = given == 1;
	}
	return true;
}

static bool read_reads(const json_t *list, struct grouping_asked *a, struct err *err)
{
	for (int i = 0; i < a->n_reads; i++) {
		struct grouped_read *r = &a->reads[i];

		if (json_unpack(json_array_get(list, (size_t)i), "[ii!]", &r->from, &r->to) != 0 ||
		    !within(r->from, 0, a->n_nodes) || !within(r->to, 0, a->n_nodes))
			return err_set(err, ERR_BAD_REQUEST,
				       "reads[%d] is not [from, to]: two nodes", i);
	}
	return true;
}

static bool read_asked(const struct report_groups_request *r, struct grouping_asked *a,
		       struct err *err)
{
	a->n_modules = count(r->modules, "modules", MOST_NODES, err);
	a->n_loops = a->n_modules < 0 ? -1 : count(r->loops, "loops", MOST_NODES, err);
	a->n_nodes = a->n_loops < 0 ? -1 : count(r->nodes, "nodes", MOST_NODES, err);
	a->n_reads = a->n_nodes < 0 ? -1 : count(r->reads, "reads", MOST_READS, err);
	if (a->n_reads < 0)
		return false;
	a->modules = calloc((size_t)a->n_modules + 1, sizeof(*a->modules));
	a->loops = calloc((size_t)a->n_loops + 1, sizeof(*a->loops));
	a->nodes = calloc((size_t)a->n_nodes + 1, sizeof(*a->nodes));
	a->reads = calloc((size_t)a->n_reads + 1, sizeof(*a->reads));
	if (!a->modules || !a->loops || !a->nodes || !a->reads)
		return err_set(err, ERR_MEMORY, "out of memory for a graph");
	return read_modules(r->modules, a, err) && read_loops(r->loops, a, err) &&
	       read_nodes(r->nodes, a, err) && read_reads(r->reads, a, err);
}

/* What names it among those of its kind, whatever pass the graph is shown after. */
static json_t *key_of(const struct node_group *g)
{
	if (g->kind != GROUP_MODULE)
		return json_sprintf("%d", g->number);
	return g->number > 1 ? json_sprintf("%s#%d", g->path, g->number) : json_string(g->path);
}

/* {groups: rows of kind, key, title, parent; of: the innermost group of each node}.  NULL when out
 * of memory. */
static json_t *grouped(const struct grouping_asked *a, int by)
{
	const struct grouped_graph graph = { .nodes = a->nodes,
					     .loops = a->loops,
					     .reads = a->reads,
					     .n_nodes = (size_t)a->n_nodes,
					     .n_loops = (size_t)a->n_loops,
					     .n_reads = (size_t)a->n_reads };
	json_t *rows = json_array(), *of = json_array(), *answer = NULL;
	struct node_groups groups;

	if (groups_make(&graph, by, &groups)) {
		for (size_t i = 0; i < groups.all.len; i++) {
			const struct node_group *g = &groups.all.at[i];

			json_array_append_new(rows,
					      json_pack("[s, o, s, i]", group_kind_name(g->kind),
							key_of(g), g->title, g->parent));
		}
		for (int i = 0; i < a->n_nodes; i++)
			json_array_append_new(of, json_integer(groups.of[i]));
		answer = json_pack("{s:O, s:O}", "groups", rows, "of", of);
	}
	groups_finish(&groups);
	json_decref(rows);
	json_decref(of);
	return answer;
}

static bool api_groups(struct req *req, struct reply *reply, struct err *err)
{
	json_t *json = req_json(req, err);
	const struct report_groups_request *r = json ? report_read_groups_request(json, req->arena,
										  err)
						     : NULL;
	struct grouping_asked asked = { 0 };

	if (err->code == ERR_WORKLOAD)
		err->code = ERR_BAD_REQUEST;
	if (r && read_asked(r, &asked, err)) {
		reply->json = json_pack("{s:o, s:o}", "kernels", grouped(&asked, GROUP_BY_KERNEL),
					"modules", grouped(&asked, GROUP_BY_MODULE));
		if (!reply->json)
			err_set(err, ERR_MEMORY, "out of memory for a graph");
	}
	asked_finish(&asked);
	json_decref(json);
	return reply->json != NULL;
}

handler_fn *const groups_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
