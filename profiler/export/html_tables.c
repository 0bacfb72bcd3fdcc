/* profiler/export/html_tables.c -- what stands below the answer: tables, and the source. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/export/html.h"
#include "profiler/export/kernels.h"
#include "profiler/fields/breaks.h"
#include "profiler/findings/sentence.h"
#include "profiler/numbers/numbers.h"
#include "profiler/profiler.h"

enum { MOST_ROWS = 500 };

/* <td class=CLASS>, with the text in it; NULL: empty. */
static void text_cell(struct out *o, const char *class, const char *text)
{
	out_printf(o, "<td%s%s%s>", *class ? " class=\"" : "", class, *class ? "\"" : "");
	out_xml(o, text);
	out_puts(o, "</td>");
}

/* What is counted is whole. */
static void put_count(struct out *o, int64_t count)
{
	char text[NUMBER_BYTES];

	number_print(text, (double)count, 1);
	out_puts(o, text);
}

static void count_cell(struct out *o, bool has, int64_t count)
{
	out_puts(o, "<td class=\"r\">");
	if (has)
		put_count(o, count);
	out_puts(o, "</td>");
}

/* NAN: empty. */
static void number_cell(struct out *o, double x)
{
	char text[NUMBER_BYTES] = "";

	if (isfinite(x))
		number_short(text, x);
	out_printf(o, "<td class=\"r\">%s</td>", text);
}

/* "12.3 (12.1-12.4)": a figure with its interval, under one head; NULL: empty. */
static void figure_cell(struct out *o, const struct report_figure *f)
{
	out_printf(o, "<td class=\"r\">%s", f ? f->text : "");
	if (f && f->low)
		out_printf(o, " <span class=\"ci\">(%s–%s)</span>", f->low, f->high);
	out_puts(o, "</td>");
}

/* <section> with a heading, its note and a table's head: names split by '|', "r:" in
 * front of those that are numbers. */
static void begin_table(struct out *o, const char *title, const char *note, const char *heads)
{
	out_printf(o, "<section aria-label=\"%s\"><h2>%s</h2>", title, title);
	if (*note) { /* of any length */
		out_puts(o, "<p class=\"note\">");
		out_puts(o, note);
		out_puts(o, "</p>");
	}
	out_printf(o,
		   "\n<div class=\"scroll\" role=\"region\" aria-label=\"%s, table\" "
		   "tabindex=\"0\"><table><thead><tr>",
		   title);
	for (size_t n; *heads; heads += n + (heads[n] == '|')) {
		bool right = strncmp(heads, "r:", 2) == 0;

		n = strcspn(heads, "|");
		out_printf(o, "<th scope=\"col\"%s>%.*s</th>", right ? " class=\"r\"" : "",
			   (int)n - 2 * right, heads + 2 * right);
	}
	out_puts(o, "</tr></thead>\n<tbody>\n");
}

static void end_table(struct out *o)
{
	out_puts(o, "</tbody></table></div></section>\n");
}

static void row_head(struct out *o, const char *text)
{
	out_puts(o, "<tr><th scope=\"row\">");
	out_xml(o, text);
	out_puts(o, "</th>");
}

/* ---- modes ---- */

static void verdict_cell(struct out *o, const char *verdict)
{
	out_puts(o, "<td>");
	if (verdict) {
		out_puts(o, "<span class=\"chip ");
		out_xml(o, verdict);
		out_puts(o, "\">");
		out_xml(o, verdict);
		out_puts(o, "</span>");
	}
	out_puts(o, "</td>");
}

struct modes {
	struct out *out;
	const struct report_findings *found;
};

/* What is said of a mode at a point; n NULL: of a run without a sweep. */
static const struct report_findings_mode *said_of(const struct report_findings_point_list *points,
						  const int64_t *n, const char *mode)
{
	for (size_t i = 0; i < points->n; i++)
		if (points->at[i].has.n == (n != NULL) && (!n || points->at[i].n == (double)*n))
			return report_get(points->at[i].modes, mode);
	return NULL;
}

