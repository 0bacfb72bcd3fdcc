/* profiler/allclose/allclose.c -- walks over what two candidates hold, value by value.
 *
 * First nothing is asked but whether all is the same; only where it is not, the program is
 * run in float64 and everything is compared to it.
 */
#include "profiler/allclose/allclose.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/allclose/elements.h"
#include "profiler/allclose/texts.h"
#include "profiler/workload/value_json.h"

static const char *const stage_names[] = {
	[STAGE_IN_ORDER] = "in order",
	[STAGE_BURST] = "one after another",
	[STAGE_TIMED] = "after timing",
};

struct walk {
	struct allclose *a;
	const struct allclose_pair *pair;
	const struct candidate *reference; /* NULL: there is none */
	enum reference_stage stage;
	int call;
	bool output; /* it is an output that is walked over */
	char path[160];
	size_t len;
};

/* The same value of each side; reference UNSET: none. */
struct trio {
	struct value ours, theirs, reference;
};

static const struct value unset = { .kind = VALUE_UNSET };

static void add_name(struct walk *w, const char *before, const char *name, const char *after)
{
	size_t room = sizeof(w->path) - w->len;
	int n = snprintf(w->path + w->len, room, "%s%s%s", before, name, after);

	w->len += n < 0 ? 0 : (size_t)n < room ? (size_t)n : room - 1;
}

static void add_index(struct walk *w, int index)
{
	char text[16];

	snprintf(text, sizeof(text), "%d", index);
	add_name(w, "[", text, "]");
}

static void cut_path(struct walk *w, size_t len)
{
	w->len = len;
	w->path[len] = '\0';
}

static struct allclose_where here(const struct walk *w)
{
	struct allclose_where where = { .call = w->call, .when = stage_names[w->stage] };

	where.at.index = -1;
	snprintf(where.what, sizeof(where.what), "%s", w->path);
	return where;
}

/* They have other structures. */
static void differs(struct walk *w, const char *why)
{
	struct allclose *a = w->a;

	a->differing++;
	a->error = INFINITY;
	if (w->output)
		a->output_error = (double)NAN;
	if (a->verdict == ALLCLOSE_NOT &&
	    (isinf(a->excess) || a->where.when != stage_names[w->stage]))
		return;
	a->verdict = ALLCLOSE_NOT;
	a->rule = DIFFERENCE_BITS;
	a->excess = INFINITY;
	a->where = here(w);
	snprintf(a->where.why, sizeof(a->where.why), "%s", why);
}

static void unravel(const struct tensor *t, int64_t at, struct allclose_where *where)
{
	where->rank = t->rank;
	where->dtype = t->dtype;
	memcpy(where->size, t->size, sizeof(where->size));
	for (int d = t->rank - 1; d >= 0; d--) {
		where->index[d] = at % t->size[d];
		at /= t->size[d];
	}
}

/* Adds what was found of one value; t NULL: a number of Python, or a text. */
static void take(struct walk *w, const struct difference *found, const struct tensor *t)
{
	struct allclose *a = w->a;
	bool wrong = found->excess > 1;
	/* What is wrong first is the cause of what is wrong later. */
	bool later = a->verdict == ALLCLOSE_NOT && a->where.when != stage_names[w->stage];
	bool worse = wrong ? !later && (a->verdict != ALLCLOSE_NOT || found->excess > a->excess)
			   : a->verdict != ALLCLOSE_NOT &&
				 (a->verdict == ALLCLOSE_EXACT || found->error > a->error);

	a->values++;
	a->elements += found->elements;
	a->differing += found->differing;
	a->theirs_error = fmax(a->theirs_error, found->theirs_error);
	if (w->output && !isnan(a->output_error))
		a->output_error = fmax(a->output_error, found->error);
	if (found->differing && worse) {
		a->where = here(w);
		a->where.at = wrong ? found->worst : found->far;
		if (t)
			unravel(t, a->where.at.index, &a->where);
		a->rule = found->rule;
		a->excess = found->excess;
		a->verdict = wrong ? ALLCLOSE_NOT : ALLCLOSE_WITHIN_DTYPE;
	}
	a->error = fmax(a->error, found->error);
}

/* What float64 has there; false: it does not have this value. */
static bool add_references(const struct walk *w, struct value reference,
			   struct difference_pair *pair,
			   struct tensor *made[DIFFERENCE_MAX_REFERENCES])
{
	const struct reference *r = w->pair->reference;
	struct err ignored = { 0 };
	struct difference_pair own = { .ours = pair->theirs, .threads = pair->threads };

