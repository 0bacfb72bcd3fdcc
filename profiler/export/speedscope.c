/* profiler/export/speedscope.c -- speedscope's own format, an evented profile a lane.
 *
 * https://www.speedscope.app/file-format-schema.json: in a profile frames open and close
 * in order and within each other.  An event that only partly lies in another is closed
 * with it; how many were is said in the profile's name.
 */
#include <stdlib.h>

#include "fusion/base/vec.h"
#include "profiler/export/job.h"

/* Of one file: speedscope itself holds it all. */
enum { SPEEDSCOPE_EVENTS = 1 << 20 };

struct open_slice {
	int64_t start_ns, end_ns;
	uint32_t lane, name;
};

struct speedscope {
	struct export_job *job;
	struct out *out;
	VEC(struct open_slice) slices;
	int64_t begin_ns;
};

static bool gather(void *self, const struct timeline_event *e, struct err *err)
{
	struct speedscope *s = self;

	if (e->kind == TIMELINE_COUNTER || e->kind == TIMELINE_FLOW)
		return true; /* no frames */
	if (s->slices.len >= SPEEDSCOPE_EVENTS)
		return err_set(err, ERR_TOO_LARGE,
			       "speedscope takes at most %d events here; ask for a part with mode= "
			       "and n=, or for the Chrome trace, which takes any number",
			       SPEEDSCOPE_EVENTS);
	return VEC_PUSH(&s->slices, (struct open_slice){ e->start_ns, e->start_ns + e->duration_ns,
							 e->lane, e->name }) ||
	       err_set(err, ERR_MEMORY, "out of memory for the events");
}

/* Lane by lane, and there what holds others first. */
static int compare(const void *a, const void *b)
{
	const struct open_slice *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->end_ns < y->end_ns) - (x->end_ns > y->end_ns);
}

static void write_frame(struct speedscope *s, uint32_t name)
{
	struct timeline_name row = timeline_name_at(&s->job->tables, name);
	const json_t *line = json_array_get(row.lines, 0);
	int64_t at = line ? json_integer_value(line) : row.line;

	out_puts(s->out, "{\"name\":");
	out_text(s->out, job_name(s->job, name));
	if (at > 0)
		out_printf(s->out, ",\"line\":%lld", (long long)at);
	out_puts(s->out, "}");
}

static void write_mark(struct speedscope *s, char type, uint32_t name, int64_t at_ns, bool *first)
{
	out_printf(s->out, "%s{\"type\":\"%c\",\"frame\":%u,\"at\":%lld}", *first ? "" : ",\n",
		   type, name, (long long)(at_ns - s->begin_ns));
	*first = false;
}

/* The frames of a lane as they open and close. */
static bool write_marks(struct speedscope *s, size_t from, size_t to)
{
	VEC(struct open_slice) open = { 0 };
	bool first = true, ok = true;

	for (size_t i = from; ok && i < to; i++) {
		struct open_slice slice = s->slices.at[i];

		while (open.len && open.at[open.len - 1].end_ns <= slice.start_ns) {
			struct open_slice last = open.at[--open.len];

			write_mark(s, 'C', last.name, last.end_ns, &first);
		}
		if (open.len && slice.end_ns > open.at[open.len - 1].end_ns)
			slice.end_ns = open.at[open.len - 1].end_ns;
		write_mark(s, 'O', slice.name, slice.start_ns, &first);
		ok = VEC_PUSH(&open, slice);
	}
	while (open.len) {
		struct open_slice last = open.at[--open.len];

		write_mark(s, 'C', last.name, last.end_ns, &first);
	}
	VEC_FREE(&open);
	return ok;
}

/* Events of a lane that end after the one they begin in. */
static int64_t count_clipped(const struct speedscope *s, size_t from, size_t to, int64_t *end_ns)
{
	int64_t n = 0, reach = s->slices.at[from].end_ns;

	*end_ns = reach;
	for (size_t i = from + 1; i < to; i++) {
		const struct open_slice *x = &s->slices.at[i];

		n += x->start_ns < reach && x->end_ns > reach;
		reach = x->start_ns >= reach || x->end_ns > reach ? x->end_ns : reach;
		*end_ns = x->end_ns > *end_ns ? x->end_ns : *end_ns;
	}
	return n;
}

/* A lane with its mode and point in front: "static, n = 5: kernels". */
static json_t *lane_title(const struct export_job *job, size_t lane)
{
	struct timeline_lane row = job_lane(job, lane);
	const char *name = row.name ? row.name : "lane";

	if (row.mode && row.has.n)
		return json_sprintf("%s, n = %lld: %s", row.mode, (long long)row.n, name);
	return row.mode ? json_sprintf("%s: %s", row.mode, name) : json_string(name);
}

static bool write_profile(struct speedscope *s, size_t from, size_t to)
{
	uint32_t lane = s->slices.at[from].lane;
	json_t *title = lane_title(s->job, lane);
	int64_t end_ns, clipped = count_clipped(s, from, to, &end_ns);

	if (clipped && title) {
		json_t *longer = json_sprintf("%s (%lld clipped)", json_string_value(title),
					      (long long)clipped);

		json_decref(title);
		title = longer;
	}
	out_puts(s->out, "{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"name\":");
	out_json(s->out, title);
	json_decref(title);
	out_printf(s->out, ",\"startValue\":%lld,\"endValue\":%lld,\"events\":[\n",
		   (long long)(s->slices.at[from].start_ns - s->begin_ns),
		   (long long)(end_ns - s->begin_ns));
	if (!write_marks(s, from, to))
		return false;
	out_puts(s->out, "\n]}");
	return true;
}

/* After the last event of the lane that `from` is of. */
static size_t end_of_lane(const struct speedscope *s, size_t from)
{
	size_t to = from;

	while (to < s->slices.len && s->slices.at[to].lane == s->slices.at[from].lane)
		to++;
	return to;
}

/* The profile that is shown first: the first whose frames are kernels. */
static int write_profiles(struct speedscope *s, bool *ok)
{
	int n = 0, active = -1;

	for (size_t i = 0, to; *ok && i < s->slices.len; i = to, n++) {
		to = end_of_lane(s, i);
		if (active < 0 && job_lane_is_device(s->job, s->slices.at[i].lane))
			active = n;
		out_puts(s->out, n ? ",\n" : "");
		*ok = write_profile(s, i, to);
	}
	return active < 0 ? 0 : active;
}

bool export_speedscope(struct export_job *job, struct err *err)
{
	struct speedscope s = { .job = job, .out = &job->out };
	bool ok = job_events(job, gather, &s, err);

	if (ok) {
		s.begin_ns = job_begin_ns(job);
		if (s.slices.len)
			qsort(s.slices.at, s.slices.len, sizeof(*s.slices.at), compare);
		out_puts(s.out,
			 "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n"
			 "\"exporter\":");
		out_text(s.out, job->run->version ? job->run->version : "breakeven");
		out_puts(s.out, ",\"name\":");
		out_text(s.out, job->head->name);
		out_puts(s.out, ",\n\"shared\":{\"frames\":[");
		for (size_t i = 0; i < job->n_names; i++) {
			out_puts(s.out, i ? ",\n" : "");
			write_frame(&s, (uint32_t)i);
		}
		out_puts(s.out, "]},\n\"profiles\":[");
		out_printf(s.out, "],\"activeProfileIndex\":%d}\n", write_profiles(&s, &ok));
		ok = ok || err_set(err, ERR_MEMORY, "out of memory for the events");
	}
	VEC_FREE(&s.slices);
	return ok;
}
