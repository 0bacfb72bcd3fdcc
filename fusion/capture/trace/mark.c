/* fusion/capture/trace/mark.c -- nodes of FX that compute nothing.
 *
 * torch._C._set_grad_enabled is in a graph where torch.no_grad() begins and
 * ends, and around a function that it decorates; torch.amp._enter_autocast and
 * _exit_autocast where a block of torch.autocast() does, and the like where one of
 * torch.inference_mode() does.  As in torch a piece that ends inside such a block
 * leaves it first, and the next one enters it again.
 */
#include <string.h>

#include "fusion/vm/frame.h"
#include "fusion/torch/torch_control.h"
#include "fusion/capture/trace/trace.h"

static const char GRAD_MARK[] = "_set_grad_enabled";

/* The node that FX called last; NULL: none. */
static struct node *last_call(const struct graph *g)
{
	for (int i = g->n_nodes - 1; i >= 0; i--)
		if (g->nodes[i]->op != OP_input && g->nodes[i]->fx[0])
			return g->nodes[i];
	return NULL;
}

static bool mark(struct trace *t, const char *fx, struct err *err)
{
	struct shape none = { .rank = 1 };
	int node;

	none.size[0] = sym_const(t->graph->syms, 0);
	node = graph_constant(t->graph, DTYPE_F32, &none, NULL);
	if (node < 0 || !graph_set_fx(t->graph, node, fx))
		return trace_no_memory(err);
	t->graph->nodes[node]->line = t->host.line;
	t->graph->nodes[node]->column = t->host.column;
	t->n_ops++;
	return true;
}

bool trace_mark_grad(struct trace *t, bool enabled, struct err *err)
{
	struct node *last = last_call(t->graph);

	if (t->grad_off == !enabled)
		return true;
	t->grad_off = !enabled;
	if (last && strcmp(last->fx, GRAD_MARK) == 0) { /* nothing is between the two */
		t->n_ops--;
		t->erased_marks = true;
		return graph_set_fx(t->graph, last->id, "") || trace_no_memory(err);
	}
	return mark(t, GRAD_MARK, err);
}

static bool mark_autocast(struct trace *t, bool enters, struct err *err)
{
	return mark(t, enters ? "_enter_autocast" : "_exit_autocast", err);
}

bool trace_mark_inference(struct trace *t, bool enters, struct err *err)
{
	return mark(t, enters ? "_enter_inference_mode" : "_exit_inference_mode", err);
}

bool trace_mark_call(struct trace *t, const char *fx, struct err *err)
{
	return mark(t, fx, err);
}

/* Calls that TorchDynamo writes as several: all but the last are marks here, since the
 * one op is what eager runs. */
bool trace_mark_parts(struct trace *t, enum op op, bool inplace, const struct keywords *kw,
		      const char **name, struct err *err)
{
	static const struct {
		const char *spelling;
		enum op op;
		bool inplace;
		const char *keyword, *parts[2], *last;
	} calls[] = {
		{ "torch.addcdiv", OP_addcdiv, false, "value", { "div", "mul" }, "fx:add" },
		{ "Tensor.addcdiv_", OP_addcdiv, true, "value", { "div", "mul" }, "fx:add_" },
		{ "Tensor.addcmul_", OP_addcmul, true, "value", { "mul", "mul" }, "fx:add_" },
		{ "Tensor.add_", OP_add_alpha, true, "alpha", { "mul", NULL }, "fx:add_" },
	};

	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
		if (op != calls[i].op || inplace != calls[i].inplace || !kw || kw->n != 1 ||
		    strcmp(*name, calls[i].spelling) != 0 ||
		    strcmp(kw->names[0].str->text, calls[i].keyword) != 0 || trace_within_call(t))
			continue;
		for (int k = 0; k < 2 && calls[i].parts[k]; k++)
			if (!mark(t, calls[i].parts[k], err))
				return false;
		*name = calls[i].last;
	}
	return true;
}

bool trace_autocast(struct trace *t, const struct native *f, const struct value *args, int n,
		    struct value *out, struct err *err)
{
	if (!torch_control_autocast(f, args, n, &t->autocast_mode, out, err))
		return false;
	autocast_settle(&t->autocast, t->autocast_mode);
	return f->id == CONTROL_AUTOCAST_MODE ||
	       mark_autocast(t, f->id == CONTROL_AUTOCAST_ENTER, err);
}

/* The classes of the prelude that change a mode. */
static bool sets_grad(const struct class *c)
{
	return c->hidden && (strcmp(c->name, "GradMode") == 0 || strcmp(c->name, "_Setter") == 0);
}

static bool sets_autocast(const struct class *c)
{
	return c->hidden && strcmp(c->name, "autocast") == 0;
}

static bool sets_inference(const struct class *c)
{
	return c->hidden && strcmp(c->name, "InferenceMode") == 0;
}

static bool sets_either(const struct class *c)
{
	return sets_autocast(c) || sets_inference(c);
}

enum { MAX_MANAGERS = 32 };

/* The managers of those classes whose blocks the frame is in, the outermost first:
 * a block that is open has its exit on the stack, also where a piece begins after what a
 * `return` in the block computes. */
