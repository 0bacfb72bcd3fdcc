/* fusion/backends/cuda/recording.c -- mode graphs: launches as one CUDA graph (module.h). */
#include "fusion/backends/cuda/module.h"

#include <stdio.h>
#include <stdlib.h>

#include "fusion/base/generators.h"

enum state {
	FRESH,  /* not replayed yet */
	GRAPH,  /* `run` is what is replayed */
	DIRECT, /* kernel by kernel */
};

/* A node of the graph. */
struct cuda_step {
	int kernel;
	bool library; /* the op's own function, a graph within the graph */
	bool stale;   /* some buffer of it has moved */
	CUgraphNode node;
	int works; /* nodes that do something on the device; 0: not counted yet */
};

struct recording {
	struct executable *exe;
	void **buffers;
	enum state state;
	struct cuda_step *steps; /* in order */
	int n_steps;
	bool stale; /* some step is */
	bool draws; /* some step takes from a generator */
	CUgraph graph;
	CUgraphExec run;
	char why[128]; /* where it is DIRECT */
};

static struct gpu_generator generator_of(const struct recording *r)
{
	return r->exe->random ? r->exe->random->gpu : (struct gpu_generator){ 0 };
}

/* Where nothing was launched of what took from it. */
static void set_generator(struct recording *r, struct gpu_generator g)
{
	if (r->exe->random)
		r->exe->random->gpu = g;
}

/* ---- making */

static bool uses(const struct recording *r, const struct cuda_step *step, int buffer)
{
	const struct executable *exe = r->exe;
	const struct cuda_kernel *k = &exe->wide.kernels[step->kernel];
	const struct library_call *call = &exe->libraries[step->kernel];

	for (int i = 0; (!step->library || exe->takes_sum[step->kernel]) && i < k->n_buffers; i++)
		if (k->buffers[i] == buffer)
			return true;
	if (!step->library)
		return false;
	for (int i = 0; i < call->node->n_args; i++)
		if (call->arg[i].buffer == buffer)
			return true;
	return call->out.buffer == buffer;
}

/* Steps of what is launched; false: some op runs on the host. */
static bool list_steps(struct recording *r)
{
	const struct executable *exe = r->exe;

	for (int k = 0; k < exe->lowered->n_kernels; k++) {
		if (cuda_calls(exe, k) && !exe->on_device[k]) {
			snprintf(r->why, sizeof(r->why),
				 "%.60s runs on the host, between two copies",
				 exe->lowered->kernels[k].name);
			return false;
		}
		if (cuda_calls(exe, k))
			r->steps[r->n_steps++] = (struct cuda_step){ .kernel = k, .library = true };
		r->draws |= cuda_calls(exe, k) && exe->on_device[k]->draws;
		if (cuda_walks(exe, k) && !exe->takes_sum[k] && exe->wide.launches[k].grid[0] > 0)
			r->steps[r->n_steps++] = (struct cuda_step){ .kernel = k };
	}
	return true;
}

struct recording *cuda_record(struct executable *exe, void *const *buffers, struct err *err)
{
	struct recording *r = calloc(1, sizeof(*r));

	if (r) {
		r->exe = exe;
		r->buffers = calloc((size_t)exe->lowered->n_buffers + 1, sizeof(*r->buffers));
		r->steps = calloc(2 * (size_t)exe->lowered->n_kernels + 1, sizeof(*r->steps));
	}
	if (!r || !r->buffers || !r->steps) {
		cuda_erase(r);
		err_set(err, ERR_MEMORY, "the system has no memory left to record launches");
		return NULL;
	}
	for (int i = 0; i < exe->lowered->n_buffers; i++)
		r->buffers[i] = buffers[i];
	if (!list_steps(r) || r->n_steps == 0)
		r->state = DIRECT;
	if (!r->why[0])
		snprintf(r->why, sizeof(r->why), "there is nothing to launch");
	return r;
}

static CUDA_KERNEL_NODE_PARAMS launch_of(struct recording *r, const struct cuda_step *step)
{
	struct cuda_launch *l = cuda_launch_for(r->exe, step->kernel, r->buffers);

	cuda_launch_point(l, r->buffers);
	cuda_launch_turn(l, step->kernel % 2);
	return (CUDA_KERNEL_NODE_PARAMS){ .func = l->function,
					  .gridDimX = l->grid[0],
					  .gridDimY = l->grid[1],
					  .gridDimZ = 1,
					  .blockDimX = l->block[0],
					  .blockDimY = l->block[1],
					  .blockDimZ = 1,
					  .sharedMemBytes = l->shared_bytes,
					  .kernelParams = l->params };
}

