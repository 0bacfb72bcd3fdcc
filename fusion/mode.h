/* fusion/mode.h -- how a session executes. */
#ifndef FUSION_MODE_H
#define FUSION_MODE_H

enum fusion_mode {
	FUSION_EAGER,   /* a kernel per op, at once */
	FUSION_STATIC,  /* captured for the sizes of the call */
	FUSION_DYNAMIC, /* captured with sizes as symbols from the first call */
	FUSION_AUTO,    /* static first; the sizes that change become symbols */
	FUSION_LAZY,    /* ops gather in a trace that runs when a value is read */
	FUSION_GRAPHS,  /* static; launches are recorded once and replayed (fusion/compile/record.h)
			 */
	FUSION_MODE_COUNT
};

/* Their names, for messages; fusion_mode_name() has them one by one. */
#define FUSION_MODE_LIST "eager, static, dynamic, auto, lazy and graphs"

/* What capture does with what it cannot see through. */
enum fusion_policy {
	FUSION_DYNAMO, /* breaks, guards and recompiles as TorchDynamo does */
	FUSION_NATIVE, /* breaks as little as this engine can */
	FUSION_POLICY_COUNT
};

#endif
