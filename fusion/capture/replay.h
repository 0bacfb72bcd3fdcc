/* fusion/capture/replay.h -- private to capture/: a call that is replayed without its
 * guards.
 *
 * Mode graphs.  Most guards are about what a program finds outside of a call: its module
 * and parameters, globals, closures, functions.  While nothing has run that may
 * change an object of a program, what held then holds now: only what the arguments of the
 * next call may fail is checked.  exec_env.changes counts what may change objects:
 * every call and every question of the engine but those that are replayed here, and so
 * every one of another session too.
 */
#ifndef FUSION_RUNTIME_REPLAY_H
#define FUSION_RUNTIME_REPLAY_H

#include "fusion/capture/guards/guards.h"
#include "fusion/compile/compile.h"

struct entry;
struct session;

/* Of an entry; zeroed: not looked at yet. */
struct replay {
	bool ready;    /* it has been looked at */
	bool possible; /* guards may be left out */
	int *steps;    /* of the guards: those that arguments may fail */
	int n_steps;
	int *inputs; /* of the graph: those that arguments are */
	int n_inputs;
	bool plain;        /* the call's result is output 0, and nothing else comes of it */
	struct value kept; /* the result of the last such call: a reference; else no tensor */
	int64_t changes;   /* exec_env.changes when all guards held */
	int64_t left_out;  /* calls in which guards were left out */
};
void replay_finish(struct replay *r); /* zeroed is fine */

/* Why all guards are checked in each call: a run may change what they look at; NULL: it
 * does not. */
const char *replay_why_not(const struct entry *e);

#endif
