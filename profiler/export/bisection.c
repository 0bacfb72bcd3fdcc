/* profiler/export/bisection.c -- the log of a bisection as a page of one file. */
#include <math.h>
#include <stdio.h>

#include "profiler/export/html.h"
#include "profiler/numbers/numbers.h"

enum { WIDTH = 760, HEIGHT = 260, LEFT = 76, RIGHT = 16, TOP = 16, BOTTOM = 34, LINES = 6 };

/* A commit and its figure over GOOD's. */
struct place {
	double position, mid, low, high;
	const char *class; /* its colour */
};

struct bisect_chart {
	double low, high, commits;
};

static double x_of(const struct bisect_chart *c, double position)
{
	return LEFT + position / c->commits * (WIDTH - LEFT - RIGHT);
}

static double y_of(const struct bisect_chart *c, double ratio)
{
	return HEIGHT - BOTTOM - (ratio - c->low) / (c->high - c->low) * (HEIGHT - TOP - BOTTOM);
}

static void draw_place(struct out *o, const struct bisect_chart *c, const struct place *p)
{
	double x = x_of(c, p->position);

	if (!isfinite(p->mid))
		return;
	out_printf(o,
		   "<line class=\"w %s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>"
		   "<circle class=\"w %s\" fill=\"none\" cx=\"%.1f\" cy=\"%.1f\" r=\"4\"/>\n",
		   p->class, x, x, y_of(c, p->low), y_of(c, p->high), p->class, x, y_of(c, p->mid));
}

static struct place place_of(const struct report_bisect_step *s)
{
	return (struct place){ .position = (double)s->position,
			       .mid = s->ratio,
			       .low = s->ratio_ci.low,
			       .high = s->ratio_ci.high,
			       .class = strcmp(s->verdict, "BAD") == 0    ? "c-dynamic"
					: strcmp(s->verdict, "GOOD") == 0 ? "c-graphs"
									  : "c-other" };
}

static void widen(struct bisect_chart *c, const struct place *p)
{
	if (!isfinite(p->mid))
		return;
	c->low = fmin(c->low, p->low);
	c->high = fmax(c->high, p->high);
}

static void draw_grid(struct out *o, const struct bisect_chart *c)
{
	double step = html_step(c->high - c->low, LINES);

	for (double i = ceil(c->low / step); i * step <= c->high; i++) {
		double v = i * step;
		char text[NUMBER_BYTES];

		number_plain(text, v);
		out_printf(o,
			   "<line class=\"grid\" x1=\"%d\" x2=\"%d\" y1=\"%.1f\" y2=\"%.1f\"/>"
			   "<text x=\"%d\" y=\"%.1f\" text-anchor=\"end\">%sx</text>\n",
			   LEFT, WIDTH - RIGHT, y_of(c, v), y_of(c, v), LEFT - 6, y_of(c, v) + 4,
			   text);
	}
	out_printf(o, "<text x=\"%d\" y=\"%d\">GOOD</text>", LEFT, HEIGHT - 10);
	out_printf(o,
		   "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">BAD, %.0f commits later</text>\n",
		   WIDTH - RIGHT, HEIGHT - 10, c->commits);
}

/* Commits from left to right, their figures over GOOD's from below. */
static void draw(struct out *o, const struct report_bisect *log)
{
	const struct place ends[] = {
		{ 0, 1, 1, 1, "c-graphs" },
		{ (double)log->commits, log->ratio, log->ratio_ci.low, log->ratio_ci.high,
		  "c-dynamic" },
	};
	struct bisect_chart c = { .low = 1, .high = 1, .commits = (double)log->commits };

	widen(&c, &ends[1]);
	for (size_t i = 0; i < log->steps.n; i++) {
		struct place p = place_of(&log->steps.at[i]);

		widen(&c, &p);
	}
	c.low -= 0.1 * (c.high - c.low) + 0.005;
	c.high += 0.1 * (c.high - c.low) + 0.005;
	out_printf(
	    o,
	    "<figure style=\"margin-top:16px\"><figcaption>Each commit's figure over that of "
	    "GOOD</figcaption><svg class=\"fit\" style=\"max-width:760px\" viewBox=\"0 0 %d %d\" "
	    "role=\"img\" "
	    "aria-label=\"Ratios of the commits; the "
	    "table below has them.\">\n",
	    WIDTH, HEIGHT);
	draw_grid(o, &c);
	draw_place(o, &c, &ends[0]);
	draw_place(o, &c, &ends[1]);
	for (size_t i = 0; i < log->steps.n; i++) {
		struct place p = place_of(&log->steps.at[i]);

		draw_place(o, &c, &p);
	}
	out_puts(o, "</svg></figure>\n");
}

