/* fusion/capture/capture.h -- what a mode's session holds, and what capture says of it.
 *
 * A session has a VM in which the module's code has run, an eager host, and (in
 * compiled modes) points with their entries.  fusion/fusion.h is its
 * public face.
 */
#ifndef FUSION_CAPTURE_H
#define FUSION_CAPTURE_H

#include "fusion/eager/eager.h"
#include "fusion/capture/entry.h"
#include "fusion/capture/crossing.h"
#include "fusion/report/mode.h"
#include "fusion/capture/resume_point.h"
#include "fusion/capture/replay.h"
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

	struct points points;
	struct record_memory record; /* mode graphs */
	struct entry *replayed;      /* ... that the last call may be replayed with; NULL */
	bool unchanged;              /* the call under way has changed no object */
	struct entry *ready;         /* found by session_call() for the frame that it pushes */
	bool missed;                 /* ... or that there is none */
	bool blind;                  /* the program handles no errors and prints nothing */
	struct point *start;         /* of the entry's function */
	struct value function, self; /* that the entry calls; self UNSET: none */
	int eager_depth;             /* frames under way in which nothing is compiled */
	int frozen;                  /* frames under way that have all the entries they may */
	int n_frames, n_compiled;
	VEC(struct entry *) graphs; /* those with a graph, in order */
	VEC(struct session_recompile) recompiles;
	struct session_report report;
	struct crossing crossing; /* of the call under way, where that is watched */
};

/* probe.c: whether a call with these arguments would be served by an entry of the
 * function's start, without running anything; `why`: the guard of the latest
 * entry that fails.  UNKNOWN where the entry has no entries or takes *args. */
enum session_found { SESSION_FOUND, SESSION_MISSED, SESSION_UNKNOWN };
enum session_found session_probe(struct session *s, const struct value *args, int n,
				 struct buf *why);

/* params.c: copies t into the parameter or buffer `name` ("up.weight") of an
 * entry that is an nn.Module; WORKLOAD where it has none of that name and form. */
bool session_set_parameter(struct session *s, const char *name, const struct tensor *t,
			   struct err *err);

/* params.c: the parameters of an entry that is an nn.Module, each once. */
void session_parameters(struct session *s,
			void (*each)(void *self, const char *name, struct value t), void *self);

/* reach.c: the tensors that the program keeps between calls, each once, by the path from
 * its globals or within the module that is the entry; of the first few thousand objects. */
typedef void session_tensor_fn(void *self, const char *path, struct value t);
void session_tensors(const struct session *s, session_tensor_fn *each, void *self);

/* params.c: the name of the entry's parameter `index`, as a call gives them;
 * NULL where it has none. */
const char *session_parameter_name(const struct session *s, int index);

/* The grad and autocast modes that a piece leaves. */
void capture_set_modes(struct session *s, const struct entry *e);

/* session_compile.c: notes why an entry had to be made; false when out of memory. */
bool session_note(struct session *s, const struct point *p, const char *reason);

#endif