	if (reference.kind != VALUE_TENSOR || !fusion_tensor(reference))
		return false;
	own.theirs = fusion_tensor(reference);
	for (int k = 0; k < r->n; k++) {
		made[k] = fusion_reference(fusion_tensor(reference), k, &ignored);
		if (!made[k])
			return false;
		own.reference[k] = pair->reference[k] = made[k];
		own.n_references = ++pair->n_references;
	}
	/* It went the way of theirs, but for the order of sums, which a GPU may choose again: else
	 * it is the reference of something else. */
	return difference_of_tensors(&own).excess <= 1;
}

static void compare_tensors(struct walk *w, const struct trio *v)
{
	struct difference_pair pair = { .ours = fusion_tensor(v->ours),
					.theirs = fusion_tensor(v->theirs),
					.threads = fusion_facts(w->pair->theirs->engine).threads };
	struct tensor *made[DIFFERENCE_MAX_REFERENCES] = { NULL };
	struct difference found;

	if (w->reference && !add_references(w, v->reference, &pair, made))
		pair.n_references = 0;
	found = difference_of_tensors(&pair);
	if (found.kind) {
		char why[80];

		snprintf(why, sizeof(why), "has another %s", found.kind);
		differs(w, why);
	} else {
		take(w, &found, pair.theirs);
	}
	for (int k = 0; k < DIFFERENCE_MAX_REFERENCES; k++)
		tensor_unref(made[k]);
}

static void compare(struct walk *w, const struct trio *v);

static bool is_list(struct value v)
{
	return v.kind == VALUE_TUPLE || v.kind == VALUE_LIST;
}

static void compare_lists(struct walk *w, const struct trio *v)
{
	size_t len = w->len;

	if (value_length(v->ours) != value_length(v->theirs)) {
		differs(w, "has another number of items");
		return;
	}
	for (int i = 0; i < value_length(v->theirs); i++) {
		bool has = is_list(v->reference) && i < value_length(v->reference);

		add_index(w, i);
		compare(w, &(struct trio){ value_item(v->ours, i), value_item(v->theirs, i),
					   has ? value_item(v->reference, i) : unset });
		cut_path(w, len);
	}
}

static void compare_dicts(struct walk *w, const struct trio *v)
{
	struct value ours = v->ours, theirs = v->theirs;
	size_t len = w->len;

	if (value_length(ours) != value_length(theirs)) {
		differs(w, "has another number of keys");
		return;
	}
	for (int i = 0; i < value_length(theirs); i++) {
		bool has = v->reference.kind == VALUE_DICT && i < value_length(v->reference);

		if (!value_equal(value_key(ours, i), value_key(theirs, i))) {
			differs(w, "has other keys");
			return;
		}
		if (value_key(theirs, i).kind == VALUE_STR)
			add_name(w, "['", value_text(value_key(theirs, i), NULL), "']");
		else
			add_index(w, i);
		compare(w, &(struct trio){ value_item(ours, i), value_item(theirs, i),
					   has ? value_item(v->reference, i) : unset });
		cut_path(w, len);
	}
}

static void compare(struct walk *w, const struct trio *values)
{
	struct trio plain = { value_plain(values->ours), value_plain(values->theirs),
			      value_plain(values->reference) };
	const struct trio *v = &plain;
	struct difference found;

	if (v->ours.kind != v->theirs.kind) {
		differs(w, "is of another kind");
		return;
	}
	switch (v->theirs.kind) {
	case VALUE_TENSOR:
		if (fusion_tensor(v->ours) && fusion_tensor(v->theirs))
			compare_tensors(w, v);
		else if (fusion_tensor(v->ours) != fusion_tensor(v->theirs))
			differs(w, "has no elements on one side");
		return;
	case VALUE_BOOL:
	case VALUE_INT:
	case VALUE_STR:
		if (!value_equal(v->ours, v->theirs))
			differs(w, "is another value");
		return;
	case VALUE_FLOAT:
		found = difference_of_numbers(v->ours.f, v->theirs.f);
		take(w, &found, NULL);
		return;
	case VALUE_TUPLE:
	case VALUE_LIST:
		compare_lists(w, v);
		return;
	case VALUE_DICT:
		compare_dicts(w, v);
		return;
	default:
		return;
	}
}

/* ---- gradients */