/* What a library launches, instead of launching it. */
static CUresult capture(struct recording *r, const struct cuda_step *step, CUgraph *graph)
{
	struct executable *exe = r->exe;
	struct device *d = exe->device;
	CUresult result, noted;

	/* A library may take memory of its own meanwhile: RELAXED allows that. */
	result = d->failed;
	if (result == CUDA_SUCCESS)
		result = d->api.cuStreamBeginCapture(d->stream, CU_STREAM_CAPTURE_MODE_RELAXED);
	if (result != CUDA_SUCCESS)
		return result;
	exe->on_device[step->kernel]->run(&exe->calls[step->kernel], exe->states[step->kernel],
					  r->buffers);
	result = d->api.cuStreamEndCapture(d->stream, graph);
	noted = d->failed;
	d->failed = CUDA_SUCCESS; /* nothing has run: it can still be launched */
	return noted != CUDA_SUCCESS ? noted : result;
}

static CUresult add(struct recording *r, struct cuda_step *step, const CUgraphNode *before)
{
	const struct cuda_api *api = &r->exe->device->api;
	CUDA_KERNEL_NODE_PARAMS launch;
	CUgraph within = NULL;
	CUresult result;

	if (!step->library) {
		launch = launch_of(r, step);
		return api->cuGraphAddKernelNode(&step->node, r->graph, before, before ? 1 : 0,
						 &launch);
	}
	result = capture(r, step, &within);
	if (result == CUDA_SUCCESS)
		result = api->cuGraphAddChildGraphNode(&step->node, r->graph, before,
						       before ? 1 : 0, within);
	if (within)
		api->cuGraphDestroy(within);
	return result;
}

static void drop_graph(struct recording *r)
{
	const struct cuda_api *api = &r->exe->device->api;

	if (r->run)
		api->cuGraphExecDestroy(r->run);
	if (r->graph)
		api->cuGraphDestroy(r->graph);
	r->run = NULL;
	r->graph = NULL;
}

static void make(struct recording *r)
{
	struct device *d = r->exe->device;
	CUresult result = d->api.cuGraphCreate(&r->graph, 0);
	const char *name = NULL;

	for (int i = 0; i < r->n_steps && result == CUDA_SUCCESS; i++) {
		result = add(r, &r->steps[i], i > 0 ? &r->steps[i - 1].node : NULL);
		r->steps[i].stale = false;
		r->steps[i].works = r->steps[i].library ? 0 : 1;
	}
	if (result == CUDA_SUCCESS)
		result = d->api.cuGraphInstantiate(&r->run, r->graph, 0);
	if (result == CUDA_SUCCESS)
		result = d->api.cuGraphUpload(r->run, d->stream);
	r->stale = false;
	r->state = result == CUDA_SUCCESS ? GRAPH : DIRECT;
	if (result == CUDA_SUCCESS)
		return;
	drop_graph(r);
	d->api.cuGetErrorName(result, &name);
	snprintf(r->why, sizeof(r->why), "the driver makes no CUDA graph of it: %.64s",
		 name ? name : "unknown");
}

/* ---- a replay */

void cuda_point(struct recording *r, int buffer, void *memory)
{
	if (r->buffers[buffer] == memory)
		return;
	r->buffers[buffer] = memory;
	if (r->state != GRAPH)
		return;
	r->stale = true;
	for (int i = 0; i < r->n_steps; i++)
		r->steps[i].stale |= uses(r, &r->steps[i], buffer);
}

static CUresult give_again(struct recording *r, const struct cuda_step *step)
{
	const struct cuda_api *api = &r->exe->device->api;
	CUDA_KERNEL_NODE_PARAMS launch;
	CUgraph within = NULL;
	CUresult result;

	if (!step->library) {
		launch = launch_of(r, step);
		return api->cuGraphExecKernelNodeSetParams(r->run, step->node, &launch);
	}
	result = capture(r, step, &within);
	if (result == CUDA_SUCCESS)
		result = api->cuGraphExecChildGraphNodeSetParams(r->run, step->node, within);
	if (within)
		api->cuGraphDestroy(within);
	return result;
}

