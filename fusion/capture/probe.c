/* fusion/capture/probe.c -- would a call find an entry?  Nothing is run. */
#include <string.h>

#include "fusion/capture/capture.h"

enum { MOST_ARGS = 256 };

/* The first guard that does not hold, of the entry used last.  Behind an entry that
 * ends at a break others follow, for values that are not there yet. */
static enum session_found look(struct point *p, const struct roots *roots, struct buf *why)
{
	for (int i = 0; i < p->n_entries; i++) {
		struct guards *g = &p->entries[i]->guards;
		int failed = guards_check(g, roots);

		if (failed >= g->n)
			return entry_returns(p->entries[i]) ? SESSION_FOUND : SESSION_UNKNOWN;
		if (i == 0)
			guards_reason(g, failed, roots, why);
	}
	return SESSION_MISSED;
}

enum session_found session_probe(struct session *s, const struct value *args, int n,
				 struct buf *why)
{
	const struct function *f = s->function.kind == VALUE_FUNCTION ? s->function.function : NULL;
	int self = s->self.kind != VALUE_UNSET;
	struct value all[MOST_ARGS];
	struct roots roots = { .locals = all, .vm = s->vm };

	if (!f || !s->start || s->start->skip || s->start->n_entries == 0 || n + self > MOST_ARGS ||
	    n + self != f->code->n_positional || f->code->has_varargs || f->code->has_kwargs ||
	    f->code->n_keyword_only > 0)
		return SESSION_UNKNOWN;
	if (self)
		all[0] = s->self;
	memcpy(all + self, args, sizeof(*args) * (size_t)n);
	roots.first_cell = f->code->n_own_cells;
	if (f->closure)
		roots.cells = f->closure->at;
	return look(s->start, &roots, why);
}
