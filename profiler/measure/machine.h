/* profiler/measure/machine.h -- the machine while samples are taken: a control, and its state.
 *
 * The control is a fixed piece of work of this program, timed once a round beside what is measured:
 * nobody's change of a program, a compiler or this engine's code generation reaches it, so where it
 * takes another time, the machine does.  It is arithmetic in the nearest cache; of a workload on a
 * GPU it is launches of nothing, since what the host does there for a call is to launch, and a
 * machine's pace at that follows its pace at arithmetic only in part.  The state is what /proc and,
 * with a GPU, NVML (gpu_state.h) say; it is looked at between samples, never while the clock runs.
 */
#ifndef PROFILER_MEASURE_MACHINE_H
#define PROFILER_MEASURE_MACHINE_H

#include "profiler/fields/fields.h"
#include "profiler/measure/break_even.h"

struct gpu_state; /* gpu_state.h */
struct fusion;

enum { MACHINE_CORES = 256 };

/* Keeps the measuring thread on a core that runs at its pace.
 *
 * Where machines share cores (two hyper-threads of one, one of them another machine's), a core runs
 * at two thirds of its pace for some 50 ms, then at its pace again, each core for itself.  What
 * launches kernels of a few microseconds one after another takes longer by as much, and no number
 * of samples on one core tells that from a slower program. */
struct pace {
	/* Moves the calling thread to a core and times arithmetic there, microseconds; NAN: the
	 * thread may not run there. */
	double (*time_on)(void *self, int core);
	void *self;
	int core[MACHINE_CORES], n; /* those that the thread may use; 0: it stays where it is */
	int at;                     /* where in `core` it is; -1: it has not been moved */
	double best_us;             /* that it took on any of them so far */
};

struct seen_range {
	double low, high; /* low > high: nothing is known */
};

struct machine_watch {
	const char *root; /* before /proc and /sys; "": this machine */
	struct gpu_state *gpu;
	double *data; /* that arithmetic works on */
	int launches; /* of a sample; 0: it is arithmetic */
	struct pace pace;
	double *sample_us[STATS_PROCESSES]; /* its samples, each process' */
	int n[STATS_PROCESSES], room[STATS_PROCESSES];
	struct seen_range load, mhz;
	double first[3], last[3]; /* ticks of all cores: all, idle, stolen */
	int64_t next_ns;
	int looks;
};

/* `root` is borrowed.  `gpu`: the workload runs on one. */
void machine_begin(struct machine_watch *m, const char *root, bool gpu);
void machine_finish(struct machine_watch *m); /* zeroed is fine */

/* Between two rounds: one sample of the control and, at most ten times a second, a look at the
 * state.  With a GPU the calling thread, which launches, stays where arithmetic takes at most a
 * tenth more than it ever did, or goes on to the next core that is so; where none is, to the
 * quickest.  `engine`: whose device the control launches on; NULL: it is arithmetic.  Whether a GPU
 * ran below its clocks since the last call. */
bool machine_look(struct machine_watch *m, struct fusion *engine);

/* After the last of n rounds: the thread may run anywhere again.  `aside`: of each round whether it
 * is set aside; its sample of the control goes too, so that the others stay beside those of the
 * same rounds.  NULL: none is. */
void machine_leave(struct machine_watch *m, const bool *aside, int n);

/* Samples of the control that another process took, 1 to STATS_PROCESSES - 1. */
void machine_join(struct machine_watch *m, const struct report_control *control, int process);

/* NULL: nothing was sampled, or out of memory. */
struct report_control *machine_control(const struct machine_watch *m, struct report_draft *draft);
struct report_machine *machine_state(const struct machine_watch *m, struct report_draft *draft);

#endif
