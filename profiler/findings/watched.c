/* profiler/findings/watched.c -- what watched calls say: where the time of a call goes, and what
 * memory it takes beside what eager takes.
 *
 * Calls are watched after the latencies were taken: the parts of one add up to it, and it is near
 * the median but not equal to it. */
#include <math.h>
#include <string.h>

#include "profiler/findings/maker.h"

/* ---- memory */

/* Bytes are exact, so they have no interval. */

static const char *size(struct wording *w, int64_t bytes)
{
	char text[NUMBER_BYTES];

	number_bytes(text, (double)bytes);
	return wording_text(w, "%s", text);
}

/* Beyond what is there before the call. */
static int64_t added(const struct report_memory *memory)
{
	return memory->peak_bytes > memory->held_bytes ? memory->peak_bytes - memory->held_bytes
						       : 0;
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && strcmp(a, b) == 0);
}

static bool same_shape(const struct report_integers *a, const struct report_integers *b)
{
	return a->n == b->n && (a->n == 0 || memcmp(a->at, b->at, a->n * sizeof(*a->at)) == 0);
}

/* Of one statement, and alike. */
static bool alike(const struct report_memory_tensor *a, const struct report_memory_tensor *b)
{
	return a->bytes == b->bytes && a->values == b->values && a->has.line == b->has.line &&
	       a->line == b->line && a->has.graph == b->has.graph && a->graph == b->graph &&
	       same_text(a->op, b->op) && same_text(a->use, b->use) &&
	       same_text(a->dtype, b->dtype) && same_shape(&a->shape, &b->shape);
}

/* What takes most at the peak: the first of tensors that are alike, and what they take together. */
static const struct report_memory_tensor *largest(const struct report_memory *memory,
						  int64_t *bytes)
{
	const struct report_memory_tensor *found = NULL;

	*bytes = 0;
	for (size_t i = 0; i < memory->tensors.n; i++) {
		const struct report_memory_tensor *t = &memory->tensors.at[i];
		int64_t sum = 0;

		for (size_t k = 0; t->at_peak && k < memory->tensors.n; k++) {
			const struct report_memory_tensor *other = &memory->tensors.at[k];

			sum += other->at_peak && alike(t, other) ? other->bytes : 0;
		}
		if (sum > *bytes || (sum > 0 && sum == *bytes && t->from_us < found->from_us)) {
			*bytes = sum;
			found = t;
		}
	}
	return found;
}

static const char *what(struct wording *w, const struct report_memory_tensor *t)
{
	if (t->values > 1)
		return wording_text(w, "%lld temporaries in one block", (long long)t->values);
	if (t->op)
		return t->op;
	return same_text(t->use, "constant")    ? "a constant"
	       : same_text(t->use, "recording") ? "a recording"
	       : same_text(t->use, "temporary") ? "a temporary"
						: "no op";
}

static void say_own(struct sentence *s, const char *mode, const struct report_memory *memory,
		    const struct report_memory *eager)
{
	int64_t own = added(memory), bytes,
		more = eager ? memory->held_bytes - eager->held_bytes : 0;
	const struct report_memory_tensor *first = largest(memory, &bytes);

	if (!own) {
		sentence_add(s, PART_CLAIM,
			     "A call in %s needs no memory beyond what is held before it", mode);
	} else {
		sentence_add(s, PART_CLAIM, "A call in %s adds %s", mode, size(s->wording, own));
		sentence_add(s, PART_PLAIN, " at its peak to the %s held before it",
			     size(s->wording, memory->held_bytes));
		if (first)
			sentence_add(s, PART_PLAIN, "; the largest there is %s by %s%s",
				     size(s->wording, bytes), what(s->wording, first),
				     first->line > 0 ? wording_text(s->wording, ", line %lld",
								    (long long)first->line)
						     : "");
	}
	if (more > own / 100 && more > 0)
		sentence_add(s, PART_PLAIN, ", but between calls it keeps %s more than eager",
			     size(s->wording, more));
	sentence_add(s, PART_PLAIN, ".");
}

