/* fusion/backends/cuda/library/dnn.c -- cuDNN loaded; graphs by its backend interface. */
#include "fusion/backends/cuda/library/dnn.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/hash.h"

/* cudnnBackendDescriptorType_t */
enum {
	ITEM_POINTWISE = 0,
	ITEM_CONVOLUTION = 1,
	ITEM_ENGINE = 2,
	ITEM_CONFIGURATION = 3,
	ITEM_HEURISTICS = 4,
	ITEM_PLAN = 5,
	ITEM_CONVOLUTION_OP = 10,
	ITEM_FOR_FILTERS_OP = 11,
	ITEM_FOR_X_OP = 12,
	ITEM_POINTWISE_OP = 13,
	ITEM_GRAPH = 15,
	ITEM_PACK = 16,
	ITEM_TENSOR = 17,
	ITEM_PRODUCT = 18,
	ITEM_PRODUCT_OP = 19,
	ITEM_REDUCTION = 21,
	ITEM_REDUCTION_OP = 22,
	ITEM_RESHAPE_OP = 31
};

/* cudnnBackendAttributeType_t */
enum {
	IS_HANDLE = 0,
	IS_TYPE = 1,
	IS_BOOL = 2,
	IS_INT64 = 3,
	IS_FLOAT = 4,
	IS_DOUBLE = 5,
	IS_POINTER = 6,
	IS_CONVOLUTION_MODE = 7,
	IS_HEURISTICS_MODE = 8,
	IS_NOTE = 11,
	IS_POINTWISE_MODE = 14,
	IS_ITEM = 15,
	IS_REDUCTION_MODE = 18
};

/* cudnnBackendAttributeName_t */
enum {
	POINTWISE_MODE = 0,
	POINTWISE_MATH = 1,
	POINTWISE_AXIS = 9,
	CONVOLUTION_MATH = 100,
	CONVOLUTION_MODE = 101,
	CONVOLUTION_DILATIONS = 102,
	CONVOLUTION_STRIDES = 103,
	CONVOLUTION_AFTER = 104,
	CONVOLUTION_BEFORE = 105,
	CONVOLUTION_DIMS = 106,
	HEURISTICS_MODE = 200,
	HEURISTICS_GRAPH = 201,
	HEURISTICS_RESULTS = 202,
	CONFIGURATION_ENGINE = 300,
	PLAN_HANDLE = 400,
	PLAN_CONFIGURATION = 401,
	PLAN_ROOM = 402,
	CONVOLUTION_ALPHA = 700, /* of y, then of x, then of w: */
	FOR_X_ALPHA = 706,
	FOR_FILTERS_ALPHA = 712,
	TO_BETA = 1, /* so far from these are the others */
	TO_HOW = 2,
	TO_W = 3,
	TO_X = 4,
	TO_Y = 5,
	POINTWISE_HOW = 750,
	POINTWISE_X = 751,
	POINTWISE_B = 752,
	POINTWISE_Y = 753,
	POINTWISE_T = 758,
	GRAPH_HANDLE = 800,
	GRAPH_OPS = 801,
	TENSOR_ALIGNMENT = 900,
	TENSOR_TYPE = 901,
	TENSOR_SIZES = 902,
	TENSOR_STRIDES = 903,
	TENSOR_ID = 906,
	TENSOR_BETWEEN = 907,
	TENSOR_NUMBER = 908,
	PACK_IDS = 1000,
	PACK_POINTERS = 1001,
	PACK_ROOM = 1003,
	ENGINE_NOTES = 1303,
	PRODUCT_MATH = 1500,
	PRODUCT_A = 1520,
	PRODUCT_B = 1521,
	PRODUCT_Y = 1522,
	PRODUCT_HOW = 1523,
	REDUCTION_MODE = 1600,
	REDUCTION_MATH = 1601,
	REDUCTION_X = 1610,
	REDUCTION_Y = 1611,
	REDUCTION_HOW = 1612,
	RESHAPE_X = 2200,
	RESHAPE_Y = 2201
};

