/* profiler/gate/write.c -- a gate as people and CI systems read it. */
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/gate/gate.h"

/* ---- text ---- */

static const char *or_empty(const char *text)
{
	return text ? text : "";
}

static void text_form(const struct report_gate *g, struct buf *out)
{
	for (size_t i = 0; i < g->rows.n; i++) {
		const struct report_gate_row *r = &g->rows.at[i];

		buf_printf(out, "%-10s  %-28s  %-11s  %s %s\n", r->outcome, r->workload, r->verdict,
			   or_empty(r->figure), or_empty(r->times));
		for (size_t k = 0; k < r->findings.n; k++)
			buf_printf(out, "  %c %s\n", r->findings.at[k].fails ? '!' : '-',
				   r->findings.at[k].text);
	}
	buf_printf(out, "%s%s: %s\n", g->rows.n ? "\n" : "", g->verdict, g->sentence);
}

/* ---- Markdown ---- */

/* What a table's cell, a list or HTML would take for its own. */
static void put_markdown(struct buf *out, const char *text)
{
	for (; text && *text; text++) {
		if (*text == '<')
			buf_puts(out, "&lt;");
		else if (*text == '\n' || *text == '\r')
			buf_puts(out, " ");
		else
			buf_printf(out, "%s%c", strchr("|\\`*_[]#~@", *text) ? "\\" : "", *text);
	}
}

/* Ratios as a picture of characters, which shows wherever Markdown does: in mail, in a terminal, in
 * GitHub and GitLab; both take images out that are no addresses, and a server of one's own has no
 * address that theirs reach.  One cell is a part of the scale, which is that of logs with 1x in the
 * middle; it is as wide as the rows need. */
enum { HALF_CELLS = 10, CELLS = 2 * HALF_CELLS + 1 };
static const double scales[] = { 1.1, 1.25, 1.5, 2, 4, 10 };
enum { SCALES = sizeof(scales) / sizeof(scales[0]) };

/* How wide the scale is to each side; 0: no row has a ratio. */
static double scale_of(const struct report_gate *g)
{
	double farthest = 0;
	size_t k = 0;

	for (size_t i = 0; i < g->rows.n; i++) {
		const struct report_gate_row *r = &g->rows.at[i];

		if (r->has.ratio && r->ratio > 0)
			farthest = fmax(farthest, fmax(r->ratio, 1 / r->ratio));
		if (r->has.ci && r->ci.low > 0)
			farthest = fmax(farthest, fmax(r->ci.high, 1 / r->ci.low));
	}
	while (k + 1 < SCALES && scales[k] < farthest)
		k++;
	return farthest > 0 ? scales[k] : 0;
}

static int cell_of(double ratio, double scale)
{
	double at = ratio > 0 ? HALF_CELLS * log(ratio) / log(scale) : -HALF_CELLS;

	return HALF_CELLS + (int)lrint(fmax(-HALF_CELLS, fmin(HALF_CELLS, at)));
}

static void put_picture(struct buf *out, const struct report_gate_row *r, double scale)
{
	int mid, low, high;

	if (!r->has.ratio) {
		buf_puts(out, "| ");
		return;
	}
	mid = cell_of(r->ratio, scale);
	low = r->has.ci ? cell_of(r->ci.low, scale) : mid;
	high = r->has.ci ? cell_of(r->ci.high, scale) : mid;
	buf_puts(out, "| `");
	for (int i = 0; i < CELLS; i++)
		buf_puts(out, i == mid                ? "●"
			      : low <= i && i <= high ? (i == HALF_CELLS ? "┿" : "━")
			      : i == HALF_CELLS       ? "│"
						      : "·");
	buf_puts(out, "` ");
}

static void markdown_row(const struct report_gate_row *r, double scale, struct buf *out)
{
	static const char *const marks[] = { "passed", "✅", "failed", "❌", "not enough", "❔" };
	const char *cells[] = { r->workload, r->verdict, or_empty(r->figure), or_empty(r->times) };

	for (int m = 0; m < 6; m += 2)
		if (strcmp(marks[m], r->outcome) == 0)
			buf_printf(out, "| %s ", marks[m + 1]);
	for (size_t c = 0; c < sizeof(cells) / sizeof(cells[0]); c++) {
		buf_puts(out, "| ");
		put_markdown(out, cells[c]);
		buf_puts(out, " ");
	}
	if (scale > 0)
		put_picture(out, r, scale);
	buf_puts(out, "|\n");
}

