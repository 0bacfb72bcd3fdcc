/* profiler/workload/deny.c -- see deny.h. */
#include "profiler/workload/deny.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/registry.h"

static bool refuse_op(size_t i, const char *name, struct err *err)
{
	char spelling[128];
	const char *nearest;

	snprintf(spelling, sizeof(spelling), "torch.%s", name);
	nearest = fusion_op_nearest(spelling);
	return err_set(err, ERR_NAME,
		       "deny[%zu]: there is no op '%s'%s%s; `breakeven ops` lists them", i, name,
		       nearest ? ", but " : "", nearest ? nearest : "");
}

bool deny_read(struct workload *w, struct err *err)
{
	const json_t *deny = json_object_get(w->json, "deny");
	size_t n = json_array_size(deny);

	if (!deny || json_is_null(deny))
		return true;
	if (!json_is_array(deny) || n > WORKLOAD_MAX_DENY)
		return err_set(err, ERR_WORKLOAD,
			       "deny must be a list of at most %d names of ops, as "
			       "[\"softmax\", \"layer_norm\"]",
			       WORKLOAD_MAX_DENY);
	w->deny = calloc(n + 1, sizeof(*w->deny));
	if (!w->deny)
		return err_set(err, ERR_MEMORY, "out of memory for the workload");
	for (size_t i = 0; i < n; i++) {
		w->deny[i] = json_string_value(json_array_get(deny, i));
		if (!w->deny[i] || strlen(w->deny[i]) > 64)
			return err_set(err, ERR_WORKLOAD,
				       "deny[%zu] must be the name of an op, at most 64 bytes", i);
		if (!fusion_op_known(w->registry, w->deny[i]))
			return refuse_op(i, w->deny[i], err);
	}
	w->n_deny = (int)n;
	return true;
}