static struct value grad_of(struct value v)
{
	return v.kind == VALUE_TENSOR ? fusion_grad(v) : unset;
}

static bool is_zeros(const struct tensor *t)
{
	double at[1024];
	int64_t all = tensor_numel(t), n;

	elements_ready(t);
	for (int64_t first = 0; first < all; first += n) {
		n = all - first < 1024 ? all - first : 1024;
		elements_read(t, first, n, at);
		for (int64_t i = 0; i < n; i++)
			if (at[i] != 0)
				return false;
	}
	return true;
}

/* The backward pass of a compiled piece gives each of its inputs a gradient, zeros where
 * eager has none: so does torch.compile's (tests/differential/differences.py). */
static void compare_grad(struct walk *w, const struct trio *g)
{
	if (g->ours.kind != VALUE_UNSET && g->theirs.kind != VALUE_UNSET)
		compare(w, g);
	else if (g->ours.kind == VALUE_UNSET && g->theirs.kind != VALUE_UNSET)
		differs(w, "is missing");
	else if (g->ours.kind == VALUE_TENSOR && !is_zeros(fusion_tensor(g->ours)))
		differs(w, "is there, and not there");
}

static struct value item_of(struct value v, int i)
{
	return i < value_length(v) ? value_item(v, i) : unset;
}

/* Of the tensors in an argument, whatever it is made of. */
static void compare_grads(struct walk *w, const struct trio *v)
{
	int n = value_length(v->theirs);
	struct trio g = { grad_of(v->ours), grad_of(v->theirs), grad_of(v->reference) };
	size_t len = w->len;

	compare_grad(w, &g);
	for (int i = 0; i < n; i++) {
		struct trio item = { item_of(v->ours, i), item_of(v->theirs, i),
				     item_of(v->reference, i) };

		add_index(w, i);
		if (item.ours.kind != VALUE_UNSET)
			compare_grads(w, &item);
		cut_path(w, len);
	}
}

/* ---- what is kept between calls */

struct kept {
	struct value found; /* a dict by path */
};

static void keep(void *self, const char *name, struct value t)
{
	struct kept *k = self;
	struct value key = value_str(name, strlen(name));

	if (key.kind != VALUE_UNSET)
		value_dict_set(k->found.dict, key, t);
	value_unref(key);
}

static struct value kept_of(const struct candidate *candidate)
{
	struct kept k = { .found = value_dict() };

	if (candidate && k.found.kind != VALUE_UNSET)
		fusion_kept(candidate->session, keep, &k);
	return k.found;
}

static struct value named(struct value dict, struct value key)
{
	struct value v;

	return dict.kind == VALUE_DICT && value_dict_get(dict.dict, key, &v) ? v : unset;
}

/* Dicts by parameter, of those that have a gradient. */
static void compare_param_grads(struct walk *w, const struct trio *v)
{
	size_t len = w->len;

	for (int side = 0; side < 2; side++) {
		struct value keys = side ? v->theirs : v->ours;

		for (int i = 0; i < value_length(keys); i++) {
			struct value key = value_key(keys, i);
			struct trio g = { named(v->ours, key), named(v->theirs, key),
					  named(v->reference, key) };

			if (!side && g.theirs.kind != VALUE_UNSET)
				continue; /* it comes with theirs */
			add_name(w, "['", value_text(key, NULL), "']");
			compare_grad(w, &g);
			cut_path(w, len);
		}
	}
}

static void compare_kept(struct walk *w)
{
	struct value theirs = kept_of(w->pair->theirs), ours = kept_of(w->pair->ours);
	struct value reference = kept_of(w->reference);

	for (int i = 0; theirs.kind == VALUE_DICT && i < value_length(theirs); i++) {
		struct value key = value_key(theirs, i);
		struct trio v = { named(ours, key), value_item(theirs, i), named(reference, key) };

		cut_path(w, 0);
		add_name(w, "state ", value_text(key, NULL), "");
		if (v.ours.kind == VALUE_UNSET) {
			differs(w, "is missing");
			continue;
		}
		compare(w, &v);
		cut_path(w, 0);
		add_name(w, "grad of ", value_text(key, NULL), "");
		compare_grads(w, &v);
	}
	value_unref(theirs);
	value_unref(ours);
	value_unref(reference);
}

/* ---- a call */