/* Beside eager's; NULL: it was not watched. */
static void say_memory(struct sentence *s, const char *mode, const struct report_memory *memory,
		       const struct report_memory *eager)
{
	int64_t own = added(memory), other = eager ? added(eager) : 0;
	char ratio[NUMBER_BYTES];

	say_own(s, mode, memory, eager);
	if (!eager || eager == memory)
		return;
	sentence_add(s, PART_PLAIN, own <= other ? " Eager adds " : " Eager adds only ");
	sentence_add(s, PART_CLAIM, "%s", own == other ? "as much" : size(s->wording, other));
	number_short(ratio,
		     own < other ? (double)other / (double)own : (double)own / (double)other);
	if (own < other && own)
		sentence_add(s, PART_PLAIN, ", %sx as much.", ratio);
	else if (own > other && other)
		sentence_add(s, PART_PLAIN, ": %s takes %sx as much.", mode, ratio);
	else
		sentence_add(s, PART_PLAIN, ".");
}

/* ---- where the time of a call goes: in a sentence */

/* The mode that is spoken of: static, else the first compiled one that was watched, else eager. */
static const struct report_mode *watched_mode(const struct report_point *p, const char **name)
{
	static const char *const order[] = {
		"static", "lazy", "dynamic", "auto", "graphs", "eager"
	};

	for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
		const struct report_mode *at = report_get(p->modes, order[i]);

		*name = order[i];
		if (at && at->split_us && at->latency)
			return at;
	}
	return NULL;
}

/* Whole percents that add up to the whole's own (largest remainder). */
static void shares_of(const double *parts, size_t n, double whole, int *percents)
{
	double sum = 0;
	int left;

	for (size_t i = 0; i < n; i++) {
		percents[i] = whole > 0 ? (int)floor(100 * parts[i] / whole) : 0;
		sum += whole > 0 ? 100 * parts[i] / whole : 0;
	}
	left = (int)round(sum);
	for (size_t i = 0; i < n; i++)
		left -= percents[i];
	for (; left > 0; left--) {
		size_t most = 0;

		for (size_t i = 1; i < n; i++)
			if (100 * parts[i] / whole - percents[i] >
			    100 * parts[most] / whole - percents[most])
				most = i;
		percents[most]++;
	}
}

/* Of the mode that is spoken of. */
static void say_split(struct maker *m, const struct report_point *p,
		      struct report_findings_point *to)
{
	const char *name, *rest = "";
	const struct report_mode *at = watched_mode(p, &name);
	const struct report_split *s = at ? at->split_us : NULL;
	double kernel, overhead, whole;
	char text[NUMBER_BYTES];
	int percents[3];

	if (!s)
		return;
	kernel = s->has.kernel ? s->kernel : 0;
	overhead = (s->has.guards ? s->guards : 0) + (s->has.dispatch ? s->dispatch : 0) +
		   (s->has.alloc ? s->alloc : 0) + (s->has.launch ? s->launch : 0);
	whole = s->has.observed ? s->observed : fmax(kernel + overhead, at->latency->median_us);
	shares_of((double[]){ kernel, overhead, whole - kernel - overhead }, 3, whole, percents);
	number_duration(text, overhead);
	if (percents[2] >= 10)
		rest = maker_text(m, " %d %% are not attributed to any phase.", percents[2]);
	REPORT_SET(
	    to, split,
	    maker_text(m,
		       "%s spends %d %% of a call in kernels. Its floor, %s of guards, "
		       "dispatch, allocation and launch, stays however short the kernels are.%s",
		       name, percents[0], text, rest));
}

/* ---- and each mode's parts */

enum { PARTS = 6 /* the last: what no part claims */ };

static double part(bool known, double us)
{
	return known ? us : 0;
}

