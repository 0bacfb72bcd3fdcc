/* server/queue/changes.c -- looks for changes when there are new runs: rows of the store for
 * profiler/history, and what it finds as rows. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/history/changes.h"
#include "server/queue/queue.h"

static double distance(const struct changed_figure *f)
{
	return f->step.change.mid > 0 ? fabs(log(f->step.change.mid)) : 0;
}

/* What decides comes first, the farthest at the head. */
static int by_weight(const void *a, const void *b)
{
	const struct changed_figure *x = a, *y = b;
	double d = distance(y) - distance(x);

	if (x->decides != y->decides)
		return x->decides ? -1 : 1;
	return (d > 0) - (d < 0);
}

/* One with the change's own verdict goes to the head. */
static void put_headline_first(struct change_at *c)
{
	for (int i = 0; i < c->n_figures; i++)
		if (c->figures[i].decides && strcmp(c->figures[i].verdict, c->verdict) == 0) {
			struct changed_figure head = c->figures[i];

			memmove(&c->figures[1], &c->figures[0], (size_t)i * sizeof(head));
			c->figures[0] = head;
			return;
		}
}

static struct change_span span(const struct interval *x)
{
	return (struct change_span){ x->low, x->mid, x->high };
}

static struct change_step_row row_of(const struct changed_figure *f)
{
	const struct series_step *s = &f->step;
	const struct change_figure *runs = f->series;

	return (struct change_step_row){ .metric = f->metric->name,
					 .mode = f->mode,
					 .n = f->n,
					 .verdict = f->verdict,
					 .from_run = runs[s->from].run,
					 .before_run = runs[s->at - 1].run,
					 .run = runs[s->at].run,
					 .to_run = runs[s->to - 1].run,
					 .earliest = runs[s->earliest].run,
					 .latest = runs[s->latest].run,
					 .runs_before = s->at - s->from,
					 .runs_after = s->to - s->at,
					 .ended = f->ended,
					 .old = span(&s->before),
					 .new = span(&s->after),
					 .ratio = span(&s->change) };
}

static bool put_rows(struct change_at *c, struct arena *arena, struct change_row *to)
{
	*to = (struct change_row){ .before = c->before, .run = c->run, .verdict = c->verdict };
	to->steps = ARENA_ARRAY(arena, struct change_step_row, (size_t)c->n_figures + 1);
	if (!to->steps)
		return false;
	qsort(c->figures, (size_t)c->n_figures, sizeof(*c->figures), by_weight);
	put_headline_first(c);
	for (int i = 0; i < c->n_figures; i++)
		to->steps[to->n_steps++] = row_of(&c->figures[i]);
	return true;
}

/* change_find_fn */
static bool find(const struct scope_figure *figures, int n, struct arena *arena,
		 struct change_list *out, struct err *err)
{
	struct change_figure *series = ARENA_ARRAY(arena, struct change_figure, (size_t)n + 1);
	struct changes_found found = { 0 };
	bool ok = series != NULL;

	for (int i = 0; ok && i < n; i++) {
		const struct run_figure *f = &figures[i].figure;

		series[i] = (struct change_figure){ f->metric,
						    f->mode,
						    f->n,
						    figures[i].run,
						    { f->lo, f->value, f->hi },
						    figures[i].source_hash };
	}
	ok = ok && changes_find(series, n, arena, &found);
	out->at = ok ? ARENA_ARRAY(arena, struct change_row, (size_t)found.n + 1) : NULL;
	for (int i = 0; out->at && i < found.n; i++)
		if (!put_rows(&found.at[i], arena, &out->at[out->n++]))
			out->at = NULL;
	return out->at || err_set(err, ERR_MEMORY, "out of memory for changes");
}

bool changes_catch_up(struct db *db, const char *name, int most, bool *left, struct err *err)
{
	bool more;

	if (!figures_catch_up(db, name, most, left, err) ||
	    !db_changes_look(db, name, most, find, &more, err))
		return false;
	*left |= more;
	return true;
}
