/* server/text/run_table.c -- prints a report: the verdicts as sentences, then a table with a row
 * for each point and mode, what a change did, what autocast saved and what engine torch measured.
 */
#include "profiler/fields/json.h"
#include "server/text/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/fields/fields.h"
#include "profiler/findings/findings.h"
#include "profiler/numbers/numbers.h"

/* ---- what a change of the program did ---- */

static void print_counts(struct buf *out, const json_t *change, const char *what)
{
	const json_t *pair = json_object_get(change, what);

	buf_printf(out, "; %s %" JSON_INTEGER_FORMAT " -> %" JSON_INTEGER_FORMAT, what,
		   json_integer_value(json_array_get(pair, 0)),
		   json_integer_value(json_array_get(pair, 1)));
}

static void print_mode(struct buf *out, const char *mode, const json_t *change)
{
	const json_t *error = json_object_get(change, "error");
	const char *why = json_string_value(json_object_get(change, "disagreement"));
	const char *verdict = json_string_value(json_object_get(change, "verdict"));
	char ratio[4 * NUMBER_BYTES];

	buf_printf(out, "before the change, %s: ", mode);
	if (error) {
		buf_printf(out, "it fails: %s\n",
			   json_string_value(json_object_get(error, "message")));
		return;
	}
	buf_puts(out, why ? why : "the same values");
	print_counts(out, change, "breaks");
	print_counts(out, change, "graphs");
	if (verdict) {
		number_interval(ratio, change, "speedup", "speedup_ci", "x");
		buf_printf(out, "; %s as fast now: %s", ratio, verdict);
	}
	buf_putc(out, '\n');
}

/* A line for each point and mode; nothing for a report whose workload has no `before`. */
static void change_text_print(struct buf *out, const json_t *report)
{
	const json_t *points = json_object_get(report, "points");
	size_t n = json_array_size(points), began = out->len;

	for (size_t i = 0; i == 0 || i < n; i++) {
		const json_t *at = n ? json_array_get(points, i) : report;
		const char *mode;
		json_t *m;

		json_object_foreach(json_object_get(at, "modes"), mode, m)
		{
			if (json_object_get(m, "change"))
				print_mode(out, mode, json_object_get(m, "change"));
		}
	}
	if (out->len > began)
		buf_putc(out, '\n');
}

/* ---- what autocast saved ---- */

/* "3.55x (3.54-3.55)"; "" for what there is not. */
static void print_figure(char out[4 * NUMBER_BYTES], const struct report_figure *f)
{
	if (f && f->low)
		snprintf(out, 4 * NUMBER_BYTES, "%s (%s-%s)", f->text, f->low, f->high);
	else
		snprintf(out, 4 * NUMBER_BYTES, "%s", f ? f->text : "");
}

static const char *shown(const char *text)
{
	return text ? text : "";
}

static const char *shown_figure(const struct report_figure *f)
{
	return f ? f->text : "";
}

static void print_autocast_row(struct buf *out, const char *mode,
			       const struct report_findings_cast *m)
{
	char ratio[4 * NUMBER_BYTES];

	print_figure(ratio, m->speedup);
	buf_printf(out, "%-8s  %8s  %8s  %-18s  %-10s  %10s  %10s  %9s  %9s  %9s\n", mode,
		   shown_figure(m->with->median), shown_figure(m->without->median), ratio,
		   shown(m->verdict), shown(m->with->rate), shown(m->without->rate),
		   m->with->activations, m->without->activations, m->error);
}

static void print_point(struct buf *out, const struct report_autocast *autocast,
			const struct report_findings_point *at, const struct report_findings *found)
{
	char n[NUMBER_BYTES], activations[NUMBER_BYTES];

	buf_printf(out, "autocast to %s", autocast->dtype);
	if (at->has.n) {
		number_plain(n, at->n);
		buf_printf(out, " at n = %s", n);
	}
	if (!at->autocast) {
		buf_printf(out, ": without it the program fails, so nothing is compared: %s\n\n",
			   autocast->error);
		return;
	}
	buf_puts(out, ", each mode with it and without, side by side");
	if (autocast->batch)
		buf_printf(out, "; a call has %lld sample%s", (long long)autocast->batch,
			   autocast->batch == 1 ? "" : "s");
	snprintf(activations, sizeof(activations), "act. %s", found->activations_unit);
	buf_printf(out, "\n%-8s  %8s  %8s  %-18s  %-10s  %10s  %10s  %9s  %9s  %9s\n", "mode",
		   found->time_unit, "without", "speedup", "verdict", "samples/s", "without",
		   activations, "without", "max error");
	for (size_t i = 0; i < at->autocast->modes.n; i++)
		print_autocast_row(out, at->autocast->modes.keys[i], &at->autocast->modes.at[i]);
	buf_putc(out, '\n');
}

