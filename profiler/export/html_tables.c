/* profiler/export/html_tables.c -- what stands below the answer: tables, and the source. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/export/html.h"
#include "profiler/export/kernels.h"
#include "profiler/fields/json.h"
#include "profiler/numbers/numbers.h"

enum { MOST_ROWS = 500 };

void html_cell(struct out *o, const char *class, const char *text)
{
	out_printf(o, "<td%s%s%s>", *class ? " class=\"" : "", class, *class ? "\"" : "");
	out_xml(o, text);
	out_puts(o, "</td>");
}

/* What is counted is whole. */
static void put_number(struct out *o, const json_t *number)
{
	double value = json_number_value(number);
	char text[NUMBER_BYTES];

	if (!json_is_number(number) || !isfinite(value))
		return;
	if (json_is_integer(number))
		number_print(text, value, 1);
	else
		number_short(text, value);
	out_puts(o, text);
}

void html_number(struct out *o, const json_t *number, const char *unit)
{
	out_puts(o, "<td class=\"r\">");
	put_number(o, number);
	if (json_is_number(number))
		out_puts(o, unit);
	out_puts(o, "</td>");
}

void html_interval(struct out *o, const json_t *mid, const json_t *interval, const char *unit)
{
	const json_t *low = json_array_get(interval, 0), *high = json_array_get(interval, 1);
	struct number_triple t;

	if (!json_is_number(mid) || !json_is_number(low) || !json_is_number(high)) {
		html_number(o, mid, unit);
		return;
	}
	number_triple(&t, json_number_value(mid), json_number_value(low), json_number_value(high));
	out_printf(o, "<td class=\"r\">%s%s <span class=\"ci\">(%s–%s)</span></td>", t.mid, unit,
		   t.low, t.high);
}

void html_table(struct out *o, const char *title, const char *note, const char *heads)
{
	out_printf(o, "<section aria-label=\"%s\"><h2>%s</h2>", title, title);
	if (*note)
		out_printf(o, "<p class=\"note\">%s</p>", note);
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

void html_table_end(struct out *o)
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

static const json_t *in(const json_t *json, const char *key, const char *inner)
{
	return json_object_get(json_object_get(json, key), inner);
}

static void verdict_cell(struct out *o, const char *verdict)
{
	out_puts(o, "<td>");
	if (*verdict) {
		out_puts(o, "<span class=\"chip ");
		out_xml(o, verdict);
		out_puts(o, "\">");
		out_xml(o, verdict);
		out_puts(o, "</span>");
	}
	out_puts(o, "</td>");
}

static void repay_cell(struct out *o, const json_t *paid)
{
	const json_t *calls = json_object_get(paid, "calls_to_repay");

	if (json_is_number(calls))
		html_number(o, calls, " calls");
	else
		html_cell(o, "r", text_field(paid, "repay"));
}

static bool mode_row(void *self, const struct job_mode *at)
{
	const json_t *m = at->report, *paid = at->break_even;
	json_t *breaks = json_integer((json_int_t)json_array_size(json_object_get(m, "breaks")));
	struct out *o = self;
	char name[128];

	snprintf(name, sizeof(name), "%.60s%s%.40s", at->mode, at->engine ? ", " : "",
		 at->engine ? at->engine : "");
	row_head(o, name);
	html_number(o, at->n, "");
	html_interval(o, in(m, "latency", "median_us"), in(m, "latency", "ci_us"), "");
	html_interval(o, json_object_get(paid, "speedup"), json_object_get(paid, "speedup_ci"),
		      "x");
	verdict_cell(o, text_field(paid, "verdict"));
	html_number(o, json_object_get(m, "compile_ms"), "");
	repay_cell(o, paid);
	html_number(o, json_object_get(m, "launches"), "");
	html_number(o, breaks, "");
	html_number(o, json_object_get(m, "peak_bytes"), "");
	html_number(o, in(m, "split_us", "guards"), "");
	html_number(o, in(m, "split_us", "dispatch"), "");
	html_number(o, in(m, "split_us", "launch"), "");
	html_number(o, in(m, "split_us", "kernel"), "");
	out_puts(o, "</tr>\n");
	json_decref(breaks);
	return true;
}

/* Below the table: as a column it would be cut off. */
static bool noise_line(void *self, const struct job_mode *at)
{
	const char *noise = text_field(json_object_get(at->report, "latency"), "noise");
	struct out *o = self;

	if (!*noise)
		return true;
	out_puts(o, "<p class=\"note\">");
	out_xml(o, at->mode);
	if (json_is_integer(at->n))
		out_printf(o, ", n = %lld", (long long)json_integer_value(at->n));
	out_puts(o, ": ");
	out_xml(o, noise);
	out_puts(o, "</p>\n");
	return true;
}

static bool is_there(void *self, const struct job_mode *at)
{
	(void)at;
	*(bool *)self = true;
	return false;
}

void html_modes(struct export_job *job)
{
	bool any = false;

	job_modes(job, is_there, &any);
	if (!any)
		return;
	html_table(&job->out, "Modes", "",
		   "Mode|r:n|r:Median, us|r:Over eager|Verdict|r:Compiled in, ms|r:Repaid after|"
		   "r:Launches|r:Breaks|r:Peak bytes|r:Guards, us|r:Dispatch, us|r:Launch, us|"
		   "r:Kernels, us");
	job_modes(job, mode_row, &job->out);
	html_table_end(&job->out);
	job_modes(job, noise_line, &job->out);
}

/* ---- breaks ---- */

struct breaks {
	struct out *out;
	int rows;
};

static void break_row(struct breaks *b, const char *mode, const json_t *n, const json_t *item)
{
	const json_t *cost = json_object_get(item, "cost_us");
	struct out *o = b->out;
	char place[300];

	if (b->rows++ == 0)
		html_table(
		    o, "Breaks", "What ends a graph, and what it costs a call.",
		    "Line|Mode|r:n|Stage|Kind|Registry|Outcome|r:Met|r:Cost, us|Message|Hint");
	if (b->rows > MOST_ROWS)
		return;
	snprintf(place, sizeof(place), "%.250s%s%lld", text_field(item, "file"),
		 *text_field(item, "file") ? ":" : "", (long long)job_break_line(item));
	row_head(o, place);
	html_cell(o, "", mode);
	html_number(o, n, "");
	html_cell(o, "", text_field(item, "stage"));
	html_cell(o, "", text_field(item, "kind"));
	html_cell(o, "mono", text_field(item, "gb"));
	html_cell(o, "", text_field(item, "outcome"));
	html_number(o, json_object_get(item, "count"), "");
	html_number(o, json_is_number(cost) ? cost : in(item, "cost", "host_us_per_call"), "");
	html_cell(o, "wrap", text_field(item, "message"));
	html_cell(o, "wrap", text_field(item, "hint"));
	out_puts(o, "</tr>\n");
}

static bool break_rows(void *self, const struct job_mode *at)
{
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(at->report, "breaks"), i, item)
	    break_row(self, at->mode, at->n, item);
	return at->engine == NULL;
}

