/* fusion/capture/trace/deferred_text.c -- texts with gaps, made while capturing and filled in when
 * the graph has run. */
#include "fusion/capture/trace/trace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/eager/eager.h"

/* One of two tensors of which one is a leaf: what is shown of it depends on which. */
static bool may_be_leaf(const struct trace *t, struct value v)
{
	const struct trace_choice *choice = v.kind == VALUE_TENSOR ? trace_choice_of(t, v) : NULL;

	return choice && (trace_is_leaf(t, choice->of[0]) || trace_is_leaf(t, choice->of[1]));
}

/* The tensor as it is now: it may be written to later on. */
static bool keep_tensor(struct trace *t, struct text_gap *gap, struct err *err)
{
	struct arg args[MAX_ARGS] = { arg_node(trace_node(t, gap->value, err)) };
	int node = args[0].node, source = trace_source(t, gap->value);

	if (source >= 0)
		t->sources->at[source].grad_read = true;
	gap->leaf = trace_shows_leaf(t, gap->value);
	gap->is_parameter = trace_is_parameter(t, gap->value);
	if (node >= 0 && t->graph->nodes[node]->input >= 0) {
		node = graph_add(t->graph,
				 &(struct node_spec){ OP_clone, args, op_info(OP_clone)->n_params,
						      t->host.line, t->host.column },
				 err);
		if (node >= 0)
			t->graph->nodes[node]->detached = gap->leaf;
	}
	return node >= 0 && trace_wrap(t, node, &gap->value, err);
}

static bool keep_spec(struct trace *t, struct text_gap *gap, struct err *err)
{
	struct format_spec *spec = ARENA_NEW(t->graph->arena, struct format_spec);

	if (!spec)
		return trace_no_memory(err);
	*spec = *gap->spec;
	spec->fill = arena_strndup(t->graph->arena, spec->fill, spec->fill_bytes);
	gap->spec = spec;
	return spec->fill || trace_no_memory(err);
}

static void drop_gap(struct text_gap *gap)
{
	value_unref(gap->value);
	value_unref(gap->of[0]);
	value_unref(gap->of[1]);
}

/* TorchDynamo knows deferred text as the place of an f-string that shows a tensor. */
static bool in_f_string(const struct trace *t)
{
	const struct lang_inst *inst = t->vm->frame->inst;

	return inst->op == CODE_FORMAT_VALUE && (inst->arg & 3) == 0;
}

/* Appends a gap to `text`; *known false: there are too many. */
static bool deferred_text_gap(struct trace *t, struct text_gap gap, bool *known, struct buf *text,
			      struct err *err)
{
	char mark[TEXT_GAP_BYTES + 1];

	*known = (t->native || (gap.value.kind == VALUE_TENSOR && in_f_string(t))) &&
		 t->gaps.len < MAX_GAPS && text->len < MAX_TEXT_BYTES &&
		 t->text_bytes < MAX_TEXTS_BYTES && !may_be_leaf(t, gap.value);
	if (!*known)
		return true;
	if (gap.kind == GAP_FORMAT && !keep_spec(t, &gap, err))
		return false;
	if (gap.value.kind == VALUE_TENSOR && !keep_tensor(t, &gap, err))
		return false;
	if (!VEC_PUSH(&t->gaps, gap)) {
		drop_gap(&gap);
		return trace_no_memory(err);
	}
	snprintf(mark, sizeof(mark), "%c%08x", TEXT_GAP, (unsigned)t->gaps.len - 1);
	buf_add(text, mark, TEXT_GAP_BYTES);
	return true;
}

/* The gap whose number begins at text + *at, which moves after it. */
static const struct text_gap *deferred_text_at(const struct trace *t, const char *text, size_t *at)
{
	char digits[TEXT_GAP_BYTES] = { 0 }; /* what follows may be some, too */
	size_t index;

	memcpy(digits, text + *at + 1, TEXT_GAP_BYTES - 1);
	index = strtoul(digits, NULL, 16);
	*at += TEXT_GAP_BYTES;
	return &t->gaps.at[index];
}

/* The place of the next gap; `len` where there is none. */
static size_t next_gap(const char *text, size_t len, size_t at)
{
	const char *gap = memchr(text + at, TEXT_GAP, len - at);

	return gap ? (size_t)(gap - text) : len;
}

/* A DEFERRED_TEXT with these bytes. */
static bool deferred_text_make(struct trace *t, const char *bytes, size_t len, struct value *out,
			       struct err *err)
{
	struct deferred_text text = { .len = len };
	size_t at = next_gap(bytes, len, 0);

	t->text_bytes += len;
	text.bytes = arena_strndup(t->graph->arena, bytes, len);
	if (!text.bytes)
		return trace_no_memory(err);
	text.filled = at > 0;
	while (at < len && !text.filled) {
		text.filled = deferred_text_at(t, bytes, &at)->kind != GAP_CHOICE;
		text.filled |= at < len && next_gap(bytes, len, at) > at;
	}
	*out = (struct value){ .kind = VALUE_DEFERRED_TEXT, .i = (int64_t)t->texts.len };
	return VEC_PUSH(&t->texts, text) || trace_no_memory(err);
}

