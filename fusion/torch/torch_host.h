/* fusion/torch/torch_host.h -- what `torch` and a tensor offer.
 *
 * Names are the same in every mode, so eager and capturing hosts share them: a
 * looked-up function is a VALUE_NATIVE whose id is an op of ops.def, or one of
 * the few below that are no ops.
 */
#ifndef FUSION_TORCH_TORCH_HOST_H
#define FUSION_TORCH_TORCH_HOST_H

#include "fusion/base/arena.h"
#include "fusion/vm/value.h"
#include "fusion/vm/vm.h"
#include "fusion/graph/graph.h"
#include "fusion/graph/op.h"
#include "fusion/graph/view.h"

/* Ids of natives below OP_COUNT are ops. */
enum torch_native {
	NATIVE_SIZE = OP_COUNT, /* x.size(), x.size(0) */
	NATIVE_DIM,             /* x.dim(), x.ndimension() */
	NATIVE_NUMEL,           /* x.numel(), x.nelement(), torch.numel(x) */
	NATIVE_ITEM,            /* x.item() */
	NATIVE_FLOAT,           /* x.float(), x.double(), x.long(), x.bool() */
	NATIVE_DOUBLE,
	NATIVE_LONG,
	NATIVE_BOOL,
	NATIVE_IS_TENSOR, /* torch.is_tensor(v) */
	NATIVE_TENSOR,    /* torch.Tensor: the type, for isinstance() */
	NATIVE_CAT,       /* from here to NATIVE_ARANGE: decomposition.h */
	NATIVE_STACK,
	NATIVE_HSTACK,
	NATIVE_VSTACK,
	NATIVE_CHUNK,
	NATIVE_SPLIT,
	NATIVE_TENSOR_SPLIT,
	NATIVE_UNBIND,
	NATIVE_INDEX_ADD,
	NATIVE_INDEX_COPY,
	NATIVE_INDEX_FILL,
	NATIVE_DIAG,
	NATIVE_ROT90,
	NATIVE_ARANGE,
	NATIVE_STRIDE, /* x.stride(), x.stride(0) */
	NATIVE_IS_CONTIGUOUS,
	NATIVE_STORAGE_OFFSET,
	NATIVE_ELEMENT_SIZE,
	NATIVE_DATA_PTR, /* where its elements are, or how many bytes its storage has */
	NATIVE_REQUIRES_GRAD_,
	/* NATIVE_INPLACE + op: x.add_(y) */
	NATIVE_INPLACE = 1 << 16,
};

/* Which op each operator reaches, by ops.def; -1: none so far. */
struct torch_operators {
	int binary[BIN_COUNT], unary[UN_COUNT], compare[CMP_COUNT];
};
void torch_operators_init(struct torch_operators *t);

/* One op as it was called: by name (keywords last) or as an operator.  All is borrowed. */
struct op_call {
	enum op op;
	const char *name; /* "torch.sum", "Tensor.sum", "op:+"; "fx:" for a part without a name */
	bool inplace;     /* values[0] op= values[1] */
	const struct value *values;
	int n;                     /* all of them; the last kw->n are given by name */
	const struct keywords *kw; /* NULL: none is */
};

/* Spellings of natives must outlive them: they live here. */
struct torch_names {
	struct arena arena;
	struct torch_method *methods[64]; /* by hash of the attribute's name */
	const struct custom_ops *custom;  /* of plugins; NULL: none */
};

static inline void torch_names_init(struct torch_names *names)
{
	memset(names, 0, sizeof(*names));
}

static inline void torch_names_finish(struct torch_names *names)
{
	arena_finish(&names->arena);
	memset(names->methods, 0, sizeof(names->methods));
}

bool torch_has_module(void *self, const char *name);

/* module.name: a function, a dtype or a module.  NAME with the nearest
 * spelling, UNSUPPORTED for what PyTorch has and this language has not. */
bool torch_module_attr(struct torch_names *names, const struct module *m, const char *name,
		       struct value *out, struct err *err);

/* A bound method of a tensor, for any name that is no plain attribute. */
bool torch_method(struct torch_names *names, struct value tensor, const char *name,
		  struct value *out, struct err *err);

/* The dtype that a cast method gives: x.float() is DTYPE_F32; DTYPE_COUNT for
 * ids that are none. */
enum dtype torch_cast_dtype(int id);

