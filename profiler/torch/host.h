/* profiler/torch/host.h -- the operator's Python, which keeps torch loaded between jobs.
 *
 * host.py (part of the binary) runs in a process of its own, in a private folder, and
 * knows no torch.  Each job goes to a process that has torch loaded and its compilers at
 * work, for to load them takes longer than most jobs; it is held to the job's limits and
 * ended, with all that it started, when it passes one (the driver of a GPU maps far more
 * than any limit of address space would leave, so what is resident is counted, twice a
 * second), and when whoever wants the job is gone.  One that failed, or that a program
 * left with other settings of torch, serves no other job; one that is idle for two minutes
 * ends too.  All end with who started the host, however that ends.
 */
#ifndef PROFILER_TORCH_HOST_H
#define PROFILER_TORCH_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "fusion/base/err.h"
#include "fusion/data.h"

struct torch_host;

/* What it may read beside its own modules; borrowed. */
struct torch_reads {
	const char *files; /* a folder of weights, or of links to some; NULL: none */
	const struct fusion_data *weights;
	int n_weights;
};

/* Starts it.  Nothing is loaded before the first job.  `reads`: it is confined by this very
 * program, as `breakeven confine`: it reads these and what this Python needs and writes its folder;
 * NULL: it may do all that we may.
 * NULL with IO where python cannot be started, or MEMORY.  Used by one thread at a time. */
struct torch_host *torch_host_start(const char *python, const struct torch_reads *reads,
				    struct err *err);

/* Ends it and every job.  NULL is fine. */
void torch_host_stop(struct torch_host *h);

/* False once it has ended. */
bool torch_host_alive(struct torch_host *h);

/* Its folder, in which the folders of jobs are. */
static inline void torch_host_folder(const char *socket, char *out, size_t bytes)
{
	snprintf(out, bytes, "%.*s", (int)(strrchr(socket, '/') - socket), socket);
}

/* Where it listens: a socket that any process of this user may give jobs to (child.h). */
const char *torch_host_socket(const struct torch_host *h);

#endif
