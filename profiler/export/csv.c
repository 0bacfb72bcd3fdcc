/* profiler/export/csv.c -- tables: kernels, modes or breaks, a row a line (RFC 4180).
 *
 * Names of columns hold their units.  A cell that a spreadsheet would take for a formula
 * has an apostrophe in front.
 */
#include <math.h>
#include <string.h>

#include "profiler/export/job.h"
#include "profiler/export/kernels.h"

static void end_row(struct out *o)
{
	out_puts(o, "\r\n");
}

static void put_cell(struct out *o, const char *text)
{
	buf_csv(&o->pending, text);
	out_puts(o, "");
}

static void text_cell(struct out *o, const char *text)
{
	put_cell(o, text);
	out_puts(o, ",");
}

static void count_cell(struct out *o, bool has, int64_t count)
{
	if (has)
		out_printf(o, "%lld", (long long)count);
	out_puts(o, ",");
}

static void number_cell(struct out *o, double x)
{
	if (isfinite(x))
		out_printf(o, "%.15g", x);
	out_puts(o, ",");
}

static void interval_cells(struct out *o, struct report_interval ci)
{
	number_cell(o, ci.low);
	number_cell(o, ci.high);
}

/* ---- kernels ---- */

/* "add; mul" or "4; 5". */
static void list_cell(struct out *o, const json_t *list)
{
	const json_t *item;
	struct buf text;
	size_t i;

	buf_init(&text, 0);
	json_array_foreach(list, i, item)
	{
		buf_puts(&text, i ? "; " : "");
		if (json_is_integer(item))
			buf_printf(&text, "%lld", (long long)json_integer_value(item));
		else
			buf_puts(&text, json_string_value(item) ? json_string_value(item) : "");
	}
	put_cell(o, text.data);
	buf_finish(&text);
}

static void kernel_row(struct export_job *job, const struct kernel_total *t)
{
	struct timeline_lane lane = job_lane(job, t->lane);
	struct timeline_name at = timeline_name_at(&job->tables, t->name);
	struct out *o = &job->out;

	text_cell(o, lane.mode);
	count_cell(o, lane.has.n, lane.n);
	text_cell(o, lane.name);
	text_cell(o, timeline_kind_name(t->kind));
	text_cell(o, job_name(job, t->name));
	out_printf(o, "%lld,", (long long)t->events);
	out_us(o, t->sum_ns);
	out_printf(o, ",%.6g,", (double)t->sum_ns / 1e3 / (double)t->events);
	out_us(o, t->most_ns);
	out_printf(o, ",%lld,", (long long)t->bytes);
	count_cell(o, at.has.graph, at.graph);
	list_cell(o, at.lines);
	out_puts(o, ",");
	list_cell(o, at.ops);
	end_row(o);
}

static bool write_kernels(struct export_job *job, struct err *err)
{
	struct kernels k;
	bool ok = kernels_gather(&k, job, err);

	out_puts(&job->out, "mode,n,lane,kind,kernel,count,total_us,mean_us,longest_us,bytes,graph,"
			    "lines,ops");
	end_row(&job->out);
	for (size_t i = 0; ok && i < k.n; i++)
		kernel_row(job, &k.slots[i]);
	kernels_finish(&k);
	return ok;
}

/* ---- modes ---- */

static void latency_cells(struct out *o, const struct report_latency *latency)
{
	number_cell(o, latency ? latency->median_us : (double)NAN);
	interval_cells(o, latency ? latency->ci_us : (struct report_interval){ NAN, NAN });
	count_cell(o, latency && latency->has.n, latency ? latency->n : 0);
}

static void split_cells(struct out *o, const struct report_split *split)
{
	static const struct report_split none = { .guards = NAN,
						  .dispatch = NAN,
						  .alloc = NAN,
						  .launch = NAN,
						  .kernel = NAN,
						  .rest = NAN };

	split = split ? split : &none;
	number_cell(o, split->guards);
	number_cell(o, split->dispatch);
	number_cell(o, split->alloc);
	number_cell(o, split->launch);
	number_cell(o, split->kernel);
	number_cell(o, split->rest);
}

static bool mode_row(void *self, const struct job_mode *at)
{
	static const struct report_comparison none = { .speedup = NAN,
						       .speedup_ci = { NAN, NAN },
						       .calls_to_repay = NAN };
	const struct report_mode *m = at->m;
	const struct report_comparison *paid = at->paid ? at->paid : &none;
	struct out *o = self;

	text_cell(o, at->mode);
	count_cell(o, at->has_n, at->n);
	text_cell(o, at->engine ? at->engine : "breakeven");
	latency_cells(o, m->latency);
	split_cells(o, m->split_us);
	number_cell(o, m->launches);
	number_cell(o, m->compile_ms);
	count_cell(o, m->has.peak_bytes, m->peak_bytes);
	out_printf(o, "%zu,%zu,", m->graphs.n, at->breaks);
	number_cell(o, paid->speedup);
	interval_cells(o, paid->speedup_ci);
	text_cell(o, paid->verdict);
	number_cell(o, paid->calls_to_repay);
	put_cell(o, m->latency ? m->latency->noise : NULL);
	end_row(o);
	return true;
}

static void write_modes(struct export_job *job)
{
	out_puts(
	    &job->out,
	    "mode,n,engine,median_us,median_low_us,median_high_us,samples,guards_us,dispatch_us,"
	    "alloc_us,launch_us,kernel_us,rest_us,launches,compile_ms,peak_bytes,graphs,breaks,"
	    "speedup,speedup_low,speedup_high,verdict,calls_to_repay,noise");
	end_row(&job->out);
	job_modes(job, mode_row, &job->out);
}

/* ---- breaks ---- */

static void break_row(void *self, const struct job_break *b)
{
	struct out *o = self;

	text_cell(o, b->mode);
	count_cell(o, b->has_n, b->n);
	text_cell(o, b->file);
	count_cell(o, true, b->line);
	text_cell(o, b->stage);
	text_cell(o, b->kind);
	text_cell(o, b->outcome);
	text_cell(o, b->gb);
	count_cell(o, b->has_graph, b->graph);
	count_cell(o, true, b->count);
	number_cell(o, b->cost_us);
	text_cell(o, b->message);
	put_cell(o, b->hint);
	end_row(o);
}

static void write_breaks(struct export_job *job)
{
	out_puts(&job->out,
		 "mode,n,file,line,stage,kind,outcome,gb,graph,count,cost_us,message,hint");
	end_row(&job->out);
	job_breaks(job, break_row, &job->out);
}

bool export_csv(struct export_job *job, struct err *err)
{
	const char *table = job->query->table;

	if (!table || !*table || strcmp(table, "kernels") == 0)
		return write_kernels(job, err);
	if (strcmp(table, "modes") == 0)
		write_modes(job);
	else if (strcmp(table, "breaks") == 0)
		write_breaks(job);
	else
		return err_set(err, ERR_BAD_REQUEST,
			       "table=%.40s: one of kernels, modes, breaks is needed", table);
	return true;
}
