/* fusion/capture/sources/guards_symbols.c -- the symbols of an entry, as a person names them. */
#include "fusion/capture/sources/guards.h"

bool guards_symbols(const struct guards *g, struct arena *arena, struct fusion_symbol **out, int *n)
{
	struct fusion_symbol *at = ARENA_ARRAY(arena, struct fusion_symbol, (size_t)g->n_vars + 1);

	*out = at;
	*n = 0;
	if (!at)
		return false;
	for (int i = 0; i < g->n_vars; i++) {
		const struct guard_home *home = &g->homes[i];
		const char *name = home->slot < 0 ? NULL : g->slots->at[home->slot].name;

		if (!name) /* nothing reads it */
			continue;
		at[*n].name = arena_printf(arena, "s%d", i);
		at[*n].source = home->dim < 0 ? name
					      : arena_printf(arena, "%s.size(%d)", name, home->dim);
		at[*n].range = home->dim < 0 ? NULL : arena_printf(arena, "2 <= s%d", i);
		if (!at[*n].name || !at[*n].source)
			return false;
		(*n)++;
	}
	return true;
}
