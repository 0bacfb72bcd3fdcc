/* fusion/session/fusion_passes.c -- what the passes did, for a report; what ops have, for lists. */
#include <stdio.h>

#include "fusion/vm/prelude.h"
#include "fusion/session/fusion_private.h"
#include "fusion/lazy/lazy.h"

bool fusion_watch_passes(const struct fusion_session *s, int index, struct watched *out,
			 struct err *err)
{
	const struct entry *e;

	if (s->session.lazy) {
		const struct lazy_program *p = s->session.lazy->programs.at[index];

		return watch_exec(out, p->exec, p->captured, "", err);
	}
	e = s->session.graphs.at[index];
	if (!e->exec)
		return true;
	if (!e->grad)
		return watch_exec(out, e->exec, e->captured, "", err);
	return watch_exec(out, e->exec, e->grad->forward, "forward", err) &&
	       (!e->grad->exec ||
		watch_exec(out, e->grad->exec, e->grad->backward, "backward", err));
}

bool fusion_op_has_gradient(enum op op)
{
	const struct op_info *info = op_info(op);
	char name[128];

	snprintf(name, sizeof(name), "%s_all", info->id);
	if (prelude_defines("_grads", name))
		return true;
	for (int i = 0; i < info->n_params; i++) {
		snprintf(name, sizeof(name), "%s_%s", info->id, info->params[i].name);
		if (prelude_defines("_grads", name))
			return true;
	}
	return false;
}
