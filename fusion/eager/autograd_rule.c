/* fusion/eager/autograd_rule.c -- finds the rules of _grads, and runs them. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/prelude.h"
#include "fusion/eager/eager.h"

enum give { GIVE_G, GIVE_NEEDS, GIVE_VALUE, GIVE_SHAPE, GIVE_DTYPE };

/* What a parameter of a rule is given. */
struct rule_param {
	enum give give;
	int index;  /* of the op's arguments; -1: its result */
	bool apart; /* NAME_was */
};

struct rule_function {
	struct value function; /* a reference; UNSET: none */
	int n;
	bool ran;
	struct rule_param params[2 + 3 * MAX_ARGS];
};

struct grad_rule {
	bool named; /* what the names of _grads tell is known, for which it is not loaded: */
	bool any;
	unsigned refused; /* arguments whose gradient is None in _grads: they may not require one */

	bool found; /* and the functions: */
	struct rule_function all;
	struct rule_function of[MAX_ARGS];
};

struct grad_rules {
	struct grad_rule at[OP_COUNT];
	struct value fit, wide;
};

static bool is_tensor_param(const struct op_param *p)
{
	return p->kind == PARAM_TENSOR || p->kind == PARAM_TENSOR_SCALAR;
}

/* The argument that `name` begins with, up to `len`; -2: none. */
static int param_index(const struct op_info *info, const char *name, size_t len)
{
	if (len == 3 && memcmp(name, "out", 3) == 0)
		return -1;
	for (int i = 0; i < info->n_params; i++)
		if (strlen(info->params[i].name) == len &&
		    memcmp(info->params[i].name, name, len) == 0)
			return i;
	return -2;
}

static bool ends_with(const char *name, const char *end, size_t *stem)
{
	size_t len = strlen(name), n = strlen(end);

	*stem = len - n;
	return len > n && strcmp(name + len - n, end) == 0;
}

static bool read_param(const struct op_info *info, const char *name, bool first,
		       struct rule_param *out)
{
	size_t stem = strlen(name);

	if (first) { /* `g`, whatever the op calls its own */
		*out = (struct rule_param){ .give = GIVE_G };
		return true;
	}
	if (strcmp(name, "needs") == 0) {
		*out = (struct rule_param){ .give = GIVE_NEEDS };
		return true;
	}
	*out = (struct rule_param){ .give = GIVE_VALUE, .index = param_index(info, name, stem) };
	if (out->index < -1 && ends_with(name, "_was", &stem)) {
		out->index = param_index(info, name, stem);
		out->apart = true;
	}
	if (out->index >= -1)
		return true;
	out->give = ends_with(name, "_shape", &stem) ? GIVE_SHAPE : GIVE_DTYPE;
	if (out->give == GIVE_DTYPE && !ends_with(name, "_dtype", &stem))
		return false;
	out->index = param_index(info, name, stem);
	return out->index >= -1;
}

static bool find(struct autograd *a, const struct op_info *info, const char *what,
		 struct rule_function *f, struct err *err)
{
	char name[128];
	bool found;

	f->function = (struct value){ .kind = VALUE_UNSET };
	snprintf(name, sizeof(name), "%s_%s", info->id, what);
	if (!prelude_attribute(a->vm, "_grads", name, &f->function, &found, err))
		return false;
	if (!found || f->function.kind != VALUE_FUNCTION) {
		value_unref(f->function);
		f->function = (struct value){ .kind = VALUE_UNSET };
		return true;
	}
	f->n = f->function.function->code->n_positional;
	for (int i = 0; i < f->n; i++)
		if (i == (int)(sizeof(f->params) / sizeof(f->params[0])) ||
		    !read_param(info, f->function.function->code->locals[i], i == 0, &f->params[i]))
			return err_set(err, ERR_INTERNAL, "the gradient %s has a parameter %s",
				       name, f->function.function->code->locals[i]);
	return true;
}