static bool mode_row(void *self, const struct job_mode *at)
{
	static const struct report_findings_mode nothing;
	const struct modes *modes = self;
	const struct report_findings_mode *said = said_of(at->engine ? &modes->found->torch
								     : &modes->found->points,
							  at->has_n ? &at->n : NULL, at->mode);
	const struct report_mode *m = at->m;
	const struct report_split *split = m->split_us;
	struct out *o = modes->out;
	char name[128];

	said = said ? said : &nothing;
	snprintf(name, sizeof(name), "%.60s%s%.40s", at->mode, at->engine ? ", " : "",
		 at->engine ? at->engine : "");
	row_head(o, name);
	count_cell(o, at->has_n, at->n);
	figure_cell(o, said->median);
	figure_cell(o, said->speedup);
	verdict_cell(o, said->verdict);
	text_cell(o, "r", said->compile);
	text_cell(o, "r", said->repaid);
	text_cell(o, "r", said->launches);
	count_cell(o, true, (int64_t)(at->engine ? at->breaks : said->distinct.n));
	text_cell(o, "r", said->peak);
	number_cell(o, split ? split->guards : (double)NAN);
	number_cell(o, split ? split->dispatch : (double)NAN);
	number_cell(o, split ? split->launch : (double)NAN);
	number_cell(o, split ? split->kernel : (double)NAN);
	out_puts(o, "</tr>\n");
	return true;
}

/* Below the table: as a column it would be cut off. */
static bool noise_line(void *self, const struct job_mode *at)
{
	const char *noise = at->m->latency ? at->m->latency->noise : NULL;
	struct out *o = self;

	if (!noise || !*noise)
		return true;
	out_puts(o, "<p class=\"note\">");
	out_xml(o, at->mode);
	if (at->has_n)
		out_printf(o, ", n = %lld", (long long)at->n);
	out_puts(o, ": ");
	out_xml(o, noise);
	out_puts(o, "</p>\n");
	return true;
}

static void put_modes(struct export_job *job, const struct report_findings *found)
{
	struct modes modes = { &job->out, found };
	char heads[300];

	if (!found)
		return;
	snprintf(heads, sizeof(heads),
		 "Mode|r:n|r:Median, %s|r:Over eager|Verdict|r:Compiled in, %s|r:Repaid after, "
		 "calls|r:Launches|r:Breaks|r:Peak, %s|r:Guards, µs|r:Dispatch, µs|r:Launch, µs|"
		 "r:Kernels, µs",
		 found->time_unit, found->compile_unit, found->bytes_unit);
	begin_table(&job->out, "Modes", "", heads);
	job_modes(job, mode_row, &modes);
	end_table(&job->out);
	job_modes(job, noise_line, &job->out);
}

/* ---- breaks ---- */

struct breaks {
	struct out *out;
	const struct report_findings *found; /* NULL: nothing was run */
	int rows;
};

/* What is said of a break of our own; NULL: it is the same as an earlier one. */
static const struct report_findings_break *said_of_break(const struct report_findings *found,
							 const struct job_break *item)
{
	const struct report_findings_mode *mode =
	    found ? said_of(&found->points, item->has_n ? &item->n : NULL, item->mode) : NULL;

	for (size_t i = 0; mode && i < mode->distinct.n; i++)
		if (mode->distinct.at[i].first == (int64_t)item->index)
			return &mode->distinct.at[i];
	return NULL;
}

static void cost_cell(struct out *o, const struct job_break *item,
		      const struct report_findings_break *said)
{
	if (said && said->cost_open)
		text_cell(o, "wrap", said->cost_open);
	else if (said)
		figure_cell(o, said->cost);
	else
		number_cell(o, item->cost_us);
}

/* On top of them: of each mode that breaks what is said of all its breaks, at the last point. */
static void begin_breaks(struct out *o, const struct report_findings *found)
{
	const struct report_findings_point *last = found && found->points.n
						       ? &found->points.at[found->points.n - 1]
						       : NULL;
	struct buf note;

	buf_init(&note, 0);
	buf_puts(&note, "What ends a graph, and what it costs a call.");
	for (size_t i = 0; last && i < last->modes.n; i++) {
		const struct report_findings_mode *mode = &last->modes.at[i];

		if (!mode->breaks || !mode->distinct.n)
			continue;
		buf_putc(&note, ' ');
		sentence_say(&note, &mode->breaks->sentence);
	}
	begin_table(o, "Breaks", note.data ? note.data : "",
		    "Line|Mode|r:n|Stage|Kind|Registry|Outcome|r:Hits|r:Cost, µs|Message|Hint");
	buf_finish(&note);
}