static void markdown_form(const struct report_gate *g, struct buf *out)
{
	double scale = scale_of(g);

	buf_printf(out, "### Breakeven: %s\n\n", g->verdict);
	put_markdown(out, g->sentence);
	buf_puts(out, "\n\n| | workload | verdict | figure | ratio ");
	if (scale > 0)
		buf_printf(out, "| %.3gx to %.3gx, 1x in the middle ", 1 / scale, scale);
	buf_printf(out, "|\n|---|---|---|---|---|%s\n", scale > 0 ? "---|" : "");
	for (size_t i = 0; i < g->rows.n; i++)
		markdown_row(&g->rows.at[i], scale, out);
	for (size_t i = 0; i < g->rows.n; i++)
		for (size_t k = 0; k < g->rows.at[i].findings.n; k++) {
			const struct report_gate_finding *f = &g->rows.at[i].findings.at[k];

			buf_puts(out, i + k == 0 ? "\n- " : "- ");
			put_markdown(out, g->rows.at[i].workload);
			buf_puts(out, f->fails ? " **fails**: " : ": ");
			put_markdown(out, f->text);
			buf_puts(out, "\n");
		}
}

/* ---- JUnit XML ---- */

/* XML has no word for most control characters. */
static void put_xml(struct buf *out, const char *text)
{
	for (; text && *text; text++) {
		unsigned char c = (unsigned char)*text;

		if (c == '<')
			buf_puts(out, "&lt;");
		else if (c == '>')
			buf_puts(out, "&gt;");
		else if (c == '&')
			buf_puts(out, "&amp;");
		else if (c == '"')
			buf_puts(out, "&quot;");
		else if (c >= 0x20 || c == '\t' || c == '\n')
			buf_printf(out, "%c", c);
		else
			buf_puts(out, "?");
	}
}

static void junit_case(const struct report_gate_row *r, struct buf *out)
{
	const char *tag = strcmp(r->outcome, "failed") == 0       ? "failure"
			  : strcmp(r->outcome, "not enough") == 0 ? "skipped"
								  : "system-out";

	buf_puts(out, "  <testcase classname=\"breakeven\" name=\"");
	put_xml(out, r->workload);
	buf_puts(out, "\">\n");
	if (strcmp(tag, "system-out") == 0)
		buf_puts(out, "   <system-out>");
	else {
		buf_printf(out, "   <%s message=\"", tag);
		put_xml(out, r->verdict);
		buf_puts(out, "\">");
	}
	put_xml(out, or_empty(r->figure));
	buf_puts(out, " ");
	put_xml(out, or_empty(r->times));
	for (size_t k = 0; k < r->findings.n; k++) {
		buf_puts(out, "\n");
		put_xml(out, r->findings.at[k].text);
	}
	buf_printf(out, "</%s>\n  </testcase>\n", tag);
}

static void junit_form(const struct report_gate *g, struct buf *out)
{
	int failed = 0, skipped = 0;

	for (size_t i = 0; i < g->rows.n; i++) {
		failed += strcmp(g->rows.at[i].outcome, "failed") == 0;
		skipped += strcmp(g->rows.at[i].outcome, "not enough") == 0;
	}
	buf_printf(out,
		   "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n <testsuite "
		   "name=\"breakeven gate\" tests=\"%zu\" failures=\"%d\" errors=\"0\" "
		   "skipped=\"%d\">\n",
		   g->rows.n, failed, skipped);
	for (size_t i = 0; i < g->rows.n; i++)
		junit_case(&g->rows.at[i], out);
	buf_puts(out, " </testsuite>\n</testsuites>\n");
}

/* ---- SARIF ---- */

static json_t *sarif_result(const struct report_gate_row *r, const struct report_gate_finding *f)
{
	json_t *place = f->file ? json_pack("{s:{s:s}}", "artifactLocation", "uri", f->file) : NULL;
	json_t *text = json_sprintf("%s: %s", r->workload, f->text);

	if (place && f->line > 0)
		json_object_set_new(place, "region",
				    json_pack("{s:I}", "startLine", (json_int_t)f->line));
	return json_pack("{s:s, s:s, s:{s:o}, s:o}", "ruleId", f->rule ? f->rule : f->kind, "level",
			 f->fails                         ? "error"
			 : strcmp(f->kind, "breaks") == 0 ? "warning"
							  : "note",
			 "message", "text", text, "locations",
			 place ? json_pack("[{s:o}]", "physicalLocation", place) : json_array());
}

