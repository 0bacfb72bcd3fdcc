/* profiler/run/fit.c -- inputs that a program runs with, where nobody has typed any.
 *
 * What a text tells (profiler/workload/propose.c) is a beginning.  The call is made with it, in
 * eager and without a clock, and where it fails the numbers of the message and of its line say what
 * to change: a size, how many there are, a dtype.  The best state so far, which came furthest for
 * the least changes, is changed next; sizes first, then what is no tensor, then None.  Bounded in
 * tries and time.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/vec.h"
#include "profiler/profiler.h"
#include "profiler/run/fit.h"
#include "profiler/workload/call.h"

enum {
	TIERS = 3,
	MOST_TRIES = 600,
	MORE_TRIES = 150,        /* after the first that runs: for a plainer one */
	OTHER_SEEDS = 4,         /* that what is found runs with too */
	MOST_ELEMENTS = 1 << 20, /* of all inputs of a try */
	MOST_SIZE = 1 << 17,
	USUAL_HIGH = 10,
};
static const int tries_by_tier[TIERS] = { 300, 500, MOST_TRIES };
static const int64_t long_try_ns = 150000000;
static const int64_t usual_sizes[FIT_DIMS] = { 2, 2, 2, 4, 8, 16 }; /* the last ones of them */

struct fit_search {
	struct fit_program program;
	VEC(struct fit_state) states;
	int found;          /* the plainest state that is ok; -1 */
	size_t first_found; /* how many states there were */
	int64_t end_ns;
	int64_t literals[FIT_NUMBERS]; /* of the program */
	int n_literals;
	const json_t *others[4]; /* what may be tried in place of a tensor: number, fraction, bool,
				  * None */
};

static bool over(const struct fit_search *s)
{
	size_t most = s->found < 0 ? MOST_TRIES : s->first_found + MORE_TRIES;

	return (s->found >= 0 && s->states.at[s->found].cost == 0) || s->states.len >= most ||
	       clock_ns() > s->end_ns;
}

/* ---- states ---- */

static bool same_input(const struct fit_input *a, const struct fit_input *b)
{
	if (a->tensor != b->tensor || a->spec != b->spec)
		return false;
	return !a->tensor || (a->dtype == b->dtype && a->rank == b->rank &&
			      memcmp(a->size, b->size, sizeof(a->size[0]) * (size_t)a->rank) == 0 &&
			      (dtype_category(a->dtype) != CATEGORY_INT || a->high == b->high));
}

static int64_t elements(const struct fit_search *s, const struct fit_state *state)
{
	int64_t n = 0;

	for (int k = 0; k < s->program.n; k++) {
		int64_t of_it = 1;

		for (int d = 0; d < state->at[k].rank; d++)
			of_it = of_it > MOST_ELEMENTS ? of_it : of_it * state->at[k].size[d];
		n += of_it;
	}
	return n;
}

static int find(const struct fit_search *s, const struct fit_state *state)
{
	for (size_t i = 0; i < s->states.len; i++) {
		bool same = true;

		for (int k = 0; k < s->program.n && same; k++)
			same = same_input(&s->states.at[i].at[k], &state->at[k]);
		if (same)
			return (int)i;
	}
	return -1;
}

/* Whether a try of it would take too long, by what its parent took for its elements. */
static bool too_large(const struct fit_search *s, const struct fit_state *state)
{
	const struct fit_state *parent = &s->states.at[state->parent];
	int64_t n = elements(s, state);
	double more = (double)n / (double)(elements(s, parent) + 1);

	return n > MOST_ELEMENTS || (more > 1 && (double)parent->ns * more > (double)long_try_ns);
}

/* How far a state is from what one would write: changes, dims; sizes of 1 and equal ones of one
 * tensor, which make a call run by chance; and a first tensor, the data, of less than two dims. */
