/* fusion/capture/capture.h -- what a mode's session holds, and what capture says of it.
 *
 * A session has a VM in which the module's code has run, an eager host, and (in
 * compiled modes) points with their entries.  fusion/fusion.h is its
 * public face.
 */
#ifndef FUSION_CAPTURE_CAPTURE_H
#define FUSION_CAPTURE_CAPTURE_H

#include "fusion/eager/eager.h"
#include "fusion/capture/entry.h"
#include "fusion/mode.h"
#include "fusion/capture/frames.h"
#include "fusion/report/report.h"

/* As torch: entries of a point, and of a session. */
enum { RECOMPILE_LIMIT = 8, ALL_RECOMPILES = 256, MAX_STDOUT = 1 << 20, MAX_SELF_ARGS = 17 };

struct session_options {
	const struct exec_env *env;
	const struct backend *backend; /* of compiled entries */
	uint64_t passes_disabled;
	int recompile_limit;
	int64_t steps;
	enum fusion_mode mode;
	enum fusion_policy policy;
	const char *const *deny; /* ids or FX names of ops that are not lowered */
	int n_deny;
	bool compiled;     /* the mode captures Python */
	bool grad;         /* the caller asks for gradients, whatever the program says */
	unsigned autocast; /* the mode around each call: autocast.h */
	int shadows;       /* mode eager: eager.h */
};

struct session_recompile {
	int64_t call;
	int frame; /* index among the report's frames */
	char *reason;
};

struct lazy;

struct session {
	struct session_options options;
	struct torch_names names;
	struct eager eager;
	struct lazy *lazy; /* mode lazy; else NULL */
	struct vm *vm;
	struct value callee;
	struct buf out;

	struct resume_points resume_points;
	VEC(struct lang_program *) expressions; /* that the virtual machine has evaluated */
	struct record_memory record;            /* mode graphs */
	struct entry *replayed;      /* ... that the last call may be replayed with; NULL */
	bool unchanged;              /* the call under way has changed no object */
	bool blind;                  /* the program handles no errors and prints nothing */
	struct resume_point *start;  /* of the entry's function */
	struct value function, self; /* that the entry calls; self UNSET: none */
	int eager_depth;             /* frames under way in which nothing is compiled */
	int frozen;                  /* frames under way that have all the entries they may */
	int n_frames, n_compiled;
	VEC(struct entry *) graphs; /* those with a graph, in order */
	VEC(struct session_recompile) recompiles;
	struct session_report report;
	struct crossing crossing; /* of the call under way, where that is watched */
};

/* A call of the entry in a compiled mode. */
bool capture_call(struct session *s, const struct value *args, int n, struct value *out,
		  struct err *err);

/* The same with names of the last arguments, where they are not those of the first parameters. */
struct arguments;
bool capture_call_named(struct session *s, const struct arguments *args, struct value *out,
			struct err *err);

/* Whether a call with these arguments would be served by an entry of the function's start,
 * without running anything; `why`: the guard of the latest entry that fails.  UNKNOWN where
 * the entry has no entries or takes *args. */
enum capture_found { CAPTURE_FOUND, CAPTURE_MISSED, CAPTURE_UNKNOWN };
enum capture_found capture_probe(struct session *s, const struct value *args, int n,
				 struct buf *why);

/* Frees all entries; the virtual machine is still there. */
void capture_finish(struct session *s);

#endif
