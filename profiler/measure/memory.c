/* profiler/measure/memory.c -- what the allocator reports of a call, as rows and a curve. */
#include "profiler/measure/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/arena.h"
#include "fusion/base/clock.h"
#include "fusion/base/vec.h"

struct held {
	const char *kind;
	char name[96];
	const struct tensor *t;
};

struct holding {
	const struct allocator *allocator;
	VEC(struct held) all; /* each storage once */
	const char *kind;     /* of what is added */
};

static void add(struct holding *l, const char *name, struct value v)
{
	struct held h = { .kind = l->kind };

	h.t = fusion_tensor(v);
	if (!h.t)
		return;
	snprintf(h.name, sizeof(h.name), "%s", name);
	for (size_t i = 0; i < l->all.len; i++)
		if (l->all.at[i].t->storage == h.t->storage)
			return;
	if (fusion_tensor_allocator(h.t) == l->allocator)
		(void)!VEC_PUSH(&l->all, h); /* else it counts as other */
}

static void add_kept(void *self, const char *name, struct value v)
{
	struct holding *l = self;

	l->kind = fusion_is_parameter(v) ? "parameter" : "state";
	add(l, name, v);
	l->kind = "gradient";
	add(l, name, fusion_grad(v));
}

static int largest_first(const void *a, const void *b)
{
	const struct held *x = a, *y = b;
	size_t m = fusion_tensor_bytes(x->t), n = fusion_tensor_bytes(y->t);

	return m != n ? (m < n ? 1 : -1) : strcmp(x->name, y->name);
}

static struct report_integers shape_of(const int64_t *size, int rank, struct report_draft *draft)
{
	int64_t *at = ARENA_ARRAY(&draft->arena, int64_t, (size_t)rank + 1);

	for (int d = 0; at && d < rank; d++)
		at[d] = size[d];
	return (struct report_integers){ at, (size_t)rank };
}

static void fill_held(struct report_held *to, const struct held *h, struct report_draft *draft)
{
	REPORT_SET(to, kind, h->kind);
	REPORT_SET(to, name, report_draft_text(draft, h->name));
	REPORT_SET(to, dtype, dtype_name(h->t->dtype));
	REPORT_SET(to, shape, shape_of(h->t->size, h->t->rank, draft));
	REPORT_SET(to, bytes, (int64_t)fusion_tensor_bytes(h->t));
}

/* Bytes of the arguments of other calls: they are there all the time. */
static int64_t other_inputs(struct holding *l, const struct candidate *candidate, int call)
{
	size_t before = l->all.len;
	int64_t bytes = 0;

	for (int i = 0; i < candidate->originals->n_calls; i++)
		for (int k = 0; i != call && k < candidate->originals->n_args[i]; k++)
			add(l, "", candidate->args[i][k]);
	for (size_t i = before; i < l->all.len; i++)
		bytes += (int64_t)fusion_tensor_bytes(l->all.at[i].t);
	l->all.len = before;
	return bytes;
}

/* Sets `held`, `other_inputs_bytes` and `other_bytes`, which together
 * are `held_bytes`: the storages of the call's arguments and of what the program keeps with
 * its gradients, each once, largest first, and the rest. */
static void fill_all_held(struct report_memory *to, const struct candidate *candidate, int call,
			  struct report_draft *draft)
{
	struct holding l = { .allocator = fusion_allocator(candidate->engine), .kind = "input" };
	int64_t others, rest = to->held_bytes;
	struct report_held *rows;
	size_t n;

	for (int k = 0; k < candidate->originals->n_args[call]; k++) {
		const char *name = fusion_parameter_name(candidate->session, k);

		add(&l, name ? name : "", candidate->args[call][k]);
	}
	fusion_kept(candidate->session, add_kept, &l);
	others = other_inputs(&l, candidate, call);
	if (l.all.len > 0)
		qsort(l.all.at, l.all.len, sizeof(*l.all.at), largest_first);
	n = l.all.len < MEMORY_MAX_HELD ? l.all.len : MEMORY_MAX_HELD;
	rows = report_new_held(n, &draft->arena);
	for (size_t i = 0; rows && i < n; i++) {
		fill_held(&rows[i], &l.all.at[i], draft);
		rest -= rows[i].bytes;
	}
	REPORT_SET(to, held, (struct report_held_list){ rows, n });
	REPORT_SET(to, other_inputs_bytes, others);
	REPORT_SET(to, other_bytes, rest - others);
	VEC_FREE(&l.all);
}

