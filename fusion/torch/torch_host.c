/* fusion/torch/torch_host.c -- names: torch.sin, F.gelu, x.sum, torch.float32.
 *
 * A spelling is looked up in ops.def first; what is no op is in the tables
 * here.  The VM keeps module attributes per place; methods are asked for each
 * time, so those have a table by name.
 */
#include "fusion/torch/torch_host.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/nearest.h"
#include "fusion/graph/custom.h"
#include "fusion/dtype.h"
#include "fusion/torch/bind.h"
#include "fusion/torch/torch_control.h"
#include "fusion/torch/natives.h"
#include "fusion/vm/modules.h"
#include "fusion/vm/placement.h"
#include "fusion/vm/operators.h"
#include "fusion/vm/prelude.h"

static const struct {
	const char *spelling;
	int id;
} rows[] = {
	{ "Tensor.backward", GRAD_BACKWARD },    { "torch.autograd.backward", GRAD_BACKWARD_ALL },
	{ "torch.autograd.grad", GRAD_GRAD },    { "Tensor.retain_grad", GRAD_RETAIN },
	{ "Tensor.detach_", GRAD_DETACH_ },      { "torch._C._hooks", GRAD_HOOKS },
	{ "torch._C._function", GRAD_FUNCTION }, { "torch._C._saved_hooks", GRAD_SAVED_HOOKS },
};

static int torch_grad_find(const char *spelling)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(rows[i].spelling, spelling) == 0)
			return rows[i].id;
	return -1;
}

/* ---- Operators, and calls that are no ops.
 *
 * Shared by the eager and the capturing host, so that both refuse the same
 * things in the same words. */

static const char *const binary_names[BIN_COUNT] = {
	[BIN_ADD] = "op:+",       [BIN_SUB] = "op:-", [BIN_MUL] = "op:*",  [BIN_TRUEDIV] = "op:/",
	[BIN_FLOORDIV] = "op://", [BIN_MOD] = "op:%", [BIN_POW] = "op:**", [BIN_MATMUL] = "op:@",
	[BIN_AND] = "op:&",       [BIN_OR] = "op:|",  [BIN_XOR] = "op:^",  [BIN_LSHIFT] = "op:<<",
	[BIN_RSHIFT] = "op:>>",
};

static const char *const unary_names[UN_COUNT] = {
	[UN_NEG] = "op:neg", [UN_POS] = "op:pos", [UN_INVERT] = "op:~", [UN_NOT] = "op:not"
};

static const char *const compare_names[CMP_COUNT] = {
	[CMP_LT] = "op:<",          [CMP_LE] = "op:<=",         [CMP_EQ] = "op:==",
	[CMP_NE] = "op:!=",         [CMP_GT] = "op:>",          [CMP_GE] = "op:>=",
	[CMP_IS] = "op:is",         [CMP_IS_NOT] = "op:is not", [CMP_IN] = "op:in",
	[CMP_NOT_IN] = "op:not in",
};

const char *torch_binary_name(enum binop op)
{
	return binary_names[op];
}

const char *torch_unary_name(enum unop op)
{
	return unary_names[op];
}

const char *torch_compare_name(enum cmpop op)
{
	return compare_names[op];
}

static int operator_op(const char *name)
{
	enum op op;

	return op_find(name, &op) ? (int)op : -1;
}

void torch_operators_init(struct torch_operators *t)
{
	for (int i = 0; i < BIN_COUNT; i++)
		t->binary[i] = operator_op(binary_names[i]);
	for (int i = 0; i < UN_COUNT; i++)
		t->unary[i] = operator_op(unary_names[i]);
	for (int i = 0; i < CMP_COUNT; i++)
		t->compare[i] = operator_op(compare_names[i]);
}

bool torch_no_operator(const char *name, struct err *err)
{
	return err_set(err, ERR_UNSUPPORTED,
		       "the operator %s on tensors is not in the language so far; "
		       "write it with the ops that are",
		       name + strlen("op:"));
}