/* A row for each point and mode; nothing for a report whose workload has no autocast. */
static void mixed_text_print(struct buf *out, const struct report_run *run,
			     const struct report_findings *found)
{
	for (size_t i = 0; i < found->points.n; i++) {
		const struct report_autocast *autocast = run->points.n ? run->points.at[i].autocast
								       : run->autocast;

		if (autocast)
			print_point(out, autocast, &found->points.at[i], found);
	}
}

/* ---- what engine torch measured ---- */

static const json_t *torch_of(const json_t *report)
{
	return json_object_get(json_object_get(report, "engines"), "torch");
}

const char *torch_text_error(const json_t *report)
{
	return json_string_value(
	    json_object_get(json_object_get(torch_of(report), "error"), "message"));
}

static void print_values(struct buf *out, const json_t *m)
{
	const json_t *values = json_object_get(m, "values");
	const char *first = json_string_value(json_object_get(values, "first"));

	const char *judge = json_string_value(json_object_get(values, "judge"));

	if (json_is_true(json_object_get(values, "agree")))
		buf_printf(out, "agree within %.2g%s", number_field(values, "max_abs_error"),
			   judge && strcmp(judge, "float64") == 0 ? ", as float64 judges" : "");
	else if (values)
		buf_printf(out, "DISAGREES: %s%s", first ? first : "nothing could be compared",
			   json_is_true(json_object_get(m, "draws")) ? " (it draws numbers)" : "");
	if (values && json_is_false(json_object_get(values, "stdout_same")))
		buf_puts(out, "; prints differ");
}

static void print_torch_row(struct buf *out, const json_t *at, const char *mode, const json_t *m,
			    const struct report_findings_point *said)
{
	const struct report_findings_mode *of = report_get(said->modes, mode);
	const char *error = json_string_value(json_object_get(m, "error"));
	char time[4 * NUMBER_BYTES], speedup[4 * NUMBER_BYTES], ours[4 * NUMBER_BYTES];

	if (said->has.n)
		buf_printf(out, "%6" JSON_INTEGER_FORMAT "  ",
			   json_integer_value(json_object_get(at, "n")));
	if (error) {
		buf_printf(out, "%-8s  failed: %.*s\n", mode, (int)strcspn(error, "\n"), error);
		return;
	}
	print_figure(time, of->median);
	print_figure(speedup, of->speedup);
	print_figure(ours, of->over_ours);
	buf_printf(out, "%-8s  %-24s  %-20s  %-22s  %10s  ", mode, time, speedup, ours,
		   shown(of->compile));
	print_values(out, m);
	buf_putc(out, '\n');
}

/* A row for each point and mode of PyTorch; nothing for a report without that engine. */
static void torch_text_print(struct buf *out, const json_t *report,
			     const struct report_findings *found)
{
	const json_t *t = torch_of(report), *points = json_object_get(t, "points");
	const char *version = json_string_value(json_object_get(t, "version"));
	const char *device = json_string_value(json_object_get(t, "device_name"));
	const char *error = torch_text_error(report), *note;
	size_t n = json_array_size(points), i = 0;
	char compile[NUMBER_BYTES];

	if (!t)
		return;
	snprintf(compile, sizeof(compile), "compile %s", found->compile_unit);
	if (error)
		buf_printf(out, "engine torch failed: %s\n", error);
	if (version)
		buf_printf(out, "PyTorch %s%s%s\n%s%-8s  %-24s  %-20s  %-22s  %10s  %s\n", version,
			   device ? ", " : "", device ? device : "", n ? "     n  " : "", "mode",
			   found->time_unit, "speedup over its eager", "time over Breakeven's",
			   compile, "values");
	note = json_string_value(json_object_get(json_object_get(t, "build"), "note"));
	do {
		const json_t *at = n ? json_array_get(points, i) : t;
		const char *mode;
		json_t *m;

		json_object_foreach(json_object_get(at, "modes"), mode, m)
		{
			print_torch_row(out, at, mode, m, &found->torch.at[i]);
		}
	} while (++i < n);
	if (note)
		buf_printf(out, "note: %s\n", note);
	buf_putc(out, '\n');
}

