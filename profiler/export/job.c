/* profiler/export/job.c -- one export under way, as its writer sees it. */
#include "profiler/export/job.h"

#include <math.h>
#include <string.h>

#include "profiler/fields/breaks.h"
#include "profiler/profiler.h"

struct timeline_reading {
	struct export_job *job;
	struct timeline_chunk chunk;
	job_event_fn *each;
	void *self;
	int64_t t0_ns, t1_ns; /* what reaches in between is wanted */
};

static bool read_chunk(void *self, const void *block, size_t len, struct err *err)
{
	struct timeline_reading *r = self;
	const struct export_job *job = r->job;
	const struct timeline_chunk *c = &r->chunk;
	int64_t t0 = r->t0_ns, t1 = r->t1_ns;
	struct timeline_block b;

	if (!timeline_block_read(block, len, &b, err))
		return false;
	timeline_recorded_span(&job->tables, &t0, &t1);
	if (b.t0_ns > t1 || b.t1_ns < t0)
		return true;
	if (!timeline_chunk_read(&r->chunk, &job->tables, &b, err))
		return false;
	for (int i = 0; i < c->n; i++) {
		struct timeline_event e = timeline_chunk_event(c, i);

		if (e.lane >= job->n_lanes || !job->wanted[e.lane] || e.start_ns > r->t1_ns ||
		    e.start_ns + e.duration_ns < r->t0_ns)
			continue;
		e.name = e.name < job->n_names ? e.name : 0;
		e.shape = e.shape <= job->n_shapes ? e.shape : 0;
		if (!r->each(r->self, &e, err))
			return false;
	}
	return true;
}

bool job_events(struct export_job *job, job_event_fn *each, void *self, struct err *err)
{
	const struct export_query *q = job->query;
	int64_t begin = q->has_window ? job_begin_ns(job) : 0;
	struct timeline_reading r = { .job = job,
				      .each = each,
				      .self = self,
				      .t0_ns = q->has_window ? begin + q->t0_ns : INT64_MIN,
				      .t1_ns = q->has_window ? begin + q->t1_ns : INT64_MAX };
	bool ok = timeline_chunk_create(&r.chunk, err) &&
		  job->run->blocks(job->run->store, TIMELINE_CHUNK, read_chunk, &r, err);

	timeline_chunk_destroy(&r.chunk);
	return ok;
}

const char *job_name(const struct export_job *job, uint32_t name)
{
	const char *text = json_string_value(
	    json_object_get(json_array_get(job->tables.names, name), "name"));

	return text ? text : "unnamed";
}

int64_t job_begin_ns(const struct export_job *job)
{
	struct timeline_extent e;
	int64_t begin = 0;
	bool any = false;

	for (size_t i = 0; timeline_extent_at(&job->tables, i, &e); i++) {
		if (e.lane >= job->n_lanes || !job->wanted[e.lane])
			continue;
		begin = !any || e.t0_ns < begin ? e.t0_ns : begin;
		any = true;
	}
	return begin;
}

bool job_lane_is_device(const struct export_job *job, size_t lane)
{
	const char *role = job_lane(job, lane).role;

	return role && strcmp(role, "kernels") == 0;
}

static bool is_wanted(const struct export_job *job, const struct job_mode *at)
{
	const struct export_query *q = job->query;

	return (!q->has_n || (at->has_n && at->n == q->n)) &&
	       (!q->mode || strcmp(q->mode, at->mode) == 0);
}

static bool each_mode(const struct export_job *job, struct job_mode at,
		      const struct report_mode_map *modes, const struct report_comparison_map *paid,
		      job_mode_fn *each, void *self)
{
	for (size_t i = 0; i < modes->n; i++) {
		at.mode = modes->keys[i];
		at.m = &modes->at[i];
		at.breaks = (size_t)break_distinct(&at.m->breaks, NULL);
		at.paid = report_get(*paid, at.mode);
		if (is_wanted(job, &at) && !each(self, &at))
			return false;
	}
	return true;
}

