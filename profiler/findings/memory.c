/* profiler/findings/memory.c -- what is said of the memory of a call: a sentence, and what the call
 * and each line take, beside what eager takes. */
#include <math.h>
#include <string.h>

#include "profiler/findings/maker.h"

/* ---- in a sentence ---- */

/* Bytes are exact, so they have no interval. */

/* Beyond what is there before the call. */
static int64_t added(const struct report_memory *memory)
{
	return memory->peak_bytes > memory->held_bytes ? memory->peak_bytes - memory->held_bytes
						       : 0;
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
		sentence_add(s, PART_CLAIM, "A call in %s adds %s", mode,
			     wording_bytes(s->wording, own));
		sentence_add(s, PART_PLAIN, " at its peak to the %s held before it",
			     wording_bytes(s->wording, memory->held_bytes));
		if (first)
			sentence_add(s, PART_PLAIN, "; the largest tensor there is %s by %s%s",
				     wording_bytes(s->wording, bytes), what(s->wording, first),
				     first->line > 0 ? wording_text(s->wording, ", line %lld",
								    (long long)first->line)
						     : "");
	}
	if (more > own / 100 && more > 0)
		sentence_add(s, PART_PLAIN, ", but between calls it keeps %s more than eager",
			     wording_bytes(s->wording, more));
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
	sentence_add(s, PART_CLAIM, "%s",
		     own == other ? "as much" : wording_bytes(s->wording, other));
	number_short(ratio,
		     own < other ? (double)other / (double)own : (double)own / (double)other);
	if (own < other && own)
		sentence_add(s, PART_PLAIN, ", %sx as much.", ratio);
	else if (own > other && other)
		sentence_add(s, PART_PLAIN, ": %s takes %sx as much.", mode, ratio);
	else
		sentence_add(s, PART_PLAIN, ".");
}

/* ---- as amounts ---- */

/* What is not nothing is not "0". */
static struct report_amount *amount(struct maker *m, int64_t bytes, struct number_unit unit)
{
	struct report_amount *to = report_new_amount(1, m->wording.arena);
	double x = (double)bytes / unit.scale,
	       step = fmax(number_step(x, NAN, NAN), 1 / unit.scale);

	m->wording.failed |= !to;
	if (!to)
		return NULL;
	REPORT_SET(to, text,
		   bytes > 0 && (double)bytes < unit.scale / 1000
		       ? "<0.001"
		       : step_text(m, x, x == round(x) ? fmax(step, 1) : step));
	REPORT_SET(to, bytes, bytes);
	return to;
}

/* Bytes taken in the course of the call, whenever they are given back. */
static int64_t taken(const struct report_memory *memory)
{
	int64_t sum = memory->left_out->bytes;

	for (size_t i = 0; i < memory->tensors.n; i++)
		sum += memory->tensors.at[i].bytes;
	return sum;
}

struct line_bytes {
	bool has_line;
	const char *file; /* "": the program is one text */
	int64_t line, peak, taken;
};

struct line_list {
	struct line_bytes *at;
	size_t n;
};

static int line_order(const struct line_bytes *a, const struct line_bytes *b)
{
	int files = strcmp(a->file, b->file);

	if (!a->has_line || !b->has_line)
		return b->has_line - a->has_line;
	return files ? files : (a->line > b->line) - (a->line < b->line);
}

/* By file and line, what has none last. */
static struct line_list lines_of(struct maker *m, const struct report_memory *memory)
{
	struct line_list l = {
		ARENA_ARRAY(m->wording.arena, struct line_bytes, memory->tensors.n + 1), 0
	};
	size_t k;

	m->wording.failed |= !l.at;
	for (size_t i = 0; !m->wording.failed && i < memory->tensors.n; i++) {
		const struct report_memory_tensor *t = &memory->tensors.at[i];

		struct line_bytes at = { t->has.line, t->has.file ? t->file : "", t->line, 0, 0 };

		for (k = 0; k < l.n && line_order(&l.at[k], &at) < 0; k++)
			;
		if (k == l.n || line_order(&l.at[k], &at) != 0) {
			memmove(&l.at[k + 1], &l.at[k], (l.n - k) * sizeof(*l.at));
			l.at[k] = at;
			l.n++;
		}
		l.at[k].taken += t->bytes;
		l.at[k].peak += t->at_peak ? t->bytes : 0;
	}
	return l;
}

static void put_line(struct maker *m, const struct line_bytes *of, struct number_unit unit,
		     struct report_findings_line *to)
{
	REPORT_SET_OR_NULL(to, line, of->has_line, of->line);
	if (of->has_line && of->file[0])
		REPORT_SET(to, file, of->file);
	REPORT_SET(to, peak, amount(m, of->peak, unit));
	REPORT_SET(to, taken, amount(m, of->taken, unit));
}

