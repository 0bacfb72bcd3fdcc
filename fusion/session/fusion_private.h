/* fusion/session/fusion_private.h -- what the files that implement fusion.h share. */
#ifndef FUSION_SESSION_FUSION_PRIVATE_H
#define FUSION_SESSION_FUSION_PRIVATE_H

#include "fusion/backends/backends.h"
#include "fusion/base/generators.h"
#include "fusion/fusion.h"
#include "fusion/session/session.h"

struct fusion {
	struct fusion_options options;
	struct exec_env env;
	const struct backend *backend;
	char *cache_dir;
	char note[256];
	int threads;
	struct generators random;
	int64_t changes; /* exec_env's */
};

struct fusion_session {
	struct session session;
};

struct fusion_program {
	struct lang_program *lang;
	char *entry;
	struct vm_problems problems;
};

#endif