/* ---- the run ---- */

enum { MAX_WARNINGS = 4 };

static void print_sentences(struct buf *out, const struct report_findings *found)
{
	const struct report_sentence_part_list *sentence;

	for (size_t i = 0; (sentence = findings_sentence(found, i)); i++) {
		sentence_say(out, sentence);
		buf_putc(out, '\n');
	}
}

/* "3.54-3.55"; "" where none was measured. */
static void print_range(char out[2 * NUMBER_BYTES + 4], const struct report_figure *f)
{
	out[0] = '\0';
	if (f && f->low)
		snprintf(out, 2 * NUMBER_BYTES + 4, "%s-%s", f->low, f->high);
}

static void print_row(struct buf *out, const struct report_findings_point *at, size_t i)
{
	const struct report_findings_mode *m = &at->modes.at[i];
	char n[NUMBER_BYTES], range[2 * NUMBER_BYTES + 4];

	if (at->has.n) {
		number_plain(n, at->n);
		buf_printf(out, "%6s  ", n);
	}
	print_range(range, m->median);
	buf_printf(out, "%-8s  %8s  %-15s  %8s  %10s  %10s", at->modes.keys[i],
		   m->median ? m->median->text : "", range, shown(m->launches), shown(m->peak),
		   shown(m->compile));
	print_range(range, m->speedup);
	if (m->verdict && !m->speedup)
		buf_printf(out, "  %8s  %-13s  %s", "", "", m->verdict);
	else if (m->verdict)
		buf_printf(out, "  %8s  %-13s  %-10s  %12s", m->speedup->text, range, m->verdict,
			   shown(m->repaid));
	buf_putc(out, '\n');
}

static void print_timed(struct buf *out, const struct report_findings *found)
{
	char peak[NUMBER_BYTES], compile[NUMBER_BYTES];

	snprintf(peak, sizeof(peak), "peak %s", found->bytes_unit);
	snprintf(compile, sizeof(compile), "compile %s", found->compile_unit);
	if (found->points.at[0].has.n)
		buf_printf(out, "%6s  ", "n");
	buf_printf(out, "%-8s  %8s  %-15s  %8s  %10s  %10s  %8s  %-13s  %-10s  %12s\n", "mode",
		   found->time_unit, "95 %", "launches", peak, compile, "speedup", "95 %",
		   "verdict", "repaid after");
	for (size_t i = 0; i < found->points.n; i++)
		for (size_t k = 0; k < found->points.at[i].modes.n; k++)
			print_row(out, &found->points.at[i], k);
}

/* Of the modes of a point; nothing where memory was not watched. */
static void print_memory_checks(struct buf *out, const json_t *at)
{
	double blocks = 0, looks = 0;
	const char *mode;
	json_t *m;

	json_object_foreach(json_object_get(at, "modes"), mode, m)
	{
		const json_t *checks = json_object_get(m, "memory_checks");

		blocks += number_field(checks, "blocks");
		looks += number_field(checks, "looks");
	}
	if (blocks > 0)
		buf_printf(out,
			   "memory was watched: %.0f blocks, their guard words looked at %.0f "
			   "times, none overwritten\n",
			   blocks, looks);
}

static void print_untimed(struct buf *out, const json_t *report)
{
	const json_t *points = json_object_get(report, "points");
	size_t n = json_array_size(points);

	buf_printf(out, "%6s  %-8s  %6s  %6s  %8s  %10s  %s\n", n ? "n" : "", "mode", "calls",
		   "graphs", "launches", "compile ms", "max error against eager");
	for (size_t i = 0; i == 0 || i < n; i++) {
		const json_t *at = n ? json_array_get(points, i) : report;
		const char *mode;
		json_t *m;

		json_object_foreach(json_object_get(at, "modes"), mode, m)
		{
			char compile[NUMBER_BYTES], error[NUMBER_BYTES] = "", point[NUMBER_BYTES];
			bool differs = json_is_false(json_object_get(m, "agrees"));

			number_short(point, number_field(at, "n"));
			number_short(compile, number_field(m, "compile_ms"));
			if (json_object_get(m, "max_abs_error"))
				snprintf(error, sizeof(error), "%.2g",
					 number_field(m, "max_abs_error"));
			buf_printf(out, "%6s  %-8s  %6zu  %6zu  %8.0f  %10s  %s%s\n",
				   n ? point : "", mode,
				   json_array_size(json_object_get(m, "calls")),
				   json_array_size(json_object_get(m, "graphs")),
				   number_field(m, "launches"), compile, error,
				   differs ? "  DISAGREES" : "");
		}
	}
	print_memory_checks(out, n ? json_array_get(points, 0) : report);
}

