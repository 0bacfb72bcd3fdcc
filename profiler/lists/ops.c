/* profiler/lists/ops.c -- the ops of ops.def and of plugins, and what each has. */
#include <string.h>

#include "fusion/base/nearest.h"
#include "profiler/lists/lists.h"

/* Words of `text` that are operators ("op:+"), or those that are not. */
static json_t *spellings_json(const char *text, bool operators)
{
	json_t *list = json_array();

	for (size_t len; *text; text += len) {
		bool is_operator;

		text += strspn(text, " ");
		len = strcspn(text, " ");
		is_operator = len > 3 && strncmp(text, "op:", 3) == 0;
		if (!len || is_operator != operators)
			continue;
		if (len == 6 && memcmp(text, "op:neg", 6) == 0)
			json_array_append_new(list, json_string("unary -"));
		else
			json_array_append_new(list, json_stringn(text + (operators ? 3 : 0),
								 len - (operators ? 3 : 0)));
	}
	return list;
}

/* What a backend makes kernels of, and, apart, what the host computes. */
struct lowered_lists {
	json_t *backends, *on_host; /* of lists of dtypes, by the backends' names */
};

static struct lowered_lists lists_of(const struct registry *registry, int op)
{
	struct lowered_lists all = { json_object(), json_object() };

	const char *name;

	for (int i = 0; (name = fusion_backend(registry, i).name) != NULL; i++) {
		json_t *device = json_array(), *host = json_array();

		for (int d = 0; d < DTYPE_COUNT; d++) {
			enum dtype dtype = (enum dtype)d;
			enum fusion_lowered found = fusion_op_lowered(registry, op, i, dtype);

			if (found != FUSION_NOT_LOWERED)
				json_array_append_new(found == FUSION_LOWERED ? device : host,
						      json_string(dtype_name(dtype)));
		}
		json_object_set_new(all.backends, name, device);
		if (json_array_size(host))
			json_object_set(all.on_host, name, host);
		json_decref(host);
	}
	return all;
}

/* A plugin's op has no lists of autocast: whether backends lower it is asked of its parts. */
static json_t *op_json(const struct registry *registry, int index)
{
	struct fusion_op op = fusion_op(registry, index);
	struct lowered_lists lists = lists_of(registry, index);
	json_t *json = json_pack("{s:s, s:s, s:o, s:o, s:s, s:s, s:s, s:s}", "name", op.name,
				 "kind", op.kind, "spellings", spellings_json(op.spellings, false),
				 "operators", spellings_json(op.spellings, true), "signature",
				 op.signature, "dtypes", op.result, "doc", op.doc, "gradient",
				 op.has_gradient ? "yes" : "none");

	if (!op.plugin)
		json_object_set_new(
		    json, "autocast",
		    json_pack("{s:s, s:s}", "cpu", op.autocast_cpu, "cuda", op.autocast_cuda));
	json_object_set_new(json, "backends", lists.backends);
	json_object_set_new(json, "on_host", lists.on_host);
	json_object_set_new(json, "plugin", op.plugin ? json_string(op.plugin) : json_null());
	return json;
}

static bool is_named(const struct fusion_op *op, const char *name)
{
	size_t len = strlen(name);

	if (strcmp(op->name, name) == 0 || strcmp(op->fx, name) == 0)
		return true;
	for (const char *at = op->spellings; len && (at = strstr(at, name)); at += len) {
		bool begins = at == op->spellings || at[-1] == ' ' || at[-1] == ':' ||
			      at[-1] == '.';

		if (begins && (at[len] == ' ' || !at[len]))
			return true;
	}
	return false;
}

static json_t *no_such_op(const struct registry *registry, const char *name, struct err *err)
{
	struct nearest near = nearest_to(name);

	struct fusion_op op;

	for (int i = 0; (op = fusion_op(registry, i)).name; i++) {
		if (op.listed && !op.plugin)
			nearest_offer(&near, op.name);
	}
	if (near.best)
		err_set(err, ERR_NAME, "there is no op '%.64s'; did you mean '%s'?", name,
			near.best);
	else
		err_set(err, ERR_NAME, "there is no op '%.64s'; without a name all are listed",
			name);
	return NULL;
}

json_t *lists_ops(const struct registry *registry, const char *name, struct err *err)
{
	json_t *list = json_array(), *all;
	struct fusion_op op;

	for (int i = 0; (op = fusion_op(registry, i)).name; i++) {
		if (op.listed && (!name || is_named(&op, name)))
			json_array_append_new(list, op_json(registry, i));
	}
	if (name && json_array_size(list) == 0) {
		json_decref(list);
		return no_such_op(registry, name, err);
	}
	all = json_pack("{s:o}", "ops", list);
	if (!all)
		err_set(err, ERR_MEMORY, "out of memory for the list of ops");
	return all;
}
