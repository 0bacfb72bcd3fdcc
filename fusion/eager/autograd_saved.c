/* fusion/eager/autograd_saved.c -- torch.autograd.graph.saved_tensors_hooks: what a program makes
 * of the tensors that a node of an op saves (pack), and how a backward pass has them again
 * (unpack).
 */
#include "fusion/eager/autograd.h"

#include <stdlib.h>

#include "fusion/torch/torch_host.h"

static const struct value unset = { .kind = VALUE_UNSET };

struct grad_packed {
	struct value unpack;
	struct value at[]; /* by argument, after the last the result; UNSET: it is not packed */
};

void autograd_hook_saved(struct autograd *a, struct value pack, struct value unpack)
{
	struct value old[2] = { a->pack, a->unpack };
	bool on = pack.kind != VALUE_NONE;

	a->pack = on ? value_ref(pack) : unset;
	a->unpack = on ? value_ref(unpack) : unset;
	value_unref(old[0]);
	value_unref(old[1]);
}

void grad_drop_packed(struct grad_node *node)
{
	if (!node->packed)
		return;
	value_unref(node->packed->unpack);
	for (int i = 0; i <= node->n_args; i++)
		value_unref(node->packed->at[i]);
	free(node->packed);
	node->packed = NULL;
}

/* What a hook runs is not recorded, and packs nothing. */
static bool call_hook(struct autograd *a, struct value f, struct value arg, struct value *out,
		      struct err *err)
{
	bool enabled = autograd_enabled(a), ok;

	value_ref(f);
	autograd_enable(a, false);
	ok = vm_invoke(a->vm, f, &(struct arguments){ &arg, 1, NULL }, out, err);
	autograd_enable(a, enabled);
	value_unref(f);
	return ok;
}

/* In place of *saved what the hook made of it; nothing where nothing is saved. */
static bool pack_one(struct autograd *a, struct tensor **saved, struct value *out, struct err *err)
{
	struct value t;
	bool ok;

	if (!*saved)
		return true;
	t = tensor_wrap(tensor_ref(*saved));
	if (t.kind == VALUE_UNSET)
		return torch_no_memory(err);
	ok = call_hook(a, a->pack, t, out, err);
	value_unref(t);
	tensor_unref(*saved);
	*saved = NULL;
	return ok;
}

bool grad_pack(struct autograd *a, struct grad_node *node, struct err *err)
{
	bool ok = true;

	if (!autograd_hooks_saved(a))
		return true;
	node->packed = calloc(1, sizeof(*node->packed) +
				     sizeof(struct value) * (size_t)(node->n_args + 1));
	if (!node->packed)
		return torch_no_memory(err);
	node->packed->unpack = value_ref(a->unpack);
	for (int i = 0; i <= node->n_args; i++)
		node->packed->at[i] = unset;
	for (int i = 0; ok && i <= node->n_args; i++)
		ok = pack_one(a, i < node->n_args ? &node->args[i].saved : &node->out,
			      &node->packed->at[i], err);
	return ok;
}

bool grad_unpack_hooked(struct autograd *a, const struct grad_node *node, int i, bool *known,
			struct value *out, struct err *err)
{
	*known = node->packed && node->packed->at[i].kind != VALUE_UNSET;
	if (!*known)
		return true;
	if (!call_hook(a, node->packed->unpack, node->packed->at[i], out, err))
		return false;
	if (out->kind == VALUE_TENSOR)
		return tensor_check_memory(*out, err);
	err_set(
	    err, ERR_TYPE,
	    "Output of saved tensor unpack_hook expected to be a Tensor but got result of type %s",
	    value_type_name(*out));
	value_unref(*out);
	return false;
}