/* The tensor of a native of the second group, and the one optional int of
 * size(), or the text of is_contiguous(memory_format=); both for methods and for
 * torch.numel(x).  TYPE error otherwise. */
bool torch_native_args(const struct native *f, const struct arguments *args, struct value *tensor,
		       struct value *dim, struct err *err);

/* Whether that text is torch.channels_last or torch.channels_last_3d, and of which rank its tensors
 * are; and the dim that lies at place d of them. */
static inline bool torch_channels_last(struct value format, int *rank)
{
	const char *text = format.kind == VALUE_STR ? format.str->text : "";

	*rank = strcmp(text, "torch.channels_last") == 0 ? 4 : 5;
	return strncmp(text, "torch.channels_last", strlen("torch.channels_last")) == 0;
}

static inline int torch_channels_last_dim(int rank, int d)
{
	return d == 0 ? 0 : d == rank - 1 ? 1 : d + 1;
}

/* x.is_contiguous(memory_format=), of what lies so. */
bool torch_layout_contiguous(const struct graph *g, const struct view_layout *l,
			     struct value format);

/* x.requires_grad_(requires_grad=True): its argument. */
bool torch_requires_grad_arg(const struct arguments *args, struct value *on, struct err *err);

/* Whether PyTorch has the name although this version does not: for messages. */
bool torch_knows(const char *name);

/* Calls back for each name of a module ("torch.nn"), or of tensors ("torch.Tensor"), in no order,
 * some more than once. */
void torch_each_name(const char *module, void (*each)(void *self, const char *name), void *self);

/* A host for vm_check(): modules and their attributes alone. */
void torch_check_host(struct vm_host *host, struct torch_names *names);

/* Spellings of operators, "op:+": names in messages and keys of ops.def. */
const char *torch_binary_name(enum binop op);
const char *torch_unary_name(enum unop op);
const char *torch_compare_name(enum cmpop op);

/* UNSUPPORTED: an operator that no op computes so far. */
bool torch_no_operator(const char *name, struct err *err);

/* x.to(dtype): a plain change of dtype, which is x itself where x has it. */
bool torch_plain_cast(const struct arguments *args);

/* What `is`, and == with a thing that is no number, mean for a tensor: true
 * where the comparison was one of these, with *out. */
bool torch_identity(enum cmpop op, struct value a, struct value b, struct value *out);

/* A dim from the user: -rank <= dim < rank, counted from the end if negative. */
bool torch_wrap_dim(int64_t dim, int rank, int *out, struct err *err);

/* For a new value; always false. */
static inline bool torch_no_memory(struct err *err)
{
	return err_set(err, ERR_MEMORY, "out of memory for another object");
}

bool torch_writes_expanded(struct err *err); /* several elements are one; always false */

/* A call of an op without the word `inplace`, which many functions of
 * torch.nn.functional take: F.relu(x, inplace=True) is the op written into x. */
struct torch_form {
	struct arguments args; /* the values below; kw NULL: none is given by name */
	bool inplace;
	struct keywords kw;
	struct value values[MAX_ARGS + 1], names[MAX_ARGS + 1];
};

/* Whether a call is worth asking about: it has a keyword, or ends in a bool. */
static inline bool torch_may_say_inplace(const struct arguments *args)
{
	return args->kw || (args->n > 1 && args->at[args->n - 1].kind == VALUE_BOOL);
}

/* Whether the call says `inplace`; *form is the call without it, and borrows its values. */
bool torch_says_inplace(const struct native *f, const struct arguments *args,
			struct torch_form *form);

/* ---- what a program may call of gradients: names alone, the host runs them */

enum grad_native {
	GRAD_FIRST = 1 << 13,
	GRAD_BACKWARD,
	GRAD_BACKWARD_ALL,
	GRAD_GRAD,
	GRAD_RETAIN,
	GRAD_DETACH_,
	GRAD_HOOKS,
	GRAD_FUNCTION,
	GRAD_SAVED_HOOKS,
	GRAD_END
};

/* Whether it runs a backward pass. */
static inline bool torch_grad_is_pass(int id)
{
	return id == GRAD_BACKWARD || id == GRAD_BACKWARD_ALL || id == GRAD_GRAD;
}

/* Whether the native is one of these. */
static inline bool torch_grad_wants(int id)
{
	return id > GRAD_FIRST && id < GRAD_END;
}

#endif
