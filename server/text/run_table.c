/* server/text/run_table.c -- prints a report: the verdicts as sentences, then a table with a row
 * for each point and mode, what a change did, what autocast saved and what engine torch measured.
 */
#include "server/text/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/fields/fields.h"
#include "profiler/findings/findings.h"
#include "profiler/numbers/numbers.h"
#include "profiler/fields/breaks.h"

/* ---- the points of a run; a run without a sweep is one ---- */

struct table_point {
	const struct report_mode_map *modes;
	double n; /* NAN without a sweep */
};

static size_t count_points(const struct report_run *run)
{
	return run->points.n ? run->points.n : 1;
}

static struct table_point point_at(const struct report_run *run, size_t i)
{
	if (run->points.n == 0)
		return (struct table_point){ &run->modes, (double)NAN };
	return (struct table_point){ &run->points.at[i].modes, run->points.at[i].n };
}

static struct table_point last_point(const struct report_run *run)
{
	return point_at(run, count_points(run) - 1);
}

/* " at n = 30"; nothing without a sweep. */
static void print_where(struct buf *out, double n)
{
	if (!isnan(n))
		buf_printf(out, " at n = %lld", (long long)n);
}

/* Whether its values are known not to be eager's. */
static bool disagrees(const struct report_mode *m)
{
	return m->has.agrees && !m->agrees;
}

/* ---- what a change of the program did ---- */

static void print_counts(struct buf *out, const char *what, struct report_counts counts)
{
	buf_printf(out, "; %s %lld -> %lld", what, (long long)counts.before,
		   (long long)counts.after);
}

static void print_change(struct buf *out, const char *mode, const struct report_change *change)
{
	char ratio[4 * NUMBER_BYTES];

	buf_printf(out, "before the change, %s: ", mode);
	if (change->error) {
		buf_printf(out, "it fails: %s\n", change->error->message);
		return;
	}
	buf_puts(out, change->disagreement ? change->disagreement : "the same values");
	if (change->has.prints_less)
		buf_printf(out, ", %lld printed lines left out", (long long)change->prints_less);
	print_counts(out, "breaks", change->breaks);
	print_counts(out, "graphs", change->graphs);
	if (change->verdict) {
		number_interval(ratio, change->speedup, change->speedup_ci, "x");
		buf_printf(out, "; %s as fast now: %s", ratio, change->verdict);
	}
	buf_putc(out, '\n');
}

