/* tests/vm_host.h -- a host for tests of the VM, whose tensors are ints.
 *
 * A tensor's `node` is its number; arithmetic makes new tensors, in-place
 * arithmetic writes the old one.  Everything the VM asks is counted or
 * recorded, so a test can say what reached the host and what did not.
 */
#ifndef TESTS_VM_HOST_H
#define TESTS_VM_HOST_H

#include <math.h>
#include <stdarg.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "fusion/vm/vm.h"
#include "fusion/graph/sym.h"

enum { HOST_SIN, HOST_RELU, HOST_ADD_, HOST_ITEM, HOST_ABS, HOST_SIZE, HOST_TENSOR, HOST_SKIPS };

struct host {
	struct vm_host vm;
	int live;         /* tensors not freed */
	int made;         /* tensors made */
	int attr_lookups; /* module_attr calls */
	struct buf printed;
	int line, column;  /* of the last call of a function */
	struct sym symbol; /* what .dim() gives */
};

static inline void host_release(struct vtensor *t)
{
	((struct host *)t->owner)->live--;
}

static inline struct value host_tensor(struct host *h, int number)
{
	struct value t = value_tensor();

	assert_int_equal(t.kind, VALUE_TENSOR);
	t.tensor->node = number;
	t.tensor->owner = h;
	t.tensor->release = host_release;
	h->live++;
	h->made++;
	return t;
}

static inline double host_number(struct value v)
{
	switch (v.kind) {
	case VALUE_TENSOR:
		return v.tensor->node;
	case VALUE_SYMINT:
		return (double)v.sym->value;
	case VALUE_INT:
		return (double)v.i;
	case VALUE_BOOL:
		return v.b;
	case VALUE_FLOAT:
		return v.f;
	default:
		return 0;
	}
}

static inline int host_int(double number) /* what is too large is 0 */
{
	return number > -1e9 && number < 1e9 ? (int)number : 0;
}

static inline bool host_has_module(void *self, const char *name)
{
	(void)self;
	return strcmp(name, "torch") == 0 || strcmp(name, "torch.nn") == 0 ||
	       strcmp(name, "torch.nn.functional") == 0;
}

static inline bool host_module_attr(void *self, const struct module *m, const char *name,
				    struct value *out, struct err *err)
{
	static const struct {
		const char *module, *name;
		int id; /* -1: a module */
		const char *full;
	} attrs[] = {
		{ "torch", "sin", HOST_SIN, "torch.sin" },
		{ "torch", "relu", HOST_RELU, "torch.relu" },
		{ "torch", "Tensor", HOST_TENSOR, "torch.Tensor" },
		{ "torch", "_C", -1, "torch._C" },
		{ "torch._C", "_follows_dynamo", HOST_SKIPS, "torch._C._follows_dynamo" },
		{ "torch", "nn", -1, "torch.nn" },
		{ "torch.nn", "functional", -1, "torch.nn.functional" },
		{ "torch.nn.functional", "relu", HOST_RELU, "torch.nn.functional.relu" },
	};
	struct host *h = self;

	h->attr_lookups++;
	for (size_t i = 0; i < sizeof(attrs) / sizeof(attrs[0]); i++) {
		if (strcmp(attrs[i].module, m->name) != 0 || strcmp(attrs[i].name, name) != 0)
			continue;
		*out = attrs[i].id < 0 ? value_module(attrs[i].full)
				       : value_native(attrs[i].full, attrs[i].id, false,
						      (struct value){ .kind = VALUE_UNSET });
		return true;
	}
	return err_set(err, ERR_NAME, "%s has no function %s", m->name, name);
}

static inline bool host_tensor_attr(void *self, struct value t, const char *name, struct value *out,
				    struct err *err)
{
	static const struct {
		const char *name;
		int id;
	} methods[] = { { "sin", HOST_SIN }, { "add_", HOST_ADD_ }, { "item", HOST_ITEM },
			{ "abs", HOST_ABS }, { "dim", HOST_SIZE },  { "relu", HOST_RELU } };