/* Memory from where it was taken to where it was given back. */
struct taken {
	struct fusion_memory what; /* `op` lives as long as the engine */
	const void *block;
	int64_t bytes, from_ns, to_ns; /* to_ns 0: it was not given back */
	int from, to;                  /* events before it was taken, and before it went */
	bool shown;
};

enum { NAMES_BYTES = 1 << 20 };

struct memory_step {
	int64_t at_ns, bytes;
};

struct watcher {
	VEC(struct taken) taken;
	VEC(int) live; /* of taken; the last taken is the last */
	VEC(struct memory_step) steps;
	struct arena names; /* of ops: a mode may drop a graph while a later call runs */
	const char *op;     /* the eager op under way */
	int line;
	int64_t begin_ns, end_ns, held_bytes, left_bytes;
	int64_t lost, lost_bytes; /* tensors beyond the bound */
	int peak;                 /* of steps; -1: no event */
	bool no_memory;
};

/* ---- while the call runs ---- */

static void step(struct watcher *w, int64_t bytes, int64_t at_ns)
{
	struct memory_step s = { at_ns, bytes };
	int64_t most = w->peak < 0 ? w->held_bytes : w->steps.at[w->peak].bytes;

	if (!VEC_PUSH(&w->steps, s)) {
		w->no_memory = true;
		return;
	}
	if (bytes > most)
		w->peak = (int)w->steps.len - 1;
}

static void on_eager_op(void *self, const char *name, int line)
{
	struct watcher *w = self;

	w->op = name;
	w->line = line;
}

static void on_took(void *self, const struct fusion_memory *what, const void *block, int64_t bytes,
		    int64_t used_bytes, int64_t at_ns)
{
	struct watcher *w = self;
	struct taken t = { .what = *what,
			   .block = block,
			   .bytes = bytes,
			   .from_ns = at_ns,
			   .from = (int)w->steps.len };
	int index = (int)w->taken.len;

	if (bytes == 0) /* temporaries that the kernels turned out not to need */
		return;
	if (what->eager) {
		t.what.op = w->op;
		t.what.line = w->line;
	}
	if (t.what.op)
		t.what.op = arena_strdup(&w->names, t.what.op);
	if (index >= MEMORY_MAX_TENSORS) {
		w->lost++;
		w->lost_bytes += bytes;
	} else if (!VEC_PUSH(&w->taken, t) || !VEC_PUSH(&w->live, index)) {
		w->no_memory = true;
	}
	step(w, used_bytes, at_ns);
}

/* What is given back was taken lately, mostly. */
static void on_gave(void *self, const void *block, int64_t bytes, int64_t used_bytes, int64_t at_ns)
{
	struct watcher *w = self;

	if (bytes == 0)
		return;
	for (size_t i = w->live.len; i-- > 0;) {
		struct taken *t = &w->taken.at[w->live.at[i]];

		if (t->block != block)
			continue;
		t->to_ns = at_ns;
		t->to = (int)w->steps.len;
		memmove(&w->live.at[i], &w->live.at[i + 1],
			sizeof(*w->live.at) * (w->live.len - i - 1));
		w->live.len--;
		break;
	}
	step(w, used_bytes, at_ns);
}

static int64_t in_use(const struct candidate *candidate)
{
	return (int64_t)(allocator_used_bytes(fusion_allocator(candidate->engine)) +
			 fusion_facts(candidate->engine).device_own_bytes);
}

static bool run_call(struct candidate *candidate, int call, struct value *out, struct err *err)
{
	if (candidate->writes && !candidate_restore(candidate, call, err))
		return false;
	return candidate_call(candidate, call, out, err);
}

/* The call whose peak is the highest; it also has all compiled. */
static bool choose_call(struct candidate *candidate, int *call, struct err *err)
{
	struct allocator *a = fusion_allocator(candidate->engine);
	size_t most = 0;

	*call = candidate->timed[0];
	for (int i = 0; i < candidate->n_timed && i < MEMORY_MAX_CALLS; i++) {
		struct value out;

		allocator_reset_peak(a);
		if (!run_call(candidate, candidate->timed[i], &out, err))
			return false;
		if (allocator_peak_bytes(a) > most) {
			most = allocator_peak_bytes(a);
			*call = candidate->timed[i];
		}
		value_unref(out);
	}
	return true;
}

static void finish(struct watcher *w)
{
	VEC_FREE(&w->taken);
	VEC_FREE(&w->live);
	VEC_FREE(&w->steps);
	arena_finish(&w->names);
}

