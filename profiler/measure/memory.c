/* profiler/measure/memory.c -- what the allocator tells of a call, as rows and a curve. */
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

static json_t *held_json(const struct held *h)
{
	json_t *shape = json_array(), *name = json_string(h->name);

	for (int d = 0; d < h->t->rank; d++)
		json_array_append_new(shape, json_integer(h->t->size[d]));
	return json_pack("{s:s, s:o, s:s, s:o, s:I}", "kind", h->kind, "name",
			 name ? name : json_string(""), "dtype", dtype_name(h->t->dtype), "shape",
			 shape, "bytes", (json_int_t)fusion_tensor_bytes(h->t));
}

/* Bytes of the arguments of other calls: they are there all the time. */
static int64_t other_inputs(struct holding *l, const struct lane *lane, int call)
{
	size_t before = l->all.len;
	int64_t bytes = 0;

	for (int i = 0; i < lane->originals->n_calls; i++)
		for (int k = 0; i != call && k < lane->originals->n_args[i]; k++)
			add(l, "", lane->args[i][k]);
	for (size_t i = before; i < l->all.len; i++)
		bytes += (int64_t)fusion_tensor_bytes(l->all.at[i].t);
	l->all.len = before;
	return bytes;
}

/* Adds `held`, `other_inputs_bytes` and `other_bytes` (memory.h) to json, which together
 * are `held_bytes`: the storages of the call's arguments and of what the program keeps with
 * its gradients, each once, largest first, and the rest. */
