/* profiler/findings/doubts.c -- what makes figures doubtful, and modes whose values are wrong. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/findings/maker.h"

enum { MOST_POINTS = 12 }; /* named one by one */

/* ---- warnings: what several modes and points have in common is one ---- */

/* ", 30" of the points at which a mode has that note. */
static const char *points_of(struct maker *m, const char *mode, const char *note)
{
	const char *list = "";

	for (size_t i = 0; i < m->n_points; i++) {
		const struct report_mode *at = report_get(m->points[i].modes, mode);
		char n[NUMBER_BYTES];

		if (!at || !at->latency || !at->latency->has.noise ||
		    strcmp(at->latency->noise, note) != 0 || !m->points[i].has.n)
			continue;
		number_plain(n, m->points[i].n);
		list = maker_text(m, "%s%s%s", list, *list ? ", " : "", n);
	}
	return list;
}

/* Adds a mode to the warning of that text at those points, or makes one. */
static void add_warning(struct maker *m, struct report_warning_list *all, const char *mode,
			const char *note, const char *points)
{
	const char *place = *points ? maker_text(m, " at n = %s.", points) : ".";
	size_t len = strlen(place);
	struct report_warning *w;

	for (size_t i = 0; i < all->n; i++) {
		size_t title = strlen(all->at[i].title);

		w = &all->at[i];
		if (strcmp(w->text, note) != 0 || title < len ||
		    strcmp(w->title + title - len, place) != 0)
			continue;
		w->title = maker_text(m, "%.*s, %s%s", (int)(title - len), w->title, mode, place);
		return;
	}
	w = &all->at[all->n++];
	REPORT_SET(w, title, maker_text(m, "%s%s", mode, place));
	REPORT_SET(w, text, note);
}

/* Whether the mode had that note at an earlier point: then it is told. */
static bool noted_before(const struct maker *m, size_t point, const char *mode, const char *note)
{
	for (size_t i = 0; i < point; i++) {
		const struct report_mode *at = report_get(m->points[i].modes, mode);

		if (at && at->latency && at->latency->has.noise &&
		    strcmp(at->latency->noise, note) == 0)
			return true;
	}
	return false;
}

static struct report_warning_list find_warnings(struct maker *m)
{
	struct report_warning_list all = { 0 };
	size_t most = 0;

	for (size_t i = 0; i < m->n_points; i++)
		most += m->points[i].modes.n;
	all.at = report_new_warning(most, m->wording.arena);
	m->wording.failed |= !all.at;
	for (size_t i = 0; !m->wording.failed && i < m->n_points; i++)
		for (size_t k = 0; k < m->points[i].modes.n; k++) {
			const char *mode = m->points[i].modes.keys[k];
			const struct report_latency *l = m->points[i].modes.at[k].latency;

			if (l && l->has.noise && *l->noise && !noted_before(m, i, mode, l->noise))
				add_warning(m, &all, mode, l->noise, points_of(m, mode, l->noise));
		}
	return all;
}

/* ---- values that are wrong ---- */

/* A mode at a point: what of it is wrong, if anything. */
struct wrong_at {
	const char *mode, *text;
	const struct report_difference *where;
	double over;
	bool has_n;
	double n;
};

struct wrong_list {
	struct report_wrong_mode_list all;
	const char **modes; /* of `all` */
	int *also;          /* other points of each */
};

static bool wrong_begin(struct maker *m, struct wrong_list *w, size_t most)
{
	w->all = (struct report_wrong_mode_list){ report_new_wrong_mode(most, m->wording.arena),
						  0 };
	w->modes = ARENA_ARRAY(m->wording.arena, const char *, most + 1);
	w->also = ARENA_ARRAY(m->wording.arena, int, most + 1);
	m->wording.failed |= !w->all.at || !w->modes || !w->also;
	return !m->wording.failed;
}

static void add_value(struct maker *m, struct report_wrong_mode *to, const char *name, double value)
{
	struct report_named_value *v = &to->values.at[to->values.n++];

	REPORT_SET(v, name, name);
	REPORT_SET(v, value, maker_text(m, "%.9g", value));
}

/* The values that differ, side by side; none where structures differ. */
static void add_values(struct maker *m, struct report_wrong_mode *to, const struct wrong_at *at)
{
	char over[NUMBER_BYTES];

	REPORT_SET(
	    to, values,
	    (struct report_named_value_list){ report_new_named_value(4, m->wording.arena), 0 });
	m->wording.failed |= !to->values.at;
	if (m->wording.failed || !at->where || !at->where->has.ours)
		return;
	add_value(m, to, "This mode", at->where->ours);
	add_value(m, to, "Eager", at->where->eager);
	if (at->where->has.reference)
		add_value(m, to, "float64", at->where->reference);
	if (!isfinite(at->over))
		return;
	add_value(m, to, "Beyond what is allowed", at->over);
	number_short(over, at->over);
	to->values.at[to->values.n - 1].value = maker_text(m, "%s times", over);
}

