/* tests/test_fusion_views.c -- views, writes through them and joins, in every mode.
 *
 * Programs at random against a model: a tensor is a list of places in a storage,
 * so views and aliases need no strides there.  All numbers are small integers,
 * which float32 holds exactly.
 */
#include <stdlib.h>

#include "tests/engine.h"

#include "fusion/base/buf.h"

enum { MAX_ELEMENTS = 4096, MAX_TENSORS = 24, MAX_STORAGE = 1 << 16, STEPS = 14, PROGRAMS = 150 };

struct model {
	int rank, storage, n;
	int size[MAX_RANK];
	int place[MAX_ELEMENTS];
};

struct world {
	struct model tensors[MAX_TENSORS];
	int n;
	double memory[MAX_STORAGE];
	int used, storages;
	struct buf source;
	unsigned random;
};

static int pick(struct world *w, int n)
{
	w->random = w->random * 1664525u + 1013904223u;
	return (int)((w->random >> 8) % (unsigned)n);
}

static void count(struct model *m)
{
	m->n = 1;
	for (int d = 0; d < m->rank; d++)
		m->n *= m->size[d];
}

/* A tensor with elements of its own. */
static struct model *fresh(struct world *w, int rank, const int *size)
{
	struct model *m = &w->tensors[w->n++];

	m->rank = rank;
	memcpy(m->size, size, sizeof(*size) * (size_t)rank);
	count(m);
	m->storage = w->storages++;
	for (int i = 0; i < m->n; i++)
		m->place[i] = w->used++;
	return m;
}

static int inner(const struct model *m, int dim)
{
	int n = 1;

	for (int d = dim + 1; d < m->rank; d++)
		n *= m->size[d];
	return n;
}

/* `length` indices start, start + step, ... of a dim; `drop` takes the one and the dim goes. */
struct cut {
	int dim, start, length, step;
	bool drop;
};

static void slice(struct world *w, const struct model *of, struct cut c)
{
	int dim = c.dim;
	struct model *m = &w->tensors[w->n++];
	int rest = inner(of, dim), outer = of->n / (rest * of->size[dim]), at = 0;

	*m = (struct model){ .rank = of->rank, .storage = of->storage };
	memcpy(m->size, of->size, sizeof(m->size));
	m->size[dim] = c.length;
	for (int o = 0; o < outer; o++)
		for (int k = 0; k < c.length; k++)
			for (int i = 0; i < rest; i++)
				m->place[at++] =
				    of->place[(o * of->size[dim] + c.start + k * c.step) * rest +
					      i];
	if (c.drop) {
		memmove(m->size + dim, m->size + dim + 1,
			sizeof(int) * (size_t)(m->rank - dim - 1));
		m->rank--;
	}
	count(m);
}

static void transpose(struct world *w, const struct model *of, int a, int b)
{
	struct model *m = &w->tensors[w->n++];
	int index[MAX_RANK] = { 0 };

	*m = *of;
	m->size[a] = of->size[b];
	m->size[b] = of->size[a];
	for (int i = 0; i < m->n; i++) {
		int at = 0;

		for (int d = 0; d < m->rank; d++) {
			int from = d == a ? b : d == b ? a : d;

			at = at * of->size[d] + index[from];
		}
		m->place[i] = of->place[at];
		for (int d = m->rank - 1; d >= 0 && ++index[d] == m->size[d]; d--)
			index[d] = 0;
	}
}

static void add_dim(struct world *w, const struct model *of, int dim)
{
	struct model *m = &w->tensors[w->n++];

	*m = *of;
	memmove(m->size + dim + 1, of->size + dim, sizeof(int) * (size_t)(of->rank - dim));
	m->size[dim] = 1;
	m->rank++;
}

#define SAY(w, ...) buf_printf(&(w)->source, "    " __VA_ARGS__)

/* One view of tensor t, as a new one. */
static void make_view(struct world *w, int t)
{
	const struct model *of = &w->tensors[t];
	int dim = of->rank ? pick(w, of->rank) : 0, size = of->rank ? of->size[dim] : 0;
	int kind = pick(w, 5), step = 1 + pick(w, 2), start, end;

	if (of->rank == 0 || (kind == 4 && of->rank < 5)) {
		dim = pick(w, of->rank + 1);
		SAY(w, "t%d = t%d.unsqueeze(%d)\n", w->n, t, dim);
		add_dim(w, of, dim);
	} else if (kind == 0 && of->rank > 1) {
		int other = pick(w, of->rank);

		SAY(w, "t%d = t%d.transpose(%d, %d)\n", w->n, t, dim, other - of->rank);
		transpose(w, of, dim, other);
	} else if (kind == 1 && size > 0) {
		start = pick(w, size);
		SAY(w, "t%d = t%d.select(%d, %d)\n", w->n, t, dim,
		    pick(w, 2) ? start : start - size);
		slice(w, of, (struct cut){ dim, start, 1, 1, true });
	} else if (size > 0) {
		start = pick(w, size);
		end = start + 1 + pick(w, size - start);
		SAY(w, "t%d = t%d[", w->n, t);
		for (int d = 0; d < dim; d++)
			buf_puts(&w->source, ":, ");
		buf_printf(&w->source, "%d:", start);
		if (end < size || pick(w, 2))
			buf_printf(&w->source, "%d", pick(w, 2) && end < size ? end - size : end);
		if (step > 1)
			buf_printf(&w->source, ":%d", step);
		buf_puts(&w->source, "]\n");
		slice(w, of,
		      (struct cut){ dim, start, (end - start + step - 1) / step, step, false });
	} else {
		SAY(w, "t%d = t%d[...]\n", w->n, t);
		w->tensors[w->n] = *of;
		w->n++;
	}
}

