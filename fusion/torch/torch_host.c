/* fusion/torch/torch_host.c -- names: torch.sin, F.gelu, x.sum, torch.float32.
 *
 * A spelling is looked up in ops.def first; what is no op stands in the tables
 * here.  The VM keeps module attributes per place; methods are asked for each
 * time, so those have a table by name.
 */
#include "fusion/torch/torch_grad.h"
#include "fusion/torch/torch_host.h"
#include "fusion/torch/torch_control.h"
#include "fusion/torch/torch_more.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/graph/custom.h"
#include "fusion/graph/dtype.h"

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
	{ "requires_grad_", NATIVE_REQUIRES_GRAD_ },
};

static const struct {
	const char *name;
	int id;
} functions[] = {
	{ "torch.numel", NATIVE_NUMEL },
	{ "torch._C.storage_offset", NATIVE_STORAGE_OFFSET },
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
				       "torch.utils.checkpoint" };

static const char *const known[] = {
#define KNOWN(name) #name,
#include "fusion/torch/torch_names.def"
#undef KNOWN
};

void torch_names_init(struct torch_names *names)
{
	memset(names, 0, sizeof(*names));
}

void torch_names_finish(struct torch_names *names)
{
	arena_finish(&names->arena);
	memset(names->methods, 0, sizeof(names->methods));
}

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

bool torch_no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for another object");
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
	return torch_more_find(spelling);
}

/* "float16", "int32": a type's name with a width. */
static bool names_dtype(const char *name)
{
	size_t len = strlen(name);

	return strcmp(name, "int") == 0 || strcmp(name, "half") == 0 ||
	       (strstr(name, "int") == name && isdigit((unsigned char)name[len - 1])) ||
	       strstr(name, "float") || strstr(name, "complex");
}

/* `owner` begins the message: "torch", "a tensor". */
static bool unknown(const char *owner, const char *spelling, const char *name, struct err *err)
{
	const char *near = op_nearest(spelling);

	if (torch_knows(name))
		return err_set(err, ERR_UNSUPPORTED,
			       "%s is known, but not in the language so far; %s", spelling,
			       names_dtype(name) ? "the dtypes are bool, uint8, int8 to int64, "
						   "float16, bfloat16, float32 and float64"
						 : "write it with the ops that are");
	if (near)
		return err_set(err, ERR_NAME, "%s has no attribute %s; did you mean %s?", owner,
			       name, near);
	return err_set(err, ERR_NAME, "%s has no attribute %s", owner, name);
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
		return unknown(m->name, spelling, name, err);
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
	if (torch_more_find(spelling) >= 0)
		return torch_more_find(spelling);
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
		unknown("a tensor", spelling, name, err);
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
