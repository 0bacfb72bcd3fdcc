/* profiler/profiler.h -- a workload in, a report out.
 *
 * Reads a workload (web/docs/workloads.md), runs it in every mode, measures
 * and returns the report as a struct (profiler/fields/fields.h), which lives in
 * the caller's draft and borrows from the workload.  Used by the worker process
 * and by `breakeven run`; no globals, one run per thread.
 */
#ifndef PROFILER_PROFILER_H
#define PROFILER_PROFILER_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/err.h"
#include "fusion/mode.h"
#include "profiler/timeline/timeline.h"

struct registry;     /* fusion/registry.h */
struct workload;     /* parsed and bounded; immutable */
struct report_draft; /* profiler/fields/fields.h, as the reports */
struct report_explain;
struct report_point;
struct report_run;

/* Everything that can be seen without running: JSON types, bounds (elements,
 * counts), syntax of the source (each sweep point's too), unknown names and
 * ops.  NULL with JSON, WORKLOAD, SYNTAX, NAME, BOUND, ... and the place: line
 * and column count in the posted `source`; a fault in a line of a sweep's pool
 * is placed at the line `...`, and the message names the pool's line. */
struct workload *workload_parse(const json_t *json, struct err *err);

/* The same where there are plugins: `registry` is borrowed and must outlive the
 * workload. */
struct workload *workload_parse_in(const json_t *json, const struct registry *registry,
				   struct err *err);

/* All that is wrong with a workload and can be seen without running it: fields, calls, expressions
 * and the source (fusion_problems; of a sweep of statements, of its first point that is wrong).
 * `certain`: workload_parse_in() refuses it. */
void workload_problems(const json_t *json, const struct registry *registry,
		       void (*each)(void *self, const struct err *problem, bool certain),
		       void *self);
void workload_destroy(struct workload *w); /* NULL is fine */
const char *workload_name(const struct workload *w);

/* ---- the files of weights that its program reads.  A workload has their ids; before it is run
 * somebody says where they lie. */

enum { WEIGHTS_ID_BYTES = 72 }; /* "sha256:", 64 digits and a NUL */

/* The id of a file by what is in it; IO. */
bool weights_id(const char *path, char out[WEIGHTS_ID_BYTES], struct err *err);
bool weights_id_check(const char *id); /* whether it is one; NULL is none */

/* The file that the program knows as `name` is `path`, which is copied.  WORKLOAD: it has none of
 * that name. */
bool workload_weights_at(struct workload *w, const char *name, const char *path, struct err *err);

/* All of them are in `folder`, by the digits of their ids.  NOT_FOUND. */
bool workload_weights_in(struct workload *w, const char *folder, struct err *err);

/* Whether it is known of each where it is; WORKLOAD. */
bool workload_weights_there(const struct workload *w, struct err *err);

/* How large they are together, as far as they are there. */
int64_t workload_weights_bytes(const struct workload *w);

/* Whether its kernels run on a GPU. */
bool workload_on_device(const struct workload *w);

/* The mode that a check explains: the first of the workload's that captures, or
 * auto. */
enum fusion_mode workload_explained_mode(const struct workload *w);

/* The workload of a .py file: `inputs` are n texts such as "x=float32[8,16]",
 * "i=torch.arange(4)", "scale=3.5", by the names of the entry's parameters (`entry` NULL: model).
 * Where there are none (n is 0), lines "# input: x=float32[8,16]" above the source's first import
 * say them.  A new object for workload_parse(), without its entry; NULL with WORKLOAD. */
json_t *workload_from_python(const char *name, const char *source, const char *entry,
			     const char *const *inputs, int n, struct err *err);

/* All that is wrong with such inputs, of which workload_from_python() says the first; in order. */
struct workload_inputs {
	const char *source, *entry;
	const char *const *at;
	int n;
};
void workload_input_problems(const struct workload_inputs *inputs,
			     void (*each)(void *self, const struct err *problem, bool certain),
			     void *self);

/* Inputs for a program that came without, where its own text tells: a call of its entry, or what
 * annotations, docstrings and layers say.  `workload` needs `source` or `files`, and may name its
 * entry.  A new list of {"entry", "line" of the call or 0, "needed": whether a call without
 * inputs fails, "inputs": [{"name", "text", "because"}], "calls" for a workload}; nothing of the
 * program runs.  `guess`: also where nothing tells of a parameter, which is a tensor then. */
json_t *workload_proposals(const json_t *workload, const struct registry *registry, bool guess);

/* The same, and first what a call has run with: where no text tells enough, the call is made in
 * eager, by the interpreter and without a clock, and what it fails for says what to change, within
 * a bound of tries, and `limit_ms` about.  That one has "runs": true, and its inputs are those that
 * were free; each that was changed says for which failure.  `free_names`: a list of the parameters
 * that may be changed, the others are as the workload's first call has them; NULL: all, and that
 * call does not count.  Where the call as posted runs and the text tells nothing, there is none.
 * The program runs: for a process that has limits, or a program of one's own. */
json_t *profiler_proposals(const json_t *workload, const json_t *free_names,
			   const struct registry *registry, double limit_ms);

/* Whether `path` may be that of a file of a program: within its folder, a .py, and of bounded
 * length and depth; WORKLOAD or BOUND. */
bool workload_path_check(const char *path, struct err *err);

/* The text of a file of a workload's JSON; of "" or NULL its source, or the file of its entry; of
 * "calls[0][1]" the expression there, of "entry" what is called.
 * Borrowed; NULL: it has none. */
