/* fusion/torch/torch_control.c -- how a program steers its capture. */
#include "fusion/torch/torch_control.h"

#include <limits.h>
#include <string.h>

#include "fusion/graph/graph.h"
#include "fusion/tensor/tensor.h"
#include "fusion/torch/autocast.h"
#include "fusion/torch/torch_host.h"

static const struct {
	const char *name;
	int id;
} rows[] = {
	{ "torch._dynamo.graph_break", CONTROL_GRAPH_BREAK },
	{ "torch._C._disable", CONTROL_DISABLE },
	{ "torch.compile", CONTROL_IDENTITY },
	{ "torch._dynamo.optimize", CONTROL_IDENTITY },
	{ "torch._dynamo.run", CONTROL_IDENTITY },
	{ "torch._dynamo.allow_in_graph", CONTROL_IDENTITY },
	{ "torch.compiler.allow_in_graph", CONTROL_IDENTITY },
	{ "torch._dynamo.mark_dynamic", CONTROL_MARK_DYNAMIC },
	{ "torch._dynamo.maybe_mark_dynamic", CONTROL_MARK_DYNAMIC },
	{ "torch._dynamo.reset", CONTROL_NOTHING },
	{ "torch.compiler.reset", CONTROL_NOTHING },
	{ "torch.compiler.is_compiling", CONTROL_IS_COMPILING },
	{ "torch._dynamo.is_compiling", CONTROL_IS_COMPILING },
	{ "torch.compiler.is_dynamo_compiling", CONTROL_IS_COMPILING },
	{ "torch._C._is_traced", CONTROL_IS_TRACED },
	{ "torch._C._follows_dynamo", CONTROL_FOLLOWS_DYNAMO },
	{ "torch._C._set_grad_enabled", CONTROL_GRAD_MODE },
	{ "torch._C._grad_function", CONTROL_GRAD_FUNCTION },
	{ "torch.is_grad_enabled", CONTROL_IS_GRAD },
	{ "torch._C._derivative", CONTROL_DERIVATIVE },
	{ "torch._C._function_context", CONTROL_FUNCTION_CONTEXT },
	{ "torch._C._body", CONTROL_BODY },
	{ "torch._C._pure_body", CONTROL_PURE_BODY },
	{ "torch._C._skip", CONTROL_SKIP },
	{ "torch._C._reads", CONTROL_READS },
	{ "torch._C._autocast_enter", CONTROL_AUTOCAST_ENTER },
	{ "torch._C._autocast_exit", CONTROL_AUTOCAST_EXIT },
	{ "torch._C._autocast_mode", CONTROL_AUTOCAST_MODE },
};

int torch_control_find(const char *spelling)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].name, spelling) == 0)
			return rows[i].id;
	return -1;
}

/* A function of its own to bear a mark: the one that was given stays as it is. */
static bool copy_function(const struct function *from, struct value *out, struct err *err)
{
	struct function *to;

	*out = value_function(from->code);
	if (out->kind == VALUE_UNSET)
		return torch_no_memory(err);
	to = out->function;
	to->unit = from->unit;
	to->disabled = from->disabled;
	to->grad = from->grad;
	if (from->defaults)
		to->defaults = value_ref(value_of(from->defaults)).list;
	if (from->kwdefaults)
		to->kwdefaults = value_ref(value_of(from->kwdefaults)).dict;
	if (from->closure)
		to->closure = value_ref(value_of(from->closure)).list;
	if (from->attributes)
		to->attributes = value_ref(value_of(from->attributes)).dict;
	/* In the heap, which frees it: super() in a method leads back to it. */
	if (!from->head.heap || heap_adopt(from->head.heap, &to->head))
		return true;
	value_unref(*out);
	return torch_no_memory(err);
}

static bool disable(const struct native *f, struct value v, enum disable_mark mark,
		    struct value *out, struct err *err)
{
	if (v.kind != VALUE_FUNCTION)
		return err_set(err, ERR_TYPE, "%s marks a function, not %s", f->name,
			       value_type_name(v));
	if (!copy_function(v.function, out, err))
		return false;
	out->function->disabled = mark;
	return true;
}

