/* profiler/export/html.c -- a run in one file: no script, nothing that is fetched.
 *
 * What users wrote goes in as text alone.
 */
#include "profiler/export/html.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "fusion/base/vec.h"
#include "profiler/export/graph.h"

/* ---- curves over the points of a sweep, as inline SVG. ---- */

enum { WIDTH = 640, HEIGHT = 260, LEFT = 52, RIGHT = 108, TOP = 12, BOTTOM = 30, TICKS = 5 };

struct plotted_point {
	double n, mid, low, high;
};

struct series {
	const char *mode, *engine;
	VEC(struct plotted_point) points;
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
	const struct report_latency *latency = at->m->latency;
	struct report_interval ci = { NAN, NAN };
	struct plotted_point p = { .n = (double)at->n, .mid = NAN };
	struct series *s;

	if (c->is_speedup && at->paid) {
		p.mid = at->paid->speedup;
		ci = at->paid->speedup_ci;
	} else if (!c->is_speedup && latency) {
		p.mid = latency->median_us;
		ci = latency->ci_us;
	}
	if (!at->has_n || !isfinite(p.mid))
		return true;
	p.low = isnan(ci.low) ? p.mid : ci.low;
	p.high = isnan(ci.high) ? p.mid : ci.high;
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

static void draw_grid(const struct chart *c, struct out *o)
{
	double step = html_step(c->most, TICKS);

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
	const struct plotted_point *last = &s->points.at[s->points.len - 1];

	out_printf(o, "<polyline class=\"s c-%s d-%s\" points=\"", class,
		   s->engine ? "published" : class);
	for (size_t i = 0; i < s->points.len; i++)
		out_printf(o, "%.1f,%.1f ", x_of(c, s->points.at[i].n),
			   y_of(c, s->points.at[i].mid));
	out_puts(o, "\"/>\n");
	for (size_t i = 0; i < s->points.len; i++) {
		const struct plotted_point *p = &s->points.at[i];

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
	const char *title = is_speedup ? "Speedup over eager" : "Latency of a call, µs";
	struct chart c = { .is_speedup = is_speedup };
	struct out *o = &job->out;

	job_modes(job, gather, &c);
	if (c.series.len && c.most > 0) {
		place_labels(&c);
		out_printf(
		    o,
		    "<figure tabindex=\"0\"><figcaption>%s</figcaption><svg viewBox=\"0 0 %d %d\" "
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

/* Latencies over n, and speedups; nothing where there is no sweep. */
static void html_curves(struct export_job *job)
{
	if (!job->found || job->found->points.n < 2)
		return;
	out_puts(&job->out, "<section class=\"two\" aria-label=\"Curves\">\n");
	draw(job, false);
	draw(job, true);
	out_puts(&job->out, "</section>\n");
}

/* ---- captured graphs, drawn in the page of a run.
 *
 * Of one mode at one point: static where it was measured, else the first compiled one that
 * captured any; a sweep's last point.  The drawing is that of the svg export.
 */

enum { PAGE_GRAPHS = 12, PAGE_GRAPH_NODES = 400 };

struct chosen {
	const char *mode;
	bool has_n;
	int64_t n;
	struct report_graph_list graphs;
};

static bool has_nodes(const struct report_graph_list *graphs)
{
	for (size_t i = 0; i < graphs->n; i++)
		if (graphs->at[i].nodes.n > 0)
			return true;
	return false;
}

static bool choose(void *self, const struct job_mode *at)
{
	struct chosen *c = self;
	bool other = at->has_n != c->has_n || at->n != c->n;

	if (at->engine)
		return false; /* ours come first */
	/* The last point of the sweep; there static, where it is. */
	if (has_nodes(&at->m->graphs) && (!c->mode || other || strcmp(at->mode, "static") == 0))
		*c = (struct chosen){ at->mode, at->has_n, at->n, at->m->graphs };
	return true;
}

/* One graph, of its own heading; a table's row of text alone would not show its shape. */
static bool draw_one(struct export_job *job, const struct chosen *c, int64_t id, int place,
		     struct err *err)
{
	struct export_query query = *job->query;
	struct export_job of = *job;
	struct out *o = &job->out;
	struct drawn_graph g;
	bool ok;

	query.mode = c->mode;
	query.has_n = c->has_n;
	query.n = c->n;
	query.graph = id;
	of.query = &query;
	ok = graph_load(&of, &g, err);
	if (ok) {
		g.in_page = place + 1;
		out_printf(o, "<details%s><summary>", place == 0 ? " open" : "");
		out_xml(o, json_string_value(g.title));
		out_printf(o,
			   ", %zu nodes</summary>\n<div class=\"well\" role=\"region\" "
			   "aria-label=\"Graph %d\" tabindex=\"0\">\n",
			   g.nodes.len, place + 1);
		ok = graph_draw(&g, o, err);
		out_puts(o, "</div></details>\n");
	}
	graph_finish(&g);
	return ok;
}

/* The captured graphs of one mode, drawn. */
static bool html_graphs(struct export_job *job, struct err *err)
{
	struct chosen c = { 0 };
	struct out *o = &job->out;
	int drawn = 0, left = 0;
	bool ok = true;

	job_modes(job, choose, &c);
	if (!c.mode)
		return true;
	out_puts(o, "<section><h2>Graphs <span class=\"note\">as mode ");
	out_xml(o, c.mode);
	out_puts(o, " captured them, in boxes by module, loop and kernel</span></h2>\n");
	for (size_t i = 0; ok && i < c.graphs.n; i++) {
		const struct report_graph *graph = &c.graphs.at[i];

		if (graph->nodes.n == 0)
			continue;
		if (drawn == PAGE_GRAPHS || graph->nodes.n > PAGE_GRAPH_NODES)
			left++;
		else
			ok = draw_one(job, &c, graph_id(graph), drawn++, err);
	}
	if (left)
		out_printf(
		    o,
		    "<p class=\"note\">%d more %s not drawn here, which has at most %d of %d "
		    "nodes: the exports svg and dot have each.</p>\n",
		    left, left == 1 ? "is" : "are", PAGE_GRAPHS, PAGE_GRAPH_NODES);
	out_puts(o, "</section>\n");
	return ok;
}

static void fact(struct out *o, const char *name, const char *value)
{
	if (!value || !*value)
		return;
	out_puts(o, "<div><dt>");
	out_xml(o, name);
	out_puts(o, "</dt><dd>");
	out_xml(o, value);
	out_puts(o, "</dd></div>\n");
}

static void write_head(struct export_job *job)
{
	const struct report_exported_run *head = job->head;
	const struct report_device *device = job->found ? job->found->device : NULL;
	const struct report_workload *posted = job->posted;
	time_t at = (time_t)(head->created_ns / 1000000000);
	struct out *o = &job->out;
	char when[32] = "", part[64];
	struct tm tm;

	if (head->created_ns > 0 && gmtime_r(&at, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M UTC", &tm);
	out_puts(o, "<header class=\"run\"><h1>");
	out_xml(o, head->name);
	out_printf(o, " <span class=\"mono\">#%lld</span></h1>\n<dl>", (long long)job->run->id);
	fact(o, "Status", head->status);
	if (job->found && job->found->partial) {
		snprintf(part, sizeof(part), "%lld of the sweep's %lld points",
			 (long long)job->found->partial->measured,
			 (long long)job->found->partial->of);
		fact(o, "Measured", part);
	}
	fact(o, "Device", device ? device->name : head->device);
	fact(o, "Backend", device ? device->backend : NULL);
	fact(o, "Policy", posted ? posted->policy : NULL);
	fact(o, "Autocast", posted ? posted->autocast : NULL);
	fact(o, "Project", head->project);
	fact(o, "Commit", head->commit);
	fact(o, "Branch", head->branch);
	fact(o, "Run", when);
	fact(o, "Redacted", head->redacted ? "source, paths and names are left out" : NULL);
	out_puts(o, "</dl></header>\n");
}

static bool has_error(const struct export_job *job)
{
	return job->head->error && *job->head->error;
}

static void write_sentence(struct out *o, const struct report_sentence_part_list *sentence)
{
	out_puts(o, "<p class=\"verdict\">");
	for (size_t i = 0; i < sentence->n; i++) {
		const struct report_sentence_part *part = &sentence->at[i];
		bool interval = part->has.as && strcmp(part->as, "interval") == 0;

		out_puts(o, interval ? "<span class=\"ci\">" : "");
		out_xml(o, part->text);
		out_puts(o, interval ? "</span>" : "");
	}
	out_puts(o, "</p>\n");
}

static void write_nothing(struct export_job *job)
{
	const struct report_run *found = job->found;

	if ((found && found->import) || has_error(job))
		return;
	out_puts(&job->out, "<p class=\"verdict\">");
	if (!found)
		out_puts(&job->out, "This run has no report.");
	else if (found->trace || found->written.trace == REPORT_NULL)
		out_puts(&job->out, "A recording: what ran, and for how long.");
	else
		out_puts(&job->out, "Nothing was compared: there is no verdict without eager and "
				    "a compiled mode.");
	out_puts(&job->out, "</p>\n");
}

/* The answer first: what failed, the verdicts, or what an import holds. */
static void write_answer(struct export_job *job, const struct report_findings *found)
{
	const struct report_sentence_part_list *sentence;
	struct out *o = &job->out;

	if (has_error(job)) {
		out_puts(o, "<p class=\"verdict\">The run failed</p>\n<div class=\"well fault\">");
		out_xml(o, job->head->error);
		out_puts(o, "</div>\n");
	}
	if (!found)
		write_nothing(job);
	for (size_t i = 0; found && (sentence = findings_sentence(found, i)); i++)
		write_sentence(o, sentence);
}

/* *found NULL where there are no modes.  MEMORY. */
static bool find(struct export_job *job, const struct report_findings **found, struct err *err)
{
	const struct report_run *run = job->found;
	bool any = run && (run->modes.n || run->points.n);

	*found = any ? findings_make(run, &job->arena, err) : NULL;
	return *found || !any;
}

bool export_html(struct export_job *job, struct err *err)
{
	const struct report_findings *found;
	struct out *o = &job->out;
	char title[300];
	bool ok;

	if (!find(job, &found, err))
		return false;
	snprintf(title, sizeof(title), "%s #%lld", job->head->name, (long long)job->run->id);
	html_begin(o, title);
	write_head(job);
	write_answer(job, found);
	html_curves(job);
	html_results(job, found);
	ok = html_graphs(job, err) && html_device(job, err);
	html_end(o, job->run->version);
	return ok;
}
