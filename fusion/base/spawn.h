/* fusion/base/spawn.h -- programs that are started apart from us. */
#ifndef FUSION_BASE_SPAWN_H
#define FUSION_BASE_SPAWN_H

#include <spawn.h>
#include <sys/types.h>

/* Starts `path` (looked for on PATH where it has no slash) as leader of a process group of
 * its own, so that Ctrl-C at the terminal is ours to handle and all that it starts can be
 * ended with it, with no signal blocked and each as the system has it.  `files` may be NULL.
 * 0 with its number in *pid, else an errno. */
int spawn_apart(pid_t *pid, const char *path, const posix_spawn_file_actions_t *files,
		const char *const argv[], const char *const env[]);

/* A program that ends with who starts it: when the thread that started it ends, however that is, it
 * is killed, from its first instruction on.  Otherwise like one of spawn_apart(). */
struct spawn_bound {
	const char *path;
	const char *const *argv, *const *env;
	const int *fds; /* its descriptors from 0 on; it has no others */
	int n_fds;
};

/* 0 with its number in *pid, else an errno. */
int spawn_bound(pid_t *pid, const struct spawn_bound *s);

/* Of the process that made this one, and holds the other end of the socket `fd` alone: when it is
 * killed this one is too, whatever it does then; it may have been killed already. */
void end_with_parent(int fd);

#endif