static double oddness(const struct fit_search *s, const struct fit_state *state)
{
	const struct fit_input *data = &state->at[0];
	double sum = state->cost + (data->tensor && data->free && data->rank < 2 ? 6 : 0);

	for (int k = 0; k < s->program.n; k++)
		for (int d = 0; state->at[k].free && d < state->at[k].rank; d++) {
			sum += state->at[k].size[d] == 1 ? 3.5 : 0.25;
			for (int e = 0; e < d; e++)
				sum += state->at[k].size[d] == state->at[k].size[e] ? 0.5 : 0;
		}
	return sum;
}

/* Whether it runs with other random numbers too: not for a size that data has by chance. */
static bool holds(const struct fit_search *s, const struct fit_state *state)
{
	struct fit_state again = *state;

	for (uint64_t seed = 1; seed <= OTHER_SEEDS && again.ok; seed++)
		fit_try(&s->program, seed << 20, &again);
	return again.ok;
}

/* Whether it runs with a batch of another size: the first size of the first input, wherever it is.
 */
static bool scales(const struct fit_search *s, const struct fit_state *state)
{
	struct fit_state larger = *state;
	int64_t batch = state->at[0].size[0];

	if (!state->at[0].free || !state->at[0].tensor || state->at[0].rank < 1)
		return true;
	larger.at[0].size[0] = 3 * batch;
	for (int k = 1; k < s->program.n; k++)
		for (int d = 0; state->at[k].free && d < state->at[k].rank; d++)
			if (state->at[k].size[d] == batch)
				larger.at[k].size[d] = 3 * batch;
	return holds(s, &larger);
}

/* Tries a change; its index, or that of the same state before; -1 where it is not tried. */
static int offer(struct fit_search *s, struct fit_state state)
{
	int before = find(s, &state), last;

	if (before >= 0 || over(s) || (state.parent >= 0 && too_large(s, &state)))
		return before;
	state.changed = 0;
	for (int k = 0; k < s->program.n && state.parent >= 0; k++)
		if (!same_input(&state.at[k], &s->states.at[state.parent].at[k]))
			state.changed |= 1u << k;
	state.expanded = 0;
	fit_try(&s->program, 0, &state);
	if (!VEC_PUSH(&s->states, state))
		return -1;
	last = (int)s->states.len - 1;
	if (state.ok && holds(s, &state)) {
		s->first_found = s->found < 0 ? s->states.len : s->first_found;
		s->states.at[last].odd = oddness(s, &state) + (scales(s, &state) ? 0 : 6);
		if (s->found < 0 || s->states.at[last].odd < s->states.at[s->found].odd)
			s->found = last;
	}
	return last;
}

/* A copy of state i to change, so much dearer. */
static struct fit_state changed(const struct fit_search *s, int i, int cost)
{
	struct fit_state state = s->states.at[i];

	state.parent = i;
	state.cost += cost;
	return state;
}

/* ---- numbers that may be sizes ---- */

/* The whole numbers in a text, in order: not those within a word or a fraction. */
static int numbers_in(const char *text, size_t len, int64_t out[FIT_NUMBERS])
{
	int n = 0;

	for (size_t i = 0; i < len && n < FIT_NUMBERS;) {
		size_t begin = i;
		int64_t number = 0;
		bool word = begin > 0 && (isalnum((unsigned char)text[begin - 1]) ||
					  strchr("_.", text[begin - 1]));

		while (i < len && isdigit((unsigned char)text[i]) && i - begin < 10)
			number = number * 10 + (text[i++] - '0');
		if (i == begin) {
			i++;
			continue;
		}
		if (!word && (i >= len || (!isalpha((unsigned char)text[i]) && text[i] != '_' &&
					   (text[i] != '.' || i + 1 >= len ||
					    !isdigit((unsigned char)text[i + 1])))))
			out[n++] = number;
	}
	return n;
}

struct numbers {
	int64_t at[2 * FIT_NUMBERS];
	int n;
	int said; /* so many are of the message; the others of its line, or of the program */
};