const char *workload_text(const json_t *workload, const char *file);

/* The files of a workload's JSON, {path: text}, borrowed; NULL where it has a source alone. */
const json_t *workload_files(const json_t *workload);

/* Makes a workload of one source, as workload_from_python() does, one of `files` (taken over),
 * whose `entry`, "train.py:model", has that source. */
void workload_set_files(json_t *workload, json_t *files, const char *entry);

/* The text of an entry's file, of "train.py:model" that of train.py; NULL: there is none. */
const char *workload_entry_text(const json_t *files, const char *entry);

/* A stand-alone PyTorch script that repeats the experiment (modes as
 * torch.compile calls, the same inputs, rounds and statistics).  Caller frees. */
char *workload_torch_script(const struct workload *w, struct err *err);

/* What a second process is asked for. */
struct profiler_again {
	bool swept;
	int64_t n; /* with `swept`: of the point */
	int rounds;
};

struct profiler_options {
	bool timing;              /* false: --no-timing */
	bool passes;              /* what each pass did to each graph */
	bool brief;               /* shorten outputs without timing too: nobody reads them */
	bool only;                /* only the sweep's point at `at` */
	int64_t at;               /* see `only`; VALUE error where the sweep has no such point */
	const char *cache_dir;    /* kernels; NULL: none.  A timed run compiles cold all the same */
	const char *version;      /* of Breakeven, for the report; NULL: "unknown" */
	const char *torch_python; /* of profiler_run_engines(); NULL: it is switched off */
	bool torch_confined;      /* see profiler/torch/host.h */
	const char *torch_host;   /* socket of a profiler/torch/host.h; NULL: the run has its own */
	int wall_s; /* what a run may last, for the engines after ours; 0: no limit is known */
	/* Called from the run's thread: 0..1, and what is being done
	 * ("static at n = 15, round 4"), and the seconds it may still last
	 * (negative: unknown).  Return false to cancel.  May be NULL. */
	bool (*progress)(void *self, double share, const char *what, double left_s);
	/* Of a sweep that is timed: each point once it is measured, while others are not; what is
	 * watched or compared after all points is not in it yet.  `run` has what is said of the run
	 * itself, and room for all points.  False to cancel.  May be NULL. */
	bool (*point)(void *self, const struct report_run *run, const struct report_point *point);
	/* Where it is timed: takes the blocks of a timeline (profiler/timeline/timeline.h) of a few
	 * calls of every mode at every point, watched after all else.  May be NULL. */
	timeline_block_fn *timeline;
	/* Where it is timed: has another process time the point at work (`swept`: that at `n` of
	 * the sweep) for so many rounds, by profiler_run() with `rounds`, and returns its report,
	 * which lives in `draft`.  NULL with *err: the point has one process' samples, and the
	 * report says why.  May be NULL. */
	const struct report_run *(*again)(void *self, const struct profiler_again *what,
					  struct report_draft *draft, struct err *err);
	int rounds; /* that other process: nothing but so many rounds is wanted; 0: all is */
	void *self;
};

/* NULL with *err (line and column in the user's source where it has a place);
 * CANCELLED when progress() said so. */
struct report_run *profiler_run(const struct workload *w, const struct profiler_options *options,
				struct report_draft *draft, struct err *err);

/* The engine `torch`: the same workload by real PyTorch, in the operator's Python, which
 * executes what is posted; it is off unless somebody names that Python. */
#define TORCH_SWITCHED_OFF                                                                         \
	"engine torch is switched off: --torch-python PATH switches it on, PATH being a Python "   \
	"that has torch 2.5 or newer; it executes what is posted, with that Python's rights"

/* Whether the workload's `engines` hold it. */
bool workload_wants_torch(const struct workload *w);

/* profiler_run(), with the workload's program `before` beside it where there is one
 * (profiler/breaks/change.h), then the other engines that the workload names; each is a report of
 * its own in `engines` (profiler/torch/engine.c), its failure too. */
struct report_run *profiler_run_engines(const struct workload *w,
					const struct profiler_options *options,
					struct report_draft *draft, struct err *err);

/* Whether `python` has a torch that will do: {"version", "python", "executable", "cuda",
 * "device_name", "threads"}.  Takes seconds.  NULL with IO, NO_DEVICE or WORKER. */
json_t *profiler_torch_probe(const char *python, bool confined, struct err *err);

struct explain_options {
	enum fusion_mode mode;
	/* Other sizes and changes of the source are tried until explaining has taken so
	 * much processor time; 0: not at all, negative: no limit. */
	double sizes_ms, rewrites_ms;
	bool passes; /* what each pass did to each graph */
	bool brief;  /* without what only a table shows: the graphs' nodes, all guards */
};

/* Capture and lowering alone, by the interpreter tier: graph_count,
 * graph_break_count, op_count, graphs, breaks, tree, recompiles, guards, calls,
 * sizes, and `error` (none, or that of the program, with what came before it).
 * NULL with *err where the module's own code fails. */
struct report_explain *profiler_explain(const struct workload *w,
					const struct explain_options *options,
					struct report_draft *draft, struct err *err);

/* Asks what only a process finds out that may start others, for profiler_environment() and runs:
 * once, before it gives that up. */
void profiler_environment_prepare(void);

/* CPU model, cores, governor, compiler, vector unit, kernel, version of
 * Breakeven: stored with each run.  Caller owns. */
json_t *profiler_environment(const char *version);

#endif
