/* profiler/export/job.c -- one export under way, as its writer sees it. */
#include "profiler/export/job.h"

#include <string.h>

struct reading {
	struct export_job *job;
	struct timeline_chunk chunk;
	job_event_fn *each;
	void *self;
	int64_t t0_ns, t1_ns; /* what reaches in between is wanted */
};

static bool read_chunk(void *self, const void *block, size_t len, struct err *err)
{
	struct reading *r = self;
	const struct export_job *job = r->job;
	const struct timeline_chunk *c = &r->chunk;
	struct timeline_block b;

	if (!timeline_block_read(block, len, &b, err))
		return false;
	if (b.t0_ns > r->t1_ns || b.t1_ns < r->t0_ns)
		return true;
	if (!timeline_chunk_read(&r->chunk, &b, err))
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
	struct reading r = { .job = job,
			     .each = each,
			     .self = self,
			     .t0_ns = q->has_window ? begin + q->t0_ns : INT64_MIN,
			     .t1_ns = q->has_window ? begin + q->t1_ns : INT64_MAX };
	bool ok = timeline_chunk_create(&r.chunk, err) &&
		  job->run->blocks(job->run->store, TIMELINE_CHUNK, read_chunk, &r, err);

	timeline_chunk_destroy(&r.chunk);
	return ok;
}

const json_t *job_lane(const struct export_job *job, size_t lane)
{
	return json_array_get(job->tables.lanes, lane);
}

const char *job_name(const struct export_job *job, uint32_t name)
{
	const char *text = json_string_value(
	    json_object_get(json_array_get(job->tables.names, name), "name"));

	return text ? text : "unnamed";
}

int64_t job_begin_ns(const struct export_job *job)
{
	const json_t *extents = json_object_get(job->tables.facts, "extents"), *row;
	int64_t begin = 0;
	bool any = false;
	size_t i;

	json_array_foreach(extents, i, row)
	{
		size_t lane = (size_t)json_integer_value(json_array_get(row, 0));
		int64_t t0 = json_integer_value(json_array_get(row, 1));

		if (lane >= job->n_lanes || !job->wanted[lane])
			continue;
		begin = !any || t0 < begin ? t0 : begin;
		any = true;
	}
	return begin;
}

bool job_lane_is_device(const struct export_job *job, size_t lane)
{
	const char *role = json_string_value(json_object_get(job_lane(job, lane), "role"));

	return role && strcmp(role, "kernels") == 0;
}

json_t *job_lane_title(const struct export_job *job, size_t lane)
{
	const json_t *row = job_lane(job, lane), *n = json_object_get(row, "n");
	const char *mode = json_string_value(json_object_get(row, "mode"));
	const char *name = json_string_value(json_object_get(row, "name"));

	name = name ? name : "lane";
	if (mode && json_is_integer(n))
		return json_sprintf("%s, n = %lld: %s", mode, (long long)json_integer_value(n),
				    name);
	return mode ? json_sprintf("%s: %s", mode, name) : json_string(name);
}

static bool each_mode(const struct export_job *job, struct job_mode at, const json_t *of,
		      job_mode_fn *each, void *self)
{
	const struct export_query *q = job->query;
	json_t *m;

	if (q->has_n && (!json_is_integer(at.n) || json_integer_value(at.n) != q->n))
		return true;
	json_object_foreach(json_object_get(of, "modes"), at.mode, m)
	{
		at.report = m;
		at.break_even = json_object_get(json_object_get(of, "break_even"), at.mode);
		if ((!q->mode || strcmp(q->mode, at.mode) == 0) && !each(self, &at))
			return false;
	}
	return true;
}

static bool each_of_engine(const struct export_job *job, const char *engine, const json_t *report,
			   job_mode_fn *each, void *self)
{
	const json_t *points = json_object_get(report, "points"), *point;
	struct job_mode at = { .engine = engine };
	size_t i;

	if (!each_mode(job, at, report, each, self))
		return false;
	json_array_foreach(points, i, point)
	{
		at.n = json_object_get(point, "n");
		if (!each_mode(job, at, point, each, self))
			return false;
	}
	return true;
}

void job_modes(const struct export_job *job, job_mode_fn *each, void *self)
{
	const char *engine;
	json_t *of;

	if (!each_of_engine(job, NULL, job->report, each, self))
		return;
	json_object_foreach(json_object_get(job->report, "engines"), engine, of)
	{
		if (!each_of_engine(job, engine, of, each, self))
			return;
	}
}

struct sought {
	const char *mode;
	const json_t *n, *report;
};

static bool seek(void *self, const struct job_mode *at)
{
	struct sought *s = self;
	bool same = !at->engine && strcmp(at->mode, s->mode) == 0 &&
		    (s->n == at->n || json_equal(s->n, at->n));

	s->report = same ? at->report : s->report;
	return !same;
}

const json_t *job_break(const struct export_job *job, size_t lane, json_int_t index)
{
	const json_t *row = job_lane(job, lane);
	struct sought s = { .mode = json_string_value(json_object_get(row, "mode")),
			    .n = json_object_get(row, "n") };

	if (!s.mode || index < 0)
		return NULL;
	job_modes(job, seek, &s);
	return json_array_get(json_object_get(s.report, "breaks"), (size_t)index);
}

json_int_t job_break_line(const json_t *item)
{
	const json_t *cause = json_object_get(item, "cause"),
		     *stack = json_object_get(item, "stack"), *line = json_object_get(item, "line");
	size_t n = json_array_size(stack);

	if (json_is_object(cause))
		line = json_object_get(cause, "line");
	else if (n)
		line = json_object_get(json_array_get(stack, n - 1), "line");
	return json_integer_value(line);
}