bool torch_plain_cast(const struct arguments *args)
{
	return args->n == 2 && args->at[0].kind == VALUE_TENSOR &&
	       args->at[1].kind == VALUE_DTYPE &&
	       (!args->kw || args->kw->n == 0 ||
		(args->kw->n == 1 && strcmp(args->kw->names[0].str->text, "dtype") == 0));
}

static bool is_operand(struct value v)
{
	return value_is_hosted(v) || value_is_number(v);
}

bool torch_identity(enum cmpop op, struct value a, struct value b, struct value *out)
{
	bool same = value_counted(a) && a.kind == b.kind && a.object == b.object;

	if (op == CMP_IS || op == CMP_IS_NOT) {
		*out = value_bool(same == (op == CMP_IS));
		return true;
	}
	if ((op == CMP_EQ || op == CMP_NE) && (!is_operand(a) || !is_operand(b))) {
		*out = value_bool(op == CMP_NE);
		return true;
	}
	return false;
}

enum dtype torch_cast_dtype(int id)
{
	switch (id) {
	case NATIVE_FLOAT:
		return DTYPE_F32;
	case NATIVE_DOUBLE:
		return DTYPE_F64;
	case NATIVE_LONG:
		return DTYPE_I64;
	case NATIVE_BOOL:
		return DTYPE_BOOL;
	default:
		return DTYPE_COUNT;
	}
}

bool torch_requires_grad_arg(const struct arguments *args, struct value *on, struct err *err)
{
	if (args->n > 1)
		return err_set(err, ERR_TYPE,
			       "Tensor.requires_grad_ takes at most one argument, "
			       "but %d are given",
			       args->n);
	if (args->kw && args->kw->n > 0 &&
	    strcmp(args->kw->names[0].str->text, "requires_grad") != 0)
		return err_set(err, ERR_TYPE, "Tensor.requires_grad_ has no parameter %s",
			       args->kw->names[0].str->text);
	*on = args->n > 0 ? args->at[0] : value_bool(true);
	return on->kind == VALUE_BOOL ||
	       err_set(err, ERR_TYPE,
		       "Tensor.requires_grad_: requires_grad must be True or False, "
		       "not %s",
		       value_type_name(*on));
}

bool torch_native_args(const struct native *f, const struct arguments *args, struct value *tensor,
		       struct value *dim, struct err *err)
{
	bool bound = f->self.kind == VALUE_TENSOR;
	const struct keywords *kw = args->kw;
	bool takes_dim = f->id == NATIVE_SIZE || f->id == NATIVE_STRIDE;
	int wanted = bound ? 0 : 1, most = takes_dim ? wanted + 1 : wanted;
	bool takes_format = false;

	*dim = value_none();
	if (f->id == NATIVE_TENSOR)
		return err_set(
		    err, ERR_UNSUPPORTED,
		    "torch.Tensor is a type for isinstance() here; write torch.tensor()");
	if (f->id == NATIVE_REQUIRES_GRAD_ && bound) { /* which the hosts carry out */
		*tensor = f->self;
		return torch_requires_grad_arg(args, dim, err);
	}
	if (takes_dim && kw && kw->n == 1 && strcmp(kw->names[0].str->text, "dim") == 0)
		kw = NULL; /* size(dim=0) is size(0) */
	if (f->id == NATIVE_IS_CONTIGUOUS && kw && kw->n == 1 &&
	    strcmp(kw->names[0].str->text, "memory_format") == 0) {
		takes_format = true;
		most++;
		kw = NULL;
	}
	if (kw && kw->n > 0)
		return err_set(err, ERR_TYPE, "%s has no parameter %s", f->name,
			       kw->names[0].str->text);
	if (args->n < wanted || args->n > most)
		return err_set(err, ERR_TYPE, "%s takes %s, but %d %s given", f->name,
			       most == 0 ? "no arguments"
			       : wanted  ? "one argument"
					 : "at most one argument",
			       args->n, args->n == 1 ? "is" : "are");
	*tensor = bound ? f->self : args->at[0];
	if (args->n > wanted)
		*dim = args->at[wanted];
	if (tensor->kind != VALUE_TENSOR && f->id != NATIVE_IS_TENSOR)
		return err_set(err, ERR_TYPE, "%s takes a tensor, not %s", f->name,
			       value_type_name(*tensor));
	if (takes_format)
		return placement_fits(f->name, "memory_format", *dim, err);
	if (dim->kind != VALUE_NONE && dim->kind != VALUE_INT)
		return err_set(err, ERR_TYPE, "%s: dim must be an int, not %s", f->name,
			       value_type_name(*dim));
	return true;
}

