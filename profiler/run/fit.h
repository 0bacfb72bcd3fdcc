/* profiler/run/fit.h -- private to profiler/: inputs as a call is tried with them.
 *
 * fit.c searches, fit_input.c makes inputs from specs and back, fit_try.c makes the call.
 */
#ifndef PROFILER_RUN_FIT_H
#define PROFILER_RUN_FIT_H

#include <jansson.h>

#include "fusion/base/buf.h"
#include "profiler/workload/workload.h"

enum { FIT_INPUTS = 16, FIT_DIMS = 6, FIT_NUMBERS = 24 };

/* An argument: a random tensor whose shape and type may be others, or what its spec says. */
struct fit_input {
	bool free;   /* nobody has typed it */
	bool tensor; /* what follows it counts */
	enum dtype dtype;
	int rank;
	int64_t size[FIT_DIMS];
	int64_t high;       /* integers are below it */
	const json_t *spec; /* borrowed; of a tensor: what else it says, or NULL */
};

/* All of a call, and what became of it. */
struct fit_state {
	struct fit_input at[FIT_INPUTS];
	int parent;       /* that it is a change of; -1: the first */
	unsigned changed; /* bits of what differs from the parent's */
	int cost;         /* of all changes so far */
	int expanded;     /* how many tiers of changes of it have been tried */
	bool ok;          /* the call returned */
	double odd;       /* where it is ok: how far from what one would write */
	int64_t ops;      /* that ran before it ended */
	int64_t ns;       /* that it took, without what comes before the call */
	struct err err;   /* where it is not ok */
};

/* What is called. */
struct fit_program {
	const struct workload *w;
	struct fusion *engine;
	const json_t *call; /* by place and by name: only its form counts */
	int n;              /* arguments */
	char names[FIT_INPUTS][64];
};

/* Opens an engine for the first call of w, which is borrowed, and learns the names of its
 * arguments.  False where it cannot be tried: too many arguments, or the module's own code fails
 * (*err). */
bool fit_open(struct fit_program *f, const struct workload *w, struct err *err);

static inline void fit_close(struct fit_program *f)
{
	fusion_destroy(f->engine);
	f->engine = NULL;
}

/* Makes the call, with the random numbers of `seed`, and fills in what became of it. */
void fit_try(const struct fit_program *f, uint64_t seed, struct fit_state *s);

/* An argument from its spec, which is borrowed, and back to a new spec. */
struct fit_input fit_input_from(const json_t *spec);
json_t *fit_input_spec(const struct fit_input *in, uint64_t seed);
/* "float32[8,16]", "int64[8]<10", "3": in the language of inputs. */
void fit_input_text(const struct fit_input *in, struct buf *out);

#endif
