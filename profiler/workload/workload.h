/* profiler/workload/workload.h -- private to profiler/: what is inside a workload.
 *
 * Strings and JSON members are borrowed from `json`, the workload's own copy
 * of what was posted.
 */
#ifndef PROFILER_WORKLOAD_WORKLOAD_H
#define PROFILER_WORKLOAD_WORKLOAD_H

#include "fusion/fusion.h"
#include "fusion/base/err.h"
#include "fusion/registry.h"
#include "profiler/profiler.h"

enum {
	WORKLOAD_MAX_SOURCE_BYTES = 1 << 20,
	WORKLOAD_MAX_CALLS = 1000,
	WORKLOAD_MAX_ARGS = 256,
	WORKLOAD_MAX_POINTS = 64,
	WORKLOAD_MAX_POOL = 1000,
	WORKLOAD_MAX_STATEMENTS = 10000,
	WORKLOAD_MAX_THREADS = 256,
	WORKLOAD_MAX_INPUT_BYTES_LOG2 = 30, /* tensors of all calls of a point */
	WORKLOAD_MAX_DENY = 200,
	WORKLOAD_MAX_PARAMS = 10000,
	WORKLOAD_MAX_FILES = 1000,
	WORKLOAD_MAX_FILES_BYTES = 16 << 20, /* all of them */
	WORKLOAD_MAX_PATH_BYTES = 120,
	WORKLOAD_MAX_PATH_DEPTH = 16,
	WORKLOAD_MAX_WEIGHTS = 64,
	WORKLOAD_MAX_PROBLEMS = 100, /* that are told apart */
};
#define WORKLOAD_MIN_SECONDS 0.01
#define WORKLOAD_MAX_SECONDS 120.0

/* One of the sweep's programs; a workload without a sweep has one point. */
struct point {
	int64_t n;    /* statements or size */
	char *source; /* owned; NULL: the workload's own */
	struct fusion_program *program;
};

enum sweep_kind { SWEEP_NONE, SWEEP_STATEMENTS, SWEEP_INPUT };

struct sweep {
	enum sweep_kind kind;
	const json_t *pool; /* SWEEP_STATEMENTS: strings */
	int line;           /* 1-based, of `...` in the posted source */
	int indent;         /* bytes of white space before it */
	int arg, dim;       /* SWEEP_INPUT */
};

struct workload {
	json_t *json; /* its calls in the plain form: call.h */
	const char *name;
	const char *source, *entry;  /* the text of the entry's file; a name in it */
	struct fusion_files files;   /* one without a path where `source` is all there is */
	struct fusion_data *weights; /* files that the program reads; path NULL: not known */
	int n_weights;
	const char *backend; /* NULL: the best here */
	int threads;         /* 0: one per core */
	enum fusion_policy policy;
	enum autotune autotune; /* fusion_options.autotune */
	const char **deny;      /* ops that are not to be lowered */
	int n_deny;
	const struct registry *registry; /* borrowed; NULL: what is built in */
	uint64_t passes_disabled;        /* of its list of passes */
	bool grad;                       /* d output / d input too */
	bool torch;                      /* engine torch runs it too */
	bool poison;                     /* memory is watched: fusion_options.poison */
	bool keep_going;      /* a mode that fails is left out, the others are measured */
	double seconds;       /* of sampling at each point; 0: as the profiler thinks best */
	bool record_api;      /* its timelines on a GPU hold the calls of the driver too */
	enum dtype autocast;  /* each call is made under torch.autocast() to it; 0: it does not */
	const json_t *params; /* specs of tensors by qualified name; NULL: none */
	const json_t *calls;  /* call.h */
	int n_calls;
	bool evaluates; /* some argument is an expression */
	bool leaves;    /* some argument may require a gradient */
	bool n_is_size; /* a sweep's size is n in the expressions, and no argument is resized */
	enum fusion_mode modes[FUSION_MODE_COUNT]; /* eager first */
	int n_modes;
	struct sweep sweep;
	struct point *points; /* n ascending */
	int n_points;
	fusion_problem_fn *each; /* while it is read: told of all that is wrong; NULL */
	void *each_self;
	int n_problems;
	struct err first_problem;
	bool calls_read;     /* they have the form that calls have */
	struct point before; /* the program that this one is a change of; program NULL: none */
	int *timed[FUSION_MODE_COUNT]; /* indices of calls; NULL: all */
	int n_timed[FUSION_MODE_COUNT];
};

/* The calls of a point, as specs: new reference.  NULL with *err. */
json_t *workload_calls(const struct workload *w, const struct point *p, struct err *err);

/* The same for a look at its capture: one thread of the interpreter, the quickest
 * to start.  Borrows all of w. */
struct workload workload_quick(const struct workload *w);

/* The source of a point: the entry's file. */
static inline const char *point_source(const struct workload *w, const struct point *p)
{
	return p->source ? p->source : w->source;
}

/* Points of an input sweep share the first one's program. */
static inline const struct fusion_program *point_program(const struct workload *w,
							 const struct point *p)
{
	return p->program ? p->program : w->points[0].program;
}

/* The workload's program with that text as the entry's file. */
struct fusion_program *workload_program(const struct workload *w, const char *source, size_t len,
					struct err *err);

/* What a path of a program's file, or of one that it reads, must be; WORKLOAD or BOUND. */
bool path_check(const char *path, struct err *err);

/* weights.c.  Reads `weights`: names, whose files are not known yet.  WORKLOAD or BOUND. */
bool weights_read(struct workload *w, struct err *err);
void weights_forget(struct workload *w);

/* workload.c.  Where a reader was not ok, notes what is wrong and clears *err, so that the next
 * field can be read.  Returns ok. */
bool workload_take(struct workload *w, bool ok, struct err *err);

/* settings.c.  Reads where and how it is run and what it is filed under: labels, backend, device,
 * policy, modes, engines, passes, and flags. */
void settings_read(struct workload *w);

/* arguments.c.  Reads `params`, `calls` and `time`; then, when the sweep is known, bounds the
 * values and looks at their expressions, in the scope of the program where there is one. */
void arguments_read(struct workload *w);
void arguments_check(struct workload *w, const struct fusion_program *program);

/* workload.c.  Neither missing nor null; and a string field of at most `most` bytes, or
 * `otherwise`, borrowed. */
static inline bool field_given(const json_t *value)
{
	return value && !json_is_null(value);
}

bool field_string(const json_t *json, const char *field, const char *otherwise, size_t most,
		  const char **out, struct err *err);

/* Reads `sweep` and fills w->points, sources included (no program yet). */
bool sweep_parse(struct workload *w, const json_t *sweep, struct err *err);

/* Moves a place in a point's source to the posted source; a line of the pool
 * is named in the message. */
void sweep_locate(const struct workload *w, const struct point *p, struct err *err);

#endif
