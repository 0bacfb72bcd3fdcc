/* fusion/vm/modules.c -- modules of Python's library.
 *
 * A run is the same each time: the clock moves on by a microsecond with each
 * reading. */
#include "fusion/vm/modules.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fusion/base/nearest.h"
#include "fusion/base/words.h"
#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/absent_modules.h"
#include "fusion/vm/inst.h"
#include "fusion/vm/prelude.h"

static const char *const modules[] = { "math",          "time",
				       "random",        "warnings",
				       "typing",        "copy",
				       "collections",   "collections.abc",
				       "functools",     "itertools",
				       "operator",      "dataclasses",
				       "enum",          "contextlib",
				       "abc",           "logging",
				       "numbers",       "__future__",
				       "_prelude",      "_grads",
				       "_module_parts", "_state_dict",
				       "_weights",      "_autocast",
				       "_reduction",    "_random_numbers",
				       "_dtypes",       "_complex",
				       "cmath",         "inspect",
				       "types",         "typing_extensions",
				       "_iterators",    "builtins",
				       "_typing" };

bool module_is_native(const char *name)
{
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (strcmp(modules[i], name) == 0)
			return true;
	return absent_module_advice(name) != NULL;
}

/* torch.ops.name, which a plugin has brought. */
static bool is_of_plugin(struct vm_host *host, const char *name)
{
	const char *dot = strrchr(name, '.');
	char owner[MODULE_NAME_BYTES];
	struct module module = { .name = owner };
	struct value v = { .kind = VALUE_UNSET };
	struct err ignored = { 0 };
	bool found;

	if (strncmp(name, "torch.ops", strlen("torch.ops")) != 0 || dot - name >= MODULE_NAME_BYTES)
		return false;
	snprintf(owner, sizeof(owner), "%.*s", (int)(dot - name), name);
	found = host->module_attr(host->self, &module, dot + 1, &v, &ignored) &&
		v.kind == VALUE_MODULE;
	value_unref(v);
	return found;
}

bool module_exists(struct vm_host *host, const char *name)
{
	return module_is_native(name) || prelude_has_module(module_real(name)) ||
	       host->has_module(host->self, module_real(name)) || is_of_plugin(host, name);
}

static bool submodule(struct vm *vm, const char *name, struct value *out, struct err *err)
{
	struct value m;

	if (!vm_module(vm, name, &m, err))
		return false;
	*out = value_ref(m);
	return true;
}

/* torch.nn.modules.conv and its like have the names of torch.nn. */
static bool of_nn(const char *module)
{
	return strcmp(module, "torch.nn.parameter") == 0 ||
	       strcmp(module, "torch.nn.modules") == 0 ||
	       (strncmp(module, "torch.nn.modules.", strlen("torch.nn.modules.")) == 0 &&
		!strchr(module + strlen("torch.nn.modules."), '.'));
}

/* A file of torch.optim, whose names are those of the package. */
static const char optim_files[] =
    "optimizer adadelta adagrad adam adamax adamw asgd nadam radam rmsprop "
    "rprop sgd";

const char *module_real(const char *name)
{
	static const char *const same[][2] = {
		/* written in Python, with the names of another */
		{ "torch._refs", "torch" },
		{ "torch._refs.nn", "torch.nn" },
		{ "torch._refs.nn.functional", "torch.nn.functional" },
		{ "torch._refs.special", "torch.special" },
		{ "torch._refs.linalg", "torch.linalg" },
		{ "torch._refs.fft", "torch.fft" },
		{ "torch._utils", "torch.compiler" },
	};
	const char *optim = "torch.optim.";

	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++)
		if (strcmp(name, same[i][0]) == 0)
			return same[i][1];
	if (strncmp(name, optim, strlen(optim)) == 0 &&
	    words_have(optim_files, name + strlen(optim)))
		return "torch.optim";
	return of_nn(name) ? "torch.nn" : name;
}

bool module_stored(struct vm *vm, const struct module *module, const char *name, struct value *out,
		   struct err *err)
{
	int slot = vm_global_find(vm, module, name);

	*out = (struct value){ .kind = VALUE_UNSET };
	return slot < 0 || global_load(vm, slot, out, err);
}