/* Before all else, the modes whose values are not eager's. */
static void print_disagreements(struct buf *out, const json_t *report)
{
	const json_t *points = json_object_get(report, "points");
	size_t n = json_array_size(points), began = out->len;

	for (size_t i = 0; i == 0 || i < n; i++) {
		const json_t *at = n ? json_array_get(points, i) : report;
		const char *mode;
		json_t *m;

		json_object_foreach(json_object_get(at, "modes"), mode, m)
		{
			const char *why = json_string_value(json_object_get(m, "disagreement"));

			if (!json_is_false(json_object_get(m, "agrees")))
				continue;
			buf_printf(out, "DISAGREES: %s", mode);
			if (n)
				buf_printf(out, " at n = %" JSON_INTEGER_FORMAT,
					   json_integer_value(json_object_get(at, "n")));
			buf_printf(out, ": %s\n", why ? why : "its values are not eager's");
		}
	}
	if (out->len > began)
		buf_putc(out, '\n');
}

/* What differs from eager, and may. */
static void print_within(struct buf *out, const json_t *report)
{
	const json_t *points = json_object_get(report, "points");
	size_t n = json_array_size(points);
	const json_t *at = n ? json_array_get(points, n - 1) : report;
	const char *mode;
	json_t *m;

	json_object_foreach(json_object_get(at, "modes"), mode, m)
	{
		const json_t *a = json_object_get(m, "agreement");
		const char *verdict = json_string_value(json_object_get(a, "verdict"));

		if (verdict && strcmp(verdict, "within_dtype") == 0)
			buf_printf(out, "values: %s: %s\n", mode,
				   json_string_value(json_object_get(a, "text")));
	}
}

static void print_warnings(struct buf *out, const json_t *report)
{
	const json_t *points = json_object_get(report, "points");
	size_t n = json_array_size(points);
	int warnings = 0;

	for (size_t i = 0; i == 0 || i < n; i++) {
		const json_t *at = n ? json_array_get(points, i) : report;
		const char *mode;
		json_t *m;

		json_object_foreach(json_object_get(at, "modes"), mode, m)
		{
			const json_t *noise = json_object_get(json_object_get(m, "latency"),
							      "noise");

			if (!json_is_string(noise) || ++warnings > MAX_WARNINGS)
				continue;
			buf_printf(out, "noise: %s", mode);
			if (n)
				buf_printf(out, " at n = %" JSON_INTEGER_FORMAT,
					   json_integer_value(json_object_get(at, "n")));
			buf_printf(out, ": %s\n", json_string_value(noise));
		}
	}
	if (warnings > MAX_WARNINGS)
		buf_printf(out, "noise: %d more figures carry a warning; --json has them all\n",
			   warnings - MAX_WARNINGS);
}

/* How often each mode breaks, at the last point of a sweep. */
static void print_breaks(struct buf *out, const json_t *report)
{
	const json_t *points = json_object_get(report, "points");
	size_t n = json_array_size(points), before = out->len;
	const json_t *at = n ? json_array_get(points, n - 1) : report;
	const char *mode;
	json_t *m;

	json_object_foreach(json_object_get(at, "modes"), mode, m)
	{
		break_text_short(out, mode, m);
	}
	if (out->len > before)
		buf_puts(out, "`breakeven explain` shows each with its line and what to write "
			      "instead.\n\n");
}

