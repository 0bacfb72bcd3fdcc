/* tests/cuda/driver_graph.c -- CUDA graphs of the stand-in driver. */
#include "tests/cuda/driver_state.h"

#include <stdlib.h>

/* ---- graphs; an instance is the graph that it was made of, and a node is a launch */

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
	stand_in_stream(stream);
	state.capture = calloc(1, sizeof(*state.capture));
	return state.sticky;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	*graph = (CUgraph)state.capture;
	state.capture = NULL;
	return state.sticky;
}

CUresult cuGraphCreate(CUgraph *graph, unsigned flags)
{
	*graph = (CUgraph)calloc(1, sizeof(struct graph));
	return state.sticky;
}

static void free_graph(struct graph *g)
{
	for (int i = 0; i < g->n; i++)
		if (g->node[i].within)
			free_graph(g->node[i].within);
	free(g);
}

CUresult cuGraphDestroy(CUgraph graph)
{
	free_graph((struct graph *)graph);
	return state.sticky;
}

static struct graph *clone(const struct graph *from)
{
	struct graph *g = malloc(sizeof(*g));

	*g = *from;
	for (int i = 0; i < g->n; i++)
		if (g->node[i].within)
			g->node[i].within = clone(g->node[i].within);
	return g;
}

static struct launch *node_at(struct graph *g, CUgraphNode node)
{
	return &g->node[((const struct launch *)node)->index];
}

/* After the one that was added last, and no other. */
static CUresult add_node(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
			 const struct launch *l)
{
	struct graph *g = (struct graph *)graph;

	if (n != (g->n > 0) || (n && (struct launch *)*before != &g->node[g->n - 1]) ||
	    g->n == MAX_NODES)
		return CUDA_ERROR_INVALID_VALUE;
	g->node[g->n] = *l;
	g->node[g->n].index = g->n;
	*node = (CUgraphNode)&g->node[g->n++];
	return state.sticky;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before, size_t n,
			      const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct launch l;
	CUresult result = describe(&l, params);

	return result == CUDA_SUCCESS ? add_node(node, graph, before, n, &l) : result;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *before,
				  size_t n, CUgraph child)
{
	const struct launch l = { .within = clone((struct graph *)child) };
	CUresult result = add_node(node, graph, before, n, &l);

	if (result == CUDA_ERROR_INVALID_VALUE)
		free_graph(l.within);
	return result;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *n)
{
	struct graph *g = (struct graph *)graph;

	for (int i = 0; nodes && i < g->n && (size_t)i < *n; i++)
		nodes[i] = (CUgraphNode)&g->node[i];
	*n = (size_t)g->n;
	return state.sticky;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
	*type = ((const struct launch *)node)->within ? CU_GRAPH_NODE_TYPE_GRAPH
						      : CU_GRAPH_NODE_TYPE_KERNEL;
	return state.sticky;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
	*graph = (CUgraph)((const struct launch *)node)->within;
	return *graph ? state.sticky : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphInstantiate(CUgraphExec *instance, CUgraph graph, unsigned long long flags)
{
	*instance = (CUgraphExec)clone((struct graph *)graph);
	return state.sticky;
}

CUresult cuGraphExecDestroy(CUgraphExec instance)
{
	free_graph((struct graph *)instance);
	return state.sticky;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec instance, CUgraphNode node,
					const CUDA_KERNEL_NODE_PARAMS *params)
{
	return describe(node_at((struct graph *)instance, node), params);
}

CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec instance, CUgraphNode node, CUgraph child)
{
	struct launch *l = node_at((struct graph *)instance, node);
	const struct graph *with = (const struct graph *)child;

	if (with->n != l->within->n)
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	free_graph(l->within);
	l->within = clone(with);
	return state.sticky;
}

CUresult cuGraphLaunch(CUgraphExec instance, CUstream stream)
{
	const struct launch all = { .within = (struct graph *)instance };
	CUresult result;

	stand_in_stream(stream);
	if (ordered("launch") && ++state.launches == state.left)
		return state.code;
	if (state.graphs < MAX_GRAPHS)
		state.graph_from[state.graphs] = state.log_len;
	result = run(&all);
	if (state.graphs < MAX_GRAPHS)
		state.graph_to[state.graphs] = state.log_len;
	state.graphs++;
	return result;
}