static void memory_held_report(const struct lane *lane, int call, int64_t held_bytes, json_t *json)
{
	struct holding l = { .allocator = fusion_allocator(lane->engine), .kind = "input" };
	json_t *rows = json_array();
	int64_t others, rest = held_bytes;

	for (int k = 0; k < lane->originals->n_args[call]; k++) {
		const char *name = fusion_parameter_name(lane->session, k);

		add(&l, name ? name : "", lane->args[call][k]);
	}
	fusion_kept(lane->session, add_kept, &l);
	others = other_inputs(&l, lane, call);
	if (l.all.len > 0)
		qsort(l.all.at, l.all.len, sizeof(*l.all.at), largest_first);
	for (size_t i = 0; i < l.all.len && i < MEMORY_MAX_HELD; i++) {
		json_array_append_new(rows, held_json(&l.all.at[i]));
		rest -= (int64_t)fusion_tensor_bytes(l.all.at[i].t);
	}
	json_object_set_new(json, "held", rows);
	json_object_set_new(json, "other_inputs_bytes", json_integer(others));
	json_object_set_new(json, "other_bytes", json_integer(rest - others));
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

struct step {
	int64_t at_ns, bytes;
};

struct watcher {
	VEC(struct taken) taken;
	VEC(int) live; /* of taken; the last taken is the last */
	VEC(struct step) steps;
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
	struct step s = { at_ns, bytes };
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

static int64_t in_use(const struct lane *lane)
{
	return (int64_t)(allocator_used_bytes(fusion_allocator(lane->engine)) +
			 fusion_device_own_bytes(lane->engine));
}

static bool run_call(struct lane *lane, int call, struct value *out, struct err *err)
{
	if (lane->writes && !lane_restore(lane, call, err))
		return false;
	return lane_call(lane, call, out, err);
}

/* The call whose peak is the highest; it also has all compiled. */
static bool choose_call(struct lane *lane, int *call, struct err *err)
{
	struct allocator *a = fusion_allocator(lane->engine);
	size_t most = 0;

	*call = lane->timed[0];
	for (int i = 0; i < lane->n_timed && i < MEMORY_MAX_CALLS; i++) {
		struct value out;

		allocator_reset_peak(a);
		if (!run_call(lane, lane->timed[i], &out, err))
			return false;
		if (allocator_peak_bytes(a) > most) {
			most = allocator_peak_bytes(a);
			*call = lane->timed[i];
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

static bool watch_once(struct lane *lane, int call, struct watcher *w, struct err *err)
{
	struct fusion_observer observer = {
		.self = w, .eager_op = on_eager_op, .took = on_took, .gave = on_gave
	};
	struct value out;
	bool ok;

	if (lane->writes && !lane_restore(lane, call, err))
		return false;
	arena_init(&w->names, NAMES_BYTES);
	w->peak = -1;
	w->held_bytes = in_use(lane);
	fusion_observe(lane->session, &observer);
	w->begin_ns = clock_ns();
	ok = lane_call(lane, call, &out, err);
	w->end_ns = clock_ns();
	w->left_bytes = in_use(lane);
	fusion_observe(lane->session, NULL);
	if (!ok)
		return false;
	value_unref(out);
	return !w->no_memory || err_set(err, ERR_MEMORY, "out of memory for the run");
}

/* The quickest of a few: the machine may have been busy with something else. */
static bool watch_call(struct lane *lane, int call, struct watcher *w, struct err *err)
{
	int64_t begin = clock_ns();

	if (!watch_once(lane, call, w, err))
		return false;
	for (int i = 1; i < MEMORY_WATCHES && clock_ns() - begin < MEMORY_WATCH_NS; i++) {
		struct watcher again = { 0 };
		bool ok = watch_once(lane, call, &again, err);

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

/* ---- what was told, as JSON ---- */

static double us(const struct watcher *w, int64_t at_ns)
{
	return (double)(at_ns - w->begin_ns) / 1000;
}

static bool at_peak(const struct watcher *w, const struct taken *t)
{
	return w->peak >= 0 && t->from <= w->peak && (!t->to_ns || t->to > w->peak);
}

/* All of it where it fits, else the highest and the last of each of even spans of time. */
static json_t *curve_json(const struct watcher *w)
{
	json_t *at = json_array(), *bytes = json_array();
	size_t n = w->steps.len, spans = MEMORY_MAX_STEPS / 2, i = 0;
	double span_us = us(w, w->end_ns) / (double)spans;

	while (i < n) {
		size_t high = i, last = i;

		if (n > MEMORY_MAX_STEPS && span_us > 0) {
			double end_us = (1 + floor(us(w, w->steps.at[i].at_ns) / span_us)) *
					span_us;

			while (last + 1 < n && us(w, w->steps.at[last + 1].at_ns) < end_us)
				if (w->steps.at[++last].bytes > w->steps.at[high].bytes)
					high = last;
		}
		for (size_t k = high; k <= last; k += last > high ? last - high : 1) {
			json_array_append_new(at, json_real(us(w, w->steps.at[k].at_ns)));
			json_array_append_new(bytes, json_integer(w->steps.at[k].bytes));
		}
		i = last + 1;
	}
	return json_pack("{s:o, s:o}", "at_us", at, "bytes", bytes);
}

static json_t *tensor_json(const struct watcher *w, const struct taken *t)
{
	static const char *const uses[USE_COUNT] = { [USE_OTHER] = "other",
						     [USE_OUTPUT] = "output",
						     [USE_TEMPORARY] = "temporary",
						     [USE_CONSTANT] = "constant",
						     [USE_RECORDING] = "recording" };
	const struct fusion_memory *what = &t->what;
	bool known = what->rank >= 0, graph = what->graph >= 0;
	json_t *shape = known ? json_array() : json_null();

	for (int d = 0; d < what->rank; d++)
		json_array_append_new(shape, json_integer(what->size[d]));
	return json_pack(
	    "{s:s?, s:o, s:s, s:b, s:o, s:o, s:i, s:s?, s:o, s:I, s:f, s:o, s:b}", "op", what->op,
	    "line", what->line ? json_integer(what->line) : json_null(), "use", uses[what->use],
	    "eager", what->eager, "graph", graph ? json_integer(what->graph) : json_null(),
	    "kernel", graph && what->kernel >= 0 ? json_integer(what->kernel) : json_null(),
	    "values", what->values, "dtype", known ? dtype_name(what->dtype) : NULL, "shape", shape,
	    "bytes", (json_int_t)t->bytes, "from_us", us(w, t->from_ns), "to_us",
	    t->to_ns ? json_real(us(w, t->to_ns)) : json_null(), "at_peak", at_peak(w, t));
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

static void add_tensors(const struct watcher *w, json_t *json)
{
	json_t *tensors = json_array();
	int64_t left_out = w->lost, bytes = w->lost_bytes, peak_bytes = 0, taken_bytes = 0;

	for (size_t i = 0; i < w->taken.len; i++) {
		const struct taken *t = &w->taken.at[i];

		taken_bytes += at_peak(w, t) ? t->bytes : 0;
		if (t->shown) {
			json_array_append_new(tensors, tensor_json(w, t));
			continue;
		}
		left_out++;
		bytes += t->bytes;
		peak_bytes += at_peak(w, t) ? t->bytes : 0;
	}
	json_object_set_new(json, "tensors", tensors);
	json_object_set_new(
	    json, "held_at_peak_bytes",
	    json_integer(json_integer_value(json_object_get(json, "peak_bytes")) - taken_bytes));
	json_object_set_new(json, "left_out",
			    json_pack("{s:I, s:I, s:I}", "tensors", (json_int_t)left_out, "bytes",
				      (json_int_t)bytes, "peak_bytes", (json_int_t)peak_bytes));
}

static json_t *memory_json(const struct watcher *w, int call)
{
	const struct step none = { w->begin_ns, w->held_bytes };
	const struct step *peak = w->peak < 0 ? &none : &w->steps.at[w->peak];

	return json_pack("{s:i, s:f, s:I, s:I, s:f, s:I, s:o, s:I}", "call", call, "duration_us",
			 us(w, w->end_ns), "held_bytes", (json_int_t)w->held_bytes, "peak_bytes",
			 (json_int_t)peak->bytes, "peak_us", us(w, peak->at_ns), "left_bytes",
			 (json_int_t)w->left_bytes, "curve", curve_json(w), "events",
			 (json_int_t)w->steps.len);
}

bool memory_report(struct lane *lane, int lanes, json_t *m, struct err *err)
{
	int rows = MEMORY_ALL_ROWS / (lanes > 0 ? lanes : 1), call;
	struct watcher w = { 0 };
	json_t *json;

	rows = rows > MEMORY_MOST_ROWS ? MEMORY_MOST_ROWS : rows;
	rows = rows < MEMORY_LEAST_ROWS ? MEMORY_LEAST_ROWS : rows;
	if (!choose_call(lane, &call, err) || !watch_call(lane, call, &w, err) ||
	    !choose_rows(&w, (size_t)rows, err)) {
		finish(&w);
		return false;
	}
	buf_clear(fusion_stdout(lane->session));
	json = memory_json(&w, call);
	add_tensors(&w, json);
	memory_held_report(lane, call, w.held_bytes, json);
	json_object_set_new(m, "memory", json);
	finish(&w);
	return true;
}
