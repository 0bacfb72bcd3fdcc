/* profiler/export/html_chart.c -- curves over the points of a sweep, as inline SVG. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/vec.h"
#include "profiler/export/html.h"

enum { WIDTH = 640, HEIGHT = 260, LEFT = 52, RIGHT = 108, TOP = 12, BOTTOM = 30, TICKS = 5 };

struct point {
	double n, mid, low, high;
};

struct series {
	const char *mode, *engine;
	VEC(struct point) points;
	double label_y;
};

struct chart {
	VEC(struct series) series;
	bool is_speedup;
	double n0, n1, most;
};

static struct series *series_of(struct chart *c, const struct job_mode *at)
{
	for (size_t i = 0; i < c->series.len; i++) {
		struct series *s = &c->series.at[i];

		if (strcmp(s->mode, at->mode) == 0 && !s->engine == !at->engine)
			return s;
	}
	if (!VEC_PUSH(&c->series, (struct series){ .mode = at->mode, .engine = at->engine }))
		return NULL;
	return &c->series.at[c->series.len - 1];
}

static bool gather(void *self, const struct job_mode *at)
{
	struct chart *c = self;
	const json_t *latency = json_object_get(at->report, "latency");
	const json_t *of = c->is_speedup ? at->break_even : latency;
	const json_t *mid = json_object_get(of, c->is_speedup ? "speedup" : "median_us");
	const json_t *ci = json_object_get(of, c->is_speedup ? "speedup_ci" : "ci_us");
	struct point p = { .n = (double)json_integer_value(at->n), .mid = json_number_value(mid) };
	struct series *s;

	if (!json_is_integer(at->n) || !json_is_number(mid) || !isfinite(p.mid))
		return true;
	p.low = json_is_number(json_array_get(ci, 0)) ? json_number_value(json_array_get(ci, 0))
						      : p.mid;
	p.high = json_is_number(json_array_get(ci, 1)) ? json_number_value(json_array_get(ci, 1))
						       : p.mid;
	s = series_of(c, at);
	if (!s || !VEC_PUSH(&s->points, p))
		return false;
	if (c->most == 0) {
		c->n0 = c->n1 = p.n;
	}
	c->n0 = p.n < c->n0 ? p.n : c->n0;
	c->n1 = p.n > c->n1 ? p.n : c->n1;
	c->most = fmax(c->most, fmax(p.mid, p.high));
	return true;
}

static double x_of(const struct chart *c, double n)
{
	double span = c->n1 > c->n0 ? c->n1 - c->n0 : 1;

	return LEFT + (n - c->n0) / span * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct chart *c, double value)
{
	return HEIGHT - BOTTOM - value / c->most * (HEIGHT - TOP - BOTTOM);
}

/* 1, 2 or 5 times a power of ten, so that about TICKS of them fit. */
static double step_of(double most)
{
	double raw = most / TICKS, power = pow(10, floor(log10(raw)));

	return raw / power <= 1   ? power
	       : raw / power <= 2 ? 2 * power
	       : raw / power <= 5 ? 5 * power
				  : 10 * power;
}

static void draw_grid(const struct chart *c, struct out *o)
{
	double step = step_of(c->most);

	for (int i = 0; i * step <= c->most; i++) {
		double v = i * step;

		out_printf(o,
			   "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
			   "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%.6g%s</text>\n",
			   LEFT, WIDTH - RIGHT, y_of(c, v), y_of(c, v), LEFT - 6, y_of(c, v) + 4, v,
			   c->is_speedup ? "x" : "");
	}
	if (c->is_speedup && c->most >= 1)
		out_printf(o, "<line class=\"one\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>\n",
			   LEFT, WIDTH - RIGHT, y_of(c, 1), y_of(c, 1));
	out_printf(o, "<text x=\"%d\" y=\"%d\">n = %.10g</text>", LEFT, HEIGHT - 10, c->n0);
	if (c->n1 > c->n0)
		out_printf(o, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%.10g</text>\n",
			   WIDTH - RIGHT, HEIGHT - 10, c->n1);
}

