/* server/queue/sandbox.h -- takes away what a process that runs strangers' programs does not need.
 *
 * In the order of the calls:
 *
 *	sandbox_begin()   while it has one thread: control group, limits, network of its own,
 *capabilities registry_builder_start(..., sandbox_builder, &needs)   the process that compiles
 *	sandbox_enter()   files by Landlock, system calls by seccomp
 *
 * Nothing can be given back afterwards, and what it starts has no more.  Where the kernel lacks
 * a part the rest is in force; sandbox_parts() says which.  web/docs/security.md has the whole.
 */
#ifndef SERVER_QUEUE_SANDBOX_H
#define SERVER_QUEUE_SANDBOX_H

#include <jansson.h>
#include <stdbool.h>
#include <sys/resource.h>

#include "fusion/base/err.h"

enum { SANDBOX_MOST_PATHS = 160 };

/* What a process needs beside the system's libraries. */
struct sandbox_needs {
	bool device; /* a GPU: its device files, executable memory, programs */
	bool torch;  /* it starts PyTorch itself, confined: its own files and calls are as they were
		      */
	const char
	    *torch_host; /* the folder of a process that has PyTorch, to be written; NULL: none */
	bool network;    /* to post what it measured */
	const char *cache_dir; /* of kernels, to be read; NULL: none */
	const char *temporary; /* the folder for temporary files, to be read; NULL: none */
	bool owns_temporary;   /* and written: it is this process's alone */
	const char *files; /* a folder of weights, or of links to some, to be read; NULL: none */
	const char *read[SANDBOX_MOST_PATHS]; /* files and folders; those that are not there are
					       * passed over */
	int n_read;
};

/* Whether a GPU may be here: its device files, or a driver in LD_LIBRARY_PATH.  Where there is
 * none nothing needs what `device` leaves open. */
bool sandbox_has_gpu(void);

/* `network`: it keeps the one that it has; else it gets its own, without a way out.
 * `cpu_seconds`: of a worker, which is also the first to go when memory runs out; 0: any. */
void sandbox_begin(bool network, int cpu_seconds);

/* Lowers one of the limits of setrlimit(); one that is lower already (an operator's ulimit)
 * stays. */
void sandbox_limit(int what, rlim_t value);

/* Of the process that compiles: `self` is a struct sandbox_needs. */
void sandbox_builder(void *self);

/* False with WORKER where the kernel has a part and refuses it. */
bool sandbox_enter(const struct sandbox_needs *needs, struct err *err);

/* What a Python with PyTorch, and all that it starts, has beside the system's programs. */
struct torch_places {
	const char *folder;      /* to be written */
	const char *files;       /* to be read: a folder of files or of links to some; "": none */
	const char *const *read; /* files and folders to be read and executed; ends with NULL */
};

/* A child with all of the above for such a Python, in namespaces of its own where the kernel has
 * them: its first process sees no other, in /proc either, and the kernel ends all with it.  0 in
 * the child; its number in the caller, which has no capabilities from then on; -1 in either with
 * WORKER. */
pid_t sandbox_fork_torch(const struct torch_places *at, struct err *err);

/* What this kernel lets a worker have: {"landlock": its version, 0 without, "seccomp": bool,
 * "network": whether a network of its own can be had, "lacks": a text, "" for nothing}.  Tries it
 * in a child. */
json_t *sandbox_parts(void);

#endif