bool torch_layout_contiguous(const struct graph *g, const struct view_layout *l,
			     struct value format)
{
	struct view_layout last = *l;
	int rank, n = l->shape.rank;

	if (!torch_channels_last(format, &rank))
		return view_contiguous(g, l);
	for (int d = 0; d < n; d++) {
		last.shape.size[d] = l->shape.size[torch_channels_last_dim(n, d)];
		last.stride[d] = l->stride[torch_channels_last_dim(n, d)];
	}
	return n == rank && view_contiguous(g, &last);
}

bool torch_wrap_dim(int64_t dim, int rank, int *out, struct err *err)
{
	if (rank == 0)
		return err_set(err, ERR_INDEX,
			       "dim %lld does not exist: the tensor has no dimensions",
			       (long long)dim);
	if (dim < -rank || dim >= rank)
		return err_set(err, ERR_INDEX,
			       "dim %lld does not exist: the tensor has %d dimension%s, dim may be "
			       "%d to %d",
			       (long long)dim, rank, rank == 1 ? "" : "s", -rank, rank - 1);
	*out = (int)(dim < 0 ? dim + rank : dim);
	return true;
}

/* Where all is given by name, what is written comes first: input=x. */
static void lead_with_input(struct torch_form *form)
{
	for (int i = 1; form->args.n == form->kw.n && i < form->args.n; i++)
		if (strcmp(form->names[i].str->text, "input") == 0) {
			struct value name = form->names[0], value = form->values[0];

			form->names[0] = form->names[i];
			form->values[0] = form->values[i];
			form->names[i] = name;
			form->values[i] = value;
		}
}

/* Which argument is the word; -1: none. */
static int place_of_inplace(const struct native *f, const struct arguments *args, int positional)
{
	int at;

	for (int i = positional; i < args->n; i++)
		if (strcmp(args->kw->names[i - positional].str->text, "inplace") == 0)
			return i;
	if (f->self.kind == VALUE_TENSOR || positional < 2 ||
	    args->at[positional - 1].kind != VALUE_BOOL)
		return -1;
	/* F.silu(x, True) */
	at = f->id == OP_relu ? 1 : bind_parameter(op_info((enum op)f->id), "inplace");
	return at < positional ? at : -1;
}

bool torch_says_inplace(const struct native *f, const struct arguments *args,
			struct torch_form *form)
{
	int positional = args->n - (args->kw ? args->kw->n : 0), at, n = 0;

	if (f->id >= OP_COUNT || args->n > MAX_ARGS)
		return false;
	at = place_of_inplace(f, args, positional);
	if (at < 0 || args->at[at].kind != VALUE_BOOL)
		return false;
	form->kw = (struct keywords){ 0, form->names };
	for (int i = 0; i < args->n; i++) {
		if (i == at)
			continue;
		if (i >= positional)
			form->names[form->kw.n++] = args->kw->names[i - positional];
		form->values[n++] = args->at[i];
	}
	form->args = (struct arguments){ form->values, n, form->kw.n ? &form->kw : NULL };
	lead_with_input(form);
	/* what is no tensor is refused as without the word */
	form->inplace = args->at[at].b && n > 0 && form->values[0].kind == VALUE_TENSOR;
	return true;
}

struct torch_method { /* an entry of torch_names.methods */
	struct torch_method *next;
	const char *name, *spelling;
	int id;
};