/* A library that launches something else for other addresses wants another graph. */
static void refresh(struct recording *r)
{
	struct gpu_generator before = generator_of(r);
	CUresult result = CUDA_SUCCESS;

	for (int i = 0; i < r->n_steps && result == CUDA_SUCCESS; i++) {
		if (!r->steps[i].stale)
			continue;
		result = give_again(r, &r->steps[i]);
		r->steps[i].stale = false;
	}
	r->stale = false;
	if (result == CUDA_SUCCESS)
		return;
	drop_graph(r);
	set_generator(r, before);
	make(r);
}

/* A launch has the state of the generator as an argument: each replay gets its own. */
static void draw_again(struct recording *r)
{
	for (int i = 0; i < r->n_steps; i++) {
		const struct cuda_library *library = r->exe->on_device[r->steps[i].kernel];

		r->steps[i].stale |= r->steps[i].library && library->draws;
	}
	r->stale = true;
}

/* Makes what is not made yet, and points at what has moved; whether there is a graph.  What
 * it draws is taken from the generator then. */
static bool ready(struct recording *r)
{
	if (r->exe->device->blocking)
		return false;
	if (r->draws && r->state == GRAPH)
		draw_again(r);
	if (__builtin_expect(r->state == FRESH, 0))
		make(r);
	else if (r->stale)
		refresh(r);
	return r->state == GRAPH;
}

/* Of a library's graph within the graph; what waits or branches does nothing. */
static int count_works(const struct cuda_api *api, CUgraphNode child)
{
	CUgraphNode *nodes;
	CUgraphNodeType type;
	CUgraph graph;
	size_t n = 0;
	int works = 0;

	if (api->cuGraphChildGraphNodeGetGraph(child, &graph) != CUDA_SUCCESS ||
	    api->cuGraphGetNodes(graph, NULL, &n) != CUDA_SUCCESS || n == 0)
		return 0;
	nodes = calloc(n, sizeof(*nodes));
	if (nodes && api->cuGraphGetNodes(graph, nodes, &n) == CUDA_SUCCESS)
		for (size_t i = 0; i < n; i++)
			works += api->cuGraphNodeGetType(nodes[i], &type) == CUDA_SUCCESS &&
				 (type == CU_GRAPH_NODE_TYPE_KERNEL ||
				  type == CU_GRAPH_NODE_TYPE_MEMCPY ||
				  type == CU_GRAPH_NODE_TYPE_MEMSET);
	free(nodes);
	return works;
}

bool cuda_whole(struct recording *r, int *counts)
{
	struct gpu_generator before = generator_of(r);
	bool whole = ready(r);

	set_generator(r, before); /* nothing is launched */
	if (!whole)
		return false;
	for (int k = 0; k < r->exe->lowered->n_kernels; k++)
		counts[k] = 0;
	for (int i = 0; i < r->n_steps; i++) {
		struct cuda_step *step = &r->steps[i];

		if (step->works == 0)
			step->works = count_works(&r->exe->device->api, step->node);
		counts[step->kernel] += step->works;
	}
	return true;
}

void cuda_replay(struct recording *r, int kernel, struct pool *pool, bool backward)
{
	struct executable *exe = r->exe;
	struct device *d = exe->device;
	struct gpu_generator before;

	if (kernel >= 0) {
		cuda_launch(exe, kernel, r->buffers, pool, backward);
		return;
	}
	before = generator_of(r);
	if (ready(r)) {
		for (int i = 0; i < r->n_steps; i++)
			cuda_suspect(d, exe->lowered, r->steps[i].kernel);
		d->graphs++;
		cuda_check(d, d->api.cuGraphLaunch(r->run, d->stream), "a CUDA graph");
		return;
	}
	set_generator(r, before);
	for (int k = 0; k < exe->lowered->n_kernels; k++, backward = !backward)
		cuda_launch(exe, k, r->buffers, pool, backward);
}

const char *cuda_why_direct(const struct recording *r)
{
	return r->state == DIRECT ? r->why : NULL;
}

void cuda_erase(struct recording *r)
{
	if (!r)
		return;
	drop_graph(r);
	free(r->buffers);
	free(r->steps);
	free(r);
}
