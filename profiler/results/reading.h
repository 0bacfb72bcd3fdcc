/* profiler/results/reading.h -- private: a file of results on its way to reports. */
#ifndef PROFILER_RESULTS_READING_H
#define PROFILER_RESULTS_READING_H

#include <math.h>

#include "profiler/measure/stats.h"
#include "profiler/results/results.h"

/* Samples that an interval rests on. */
enum { READING_ENOUGH = STATS_MIN_SAMPLES };

struct results_file {
	const char *bytes;
	size_t len;
	json_t *json; /* NULL: it is no JSON */
};

/* What is common to all benchmarks of the file is set before the first is begun; NULL or "": it
 * does not say. */
struct results_reading {
	const struct results_request *request;
	const char *format;
	json_t *results, *notes, *names; /* lists; names: how often each was met */
	json_t *about;                   /* names of facts, of all */
	size_t numbers;                  /* samples that were read */
	char version[64], machine[200], cpu[200], build[200], measured[64], commit[80], branch[200];
	char suite[200]; /* of the suite */
};

/* Copies a text, cut between characters; what is no text gives "". */
void reading_text(char *to, size_t bytes, const json_t *from);

/* Whether a word is among words between blanks. */
bool reading_among(const char *word, const char *words);

/* Says once what is not kept, or not told. */
void reading_note(struct results_reading *r, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Keys of an object that are not in `known` ("a b c") are not kept, which is said; where: "stats".
 */
void reading_left(struct results_reading *r, const char *where, const json_t *object,
		  const char *known);

/* A fact of all benchmarks that are begun after it. */
void reading_common(struct results_reading *r, const char *name, const json_t *value);

/* A benchmark begins: its report, borrowed.  NULL with BOUND, MEMORY. */
json_t *reading_begin(struct results_reading *r, const char *name, struct err *err);

/* A parameter or a fact of it by name; `value` of any scalar kind, borrowed. */
void reading_fact(json_t *report, const char *of, const char *name, const json_t *value);

/* A figure.  `kind` as in report.def; samples and values are multiplied by `scale`. */
struct reading_figure {
	const char *mode, *kind, *unit, *of;
	double scale;
	const json_t *samples;        /* a list of numbers; NULL: none, but: */
	double value, low, high;      /* low, high: its 95 % interval; NAN: not known */
	double bound_low, bound_high; /* the tool's; NAN: none */
	int64_t n;
	enum { READING_NOT_HELD, READING_AGREES, READING_DISAGREES } agrees; /* with eager */
};
#define READING_NONE NAN, NAN, NAN, NAN, NAN, 0, READING_NOT_HELD
/* One of one measurement. */
#define READING_ONE(mode, kind, unit, scale, value)                                                \
	{                                                                                          \
		mode, kind, unit, NULL, scale, NULL, value, NAN, NAN, NAN, NAN, 1,                 \
		    READING_NOT_HELD                                                               \
	}

bool reading_add(struct results_reading *r, json_t *report, const struct reading_figure *f,
		 struct err *err);

/* B, B/s or items/s where a figure's name says so, else "". */
const char *reading_unit(const char *name);

/* "rate" where a figure's name says that more of it is better, else "amount". */
const char *reading_kind(const char *name);

/* Whether a file looks like one of a format, and what it holds. */
struct results_format {
	bool (*is)(const struct results_file *file);
	bool (*read)(struct results_reading *r, const struct results_file *file, struct err *err);
};
#define FORMAT(id, name, what) extern const struct results_format results_##id;
#include "profiler/results/formats.def"
#undef FORMAT

#endif