static const struct {
	const char *name;
	int id;
} methods[] = {
	{ "size", NATIVE_SIZE },
	{ "dim", NATIVE_DIM },
	{ "ndimension", NATIVE_DIM },
	{ "numel", NATIVE_NUMEL },
	{ "nelement", NATIVE_NUMEL },
	{ "item", NATIVE_ITEM },
	{ "float", NATIVE_FLOAT },
	{ "double", NATIVE_DOUBLE },
	{ "long", NATIVE_LONG },
	{ "bool", NATIVE_BOOL },
	{ "chunk", NATIVE_CHUNK },
	{ "split", NATIVE_SPLIT },
	{ "split_with_sizes", NATIVE_SPLIT },
	{ "tensor_split", NATIVE_TENSOR_SPLIT },
	{ "unbind", NATIVE_UNBIND },
	{ "index_add", NATIVE_INDEX_ADD },
	{ "index_add_", NATIVE_INDEX_ADD },
	{ "index_copy", NATIVE_INDEX_COPY },
	{ "index_copy_", NATIVE_INDEX_COPY },
	{ "index_fill", NATIVE_INDEX_FILL },
	{ "index_fill_", NATIVE_INDEX_FILL },
	{ "diag", NATIVE_DIAG },
	{ "rot90", NATIVE_ROT90 },
	{ "stride", NATIVE_STRIDE },
	{ "is_contiguous", NATIVE_IS_CONTIGUOUS },
	{ "storage_offset", NATIVE_STORAGE_OFFSET },
	{ "element_size", NATIVE_ELEMENT_SIZE },
	{ "data_ptr", NATIVE_DATA_PTR },
	{ "requires_grad_", NATIVE_REQUIRES_GRAD_ },
};

static const struct {
	const char *name;
	int id;
} functions[] = {
	{ "torch.numel", NATIVE_NUMEL },
	{ "torch._C.storage_offset", NATIVE_STORAGE_OFFSET },
	{ "torch._C.storage_bytes", NATIVE_DATA_PTR },
	{ "torch.is_tensor", NATIVE_IS_TENSOR },
	{ "torch.Tensor", NATIVE_TENSOR },
	{ "torch.cat", NATIVE_CAT },
	{ "torch.concat", NATIVE_CAT },
	{ "torch.concatenate", NATIVE_CAT },
	{ "torch.stack", NATIVE_STACK },
	{ "torch.hstack", NATIVE_HSTACK },
	{ "torch.vstack", NATIVE_VSTACK },
	{ "torch.row_stack", NATIVE_VSTACK },
	{ "torch.chunk", NATIVE_CHUNK },
	{ "torch.split", NATIVE_SPLIT },
	{ "torch.unbind", NATIVE_UNBIND },
	{ "torch.arange", NATIVE_ARANGE },
	{ "torch.tensor_split", NATIVE_TENSOR_SPLIT },
	{ "torch.index_add", NATIVE_INDEX_ADD },
	{ "torch.index_copy", NATIVE_INDEX_COPY },
	{ "torch.index_fill", NATIVE_INDEX_FILL },
	{ "torch.diag", NATIVE_DIAG },
	{ "torch.rot90", NATIVE_ROT90 },
};

