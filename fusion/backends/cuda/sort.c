/* fusion/backends/cuda/sort.c -- sorting on the device.
 *
 * Our own: the templates of CUB want the toolkit's headers where the program runs, and
 * NVRTC finds none.
 */
#include <stdio.h>

#include "fusion/backends/cuda/library.h"

enum { WARP = 32, CHUNK_THREADS = 1024, SORT_MOST = 1 << 30 };

/* Elements of a lane, for lines of up to 32 times so many. */
static const int widths[] = { 2, 8, SORT_SHORT / WARP };
enum { WIDTHS = sizeof(widths) / sizeof(widths[0]) };

struct sort {
	CUfunction of_warps, count, pass; /* of_warps: lines are short */
	struct line_args args;
	int digits;
	size_t keys_bytes, places_bytes, notes_bytes; /* of a room; counts, said, tickets */
};

static bool is_topk(enum op op)
{
	return op == OP_topk_values || op == OP_topk_indices;
}

static int width_of(int64_t length)
{
	int i = 0;

	while (i < WIDTHS - 1 && (int64_t)widths[i] * WARP < length)
		i++;
	return i;
}

/* The length of lines where the text of the graph says it; -1: it does not. */
static int64_t known_length(const struct graph *g, const struct node *n)
{
	const struct shape *x = &g->nodes[n->args[0].node]->shape;
	const struct arg *dim = &n->args[is_topk(n->op) ? 2 : 1];
	int64_t at;

	if (x->rank == 0)
		return 1;
	if (dim->kind != ARG_INT || !sym_is_const(dim->sym))
		return -1;
	at = dim->sym->value < 0 ? dim->sym->value + x->rank : dim->sym->value;
	return sym_is_const(x->size[at]) ? x->size[at]->value : -1;
}

static void emit_sort(struct buf *out, const struct graph *g, const struct node *n, int kernel)
{
	const char *x = cuda_element(cuda_operand_dtype(g, n)), *y = cuda_element(n->dtype);
	bool indices = n->op == OP_argsort || n->op == OP_topk_indices;
	int64_t length = known_length(g, n);

	for (int i = 0; i < WIDTHS; i++) {
		char name[24];

		if (length >= 0 && (length > SORT_SHORT || i != width_of(length)))
			continue;
		snprintf(name, sizeof(name), "short%d", i);
		cuda_emit_function(out,
				   (struct cuda_function_name){ kernel, name, SORT_WARPS * WARP },
				   "line_args", "sort_short<%s, %s, %s, %d>", x, y,
				   indices ? "true" : "false", widths[i]);
	}
	if (length >= 0 && length <= SORT_SHORT)
		return;
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "count", CHUNK_THREADS },
			   "line_args", "sort_count<%s>", x);
	cuda_emit_function(out, (struct cuda_function_name){ kernel, "pass", SORT_RADIX },
			   "line_args", "sort_pass<%s, %s, %s>", x, y, indices ? "true" : "false");
}

static bool no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY,
		       "There is no memory left on the device to sort; use smaller inputs.");
}

static bool take_rooms(const struct cuda_call *c, struct sort *s, struct err *err)
{
	struct line_args *a = &s->args;
	size_t lines = (size_t)a->walk.points, elements = lines * (size_t)a->length;
	size_t counts = lines * (size_t)s->digits * SORT_RADIX;
	size_t said = (size_t)s->digits * lines * (size_t)a->tiles * SORT_RADIX;

	s->keys_bytes = elements * sizeof(*a->keys[0]);
	s->places_bytes = s->digits == 8 ? elements * sizeof(*a->places[0]) : 0;
	s->notes_bytes = (counts + said + (size_t)s->digits) * sizeof(*a->counts);
	for (int i = 0; i < 2; i++) {
		a->keys[i] = (unsigned long long *)cuda_take(c->device, s->keys_bytes);
		if (s->places_bytes)
			a->places[i] = (unsigned *)cuda_take(c->device, s->places_bytes);
		if (!a->keys[i] || (s->places_bytes && !a->places[i]))
			return no_memory(err);
	}
	a->counts = (unsigned *)cuda_take(c->device, s->notes_bytes);
	if (!a->counts)
		return no_memory(err);
	a->said = a->counts + counts;
	a->tickets = a->said + said;
	return true;
}

static enum placing bind_long(const struct cuda_call *c, struct sort *s, struct err *err)
{
	s->args.tiles = (s->args.length + SORT_TILE - 1) / SORT_TILE;
	return take_rooms(c, s, err) && cuda_function(c, "count", &s->count, err) &&
		       cuda_function(c, "pass", &s->pass, err)
		   ? ON_DEVICE
		   : NOWHERE;
}

static enum placing bind_sort(const struct cuda_call *c, void **state, struct err *err)
{
	const struct library_call *call = c->call;
	const struct operand *x = &call->arg[0];
	bool top = is_topk(call->node->op);
	struct sort *s = cuda_state(sizeof(*s), err);
	struct line_args *a;
	char name[16];

	*state = s;
	if (!s)
		return NOWHERE;
	a = &s->args;
	cuda_fill_lines(a, x, library_dim(call, top ? 2 : 1, x->rank ? x->rank : 1));
	a->descending = (int)call->number[top ? 3 : 2];
	a->taken = top && x->rank ? call->number[1] : a->length;
	s->digits = (int)dtype_bytes(x->dtype);
	if (a->length >= SORT_MOST)
		return ON_HOST;
	if (a->length > SORT_SHORT && a->walk.points > 0)
		return bind_long(c, s, err);
	snprintf(name, sizeof(name), "short%d", width_of(a->length));
	return a->length > SORT_SHORT || cuda_function(c, name, &s->of_warps, err) ? ON_DEVICE
										   : NOWHERE;
}

static void run_sort(const struct cuda_call *c, void *state, void *const *buffers)
{
	struct sort *s = state;
	struct line_args a = s->args;
	struct device *d = c->device;
	int64_t lines = a.walk.points;

	a.in = operand_start(&c->call->arg[0], buffers);
	a.out = operand_start(&c->call->out, buffers);
	if (lines == 0 || a.length == 0 || a.taken == 0)
		return;
	if (s->of_warps) {
		cuda_start(c, s->of_warps, (lines + SORT_WARPS - 1) / SORT_WARPS, SORT_WARPS * WARP,
			   &a);
		return;
	}
	d->memory.clear(d, a.counts, s->notes_bytes);
	cuda_start(c, s->count, lines * ((a.tiles + SORT_CHUNK - 1) / SORT_CHUNK), CHUNK_THREADS,
		   &a);
	for (a.digit = 0; a.digit < s->digits; a.digit++)
		cuda_start(c, s->pass, lines * a.tiles, SORT_RADIX, &a);
}

static void drop_sort(struct device *d, void *state)
{
	struct sort *s = state;

	for (int i = 0; s && i < 2; i++) {
		if (s->args.keys[i])
			cuda_release(d, (uint64_t)s->args.keys[i], s->keys_bytes);
		if (s->args.places[i])
			cuda_release(d, (uint64_t)s->args.places[i], s->places_bytes);
	}
	if (s && s->args.counts)
		cuda_release(d, (uint64_t)s->args.counts, s->notes_bytes);
	free(s);
}

const struct cuda_library cuda_sorts = {
	.part = PART_SORT, .emit = emit_sort, .bind = bind_sort, .run = run_sort, .drop = drop_sort
};