/* A line for each point and mode; nothing for a report whose workload has no `before`. */
static void change_text_print(struct buf *out, const struct report_run *run)
{
	size_t began = out->len;

	for (size_t i = 0; i < count_points(run); i++) {
		const struct report_mode_map *modes = point_at(run, i).modes;

		for (size_t k = 0; k < modes->n; k++)
			if (modes->at[k].change)
				print_change(out, modes->keys[k], modes->at[k].change);
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
		   report_text(m->verdict), report_text(m->with->rate),
		   report_text(m->without->rate), m->with->activations, m->without->activations,
		   m->error);
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
	buf_printf(out, "\n%-8s  %*s  %8s  %-18s  %-10s  %10s  %10s  %9s  %9s  %9s\n", "mode",
		   text_width(8, found->time_unit), found->time_unit, "without", "speedup",
		   "verdict", "samples/s", "without", activations, "without", "max error");
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

static const struct report_torch *torch_of(const struct report_run *run)
{
	return run->engines ? run->engines->torch : NULL;
}

const char *torch_text_error(const struct report_run *run)
{
	const struct report_torch *torch = torch_of(run);

	return torch && torch->error ? torch->error->message : NULL;
}

static void print_values(struct buf *out, const struct report_torch_mode *m)
{
	const struct report_torch_values *values = m->values;

	if (!values)
		return;
	if (values->agree)
		buf_printf(out, "agree within %.2g%s", values->max_abs_error,
			   strcmp(report_text(values->judge), "float64") == 0
			       ? ", judged by float64"
			       : "");
	else
		buf_printf(out, "DISAGREES: %s%s",
			   values->first ? values->first : "nothing could be compared",
			   m->draws ? " (it draws numbers)" : "");
	if (!values->stdout_same)
		buf_puts(out, "; prints differ");
}

static void print_torch_row(struct buf *out, const char *mode, const struct report_torch_mode *m,
			    const struct report_findings_point *said)
{
	const struct report_findings_mode *of = report_get(said->modes, mode);
	char time[4 * NUMBER_BYTES], speedup[4 * NUMBER_BYTES], ours[4 * NUMBER_BYTES];

	if (said->has.n)
		buf_printf(out, "%6lld  ", (long long)said->n);
	if (m->error) {
		buf_printf(out, "%-8s  failed: %.*s\n", mode, (int)strcspn(m->error, "\n"),
			   m->error);
		return;
	}
	print_figure(time, of->median);
	print_figure(speedup, of->speedup);
	print_figure(ours, of->over_ours);
	buf_printf(out, "%-8s  %-24s  %-20s  %-22s  %10s  ", mode, time, speedup, ours,
		   report_text(of->compile));
	print_values(out, m);
	buf_putc(out, '\n');
}

static void print_torch_point(struct buf *out, const struct report_torch_mode_map *modes,
			      const struct report_findings_point *said)
{
	for (size_t i = 0; i < modes->n; i++)
		print_torch_row(out, modes->keys[i], &modes->at[i], said);
}

/* A row for each point and mode of PyTorch; nothing for a report without that engine. */
static void torch_text_print(struct buf *out, const struct report_run *run,
			     const struct report_findings *found)
{
	const struct report_torch *t = torch_of(run);
	const char *error = torch_text_error(run);
	char compile[NUMBER_BYTES];

	if (!t)
		return;
	snprintf(compile, sizeof(compile), "compile %s", found->compile_unit);
	if (error)
		buf_printf(out, "engine torch failed: %s\n", error);
	if (t->version)
		buf_printf(out, "PyTorch %s%s%s\n%s%-8s  %*s  %-20s  %-22s  %10s  %s\n", t->version,
			   t->device_name ? ", " : "", report_text(t->device_name),
			   t->points.n ? "     n  " : "", "mode", text_width(-24, found->time_unit),
			   found->time_unit, "speedup over its eager", "time over Breakeven's",
			   compile, "values");
	if (t->points.n == 0)
		print_torch_point(out, &t->modes, &found->torch.at[0]);
	for (size_t i = 0; i < t->points.n; i++)
		print_torch_point(out, &t->points.at[i].modes, &found->torch.at[i]);
	if (t->build && t->build->note)
		buf_printf(out, "note: %s\n", t->build->note);
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
		   m->median ? m->median->text : "", range, report_text(m->launches),
		   report_text(m->peak), report_text(m->compile));
	print_range(range, m->speedup);
	if (m->verdict && !m->speedup)
		buf_printf(out, "  %8s  %-13s  %s", "", "", m->verdict);
	else if (m->verdict)
		buf_printf(out, "  %8s  %-13s  %-10s  %12s", m->speedup->text, range, m->verdict,
			   report_text(m->repaid));
	buf_putc(out, '\n');
}

static void print_timed(struct buf *out, const struct report_findings *found)
{
	char peak[NUMBER_BYTES], compile[NUMBER_BYTES];

	snprintf(peak, sizeof(peak), "peak %s", found->bytes_unit);
	snprintf(compile, sizeof(compile), "compile %s", found->compile_unit);
	if (found->points.at[0].has.n)
		buf_printf(out, "%6s  ", "n");
	buf_printf(out, "%-8s  %*s  %-15s  %8s  %10s  %10s  %8s  %-13s  %-10s  %12s\n", "mode",
		   text_width(8, found->time_unit), found->time_unit, "95 %", "launches", peak,
		   compile, "speedup", "95 %", "verdict", "repaid after");
	for (size_t i = 0; i < found->points.n; i++)
		for (size_t k = 0; k < found->points.at[i].modes.n; k++)
			print_row(out, &found->points.at[i], k);
}

/* ---- where the time of a call goes ---- */

static void print_parts(struct buf *out, const char *mode, const struct report_findings_split *s)
{
	buf_printf(out, "%-8s  %8s  %8s  %8s  %8s  %8s  %14s  %12s  %16s\n", mode, s->guards,
		   s->dispatch, s->alloc, s->launch, s->kernel, s->rest, s->watched, s->median);
}

