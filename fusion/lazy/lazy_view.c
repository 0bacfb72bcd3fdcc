/* fusion/lazy/lazy_view.c -- views in a pending trace.
 *
 * In the trace a view is a node like any other.  What it was made of is noted
 * beside it: a write to it puts new elements into its ROOT, and the other views
 * become nodes over the new root; when elements are there, the view is made
 * again for real, over the same memory.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/lazy/lazy.h"
#include "fusion/tensor/view.h"

static struct lazy_entry *entry_of(const struct lazy *l, const struct vtensor *t)
{
	return t->owner == l ? &l->entries.at[t->input] : NULL;
}

struct vtensor *lazy_root(const struct lazy *l, struct vtensor *t)
{
	const struct lazy_entry *entry = entry_of(l, t);

	while (entry && entry->view) {
		t = entry->view->values[0].tensor;
		entry = entry_of(l, t);
	}
	return t;
}

static bool keep_call(struct lazy_entry *entry, const struct op_call *c)
{
	struct lazy_view *v = calloc(1, sizeof(*v));

	if (!v)
		return false;
	v->op = c->op;
	v->n = c->n;
	for (int i = 0; i < c->n; i++)
		v->values[i] = value_ref(c->values[i]);
	v->kw.n = c->kw ? c->kw->n : 0;
	v->kw.names = v->names;
	for (int i = 0; i < v->kw.n; i++)
		v->names[i] = value_ref(c->kw->names[i]);
	entry->view = v;
	return true;
}

/* A reshape that has to copy shares nothing. */
bool lazy_view_note(struct lazy *l, struct value view, const struct op_call *c, struct err *err)
{
	struct vtensor *root = lazy_root(l, c->values[0].tensor);
	struct view_layout layout;

	if (view_layout_in(l->graph, view.tensor->node, root->node, &layout))
		return keep_call(entry_of(l, view.tensor), c) || torch_no_memory(err);
	if (c->op == OP_view || c->op == OP_view_as)
		return err_set(err, ERR_OP,
			       "view: the strides of the tensor do not allow these sizes without "
			       "a copy; write x.reshape(...)");
	return true;
}

/* The entry is empty before its operands go: their releases look at it. */
void lazy_view_drop(struct lazy_entry *entry)
{
	struct lazy_view *v = entry->view;

	entry->view = NULL;
	if (!v)
		return;
	for (int i = 0; i < v->n; i++)
		value_unref(v->values[i]);
	for (int i = 0; i < v->kw.n; i++)
		value_unref(v->names[i]);
	free(v);
}

static struct op_call call_of(const struct lazy_view *v, const char *name)
{
	return (struct op_call){ .op = v->op,
				 .name = name,
				 .values = v->values,
				 .n = v->n,
				 .kw = v->kw.n ? &v->kw : NULL };
}

/* Views of `root`, in the order in which they were made, over its new node. */
static bool refresh(struct lazy *l, const struct vtensor *root, struct err *err)
{
	for (size_t i = 0; i < l->entries.len; i++) {
		struct lazy_entry *entry = &l->entries.at[i];
		struct op_call c;
		int node;

		if (!entry->at || !entry->view || lazy_root(l, entry->at) != root)
			continue;
		autograd_deferred_written(entry->at);
		c = call_of(entry->view, "fx:");
		node = lazy_node(l, &c, err);
		if (node < 0)
			return false;
		entry->at->node = node;
	}
	return true;
}

bool lazy_write(struct lazy *l, struct vtensor *t, int node, struct err *err)
{
	struct vtensor *root = lazy_root(l, t);
	struct lazy_entry *entry = entry_of(l, root);
	struct view_layout layout;

	if (root != t) {
		if (!view_layout_in(l->graph, t->node, root->node, &layout))
			return err_set(err, ERR_INTERNAL, "a pending view without a layout");
		if (view_repeats(&layout))
			return torch_writes_expanded(err);
		node = view_write(
		    l->graph,
		    &(struct view_write){ root->node, &layout, node, l->host.line, l->host.column },
		    err);
		if (node < 0)
			return false;
	} else if (t->memory && tensor_repeats(t->memory)) {
		return torch_writes_expanded(err);
	}
	root->node = node;
	if (root->memory && !entry->dirty) {
		entry->dirty = true;
		l->n_dirty++;
	}
	return refresh(l, root, err);
}

bool lazy_layout(const struct lazy *l, struct vtensor *t, struct view_layout *out)
{
	/* What a copy has made, as some reshapes do, is a tensor of its own. */
	int base = entry_of(l, t)->view ? lazy_root(l, t)->node : t->node;

	return view_layout_in(l->graph, t->node, base, out);
}

/* Nobody else has what such a view is of, and that is no view itself: the view
 * may be all there is, if it lies as a tensor of its own would.  First made first, so that a
 * chain settles at once. */
static bool is_alone(const struct lazy *l, const struct lazy_entry *entry)
{
	const struct vtensor *of = entry->view->values[0].tensor;
	struct view_layout layout;

	return of->head.refs == 1 && !of->memory && lazy_root(l, entry->at) == of &&
	       lazy_layout(l, entry->at, &layout) && view_contiguous(l->graph, &layout) &&
	       sym_is(layout.offset, 0);
}

void lazy_views_settle(struct lazy *l)
{
	for (size_t i = 0; i < l->entries.len; i++) {
		struct lazy_entry *entry = &l->entries.at[i];

		if (entry->at && entry->view && is_alone(l, entry))
			lazy_view_drop(entry);
	}
}

bool lazy_view_replay(struct lazy *l, struct lazy_entry *entry, struct err *err)
{
	struct op_call c = call_of(entry->view, op_info(entry->view->op)->id);
	struct value made;

	if (!eager_run_op(l->eager, &c, &made, err))
		return false;
	tensor_unref(entry->at->memory);
	entry->at->memory = tensor_ref(made.tensor->memory);
	autograd_deferred_made(entry->at);
	value_unref(made);
	lazy_view_drop(entry);
	return true;
}