bool deferred_text_choose(struct trace *t, const struct host_choice *c,
			  const struct lang_inst *branch, struct value *out, struct err *err)
{
	struct text_gap gap = { .kind = GAP_CHOICE,
				.of = { value_ref(c->a), value_ref(c->b) },
				.branch = branch };
	struct buf text = { 0 };
	int node = trace_node(t, c->condition, err);
	bool known = false, ok;

	gap.value = (struct value){ .kind = VALUE_DEFERRED_BOOL, .i = node };
	ok = node >= 0 && deferred_text_gap(t, gap, &known, &text, err);
	if (!known) {
		drop_gap(&gap);
		ok = ok && trace_break(t, BREAK_TEXT_USE, NULL, err);
	}
	ok = ok && deferred_text_make(t, text.data, text.len, out, err);
	buf_finish(&text);
	return ok;
}

/* ---- what the program needs at once ---- */

struct need {
	struct trace *t;
	bool deferred, changed;
	const struct lang_inst *branch;
};

static void look(struct need *n, struct value v);

static void look_at_gap(struct need *n, const struct text_gap *gap)
{
	if (gap->kind != GAP_CHOICE) {
		look(n, gap->value);
		return;
	}
	n->branch = n->branch ? n->branch : gap->branch;
	look(n, gap->of[0]);
	look(n, gap->of[1]);
}

static void look_inside(struct need *n, const struct deferred_text *text)
{
	size_t at = next_gap(text->bytes, text->len, 0);

	while (at < text->len) {
		look_at_gap(n, deferred_text_at(n->t, text->bytes, &at));
		at = next_gap(text->bytes, text->len, at);
	}
}

static void look(struct need *n, struct value v)
{
	if (v.kind == VALUE_DEFERRED_TEXT)
		look_inside(n, &n->t->texts.at[v.i]);
	else if (v.kind >= VALUE_SYMINT && v.kind <= VALUE_SYMFLOAT && !trace_is_deferred(n->t, v))
		n->changed |= trace_pin_value_quietly(n->t, v);
	else
		n->deferred |= v.kind != VALUE_STR;
}

bool deferred_text_need(struct trace *t, struct value v, struct err *err)
{
	struct need n = { .t = t };

	look(&n, v);
	if (!n.deferred && n.branch)
		return trace_refuse_branch(
		    t, n.branch, "a text that is another one on each side is needed", err);
	if (n.deferred || !n.changed)
		return trace_break(t, BREAK_TEXT_USE, NULL, err);
	t->restart = true;
	return err_set(err, ERR_UNSUPPORTED, "a number in a text is specialised");
}

void deferred_text_forget(struct trace *t)
{
	for (size_t i = 0; i < t->gaps.len; i++)
		drop_gap(&t->gaps.at[i]);
	t->gaps.len = t->texts.len = t->text_bytes = 0;
}

/* ---- what the VM asks ---- */

/* A tensor's text is its elements. */
static bool host_repr(void *self, struct value tensor, struct buf *text, struct err *err)
{
	struct text_gap gap = { .kind = GAP_REPR, .value = tensor };
	bool known;

	if (!deferred_text_gap(self, gap, &known, text, err))
		return false;
	return known || trace_break(self, BREAK_TENSOR_TEXT, NULL, err);
}

/* TorchDynamo does not trace the % operator of a str where it is given a symbol. */
static bool is_by_percent(const struct trace *t, struct value v)
{
	const struct lang_inst *inst = t->vm->frame->inst;

	return !t->native && v.kind >= VALUE_SYMINT && v.kind <= VALUE_SYMFLOAT &&
	       (inst->op == CODE_BINARY_OP || inst->op == CODE_INPLACE_OP) && inst->arg == BIN_MOD;
}

/* The text of a number that is no constant, or of a text inside another value. */
static bool host_number_text(void *self, struct value v, bool *known, struct buf *text,
			     struct err *err)
{
	struct text_gap gap = { .kind = GAP_REPR, .value = v };

	if (is_by_percent(self, v))
		return trace_break(self, BREAK_NUMBER_PERCENT, NULL, err);
	return deferred_text_gap(self, gap, known, text, err) &&
	       (*known || v.kind != VALUE_DEFERRED_TEXT || deferred_text_need(self, v, err));
}

/* torch formats a symbol's text in its place, which such a specification refuses. */
static bool is_for_numbers(const struct format_spec *spec)
{
	return (spec->type && spec->type != 's') || spec->sign || spec->alternate ||
	       spec->grouping || spec->align == '=' || spec->zeros;
}

static bool host_format(void *self, const struct format_spec *spec, struct value v, bool *known,
			struct buf *text, struct err *err)
{
	struct text_gap gap = { .kind = GAP_FORMAT, .value = v, .spec = spec };
	struct trace *t = self;