static const char *class_of(const char *mode)
{
	static const char *const modes[] = {
		"eager", "lazy", "static", "dynamic", "auto", "graphs"
	};

	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++)
		if (strcmp(modes[i], mode) == 0)
			return modes[i];
	return "other";
}

static void draw_series(const struct chart *c, const struct series *s, struct out *o)
{
	const char *class = class_of(s->mode);
	const struct point *last = &s->points.at[s->points.len - 1];

	out_printf(o, "<polyline class=\"s c-%s d-%s\" points=\"", class,
		   s->engine ? "published" : class);
	for (size_t i = 0; i < s->points.len; i++)
		out_printf(o, "%.1f,%.1f ", x_of(c, s->points.at[i].n),
			   y_of(c, s->points.at[i].mid));
	out_puts(o, "\"/>\n");
	for (size_t i = 0; i < s->points.len; i++) {
		const struct point *p = &s->points.at[i];

		out_printf(o,
			   "<line class=\"w c-%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" "
			   "y2=\"%.1f\"/>",
			   class, x_of(c, p->n), x_of(c, p->n), y_of(c, p->low), y_of(c, p->high));
	}
	out_printf(o, "\n<text x=\"%.1f\" y=\"%.1f\">", x_of(c, last->n) + 8, s->label_y);
	out_xml(o, s->mode);
	if (s->engine) {
		out_puts(o, ", ");
		out_xml(o, s->engine);
	}
	out_puts(o, "</text>\n");
}

static int by_label(const void *a, const void *b)
{
	const struct series *x = a, *y = b;

	return (x->label_y > y->label_y) - (x->label_y < y->label_y);
}

/* Names at the ends of their lines, none over another. */
static void place_labels(struct chart *c)
{
	double least = TOP + 4;

	for (size_t i = 0; i < c->series.len; i++) {
		struct series *s = &c->series.at[i];

		s->label_y = y_of(c, s->points.at[s->points.len - 1].mid) + 4;
	}
	qsort(c->series.at, c->series.len, sizeof(*c->series.at), by_label);
	for (size_t i = 0; i < c->series.len; i++) {
		struct series *s = &c->series.at[i];

		s->label_y = s->label_y < least ? least : s->label_y;
		least = s->label_y + 13;
	}
	/* What was pushed below the axis pushes those above it up. */
	least = HEIGHT - BOTTOM + 4;
	for (size_t i = c->series.len; i-- > 0;) {
		struct series *s = &c->series.at[i];

		s->label_y = s->label_y > least ? least : s->label_y;
		least = s->label_y - 13;
	}
}

static void draw(struct export_job *job, bool is_speedup)
{
	const char *title = is_speedup ? "Speedup over eager" : "Latency of a call, us";
	struct chart c = { .is_speedup = is_speedup };
	struct out *o = &job->out;

	job_modes(job, gather, &c);
	if (c.series.len && c.most > 0) {
		place_labels(&c);
		out_printf(o,
			   "<figure><figcaption>%s</figcaption><svg viewBox=\"0 0 %d %d\" "
			   "role=\"img\" aria-label=\"%s over n; the table below has the "
			   "figures\">\n",
			   title, WIDTH, HEIGHT, title);
		draw_grid(&c, o);
		for (size_t i = 0; i < c.series.len; i++)
			draw_series(&c, &c.series.at[i], o);
		out_puts(o, "</svg></figure>\n");
	}
	for (size_t i = 0; i < c.series.len; i++)
		VEC_FREE(&c.series.at[i].points);
	VEC_FREE(&c.series);
}

void html_curves(struct export_job *job)
{
	if (json_array_size(json_object_get(job->report, "points")) < 2)
		return;
	out_puts(&job->out, "<section class=\"two\" aria-label=\"Curves\">\n");
	draw(job, false);
	draw(job, true);
	out_puts(&job->out, "</section>\n");
}
