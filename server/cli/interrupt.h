/* server/cli/interrupt.h -- Ctrl-C for commands that run something here. */
#ifndef SERVER_CLI_INTERRUPT_H
#define SERVER_CLI_INTERRUPT_H

#include <signal.h>

/* From here on the first SIGINT or SIGTERM sets what is returned, and a second one ends the
 * process at once. */
const volatile sig_atomic_t *interrupt_watch(void);

#endif