/* disable(f=None, recursive=True, *, reason=None) */
static bool is_once(const struct native *f, const struct arguments *args)
{
	bool once = f->id == CONTROL_DISABLE_ONCE;

	if (args->n == 2 && args->at[1].kind == VALUE_BOOL)
		once = !args->at[1].b;
	for (int i = 0; args->kw && i < args->kw->n; i++)
		if (strcmp(args->kw->names[i].str->text, "recursive") == 0 &&
		    args->at[args->n + i].kind == VALUE_BOOL)
			once = !args->at[args->n + i].b;
	return once;
}

/* A class or anything else that is called stays as it is. */
static bool mark_grad(struct value v, bool enabled, struct value *out, struct err *err)
{
	if (v.kind != VALUE_FUNCTION) {
		*out = value_ref(v);
		return true;
	}
	if (!copy_function(v.function, out, err))
		return false;
	out->function->grad = enabled ? GRAD_ON : GRAD_OFF;
	return true;
}

static bool mark_dim(const struct native *f, struct value t, struct value dim, struct err *err)
{
	int d;

	if (dim.kind != VALUE_INT)
		return err_set(err, ERR_TYPE, "%s: dim must be an int, not %s", f->name,
			       value_type_name(dim));
	if (!torch_wrap_dim(dim.i, t.tensor->memory->rank, &d, err))
		return false;
	t.tensor->dynamic_dims |= 1u << d;
	return true;
}

static bool mark_dynamic(const struct native *f, const struct value *args, int n, struct err *err)
{
	bool ok = true;

	if (n != 2 || args[0].kind != VALUE_TENSOR || !args[0].tensor->memory)
		return err_set(err, ERR_TYPE, "%s takes a tensor and a dim", f->name);
	if (args[1].kind != VALUE_LIST && args[1].kind != VALUE_TUPLE)
		return mark_dim(f, args[0], args[1], err);
	for (int i = 0; ok && i < args[1].list->len; i++)
		ok = mark_dim(f, args[0], args[1].list->at[i], err);
	return ok;
}

static bool autocast_device_from_name(const char *name, enum autocast_device *out)
{
	*out = strcmp(name, "cuda") == 0 ? AUTOCAST_CUDA : AUTOCAST_CPU;
	return *out == AUTOCAST_CUDA || strcmp(name, "cpu") == 0;
}

static bool enter_autocast(const struct value *args, unsigned *mode, struct value *out,
			   struct err *err)
{
	enum autocast_device device;

	if (!autocast_device_from_name(args[0].str->text, &device))
		return err_set(err, ERR_VALUE,
			       "autocast: the device '%s' is unknown; there are cpu and cuda",
			       args[0].str->text);
	*out = value_int(*mode);
	*mode = autocast_enter(*mode, device, args[1].dtype, args[2].b, args[3].b);
	return true;
}

static bool ask_autocast(const struct value *args, unsigned mode, struct value *out,
			 struct err *err)
{
	enum autocast_device device = autocast_place(mode);

	if (strcmp(args[1].str->text, "run") != 0 && /* the device that the run is on */
	    !autocast_device_from_name(args[1].str->text, &device))
		return err_set(err, ERR_VALUE, "the device '%s' is unknown; there are cpu and cuda",
			       args[1].str->text);
	if (args[0].str->text[0] == 'e')
		*out = value_bool(autocast_enabled(mode, device));
	else if (args[0].str->text[0] == 'd')
		*out = (struct value){ .kind = VALUE_DTYPE, .dtype = autocast_dtype(mode, device) };
	else
		*out = value_bool(!(mode & AUTOCAST_NO_CACHE));
	return true;
}

