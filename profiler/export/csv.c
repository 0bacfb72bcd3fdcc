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

static void text_cell(struct out *o, const char *text)
{
	out_cell(o, text);
	out_puts(o, ",");
}

static void number_cell(struct out *o, const json_t *number)
{
	if (json_is_integer(number))
		out_printf(o, "%lld", (long long)json_integer_value(number));
	else if (json_is_real(number) && isfinite(json_real_value(number)))
		out_printf(o, "%.15g", json_real_value(number));
	out_puts(o, ",");
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
	out_cell(o, text.data);
	buf_finish(&text);
}

static void kernel_row(struct export_job *job, const struct kernel_total *t)
{
	const json_t *lane = job_lane(job, t->lane),
		     *name = json_array_get(job->tables.names, t->name);
	struct out *o = &job->out;

	text_cell(o, json_string_value(json_object_get(lane, "mode")));
	number_cell(o, json_object_get(lane, "n"));
	text_cell(o, json_string_value(json_object_get(lane, "name")));
	text_cell(o, timeline_kind_name(t->kind));
	text_cell(o, job_name(job, t->name));
	out_printf(o, "%lld,", (long long)t->events);
	out_us(o, t->sum_ns);
	out_printf(o, ",%.6g,", (double)t->sum_ns / 1e3 / (double)t->events);
	out_us(o, t->most_ns);
	out_printf(o, ",%lld,", (long long)t->bytes);
	number_cell(o, json_object_get(name, "graph"));
	list_cell(o, json_object_get(name, "lines"));
	out_puts(o, ",");
	list_cell(o, json_object_get(name, "ops"));
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

static const json_t *in(const json_t *json, const char *key, const char *inner)
{
	return json_object_get(json_object_get(json, key), inner);
}

static bool mode_row(void *self, const struct job_mode *at)
{
	static const char *const parts[] = { "guards", "dispatch", "alloc",
					     "launch", "kernel",   "rest" };
	const json_t *m = at->report, *paid = at->break_even;
	const json_t *ci = in(m, "latency", "ci_us"), *ratio = json_object_get(paid, "speedup_ci");
	struct out *o = self;

	text_cell(o, at->mode);
	number_cell(o, at->n);
	text_cell(o, at->engine ? at->engine : "breakeven");
	number_cell(o, in(m, "latency", "median_us"));
	number_cell(o, json_array_get(ci, 0));
	number_cell(o, json_array_get(ci, 1));
	number_cell(o, in(m, "latency", "n"));
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
		number_cell(o, in(m, "split_us", parts[i]));
	number_cell(o, json_object_get(m, "launches"));
	number_cell(o, json_object_get(m, "compile_ms"));
	number_cell(o, json_object_get(m, "peak_bytes"));
	out_printf(o, "%zu,%zu,", json_array_size(json_object_get(m, "graphs")),
		   json_array_size(json_object_get(m, "breaks")));
	number_cell(o, json_object_get(paid, "speedup"));
	number_cell(o, json_array_get(ratio, 0));
	number_cell(o, json_array_get(ratio, 1));
	text_cell(o, json_string_value(json_object_get(paid, "verdict")));
	number_cell(o, json_object_get(paid, "calls_to_repay"));
	out_cell(o, json_string_value(in(m, "latency", "noise")));
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

static void break_row(struct out *o, const char *mode, const json_t *n, const json_t *b)
{
	static const char *const texts[] = { "stage", "kind", "outcome", "gb" };
	const json_t *cost = json_object_get(b, "cost_us");

	text_cell(o, mode);
	number_cell(o, n);
	text_cell(o, json_string_value(json_object_get(b, "file")));
	out_printf(o, "%lld,", (long long)job_break_line(b));
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		text_cell(o, json_string_value(json_object_get(b, texts[i])));
	number_cell(o, json_object_get(b, "graph"));
	number_cell(o, json_object_get(b, "count"));
	number_cell(o, json_is_number(cost) ? cost : in(b, "cost", "host_us_per_call"));
	text_cell(o, json_string_value(json_object_get(b, "message")));
	out_cell(o, json_string_value(json_object_get(b, "hint")));
	end_row(o);
}

static bool break_rows(void *self, const struct job_mode *at)
{
	const json_t *item;
	size_t i;

	if (at->engine)
		return false;
	json_array_foreach(json_object_get(at->report, "breaks"), i, item)
	    break_row(self, at->mode, at->n, item);
	return true;
}

static void write_breaks(struct export_job *job)
{
	const json_t *item, *imported = json_object_get(job->report, "import");
	size_t i;

	out_puts(&job->out,
		 "mode,n,file,line,stage,kind,outcome,gb,graph,count,cost_us,message,hint");
	end_row(&job->out);
	job_modes(job, break_rows, &job->out);
	json_array_foreach(json_object_get(imported, "breaks"), i, item)
	    break_row(&job->out, json_string_value(json_object_get(item, "mode")),
		      json_object_get(item, "n"), item);
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
