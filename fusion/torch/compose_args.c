/* fusion/torch/compose_args.c -- a call's arguments against the names of its parameters.
 *
 * For functions that are no rows of ops.def: the list of names is all that one takes,
 * and whatever else a call gives is refused by name.
 */
#include <string.h>

#include "fusion/vm/placement.h"
#include "fusion/torch/compose.h"

/* What a function that makes a tensor takes beside its own parameters: where the
 * tensor lies, and requires_grad, which is the host's affair. */
static bool names_placement(const char *name, const char *key, struct value v, struct err *err)
{
	static const char *const makers[] = {
		"torch.arange",  "torch.rand",      "torch.randn",
		"torch.randint", "torch.rand_like", "torch.randn_like"
	};

	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		if (strcmp(makers[i], name) != 0)
			continue;
		if (strcmp(key, "requires_grad") == 0)
			return true;
		if (placement_is(key) && strcmp(key, "non_blocking") != 0)
			return placement_fits(name, key, v, err);
	}
	if (strcmp(key, "out") == 0)
		return err_set(err, ERR_UNSUPPORTED,
			       "%s: out= is not in the language so far; assign the result", name);
	return err_set(err, ERR_TYPE, "%s has no parameter %s", name, key);
}

bool compose_keywords(const char *name, const char *const *names, int n_names,
		      const struct value *values, const struct keywords *kw, struct err *err)
{
	for (int k = 0; kw && k < kw->n; k++) {
		const char *key = kw->names[k].str->text;
		int i = 0;

		while (i < n_names && strcmp(names[i], key) != 0)
			i++;
		if (i == n_names && !names_placement(name, key, values[k], err))
			return false;
	}
	return true;
}

bool compose_args(const char *name, const char *const *names, int n_names, int required,
		  const struct value *args, int n, const struct keywords *kw, struct value *out,
		  struct err *err)
{
	int n_kw = kw ? kw->n : 0, positional = n - n_kw;

	for (int i = 0; i < n_names; i++)
		out[i] = (struct value){ .kind = VALUE_UNSET };
	if (positional > n_names)
		return err_set(err, ERR_TYPE, "%s takes at most %d arguments, but %d are given",
			       name, n_names, positional);
	for (int i = 0; i < positional; i++)
		out[i] = args[i];
	for (int k = 0; k < n_kw; k++) {
		const char *key = kw->names[k].str->text;
		int i = 0;

		while (i < n_names && strcmp(names[i], key) != 0 &&
		       !(strcmp(names[i], "dim") == 0 && strcmp(key, "axis") == 0))
			i++;
		if (i == n_names) {
			if (!names_placement(name, key, args[positional + k], err))
				return false;
			continue;
		}
		if (out[i].kind != VALUE_UNSET)
			return err_set(err, ERR_TYPE, "%s: %s is given twice", name, key);
		out[i] = args[positional + k];
	}
	for (int i = 0; i < required; i++)
		if (out[i].kind == VALUE_UNSET)
			return err_set(err, ERR_TYPE, "%s: %s is missing", name, names[i]);
	return true;
}

bool compose_sizes(const struct composer *c, struct value x, struct value *out, enum dtype *dtype,
		   struct err *err)
{
	struct value sizes[MAX_RANK];
	int rank;

	if (!c->type(c->self, x, &rank, dtype, err))
		return false;
	for (int d = 0; d < rank; d++)
		if (!c->size(c->self, x, d, &sizes[d], err))
			return false;
	*out = value_tuple(sizes, rank);
	return out->kind != VALUE_UNSET || torch_no_memory(err);
}
