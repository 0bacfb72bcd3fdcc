/* server/api/api_layout.c -- POST /layout: where the boxes of a graph go, for the page. */
#define HANDLER_layout(name) name
#include <math.h>
#include <stdlib.h>

#include "profiler/fields/fields.h"
#include "profiler/layout/layout.h"
#include "server/api/routes.h"

enum { MOST_BOXES = 5000, MOST_EDGES = 20000, MOST_PX = 100000 };

struct asked {
	struct layout_box *boxes;
	struct layout_group *groups;
	struct layout_edge *edges;
	struct layout_graph graph;
};

static void asked_finish(struct asked *a)
{
	free(a->boxes);
	free(a->groups);
	free(a->edges);
}

/* How many rows the list of that name has, at most `most`; -1 with an error. */
static int count(const json_t *list, const char *name, size_t most, struct err *err)
{
	if (!json_is_array(list)) {
		err_set(err, ERR_BAD_REQUEST, "%s is missing: a list of rows", name);
		return -1;
	}
	if (json_array_size(list) > most) {
		err_set(err, ERR_TOO_LARGE, "%zu rows in %s; at most %zu are laid out",
			json_array_size(list), name, most);
		return -1;
	}
	return (int)json_array_size(list);
}

static bool is_pixels(double px)
{
	return isfinite(px) && px >= 0 && px <= MOST_PX;
}

static bool read_groups(const json_t *list, struct asked *a, struct err *err)
{
	for (int i = 0; i < a->graph.n_groups; i++) {
		struct layout_group *g = &a->groups[i];

		if (json_unpack(json_array_get(list, (size_t)i), "[iF!]", &g->parent,
				&g->least_width) != 0 ||
		    g->parent < -1 || g->parent >= i || !is_pixels(g->least_width))
			return err_set(err, ERR_BAD_REQUEST,
				       "groups[%d] is not [parent, least width]: -1 or a group "
				       "before it, and 0 to %d pixels",
				       i, MOST_PX);
	}
	return true;
}

static bool read_boxes(const json_t *list, struct asked *a, struct err *err)
{
	for (int i = 0; i < a->graph.n_boxes; i++) {
		struct layout_box *b = &a->boxes[i];

		if (json_unpack(json_array_get(list, (size_t)i), "[FFi!]", &b->width, &b->height,
				&b->group) != 0 ||
		    b->group < -1 || b->group >= a->graph.n_groups || !is_pixels(b->width) ||
		    !is_pixels(b->height))
			return err_set(err, ERR_BAD_REQUEST,
				       "boxes[%d] is not [width, height, group]: 0 to %d pixels, "
				       "and -1 or a group",
				       i, MOST_PX);
	}
	return true;
}

static bool read_edges(const json_t *list, struct asked *a, struct err *err)
{
	int n = a->graph.n_boxes;

	for (int i = 0; i < a->graph.n_edges; i++) {
		struct layout_edge *e = &a->edges[i];

		if (json_unpack(json_array_get(list, (size_t)i), "[ii!]", &e->from, &e->to) != 0 ||
		    e->from < 0 || e->from >= n || e->to < 0 || e->to >= n || e->from == e->to)
			return err_set(err, ERR_BAD_REQUEST,
				       "edges[%d] is not [from, to]: two different boxes", i);
	}
	return true;
}

static bool read_asked(const struct report_layout_request *r, struct asked *a, struct err *err)
{
	struct layout_graph *g = &a->graph;

	*a = (struct asked){ 0 };
	g->n_boxes = count(r->boxes, "boxes", MOST_BOXES, err);
	g->n_groups = g->n_boxes < 0 ? -1 : count(r->groups, "groups", MOST_BOXES, err);
	g->n_edges = g->n_groups < 0 ? -1 : count(r->edges, "edges", MOST_EDGES, err);
	if (g->n_edges < 0)
		return false;
	g->band_height = json_number_value(r->band_height);
	if ((r->band_height && !json_is_number(r->band_height)) || !is_pixels(g->band_height))
		return err_set(err, ERR_BAD_REQUEST, "band_height is not 0 to %d pixels", MOST_PX);
	g->boxes = a->boxes = calloc((size_t)g->n_boxes + 1, sizeof(*a->boxes));
	g->groups = a->groups = calloc((size_t)g->n_groups + 1, sizeof(*a->groups));
	g->edges = a->edges = calloc((size_t)g->n_edges + 1, sizeof(*a->edges));
	if (!a->boxes || !a->groups || !a->edges)
		return err_set(err, ERR_MEMORY, "out of memory for a graph");
	return read_groups(r->groups, a, err) && read_boxes(r->boxes, a, err) &&
	       read_edges(r->edges, a, err);
}

static json_t *rects(const struct layout_rect *rects, int n)
{
	json_t *list = json_array();

	for (int i = 0; i < n; i++)
		json_array_append_new(list, json_pack("[f,f,f,f]", rects[i].x, rects[i].y,
						      rects[i].width, rects[i].height));
	return list;
}

static json_t *answer(const struct layout *l)
{
	json_t *edges = json_array();

	for (int i = 0; i < l->graph->n_edges; i++) {
		struct buf path = { 0 };

		layout_edge_path(l, i, &path);
		json_array_append_new(edges, json_string(path.failed ? "" : path.data));
		buf_finish(&path);
	}
	return json_pack("{s:f, s:f, s:o, s:o, s:o}", "width", l->width, "height", l->height,
			 "boxes", rects(l->boxes, l->graph->n_boxes), "groups",
			 rects(l->groups, l->graph->n_groups), "edges", edges);
}

static bool api_layout(struct req *req, struct reply *reply, struct err *err)
{
	json_t *json = req_json(req, err);
	const struct report_layout_request *r = json ? report_read_layout_request(json, req->arena,
										  err)
						     : NULL;
	struct asked asked = { 0 };
	struct layout *l = NULL;

	if (err->code == ERR_WORKLOAD)
		err->code = ERR_BAD_REQUEST;
	if (r && read_asked(r, &asked, err)) {
		l = layout_make(&asked.graph);
		reply->json = l ? answer(l) : NULL;
		if (!reply->json)
			err_set(err, ERR_MEMORY, "out of memory for a graph");
	}
	layout_free(l);
	asked_finish(&asked);
	json_decref(json);
	return reply->json != NULL;
}

handler_fn *const layout_handlers[ROUTE_COUNT] = {
#define ROUTE(file, method, path, handler, ...) [AT_##handler] = HANDLER_##file(handler),
#include "server/api/routes_some.h"
};