static void look_up_names(const struct op_info *info, struct grad_rule *rule)
{
	unsigned with = 0, without = 0;
	char name[128];
	bool all;

	snprintf(name, sizeof(name), "%s_all", info->id);
	all = prelude_defines("_grads", name);
	for (int i = 0; i < info->n_params; i++) {
		if (!is_tensor_param(&info->params[i]))
			continue;
		snprintf(name, sizeof(name), "%s_%s", info->id, info->params[i].name);
		if (prelude_defines_none("_grads", name))
			rule->refused |= 1u << i;
		else if (!all && prelude_defines("_grads", name))
			with |= 1u << i;
		else if (!all)
			without |= 1u << i;
	}
	rule->any = all || with;
	if (with && info->kind != KIND_VIEW)
		rule->refused |= without;
	rule->named = true;
}

/* Our own modules are loaded as they would be in eager. */
static bool look_up(struct autograd *a, enum op op, struct grad_rule *rule, struct err *err)
{
	const struct op_info *info = op_info(op);
	struct vm_host *host = a->vm->host;
	bool ok;

	vm_set_host(a->vm, &a->eager->host);
	ok = find(a, info, "all", &rule->all, err);
	for (int i = 0; ok && i < info->n_params && rule->all.function.kind != VALUE_FUNCTION; i++)
		if (is_tensor_param(&info->params[i]))
			ok = find(a, info, info->params[i].name, &rule->of[i], err);
	rule->found = ok;
	vm_set_host(a->vm, host);
	return ok;
}

/* By the names of _grads; NULL without memory. */
static struct grad_rule *named_rule(struct autograd *a, enum op op, struct err *err)
{
	struct grad_rule *rule;

	if (!a->rules)
		a->rules = calloc(1, sizeof(*a->rules));
	if (!a->rules) {
		torch_no_memory(err);
		return NULL;
	}
	rule = &a->rules->at[op];
	if (!rule->named)
		look_up_names(op_info(op), rule);
	return rule;
}

/* With its functions; NULL with *err. */
static struct grad_rule *rule_of(struct autograd *a, enum op op, struct err *err)
{
	struct grad_rule *rule = named_rule(a, op, err);

	return rule && (rule->found || look_up(a, op, rule, err)) ? rule : NULL;
}

void grad_rules_finish(struct autograd *a)
{
	for (int op = 0; a->rules && op < OP_COUNT; op++) {
		value_unref(a->rules->at[op].all.function);
		for (int i = 0; i < MAX_ARGS; i++)
			value_unref(a->rules->at[op].of[i].function);
	}
	if (a->rules) {
		value_unref(a->rules->fit);
		value_unref(a->rules->wide);
	}
	free(a->rules);
	a->rules = NULL;
}

static unsigned needs_of(const struct rule_function *f)
{
	unsigned needs = 0;

	for (int i = 0; i < f->n; i++)
		if (f->params[i].give == GIVE_VALUE)
			needs |= 1u << (f->params[i].index < 0 ? MAX_ARGS : f->params[i].index);
	return needs;
}

/* Of those: the ones that a rule reads as they are kept for autograd, which a write may not
 * change; what it reads as it was is another's. */
static unsigned watched_of(const struct rule_function *f)
{
	unsigned watched = 0;

	for (int i = 0; i < f->n; i++)
		if (f->params[i].give == GIVE_VALUE && !f->params[i].apart)
			watched |= 1u << (f->params[i].index < 0 ? MAX_ARGS : f->params[i].index);
	return watched;
}

unsigned grad_rule_watches(struct autograd *a, enum op op, unsigned wanted, int rank)
{
	/* PyTorch keeps attention's result where its operands have four dims alone. */
	unsigned all = op_has(op, FACT_ATTENTION) && rank != 4 ? ~(1u << MAX_ARGS) : ~0u;

	const struct grad_rule *rule = &a->rules->at[op];
	unsigned watched = 0;

	if (rule->all.function.kind == VALUE_FUNCTION)
		return watched_of(&rule->all) & all;
	for (int i = 0; i < MAX_ARGS; i++)
		if ((wanted & 1u << i) && rule->of[i].function.kind == VALUE_FUNCTION)
			watched |= watched_of(&rule->of[i]);
	return watched;
}

