/* fusion/base/ask.h -- the first line that a command prints. */
#ifndef FUSION_BASE_ASK_H
#define FUSION_BASE_ASK_H

#include <stdbool.h>
#include <stddef.h>

/* Runs argv[0], which is looked for in PATH, without a shell, its errors unseen; the first
 * line of its output goes to `line`, cut at `bytes` - 1.  True where it ended with 0 and
 * printed something.  Waits for its end; from any thread. */
bool ask_command(const char *const *argv, char *line, size_t bytes);

#endif