static const char *const modules[] = { "torch",
				       "torch.nn",
				       "torch.nn.functional",
				       "torch.linalg",
				       "torch.special",
				       "torch.fft",
				       "torch._dynamo",
				       "torch.compiler",
				       "torch.nn.init",
				       "torch._C",
				       "torch.autograd",
				       "torch.autograd.functional",
				       "torch.func",
				       "torch.random",
				       "torch.sparse",
				       "torch.autograd.function",
				       "torch.ops",
				       "torch.nn.utils",
				       "torch.optim",
				       "torch.optim.lr_scheduler",
				       "torch.amp",
				       "torch.cpu",
				       "torch.cpu.amp",
				       "torch.cuda",
				       "torch.cuda.amp",
				       "torch.mps",
				       "torch.xpu",
				       "torch.backends",
				       "torch.utils",
				       "torch.jit",
				       "torch.overrides",
				       "torch.profiler",
				       "torch.autograd.profiler",
				       "torch.autograd.graph",
				       "torch.utils._pytree",
				       "torch.utils.checkpoint",
				       "torch.utils.model_zoo",
				       "torch.utils.data",
				       "torch.utils.data.dataset",
				       "torch.utils.data.sampler",
				       "torch.utils.data.dataloader",
				       "torch.utils.data.distributed",
				       "torch.nn.utils.rnn",
				       "torch.hub",
				       "torch.return_types",
				       "torch.distributed",
				       "torch.nn.parallel",
				       "torch.accelerator",
				       "torch.fx" };

static const char *const known[] = {
#define KNOWN(name) #name,
#include "fusion/torch/torch_names.def"
#undef KNOWN
};

bool torch_has_module(void *self, const char *name)
{
	(void)self;
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (strcmp(modules[i], name) == 0)
			return true;
	return false;
}

static int by_name(const void *key, const void *row)
{
	return strcmp(key, *(const char *const *)row);
}

bool torch_knows(const char *name)
{
	return bsearch(name, known, sizeof(known) / sizeof(known[0]), sizeof(known[0]), by_name) !=
	       NULL;
}

bool torch_writes_expanded(struct err *err)
{
	return err_set(err, ERR_OP,
		       "an expanded tensor is written: several of its elements are one in memory; "
		       "write x.clone() first");
}

static bool made(struct value v, struct value *out, struct err *err)
{
	if (v.kind == VALUE_UNSET)
		return torch_no_memory(err);
	*out = v;
	return true;
}

/* torch.nn of torch: modules are attributes of their parents. */
static const char *submodule(const char *parent, const char *name)
{
	size_t len = strlen(parent);

	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if (strncmp(modules[i], parent, len) == 0 && modules[i][len] == '.' &&
		    strcmp(modules[i] + len + 1, name) == 0)
			return modules[i];
	return NULL;
}

static int find_function(const struct torch_names *names, const char *spelling)
{
	enum op op;

	if (op_find(spelling, &op))
		return (int)op;
	if (custom_find(names->custom, spelling))
		return OP_custom;
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if (strcmp(functions[i].name, spelling) == 0)
			return functions[i].id;
	if (torch_control_find(spelling) >= 0)
		return torch_control_find(spelling);
	if (torch_grad_find(spelling) >= 0)
		return torch_grad_find(spelling);
	return natives_find(spelling);
}

/* "float16", "int32": a type's name with a width. */
static bool names_dtype(const char *name)
{
	size_t len = strlen(name);

	return strcmp(name, "int") == 0 || strcmp(name, "half") == 0 ||
	       (strstr(name, "int") == name && isdigit((unsigned char)name[len - 1])) ||
	       strstr(name, "float") || strstr(name, "complex");
}

/* Of "torch.nn.relu" in "torch.nn" what follows; NULL: it is of another module. */
static const char *name_in(const char *spelling, const char *scope)
{
	size_t len = strlen(scope);

	return strncmp(spelling, scope, len) == 0 && spelling[len] == '.' &&
		       !strchr(spelling + len + 1, '.')
		   ? spelling + len + 1
		   : NULL;
}