static void add_numbers(struct numbers *to, const int64_t *from, int n)
{
	for (int i = 0; i < n; i++) {
		bool known = from[i] < 1 || from[i] > MOST_SIZE;

		for (int j = 0; j < to->n && !known; j++)
			known = to->at[j] == from[i];
		if (!known && to->n < 2 * FIT_NUMBERS)
			to->at[to->n++] = from[i];
	}
}

static const char *text_of(const struct fit_search *s, const char *file)
{
	const struct fusion_files *files = &s->program.w->files;

	for (int i = 0; *file && i < files->n; i++)
		if (files->at[i].path && strcmp(files->at[i].path, file) == 0)
			return files->at[i].text;
	return s->program.w->source;
}

static struct numbers numbers_of(const struct fit_search *s, const struct err *err)
{
	const char *line = text_of(s, err->file);
	struct numbers out = { .n = 0 };
	int64_t some[FIT_NUMBERS];

	add_numbers(&out, some, numbers_in(err->message, strlen(err->message), some));
	out.said = out.n;
	for (int i = 1; i < err->line && line; i++) {
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
	if (line && err->line > 0)
		add_numbers(&out, some, numbers_in(line, strcspn(line, "\n"), some));
	add_numbers(&out, s->literals, s->n_literals);
	return out;
}

static bool is_said(const struct numbers *numbers, int64_t size)
{
	for (int i = 0; i < numbers->said; i++)
		if (numbers->at[i] == size)
			return true;
	return false;
}

/* ---- changes of tensors ---- */

static bool may_change(const struct fit_search *s, int i, int k)
{
	return s->states.at[i].at[k].free && s->states.at[i].at[k].tensor;
}

/* Each size that the message names made another of its numbers; `all`: each one, each number. */
static void change_sizes(struct fit_search *s, int i, const struct numbers *numbers, bool all)
{
	for (int k = 0; k < s->program.n; k++)
		for (int d = s->states.at[i].at[k].rank - 1; d >= 0 && may_change(s, i, k); d--) {
			int64_t size = s->states.at[i].at[k].size[d];

			for (int m = 0; m < (all ? numbers->n : numbers->said); m++) {
				struct fit_state state = changed(s, i, all ? 2 : 1);

				state.at[k].size[d] = numbers->at[m];
				if ((all || is_said(numbers, size)) && numbers->at[m] != size)
					offer(s, state);
			}
		}
}

/* Equal sizes of the free inputs change together. */
static void change_equal_sizes(struct fit_search *s, int i, const struct numbers *numbers)
{
	for (int a = 0; a < numbers->said; a++)
		for (int m = 0; m < numbers->said; m++) {
			struct fit_state state = changed(s, i, 1);
			int n = 0;

			for (int k = 0; k < s->program.n; k++)
				for (int d = 0; may_change(s, i, k) && d < state.at[k].rank; d++)
					if (state.at[k].size[d] == numbers->at[a]) {
						state.at[k].size[d] = numbers->at[m];
						n++;
					}
			if (n > 1 && m != a)
				offer(s, state);
		}
}

/* So many dims: the last ones stay. */
static void set_rank(struct fit_input *in, int rank)
{
	struct fit_input was = *in;

	in->rank = rank;
	for (int d = 0; d < rank; d++) {
		int from = was.rank - rank + d;

		in->size[d] = from >= 0 ? was.size[from] : usual_sizes[FIT_DIMS - rank + d];
	}
}

static void change_ranks(struct fit_search *s, int i, const struct numbers *numbers)
{
	for (int k = 0; k < s->program.n; k++)
		for (int rank = 0; rank < FIT_DIMS && may_change(s, i, k); rank++) {
			struct fit_state state = changed(s, i, is_said(numbers, rank) ? 1 : 2);
			bool integers = dtype_category(state.at[k].dtype) != CATEGORY_FLOAT;

			if (rank == state.at[k].rank || (rank == 0 && integers))
				continue;
			set_rank(&state.at[k], rank);
			offer(s, state);
		}
}

static void change_dtypes(struct fit_search *s, int i, const struct numbers *numbers)
{
	static const enum dtype others[] = { DTYPE_I64, DTYPE_F32, DTYPE_BOOL };

	for (int k = 0; k < s->program.n; k++) {
		if (!may_change(s, i, k))
			continue;
		for (int t = 0; t < 3; t++) {
			struct fit_state state = changed(s, i, 2);

			state.at[k].dtype = others[t];
			state.at[k].high = USUAL_HIGH;
			if (state.at[k].rank > 0 || t == 1)
				offer(s, state);
		}
		for (int m = -1; m < numbers->said; m++) {
			struct fit_state state = changed(s, i, m < 0 ? 2 : 1);

			state.at[k].high = m < 0 ? 2 : numbers->at[m];
			if (dtype_category(state.at[k].dtype) == CATEGORY_INT)
				offer(s, state);
		}
	}
}

/* The shape of another argument, or a part of it; as indices too. */
static void copy_shapes(struct fit_search *s, int i)
{
	for (int k = 0; k < s->program.n; k++)
		for (int j = 0; j < s->program.n; j++) {
			const struct fit_input of = s->states.at[i].at[j];

			for (int part = 0; part < 10; part++) {
				int rank = (int[]){ of.rank, of.rank - 1, of.rank - 1, 1,
						    1 }[part / 2];
				int first = (int[]){ 0, 0, 1, 0, of.rank - 1 }[part / 2];
				struct fit_state state = changed(s, i, 2 + part % 2);

				if (k == j || !may_change(s, i, k) || !of.tensor || rank < 1 ||
				    of.rank < 1)
					continue;
				state.at[k].rank = rank;
				for (int d = 0; d < rank; d++)
					state.at[k].size[d] = of.size[first + d];
				if (part % 2) {
					state.at[k].dtype = DTYPE_I64;
					state.at[k].high = USUAL_HIGH;
				}
				offer(s, state);
			}
		}
}

/* ---- sizes that a number of the message follows ----
 *
 * After two convolutions and a flatten no number of the message is the size of an image; but one of
 * them grows with it, and has to become another one that does not.
 */

struct solved {
	int i, k, d, n; /* state, input, and its dims d .. d + n - 1, which are changed together */
	int64_t first[FIT_NUMBERS]; /* the numbers of the state's message */
	int count;
	int place; /* of that which grows; -1: not known */
};

/* The message with that size: the number that grows in *value.  1: the same message, 0: another,
 * from earlier in the program, 2: it went on. */
static int with_size(struct fit_search *s, struct solved *v, int64_t size, int64_t *value)
{
	struct fit_state state = changed(s, v->i, 2);
	int64_t now[FIT_NUMBERS];
	int j, differs = -1, n = 0;

	for (int d = v->d; d < v->d + v->n; d++)
		state.at[v->k].size[d] = size;
	j = offer(s, state);
	if (j < 0 || s->states.at[j].ok || s->states.at[j].ops > s->states.at[v->i].ops)
		return 2;
	if (s->states.at[j].ops < s->states.at[v->i].ops ||
	    s->states.at[j].err.line != s->states.at[v->i].err.line ||
	    numbers_in(s->states.at[j].err.message, strlen(s->states.at[j].err.message), now) !=
		v->count)
		return 0;
	for (int m = 0; m < v->count; m++)
		if (now[m] != v->first[m]) {
			differs = m;
			n++;
		}
	if (v->place < 0)
		v->place = n == 1 ? differs : -1;
	*value = v->place < 0 ? 0 : now[v->place];
	return 1;
}

/* Halves what the size may be until the number is `needed`. */
static void reach(struct fit_search *s, struct solved *v, int64_t needed)
{
	int64_t low = 1, high = s->states.at[v->i].at[v->k].size[v->d], value = 0;
	int found = 1;

	if (needed > v->first[v->place])
		do {
			low = high;
			high *= 2;
			found = with_size(s, v, high, &value);
		} while (found == 1 && value < needed && high < MOST_SIZE);
	while (found != 2 && low < high && !over(s)) {
		int64_t middle = (low + high) / 2;

		found = with_size(s, v, middle, &value);
		if (found == 0 || value < needed)
			low = middle + 1;
		else
			high = middle;
	}
	if (found != 2)
		with_size(s, v, low, &value);
}

static void solve(struct fit_search *s, struct solved v)
{
	const char *message = s->states.at[v.i].err.message;
	int64_t value;

	v.place = -1;
	v.count = numbers_in(message, strlen(message), v.first);
	if (v.count < 2 || with_size(s, &v, 2 * s->states.at[v.i].at[v.k].size[v.d], &value) != 1 ||
	    v.place < 0 || value <= v.first[v.place])
		return;
	for (int m = 0; m < v.count && !over(s); m++)
		if (v.first[m] > 1 && v.first[m] != v.first[v.place])
			reach(s, &v, v.first[m]);
}

static void solve_sizes(struct fit_search *s, int i)
{
	for (int k = 0; k < s->program.n; k++) {
		const struct fit_input in = s->states.at[i].at[k];

		if (!may_change(s, i, k))
			continue;
		if (in.rank > 2 && in.size[in.rank - 1] == in.size[in.rank - 2])
			solve(s, (struct solved){ .i = i, .k = k, .d = in.rank - 2, .n = 2 });
		for (int d = in.rank - 1; d >= 0 && !over(s); d--)
			if (in.size[d] > 0)
				solve(s, (struct solved){ .i = i, .k = k, .d = d, .n = 1 });
	}
}

/* ---- the search ---- */

/* What is no tensor in its place, as the tier has it. */
static void change_kinds(struct fit_search *s, int i, int tier)
{
	for (int k = 0; k < s->program.n; k++)
		for (int other = tier == 1 ? 0 : 3; other < (tier == 1 ? 3 : 4); other++) {
			struct fit_state state = changed(s, i, tier == 1 ? 6 + other : 12);

			state.at[k] = (struct fit_input){ .free = true, .spec = s->others[other] };
			if (may_change(s, i, k))
				offer(s, state);
		}
}

static void expand(struct fit_search *s, int i, int tier)
{
	const struct numbers numbers = numbers_of(s, &s->states.at[i].err);
	int from = s->states.at[i].expanded;

	s->states.at[i].expanded = tier + 1;
	if (from == 0) {
		change_sizes(s, i, &numbers, false);
		change_equal_sizes(s, i, &numbers);
		change_ranks(s, i, &numbers);
		change_dtypes(s, i, &numbers);
		solve_sizes(s, i);
		copy_shapes(s, i);
		change_sizes(s, i, &numbers, true);
	}
	for (int t = from > 1 ? from : 1; t <= tier; t++)
		change_kinds(s, i, t);
}

/* Whether other inputs might help. */
static bool is_of_inputs(const struct err *err)
{
	return err->code != ERR_SYNTAX && err->code != ERR_UNSUPPORTED && err->code != ERR_MEMORY &&
	       err->code != ERR_RECURSION && err->code != ERR_STEPS && err->code != ERR_INTERNAL;
}

/* The state to go on from: it came furthest, for the least changes. */
static int best(const struct fit_search *s, int tier)
{
	int found = -1;
	double most = 0;

	for (size_t i = 0; i < s->states.len; i++) {
		const struct fit_state *state = &s->states.at[i];
		double worth = 4 * log2(1 + (double)state->ops) - state->cost;

		if (!state->ok && state->expanded <= tier && is_of_inputs(&state->err) &&
		    (found < 0 || worth > most)) {
			found = (int)i;
			most = worth;
		}
	}
	return found;
}

static void search(struct fit_search *s)
{
	for (int tier = 0; tier < TIERS && !over(s); tier++)
		for (int i = best(s, tier);
		     i >= 0 && !over(s) && (int)s->states.len < tries_by_tier[tier];
		     i = best(s, tier))
			expand(s, i, tier);
}

/* ---- what was found ---- */

/* With what, where and why the call failed before this input was changed; "": it never was. */
static void why(const struct fit_search *s, int k, struct buf *out)
{
	for (int i = s->found; i >= 0; i = s->states.at[i].parent) {
		const struct fit_state *state = &s->states.at[i], *before;

		if (!(state->changed >> k & 1))
			continue;
		before = &s->states.at[state->parent];
		buf_puts(out, "with ");
		fit_input_text(&before->at[k], out);
		if (before->err.line)
			buf_printf(out, " line %d fails", before->err.line);
		else
			buf_puts(out, " the call fails");
		buf_printf(out, ": %s", before->err.message);
		return;
	}
}

/* The call of a state, a new reference. */
static json_t *call_of(const struct fit_search *s, const struct fit_state *state)
{
	json_t *call = json_deep_copy(s->program.call);

	for (int k = 0; k < s->program.n; k++)
		call_set(call, (size_t)k, fit_input_spec(&state->at[k], call_seed(0, k)));
	return call;
}

/* The inputs of what was found; `told`: what the text says of them, or NULL. */
static json_t *inputs_of(const struct fit_search *s, const json_t *told)
{
	json_t *list = json_array();

	for (int k = 0; k < s->program.n; k++) {
		const struct fit_state *state = &s->states.at[s->found];
		json_t *of_text = json_array_get(told, (size_t)k);
		struct buf text, because;

		if (!state->at[k].free)
			continue;
		buf_init(&text, 0);
		buf_init(&because, 0);
		fit_input_text(&state->at[k], &text);
		why(s, k, &because);
		if (!because.len && of_text)
			buf_puts(&because, json_string_value(json_object_get(of_text, "because")));
		json_array_append_new(list,
				      json_pack("{s:s, s:s, s:s}", "name", s->program.names[k],
						"text", text.data ? text.data : "", "because",
						because.data ? because.data : ""));
		buf_finish(&text);
		buf_finish(&because);
	}
	return list;
}

/* ---- where to begin ---- */

static bool is_free(const json_t *free_names, const char *name)
{
	json_t *each;
	size_t i;

	json_array_foreach(free_names, i,
			   each) if (json_is_string(each) &&
				     strcmp(json_string_value(each), name) == 0) return true;
	return free_names == NULL;
}

/* The first state: the arguments of the call; `plain`: what is free as if nothing told of it. */
static struct fit_state first_state(const struct fit_search *s, const json_t *free_names,
				    bool plain)
{
	struct fit_state state = { .parent = -1 };

	for (int k = 0; k < s->program.n; k++) {
		struct fit_input *in = &state.at[k];

		*in = fit_input_from(call_spec(s->program.call, (size_t)k));
		in->free = is_free(free_names, s->program.names[k]);
		if (plain && in->free) {
			*in =
			    (struct fit_input){ .free = true, .tensor = true, .dtype = DTYPE_F32 };
			set_rank(in, 2);
		}
	}
	return state;
}

/* The arguments that somebody has typed, from the call as it was posted.  False: this call has no
 * place for one of them, or nothing tells their names. */
static bool keep_typed(const struct fit_search *s, const struct fit_search *posted,
		       const json_t *free_names, struct fit_state *state)
{
	for (int j = 0; j < posted->program.n; j++) {
		const char *name = posted->program.names[j];
		bool found = is_free(free_names, name);

		for (int k = 0; k < s->program.n && !found; k++)
			if (strcmp(s->program.names[k], name) == 0) {
				state->at[k] = fit_input_from(
				    call_spec(posted->program.call, (size_t)j));
				found = true;
			}
		if (!found)
			return false;
	}
	if (posted->program.engine)
		return true;
	for (int k = 0; k < s->program.n; k++)
		if (!state->at[k].free)
			return false;
	return true;
}

/* ---- proposals ---- */

/* A search of the workload with another entry and call; *w owns what it borrows.  False where it is
 * no workload, or cannot be called. */
static bool open_search(struct fit_search *s, const json_t *workload, const char *entry,
			const json_t *calls, const struct registry *registry, struct workload **w)
{
	json_t *posted = json_copy((json_t *)workload);
	struct err ignored = { 0 };

	json_object_set(posted, "calls", (json_t *)calls);
	if (entry)
		json_object_set_new(posted, "entry", json_string(entry));
	json_object_del(posted, "sweep");
	json_object_del(posted, "time");
	*s = (struct fit_search){ .found = -1 };
	*w = workload_parse_in(posted, registry, &ignored);
	json_decref(posted);
	if (!*w || !fit_open(&s->program, *w, &ignored))
		return false;
	s->n_literals = numbers_in((*w)->source, strlen((*w)->source), s->literals);
	return true;
}

static void close_search(struct fit_search *s, struct workload *w)
{
	VEC_FREE(&s->states);
	fit_close(&s->program);
	workload_destroy(w);
}

/* Puts what was found before the other proposals. */
static void put_found(json_t *list, const struct fit_search *s, const json_t *proposal,
		      const char *entry)
{
	const struct fit_state *found = &s->states.at[s->found];
	const json_t *line = json_object_get(proposal, "line");

	json_array_insert_new(list, 0,
			      json_pack("{s:s, s:i, s:b, s:b, s:o, s:[o]}", "entry", entry, "line",
					found->parent < 0 ? (int)json_integer_value(line) : 0,
					"needed", true, "runs", true, "inputs",
					inputs_of(s, json_object_get(proposal, "inputs")), "calls",
					call_of(s, found)));
}

/* What a search begins from. */
struct beginning {
	const json_t *workload, *proposal;
	const json_t *free_names;
	bool plain; /* what the proposal says of shapes does not count */
	int64_t end_ns;
};

/* Puts what was found before the other proposals; false: nothing was. */
static bool fit_from(json_t *list, const struct beginning *b, const struct fit_search *posted,
		     const struct registry *registry)
{
	const char *entry = json_string_value(json_object_get(b->proposal, "entry"));
	struct workload *w;
	struct fit_search s;
	bool ok = open_search(&s, b->workload, entry, json_object_get(b->proposal, "calls"),
			      registry, &w);

	if (ok) {
		struct fit_state first = first_state(&s, b->free_names, b->plain);

		s.end_ns = b->end_ns;

		memcpy(s.others, posted->others, sizeof(s.others));
		if (keep_typed(&s, posted, b->free_names, &first))
			offer(&s, first);
		search(&s);
		ok = s.found >= 0;
	}
	if (ok)
		put_found(list, &s, b->proposal, entry);
	close_search(&s, w);
	return ok;
}

json_t *profiler_proposals(const json_t *workload, const json_t *free_names,
			   const struct registry *registry, double limit_ms)
{
	json_t *list = workload_proposals(workload, registry, false), *each;
	json_t *told = workload_proposals(workload, registry, true);
	json_t *others = json_pack("[{s:i}, {s:f}, {s:b}, {s:n}]", "value", 2, "value", 0.5,
				   "value", 1, "value");
	json_t *calls = json_deep_copy(json_object_get(workload, "calls"));
	const int64_t begin_ns = clock_ns();
	struct beginning b = { .workload = workload, .free_names = free_names };
	struct fit_search posted;
	struct workload *w;
	bool done = false;
	size_t i;

	open_search(&posted, workload, NULL, calls, registry, &w);
	for (i = 0; i < sizeof(posted.others) / sizeof(posted.others[0]); i++)
		posted.others[i] = json_array_get(others, i);
	for (int plain = 0; plain < 2; plain++)
		json_array_foreach(told, i, each)
		{
			b.plain = plain;
			b.end_ns = begin_ns + (int64_t)(limit_ms * (plain ? 1e6 : 0.6e6));
			b.proposal = each;
			done = done || fit_from(list, &b, &posted, registry);
		}
	close_search(&posted, w);
	json_decref(calls);
	json_decref(told);
	json_decref(others);
	return list;
}