	*known = false;
	if (v.kind == VALUE_TENSOR && (t->native || !trace_is_single(t, v)))
		return true; /* natively it is formatted as its number, which is deferred */
	if (is_by_percent(t, v))
		return trace_break(t, BREAK_NUMBER_PERCENT, NULL, err);
	if (!t->native && v.kind >= VALUE_SYMINT && v.kind <= VALUE_SYMFLOAT &&
	    t->vm->frame->inst->op == CODE_FORMAT_VALUE && is_for_numbers(spec))
		return trace_break(t, BREAK_NUMBER_FORMAT, NULL, err);
	return deferred_text_gap(self, gap, known, text, err);
}

static bool host_deferred_text(void *self, const struct buf *text, struct value *out,
			       struct err *err)
{
	return deferred_text_make(self, text->data, text->len, out, err);
}

static bool host_deferred_bytes(void *self, struct value v, struct buf *text, struct err *err)
{
	struct trace *t = self;
	const struct deferred_text *from = &t->texts.at[v.i];

	if (!t->native && t->vm->frame->inst->op != CODE_BUILD_STRING)
		return deferred_text_need(self, v, err);
	if (text->len + from->len > MAX_TEXT_BYTES || t->text_bytes > MAX_TEXTS_BYTES)
		return deferred_text_need(self, v, err);
	buf_add(text, from->bytes, from->len);
	return true;
}

static bool host_need_text(void *self, struct value v, struct err *err)
{
	return deferred_text_need(self, v, err);
}

void deferred_text_host(struct vm_host *host)
{
	host->repr = host_repr;
	host->number_text = host_number_text;
	host->format = host_format;
	host->deferred_text = host_deferred_text;
	host->deferred_bytes = host_deferred_bytes;
	host->need_text = host_need_text;
}

/* ---- the entry ---- */

const struct entry_text *deferred_text_keep(const struct trace *t, struct value v,
					    const struct text_gap **gaps)
{
	const struct deferred_text *from = &t->texts.at[v.i];
	struct entry_text *to = ARENA_NEW(t->graph->arena, struct entry_text);
	struct text_gap *kept;
	int n = 0;

	for (size_t at = 0; at < from->len; at++)
		n += (unsigned char)from->bytes[at] == TEXT_GAP;
	kept = ARENA_ARRAY(t->graph->arena, struct text_gap, (size_t)n + 1);
	if (!to || !kept)
		return NULL;
	*to = (struct entry_text){ .bytes = from->bytes, .len = from->len, .gaps = kept };
	for (size_t at = next_gap(from->bytes, from->len, 0); at < from->len;) {
		kept[to->n_gaps++] = *deferred_text_at(t, from->bytes, &at);
		at = next_gap(from->bytes, from->len, at);
	}
	*gaps = kept;
	return to;
}

/* The text of a leaf, of which v is a copy. */
static bool show_leaf(const struct text_gap *gap, struct value v, struct autograd *a, struct vm *vm,
		      struct buf *text)
{
	struct value leaf = tensor_wrap(tensor_ref(v.tensor->memory));
	bool ok = leaf.kind == VALUE_TENSOR;

	if (ok) {
		leaf.tensor->is_parameter = gap->is_parameter;
		ok = (!gap->leaf || autograd_set_leaf(a, leaf, true, NULL)) &&
		     vm->host->repr(vm->host->self, leaf, text, NULL);
	}
	value_unref(leaf);
	return ok;
}

/* f'{x}': the text is str(x), which of a bool is no number. */
static bool says_nothing(const struct format_spec *spec)
{
	return !is_for_numbers(spec) && !spec->type && !spec->align && spec->width <= 0 &&
	       spec->precision < 0;
}

bool deferred_text_show(const struct text_gap *gap, struct value v, struct autograd *a,
			struct vm *vm, struct buf *text)
{
	struct vm_host *host = vm->host;

	if (gap->kind == GAP_FORMAT && v.kind == VALUE_TENSOR && !eager_item(v, &v, NULL))
		return false;
	if (gap->kind == GAP_FORMAT && !says_nothing(gap->spec))
		return format_value(vm, gap->spec, v, text, NULL);
	if (v.kind == VALUE_TENSOR && (gap->leaf || gap->is_parameter))
		return show_leaf(gap, v, a, vm, text);
	if (v.kind == VALUE_TENSOR)
		return host->repr(host->self, v, text, NULL);
	value_print(text, v, gap->kind != GAP_REPR);
	return true;
}

/* ---- print() as something that a piece leaves. */

bool prints_add(struct trace *t, const char *text, size_t len)
{
	struct traced_print p = { .condition = -1 };

	if (!text)
		text = "";
	if (memchr(text, TEXT_GAP, len)) {
		if (!deferred_text_make(t, text, len, &p.text, NULL))
			return false;
	} else {
		p.text = value_str(text, len);
		if (p.text.kind == VALUE_UNSET)
			return false;
	}
	if (VEC_PUSH(&t->prints, p))
		return true;
	value_unref(p.text);
	return false;
}

void prints_drop(struct trace *t, size_t n)
{
	for (size_t i = n; i < t->prints.len; i++)
		value_unref(t->prints.at[i].text);
	t->prints.len = n;
}
