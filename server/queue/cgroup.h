/* server/queue/cgroup.h -- a control group for each process that runs strangers' programs.
 *
 * setrlimit() counts what one process has; a control group (cgroups(7), version 2) counts the
 * memory and the processes of all that it started, too.  A server can make such groups where the
 * system lets it divide its own: in a unit of systemd with Delegate=yes, or where /sys/fs/cgroup
 * can be written.  Elsewhere nothing is changed, and the limits of setrlimit() hold alone.
 *
 *	GROUP                     where the server was started
 *	GROUP/breakeven-server    where it moves
 *	GROUP/breakeven-PID       what it started with that number
 */
#ifndef SERVER_QUEUE_CGROUP_H
#define SERVER_QUEUE_CGROUP_H

#include <stdbool.h>
#include <sys/types.h>

/* Moves this process, where it has its group for itself, so that groups can be made beside it; and
 * removes those that an earlier server left.  False: it may not, and is where it was. */
bool cgroup_divide(void);

/* Undoes it, where what was started has ended. */
void cgroup_join(void);

/* Moves this process, which such a server started, into a group of its own: at most three quarters
 * of the machine's memory, and CGROUP_PROCESSES processes and threads; beside the server, which has
 * 100, its share of the processors is CGROUP_CPU_WEIGHT.  False: there is none. */
enum { CGROUP_PROCESSES = 4096, CGROUP_CPU_WEIGHT = 33 };
bool cgroup_enter(void);

/* Ends what is left in the group that the child `pid` entered, and removes it.  Any thread. */
void cgroup_remove(pid_t pid);

#endif