enum {
	BY_HEURISTICS = 3, /* CUDNN_HEUR_MODE_A */
	BY_FALLBACK = 2,
	NOTE_TENSOR_CORES = 0, /* CUDNN_NUMERICAL_NOTE_TENSOR_CORE */
	NOTE_NARROWS = 1,      /* CUDNN_NUMERICAL_NOTE_DOWN_CONVERT_INPUTS */
	NOTE_FFT = 3,          /* CUDNN_NUMERICAL_NOTE_FFT */
	NOTE_VARIES = 4,       /* CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC */
	NOTE_WINOGRAD = 5,     /* CUDNN_NUMERICAL_NOTE_WINOGRAD */
	NOTE_SHORT_SUMS = 2,   /* CUDNN_NUMERICAL_NOTE_REDUCED_PRECISION_REDUCTION */
	MOST_NOTES = 16,
	MOST_ENGINES = 256,
	ALIGNMENT = 16,
	TRIAL_NS = 1000000,          /* of an engine, */
	TRIALS_NS = 250000000,       /* of a graph, */
	MOST_TRIALS_NS = 2000000000, /* of all graphs: then they have the first engine */
	MOST_TRIED = 6,
	MOST_ROOM = 1 << 30, /* bytes that an engine may have of its own, as long as its graph is */
	MOST_RUNS = 20
};

/* ---- the library */