bool module_is_file(const char *module, const char *name)
{
	/* What `import torch` brings along, and what torch.nn's own files are called. */
	static const char *const files[][2] = {
		{ "os", "path" },
		{ "torch", "_functorch _inductor _logging _refs _subclasses _utils ao "
			   "distributions export futures library "
			   "masked monitor multiprocessing "
			   "nested onnx overrides package profiler quantization serialization "
			   "signal storage testing types version" },
		{ "torch.autograd", "grad_mode graph profiler" },
		{ "torch._dynamo", "comptime decorators eval_frame testing utils" },
		{ "torch.fx", "_symbolic_trace experimental" },
		{ "torch.fx.experimental", "symbolic_shapes" },
		{ "torch.nn", "attention modules parameter quantized" },
		{ "torch.nn.modules",
		  "activation batchnorm container conv dropout linear loss "
		  "module utils pooling transformer rnn sparse normalization adaptive "
		  "channelshuffle distance flatten fold instancenorm lazy padding "
		  "pixelshuffle upsampling" },
		{ "torch.nn.utils", "parametrizations parametrize" },
		{ "torch.optim", "swa_utils" },
	};
	char full[MODULE_NAME_BYTES];

	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		if (strcmp(files[i][0], module) == 0 && words_have(files[i][1], name))
			return true;
	snprintf(full, sizeof(full), "%s.%s", module, name);
	return strcmp(module, "torch.distributions") == 0 && prelude_has_module(full);
}

bool module_file(struct vm *vm, const char *module, const char *name, struct value *out,
		 struct err *err)
{
	char full[MODULE_NAME_BYTES];

	snprintf(full, sizeof(full), "%s.%s", module, name);
	return submodule(vm, full, out, err);
}

static bool constant(const char *module, const char *name, struct value *out)
{
	static const struct {
		const char *name;
		double value;
	} numbers[] = { { "pi", M_PI },
			{ "e", M_E },
			{ "tau", 2 * M_PI },
			{ "inf", INFINITY },
			{ "nan", NAN } };

	if (strcmp(module, "typing") == 0 && strcmp(name, "TYPE_CHECKING") == 0) {
		*out = value_bool(false);
		return true;
	}
	for (size_t i = 0; strcmp(module, "math") == 0 && i < sizeof(numbers) / sizeof(numbers[0]);
	     i++)
		if (strcmp(numbers[i].name, name) == 0) {
			*out = value_float(numbers[i].value);
			return true;
		}
	return false;
}

/* Names that annotations use: they stand for any type. */
static bool is_annotation(const char *module, const char *name)
{
	if (strcmp(module, "typing") == 0 || strcmp(module, "collections.abc") == 0 ||
	    strcmp(module, "numbers") == 0)
		return name[0] >= 'A' && name[0] <= 'Z';
	return strcmp(module, "__future__") == 0;
}

void module_offer(const char *module, struct nearest *n)
{
	static const char *const constants[] = { "pi", "e", "tau", "inf", "nan" };

	for (int i = 0; i < builtin_count(); i++)
		if (strcmp(builtin_row(i)->scope, module) == 0)
			nearest_offer(n, builtin_row(i)->name);
	prelude_offer(module_real(module), n);
	for (size_t i = 0;
	     strcmp(module, "math") == 0 && i < sizeof(constants) / sizeof(constants[0]); i++)
		nearest_offer(n, constants[i]);
}

static bool unknown(const char *module, const char *name, struct err *err)
{
	struct nearest n = nearest_to(name);

	module_offer(module, &n);
	if (n.best)
		return err_set(err, ERR_NAME, "%s has no function %s; did you mean %s.%s?", module,
			       name, module, n.best);
	return err_set(err, ERR_NAME, "%s has no function %s", module, name);
}

bool module_type(struct vm *vm, const char *module, const char *name, struct value *out,
		 bool *found, struct err *err)
{
	*found = strcmp(module, "torch") == 0 &&
		 (strcmp(name, "dtype") == 0 || strcmp(name, "Size") == 0);
	if (!*found || !vm)
		return true;
	return vm_keep(vm, builtin_value(builtin_find("type", name), (struct value){ 0 }), out,
		       err);
}

bool native_attribute(struct vm *vm, const char *module, const char *name, struct value *out,
		      struct err *err)
{
	struct value v;
	int id = builtin_find(module, name);
	bool found;

	if (strcmp(module, "collections") == 0 && strcmp(name, "abc") == 0)
		return !vm || submodule(vm, "collections.abc", out, err);
	if (strcmp(module, "typing_extensions") == 0)
		return native_attribute(vm, "typing", name, out, err);
	if (strcmp(module, "builtins") == 0 && builtin_is_name(name))
		return !vm || vm_keep(vm, builtin_named(vm, name), out, err);
	if (strcmp(module, "_prelude") == 0 && strcmp(name, "forward") == 0)
		id = builtin_find("object", name);

	if (constant(module, name, &v)) {
		if (vm)
			*out = v;
		return true;
	}
	if (id < 0 && is_annotation(module, name) && !prelude_defines(module, name)) {
		v = value_native(name, builtin_find("typing", "Any"), true, (struct value){ 0 });
		if (!vm)
			value_unref(v);
		return !vm || vm_keep(vm, v, out, err);
	}
	if (id >= 0)
		return !vm || vm_keep(vm, builtin_value(id, (struct value){ 0 }), out, err);
	if (!vm)
		return prelude_defines(module, name) || absent_module_advice(module) ||
		       unknown(module, name, err);
	if (!prelude_attribute(vm, module, name, out, &found, err))
		return false;
	if (!found && absent_module_advice(module))
		return module_file(vm, module, name, out, err);
	return found || unknown(module, name, err);
}