void html_breaks(struct export_job *job)
{
	const json_t *imported = json_object_get(job->report, "import"), *item;
	struct breaks b = { .out = &job->out };
	size_t i;

	job_modes(job, break_rows, &b);
	json_array_foreach(json_object_get(imported, "breaks"), i, item)
	    break_row(&b, text_field(item, "mode"), json_object_get(item, "n"), item);
	if (b.rows)
		html_table_end(&job->out);
}

/* ---- the source, with its breaks ---- */

struct at_line {
	const json_t *found;
	json_int_t line;
};

static bool seek_line(void *self, const struct job_mode *at)
{
	struct at_line *s = self;
	const json_t *item;
	size_t i;

	json_array_foreach(json_object_get(at->report, "breaks"), i, item)
	{
		if (job_break_line(item) == s->line)
			s->found = item;
	}
	return !s->found && !at->engine;
}

void html_source(struct export_job *job)
{
	const char *at = text_field(job->workload, "source");
	struct out *o = &job->out;

	if (!*at)
		return;
	out_puts(o, "<section aria-label=\"Source\"><h2>Source</h2><div class=\"well\" "
		    "tabindex=\"0\"><ol class=\"code mono\">\n");
	for (json_int_t line = 1; *at; line++) {
		struct at_line s = { .line = line };
		size_t n = strcspn(at, "\n");
		json_t *text = json_stringn(at, n);

		job_modes(job, seek_line, &s);
		out_printf(o, "<li%s><span class=\"ln\">%lld</span><span>",
			   s.found ? " class=\"hit\"" : "", (long long)line);
		out_xml(o, json_string_value(text));
		out_puts(o, "</span></li>\n");
		if (s.found) {
			out_puts(o, "<li class=\"hit\"><span class=\"ln\"></span><span "
				    "class=\"why\">");
			out_xml(o, text_field(s.found, "kind"));
			out_puts(o, ": ");
			out_xml(o, text_field(s.found, "message"));
			out_puts(o, "</span></li>\n");
		}
		json_decref(text);
		at += n + (at[n] == '\n');
	}
	out_puts(o, "</ol></div></section>\n");
}

/* ---- kernels ---- */

