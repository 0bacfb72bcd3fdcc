/* profiler/measure/program.h -- a program, run once and timed: of bisections and records.
 *
 * Safe in several threads at once.
 */
#ifndef PROFILER_MEASURE_PROGRAM_H
#define PROFILER_MEASURE_PROGRAM_H

#include <signal.h>
#include <stdbool.h>

#include "fusion/base/buf.h"
#include "fusion/base/err.h"

/* A program, to be run in a folder; it and what it starts are killed after timeout_s, and when
 * *stop is set. */
struct timed_program {
	const char *const *argv;
	const char *folder;
	double timeout_s;
	const volatile sig_atomic_t *stop; /* NULL: nothing stops it */
	bool errors_too; /* its standard error is kept with its output; else it goes
			  * where ours goes */
};

struct timed_program_end {
	int status; /* its exit status; 128 + N of signal N */
	bool timed_out, stopped;
	double wall_s, cpu_s; /* cpu_s: of it and of those children that it waited for */
	/* Of wall_s: that it could have run and waited for a core that others had, and that
	 * this one waited for a core before it could see its end.  0 where that is not told: a
	 * program with threads or children of its own, which may wait for each other. */
	double wait_s;
};

/* Runs it to its end and appends what it printed to `out`, as much as that takes: of more, the
 * beginning.  IO: it cannot be started. */
bool program_run(const struct timed_program *p, struct buf *out, struct timed_program_end *end,
		 struct err *err);

#endif