	(void)self;
	if (strcmp(name, "shape") == 0) {
		*out = value_tuple((struct value[]){ value_int(3), value_int(t.tensor->node) }, 2);
		out->list->is_size = true;
		return true;
	}
	for (size_t i = 0; i < sizeof(methods) / sizeof(methods[0]); i++)
		if (strcmp(methods[i].name, name) == 0) {
			*out = value_native(methods[i].name, methods[i].id, false, t);
			return true;
		}
	if (strcmp(name, "dtype") == 0) {
		*out = (struct value){ .kind = VALUE_DTYPE, .dtype = DTYPE_I64 };
		return true;
	}
	return err_set(err, ERR_NAME, "Tensor has no attribute %s", name);
}

static inline bool host_call(void *self, const struct native *f, const struct arguments *args,
			     struct value *out, struct err *err)
{
	struct host *h = self;
	struct value x = f->self.kind == VALUE_UNSET && args->n > 0 ? args->at[0] : f->self;

	h->line = h->vm.line;
	h->column = h->vm.column;
	if (f->id == HOST_SKIPS) {
		*out = value_bool(false);
		return true;
	}
	if (x.kind != VALUE_TENSOR)
		return err_set(err, ERR_TYPE, "%s wants a tensor", f->name);
	switch (f->id) {
	case HOST_ADD_:
		x.tensor->node = host_int(x.tensor->node + host_number(args->at[0]));
		if (args->kw && args->kw->n == 1 &&
		    strcmp(args->kw->names[0].str->text, "alpha") == 0)
			x.tensor->node = host_int(x.tensor->node +
						  1000 * trunc(host_number(args->at[args->n - 1])));
		*out = value_ref(x);
		return true;
	case HOST_ITEM:
		*out = value_int(x.tensor->node);
		return true;
	case HOST_ABS:
		*out = host_tensor(h, abs(x.tensor->node));
		return true;
	case HOST_SIZE:
		h->symbol = (struct sym){ .kind = SYM_CONST, .value = 4 };
		*out = (struct value){ .kind = VALUE_SYMINT, .sym = &h->symbol };
		return true;
	default:
		*out = host_tensor(h, x.tensor->node + (f->id == HOST_SIN ? 100 : 200));
		return true;
	}
}

static inline bool host_binary(void *self, const struct binary *call, struct value *out,
			       struct err *err)
{
	struct host *h = self;
	double x = host_number(call->a), y = host_number(call->b), r;

	switch (call->op) {
	case BIN_ADD:
		r = x + y;
		break;
	case BIN_SUB:
		r = x - y;
		break;
	case BIN_MUL:
		r = x * y;
		break;
	default:
		return err_set(err, ERR_SHAPE, "shapes [3] and [4] do not broadcast");
	}
	if (call->inplace && call->a.kind == VALUE_TENSOR) {
		call->a.tensor->node = host_int(r);
		*out = value_ref(call->a);
		return true;
	}
	*out = host_tensor(h, host_int(r));
	return true;
}

static inline bool host_unary(void *self, enum unop op, struct value a, struct value *out,
			      struct err *err)
{
	(void)err;
	*out = host_tensor(self, host_int(op == UN_NEG ? -host_number(a) : host_number(a)));
	return true;
}

static inline bool host_compare(void *self, enum cmpop op, struct value a, struct value b,
				struct value *out, struct err *err)
{
	double x = host_number(a), y = host_number(b);
	bool r = op == CMP_LT   ? x < y
		 : op == CMP_GT ? x > y
		 : op == CMP_EQ ? x == y
		 : op == CMP_NE ? x != y
		 : op == CMP_LE ? x <= y
				: x >= y;

	(void)err;
	*out = host_tensor(self, r);
	return true;
}

static inline bool host_truth(void *self, struct value a, bool *out, struct err *err)
{
	(void)self, (void)err;
	*out = host_number(a) != 0;
	return true;
}

