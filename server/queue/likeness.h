/* server/queue/likeness.h -- whether a run of a suite would give what an earlier one gave. */
#ifndef SERVER_QUEUE_LIKENESS_H
#define SERVER_QUEUE_LIKENESS_H

#include "server/queue/queue.h"

/* Sets the `likeness` of each member, in the arena: 32 hex digits, equal where the program with its
 * settings is, and what figures depend on beside these: this executable and its plugins, byte for
 * byte, and of what runs here the machine and its GPUs.  Commits, branches, tags and projects may
 * differ.  "" or NULL: it is like none, as a job that PyTorch takes part in, whose version nobody
 * knows before, and all where a file cannot be read.  members[i] is of plan->jobs[i], with its row.
 * Takes some 10 ms.  False when out of memory. */
bool likeness_fill(const struct suite_plan *plan, struct suite_member *members,
		   struct arena *arena);

#endif