/* What the program printed in its first mode: the same in all. */
static void print_stdout(struct buf *out, const char *mode, const json_t *m)
{
	size_t i;
	json_t *call;

	json_array_foreach(json_object_get(m, "calls"), i, call)
	{
		const json_t *text = json_object_get(call, "stdout");
		size_t len = json_string_length(text);

		if (!len)
			continue;
		buf_printf(out, "%s, call %zu, printed:\n", mode, i);
		buf_add(out, json_string_value(text), len);
		buf_puts(out, json_string_value(text)[len - 1] == '\n' ? "\n" : "\n\n");
	}
}

/* On a device: the figures of one mode; all others are ordered in the same way. */
static void print_order(struct buf *out, const json_t *order)
{
	json_int_t streams = json_integer_value(json_object_get(order, "streams")),
		   events = json_integer_value(json_object_get(order, "events"));

	if (order)
		buf_printf(out,
			   "its launches, copies and sets go into %" JSON_INTEGER_FORMAT
			   " stream%s in the order of the calls%s\n",
			   streams, streams == 1 ? "" : "s",
			   events == 0 ? ", no event is waited for" : "");
}

bool run_table_agrees(const json_t *report)
{
	const json_t *points = json_object_get(report, "points");
	size_t n = json_array_size(points);

	for (size_t i = 0; i == 0 || i < n; i++) {
		const json_t *at = n ? json_array_get(points, i) : report;
		const char *mode;
		json_t *m;

		json_object_foreach(json_object_get(at, "modes"), mode, m)
		{
			if (json_is_false(json_object_get(m, "agrees")))
				return false;
		}
	}
	return true;
}

/* "wall time: setup 1.2 s, compile 0.3 s": parts below a thousandth of it are left out. */
static void print_wall(struct buf *out, const json_t *wall)
{
	double total = number_field(wall, "total");
	const char *part, *between = "wall time: ";
	json_t *ms;

	json_object_foreach((json_t *)wall, part, ms)
	{
		char name[32];

		if (strcmp(part, "total") == 0 || json_number_value(ms) < total / 1000)
			continue;
		snprintf(name, sizeof(name), "%s", part);
		for (char *c = name; *c; c++)
			*c = *c == '_' ? '-' : *c;
		buf_printf(out, "%s%s %.2f s", between, name, json_number_value(ms) / 1000);
		between = ", ";
	}
	if (json_object_size(wall) > 0)
		buf_putc(out, '\n');
}

/* What figures say; NULL with an error. */
static const struct report_findings *find(const struct report_run *run, struct arena *arena,
					  struct err *err)
{
	return run ? findings_make(run, arena, err) : NULL;
}

void run_table_print(struct buf *out, const json_t *report)
{
	struct arena arena = { 0 };
	struct err err = { 0 };
	const struct report_run *run = report_read_run(report, &arena, &err);
	const struct report_findings *found = find(run, &arena, &err);
	const json_t *device = json_object_get(report, "device");
	const json_t *points = json_object_get(report, "points");
	const json_t *at = json_array_size(points) ? json_array_get(points, 0) : report;
	void *first = json_object_iter(json_object_get(at, "modes"));
	const json_t *m = json_object_iter_value(first);
	const char *note = json_string_value(json_object_get(device, "backend_note"));
	json_int_t threads = json_integer_value(json_object_get(device, "threads"));

	print_disagreements(out, report);
	if (!found)
		buf_printf(out, "%s\n\n", err.message);
	if (found && json_object_get(m, "latency")) {
		print_sentences(out, found);
		buf_putc(out, '\n');
		print_timed(out, found);
		buf_putc(out, '\n');
		print_within(out, report);
		print_warnings(out, report);
	} else {
		print_untimed(out, report);
		buf_putc(out, '\n');
	}
	if (found) {
		torch_text_print(out, report, found);
		mixed_text_print(out, run, found);
	}
	change_text_print(out, report);
	print_breaks(out, report);
	if (m)
		print_stdout(out, json_object_iter_key(first), m);
	buf_printf(out, "%s, %s, backend %s, %" JSON_INTEGER_FORMAT " thread%s; %.1f s in all\n",
		   text_field_or(device, "name", "unknown"),
		   text_field_or(device, "vector_unit", "unknown"),
		   text_field_or(device, "backend", "unknown"), threads, threads == 1 ? "" : "s",
		   number_field(report, "seconds"));
	print_wall(out, json_object_get(report, "wall_ms"));
	if (note)
		buf_printf(out, "%s\n", note);
	print_order(out, json_object_get(m, "order"));
	arena_finish(&arena);
}
