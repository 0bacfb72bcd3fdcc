/* tests/cuda/emulator/graph.c -- CUDA graphs of the emulated GPU: works one after the other. */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cuda/emulator/work.h"

struct work {
	void (*run)(const void *state);
	void *state;
	size_t bytes;
	struct graph *within; /* instead: a graph within the graph */
};

/* A work's place in its graph, and in what is instantiated from that. */
struct node {
	struct graph *graph;
	size_t index;
};

struct graph {
	struct work *at;
	struct node **nodes;
	size_t n;
};

static struct graph *capture; /* what the stream is being captured into; NULL */

static void *copy_of(const void *state, size_t bytes)
{
	void *copy = malloc(bytes + 1);

	return memcpy(copy, state, bytes);
}

static void clear(struct work *w);

static void destroy(struct graph *g)
{
	for (size_t i = 0; i < g->n; i++)
		clear(&g->at[i]);
	for (size_t i = 0; i < g->n; i++)
		free(g->nodes[i]);
	free(g->nodes);
	free(g->at);
	free(g);
}

static void clear(struct work *w)
{
	free(w->state);
	if (w->within)
		destroy(w->within);
}

static CUgraphNode add(struct graph *g, struct work w)
{
	struct node *node = malloc(sizeof(*node));

	*node = (struct node){ g, g->n };
	g->at = realloc(g->at, (g->n + 1) * sizeof(*g->at));
	g->nodes = realloc(g->nodes, (g->n + 1) * sizeof(struct node *));
	g->at[g->n] = w;
	g->nodes[g->n++] = node;
	return (CUgraphNode)node;
}

static struct graph *clone(const struct graph *from)
{
	struct graph *g = calloc(1, sizeof(*g));

	for (size_t i = 0; i < from->n; i++) {
		struct work w = from->at[i];

		if (w.within)
			w.within = clone(w.within);
		else
			w.state = copy_of(w.state, w.bytes);
		add(g, w);
	}
	return g;
}

static void run_all(const struct graph *g)
{
	for (size_t i = 0; i < g->n; i++)
		if (g->at[i].within)
			run_all(g->at[i].within);
		else
			g->at[i].run(g->at[i].state);
}

CUresult emulated_do(void (*run)(const void *state), const void *state, size_t bytes)
{
	if (capture)
		add(capture, (struct work){ run, copy_of(state, bytes), bytes, NULL });
	else
		run(state);
	return CUDA_SUCCESS;
}

/* ---- of the driver */

CUresult cuStreamBeginCapture(CUstream stream, CUstreamCaptureMode mode)
{
	(void)stream, (void)mode;
	if (capture)
		return CUDA_ERROR_ILLEGAL_STATE;
	capture = calloc(1, sizeof(*capture));
	return CUDA_SUCCESS;
}

CUresult cuStreamEndCapture(CUstream stream, CUgraph *graph)
{
	(void)stream;
	*graph = (CUgraph)capture;
	capture = NULL;
	return *graph ? CUDA_SUCCESS : CUDA_ERROR_ILLEGAL_STATE;
}

CUresult cuGraphCreate(CUgraph *graph, unsigned flags)
{
	(void)flags;
	*graph = (CUgraph)calloc(1, sizeof(struct graph));
	return CUDA_SUCCESS;
}

CUresult cuGraphDestroy(CUgraph graph)
{
	destroy((struct graph *)graph);
	return CUDA_SUCCESS;
}

/* After the one that was added last, and no other. */
static bool is_next(const struct graph *g, const CUgraphNode *after, size_t n)
{
	return n == (g->n > 0) && (n == 0 || (struct node *)*after == g->nodes[g->n - 1]);
}

static struct work *work_at(struct graph *g, CUgraphNode node)
{
	size_t index = ((const struct node *)node)->index;

	return index < g->n ? &g->at[index] : NULL;
}

static CUresult launch_of(const CUDA_KERNEL_NODE_PARAMS *params, struct work *w)
{
	CUresult why = CUDA_SUCCESS;

	*w = (struct work){ .run = emulated_launch_run };
	w->state = emulated_launch_of(params, &w->bytes, &why);
	return why;
}

CUresult cuGraphAddKernelNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after, size_t n,
			      const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct graph *g = (struct graph *)graph;
	struct work w;
	CUresult result = launch_of(params, &w);

	if (result == CUDA_SUCCESS && !is_next(g, after, n)) {
		clear(&w);
		result = CUDA_ERROR_INVALID_VALUE;
	}
	if (result == CUDA_SUCCESS)
		*node = add(g, w);
	return result;
}

CUresult cuGraphAddChildGraphNode(CUgraphNode *node, CUgraph graph, const CUgraphNode *after,
				  size_t n, CUgraph child)
{
	struct graph *g = (struct graph *)graph;

	if (!is_next(g, after, n))
		return CUDA_ERROR_INVALID_VALUE;
	*node = add(g, (struct work){ .within = clone((struct graph *)child) });
	return CUDA_SUCCESS;
}

CUresult cuGraphInstantiate(CUgraphExec *run, CUgraph graph, unsigned long long flags)
{
	(void)flags;
	*run = (CUgraphExec)clone((struct graph *)graph);
	return CUDA_SUCCESS;
}

CUresult cuGraphExecDestroy(CUgraphExec run)
{
	destroy((struct graph *)run);
	return CUDA_SUCCESS;
}

CUresult cuGraphExecKernelNodeSetParams(CUgraphExec run, CUgraphNode node,
					const CUDA_KERNEL_NODE_PARAMS *params)
{
	struct work *w = work_at((struct graph *)run, node), with;
	CUresult result = w && !w->within ? launch_of(params, &with) : CUDA_ERROR_INVALID_VALUE;

	if (result != CUDA_SUCCESS)
		return result;
	clear(w);
	*w = with;
	return CUDA_SUCCESS;
}

/* A graph of another form is refused, as the driver refuses it. */
CUresult cuGraphExecChildGraphNodeSetParams(CUgraphExec run, CUgraphNode node, CUgraph child)
{
	struct work *w = work_at((struct graph *)run, node);
	const struct graph *with = (const struct graph *)child;

	if (!w || !w->within || w->within->n != with->n)
		return CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE;
	clear(w);
	*w = (struct work){ .within = clone(with) };
	return CUDA_SUCCESS;
}

CUresult cuGraphUpload(CUgraphExec run, CUstream stream)
{
	(void)run, (void)stream;
	return CUDA_SUCCESS;
}

CUresult cuGraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *n)
{
	const struct graph *g = (const struct graph *)graph;

	for (size_t i = 0; nodes && i < g->n && i < *n; i++)
		nodes[i] = (CUgraphNode)g->nodes[i];
	*n = g->n;
	return CUDA_SUCCESS;
}

CUresult cuGraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
	const struct node *at = (const struct node *)node;

	*type = at->graph->at[at->index].within ? CU_GRAPH_NODE_TYPE_GRAPH
						: CU_GRAPH_NODE_TYPE_KERNEL;
	return CUDA_SUCCESS;
}

CUresult cuGraphChildGraphNodeGetGraph(CUgraphNode node, CUgraph *graph)
{
	const struct node *at = (const struct node *)node;

	*graph = (CUgraph)at->graph->at[at->index].within;
	return *graph ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuGraphLaunch(CUgraphExec run, CUstream stream)
{
	(void)stream;
	if (capture)
		return CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
	run_all((struct graph *)run);
	return CUDA_SUCCESS;
}