bool grad_rule_known(struct autograd *a, enum op op, bool *known, struct err *err)
{
	const struct grad_rule *rule;

	*known = false;
	if (op == OP_custom)
		return err_set(err, ERR_UNSUPPORTED,
			       "an op of a plugin has no gradient in this version; call it on "
			       "x.detach(), or write it with ops that have one");
	rule = named_rule(a, op, err);
	if (!rule)
		return false;
	*known = rule->any;
	return true;
}

bool grad_rule_needs(struct autograd *a, enum op op, unsigned wanted, bool *known, unsigned *needs,
		     struct err *err)
{
	const struct grad_rule *rule;

	*needs = 0;
	if (!grad_rule_known(a, op, known, err) || !(rule = rule_of(a, op, err)))
		return false;
	if (rule->all.function.kind == VALUE_FUNCTION) {
		*needs = needs_of(&rule->all);
		return true;
	}
	for (int i = 0; i < MAX_ARGS; i++)
		if ((wanted & 1u << i) && rule->of[i].function.kind == VALUE_FUNCTION)
			*needs |= needs_of(&rule->of[i]);
	return true;
}

unsigned grad_rule_refuses(struct autograd *a, enum op op)
{
	const struct grad_rule *rule = named_rule(a, op, NULL);

	return rule ? rule->refused : 0;
}

void grad_rule_state(struct autograd *a, enum op op, int index, bool *has, bool *ran)
{
	const struct grad_rule *rule = rule_of(a, op, NULL);
	const struct rule_function *f = rule && rule->all.function.kind == VALUE_FUNCTION
					    ? &rule->all
					    : &rule->of[index];

	*has = rule && f->function.kind == VALUE_FUNCTION;
	*ran = *has && f->ran;
}

/* A tuple of bools, one for each tensor among the parameters. */
static bool make_needs(const struct op_info *info, unsigned wanted, struct value *out,
		       struct err *err)
{
	struct value items[MAX_ARGS];
	int n = 0;

	for (int i = 0; i < info->n_params; i++)
		if (is_tensor_param(&info->params[i]))
			items[n++] = value_bool(wanted & 1u << i);
	*out = value_tuple(items, n);
	return out->kind != VALUE_UNSET || torch_no_memory(err);
}

/* A function of the prelude, in eager; nothing of it is captured as a frame of its own. */
static bool grad_invoke(struct autograd *a, struct value f, const struct value *args, int n,
			struct value *out, struct err *err)
{
	struct vm_evaluator before, none = { 0 };
	bool ok;

	vm_get_evaluator(a->vm, &before);
	vm_set_evaluator(a->vm, &none);
	ok = vm_invoke(a->vm, f, &(struct arguments){ args, n, NULL }, out, err);
	vm_set_evaluator(a->vm, &before);
	return ok;
}

/* A function of _grads that is no rule, looked up once. */
static bool helper(struct autograd *a, const char *name, struct value *place, struct err *err)
{
	bool found = true;

	return place->kind == VALUE_FUNCTION ||
	       (prelude_attribute(a->vm, "_grads", name, place, &found, err) && found);
}

/* Composites but for those whose rules are one product, or only move elements: as
 * torch's kernels, their gradients compute in float32 and round once. */
static bool computes_wide(enum op op)
{
	return op_info(op)->kind == KIND_COMPOSITE && !op_has(op, FACT_GRAD_KEEPS_DTYPE);
}

/* `wide`: a helper; UNSET where the result is wide already. */
static bool find_wide(struct autograd *a, const struct grad_request *r, struct value *wide,
		      struct err *err)
{
	struct value dtype;

	*wide = (struct value){ .kind = VALUE_UNSET };
	if (!computes_wide(r->op))
		return true;
	if (!r->giver->dtype(r->giver->self, -1, &dtype, err))
		return false;
	if (dtype.kind != VALUE_DTYPE || (dtype.dtype != DTYPE_F16 && dtype.dtype != DTYPE_BF16))
		return true;
	if (!helper(a, "wide", &a->rules->wide, err))
		return false;
	*wide = a->rules->wide;
	return true;
}

