/* profiler/findings/maker.h -- private: what the makers of findings share. */
#ifndef PROFILER_FINDINGS_MAKER_H
#define PROFILER_FINDINGS_MAKER_H

#include "profiler/fields/fields.h"
#include "profiler/numbers/numbers.h"

struct maker {
	const struct report_run *run;
	struct arena *arena;
	const struct report_point *points; /* of a run without a sweep one, without n */
	size_t n_points;
	struct number_unit time, compile, bytes;
	bool failed; /* out of memory: what was made is not to be used */
};

/* Of the arena; "" once memory is out. */
const char *maker_text(struct maker *m, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
const char *maker_copy(struct maker *m, const char *text);

/* ---- sentences (sentences.c) */

/* Parts of a sentence, to be filled one after another. */
struct sentence {
	struct maker *maker;
	struct report_sentence_part_list *parts;
};

enum part { PART_PLAIN, PART_CLAIM, PART_INTERVAL };

struct sentence sentence_begin(struct maker *m, struct report_sentence_part_list *to);
void sentence_add(struct sentence *s, enum part as, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* " at n = 30", or "" without a sweep. */
const char *place_at(struct maker *m, const struct report_point *p);

/* The verdict of a mode at a point; NULL where it is held against nothing. */
const char *verdict_at(const struct report_point *p, const char *mode);

/* A mode against eager at a point: the verdict with its figures, and when compiling is repaid;
 * nothing where it is not compared. */
void say_verdict(struct sentence *s, const struct report_point *p, const char *mode);
/* Where the curves of a sweep cross. */
void say_crossing(struct sentence *s, const struct report_comparison *whole, size_t points);
/* A median alone, where nothing can be compared, or that nothing was timed. */
void say_alone(struct sentence *s, const struct report_point *p, const char *mode);
/* Which modes give other values. */
void say_wrong(struct sentence *s);
/* What autocast saved; "" where nothing is said. */
const char *say_autocast(struct maker *m, const struct report_mixed *mixed);
/* How a point was measured, and whether its values agree. */
const char *say_how(struct maker *m, const struct report_point *p);

/* ---- memory.c */

/* What memory a call takes in a mode, beside eager's (NULL: it was not watched). */
void say_memory(struct sentence *s, const char *mode, const struct report_memory *memory,
		const struct report_memory *eager);

/* ---- doubts.c: what makes figures doubtful, and values that are wrong */

struct report_warning_list find_warnings(struct maker *m);
struct report_wrong_mode_list find_wrong(struct maker *m);
struct report_wrong_mode_list find_wrong_torch(struct maker *m);

#endif