/* A tensor of its own: a copy, or two side by side. */
static void make_copy(struct world *w, int t)
{
	struct model of = w->tensors[t], *m;
	int dim, rest, outer;

	if (of.rank == 0 || of.n > 128 || pick(w, 2)) {
		SAY(w, "t%d = t%d * 2 + 1\n", w->n, t);
		m = fresh(w, of.rank, of.size);
		for (int i = 0; i < m->n; i++)
			w->memory[m->place[i]] = w->memory[of.place[i]] * 2 + 1;
		return;
	}
	dim = pick(w, of.rank);
	rest = inner(&of, dim) * of.size[dim];
	outer = rest ? of.n / rest : 0;
	SAY(w, "t%d = torch.cat([t%d, t%d - 3], dim=%d)\n", w->n, t, t, dim);
	of.size[dim] *= 2;
	m = fresh(w, of.rank, of.size);
	for (int o = 0; o < outer; o++)
		for (int k = 0; k < 2 * rest; k++)
			w->memory[m->place[o * 2 * rest + k]] =
			    w->memory[of.place[o * rest + k % rest]] - (k < rest ? 0 : 3);
}

static void write(struct world *w, int t)
{
	const struct model *m = &w->tensors[t];
	int kind = pick(w, 4), c = 1 + pick(w, 5);

	if (kind == 0)
		SAY(w, "t%d += %d\n", t, c);
	else if (kind == 1)
		SAY(w, "t%d.sub_(%d)\n", t, c);
	else if (kind == 2)
		SAY(w, "t%d[...] = %d\n", t, c);
	else
		SAY(w, "t%d.copy_(t%d.clone() + %d)\n", t, t, c);
	for (int i = 0; i < m->n; i++) {
		double *at = &w->memory[m->place[i]];

		*at = kind == 1 ? *at - c : kind == 2 ? c : *at + c;
	}
}

static void make_program(struct world *w, unsigned seed)
{
	w->n = w->used = w->storages = 0;
	w->random = seed;
	buf_init(&w->source, 1 << 16);
	buf_puts(&w->source, "import torch\ndef model(t0, t1):\n");
	fresh(w, 2, (int[]){ 4, 6 });
	fresh(w, 3, (int[]){ 2, 3, 4 });
	for (int i = 0; i < w->used; i++)
		w->memory[i] = i % 11 - 5;
	for (int step = 0; step < STEPS; step++) {
		int kind = pick(w, 8), t = pick(w, w->n);

		if (kind < 4)
			make_view(w, t);
		else if (kind == 4)
			make_copy(w, t);
		else
			write(w, t);
	}
	SAY(w, "return [");
	for (int t = 0; t < w->n; t++)
		buf_printf(&w->source, "%st%d", t ? ", " : "", t);
	buf_puts(&w->source, "]\n");
}

static void check_tensor(const struct world *w, int t, struct value got, const char *mode)
{
	const struct model *m = &w->tensors[t];
	const struct tensor *memory;

	assert_int_equal(got.kind, VALUE_TENSOR);
	memory = got.tensor->memory;
	assert_int_equal(memory->rank, m->rank);
	for (int d = 0; d < m->rank; d++)
		assert_int_equal(memory->size[d], m->size[d]);
	for (int i = 0; i < m->n; i++)
		if (tensor_get_double(memory, i) != w->memory[m->place[i]])
			fail_msg("%s: t%d[%d] is %g, not %g\n%s", mode, t, i,
				 tensor_get_double(memory, i), w->memory[m->place[i]],
				 w->source.data);
}

/* Results share memory just where the model's do. */
static void check_aliases(const struct world *w, const struct list *got, const char *mode)
{
	for (int a = 0; a < w->n; a++)
		for (int b = 0; b < a; b++)
			if ((got->at[a].tensor->memory->storage ==
			     got->at[b].tensor->memory->storage) !=
			    (w->tensors[a].storage == w->tensors[b].storage))
				fail_msg("%s: t%d and t%d: shared memory or not\n%s", mode, a, b,
					 w->source.data);
}

static void run(struct world *w, const char *backend, enum fusion_mode mode, const char *name)
{
	struct engine e = engine_open(backend, mode, w->source.data);

	for (int call = 0; call < 2; call++) {
		struct value args[2] = { FLOATS(&e, 0, 4, 6), FLOATS(&e, 0, 2, 3, 4) }, out;
		int at = 0;

		for (int k = 0; k < 2; k++)
			for (int i = 0; i < tensor_numel(args[k].tensor->memory); i++, at++)
				((float *)tensor_data(
				    args[k].tensor->memory))[i] = (float)(at % 11 - 5);
		out = engine_call(&e, args, 2);
		assert_int_equal(out.list->len, w->n);
		for (int t = 0; t < w->n; t++)
			check_tensor(w, t, out.list->at[t], name);
		check_aliases(w, out.list, name);
		assert_ptr_equal(out.list->at[0].tensor, args[0].tensor);
		value_unref(out);
		engine_drop(args, 2);
	}
	engine_close(&e);
}

static void programs_at_random_agree_with_a_model_of_places(void **state)
{
	struct world *w = calloc(1, sizeof(*w));

	(void)state;
	assert_non_null(w);
	for (unsigned seed = 1; seed <= PROGRAMS; seed++) {
		make_program(w, seed * 7919);
		run(w, "interp", FUSION_EAGER, "eager");
		run(w, "interp", FUSION_STATIC, "static");
		run(w, "interp", FUSION_DYNAMIC, "dynamic");
		if (seed % 50 == 0 && engine_has("cpu"))
			run(w, "cpu", FUSION_STATIC, "static on cpu");
		buf_finish(&w->source);
	}
	free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(programs_at_random_agree_with_a_model_of_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