bool torch_control_autocast(const struct native *f, const struct value *args, int n, unsigned *mode,
			    struct value *out, struct err *err)
{
	*out = value_none();
	if (f->id == CONTROL_AUTOCAST_ENTER && n == 4 && args[0].kind == VALUE_STR &&
	    args[1].kind == VALUE_DTYPE && args[2].kind == VALUE_BOOL && args[3].kind == VALUE_BOOL)
		return enter_autocast(args, mode, out, err);
	if (f->id == CONTROL_AUTOCAST_MODE && n == 2 && args[0].kind == VALUE_STR &&
	    args[1].kind == VALUE_STR)
		return ask_autocast(args, *mode, out, err);
	if (f->id != CONTROL_AUTOCAST_EXIT || n != 1 || args[0].kind != VALUE_INT)
		return err_set(err, ERR_TYPE, "%s: torch.autocast calls this", f->name);
	*mode = (unsigned)args[0].i;
	return true;
}

bool torch_control_derivative(const struct native *f, const struct arguments *args,
			      unsigned char *depth, struct value *out, struct err *err)
{
	*out = value_int(*depth);
	if (args->n != 1 || args->at[0].kind != VALUE_BOOL)
		return err_set(err, ERR_TYPE, "%s: torch.func calls this", f->name);
	if (args->at[0].b && *depth == UCHAR_MAX)
		return err_set(err, ERR_BOUND,
			       "torch.func: more than %d derivatives, one inside the "
			       "other",
			       UCHAR_MAX);
	*depth += args->at[0].b ? 1 : -(*depth > 0);
	return true;
}

bool torch_control_call(const struct native *f, const struct arguments *args,
			struct torch_modes *modes, struct value *out, struct err *err)
{
	int positional = args->kw ? args->n - args->kw->n : args->n, id = f->id;

	*out = value_none();
	if (torch_control_is_autocast(f))
		return torch_control_autocast(f, args->at, args->n, &modes->autocast, out, err);
	switch ((enum torch_control)f->id) {
	case CONTROL_DISABLE:
	case CONTROL_DISABLE_ONCE:
		id = is_once(f, &(struct arguments){ args->at, positional, args->kw })
			 ? CONTROL_DISABLE_ONCE
			 : CONTROL_DISABLE;
		if (positional > 0 && args->at[0].kind == VALUE_NONE)
			positional = 0;
		if (positional == 1 || positional == 2)
			return disable(f, args->at[0],
				       id == CONTROL_DISABLE_ONCE ? DISABLED_ONCE : DISABLED, out,
				       err);
		break;
	case CONTROL_SKIP:
		return disable(f, args->at[0], DISABLED_SKIP, out, err);
	case CONTROL_READS:
		return disable(f, args->at[0], DISABLED_READS, out, err);
	case CONTROL_IDENTITY:
		if (positional == 1) {
			*out = value_ref(args->at[0]);
			return true;
		}
		break;
	case CONTROL_MARK_DYNAMIC:
		return mark_dynamic(f, args->at, positional, err);
	case CONTROL_IS_COMPILING:
	case CONTROL_IS_TRACED:
	case CONTROL_FOLLOWS_DYNAMO:
		*out = value_bool(false);
		return true;
	case CONTROL_GRAD_MODE: /* no gradients are recorded: it is there to be asked for */
		*out = value_bool(!modes->grad_off);
		if (positional >= 1 && args->at[0].kind == VALUE_BOOL)
			modes->grad_off = !args->at[0].b;
		return true;
	case CONTROL_DERIVATIVE:
		return torch_control_derivative(f, args, &modes->derivatives, out, err);
	case CONTROL_IS_GRAD:
		*out = value_bool(!modes->grad_off);
		return true;
	case CONTROL_GRAD_FUNCTION:
		if (positional == 2 && args->at[1].kind == VALUE_BOOL)
			return mark_grad(args->at[0], args->at[1].b, out, err);
		break;
	default:
		return true;
	}
	/* with options alone it is a decorator to be */
	if (positional != 0)
		return err_set(err, ERR_TYPE, "%s takes one function", f->name);
	*out = value_native(f->name, id, false, (struct value){ .kind = VALUE_UNSET });
	return out->kind != VALUE_UNSET || torch_no_memory(err);
}