/* Offers the names of a module, or of tensors (torch.Tensor). */
static void offer_names(const char *scope, struct nearest *n, char kept[NATIVE_NAME_BYTES])
{
	static const char *const others[] = {
		"shape",   "dtype",    "device",        "ndim",    "T",
		"mT",      "grad",     "requires_grad", "is_leaf", "data",
		"is_cuda", "layout",   "is_sparse",     "H",       "real",
		"grad_fn", "backward", "retain_grad",   "nbytes",  "itemsize"
	};
	bool tensors = strcmp(scope, "torch.Tensor") == 0;
	const char *of_ops = tensors ? "Tensor" : scope, *known_name;

	for (size_t i = 0; tensors && i < sizeof(others) / sizeof(others[0]); i++)
		nearest_offer(n, others[i]);
	natives_offer(of_ops, n, kept);
	op_offer(of_ops, strlen(of_ops), n);
	module_offer(scope, n);
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++)
		if ((known_name = name_in(functions[i].name, scope)))
			nearest_offer(n, known_name);
	for (size_t i = 0; i < sizeof(modules) / sizeof(modules[0]); i++)
		if ((known_name = name_in(modules[i], scope)))
			nearest_offer(n, known_name);
	for (size_t i = 0; tensors && i < sizeof(methods) / sizeof(methods[0]); i++)
		nearest_offer(n, methods[i].name);
	for (int i = 0; strcmp(scope, "torch") == 0 && i < DTYPE_COUNT; i++)
		nearest_offer(n, dtype_name((enum dtype)i));
}

/* The name of a module, or of tensors, that a misspelt one may have meant. */
static bool nearest_in(const char *scope, const char *name, char out[NATIVE_NAME_BYTES])
{
	struct nearest n = nearest_to(name);
	char kept[NATIVE_NAME_BYTES];

	offer_names(scope, &n, kept);
	snprintf(out, NATIVE_NAME_BYTES, "%s", n.best ? n.best : "");
	return n.best != NULL;
}

/* `owner` begins the message: "torch", "a tensor"; of names of `scope`. */
static bool unknown(const char *owner, const char *scope, const char *spelling, const char *name,
		    struct err *err)
{
	char near[NATIVE_NAME_BYTES];
	bool found = nearest_in(scope, name, near);
	const char *shown = strcmp(scope, "torch.Tensor") == 0 ? "Tensor" : scope;

	if (torch_knows(name))
		return err_set(err, ERR_UNSUPPORTED,
			       "%s is known, but not in the language so far; %s", spelling,
			       names_dtype(name) ? "the dtypes are bool, uint8, int8 to int64, "
						   "float16, bfloat16, float32 and float64"
						 : "write it with the ops that are");
	if (found)
		return err_set(err, ERR_NAME, "%s has no attribute %s; did you mean %s.%s?", owner,
			       name, shown, near);
	return err_set(err, ERR_NAME, "%s has no attribute %s", owner, name);
}

/* Whether some spelling begins with this module and a dot: "torch.ops.demo". */
static bool custom_has_module(const struct custom_ops *ops, const char *module)
{
	size_t len = strlen(module);

	for (int i = 0; ops && len && i < ops->n; i++) {
		const char *spellings = ops->at[i].info.spellings;

		for (const char *at = spellings; (at = strstr(at, module)); at += len)
			if ((at == spellings || at[-1] == ' ') && at[len] == '.')
				return true;
	}
	return false;
}

bool torch_module_attr(struct torch_names *names, const struct module *m, const char *name,
		       struct value *out, struct err *err)
{
	const char *sub = submodule(m->name, name);
	char spelling[96];
	enum dtype dtype;
	char *kept;
	int id;

	if (sub)
		return made(value_module(sub), out, err);
	if (strcmp(m->name, "torch") == 0 && dtype_from_name(name, &dtype)) {
		*out = (struct value){ .kind = VALUE_DTYPE, .dtype = dtype };
		return true;
	}
	snprintf(spelling, sizeof(spelling), "%s.%s", m->name, name);
	if (custom_has_module(names->custom, spelling)) {
		kept = arena_strdup(&names->arena, spelling);
		return kept ? made(value_module(kept), out, err) : torch_no_memory(err);
	}
	id = find_function(names, spelling);
	if (id < 0)
		return unknown(m->name, m->name, spelling, name, err);
	kept = arena_strdup(&names->arena, spelling);
	if (!kept)
		return torch_no_memory(err);
	return made(value_native(kept, id, false, (struct value){ .kind = VALUE_UNSET }), out, err);
}

