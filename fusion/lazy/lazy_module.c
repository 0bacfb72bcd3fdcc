/* fusion/lazy/lazy_module.c -- whose call the nodes of a trace are part of. */
#include <stdlib.h>

#include "fusion/lazy/lazy.h"

void lazy_modules_begin(struct lazy_modules *m)
{
	m->off = m->quiet >= LAZY_QUIET_CALLS;
}

void lazy_modules_end(struct lazy_modules *m, bool compiled)
{
	if (compiled)
		m->quiet = 0;
	else if (m->quiet < LAZY_QUIET_CALLS)
		m->quiet++;
}

bool lazy_place(struct lazy *l)
{
	struct call_path now;
	struct buf words;
	bool ok;

	if (l->modules.off)
		return true;
	call_path_find(l->vm, NULL, &now);
	if (call_path_equal(&now, &l->modules.path))
		return true;
	buf_init(&words, 0);
	call_path_print(&now, &words);
	ok = !words.failed && graph_set_module(l->graph, words.len ? words.data : NULL);
	buf_finish(&words);
	l->modules.path = now;
	return ok;
}

/* Equal keys are equal nodes in equal order: what the trace needs, the program holds. */
bool lazy_adopt_modules(const struct lazy *l, struct lazy_program *p, const int *outputs,
			int n_outputs)
{
	bool *need;
	int at = 0;

	if (!p->unplaced || l->modules.off)
		return true;
	need = calloc((size_t)l->graph->n_nodes + 1, sizeof(*need));
	if (!need)
		return false;
	lazy_reach(l->graph, outputs, n_outputs, need);
	for (int id = 0; id < l->graph->n_nodes && at < p->captured->n_nodes; id++) {
		const char *module = l->graph->nodes[id]->module;

		if (!need[id])
			continue;
		if (!graph_set_module(p->captured, module))
			break;
		p->captured->nodes[at++]->module = p->captured->module;
	}
	free(need);
	p->unplaced = at < p->captured->n_nodes;
	return !p->unplaced;
}