static bool each_torch_mode(const struct export_job *job, struct job_mode at,
			    const struct report_torch_mode_map *modes,
			    const struct report_comparison_map *paid, job_mode_fn *each, void *self)
{
	for (size_t i = 0; i < modes->n; i++) {
		const struct report_torch_mode *m = &modes->at[i];
		struct report_mode same = { .latency = m->latency,
					    .compile_ms = m->compile_ms,
					    .peak_bytes = m->peak_bytes,
					    .launches = NAN };

		same.has.peak_bytes = m->has.peak_bytes;
		at.mode = modes->keys[i];
		at.m = &same;
		at.breaks = m->breaks.n;
		at.paid = report_get(*paid, at.mode);
		if (is_wanted(job, &at) && !each(self, &at))
			return false;
	}
	return true;
}

void job_modes(const struct export_job *job, job_mode_fn *each, void *self)
{
	const struct report_run *r = job->found;
	const struct report_torch *torch = r && r->engines ? r->engines->torch : NULL;
	struct job_mode at = { 0 };

	if (!r || !each_mode(job, at, &r->modes, &r->break_even, each, self))
		return;
	at.has_n = true;
	for (size_t i = 0; i < r->points.n; i++) {
		const struct report_point *point = &r->points.at[i];

		at.n = (int64_t)point->n;
		if (!each_mode(job, at, &point->modes, &point->break_even, each, self))
			return;
	}
	at = (struct job_mode){ .engine = "torch" };
	if (!torch || !each_torch_mode(job, at, &torch->modes, &torch->break_even, each, self))
		return;
	for (size_t i = 0; i < torch->points.n; i++) {
		const struct report_torch_point *point = &torch->points.at[i];

		at.has_n = point->has.n;
		at.n = point->has.n ? (int64_t)point->n : 0;
		if (!each_torch_mode(job, at, &point->modes, &point->break_even, each, self))
			return;
	}
}

struct job_walk {
	job_break_fn *each;
	void *self;
};

static bool each_break(void *self, const struct job_mode *at)
{
	const struct job_walk *w = self;
	struct report_break_list breaks = at->m->breaks;

	for (size_t i = 0; !at->engine && i < breaks.n; i++) {
		const struct report_break *b = &breaks.at[i];

		w->each(w->self, &(struct job_break){ .own = true,
						      .index = i,
						      .mode = at->mode,
						      .has_n = at->has_n,
						      .n = at->n,
						      .line = break_place_of(b).line,
						      .stage = b->stage,
						      .kind = b->kind,
						      .outcome = b->outcome,
						      .gb = b->gb,
						      .message = b->message,
						      .hint = b->hint,
						      .has_graph = b->has.graph,
						      .graph = b->graph,
						      .count = b->count,
						      .cost_us = b->cost_us });
	}
	return !at->engine;
}

/* The line that a break of a log is at: that of its cause, of its innermost call, or its own. */
static int64_t line_of(const struct report_import_break *b)
{
	return b->cause ? b->cause->line : b->stack.n ? b->stack.at[b->stack.n - 1].line : b->line;
}

void job_breaks(const struct export_job *job, job_break_fn *each, void *self)
{
	const struct report_import *import = job->found ? job->found->import : NULL;

	job_modes(job, each_break, &(struct job_walk){ each, self });
	for (size_t i = 0; import && i < import->breaks.n; i++) {
		const struct report_import_break *b = &import->breaks.at[i];
		double host_us = b->cost ? b->cost->host_us_per_call : (double)NAN;

		each(self, &(struct job_break){ .mode = b->mode,
						.has_n = b->has.n,
						.n = b->has.n ? (int64_t)b->n : 0,
						.file = b->file,
						.line = line_of(b),
						.stage = b->stage,
						.kind = b->kind,
						.outcome = b->outcome,
						.gb = b->gb,
						.message = b->message,
						.hint = b->hint,
						.has_graph = b->has.graph,
						.graph = b->graph,
						.count = b->count,
						.cost_us = b->has.cost_us ? b->cost_us : host_us });
	}
}