static void break_row(void *self, const struct job_break *item)
{
	struct breaks *b = self;
	struct out *o = b->out;
	const struct report_findings_break *said = said_of_break(b->found, item);
	const char *file = item->file ? item->file : "";
	char place[300];

	if (item->own && !said)
		return;
	if (b->rows++ == 0)
		begin_breaks(o, b->found);
	if (b->rows > MOST_ROWS)
		return;
	snprintf(place, sizeof(place), "%.250s%s%lld", file, *file ? ":" : "",
		 (long long)item->line);
	row_head(o, place);
	text_cell(o, "", item->mode);
	count_cell(o, item->has_n, item->n);
	text_cell(o, "", item->stage);
	text_cell(o, "", item->kind);
	text_cell(o, "mono", item->gb);
	text_cell(o, "", item->outcome);
	count_cell(o, true, said ? said->met : item->count);
	cost_cell(o, item, said);
	text_cell(o, "wrap", item->message);
	text_cell(o, "wrap", item->hint);
	out_puts(o, "</tr>\n");
}

static void put_breaks(struct export_job *job, const struct report_findings *found)
{
	struct breaks b = { .out = &job->out, .found = found };

	job_breaks(job, break_row, &b);
	if (b.rows)
		end_table(&job->out);
}

/* ---- the source, with its breaks ---- */

struct at_line {
	const char *file; /* of a program of several files; else NULL */
	int line;
	const struct report_break *found;
};

static bool is_there(const struct report_break *b, const struct at_line *s)
{
	struct break_place place = break_place_of(b);

	return (s->line == 0 || place.line == s->line) &&
	       (!s->file || (place.file && strcmp(place.file, s->file) == 0));
}

static bool seek_line(void *self, const struct job_mode *at)
{
	struct at_line *s = self;
	struct report_break_list breaks = at->m->breaks;

	for (size_t i = 0; i < breaks.n; i++)
		if (is_there(&breaks.at[i], s))
			s->found = &breaks.at[i];
	return !s->found && !at->engine;
}

static void put_lines(struct export_job *job, const char *at, const char *file)
{
	struct out *o = &job->out;

	out_puts(o, "<div class=\"well\" tabindex=\"0\"><ol class=\"code mono\">\n");
	for (int line = 1; *at; line++) {
		struct at_line s = { .file = file, .line = line };
		size_t n = strcspn(at, "\n");
		json_t *text = json_stringn(at, n);

		job_modes(job, seek_line, &s);
		out_printf(o, "<li%s><span class=\"ln\">%d</span><span>",
			   s.found ? " class=\"hit\"" : "", line);
		out_xml(o, json_string_value(text));
		out_puts(o, "</span></li>\n");
		if (s.found) {
			out_puts(o, "<li class=\"hit\"><span class=\"ln\"></span><span "
				    "class=\"why\">");
			out_xml(o, s.found->kind);
			out_puts(o, ": ");
			out_xml(o, s.found->message);
			out_puts(o, "</span></li>\n");
		}
		json_decref(text);
		at += n + (at[n] == '\n');
	}
	out_puts(o, "</ol></div>");
}

/* Files that break are open, and the entry's. */
static void put_file(struct export_job *job, const char *path, const char *text)
{
	const char *entry = report_text(job->posted->entry);
	size_t len = strlen(path);
	struct at_line any = { .file = path };
	struct out *o = &job->out;

	job_modes(job, seek_line, &any);
	out_printf(o, "<details%s><summary class=\"mono\">",
		   any.found || (strncmp(entry, path, len) == 0 && strchr(":", entry[len]))
		       ? " open"
		       : "");
	out_xml(o, path);
	out_puts(o, "</summary>");
	put_lines(job, text, path);
	out_puts(o, "</details>\n");
}

static void put_source(struct export_job *job)
{
	const struct report_workload *w = job->posted;
	struct out *o = &job->out;

	if (!w || (!w->files.n && !*report_text(w->source)))
		return;
	out_puts(o, "<section aria-label=\"Source\"><h2>Source</h2>");
	if (!w->files.n)
		put_lines(job, w->source, NULL);
	for (size_t i = 0; i < w->files.n; i++)
		put_file(job, w->files.keys[i], report_text(w->files.at[i]));
	out_puts(o, "</section>\n");
}

/* ---- kernels ---- */

static void kernel_row(struct export_job *job, const struct kernel_total *t)
{
	struct timeline_lane lane = job_lane(job, t->lane);
	struct out *o = &job->out;
	char count[NUMBER_BYTES], sum[NUMBER_BYTES], mean[NUMBER_BYTES], most[NUMBER_BYTES];

	row_head(o, job_name(job, t->name));
	text_cell(o, "", timeline_kind_name(t->kind));
	text_cell(o, "", lane.mode);
	count_cell(o, lane.has.n, lane.n);
	text_cell(o, "", lane.name);
	number_print(count, (double)t->events, 1);
	number_short(sum, (double)t->sum_ns / 1e3);
	number_short(mean, (double)t->sum_ns / 1e3 / (double)t->events);
	number_short(most, (double)t->most_ns / 1e3);
	out_printf(o, "<td class=\"r\">%s</td><td class=\"r\">%s</td>", count, sum);
	out_printf(o, "<td class=\"r\">%s</td><td class=\"r\">%s</td></tr>\n", mean, most);
}