static void add_rule(json_t *rules, json_t *known, const char *id)
{
	if (json_object_get(known, id))
		return;
	json_object_set_new(known, id, json_true());
	json_array_append_new(rules, json_pack("{s:s}", "id", id));
}

static bool sarif_form(const struct report_gate *g, struct buf *out)
{
	json_t *results = json_array(), *rules = json_array(), *known = json_object(), *all;
	char *text;

	for (size_t i = 0; i < g->rows.n; i++)
		for (size_t k = 0; k < g->rows.at[i].findings.n; k++) {
			const struct report_gate_finding *f = &g->rows.at[i].findings.at[k];

			add_rule(rules, known, f->rule ? f->rule : f->kind);
			json_array_append_new(results, sarif_result(&g->rows.at[i], f));
		}
	json_decref(known);
	all = json_pack("{s:s, s:s, s:[{s:{s:{s:s, s:o}}, s:o}]}", "$schema",
			"https://json.schemastore.org/sarif-2.1.0.json", "version", "2.1.0", "runs",
			"tool", "driver", "name", "breakeven", "rules", rules, "results", results);
	text = all ? json_dumps(all, JSON_INDENT(1)) : NULL;
	buf_printf(out, "%s\n", text ? text : "");
	json_decref(all);
	free(text);
	return text != NULL;
}

/* ---- GitHub's annotations ---- */

/* In a property a comma and a colon end it. */
static void put_github(struct buf *out, const char *text, bool property)
{
	for (; text && *text; text++) {
		if (*text == '%' || *text == '\r' || *text == '\n' ||
		    (property && (*text == ':' || *text == ',')))
			buf_printf(out, "%%%02X", (unsigned char)*text);
		else
			buf_printf(out, "%c", *text);
	}
}

static void github_form(const struct report_gate *g, struct buf *out)
{
	for (size_t i = 0; i < g->rows.n; i++)
		for (size_t k = 0; k < g->rows.at[i].findings.n; k++) {
			const struct report_gate_finding *f = &g->rows.at[i].findings.at[k];

			buf_printf(out, "::%s title=",
				   f->fails                         ? "error"
				   : strcmp(f->kind, "breaks") == 0 ? "warning"
								    : "notice");
			put_github(out, g->rows.at[i].workload, true);
			if (f->file) {
				buf_puts(out, ",file=");
				put_github(out, f->file, true);
			}
			if (f->line > 0)
				buf_printf(out, ",line=%lld", (long long)f->line);
			buf_puts(out, "::");
			put_github(out, f->text, false);
			buf_puts(out, "\n");
		}
	buf_printf(out, "::notice title=Breakeven::%s: ", g->verdict);
	put_github(out, g->sentence, false);
	buf_puts(out, "\n");
}

/* ---- all of them ---- */

static bool json_form(const struct report_gate *g, struct buf *out)
{
	json_t *json = report_write_gate(g);
	char *text = json ? json_dumps(json, JSON_COMPACT) : NULL;

	buf_printf(out, "%s\n", text ? text : "");
	json_decref(json);
	free(text);
	return text != NULL;
}

bool gate_write(const struct report_gate *gate, const char *format, struct buf *out,
		struct err *err)
{
	bool ok = true;

	if (strcmp(format, "text") == 0)
		text_form(gate, out);
	else if (strcmp(format, "markdown") == 0)
		markdown_form(gate, out);
	else if (strcmp(format, "junit") == 0)
		junit_form(gate, out);
	else if (strcmp(format, "sarif") == 0)
		ok = sarif_form(gate, out);
	else if (strcmp(format, "github") == 0)
		github_form(gate, out);
	else if (strcmp(format, "json") == 0)
		ok = json_form(gate, out);
	else
		return err_set(err, ERR_BAD_REQUEST,
			       "%.40s: one of text, markdown, junit, sarif, github, json", format);
	return (ok && !out->failed) || err_set(err, ERR_MEMORY, "out of memory for a gate");
}
