/* profiler/measure/candidate.h -- one mode of one point, with a world of its own.
 *
 * A candidate has its own engine, session and copies of the inputs, so that no mode
 * profits from another's caches or frees its memory.  The inputs that its
 * program writes to are put back between calls, outside the clock (restore.c): from copies
 * where the kernels' memory is, in every mode the same way.  What a program keeps itself
 * (parameters, buffers, optimisers) goes on from call to call.
 */
#ifndef PROFILER_MEASURE_CANDIDATE_H
#define PROFILER_MEASURE_CANDIDATE_H

#include "profiler/measure/break_even.h"
#include "profiler/workload/workload.h"

/* The arguments of every call, as they were before any. */
struct inputs {
	struct allocator *allocator;
	/* Where expressions are evaluated, for all modes: of an eager session that is never called.
	 * NULL: there are none. */
	struct fusion *engine;
	struct fusion_session *session;
	const struct workload *w;
	const struct point *p;
	json_t *calls; /* workload_calls() */
	int n_calls;
	int *n_args, *n_named; /* of a call: arguments, and the last so many that have a name */
	const char ***names;   /* [call]: these */
	struct value **args;   /* [call][arg] */
	bool **own; /* likewise: it has objects of its session, or tensors that are held elsewhere
		     * too, so that who is who matters; each mode evaluates it again */
	json_t ***summed; /* likewise: as a report that is not whole has it; NULL: not made */
};

bool inputs_create(struct inputs *in, const struct workload *w, const struct point *p,
		   struct err *err);
void inputs_destroy(struct inputs *in);

enum input_use { USE_UNKNOWN, USE_READ, USE_WRITTEN };

struct candidate {
	enum fusion_mode mode;
	struct fusion *engine;
	bool shares_engine; /* another candidate's, which outlives this one */
	struct fusion_session *session;
	const struct fusion_program *program; /* that it runs; borrowed */
	const struct inputs *originals;       /* borrowed */
	struct value **args;         /* this candidate's copies: sets[set], where there are sets */
	struct value *outputs;       /* of the last calls; dropped before timing */
	struct value *param_grads;   /* of each of these calls: a dict; UNSET: not kept */
	struct allocator *snapshots; /* where they lie; NULL: there are none */
	bool writes;                 /* the program changes its inputs */
	enum input_use **use;        /* [call][arg]; NULL: nobody has looked */
	struct allocator *pristine_memory;
	struct value **pristine; /* [call][arg] as the originals, on the device; UNSET: not made */
	struct value ***sets;    /* of arguments that take turns, while a device is timed */
	int n_sets, set;
	int64_t restores, restored_on_device; /* of arguments, so far */
	int most_sets;                        /* that took turns; 0: none did */
	bool grad;                            /* each call has a backward pass after it */
	int64_t held_bytes; /* before the calls: inputs, parameters, and what else there is */
	int64_t peak_bytes;
	double timed_compile_us; /* compiling that the timed calls caused */
	const int *timed;        /* indices of calls that timing cycles over */
	int n_timed;
	int *all; /* 0..n_calls-1, where `timed` restricts nothing */

	/* filled by measure.c */
	int64_t cycles;    /* of the timed calls, in one sample */
	double *sample_us; /* one a round: mean microseconds of a call */
	int n_samples;
	int of_process[STATS_PROCESSES]; /* of them, this process' first */
	double *aside_us;                /* samples that were set aside (measure.h) */
	int n_aside;
	double launches; /* per call */
	double
	    calls_s; /* the calls once in order, less what kernels of eager ops took to compile */
	int64_t
	    compiled; /* graphs and kernels, while the clock ran: calls kept meeting new values */
};

/* Where compiled kernels are kept; all zeros: nowhere. */
struct candidate_cache {
	const char *dir;
	bool again; /* they are compiled even so: what that takes is measured */
};

struct candidate_spec {
	const struct workload *w;
	const struct point *p;
	enum fusion_mode mode;
	const struct inputs *originals;
	struct candidate_cache cache;
	int references;      /* fusion_options.references */
	size_t memory_bytes; /* likewise */
};

bool candidate_create(struct candidate *candidate, const struct candidate_spec *spec,
		      struct err *err);

/* The same of another program, on the engine and for the inputs of `with`: where
 * nothing is measured. */
bool candidate_create_beside(struct candidate *candidate, const struct candidate *with,
			     const struct workload *w, const struct point *p, struct err *err);
void candidate_destroy(struct candidate *candidate); /* zeroed is fine */

/* One call; the result is the caller's. */
bool candidate_call(struct candidate *candidate, int call, struct value *out, struct err *err);

/* The same, but a device may still be at it, and an index out of bounds is reported of by a
 * later call or by fusion_wait(). */
bool candidate_start(struct candidate *candidate, int call, struct value *out, struct err *err);

/* Puts the arguments of a call back to what they were: those that the program is not known to
 * leave alone, in the order of the device. */
bool candidate_restore(struct candidate *candidate, int call, struct err *err);

/* Looks which of a call's arguments the program has changed, and sets `writes` if any. */
bool candidate_note_writes(struct candidate *candidate, int call, struct err *err);

/* For a device whose program writes: further arguments for the timed calls, that
 * candidate_use_set() takes in turn, so that calls follow each other without one being put back
 * between.  What is not written is the same in all sets.  As many as are wanted and memory has room
 * for: candidate->n_sets, 1 at the least. */
bool candidate_make_sets(struct candidate *candidate, int wanted, struct err *err);

static inline void candidate_use_set(struct candidate *candidate, int set)
{
	candidate->set = set;
	candidate->args = candidate->sets[set];
}

void candidate_drop_sets(struct candidate *candidate); /* back to the first */

/* Argument k of a call, fresh: a copy of `from`, or what the mode's own session makes of its
 * expression, with the original's numbers.  UNSET with *err. */
struct value candidate_argument(const struct candidate *candidate, int call, int k,
				struct value from, struct err *err);

/* Whether a call's output, and what it left in its arguments, can be reported. */
bool candidate_reportable(const struct candidate *candidate, int call, struct err *err);

/* What the calls gave; there is room for the next. */
void candidate_drop_results(struct candidate *candidate);

/* The gradients of the parameters after a call: themselves, or copies outside of the memory
 * that is measured, as far as those need no more than 256 MiB. */
bool candidate_keep_grads(struct candidate *candidate, int call, bool themselves, struct err *err);

/* All calls in order, so many times, one after another: nothing is waited for and no input
 * is restored.  The outputs of the last time are kept. */
bool candidate_burst(struct candidate *candidate, int cycles, struct err *err);

/* Back to the inputs as they were, and nothing kept of the calls: as it is to be timed. */
bool candidate_forget(struct candidate *candidate, struct err *err);

#endif
