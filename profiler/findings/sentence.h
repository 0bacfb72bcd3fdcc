/* profiler/findings/sentence.h -- sentences and figures as they are shown: written part by part
 * into an arena.  The room's own, and for comparisons, suites and histories, which speak the same
 * way. */
#ifndef PROFILER_FINDINGS_SENTENCE_H
#define PROFILER_FINDINGS_SENTENCE_H

#include "fusion/base/buf.h"
#include "profiler/fields/fields.h"
#include "profiler/measure/stats.h"

/* Once memory is out, texts are "", nothing is added, and what was made is not to be used. */
struct wording {
	struct arena *arena;
	bool failed;
};

static inline const char *wording_kept(struct wording *w, const char *text)
{
	w->failed |= !text;
	return text ? text : "";
}

/* As printf() would write it. */
#define wording_text(w, ...) wording_kept((w), arena_printf((w)->arena, __VA_ARGS__))

/* "1 run", "1,024 runs". */
const char *wording_plural(struct wording *w, int64_t n, const char *one, const char *many);

/* A number, bytes in their own unit, a number rounded to a step: as profiler/numbers writes them.
 */
const char *wording_number(struct wording *w, double x);
const char *wording_bytes(struct wording *w, int64_t bytes);
const char *wording_step(struct wording *w, double x, double step);

/* " at n = 30"; "" of NAN: no sweep. */
const char *wording_at(struct wording *w, double n);

/* A figure in the digits that its interval allows, without one where its ends are not finite.  NULL
 * where memory is out. */
struct report_figure *wording_figure(struct wording *w, const struct interval *x,
				     const char *suffix);

/* The same in a unit of figures.def ("us", "B", "x", "ms", "": a count); times in the unit that
 * suits `most`, bytes without an interval. */
struct report_figure *wording_figure_in(struct wording *w, const struct interval *x,
					const char *unit, double most);

enum sentence_part { PART_PLAIN, PART_CLAIM, PART_INTERVAL };

/* Parts of a sentence, which are added one after another. */
struct sentence {
	struct wording *wording;
	struct report_sentence_part_list *parts;
};

struct sentence sentence_begin(struct wording *w, struct report_sentence_part_list *to);
void sentence_add(struct sentence *s, enum sentence_part as, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* " (3.54–3.55)"; nothing where no interval was measured. */
void sentence_interval(struct sentence *s, const struct report_figure *f);

/* Appends the text of a sentence: its parts joined. */
void sentence_say(struct buf *out, const struct report_sentence_part_list *sentence);

#endif
