/* fusion/session/session.h -- private to session/: a mode's own variables and compiled entries, and
 * its calls.
 */
#ifndef FUSION_SESSION_SESSION_H
#define FUSION_SESSION_SESSION_H

#include "fusion/capture/capture.h"

/* Runs the module's code.  `s` is zeroed first; on failure it is finished. */
bool session_init(struct session *s, const struct session_options *options,
		  const struct lang_program *program, const char *entry, struct err *err);
void session_finish(struct session *s);

bool session_call(struct session *s, const struct value *args, int n, struct value *out,
		  struct err *err);
struct fusion_arguments; /* fusion.h */
bool session_call_named(struct session *s, const struct fusion_arguments *args, struct value *out,
			struct err *err);
void session_observe(struct session *s, const struct fusion_observer *observer);

#endif