static int managers_around(const struct frame *f, bool (*sets)(const struct class *),
			   struct instance *found[MAX_MANAGERS])
{
	int inst = (int)(f->inst - f->code->insts), n = 0;

	for (int depth = 1; depth <= f->top - f->stack && n < MAX_MANAGERS; depth++) {
		struct value leave = f->stack[depth - 1];

		if (leave.kind != VALUE_METHOD || leave.method->self.kind != VALUE_INSTANCE ||
		    !sets(leave.method->self.instance->class))
			continue;
		for (int i = 0; i < f->code->n_handlers; i++) {
			const struct lang_handler *h = &f->code->handlers[i];

			if (h->kind == HANDLER_WITH && h->depth == depth && inst >= h->start &&
			    inst <= h->end) {
				found[n++] = leave.method->self.instance;
				break;
			}
		}
	}
	return n;
}

/* The innermost manager of the grad mode whose block the frame is in. */
static struct instance *manager_around(const struct frame *f)
{
	struct instance *found[MAX_MANAGERS];
	int n = managers_around(f, sets_grad, found);

	return n > 0 ? found[n - 1] : NULL;
}

static struct value attribute(const struct instance *i, const char *name)
{
	const struct value *found = i && i->attributes ? value_dict_find(i->attributes, name)
						       : NULL;

	return found ? *found : (struct value){ .kind = VALUE_UNSET };
}

static bool begin_grad(struct trace *t, const struct frame *real, const struct frame *base,
		       struct err *err)
{
	for (;; real = real->up) {
		const struct instance *manager = manager_around(real);
		struct value mode = attribute(manager, "mode"),
			     before = attribute(manager, "before");

		if (mode.kind == VALUE_BOOL && before.kind == VALUE_BOOL) {
			t->grad_off = t->grad_off_first = !before.b;
			return trace_mark_grad(t, mode.b, err);
		}
		if (real->function && real->function->grad != GRAD_AS_IS) {
			if (real->marked)
				t->grad_off = t->grad_off_first = real->grad_before;
			return trace_mark_grad(t, real->function->grad == GRAD_ON, err);
		}
		if (real == base)
			return true;
	}
}

/* Blocks of autocast and inference in the frames from `f` out to `base`, each as a mark. */
static bool mark_blocks(struct trace *t, const struct frame *f, const struct frame *base,
			bool enters, struct err *err)
{
	struct instance *found[MAX_MANAGERS];

	for (;; f = f->up) {
		for (int n = managers_around(f, sets_either, found); n > 0; n--)
			if (sets_autocast(found[n - 1]->class)
				? !mark_autocast(t, enters, err)
				: !trace_mark_inference(t, enters, err))
				return false;
		if (f == base)
			return true;
	}
}

bool trace_marks_begin(struct trace *t, const struct frame *real, const struct frame *base,
		       struct err *err)
{
	return mark_blocks(t, real, base, true, err) && begin_grad(t, real, base, err);
}

static bool end_grad(struct trace *t, const struct frame *f, struct err *err)
{
	for (;; f = f->up) {
		if (manager_around(f) || (f->function && f->function->grad != GRAD_AS_IS))
			return trace_mark_grad(t, !t->grad_off_first, err);
		if (f == t->base)
			return true;
	}
}

bool trace_marks_end(struct trace *t, bool stopped, struct err *err)
{
	const struct frame *f = stopped ? t->vm->frame : t->base;

	t->grad_off_at_stop = t->grad_off;
	t->function_modes_at_stop = t->vm->modes.function_modes;
	return end_grad(t, f, err) && mark_blocks(t, f, t->base, false, err);
}

/* `assert tensor`, with a constant text or none: the branch around the raise. */
static bool is_assert(const struct frame *f)
{
	const struct lang_inst *at = f->inst, *end = f->code->insts + f->code->n_insts;

	if (at->op != CODE_JUMP_IF_TRUE || end - at < 4 || at[1].op != CODE_LOAD_GLOBAL ||
	    strcmp(f->code->names[at[1].arg], "AssertionError") != 0)
		return false;
	at += at[2].op == CODE_LOAD_CONST ? 3 : 2;
	return at->op == CODE_CALL && at[1].op == CODE_RAISE;
}

/* The graph computes it; whether it holds is looked at when it has run. */
bool trace_assert(struct trace *t, struct value a, bool *held, struct err *err)
{
	struct shape shape;
	enum dtype dtype;
	int node;

	*held = false;
	if (!is_assert(t->vm->frame) || !trace_shape(t, a, &shape, &dtype, err))
		return true;
	for (int d = 0; d < shape.rank; d++)
		if (!sym_is(shape.size[d], 1))
			return true;
	node = trace_node(t, a, err);
	if (node >= 0)
		node = graph_add(t->graph,
				 &(struct node_spec){
				     OP_alias, (struct arg[]){ { .kind = ARG_NODE, .node = node } },
				     1, t->host.line, t->host.column },
				 err);
	if (node < 0)
		return false;
	if (!graph_set_fx(t->graph, node, "_assert_async") || !VEC_PUSH(&t->asserts, node))
		return trace_no_memory(err);
	t->n_ops++;
	*held = true;
	return true;
}