static inline bool host_subscript(void *self, struct value t, struct value index, struct value *out,
				  struct err *err)
{
	(void)err;
	*out = host_tensor(self, host_int(t.tensor->node + trunc(host_number(index))));
	return true;
}

static inline bool host_store_subscript(void *self, struct value t, struct value index,
					struct value v, struct err *err)
{
	(void)self, (void)err;
	t.tensor->node = host_int(10 * trunc(host_number(index)) + trunc(host_number(v)));
	return true;
}

static inline bool host_length(void *self, struct value t, struct value *out, struct err *err)
{
	(void)self, (void)t, (void)err;
	*out = value_int(3);
	return true;
}

static inline bool host_to_number(void *self, enum value_kind kind, struct value a,
				  struct value *out, struct err *err)
{
	double f = host_number(a);

	(void)self, (void)err;
	*out = kind == VALUE_FLOAT  ? value_float(f)
	       : kind == VALUE_BOOL ? value_bool(f != 0)
				    : value_int((int64_t)f);
	return true;
}

static inline bool host_repr(void *self, struct value t, struct buf *text, struct err *err)
{
	(void)self, (void)err;
	buf_printf(text, "tensor(%d)", t.tensor->node);
	return true;
}

static inline void host_print(void *self, const char *text, size_t len)
{
	buf_add(&((struct host *)self)->printed, text, len);
}

static inline void host_init(struct host *h)
{
	*h = (struct host){
		.vm = {
			.self = h,
			.has_module = host_has_module,
			.module_attr = host_module_attr,
			.tensor_attr = host_tensor_attr,
			.call = host_call,
			.binary = host_binary,
			.unary = host_unary,
			.compare = host_compare,
			.truth = host_truth,
			.subscript = host_subscript,
			.store_subscript = host_store_subscript,
			.length = host_length,
			.to_number = host_to_number,
			.repr = host_repr,
			.print = host_print,
		},
	};
}

/* A program that is compiled and whose module has run. */
struct session {
	struct host host;
	struct lang_program *program;
	struct vm *vm;
	struct err err;
};

static inline bool session_open(struct session *s, const char *source,
				const struct vm_limits *limits)
{
	*s = (struct session){ 0 };
	host_init(&s->host);
	s->program = lang_compile(source, strlen(source), NULL, &s->err);
	if (!s->program)
		return false;
	s->vm = vm_create(s->program, &s->host.vm, limits);
	assert_non_null(s->vm);
	return vm_run_module(s->vm, &s->err);
}

/* Frees everything; every tensor must be gone by then. */
static inline void session_close(struct session *s)
{
	vm_destroy(s->vm);
	lang_destroy(s->program);
	buf_finish(&s->host.printed);
	assert_int_equal(s->host.live, 0);
}

static inline bool session_call(struct session *s, const char *name, const struct value *args,
				int n, struct value *out)
{
	struct value f;

	assert_true(vm_global(s->vm, name, &f));
	return vm_call(s->vm, f, &(struct arguments){ args, n, NULL }, out, &s->err);
}

/* model() of `source`, printed as repr() would; on an error "CODE line:column
 * message".  The caller frees. */
static inline char *session_run(const char *source, const struct vm_limits *limits)
{
	struct session s;
	struct buf text = { 0 };
	struct value v;

	if (session_open(&s, source, limits) && session_call(&s, "model", NULL, 0, &v)) {
		value_print(&text, v, false);
		value_unref(v);
	} else {
		buf_printf(&text, "%s %d:%d %s", err_name(s.err.code), s.err.line, s.err.column,
			   s.err.message);
	}
	session_close(&s);
	return buf_steal(&text);
}

/* What a program gives, or how it fails. */
#define assert_runs(source, wanted)                                                                \
	do {                                                                                       \
		char *got_ = session_run((source), NULL);                                          \
		assert_string_equal(got_, (wanted));                                               \
		free(got_);                                                                        \
	} while (0)

#endif