static void kernel_row(struct export_job *job, const struct kernel_total *t)
{
	const json_t *lane = job_lane(job, t->lane);
	struct out *o = &job->out;
	char count[NUMBER_BYTES], sum[NUMBER_BYTES], mean[NUMBER_BYTES], most[NUMBER_BYTES];

	row_head(o, job_name(job, t->name));
	html_cell(o, "", timeline_kind_name(t->kind));
	html_cell(o, "", text_field(lane, "mode"));
	html_number(o, json_object_get(lane, "n"), "");
	html_cell(o, "", text_field(lane, "name"));
	number_print(count, (double)t->events, 1);
	number_short(sum, (double)t->sum_ns / 1e3);
	number_short(mean, (double)t->sum_ns / 1e3 / (double)t->events);
	number_short(most, (double)t->most_ns / 1e3);
	out_printf(o, "<td class=\"r\">%s</td><td class=\"r\">%s</td>", count, sum);
	out_printf(o, "<td class=\"r\">%s</td><td class=\"r\">%s</td></tr>\n", mean, most);
}

bool html_kernels(struct export_job *job, struct err *err)
{
	struct kernels k;
	bool ok = kernels_gather(&k, job, err);
	char note[160], sum[NUMBER_BYTES];

	if (ok && k.n) {
		number_short(sum, (double)k.sum_ns / 1e3);
		snprintf(note, sizeof(note), "%lld recorded, %s us in all%s", (long long)k.events,
			 sum, k.n > MOST_ROWS ? "; the 500 that took longest" : "");
		html_table(&job->out, "Kernels", note,
			   "Kernel|Kind|Mode|r:n|Lane|r:Count|r:Sum, us|r:Mean, us|r:Longest, us");
		for (size_t i = 0; i < k.n && i < MOST_ROWS; i++)
			kernel_row(job, &k.slots[i]);
		html_table_end(&job->out);
	}
	kernels_finish(&k);
	return ok;
}

/* ---- what was imported ---- */

static void write_sums(struct export_job *job, const json_t *imported)
{
	char sum[NUMBER_BYTES];

	number_short(sum, json_number_value(in(imported, "kernels", "total_us")));
	out_printf(
	    &job->out,
	    "<p class=\"verdict\">%lld graphs, %zu compilations, %zu breaks, %zu recompiles, "
	    "%lld kernels of %s us</p>\n",
	    (long long)json_integer_value(json_object_get(imported, "graphs")),
	    json_array_size(json_object_get(imported, "compiles")),
	    json_array_size(json_object_get(imported, "breaks")),
	    json_array_size(json_object_get(imported, "recompiles")),
	    (long long)json_integer_value(in(imported, "kernels", "count")), sum);
}

static void write_recompiles(struct out *o, const json_t *list)
{
	const json_t *item;
	size_t i;

	if (json_array_size(list) == 0)
		return;
	html_table(o, "Recompiles", "", "Id|Frame|Reason");
	json_array_foreach(list, i, item)
	{
		if (i == MOST_ROWS)
			break;
		row_head(o, text_field(item, "compile"));
		html_cell(o, "", text_field(item, "frame"));
		html_cell(o, "wrap", text_field(item, "reason"));
		out_puts(o, "</tr>\n");
	}
	html_table_end(o);
}

static void write_ledger(struct out *o, const json_t *ledger)
{
	static const char *const fates[] = { "dropped", "repaired", "kept" };
	bool any = false;

	for (size_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++) {
		const char *name;
		json_t *n;

		json_object_foreach(json_object_get(ledger, fates[i]), name, n)
		{
			const char *what = text_field(json_object_get(ledger, "what"), name);

			if (json_integer_value(n) <= 0 || strcmp(name, "windows") == 0)
				continue;
			if (!any)
				html_table(o, "Ledger", "What was lost, mended or doubtful.",
					   "What|Fate|r:Count");
			any = true;
			row_head(o, *what ? what : name);
			html_cell(o, "", fates[i]);
			html_number(o, n, "");
			out_puts(o, "</tr>\n");
		}
	}
	if (any)
		html_table_end(o);
	else
		out_puts(o, "<section><h2>Ledger</h2><p>Nothing was dropped, mended or doubtful."
			    "</p></section>\n");
}

void html_imported(struct export_job *job)
{
	const json_t *imported = json_object_get(job->report, "import");

	if (!imported)
		return;
	write_sums(job, imported);
	write_ledger(&job->out, json_object_get(imported, "ledger"));
	write_recompiles(&job->out, json_object_get(imported, "recompiles"));
}

/* ---- the machine ---- */

void html_environment(struct export_job *job)
{
	const char *key;
	json_t *value;

	if (json_object_size(job->environment) == 0)
		return;
	html_table(&job->out, "Machine", "Runs whose machines differ are not comparable.",
		   "What|Value");
	json_object_foreach(job->environment, key, value)
	{
		row_head(&job->out, key);
		out_puts(&job->out, "<td>");
		if (json_is_string(value))
			out_xml(&job->out, json_string_value(value));
		else
			put_number(&job->out, value);
		out_puts(&job->out, "</td></tr>\n");
	}
	html_table_end(&job->out);
}