/* What is said of it beside its name. */
static void put_commit(struct out *o, const struct report_bisect_commit *c)
{
	out_puts(o, "<td class=\"wrap\">");
	out_xml(o, c->subject);
	out_puts(o, "</td><td>");
	out_xml(o, c->author);
	out_printf(o, "</td><td class=\"r\">%.10s</td>", c->date);
}

static void put_row(struct out *o, const char *what, const struct report_bisect_commit *commit,
		    const struct report_bisect_step *s, const struct interval *ratio)
{
	char text[4 * NUMBER_BYTES];

	number_interval(text, ratio->mid, (struct report_interval){ ratio->low, ratio->high }, "x");
	out_printf(o, "<tr><th scope=\"row\">%s</th><td class=\"mono\">%.12s</td><td>", what,
		   commit->id);
	out_xml(o, s ? s->verdict : "");
	if (s && s->why) {
		out_puts(o, ": ");
		out_xml(o, s->why);
	}
	out_printf(o, "</td><td class=\"r\">%s</td><td class=\"r\">",
		   isfinite(ratio->mid) ? text : "");
	if (s)
		out_printf(o, "%zu", s->rounds->good.n);
	out_puts(o, "</td>");
	put_commit(o, commit);
	out_puts(o, "</tr>\n");
}

static void put_steps(struct out *o, const struct report_bisect *log)
{
	struct interval bad = { log->ratio_ci.low, log->ratio, log->ratio_ci.high };

	out_puts(o, "<section><h2>Steps</h2><div class=\"scroll\" role=\"region\" "
		    "aria-label=\"Steps, table\" tabindex=\"0\"><table><thead><tr><th "
		    "scope=\"col\">Step</th>"
		    "<th scope=\"col\">Commit</th><th scope=\"col\">Verdict</th><th scope=\"col\" "
		    "class=\"r\">Of GOOD's</th><th scope=\"col\" class=\"r\">Rounds</th><th "
		    "scope=\"col\">Subject</th><th scope=\"col\">Author</th><th scope=\"col\" "
		    "class=\"r\">Date</th></tr></thead><tbody>\n");
	put_row(o, "GOOD", log->good, NULL, &(struct interval){ NAN, NAN, NAN });
	put_row(o, "BAD", log->bad, NULL, &bad);
	for (size_t i = 0; i < log->steps.n; i++) {
		const struct report_bisect_step *s = &log->steps.at[i];
		struct interval ratio = { s->ratio_ci.low, s->ratio, s->ratio_ci.high };
		char number[24];

		snprintf(number, sizeof(number), "%zu", i + 1);
		put_row(o, number, s->commit, s, &ratio);
	}
	out_puts(o, "</tbody></table></div></section>\n");
}

static void put_fact(struct out *o, const char *name, const char *value)
{
	if (!value)
		return;
	out_printf(o, "<div><dt>%s</dt><dd class=\"mono\">", name);
	out_xml(o, value);
	out_puts(o, "</dd></div>");
}

static void put_head(struct out *o, const struct report_bisect *log)
{
	const struct report_bisect_request *r = log->request;

	out_puts(o, "<header class=\"run\"><h1>Bisection of ");
	out_xml(o, log->repository);
	out_puts(o, "</h1><dl>");
	put_fact(o, "workload", r->workload);
	put_fact(o, "mode", r->mode);
	if (r->command.n) {
		out_puts(o, "<div><dt>command</dt><dd class=\"mono\">");
		for (size_t i = 0; i < r->command.n; i++) {
			out_puts(o, i ? " " : "");
			out_xml(o, r->command.at[i]);
		}
		out_puts(o, "</dd></div>");
	}
	put_fact(o, "metric", r->metric);
	put_fact(o, "build", r->build);
	put_fact(o, "machine", log->machine);
	out_printf(o,
		   "<div><dt>margin</dt><dd>%g %%</dd></div></dl></header>\n<p class=\"verdict\">",
		   100 * r->margin);
	out_xml(o, log->sentence ? log->sentence
				 : "It has not ended: `breakeven bisect --resume` goes on.");
	out_puts(o, "</p>\n");
}

bool export_bisection(const struct report_bisect *log, const char *version, export_put_fn *put,
		      void *self, struct err *err)
{
	struct out o;

	if (!out_init(&o, put, self, false, err))
		return false;
	html_begin(&o, "Bisection");
	put_head(&o, log);
	if (log->has.ratio)
		draw(&o, log);
	put_steps(&o, log);
	html_end(&o, version);
	return out_finish(&o, true, err);
}
