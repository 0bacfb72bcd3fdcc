/* server/cli/interrupt.c -- notices Ctrl-C for commands that run something here. */
#include "server/cli/interrupt.h"

static volatile sig_atomic_t interrupted;

static void on_interrupt(int signal_number)
{
	(void)signal_number;
	interrupted = 1;
}

const volatile sig_atomic_t *interrupt_watch(void)
{
	struct sigaction action = { .sa_handler = on_interrupt, .sa_flags = (int)SA_RESETHAND };

	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	return &interrupted;
}