static bool watch_once(struct candidate *candidate, int call, struct watcher *w, struct err *err)
{
	struct fusion_observer observer = {
		.self = w, .eager_op = on_eager_op, .took = on_took, .gave = on_gave
	};
	struct value out;
	bool ok;

	if (candidate->writes && !candidate_restore(candidate, call, err))
		return false;
	arena_init(&w->names, NAMES_BYTES);
	w->peak = -1;
	w->held_bytes = in_use(candidate);
	fusion_observe(candidate->session, &observer);
	w->begin_ns = clock_ns();
	ok = candidate_call(candidate, call, &out, err);
	w->end_ns = clock_ns();
	w->left_bytes = in_use(candidate);
	fusion_observe(candidate->session, NULL);
	if (!ok)
		return false;
	value_unref(out);
	return !w->no_memory || err_set(err, ERR_MEMORY, "out of memory for the run");
}

/* The quickest of a few: the machine may have been busy with something else. */
static bool watch_call(struct candidate *candidate, int call, struct watcher *w, struct err *err)
{
	int64_t begin = clock_ns();

	if (!watch_once(candidate, call, w, err))
		return false;
	for (int i = 1; i < MEMORY_WATCHES && clock_ns() - begin < MEMORY_WATCH_NS; i++) {
		struct watcher again = { 0 };
		bool ok = watch_once(candidate, call, &again, err);

		if (ok && again.end_ns - again.begin_ns < w->end_ns - w->begin_ns) {
			struct watcher slower = *w;

			*w = again;
			again = slower;
		}
		finish(&again);
		if (!ok)
			return false;
	}
	return true;
}

/* ---- what was reported ---- */

static double us(const struct watcher *w, int64_t at_ns)
{
	return (double)(at_ns - w->begin_ns) / 1000;
}

static bool at_peak(const struct watcher *w, const struct taken *t)
{
	return w->peak >= 0 && t->from <= w->peak && (!t->to_ns || t->to > w->peak);
}

/* All of it where it fits, else the highest and the last of each of even spans of time. */
static struct report_memory_curve *curve_of(const struct watcher *w, struct report_draft *draft)
{
	struct report_memory_curve *to = report_new_memory_curve(1, &draft->arena);
	size_t n = w->steps.len, spans = MEMORY_MAX_STEPS / 2, i = 0, m = 0;
	double *at = ARENA_ARRAY(&draft->arena, double, n + 1);
	int64_t *bytes = ARENA_ARRAY(&draft->arena, int64_t, n + 1);
	double span_us = us(w, w->end_ns) / (double)spans;

	while (at && bytes && i < n) {
		size_t high = i, last = i;

		if (n > MEMORY_MAX_STEPS && span_us > 0) {
			double end_us = (1 + floor(us(w, w->steps.at[i].at_ns) / span_us)) *
					span_us;

			while (last + 1 < n && us(w, w->steps.at[last + 1].at_ns) < end_us)
				if (w->steps.at[++last].bytes > w->steps.at[high].bytes)
					high = last;
		}
		for (size_t k = high; k <= last; k += last > high ? last - high : 1) {
			at[m] = us(w, w->steps.at[k].at_ns);
			bytes[m++] = w->steps.at[k].bytes;
		}
		i = last + 1;
	}
	if (!to || !at || !bytes)
		return NULL;
	REPORT_SET(to, at_us, (struct report_reals){ at, m });
	REPORT_SET(to, bytes, (struct report_integers){ bytes, m });
	return to;
}

static void fill_tensor(struct report_memory_tensor *to, const struct watcher *w,
			const struct taken *t, struct report_draft *draft)
{
	static const char *const uses[USE_COUNT] = { [USE_OTHER] = "other",
						     [USE_OUTPUT] = "output",
						     [USE_TEMPORARY] = "temporary",
						     [USE_CONSTANT] = "constant",
						     [USE_RECORDING] = "recording" };
	const struct fusion_memory *what = &t->what;
	bool known = what->rank >= 0, graph = what->graph >= 0;

	REPORT_SET_IF(to, op, what->op, report_draft_text(draft, what->op));
	REPORT_SET_IF(to, line, what->line, what->line);
	REPORT_SET(to, use, uses[what->use]);
	REPORT_SET(to, eager, what->eager);
	REPORT_SET_IF(to, graph, graph, what->graph);
	REPORT_SET_IF(to, kernel, graph && what->kernel >= 0, what->kernel);
	REPORT_SET(to, values, what->values);
	REPORT_SET_IF(to, dtype, known, dtype_name(what->dtype));
	REPORT_SET_IF(to, shape, known, shape_of(what->size, what->rank, draft));
	REPORT_SET(to, bytes, t->bytes);
	REPORT_SET(to, from_us, us(w, t->from_ns));
	REPORT_SET_IF(to, to_us, t->to_ns, us(w, t->to_ns));
	REPORT_SET(to, at_peak, at_peak(w, t));
}