static void compare_text(struct walk *w, const char *ours, const char *theirs)
{
	struct difference found;

	cut_path(w, 0);
	add_name(w, "", "what was printed", "");
	if (!texts_differ_none(ours ? ours : "", theirs ? theirs : "", &found))
		differs(w, "is another text");
	else
		take(w, &found, NULL);
}

/* What calls printed that is still in the sessions. */
static void compare_sessions(struct walk *w, const struct buf *ours, const struct buf *theirs)
{
	struct buf shown[2] = { 0 };

	buf_add_text(&shown[0], ours->data, ours->len);
	buf_add_text(&shown[1], theirs->data, theirs->len);
	compare_text(w, shown[0].data, shown[1].data);
	buf_finish(&shown[0]);
	buf_finish(&shown[1]);
}

static void name_argument(struct walk *w, const char *before, int k, const char *after)
{
	const char *name = fusion_parameter_name(w->pair->theirs->session, k);
	char text[32];

	snprintf(text, sizeof(text), "argument %d", k);
	cut_path(w, 0);
	add_name(w, before, name ? name : text, after);
}

static void compare_call(struct walk *w, int call)
{
	const struct candidate *ours = w->pair->ours, *theirs = w->pair->theirs, *r = w->reference;

	w->call = call;
	cut_path(w, 0);
	add_name(w, "", "output", "");
	w->output = true;
	compare(w, &(struct trio){ ours->outputs[call], theirs->outputs[call],
				   r ? r->outputs[call] : unset });
	w->output = false;
	for (int k = 0; k < theirs->originals->n_args[call]; k++) {
		struct trio v = { ours->args[call][k], theirs->args[call][k],
				  r ? r->args[call][k] : unset };

		name_argument(w, "", k, " after the call");
		compare(w, &v);
		name_argument(w, "grad of ", k, "");
		compare_grads(w, &v);
	}
	if (ours->param_grads[call].kind != VALUE_DICT ||
	    theirs->param_grads[call].kind != VALUE_DICT)
		return;
	cut_path(w, 0);
	add_name(w, "", "param_grad", "");
	compare_param_grads(w, &(struct trio){ ours->param_grads[call], theirs->param_grads[call],
					       r ? r->param_grads[call] : unset });
}

/* The calls of both in the report, which has what they printed. */
struct printed {
	struct report_call_list ours, theirs;
};

static const char *text_of(struct report_call_list calls, int call)
{
	return (size_t)call < calls.n ? calls.at[call].stdout : NULL;
}

/* `printed` NULL: what calls printed is still in the sessions. */
static void compare_all(struct walk *w, const struct printed *printed)
{
	const struct candidate *ours = w->pair->ours, *theirs = w->pair->theirs;
	const int *timed = theirs->timed;
	int n = w->stage == STAGE_TIMED ? theirs->n_timed : theirs->originals->n_calls;

	for (int i = 0; i < n; i++) {
		int call = w->stage == STAGE_TIMED ? timed[i] : i;

		if (ours->outputs[call].kind == VALUE_UNSET)
			continue;
		compare_call(w, call);
		if (printed)
			compare_text(w, text_of(printed->ours, call),
				     text_of(printed->theirs, call));
	}
	w->call = -1;
	if (w->stage == STAGE_TIMED)
		return;
	compare_kept(w);
	if (!printed)
		compare_sessions(w, fusion_stdout(ours->session), fusion_stdout(theirs->session));
}

static void allclose_stage(struct allclose *a, const struct allclose_pair *pair,
			   enum reference_stage stage, const struct printed *printed)
{
	struct allclose before = *a;
	struct walk w = { .a = a, .pair = pair, .stage = stage };

	compare_all(&w, printed);
	if (a->differing > before.differing && pair->reference) {
		w.reference = reference_at(pair->reference, stage);
		if (!w.reference)
			snprintf(a->no_reference, sizeof(a->no_reference), "%s",
				 pair->reference->why_not);
		if (w.reference) {
			*a = before;
			compare_all(&w, printed);
		}
	}
	a->calls[stage] += stage == STAGE_TIMED ? pair->theirs->n_timed
						: pair->theirs->originals->n_calls;
}

void allclose_in_order(struct allclose *a, const struct allclose_pair *pair,
		       struct report_call_list ours, struct report_call_list theirs)
{
	allclose_stage(a, pair, STAGE_IN_ORDER, &(struct printed){ ours, theirs });
}

void allclose_later(struct allclose *a, const struct allclose_pair *pair,
		    enum reference_stage stage)
{
	allclose_stage(a, pair, stage, NULL);
}