bool typing_ask(struct vm *vm, const char *function, const struct value *args, int n,
		struct value *out, struct err *err)
{
	struct value f;
	bool found, ok;

	if (!prelude_attribute(vm, "_typing", function, &f, &found, err))
		return false;
	ok = found ? vm_invoke(vm, f, &(struct arguments){ args, n, NULL }, out, err)
		   : err_set(err, ERR_INTERNAL, "typing has no %s", function);
	if (found)
		value_unref(f);
	return ok;
}

/* A capture guards the texts, so it leaves them as they are. */
static bool class_annotations(struct vm *vm, struct value o, struct value *out, struct err *err)
{
	struct value *place = value_dict_find(o.class->attributes, "__annotations__");
	const struct dict *texts;
	struct value args[2] = { o };
	bool ok = true;

	if (place && !realize(vm, place, err))
		return false;
	texts = place && place->kind == VALUE_DICT ? place->dict : NULL;

	if (place && (o.class->annotated || !texts)) {
		*out = value_ref(*place);
		return true;
	}
	if (!vm_keep(vm, value_dict(), &args[1], err))
		return false;
	for (int i = 0; ok && texts && i < texts->len; i++)
		ok = texts->keys[i].kind != VALUE_STR ||
		     (realize(vm, &texts->values[i], err) &&
		      store_named(vm, args[1].dict, texts->keys[i].str->text, texts->values[i],
				  err));
	ok = ok && typing_ask(vm, "annotations_of_class", args, 2, out, err);
	value_unref(args[1]);
	if (!ok || vm->host->load_global)
		return ok;
	o.class->annotated = true;
	return store_named(vm, o.class->attributes, "__annotations__", *out, err);
}

bool typing_annotations(struct vm *vm, struct value o, struct value *out, struct err *err)
{
	struct value fresh;

	if (o.kind == VALUE_CLASS)
		return class_annotations(vm, o, out, err);
	if (!typing_ask(vm, "annotations_of_function", &o, 1, out, err))
		return false;
	if (!o.function->attributes) {
		if (!vm_keep(vm, value_dict(), &fresh, err))
			return false;
		o.function->attributes = fresh.dict;
	}
	return store_named(vm, o.function->attributes, "__annotations__", *out, err);
}

/* T = TypeVar("T"), which prints as ~T. */
static bool typing_type_var(struct vm *vm, const struct builtin_call *call, struct value *out,
			    struct err *err)
{
	const char *name;

	if (call->args[0].kind != VALUE_STR)
		return vm_raise(vm, CLASS_TYPE_ERROR, err, "%s: name is a str, not %s",
				call->row->name, value_type_name(call->args[0]));
	name = arena_strdup(&vm->arena, call->args[0].str->text);
	return name ? vm_keep(vm,
			      value_native(name, builtin_find("typing", "TypeVar"), true,
					   (struct value){ .kind = VALUE_NONE }),
			      out, err)
		    : vm_out_of_memory(vm, err);
}

static bool typing_new_type(struct vm *vm, const struct builtin_call *call, struct value *out,
			    struct err *err)
{
	(void)vm, (void)err;
	*out = value_ref(call->args[1]);
	return true;
}

static bool typing_decorator(struct vm *vm, const struct builtin_call *call, struct value *out,
			     struct err *err)
{
	(void)vm, (void)err;
	*out = value_ref(call->args[0]);
	return true;
}

static bool warnings_warn(struct vm *vm, const struct builtin_call *call, struct value *out,
			  struct err *err)
{
	(void)vm, (void)call, (void)err;
	*out = value_none();
	return true;
}

/* ---- time */

static double tick(struct vm *vm)
{
	return vm->clock += 1e-6;
}

static bool time_time(struct vm *vm, const struct builtin_call *call, struct value *out,
		      struct err *err)
{
	(void)call, (void)err;
	*out = value_float(tick(vm));
	return true;
}

static bool time_time_ns(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	(void)call, (void)err;
	*out = value_int((int64_t)(tick(vm) * 1e9));
	return true;
}

static bool time_sleep(struct vm *vm, const struct builtin_call *call, struct value *out,
		       struct err *err)
{
	double seconds;

	*out = value_none();
	if (!builtin_double(vm, call->args[0], &seconds, err))
		return false;
	if (!(seconds >= 0))
		return vm_raise(vm, CLASS_VALUE_ERROR, err, "sleep length must be non-negative");
	vm->clock += seconds;
	return true;
}

#define BUILTINS_OF_MODULES
const struct builtin modules_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
