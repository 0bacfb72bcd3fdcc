/* fusion/runtime/params.c -- names of an entry's parameters, and a module's tensors.
 *
 * "up.weight" is looked up as torch's state_dict() spells it: submodules by
 * name, then the tensor.  Values are copied into the module's own tensor, so
 * that every name for it sees them.
 */
#include <string.h>

#include "fusion/runtime/session.h"

/* An entry of the dict that the instance holds under `table`. */
static struct value *entry_of(const struct instance *at, const char *table, const char *name)
{
	struct value *dict = at->attributes ? value_dict_find(at->attributes, table) : NULL;

	return dict && dict->kind == VALUE_DICT ? value_dict_find(dict->dict, name) : NULL;
}

static struct value *find_part(const struct instance *at, const char *name)
{
	static const char *const tables[] = { "_parameters", "_buffers", "_modules" };

	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		struct value *found = entry_of(at, tables[i], name);

		if (found)
			return found;
	}
	return at->attributes ? value_dict_find(at->attributes, name) : NULL;
}

static struct vtensor *find_tensor(struct value at, const char *path)
{
	char name[256];

	while (at.kind == VALUE_INSTANCE) {
		const char *dot = strchr(path, '.');
		size_t len = dot ? (size_t)(dot - path) : strlen(path);
		struct value *found;

		if (len >= sizeof(name))
			return NULL;
		memcpy(name, path, len);
		name[len] = '\0';
		found = find_part(at.instance, name);
		if (!found)
			return NULL;
		at = *found;
		if (!dot)
			break;
		path = dot + 1;
	}
	return at.kind == VALUE_TENSOR ? at.tensor : NULL;
}

bool session_set_parameter(struct session *s, const char *name, const struct tensor *t,
			   struct err *err)
{
	struct vtensor *found = find_tensor(s->callee, name);

	if (s->callee.kind != VALUE_INSTANCE)
		return err_set(err, ERR_WORKLOAD,
			       "params names %.100s, but %s is no nn.Module: it has no parameters",
			       name, s->frame);
	if (!found || !found->memory)
		return err_set(err, ERR_WORKLOAD,
			       "params names %.100s, which %s does not have as a tensor", name,
			       s->frame);
	if (found->memory->dtype != t->dtype || found->memory->rank != t->rank ||
	    memcmp(found->memory->size, t->size, (size_t)t->rank * sizeof(t->size[0])) != 0)
		return err_set(err, ERR_WORKLOAD,
			       "params gives %.100s another shape or dtype than %s has it in", name,
			       s->frame);
	tensor_copy(found->memory, t);
	return true;
}

const char *session_parameter_name(const struct session *s, int index)
{
	const struct code *code = s->function.kind == VALUE_FUNCTION ? s->function.function->code
								     : NULL;
	int self = s->self.kind != VALUE_UNSET;

	return code && index + self < code->n_positional ? code->locals[index + self] : NULL;
}
