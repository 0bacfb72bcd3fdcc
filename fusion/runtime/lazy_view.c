/* fusion/runtime/lazy_view.c -- views of tensors that have no elements yet.
 *
 * In the trace a view is a node like any other.  What it was made of is noted
 * beside it: when the elements are there, the view is made again over the same
 * memory.  A write to either one waits for that (lazy_trace.c).
 */
#include <stdlib.h>

#include "fusion/runtime/lazy.h"

bool lazy_view_note(struct lazy *l, struct value view, const struct eager_call *c)
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
	l->entries.at[view.tensor->input].view = v;
	return true;
}

/* The entries may move on to others' releases meanwhile: it is empty first. */
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

bool lazy_has_views(const struct lazy *l, const struct vtensor *t)
{
	if (t->owner != l)
		return false;
	for (size_t i = 0; i < l->entries.len; i++) {
		const struct lazy_entry *entry = &l->entries.at[i];

		if (entry->at && entry->view &&
		    (entry->at == t || entry->view->values[0].tensor == t))
			return true;
	}
	return false;
}

/* Last made first: a view of a view lets go of the one between. */
void lazy_views_settle(struct lazy *l)
{
	for (size_t i = l->entries.len; i-- > 0;) {
		struct lazy_entry *entry = &l->entries.at[i];

		if (entry->at && entry->view && entry->view->values[0].object->refs == 1)
			lazy_view_drop(entry);
	}
}

bool lazy_view_replay(struct lazy *l, struct lazy_entry *entry, struct err *err)
{
	struct lazy_view *v = entry->view;
	struct eager_call c = { .op = v->op,
				.name = op_info(v->op)->id,
				.values = v->values,
				.n = v->n,
				.kw = v->kw.n ? &v->kw : NULL };
	struct value made;

	if (!eager_run(l->eager, &c, &made, err))
		return false;
	tensor_unref(entry->at->memory);
	entry->at->memory = tensor_ref(made.tensor->memory);
	value_unref(made);
	lazy_view_drop(entry);
	return true;
}
