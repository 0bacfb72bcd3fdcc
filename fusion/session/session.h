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

/* What an entry that is an expression, "Net(64)", makes in the scope of the module; the caller's.
 */
bool session_evaluate_entry(struct session *s, const char *text, struct value *out,
			    struct err *err);

bool session_call(struct session *s, const struct value *args, int n, struct value *out,
		  struct err *err);
struct fusion_arguments; /* fusion.h */
bool session_call_named(struct session *s, const struct fusion_arguments *args, struct value *out,
			struct err *err);
void session_observe(struct session *s, const struct fusion_observer *observer);

/* Copies t into the parameter or buffer `name` ("up.weight") of an
 * entry that is an nn.Module; WORKLOAD where it has none of that name and form. */
bool session_set_parameter(struct session *s, const char *name, const struct tensor *t,
			   struct err *err);

/* The parameters of an entry that is an nn.Module, each once. */
void session_parameters(struct session *s,
			void (*each)(void *self, const char *name, struct value t), void *self);

/* The tensors that the program keeps between calls, each once, by the path from
 * its globals or within the module that is the entry; of the first few thousand objects. */
typedef void session_tensor_fn(void *self, const char *path, struct value t);
void session_tensors(const struct session *s, session_tensor_fn *each, void *self);

/* The name of the entry's parameter `index`, as a call gives them;
 * NULL where it has none. */
const char *session_parameter_name(const struct session *s, int index);

#endif
