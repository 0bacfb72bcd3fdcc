/* profiler/findings/memory.c -- what memory a call takes, beside what eager takes. */
#include <math.h>
#include <string.h>

#include "profiler/findings/maker.h"

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
void say_memory(struct sentence *s, const char *mode, const struct report_memory *memory,
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
