/* profiler/export/csv.c -- tables: kernels, modes or breaks, a row a line (RFC 4180).
 *
 * Names of columns hold their units.  A cell that a spreadsheet would take for a formula
 * has an apostrophe in front.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/export/job.h"

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

struct total {
	int64_t events, sum_ns, most_ns, bytes;
	uint32_t lane, name, kind;
};

struct kernels {
	struct export_job *job;
	struct total *slots; /* by lane, name and kind */
	size_t n, cap;
};

static struct total *slot_of(struct total *slots, size_t cap, const struct timeline_event *e)
{
	uint64_t at = (((uint64_t)e->lane << 40) ^ ((uint64_t)e->name << 8) ^ e->kind) *
		      UINT64_C(0x9e3779b97f4a7c15);

	for (at >>= 20;; at++) {
		struct total *t = &slots[at & (cap - 1)];

		if (!t->events || (t->lane == e->lane && t->name == e->name && t->kind == e->kind))
			return t;
	}
}

static bool grow(struct kernels *k)
{
	size_t cap = k->cap ? 2 * k->cap : 1024;
	struct total *slots = calloc(cap, sizeof(*slots));

	if (!slots)
		return false;
	for (size_t i = 0; i < k->cap; i++) {
		const struct total *t = &k->slots[i];
		struct timeline_event e = { .lane = t->lane, .name = t->name, .kind = t->kind };

		if (t->events)
			*slot_of(slots, cap, &e) = *t;
	}
	free(k->slots);
	k->slots = slots;
	k->cap = cap;
	return true;
}

static bool add_kernel(void *self, const struct timeline_event *e, struct err *err)
{
	struct kernels *k = self;
	struct total *t;

	if (!job_lane_is_device(k->job, e->lane))
		return true;
	if (2 * k->n >= k->cap && !grow(k))
		return err_set(err, ERR_MEMORY, "out of memory for the kernels");
	t = slot_of(k->slots, k->cap, e);
	k->n += t->events == 0;
	t->lane = e->lane;
	t->name = e->name;
	t->kind = e->kind;
	t->events++;
	t->sum_ns += e->duration_ns;
	t->bytes += e->bytes;
	t->most_ns = e->duration_ns > t->most_ns ? e->duration_ns : t->most_ns;
	return true;
}

/* Those of no events last. */
static int by_sum(const void *a, const void *b)
{
	const struct total *x = a, *y = b;

	if (!x->events != !y->events)
		return x->events ? -1 : 1;
	if (x->sum_ns != y->sum_ns)
		return x->sum_ns > y->sum_ns ? -1 : 1;
	return x->lane != y->lane ? (x->lane > y->lane) - (x->lane < y->lane)
				  : (x->name > y->name) - (x->name < y->name);
}

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

static void kernel_row(struct export_job *job, const struct total *t)
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
	struct kernels k = { .job = job };
	bool ok = job_events(job, add_kernel, &k, err);

	out_puts(&job->out, "mode,n,lane,kind,kernel,count,total_us,mean_us,longest_us,bytes,graph,"
			    "lines,ops");
	end_row(&job->out);
	if (ok && k.cap)
		qsort(k.slots, k.cap, sizeof(*k.slots), by_sum);
	for (size_t i = 0; ok && i < k.n; i++)
		kernel_row(job, &k.slots[i]);
	free(k.slots);
	return ok;
}

/* ---- modes ---- */

static const json_t *in(const json_t *json, const char *key, const char *inner)
{
	return json_object_get(json_object_get(json, key), inner);
}

static bool mode_row(void *self, const json_t *n, const char *mode, const json_t *m,
		     const json_t *paid)
{
	static const char *const parts[] = { "guards", "dispatch", "alloc",
					     "launch", "kernel",   "rest" };
	const json_t *ci = in(m, "latency", "ci_us"), *ratio = json_object_get(paid, "speedup_ci");
	struct out *o = self;

	text_cell(o, mode);
	number_cell(o, n);
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
	    "mode,n,median_us,median_low_us,median_high_us,samples,guards_us,dispatch_us,"
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

static bool break_rows(void *self, const json_t *n, const char *mode, const json_t *m,
		       const json_t *paid)
{
	const json_t *item;
	size_t i;

	(void)paid;
	json_array_foreach(json_object_get(m, "breaks"), i, item) break_row(self, mode, n, item);
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