static bool put_kernels(struct export_job *job, struct err *err)
{
	struct kernels k;
	bool ok = kernels_gather(&k, job, err);
	char note[160], sum[NUMBER_BYTES];

	if (ok && k.n) {
		number_short(sum, (double)k.sum_ns / 1e3);
		snprintf(note, sizeof(note), "%lld recorded, %s µs in all%s", (long long)k.events,
			 sum, k.n > MOST_ROWS ? "; the 500 that took longest" : "");
		begin_table(&job->out, "Kernels", note,
			    "Kernel|Kind|Mode|r:n|Lane|r:Count|r:Sum, µs|r:Mean, µs|r:Longest, µs");
		for (size_t i = 0; i < k.n && i < MOST_ROWS; i++)
			kernel_row(job, &k.slots[i]);
		end_table(&job->out);
	}
	kernels_finish(&k);
	return ok;
}

/* ---- what was imported ---- */

static void write_sums(struct export_job *job, const struct report_import *import)
{
	char sum[NUMBER_BYTES];

	number_short(sum, import->kernels->total_us);
	out_printf(
	    &job->out,
	    "<p class=\"verdict\">%lld graphs, %zu compilations, %zu breaks, %zu recompiles, "
	    "%lld kernels of %s µs</p>\n",
	    (long long)import->graphs, import->compiles.n, import->breaks.n, import->recompiles.n,
	    (long long)import->kernels->count, sum);
}

static void write_recompiles(struct out *o, struct report_import_recompile_list list)
{
	if (list.n == 0)
		return;
	begin_table(o, "Recompiles", "", "Id|Frame|Reason");
	for (size_t i = 0; i < list.n && i < MOST_ROWS; i++) {
		row_head(o, list.at[i].compile);
		text_cell(o, "", list.at[i].frame);
		text_cell(o, "wrap", list.at[i].reason);
		out_puts(o, "</tr>\n");
	}
	end_table(o);
}

static void write_ledger(struct out *o, const struct report_ledger *ledger)
{
	const struct {
		const char *fate;
		const struct report_numbers *counts;
	} fates[] = { { "dropped", &ledger->dropped },
		      { "repaired", &ledger->repaired },
		      { "kept", &ledger->kept } };
	bool any = false;

	for (size_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++)
		for (size_t k = 0; k < fates[i].counts->n; k++) {
			const char *name = fates[i].counts->keys[k];
			const char **what = report_get(ledger->what, name);
			double n = fates[i].counts->at[k];

			if (n <= 0 || strcmp(name, "windows") == 0)
				continue;
			if (!any)
				begin_table(o, "Ledger", "What was lost, repaired or doubtful.",
					    "What|Fate|r:Count");
			any = true;
			row_head(o, what && **what ? *what : name);
			text_cell(o, "", fates[i].fate);
			count_cell(o, true, (int64_t)n);
			out_puts(o, "</tr>\n");
		}
	if (any)
		end_table(o);
	else
		out_puts(o, "<section><h2>Ledger</h2><p>Nothing was dropped, repaired or doubtful."
			    "</p></section>\n");
}

static void put_imported(struct export_job *job)
{
	const struct report_import *import = job->found ? job->found->import : NULL;

	if (!import)
		return;
	write_sums(job, import);
	write_ledger(&job->out, import->ledger);
	write_recompiles(&job->out, import->recompiles);
}

/* ---- the machine ---- */

static void put_environment(struct export_job *job)
{
	const char *key;
	json_t *value;

	if (json_object_size(job->environment) == 0)
		return;
	begin_table(&job->out, "Machine", "Runs whose machines differ are not comparable.",
		    "What|Value");
	json_object_foreach(job->environment, key, value)
	{
		row_head(&job->out, key);
		out_puts(&job->out, "<td>");
		if (json_is_string(value))
			out_xml(&job->out, json_string_value(value));
		else if (json_is_integer(value))
			put_count(&job->out, json_integer_value(value));
		out_puts(&job->out, "</td></tr>\n");
	}
	end_table(&job->out);
}

void html_results(struct export_job *job, const struct report_findings *found)
{
	put_modes(job, found);
	put_imported(job);
	put_breaks(job, found);
	put_source(job);
}

bool html_device(struct export_job *job, struct err *err)
{
	bool ok = put_kernels(job, err);

	put_environment(job);
	return ok;
}