/* At the last point; nothing where no call was watched. */
static void print_split(struct buf *out, const struct report_findings *found)
{
	const struct report_findings_point *at = &found->points.at[found->points.n - 1];
	char n[NUMBER_BYTES];

	if (!at->split)
		return;
	buf_printf(out, "%s\nwhere one call's time goes", at->split);
	if (at->has.n) {
		number_plain(n, at->n);
		buf_printf(out, " at n = %s", n);
	}
	buf_printf(out, ", %s\n%-8s  %8s  %8s  %8s  %8s  %8s  %14s  %12s  %16s\n", at->split_unit,
		   "mode", "guards", "dispatch", "alloc", "launch", "kernel", "not attributed",
		   "watched call", "median unwatched");
	for (size_t i = 0; i < at->modes.n; i++)
		if (at->modes.at[i].split)
			print_parts(out, at->modes.keys[i], at->modes.at[i].split);
	buf_putc(out, '\n');
}

/* Of the modes of a point; nothing where memory was not watched. */
static void print_memory_checks(struct buf *out, const struct report_mode_map *modes)
{
	int64_t blocks = 0, looks = 0;

	for (size_t i = 0; i < modes->n; i++) {
		const struct report_memory_checks *checks = modes->at[i].memory_checks;

		if (!checks)
			return;
		blocks += checks->blocks;
		looks += checks->looks;
	}
	if (blocks > 0)
		buf_printf(out,
			   "memory was watched: %lld blocks, their guard words looked at %lld "
			   "times, none overwritten\n",
			   (long long)blocks, (long long)looks);
}

static void print_untimed_row(struct buf *out, double n, const char *mode,
			      const struct report_mode *m)
{
	char compile[NUMBER_BYTES], error[NUMBER_BYTES] = "", point[NUMBER_BYTES] = "";

	if (!isnan(n))
		number_short(point, n);
	number_short(compile, m->compile_ms);
	if (m->has.max_abs_error)
		snprintf(error, sizeof(error), "%.2g", m->max_abs_error);
	buf_printf(out, "%6s  %-8s  %6zu  %6zu  %8.0f  %10s  %s%s\n", point, mode, m->calls.n,
		   m->graphs.n, m->launches, compile, error, disagrees(m) ? "  DISAGREES" : "");
}

static void print_untimed(struct buf *out, const struct report_run *run)
{
	buf_printf(out, "%6s  %-8s  %6s  %6s  %8s  %10s  %s\n", run->points.n ? "n" : "", "mode",
		   "calls", "graphs", "launches", "compile ms", "max error against eager");
	for (size_t i = 0; i < count_points(run); i++) {
		struct table_point at = point_at(run, i);

		for (size_t k = 0; k < at.modes->n; k++)
			print_untimed_row(out, at.n, at.modes->keys[k], &at.modes->at[k]);
	}
	print_memory_checks(out, point_at(run, 0).modes);
}

/* Before all else, the modes whose values are not eager's. */
static void print_disagreements(struct buf *out, const struct report_run *run)
{
	size_t began = out->len;

	for (size_t i = 0; i < count_points(run); i++) {
		struct table_point at = point_at(run, i);

		for (size_t k = 0; k < at.modes->n; k++) {
			const struct report_mode *m = &at.modes->at[k];

			if (!disagrees(m))
				continue;
			buf_printf(out, "DISAGREES: %s", at.modes->keys[k]);
			print_where(out, at.n);
			buf_printf(out, ": %s\n",
				   m->disagreement ? m->disagreement
						   : "its values differ from eager's");
		}
	}
	if (out->len > began)
		buf_putc(out, '\n');
}

/* What differs from eager, and may. */
static void print_within(struct buf *out, const struct report_run *run)
{
	const struct report_mode_map *modes = last_point(run).modes;

	for (size_t i = 0; i < modes->n; i++) {
		const struct report_agreement *a = modes->at[i].agreement;

		if (a && strcmp(a->verdict, "within_dtype") == 0)
			buf_printf(out, "values: %s: %s\n", modes->keys[i], report_text(a->text));
	}
}