struct choice {
	int64_t weight;
	int index;
};

static int heaviest_first(const void *a, const void *b)
{
	const struct choice *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->index - y->index;
}

/* Marks the rows: the largest at the peak, then the largest of the others. */
static bool choose_rows(struct watcher *w, size_t rows, struct err *err)
{
	struct choice *all = calloc(w->taken.len + 1, sizeof(*all));

	if (!all)
		return err_set(err, ERR_MEMORY, "out of memory for the run");
	for (size_t i = 0; i < w->taken.len; i++) {
		const struct taken *t = &w->taken.at[i];

		all[i] = (struct choice){ t->bytes + (at_peak(w, t) ? INT64_C(1) << 60 : 0),
					  (int)i };
	}
	qsort(all, w->taken.len, sizeof(*all), heaviest_first);
	for (size_t i = 0; i < w->taken.len && i < rows; i++)
		w->taken.at[all[i].index].shown = true;
	free(all);
	return true;
}

static void fill_tensors(struct report_memory *to, const struct watcher *w,
			 struct report_draft *draft)
{
	struct report_memory_left_out *rest = report_new_memory_left_out(1, &draft->arena);
	int64_t left_out = w->lost, bytes = w->lost_bytes, peak_bytes = 0, taken_bytes = 0;
	struct report_memory_tensor *rows;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < w->taken.len; i++)
		n += w->taken.at[i].shown;
	rows = report_new_memory_tensor(n, &draft->arena);
	for (size_t i = 0; rows && i < w->taken.len; i++) {
		const struct taken *t = &w->taken.at[i];

		taken_bytes += at_peak(w, t) ? t->bytes : 0;
		if (t->shown) {
			fill_tensor(&rows[at++], w, t, draft);
			continue;
		}
		left_out++;
		bytes += t->bytes;
		peak_bytes += at_peak(w, t) ? t->bytes : 0;
	}
	if (rest) {
		REPORT_SET(rest, tensors, left_out);
		REPORT_SET(rest, bytes, bytes);
		REPORT_SET(rest, peak_bytes, peak_bytes);
	}
	REPORT_SET(to, tensors, (struct report_memory_tensor_list){ rows, n });
	REPORT_SET(to, held_at_peak_bytes, to->peak_bytes - taken_bytes);
	REPORT_SET(to, left_out, rest);
}

static struct report_memory *memory_of(const struct watcher *w, int call,
				       struct report_draft *draft)
{
	const struct memory_step none = { w->begin_ns, w->held_bytes };
	const struct memory_step *peak = w->peak < 0 ? &none : &w->steps.at[w->peak];
	struct report_memory *to = report_new_memory(1, &draft->arena);

	if (!to)
		return NULL;
	REPORT_SET(to, call, call);
	REPORT_SET(to, duration_us, us(w, w->end_ns));
	REPORT_SET(to, held_bytes, w->held_bytes);
	REPORT_SET(to, peak_bytes, peak->bytes);
	REPORT_SET(to, peak_us, us(w, peak->at_ns));
	REPORT_SET(to, left_bytes, w->left_bytes);
	REPORT_SET(to, curve, curve_of(w, draft));
	REPORT_SET(to, events, (int64_t)w->steps.len);
	return to;
}

struct report_memory *memory_report(struct candidate *candidate, int candidates,
				    struct report_draft *draft, struct err *err)
{
	int rows = MEMORY_ALL_ROWS / (candidates > 0 ? candidates : 1), call;
	struct report_memory *to = NULL;
	struct watcher w = { 0 };

	rows = rows > MEMORY_MOST_ROWS ? MEMORY_MOST_ROWS : rows;
	rows = rows < MEMORY_LEAST_ROWS ? MEMORY_LEAST_ROWS : rows;
	if (choose_call(candidate, &call, err) && watch_call(candidate, call, &w, err) &&
	    choose_rows(&w, (size_t)rows, err)) {
		buf_clear(fusion_stdout(candidate->session));
		to = memory_of(&w, call, draft);
		if (to) {
			fill_tensors(to, &w, draft);
			fill_all_held(to, candidate, call, draft);
		} else {
			err_set(err, ERR_MEMORY, "out of memory for the run");
		}
	}
	finish(&w);
	return to;
}