static void add_wrong(struct maker *m, struct wrong_list *w, const char *whose,
		      const struct wrong_at *at)
{
	char n[NUMBER_BYTES] = "";
	size_t i = 0;

	if (at->has_n)
		number_plain(n, at->n);
	while (i < w->all.n && strcmp(w->modes[i], at->mode) != 0)
		i++;
	if (i < w->all.n) {
		struct report_wrong_mode *to = &w->all.at[i];

		if (w->also[i]++ < MOST_POINTS)
			to->text = maker_text(m, "%s%s%s", to->text,
					      w->also[i] == 1 ? " Also at n = " : ", ", n);
		else if (w->also[i] == MOST_POINTS + 1)
			to->text = maker_text(m, "%s, ...", to->text);
		return;
	}
	w->modes[w->all.n++] = at->mode;
	REPORT_SET(&w->all.at[i], place,
		   at->has_n ? maker_text(m, "%s%s at n = %s", whose, at->mode, n)
			     : maker_text(m, "%s%s", whose, at->mode));
	REPORT_SET(&w->all.at[i], text, maker_text(m, "%s.", at->text));
	add_values(m, &w->all.at[i], at);
}

/* " Also at n = 5, 30" ends as a sentence does. */
static struct report_wrong_mode_list wrong_end(struct maker *m, struct wrong_list *w)
{
	for (size_t i = 0; i < w->all.n; i++)
		if (w->also[i])
			w->all.at[i].text = maker_text(m, "%s.", w->all.at[i].text);
	return w->all;
}

static struct report_wrong_mode_list find_wrong(struct maker *m)
{
	struct wrong_list w = { 0 };
	size_t most = 0;

	for (size_t i = 0; i < m->n_points; i++)
		most += m->points[i].modes.n;
	wrong_begin(m, &w, most);
	for (size_t i = 0; !m->wording.failed && i < m->n_points; i++)
		for (size_t k = 0; k < m->points[i].modes.n; k++) {
			const struct report_mode *of = &m->points[i].modes.at[k];
			const struct report_agreement *a = of->agreement;
			struct wrong_at at = { m->points[i].modes.keys[k],
					       of->has.disagreement
						   ? of->disagreement
						   : "its values differ from eager's",
					       a ? a->where : NULL,
					       a && a->has.over_allowed ? a->over_allowed : NAN,
					       m->points[i].has.n,
					       m->points[i].n };

			if (of->has.agrees && !of->agrees)
				add_wrong(m, &w, "", &at);
		}
	return m->wording.failed ? w.all : wrong_end(m, &w);
}

static void wrong_torch_modes(struct maker *m, struct wrong_list *w,
			      const struct report_torch_mode_map *modes, bool has_n, double n)
{
	for (size_t i = 0; i < modes->n; i++) {
		const struct report_torch_values *v = modes->at[i].values;
		struct wrong_at at = { modes->keys[i], "nothing could be compared",
				       NULL,           NAN,
				       has_n,          n };

		if (!v || v->agree)
			continue;
		at.text = v->has.first ? v->first : at.text;
		add_wrong(m, w, "PyTorch's ", &at);
	}
}

static struct report_wrong_mode_list find_wrong_torch(struct maker *m)
{
	const struct report_torch *t = m->run->engines ? m->run->engines->torch : NULL;
	struct wrong_list w = { 0 };
	size_t most = t ? t->modes.n : 0;

	for (size_t i = 0; t && i < t->points.n; i++)
		most += t->points.at[i].modes.n;
	if (!wrong_begin(m, &w, most) || !t)
		return w.all;
	if (!t->points.n)
		wrong_torch_modes(m, &w, &t->modes, false, NAN);
	for (size_t i = 0; i < t->points.n; i++)
		wrong_torch_modes(m, &w, &t->points.at[i].modes, t->points.at[i].has.n,
				  t->points.at[i].n);
	return m->wording.failed ? w.all : wrong_end(m, &w);
}

void put_doubts(struct maker *m, struct report_findings *out)
{
	REPORT_SET(out, warnings, find_warnings(m));
	REPORT_SET(out, wrong_modes, find_wrong(m));
	REPORT_SET(out, wrong_torch, find_wrong_torch(m));
}