static void print_warnings(struct buf *out, const struct report_run *run)
{
	int warnings = 0;

	for (size_t i = 0; i < count_points(run); i++) {
		struct table_point at = point_at(run, i);

		for (size_t k = 0; k < at.modes->n; k++) {
			const struct report_latency *latency = at.modes->at[k].latency;

			if (!latency || !latency->noise || ++warnings > MAX_WARNINGS)
				continue;
			buf_printf(out, "noise: %s", at.modes->keys[k]);
			print_where(out, at.n);
			buf_printf(out, ": %s\n", latency->noise);
		}
	}
	if (warnings > MAX_WARNINGS)
		buf_printf(out, "noise: %d more figures carry a warning; --json has them all\n",
			   warnings - MAX_WARNINGS);
}

/* What the machine did while samples were taken. */
static void print_machine(struct buf *out, const struct report_run *run)
{
	const struct report_machine *m = run->machine;

	if (!m)
		return;
	buf_printf(out, "machine: %s\n", m->text);
	if (m->gpu && m->gpu->aside)
		buf_printf(out,
			   "machine: %lld rounds were set aside, in which the GPU ran below its "
			   "clocks\n",
			   (long long)m->gpu->aside);
	for (size_t i = 0; i < m->unknown.n; i++)
		buf_printf(out, "machine: it does not tell %s\n", m->unknown.at[i]);
	if (run->one_process)
		buf_printf(out, "machine: one process took the samples: %s\n", run->one_process);
	if (run->wide)
		buf_printf(out, "machine: %s\n", run->wide);
}

/* "static: 2 graph breaks; the first, line 4: ..." of the breaks of a mode; nothing without. */
static void break_text_short(struct buf *out, const char *mode,
			     const struct report_break_list *breaks)
{
	int distinct = (int)break_distinct(breaks, NULL);

	if (!distinct)
		return;
	buf_printf(out, "%s: %d graph break%s; %sline %d: %s\n", mode, distinct,
		   distinct == 1 ? "" : "s", distinct == 1 ? "" : "the first, ",
		   break_place_of(&breaks->at[0]).line, breaks->at[0].message);
}

/* How often each mode breaks, at the last point of a sweep, and what that costs. */
static void print_breaks(struct buf *out, const struct report_run *run,
			 const struct report_findings *found)
{
	const struct report_mode_map *modes = last_point(run).modes;
	size_t before = out->len;

	for (size_t i = 0; i < modes->n; i++) {
		const struct report_findings_mode *said =
		    found ? report_get(found->points.at[found->points.n - 1].modes, modes->keys[i])
			  : NULL;

		break_text_short(out, modes->keys[i], &modes->at[i].breaks);
		if (!said || !said->breaks || !modes->at[i].break_cost)
			continue;
		buf_puts(out, "  ");
		sentence_say(out, &said->breaks->sentence);
		buf_putc(out, '\n');
	}
	if (out->len > before)
		buf_puts(out, "`breakeven explain` shows each with its line and what to write "
			      "instead.\n\n");
}

/* What the program printed in its first mode: the same in all. */
static void print_stdout(struct buf *out, const char *mode, const struct report_mode *m)
{
	for (size_t i = 0; i < m->calls.n; i++) {
		const char *text = report_text(m->calls.at[i].stdout);

		if (!*text)
			continue;
		buf_printf(out, "%s, call %zu, printed:\n", mode, i);
		buf_puts(out, text);
		buf_puts(out, text[strlen(text) - 1] == '\n' ? "\n" : "\n\n");
	}
}

/* On a device: the figures of one mode; all others are ordered in the same way. */
static void print_order(struct buf *out, const struct report_order *order)
{
	buf_printf(out,
		   "its launches, copies and sets go into %lld stream%s in the order of the "
		   "calls%s\n",
		   (long long)order->streams, order->streams == 1 ? "" : "s",
		   order->events == 0 ? ", no event is waited for" : "");
}

bool run_table_agrees(const struct report_run *run)
{
	for (size_t i = 0; i < count_points(run); i++) {
		const struct report_mode_map *modes = point_at(run, i).modes;

		for (size_t k = 0; k < modes->n; k++)
			if (disagrees(&modes->at[k]))
				return false;
	}
	return true;
}