/* x.add_(y): the op of "Tensor.add", written into x. */
static int find_inplace(const char *spelling)
{
	size_t len = strlen(spelling);
	char plain[96];
	enum op op;

	if (len < 2 || len >= sizeof(plain) || spelling[len - 1] != '_' || spelling[len - 2] == '_')
		return -1;
	memcpy(plain, spelling, len - 1);
	plain[len - 1] = '\0';
	if (!op_find(plain, &op) || op_info(op)->kind == KIND_VIEW ||
	    op_info(op)->kind == KIND_REDUCE)
		return -1;
	return NATIVE_INPLACE + (int)op;
}

struct each_name {
	void (*each)(void *self, const char *name);
	void *self;
};

/* A method of tensors, and add_ of add. */
static void each_method(void *self, const char *name)
{
	const struct each_name *to = self;
	char spelling[NATIVE_NAME_BYTES + 8];

	to->each(to->self, name);
	snprintf(spelling, sizeof(spelling), "Tensor.%s_", name);
	if (find_inplace(spelling) >= 0)
		to->each(to->self, strchr(spelling, '.') + 1);
}

void torch_each_name(const char *module, void (*each)(void *self, const char *name), void *self)
{
	struct each_name to = { each, self };
	bool tensors = strcmp(module, "torch.Tensor") == 0;
	struct nearest n = { .each = tensors ? each_method : each, .self = tensors ? &to : self };
	char kept[NATIVE_NAME_BYTES];

	offer_names(module, &n, kept);
}

/* fill, copy and zero are methods in place alone. */
static int find_method(const struct torch_names *names, const char *name, const char *spelling)
{
	enum op op;

	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strcmp(methods[i].name, name) == 0)
			return methods[i].id;
	if (op_find(spelling, &op) && op != OP_fill && strcmp(name, "zero") != 0)
		return (int)op;
	if (custom_find(names->custom, spelling))
		return OP_custom;
	if (natives_find(spelling) >= 0)
		return natives_find(spelling);
	if (torch_grad_find(spelling) >= 0)
		return torch_grad_find(spelling);
	return find_inplace(spelling);
}

/* Enters a method into the table; *err where there is none by the name. */
static struct torch_method *add_method(struct torch_names *names, struct torch_method **slot,
				       const char *name, struct err *err)
{
	struct torch_method *method;
	char spelling[96];
	int id;

	snprintf(spelling, sizeof(spelling), "Tensor.%s", name);
	id = find_method(names, name, spelling);
	if (id < 0) {
		unknown("a tensor", "torch.Tensor", spelling, name, err);
		return NULL;
	}
	method = ARENA_NEW(&names->arena, struct torch_method);
	if (method) {
		method->spelling = arena_strdup(&names->arena, spelling);
		method->id = id;
		method->next = *slot;
	}
	if (!method || !method->spelling) {
		torch_no_memory(err);
		return NULL;
	}
	method->name = method->spelling + strlen("Tensor.");
	*slot = method;
	return method;
}

bool torch_method(struct torch_names *names, struct value tensor, const char *name,
		  struct value *out, struct err *err)
{
	unsigned hash = 0;
	struct torch_method **slot, *method;

	for (const char *c = name; *c; c++)
		hash = hash * 31 + (unsigned char)*c;
	slot = &names->methods[hash % (sizeof(names->methods) / sizeof(names->methods[0]))];
	for (method = *slot; method && strcmp(method->name, name) != 0; method = method->next)
		;
	if (!method)
		method = add_method(names, slot, name, err);
	if (!method)
		return false;
	return made(value_native(method->spelling, method->id, false, tensor), out, err);
}

static bool check_module_attr(void *self, const struct module *m, const char *name,
			      struct value *out, struct err *err)
{
	return torch_module_attr(self, m, name, out, err);
}

void torch_check_host(struct vm_host *host, struct torch_names *names)
{
	memset(host, 0, sizeof(*host));
	host->self = names;
	host->has_module = torch_has_module;
	host->module_attr = check_module_attr;
}
