/* profiler/torch/child.h -- private: the operator's Python, in a process of its own.
 *
 * worker.py (part of the binary) is written to a private folder and started by it as
 * leader of a process group.  Its outermost process, the guard, knows no torch: it sets
 * the limits, and ends the whole group when its child ends, when more memory is held
 * than may be (the driver of a GPU maps far more than any limit of address space would
 * leave, so what is resident is counted, twice a second), and when its standard input
 * closes, which it does when we end, however we end.
 */
#ifndef PROFILER_TORCH_CHILD_H
#define PROFILER_TORCH_CHILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "fusion/base/err.h"

enum {
	TORCH_STDERR_BYTES = 8 << 10, /* of its end, which is kept */
	TORCH_LINE_BYTES = 256 << 20, /* of one message */
};

struct torch_limits {
	int wall_s, cpu_s;
	int64_t memory_bytes; /* resident, of all its processes */
	int64_t file_bytes;   /* of one file */
};

struct torch_folder {
	char path[256];
};

/* A folder of mode 0700 under TMPDIR or /tmp, with worker.py in it, and experiment.py
 * where `script` is not NULL.  IO. */
bool torch_folder_create(struct torch_folder *f, const char *script, struct err *err);
void torch_folder_destroy(struct torch_folder *f); /* zeroed is fine */

struct torch_child {
	const char *python;
	const struct torch_folder *folder;
	const struct torch_limits *limits;
	const char *role;
	const json_t *options; /* NULL: none */
	bool log;              /* TORCH_TRACE is written to the folder's torch_trace/ */
	/* Takes each message; false (with *err) ends the process. */
	bool (*hear)(void *self, const json_t *message, struct err *err);
	/* A few times a second; false: the run was cancelled.  May be NULL. */
	bool (*tick)(void *self);
	void *self;
	char *stderr_text; /* TORCH_STDERR_BYTES + 1 bytes of the caller, or NULL */
};

/* Runs it to its end.  False with IO where python cannot be started, WORKER where a limit
 * is reached, it crashed, or said what failed, CANCELLED, or hear()'s error. */
bool torch_child_run(const struct torch_child *c, struct err *err);

#endif
