/* server/cli/pass_flag.h -- the flag --without of `run` and `explain`. */
#ifndef SERVER_PASS_FLAG_H
#define SERVER_PASS_FLAG_H

#include <jansson.h>
#include <stdbool.h>

#include "fusion/base/err.h"
#include "fusion/session/registry.h"

/* "cse,simplify": each must be a pass that can be switched off; NAME or VALUE. */
bool pass_flag_check(const struct registry *registry, const char *names, struct err *err);

/* Switches them off in a workload. */
void pass_flag_apply(json_t *workload, const char *names);

#endif