static bool start(struct cuda_dnn *n, struct device *d)
{
	void *library = cuda_open_library("libcudnn.so.9"), *found;

	if (!library)
		return false;
#define DNN(name, ...)                                                                             \
	found = dlsym(library, #name);                                                             \
	if (!found)                                                                                \
		return false;                                                                      \
	memcpy(&n->name, &found, sizeof(found));
#include "fusion/backends/cuda/library/dnn.def"
#undef DNN
	if (n->cudnnCreate(&n->handle) != DNN_DONE)
		n->handle = NULL;
	return n->handle && n->cudnnSetStream(n->handle, d->stream) == DNN_DONE;
}

static void close_dnn(struct device *d)
{
	if (d->dnn->handle)
		d->dnn->cudnnDestroy(d->dnn->handle);
	free(d->dnn);
	d->dnn = NULL;
}

const struct cuda_dnn *dnn_open(struct device *d)
{
	if (!d->dnn) {
		d->dnn = calloc(1, sizeof(*d->dnn));
		if (d->dnn) {
			d->dnn->missing = !start(d->dnn, d);
			cuda_on_close(d, close_dnn);
		}
	}
	return d->dnn && !d->dnn->missing ? d->dnn : NULL;
}

enum dnn_type dnn_type_of(enum dtype dtype)
{
	return dtype == DTYPE_F64   ? DNN_DOUBLE
	       : dtype == DTYPE_F32 ? DNN_FLOAT
	       : dtype == DTYPE_F16 ? DNN_HALF
				    : DNN_BFLOAT16;
}

/* ---- graphs */

struct dnn_graph *dnn_begin(const struct cuda_dnn *dnn, struct device *d)
{
	struct dnn_graph *g = dnn ? calloc(1, sizeof(*g)) : NULL;

	if (g) {
		g->dnn = dnn;
		g->device = d;
	}
	return g;
}

static void add_to_key(struct dnn_graph *g, const void *bytes, size_t len)
{
	for (int i = 0; i < 2; i++)
		g->key[i] = hash_bytes(bytes, len, g->key[i] + (uint64_t)i);
}

/* What is set says what a graph computes: the items of a value by when they were made. */
static void note(struct dnn_graph *g, dnn_item item, int name, int type, int64_t n,
		 const void *value)
{
	static const size_t bytes[] = { [IS_BOOL] = sizeof(bool),
					[IS_INT64] = sizeof(int64_t),
					[IS_FLOAT] = sizeof(float),
					[IS_DOUBLE] = sizeof(double) };
	int what[] = { name, type, (int)n, 0 };

	if (type == IS_HANDLE)
		return;
	while (what[3] < g->n_items && g->items[what[3]] != item)
		what[3]++;
	add_to_key(g, what, sizeof(what));
	for (int64_t i = 0; type == IS_ITEM && i < n; i++) {
		int at = 0;

		while (at < g->n_items && g->items[at] != ((const dnn_item *)value)[i])
			at++;
		add_to_key(g, &at, sizeof(at));
	}
	if (type != IS_ITEM)
		add_to_key(g, value,
			   (size_t)n *
			       (type <= IS_DOUBLE && bytes[type] ? bytes[type] : sizeof(int)));
}

static dnn_item create(struct dnn_graph *g, int type)
{
	dnn_item item = NULL;

	add_to_key(g, &type, sizeof(type));

	if (!g->failed && g->n_items < DNN_ITEMS &&
	    g->dnn->cudnnBackendCreateDescriptor(type, &item) == DNN_DONE)
		g->items[g->n_items++] = item;
	else
		g->failed = true;
	return item;
}

static void set(struct dnn_graph *g, dnn_item item, int name, int type, int64_t n,
		const void *value)
{
	note(g, item, name, type, n, value);
	if (!g->failed)
		g->failed = g->dnn->cudnnBackendSetAttribute(item, name, type, n, value) !=
			    DNN_DONE;
}

static void set_item(struct dnn_graph *g, dnn_item item, int name, dnn_item value)
{
	if (value)
		set(g, item, name, IS_ITEM, 1, &value);
}

static void set_enum(struct dnn_graph *g, dnn_item item, int name, int type, int value)
{
	set(g, item, name, type, 1, &value);
}

static void set_int(struct dnn_graph *g, dnn_item item, int name, int64_t value)
{
	set(g, item, name, IS_INT64, 1, &value);
}

static void finish(struct dnn_graph *g, dnn_item item)
{
	if (!g->failed)
		g->failed = g->dnn->cudnnBackendFinalize(item) != DNN_DONE;
}

static void finish_op(struct dnn_graph *g, dnn_item op)
{
	finish(g, op);
	if (!g->failed && g->n_ops < DNN_OPS)
		g->ops[g->n_ops++] = op;
	else
		g->failed = true;
}

dnn_item dnn_add_tensor(struct dnn_graph *g, enum dnn_type type, const struct dnn_shape *shape,
			enum dnn_place place, int64_t id)
{
	dnn_item item = create(g, ITEM_TENSOR);
	bool yes = true;

	/* Those between ops have numbers of their own. */
	set_int(g, item, TENSOR_ID, place == DNN_BETWEEN ? 1000 + g->n_tensors++ : id);
	set_enum(g, item, TENSOR_TYPE, IS_TYPE, (int)type);
	set(g, item, TENSOR_SIZES, IS_INT64, shape->rank, shape->size);
	set(g, item, TENSOR_STRIDES, IS_INT64, shape->rank, shape->stride);
	set_int(g, item, TENSOR_ALIGNMENT, ALIGNMENT);
	if (place == DNN_BETWEEN)
		set(g, item, TENSOR_BETWEEN, IS_BOOL, 1, &yes);
	if (place == DNN_NUMBER)
		set(g, item, TENSOR_NUMBER, IS_BOOL, 1, &yes);
	finish(g, item);
	return item;
}

static void add_pointwise(struct dnn_graph *g, const struct dnn_op *p)
{
	dnn_item how = create(g, ITEM_POINTWISE), op;

	set_enum(g, how, POINTWISE_MODE, IS_POINTWISE_MODE, (int)p->mode);
	set_enum(g, how, POINTWISE_MATH, IS_TYPE, (int)p->math);
	if (p->mode == DNN_INDEX)
		set_int(g, how, POINTWISE_AXIS, p->axis);
	finish(g, how);
	op = create(g, ITEM_POINTWISE_OP);
	set_item(g, op, POINTWISE_HOW, how);
	set_item(g, op, POINTWISE_X, p->x);
	set_item(g, op, POINTWISE_B, p->b);
	set_item(g, op, POINTWISE_T, p->t);
	set_item(g, op, POINTWISE_Y, p->y);
	finish_op(g, op);
}

static void add_product(struct dnn_graph *g, const struct dnn_op *p)
{
	dnn_item how = create(g, ITEM_PRODUCT), op;

	set_enum(g, how, PRODUCT_MATH, IS_TYPE, DNN_FLOAT);
	finish(g, how);
	op = create(g, ITEM_PRODUCT_OP);
	set_item(g, op, PRODUCT_HOW, how);
	set_item(g, op, PRODUCT_A, p->x);
	set_item(g, op, PRODUCT_B, p->b);
	set_item(g, op, PRODUCT_Y, p->y);
	finish_op(g, op);
}

static void add_reduction(struct dnn_graph *g, const struct dnn_op *p)
{
	dnn_item how = create(g, ITEM_REDUCTION), op;

	set_enum(g, how, REDUCTION_MODE, IS_REDUCTION_MODE, (int)p->mode);
	set_enum(g, how, REDUCTION_MATH, IS_TYPE, DNN_FLOAT);
	finish(g, how);
	op = create(g, ITEM_REDUCTION_OP);
	set_item(g, op, REDUCTION_HOW, how);
	set_item(g, op, REDUCTION_X, p->x);
	set_item(g, op, REDUCTION_Y, p->y);
	finish_op(g, op);
}

static void add_reshape(struct dnn_graph *g, const struct dnn_op *p)
{
	dnn_item op = create(g, ITEM_RESHAPE_OP);

	set_item(g, op, RESHAPE_X, p->x);
	set_item(g, op, RESHAPE_Y, p->y);
	finish_op(g, op);
}

static dnn_item describe_windows(struct dnn_graph *g, const struct dnn_op *p)
{
	dnn_item how = create(g, ITEM_CONVOLUTION);

	set_enum(g, how, CONVOLUTION_MATH, IS_TYPE, (int)p->math);
	set_enum(g, how, CONVOLUTION_MODE, IS_CONVOLUTION_MODE, DNN_CROSS_CORRELATION);
	set_int(g, how, CONVOLUTION_DIMS, 2);
	set(g, how, CONVOLUTION_STRIDES, IS_INT64, 2, p->windows->stride);
	set(g, how, CONVOLUTION_DILATIONS, IS_INT64, 2, p->windows->dilation);
	set(g, how, CONVOLUTION_BEFORE, IS_INT64, 2, p->windows->padding);
	set(g, how, CONVOLUTION_AFTER, IS_INT64, 2, p->windows->padding);
	finish(g, how);
	return how;
}

static void add_convolution(struct dnn_graph *g, const struct dnn_op *p)
{
	bool wide = p->math == DNN_DOUBLE;
	const double one = 1, zero = 0;
	const float one_f = 1, zero_f = 0;
	int type = wide ? IS_DOUBLE : IS_FLOAT;
	int first = p->kind == DNN_FOR_X         ? FOR_X_ALPHA
		    : p->kind == DNN_FOR_FILTERS ? FOR_FILTERS_ALPHA
						 : CONVOLUTION_ALPHA;
	dnn_item how = describe_windows(g, p);
	dnn_item op = create(g, p->kind == DNN_FOR_X         ? ITEM_FOR_X_OP
				: p->kind == DNN_FOR_FILTERS ? ITEM_FOR_FILTERS_OP
							     : ITEM_CONVOLUTION_OP);

	set_item(g, op, first + TO_HOW, how);
	set_item(g, op, first + TO_X, p->x);
	set_item(g, op, first + TO_W, p->b);
	set_item(g, op, first + TO_Y, p->y);
	set(g, op, first, type, 1, wide ? (const void *)&one : &one_f);
	set(g, op, first + TO_BETA, type, 1, wide ? (const void *)&zero : &zero_f);
	finish_op(g, op);
}

void dnn_add_op(struct dnn_graph *g, const struct dnn_op *op)
{
	static void (*const add[])(struct dnn_graph *, const struct dnn_op *) = {
		[DNN_POINTWISE] = add_pointwise, [DNN_PRODUCT] = add_product,
		[DNN_REDUCTION] = add_reduction, [DNN_CONVOLUTION] = add_convolution,
		[DNN_FOR_X] = add_convolution,   [DNN_FOR_FILTERS] = add_convolution,
		[DNN_RESHAPE] = add_reshape
	};

	add[op->kind](g, op);
}

/* ---- engines */

/* A bit for each of cuDNN's notes on the numbers of a configuration's engine. */
static unsigned notes_of(const struct dnn_graph *g, dnn_item configuration)
{
	const struct cuda_dnn *dnn = g->dnn;
	int notes[MOST_NOTES] = { 0 };
	dnn_item engine = NULL;
	unsigned bits = 0;
	int64_t n = 0;

	if (dnn->cudnnBackendCreateDescriptor(ITEM_ENGINE, &engine) != DNN_DONE)
		return 0;
	if (dnn->cudnnBackendGetAttribute(configuration, CONFIGURATION_ENGINE, IS_ITEM, 1, &n,
					  &engine) != DNN_DONE ||
	    dnn->cudnnBackendGetAttribute(engine, ENGINE_NOTES, IS_NOTE, MOST_NOTES, &n, notes) !=
		DNN_DONE)
		n = 0;
	for (int64_t i = 0; i < n && i < MOST_NOTES; i++)
		bits |= 1u << notes[i];
	dnn->cudnnBackendDestroyDescriptor(engine);
	return bits;
}

/* Whether an engine sums in an order that varies where that counts, or rounds float32 on the way.
 */
static bool is_refused(const struct dnn_graph *g, unsigned notes)
{
	return (!g->varies && notes >> NOTE_VARIES & 1) ||
	       (g->exact && (notes >> NOTE_TENSOR_CORES & 1 || notes >> NOTE_NARROWS & 1));
}

/* What a faster engine than the first one may not do unless the first one does. */
static bool rounds_more(unsigned notes, unsigned first)
{
	const unsigned rounding = 1u << NOTE_FFT | 1u << NOTE_WINOGRAD | 1u << NOTE_SHORT_SUMS;

	return (notes & rounding & ~first) != 0;
}

static void drop_plan(struct dnn_graph *g, struct dnn_plan *plan)
{
	if (plan->item)
		g->dnn->cudnnBackendDestroyDescriptor(plan->item);
	if (plan->room)
		cuda_release(g->device, (uint64_t)plan->room, plan->room_bytes);
	*plan = (struct dnn_plan){ 0 };
}

/* Makes the plan of a configuration; false: this one does not run here. */
static bool make_plan(struct dnn_graph *g, dnn_item configuration, struct dnn_plan *plan)
{
	const struct cuda_dnn *n = g->dnn;
	int64_t bytes = 0, count = 0;

	*plan = (struct dnn_plan){ 0 };
	if (n->cudnnBackendCreateDescriptor(ITEM_PLAN, &plan->item) != DNN_DONE)
		return false;
	if (n->cudnnBackendSetAttribute(plan->item, PLAN_HANDLE, IS_HANDLE, 1, &n->handle) ==
		DNN_DONE &&
	    n->cudnnBackendSetAttribute(plan->item, PLAN_CONFIGURATION, IS_ITEM, 1,
					&configuration) == DNN_DONE &&
	    n->cudnnBackendFinalize(plan->item) == DNN_DONE &&
	    n->cudnnBackendGetAttribute(plan->item, PLAN_ROOM, IS_INT64, 1, &count, &bytes) ==
		DNN_DONE) {
		plan->room = bytes > 0 && bytes <= MOST_ROOM
				 ? (void *)cuda_take(g->device, (size_t)bytes)
				 : NULL;
		plan->room_bytes = plan->room ? (size_t)bytes : 0;
		if (bytes <= 0 || plan->room)
			return true;
	}
	drop_plan(g, plan);
	return false;
}

static bool run_plan(const struct dnn_graph *g, const struct dnn_plan *plan, const int64_t *ids,
		     void *const *at, int n)
{
	const struct cuda_dnn *dnn = g->dnn;
	dnn_item pack = NULL;
	bool ok;

	if (dnn->cudnnBackendCreateDescriptor(ITEM_PACK, &pack) != DNN_DONE)
		return false;
	ok = dnn->cudnnBackendSetAttribute(pack, PACK_IDS, IS_INT64, n, ids) == DNN_DONE &&
	     dnn->cudnnBackendSetAttribute(pack, PACK_POINTERS, IS_POINTER, n, at) == DNN_DONE &&
	     dnn->cudnnBackendSetAttribute(pack, PACK_ROOM, IS_POINTER, 1, &plan->room) ==
		 DNN_DONE &&
	     dnn->cudnnBackendFinalize(pack) == DNN_DONE &&
	     dnn->cudnnBackendExecute(dnn->handle, plan->item, pack) == DNN_DONE;
	dnn->cudnnBackendDestroyDescriptor(pack);
	return ok;
}

/* A trial and its memory: what a graph is given may be in use. */
struct trying {
	const struct dnn_trial *trial;
	uint64_t memory;
	size_t bytes;
	void *at[DNN_MOST_TENSORS];
};

static bool begin_trying(struct dnn_graph *g, const struct dnn_trial *t, struct trying *y)
{
	size_t begin[DNN_MOST_TENSORS];

	*y = (struct trying){ .trial = t };
	for (int i = 0; i < t->n; i++) {
		begin[i] = y->bytes;
		y->bytes += (t->bytes[i] + 255) / 256 * 256;
	}
	y->memory = cuda_take(g->device, y->bytes);
	if (!y->memory)
		return false;
	for (int i = 0; i < t->n; i++)
		y->at[i] = (void *)(y->memory + begin[i]);
	g->device->memory.clear(g->device, (void *)y->memory, y->bytes);
	return true;
}

/* Nanoseconds of a plan, launched `runs` times; -1: it is refused. */
static int64_t time_of(struct dnn_graph *g, const struct dnn_plan *plan, const struct trying *y,
		       int runs)
{
	int64_t begin = clock_ns();

	for (int i = 0; i < runs; i++)
		if (!run_plan(g, plan, y->trial->id, y->at, y->trial->n))
			return -1;
	g->device->memory.wait(g->device);
	return (clock_ns() - begin) / runs;
}

/* Nanoseconds of a plan; -1: it is not faster than `best` for sure. */
static int64_t try_plan(struct dnn_graph *g, const struct dnn_plan *plan, const struct trying *y,
			int64_t best)
{
	int64_t once, ns;
	int runs;

	if (time_of(g, plan, y, 1) < 0) /* which loads it */
		return -1;
	once = time_of(g, plan, y, 1);
	if (once < 0 || (best >= 0 && once > 2 * best + TRIAL_NS / 10))
		return -1;
	runs = (int)(TRIAL_NS / (once + 1)) + 1;
	ns = time_of(g, plan, y, runs < MOST_RUNS ? runs : MOST_RUNS);
	return ns < 0 || (best >= 0 && ns > best - best / 32) ? -1 : ns;
}

/* What an order of engines has for this graph. */
struct engines {
	dnn_item at[MOST_ENGINES];
	int n, mode;
};

/* The plan of the fastest engine; its index. -1: none runs. */
static int try_engines(struct dnn_graph *g, const struct engines *e, const struct trying *y)
{
	int64_t best = -1, begin = clock_ns();
	unsigned first = ~0u;
	int chosen = -1;

	for (int i = 0, tried = 0; i < e->n && tried < MOST_TRIED; i++) {
		unsigned notes = e->at[i] ? notes_of(g, e->at[i]) : 0;
		struct dnn_plan plan;
		int64_t ns;

		if (chosen >= 0 && clock_ns() - begin > TRIALS_NS)
			break;
		if (!e->at[i] || is_refused(g, notes) || rounds_more(notes, first) ||
		    !make_plan(g, e->at[i], &plan))
			continue;
		first = tried++ ? first : notes;
		ns = try_plan(g, &plan, y, best);
		if (ns < 0) {
			drop_plan(g, &plan);
			continue;
		}
		drop_plan(g, &g->plan);
		g->plan = plan;
		best = ns;
		chosen = i;
	}
	return chosen;
}

/* The plan of the first engine from `first` on that runs. */
static void take_engine(struct dnn_graph *g, const struct engines *e, int first)
{
	for (int i = first; i < e->n && !g->plan.item; i++)
		if (e->at[i] && !is_refused(g, notes_of(g, e->at[i])))
			make_plan(g, e->at[i], &g->plan);
}

static const struct dnn_kept *find_kept(const struct cuda_dnn *n, uint64_t key)
{
	for (unsigned i = 0; i < n->n_kept && i < DNN_MOST_KEPT; i++)
		if (n->kept[i].key == key)
			return &n->kept[i];
	return NULL;
}

/* The plan of one of these engines. */
static void choose_engine(struct dnn_graph *g, const struct engines *e, const struct dnn_trial *t)
{
	struct cuda_dnn *n = g->device->dnn;
	const struct dnn_kept *kept = t ? find_kept(n, t->key) : NULL;
	int64_t begin = clock_ns();
	struct trying trying;
	int chosen;

	if (!t || kept || n->tried_ns > MOST_TRIALS_NS || !begin_trying(g, t, &trying)) {
		take_engine(g, e, kept && kept->mode == e->mode ? kept->index : 0);
		return;
	}
	chosen = try_engines(g, e, &trying);
	cuda_release(g->device, trying.memory, trying.bytes);
	n->tried_ns += clock_ns() - begin;
	if (chosen >= 0)
		n->kept[n->n_kept++ % DNN_MOST_KEPT] =
		    (struct dnn_kept){ .key = t->key, .mode = e->mode, .index = chosen };
}

/* An engine of those that cuDNN names by `mode`. */
static bool choose(struct dnn_graph *g, dnn_item graph, int mode, const struct dnn_trial *trial)
{
	dnn_item heuristics = create(g, ITEM_HEURISTICS);
	struct engines e = { .mode = mode };
	int64_t n = 0;

	set_item(g, heuristics, HEURISTICS_GRAPH, graph);
	set_enum(g, heuristics, HEURISTICS_MODE, IS_HEURISTICS_MODE, mode);
	finish(g, heuristics);
	if (g->failed || g->dnn->cudnnBackendGetAttribute(heuristics, HEURISTICS_RESULTS, IS_ITEM,
							  0, &n, NULL) != DNN_DONE)
		return false;
	e.n = n < MOST_ENGINES ? (int)n : MOST_ENGINES;
	for (int i = 0; i < e.n; i++)
		if (g->dnn->cudnnBackendCreateDescriptor(ITEM_CONFIGURATION, &e.at[i]) != DNN_DONE)
			e.at[i] = NULL;
	if (g->dnn->cudnnBackendGetAttribute(heuristics, HEURISTICS_RESULTS, IS_ITEM, e.n, &n,
					     e.at) == DNN_DONE)
		choose_engine(g, &e, trial);
	for (int i = 0; i < e.n; i++)
		if (e.at[i])
			g->dnn->cudnnBackendDestroyDescriptor(e.at[i]);
	return g->plan.item != NULL;
}

static void destroy(const struct cuda_dnn *dnn, dnn_item *items, int n)
{
	for (int i = n - 1; i >= 0; i--)
		dnn->cudnnBackendDestroyDescriptor(items[i]);
}

static struct dnn_shared *find_shared(const struct dnn_graph *g)
{
	struct dnn_shared *s = g->dnn->shared;

	while (s && memcmp(s->key, g->key, sizeof(s->key)) != 0)
		s = s->next;
	return s;
}

/* The plan of a graph that has been made is there for others of its content. */
static void share_plan(struct dnn_graph *g, const uint64_t key[2])
{
	struct dnn_shared *s = calloc(1, sizeof(*s));

	if (!s)
		return;
	memcpy(s->key, key, sizeof(s->key));
	s->graphs = 1;
	s->plan = g->plan;
	memcpy(s->items, g->items, sizeof(s->items));
	s->n_items = g->n_items;
	g->n_items = 0;
	s->next = g->device->dnn->shared;
	g->device->dnn->shared = s;
	g->shared = s;
}

bool dnn_finish(struct dnn_graph *g, const struct dnn_trial *trial)
{
	const unsigned char how[] = { g->exact, g->varies, trial != NULL };
	uint64_t key[2];
	dnn_item graph;

	add_to_key(g, how, sizeof(how));
	if (trial)
		add_to_key(g, &trial->key, sizeof(trial->key));
	memcpy(key, g->key, sizeof(key));
	g->shared = g->failed ? NULL : find_shared(g);
	if (g->shared) {
		g->shared->graphs++;
		g->plan = g->shared->plan;
		return true;
	}
	graph = create(g, ITEM_GRAPH);
	set(g, graph, GRAPH_HANDLE, IS_HANDLE, 1, &g->dnn->handle);
	set(g, graph, GRAPH_OPS, IS_ITEM, g->n_ops, g->ops);
	finish(g, graph);
	if (g->failed || !(choose(g, graph, BY_HEURISTICS, trial) ||
			   (!g->failed && choose(g, graph, BY_FALLBACK, trial))))
		return false;
	share_plan(g, key);
	return true;
}

bool dnn_run(const struct dnn_graph *g, const int64_t *ids, void *const *at, int n)
{
	return run_plan(g, &g->plan, ids, at, n);
}

/* The last graph that has it goes. */
static void drop_shared(struct dnn_graph *g)
{
	struct dnn_shared **at = &g->device->dnn->shared, *s = g->shared;

	while (*at != s)
		at = &(*at)->next;
	*at = s->next;
	drop_plan(g, &s->plan);
	destroy(g->dnn, s->items, s->n_items);
	free(s);
}

void dnn_drop(struct dnn_graph *g)
{
	if (!g)
		return;
	if (!g->shared)
		drop_plan(g, &g->plan);
	else if (--g->shared->graphs == 0)
		drop_shared(g);
	destroy(g->dnn, g->items, g->n_items);
	free(g);
}