static struct report_findings_line *one_line(struct maker *m, int64_t peak, int64_t all,
					     struct number_unit unit)
{
	struct report_findings_line *to = report_new_findings_line(1, m->wording.arena);

	m->wording.failed |= !to;
	if (to)
		put_line(m, &(struct line_bytes){ .peak = peak, .taken = all }, unit, to);
	return to;
}

static void put_lines(struct maker *m, const struct report_memory *memory, struct number_unit unit,
		      struct report_findings_memory *to)
{
	const struct report_memory_left_out *left = memory->left_out;
	struct line_list l = lines_of(m, memory);
	struct report_findings_line_list lines = { report_new_findings_line(l.n, m->wording.arena),
						   l.n };

	m->wording.failed |= !lines.at;
	for (size_t i = 0; !m->wording.failed && i < l.n; i++)
		put_line(m, &l.at[i], unit, &lines.at[i]);
	REPORT_SET(to, lines, lines);
	if (left->tensors)
		REPORT_SET(to, left_out, one_line(m, left->peak_bytes, left->bytes, unit));
	REPORT_SET(
	    to, together,
	    one_line(m, memory->peak_bytes - memory->held_at_peak_bytes, taken(memory), unit));
}

static const char *of_eager(struct maker *m, const struct report_memory *memory,
			    const struct report_memory *eager)
{
	double ratio;

	if (!eager || eager == memory)
		return "baseline";
	if (!added(eager))
		return "nothing to compare";
	ratio = (double)added(memory) / (double)added(eager);
	return ratio > 0 && ratio < 0.001 ? "<0.001x" : maker_text(m, "%sx", figure_text(m, ratio));
}

/* Units that the columns of all modes share. */
struct memory_units {
	struct number_unit whole, lines;
};

static void widen_unit(double span[2], int64_t bytes)
{
	span[0] = bytes > 0 ? fmin(span[0], (double)bytes) : span[0];
	span[1] = fmax(span[1], (double)bytes);
}

static struct memory_units units_of(struct maker *m, const struct report_point *p)
{
	double whole[2] = { INFINITY, 0 }, lines[2] = { INFINITY, 0 };

	for (size_t i = 0; i < p->modes.n; i++) {
		const struct report_memory *memory = p->modes.at[i].memory;
		struct line_list l;

		if (!memory)
			continue;
		widen_unit(whole, memory->peak_bytes);
		widen_unit(whole, memory->held_bytes);
		widen_unit(whole, added(memory));
		widen_unit(whole, taken(memory));
		widen_unit(lines, taken(memory));
		l = lines_of(m, memory);
		for (size_t k = 0; !m->wording.failed && k < l.n; k++) {
			widen_unit(lines, l.at[k].peak);
			widen_unit(lines, l.at[k].taken);
		}
	}
	return (struct memory_units){ number_bytes_unit(whole[0], whole[1]),
				      number_bytes_unit(lines[0], lines[1]) };
}

static void put_use(struct maker *m, const struct report_memory *memory,
		    const struct report_memory *eager, const struct memory_units *units,
		    struct report_findings_mode *to)
{
	struct report_findings_memory *use = report_new_findings_memory(1, m->wording.arena);
	char count[NUMBER_BYTES];

	m->wording.failed |= !use;
	if (!use)
		return;
	number_print(count, (double)memory->tensors.n + (double)memory->left_out->tensors, 1);
	REPORT_SET(use, held, amount(m, memory->held_bytes, units->whole));
	REPORT_SET(use, added, amount(m, added(memory), units->whole));
	REPORT_SET(use, of_eager, of_eager(m, memory, eager));
	REPORT_SET(use, peak, amount(m, memory->peak_bytes, units->whole));
	REPORT_SET(use, taken, amount(m, taken(memory), units->whole));
	REPORT_SET(use, tensors, maker_text(m, "%s", count));
	put_lines(m, memory, units->lines, use);
	REPORT_SET(to, memory_use, use);
}

void put_memory(struct maker *m, const struct report_point *p, struct report_findings_point *to)
{
	const struct report_mode *eager = report_get(p->modes, "eager");
	const struct report_memory *other = eager ? eager->memory : NULL;
	struct memory_units units = units_of(m, p);

	for (size_t i = 0; !m->wording.failed && i < p->modes.n; i++) {
		const struct report_memory *memory = p->modes.at[i].memory;
		struct report_findings_mode *of = &to->modes.at[i];
		struct sentence s;

		if (!memory)
			continue;
		REPORT_SET(to, memory_unit, units.whole.name);
		REPORT_SET(to, lines_unit, units.lines.name);
		REPORT_SET(of, memory, (struct report_sentence_part_list){ 0 });
		s = sentence_begin(&m->wording, &of->memory);
		say_memory(&s, p->modes.keys[i], memory, other);
		put_use(m, memory, other, &units, of);
	}
}