/* The value through `wide`, which takes it over. */
static bool widen(struct autograd *a, struct value wide, struct value *v, struct err *err)
{
	struct value given = *v;
	bool ok;

	if (wide.kind != VALUE_FUNCTION || given.kind != VALUE_TENSOR)
		return true;
	ok = grad_invoke(a, wide, &given, 1, v, err);
	value_unref(given);
	return ok;
}

static bool call(struct autograd *a, const struct grad_request *r, struct rule_function *f,
		 struct value *out, struct err *err)
{
	const struct grad_giver *giver = r->giver;
	struct value args[2 + 3 * MAX_ARGS], wide;
	bool ok = find_wide(a, r, &wide, err);
	int n = 0;

	for (; ok && n < f->n; n += ok) {
		const struct rule_param *p = &f->params[n];

		if (p->give == GIVE_G)
			args[n] = value_ref(r->g);
		else if (p->give == GIVE_NEEDS)
			ok = make_needs(op_info(r->op), r->wanted, &args[n], err);
		else if (p->give == GIVE_VALUE)
			ok = giver->value(giver->self, p->index, &args[n], err);
		else if (p->give == GIVE_SHAPE)
			ok = giver->shape(giver->self, p->index, &args[n], err);
		else
			ok = giver->dtype(giver->self, p->index, &args[n], err);
		if (ok && (p->give == GIVE_G || p->give == GIVE_VALUE))
			ok = widen(a, wide, &args[n], err);
	}
	ok = ok && grad_invoke(a, f->function, args, n, out, err);
	f->ran = true;
	while (n-- > 0)
		value_unref(args[n]);
	return ok;
}

static void take(struct value v, struct value *made)
{
	if (v.kind == VALUE_TENSOR)
		*made = v;
	else
		value_unref(v);
}

/* The tuple that an _all rule gives, by argument. */
static bool take_all(const struct op_info *info, struct value all, unsigned wanted,
		     struct value made[MAX_ARGS], struct err *err)
{
	int at = 0;

	for (int i = 0; i < info->n_params; i++) {
		if (!is_tensor_param(&info->params[i]))
			continue;
		if (all.kind != VALUE_TUPLE || at >= all.list->len)
			return err_set(err, ERR_INTERNAL,
				       "the gradient of %s gives too few tensors", info->id);
		if (wanted & 1u << i)
			take(value_ref(all.list->at[at]), &made[i]);
		at++;
	}
	return true;
}

bool grad_rule_run(struct autograd *a, const struct grad_request *request,
		   struct value made[MAX_ARGS], struct err *err)
{
	struct grad_rule *rule = rule_of(a, request->op, err);
	const struct op_info *info = op_info(request->op);
	struct value v;
	bool ok = rule != NULL;

	for (int i = 0; i < MAX_ARGS; i++)
		made[i] = (struct value){ .kind = VALUE_UNSET };
	if (ok && rule->all.function.kind == VALUE_FUNCTION) {
		ok = call(a, request, &rule->all, &v, err);
		if (ok) {
			ok = take_all(info, v, request->wanted, made, err);
			value_unref(v);
		}
		return ok;
	}
	for (int i = 0; ok && i < info->n_params; i++) {
		if (!(request->wanted & 1u << i) || rule->of[i].function.kind != VALUE_FUNCTION)
			continue;
		ok = call(a, request, &rule->of[i], &v, err);
		if (ok)
			take(v, &made[i]);
	}
	return ok;
}

bool grad_fit(struct autograd *a, struct value *g, struct value shape, struct value dtype,
	      struct err *err)
{
	struct value args[3] = { *g, shape, dtype }, fitted;
	bool ok;

	if (!helper(a, "fit", &a->rules->fit, err))
		return false;
	ok = grad_invoke(a, a->rules->fit, args, 3, &fitted, err);
	value_unref(*g);
	*g = ok ? fitted : value_none();
	return ok;
}
