/* fusion/capture/attributes.c -- o.name.
 *
 * Modules answer once for each place in the program (struct attr_site); the
 * methods of lists, dicts and strings are rows of builtins.def. */
#include <math.h>
#include <string.h>

#include "fusion/capture/builtins.h"
#include "fusion/capture/names.h"
#include "fusion/base/nearest.h"
#include "fusion/capture/operators.h"

static bool no_attribute(const char *type, const char *scope, const char *name, struct err *err)
{
	struct nearest n = nearest_to(name);

	for (int i = 0; i < builtin_count(); i++)
		if (strcmp(builtin_row(i)->scope, scope) == 0)
			nearest_offer(&n, builtin_row(i)->name);
	if (n.best)
		return err_set(err, ERR_NAME,
			       "'%s' object has no attribute '%s'; did you mean '%s'?", type, name,
			       n.best);
	return err_set(err, ERR_NAME, "'%s' object has no attribute '%s'", type, name);
}

bool math_attribute(struct vm *vm, const char *name, struct value *out, struct err *err)
{
	static const struct {
		const char *name;
		double value;
	} constants[] = { { "pi", M_PI },
			  { "e", M_E },
			  { "tau", 2 * M_PI },
			  { "inf", INFINITY },
			  { "nan", NAN } };
	struct nearest n = nearest_to(name);
	int id = builtin_find("math", name);

	if (id >= 0)
		return !vm || vm_keep(vm, builtin_value(id, (struct value){ 0 }), out, err);
	for (size_t i = 0; i < sizeof(constants) / sizeof(constants[0]); i++) {
		if (strcmp(constants[i].name, name) == 0) {
			if (vm)
				*out = value_float(constants[i].value);
			return true;
		}
		nearest_offer(&n, constants[i].name);
	}
	for (int i = 0; i < builtin_count(); i++)
		if (strcmp(builtin_row(i)->scope, "math") == 0)
			nearest_offer(&n, builtin_row(i)->name);
	if (n.best)
		return err_set(err, ERR_NAME, "math has no function %s; did you mean math.%s?",
			       name, n.best);
	return err_set(err, ERR_NAME, "math has no function %s", name);
}

static bool module_attribute(struct vm *vm, struct attr_site *site, struct value o,
			     const char *name, struct value *out, struct err *err)
{
	struct vm_host *host;
	struct value v;

	if (strcmp(name, "__name__") == 0)
		return vm_keep(vm, value_str(o.module->name, strlen(o.module->name)), out, err);
	if (strcmp(o.module->name, "math") == 0) {
		if (!math_attribute(vm, name, &v, err))
			return false;
	} else {
		host = vm_host_here(vm);
		if (!host->module_attr(host->self, o.module, name, &v, err))
			return false;
	}
	if (site) {
		value_unref(site->module);
		value_unref(site->value);
		site->module = value_ref(o);
		site->value = value_ref(v);
		site->epoch = vm->epoch;
	}
	*out = v;
	return true;
}

static bool method(struct vm *vm, struct attr_site *site, struct value o, const char *name,
		   struct value *out, struct err *err)
{
	const char *scope = value_type_name(o);
	int id;

	if (site && site->kind == o.kind)
		return vm_keep(vm, builtin_value(site->builtin, o), out, err);
	id = builtin_find(scope, name);
	if (id >= 0 && o.kind == VALUE_TUPLE && strcmp(name, "numel") == 0) {
		if (!o.list->is_size) /* torch.Size alone has it */
			return no_attribute(scope, scope, name, err);
		site = NULL; /* the next tuple here may be none */
	}
	if (id < 0)
		return no_attribute(scope, scope, name, err);
	if (site) {
		site->kind = o.kind;
		site->builtin = id;
	}
	return vm_keep(vm, builtin_value(id, o), out, err);
}

static bool range_attribute(const struct range *r, const char *name, struct value *out)
{
	if (strcmp(name, "start") == 0)
		*out = value_int(r->start);
	else if (strcmp(name, "stop") == 0)
		*out = value_int(r->stop);
	else if (strcmp(name, "step") == 0)
		*out = value_int(r->step);
	else
		return false;
	return true;
}

bool op_attribute(struct vm *vm, struct attr_site *site, struct value o, const char *name,
		  struct value *out, struct err *err)
{
	struct vm_host *host;
	const char *own;

	switch (o.kind) {
	case VALUE_MODULE:
		return module_attribute(vm, site, o, name, out, err);
	case VALUE_TENSOR:
		host = vm_host_here(vm);
		return host->tensor_attr(host->self, o, name, out, err);
	case VALUE_STR:
	case VALUE_TUPLE:
	case VALUE_LIST:
	case VALUE_DICT:
		return method(vm, site, o, name, out, err);
	case VALUE_FUNCTION:
	case VALUE_NATIVE:
		if (strcmp(name, "__name__") != 0)
			break;
		own = o.kind == VALUE_FUNCTION ? o.function->code->name : o.native->name;
		return vm_keep(vm, value_str(own, strlen(own)), out, err);
	case VALUE_RANGE:
		if (range_attribute(o.range, name, out))
			return true;
		break;
	case VALUE_DTYPE:
		if (strcmp(name, "is_floating_point") == 0) {
			*out = value_bool(dtype_category(o.dtype) == CATEGORY_FLOAT);
			return true;
		}
		if (strcmp(name, "itemsize") == 0) {
			*out = value_int((int64_t)dtype_bytes(o.dtype));
			return true;
		}
		break;
	default:
		break;
	}
	return no_attribute(value_type_name(o), "-", name, err);
}