/* "wall time: setup 1.2 s, compile 0.3 s": parts below a thousandth of it are left out. */
static void print_wall(struct buf *out, const struct report_wall *wall)
{
	const struct {
		const char *name;
		double ms;
	} parts[] = {
		{ "setup", wall->setup },         { "compile", wall->compile },
		{ "warm-up", wall->warm_up },     { "measuring", wall->measuring },
		{ "comparing", wall->comparing }, { "storing", wall->storing },
		{ "other", wall->other },
	};
	const char *between = "wall time: ";

	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		if (!(parts[i].ms >= wall->total / 1000))
			continue;
		buf_printf(out, "%s%s %.2f s", between, parts[i].name, parts[i].ms / 1000);
		between = ", ";
	}
	buf_putc(out, '\n');
}

static void print_device(struct buf *out, const struct report_run *run)
{
	static const struct report_device unknown;
	const struct report_device *device = run->device ? run->device : &unknown;

	buf_printf(out, "%s, %s, backend %s, %lld thread%s; %.1f s in all\n",
		   device->name ? device->name : "unknown",
		   device->vector_unit ? device->vector_unit : "unknown",
		   device->backend ? device->backend : "unknown", (long long)device->threads,
		   device->threads == 1 ? "" : "s", run->seconds);
	if (run->wall_ms)
		print_wall(out, run->wall_ms);
	if (device->backend_note)
		buf_printf(out, "%s\n", device->backend_note);
}

/* What another tool measured: a line a figure. */
static void print_result(struct buf *out, const struct report_run *run)
{
	buf_printf(out, "%s\n", run->workload ? report_text(run->workload->name) : "");
	for (size_t i = 0; i < run->modes.n; i++) {
		const struct report_mode *mode = &run->modes.at[i];
		const struct report_measure *m = mode->measure;

		buf_printf(out, "  %-18s %s", run->modes.keys[i], m ? report_text(m->shown) : "");
		if (m && m->of)
			buf_printf(out, "  %s", m->of);
		buf_puts(out, disagrees(mode) ? "  DISAGREES\n" : "\n");
	}
}

void run_table_print(struct buf *out, const struct report_run *run)
{
	struct arena arena = { 0 };
	struct err err = { 0 };
	const struct report_findings *found = findings_make(run, &arena, &err);
	const struct report_mode_map *modes = point_at(run, 0).modes;
	const struct report_mode *m = modes->n ? &modes->at[0] : NULL;

	if (run->result) {
		print_result(out, run);
		arena_finish(&arena);
		return;
	}
	if (run->partial)
		buf_printf(out,
			   "partial: %lld of the sweep's %lld points were measured before the run "
			   "ended\n\n",
			   (long long)run->partial->measured, (long long)run->partial->of);
	print_disagreements(out, run);
	if (!found)
		buf_printf(out, "%s\n\n", err.message);
	if (found && m && (m->has.latency || m->written.latency == REPORT_NULL)) {
		print_sentences(out, found);
		buf_putc(out, '\n');
		print_timed(out, found);
		buf_putc(out, '\n');
		print_split(out, found);
		print_within(out, run);
		print_warnings(out, run);
		print_machine(out, run);
	} else {
		print_untimed(out, run);
		buf_putc(out, '\n');
	}
	if (found) {
		torch_text_print(out, run, found);
		mixed_text_print(out, run, found);
	}
	change_text_print(out, run);
	print_breaks(out, run, found);
	if (m)
		print_stdout(out, modes->keys[0], m);
	print_device(out, run);
	if (m && m->order)
		print_order(out, m->order);
	arena_finish(&arena);
}

static bool show_json(const struct report_run *run)
{
	json_t *json = report_write_run(run);
	bool ok = json && json_dumpf(json, stdout, JSON_COMPACT) == 0 && putchar('\n') != EOF &&
		  fflush(stdout) == 0;

	json_decref(json);
	return ok;
}

bool run_table_show(const struct report_run *run, bool json)
{
	struct buf text;
	bool ok;

	if (json)
		return show_json(run);
	buf_init(&text, 0);
	run_table_print(&text, run);
	ok = text.data && fputs(text.data, stdout) != EOF && fflush(stdout) == 0;
	buf_finish(&text);
	return ok;
}
