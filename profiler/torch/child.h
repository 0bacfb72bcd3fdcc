/* profiler/torch/child.h -- private: one job of a host (host.h), from its order to its end. */
#ifndef PROFILER_TORCH_CHILD_H
#define PROFILER_TORCH_CHILD_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "fusion/base/err.h"
#include "fusion/base/scratch.h"
#include "profiler/fields/fields.h"

enum {
	TORCH_STDERR_BYTES = 8 << 10, /* of its end, which is kept */
	TORCH_LINE_BYTES = 256 << 20, /* of one message */
};

struct torch_limits {
	int wall_s, cpu_s;
	int64_t memory_bytes; /* resident, of all its processes */
	int64_t file_bytes;   /* of one file */
};

/* A new file of the folder.  IO. */
bool torch_folder_write(const struct scratch *f, const char *name, const char *text,
			struct err *err);

/* A pipe whose ends lie above the standard descriptors; false with errno. */
bool torch_pipe(int ends[2]);

struct torch_child {
	const char *python;           /* for messages */
	const char *socket;           /* of the host */
	const struct scratch *folder; /* with experiment.py, but for the role probe */
	const struct torch_limits *limits;
	const char *role;
	const json_t *options;         /* NULL: none */
	struct report_draft *messages; /* has the messages */
	/* Takes each message; false (with *err) ends the job. */
	bool (*on_message)(void *self, const struct report_torch_message *message, struct err *err);
	/* A few times a second; false: the run was cancelled.  May be NULL. */
	bool (*tick)(void *self);
	void *self;
	char *stderr_text; /* TORCH_STDERR_BYTES + 1 bytes of the caller, or NULL */
};

/* Runs it to its end.  False with WORKER where a limit is reached, the process crashed, said
 * what failed or is not there, NO_DEVICE, CANCELLED, or on_message()'s error. */
bool torch_child_run(const struct torch_child *c, struct err *err);

#endif