/* In us. */
static double parts_of(const struct report_mode *at, double parts[PARTS])
{
	const struct report_split *s = at->split_us;
	double named = 0, watched;

	parts[0] = part(s->has.guards, s->guards);
	parts[1] = part(s->has.dispatch, s->dispatch);
	parts[2] = part(s->has.alloc, s->alloc);
	parts[3] = part(s->has.launch, s->launch);
	parts[4] = part(s->has.kernel, s->kernel);
	for (int i = 0; i < PARTS - 1; i++)
		named += parts[i];
	watched = s->has.observed ? s->observed : fmax(named, at->latency->median_us);
	parts[PARTS - 1] = watched - named;
	return watched;
}

/* Rounds them to a step so that they add up to their rounded sum (largest remainder). */
static void add_up(double parts[PARTS], double *sum, double step)
{
	double rest[PARTS], left = round(*sum / step);

	*sum = left * step;
	for (int i = 0; i < PARTS; i++) {
		rest[i] = parts[i] / step - floor(parts[i] / step);
		parts[i] = floor(parts[i] / step);
		left -= parts[i];
	}
	for (int taken = 0; taken < PARTS && left > 0; taken++, left--) {
		int most = 0;

		for (int i = 1; i < PARTS; i++)
			if (rest[i] > rest[most])
				most = i;
		parts[most]++;
		rest[most] = -1;
	}
	for (int i = 0; i < PARTS; i++)
		parts[i] *= step;
}

static const char *to_step(struct maker *m, double x, double step)
{
	char text[NUMBER_BYTES];

	number_print(text, x, step);
	return maker_text(m, "%s", text);
}

static void put_parts(struct maker *m, const struct report_mode *at, double scale,
		      struct report_findings_mode *to)
{
	struct report_findings_split *out = report_new_findings_split(1, m->wording.arena);
	double parts[PARTS], watched = parts_of(at, parts) / scale, step = number_step(watched, 0);
	char median[NUMBER_BYTES];

	m->wording.failed |= !out;
	if (!out)
		return;
	for (int i = 0; i < PARTS; i++)
		parts[i] /= scale;
	add_up(parts, &watched, step);
	number_short(median, at->latency->median_us / scale);
	REPORT_SET(out, guards, to_step(m, parts[0], step));
	REPORT_SET(out, dispatch, to_step(m, parts[1], step));
	REPORT_SET(out, alloc, to_step(m, parts[2], step));
	REPORT_SET(out, launch, to_step(m, parts[3], step));
	REPORT_SET(out, kernel, to_step(m, parts[4], step));
	REPORT_SET(out, rest, to_step(m, parts[5], step));
	REPORT_SET(out, watched, to_step(m, watched, step));
	REPORT_SET(out, median, maker_text(m, "%s", median));
	REPORT_SET(to, split, out);
}

static bool is_watched(const struct report_mode *at)
{
	return at->split_us && at->latency;
}

static void put_split(struct maker *m, const struct report_point *p,
		      struct report_findings_point *to)
{
	double parts[PARTS], most = 0;
	struct number_unit unit;

	say_split(m, p, to);
	for (size_t i = 0; i < p->modes.n; i++)
		if (is_watched(&p->modes.at[i]))
			most = fmax(most, parts_of(&p->modes.at[i], parts));
	unit = number_time_unit(most);
	for (size_t i = 0; i < p->modes.n; i++) {
		if (!is_watched(&p->modes.at[i]))
			continue;
		REPORT_SET(to, split_unit, unit.name);
		put_parts(m, &p->modes.at[i], unit.scale, &to->modes.at[i]);
	}
}

void put_watched(struct maker *m, const struct report_point *p, struct report_findings_point *to)
{
	const struct report_mode *eager = report_get(p->modes, "eager");

	put_split(m, p, to);
	for (size_t i = 0; i < p->modes.n; i++) {
		const struct report_memory *memory = p->modes.at[i].memory;
		struct sentence s;

		if (!memory)
			continue;
		REPORT_SET(&to->modes.at[i], memory, (struct report_sentence_part_list){ 0 });
		s = sentence_begin(&m->wording, &to->modes.at[i].memory);
		say_memory(&s, p->modes.keys[i], memory, eager ? eager->memory : NULL);
	}
}
