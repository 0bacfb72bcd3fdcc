/* profiler/import/asyncs.c -- see asyncs.h. */
#include "profiler/import/asyncs.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"
#include "profiler/import/repair.h"

void asyncs_finish(struct asyncs *a)
{
	VEC_FREE(&a->lanes);
	VEC_FREE(&a->ids);
	VEC_FREE(&a->begun);
	VEC_FREE(&a->flow_names);
}

static uint64_t hash_text(const char *text, uint64_t seed)
{
	return hash_bytes(text, strlen(text), seed);
}

/* What an event belongs to: its category and id, or the id2 of newer traces, of which
 * "local" is one within the process.  0: it says none. */
static uint64_t id_of(const struct kineto_event *e, const char *text, size_t len)
{
	uint64_t hash = hash_text(e->category, 1);
	json_t *event, *id2, *id;
	char *spelt;

	if (*e->id)
		return hash_text(e->id, hash) | 1;
	event = json_of_log(text, len, NULL);
	id2 = json_object_get(event, "id2");
	id = json_object_get(id2, "global");
	if (!id) {
		id = json_object_get(id2, "local");
		hash = hash_text(e->pid, hash);
	}
	spelt = id ? json_dumps(id, JSON_ENCODE_ANY) : NULL;
	json_decref(event);
	hash = spelt ? hash_text(spelt, hash) | 1 : 0;
	free(spelt);
	return hash;
}

static json_t *text_json(const char *text)
{
	bool bad = false;

	return json_of_text(text, strlen(text), &bad);
}

static json_t *lane_row(const struct kineto_event *e, int n)
{
	json_t *label = text_json(*e->category ? e->category : "async"), *name;

	name = n ? json_sprintf("%s, %d", json_string_value(label), n + 1) : json_incref(label);
	return json_pack("{s:o, s:s, s:o, s:o}", "name", name, "role", "async", "process",
			 text_json(e->pid), "label", label);
}

/* A lane for the spans of an id: one of its track that is free, or a new one.  Where there
 * are too many the last, and counted.  False: out of memory. */
static bool find_lane(struct asyncs *a, const struct kineto_event *e, uint64_t id, size_t *out,
		      struct model *m)
{
	uint64_t track = hash_text(e->category, hash_text(e->pid, 3));
	struct async_lane lane = { .track = track, .held = id };
	int n = 0;

	for (size_t i = 0; i < a->lanes.len; i++) {
		struct async_lane *l = &a->lanes.at[i];

		if (l->track != track)
			continue;
		n++;
		if (l->held && l->held != id)
			continue;
		l->held = id;
		*out = i;
		return true;
	}
	if (a->lanes.len >= ASYNC_MAX_LANES) {
		m->ledger.n[LEDGER_LANES_FULL]++;
		*out = a->lanes.len - 1;
		return true;
	}
	if (m->writer)
		lane.lane = timeline_writer_lane(m->writer, lane_row(e, n));
	*out = a->lanes.len;
	return VEC_PUSH(&a->lanes, lane);
}

static bool put(struct asyncs *a, size_t lane, const char *name, size_t len, int64_t start_ns,
		int64_t duration_ns, struct model *m, struct err *err)
{
	struct name_total *total = names_find(&m->names, m->writer, GROUP_OTHER,
					      len ? name : "unnamed", len ? len : 7, &m->ledger);
	struct timeline_event event = { .start_ns = start_ns,
					.duration_ns = duration_ns,
					.lane = a->lanes.at[lane].lane,
					.kind = TIMELINE_RANGE,
					.name = total->timeline };

	total->count++;
	total->total_ns += duration_ns;
	return !m->writer || timeline_writer_add(m->writer, &event, err);
}

/* The place behind the innermost open span of an id; 0: none is open. */
static size_t innermost(const struct asyncs *a, uint64_t id)
{
	size_t i = a->ids.len;

	while (i > 0 && a->ids.at[i - 1] != id)
		i--;
	return i;
}

static bool begin(struct asyncs *a, const struct kineto_event *e, uint64_t id, size_t lane,
		  struct model *m, struct err *err)
{
	struct async_begun b = { .id = id, .start_ns = e->ts_ns, .lane = lane };
	size_t len = e->name.len < sizeof(b.name) - 1 ? e->name.len : sizeof(b.name) - 1;

	if (a->begun.len >= ASYNC_MAX_OPEN) {
		m->ledger.n[LEDGER_UNMATCHED_BEGIN]++;
		return true;
	}
	memcpy(b.name, e->name.data ? e->name.data : "", len);
	if (VEC_PUSH(&a->ids, id) && VEC_PUSH(&a->begun, b))
		return true;
	return err_set(err, ERR_MEMORY, "out of memory for async spans");
}

static bool end(struct asyncs *a, const struct kineto_event *e, uint64_t id, int64_t base_ns,
		struct model *m, struct err *err)
{
	size_t at = innermost(a, id);
	struct async_begun b;
	int64_t ns;

	if (at == 0) {
		m->ledger.n[LEDGER_UNMATCHED_END]++;
		return true;
	}
	b = a->begun.at[--at];
	memmove(a->begun.at + at, a->begun.at + at + 1, (a->begun.len - at - 1) * sizeof(b));
	memmove(a->ids.at + at, a->ids.at + at + 1, (a->ids.len - at - 1) * sizeof(id));
	a->begun.len--;
	a->ids.len--;
	if (innermost(a, id) == 0 && a->lanes.at[b.lane].held == id)
		a->lanes.at[b.lane].held = 0;
	ns = e->ts_ns - b.start_ns;
	m->ledger.n[LEDGER_NEGATIVE] += ns < 0;
	a->spans++;
	return put(a, b.lane, b.name, strlen(b.name), b.start_ns + base_ns, ns < 0 ? 0 : ns, m,
		   err);
}

bool asyncs_event(struct asyncs *a, const struct kineto_event *e, const char *text, size_t len,
		  int64_t base_ns, struct model *m, struct err *err)
{
	uint64_t id = id_of(e, text, len);
	size_t lane, open;

	if (!id) {
		m->ledger.n[LEDGER_NO_ID]++;
		return true;
	}
	if (e->phase == 'e' || e->phase == 'F')
		return end(a, e, id, base_ns, m, err);
	open = innermost(a, id);
	if (open)
		lane = a->begun.at[open - 1].lane;
	else if (!find_lane(a, e, id, &lane, m))
		return err_set(err, ERR_MEMORY, "out of memory for async spans");
	if (e->phase == 'b' || e->phase == 'S')
		return begin(a, e, id, lane, m, err);
	if (!open && a->lanes.at[lane].held == id)
		a->lanes.at[lane].held = 0; /* a mark is over at once */
	a->marks++;
	return put(a, lane, e->name.len ? e->name.data : "", e->name.len, e->ts_ns + base_ns, 0, m,
		   err);
}

/* ---- arrows ---- */

/* The row of a name; where there are too many that of "others", and counted. */
static bool flow_name(struct asyncs *a, const struct kineto_event *e, struct model *m,
		      uint32_t *out)
{
	char phase[2] = { e->phase, '\0' };
	const char *name = e->name.len ? e->name.data : e->category;
	uint64_t key = hash_text(name, hash_text(phase, hash_text(e->category, 4)));

	for (size_t i = 0; i < a->flow_names.len; i++)
		if (a->flow_names.at[i].key == key) {
			*out = a->flow_names.at[i].name;
			return true;
		}
	*out = 0;
	if (a->flow_names.len >= FLOW_MAX_NAMES) {
		m->ledger.n[LEDGER_NAMES_FULL]++;
		return true;
	}
	*out = timeline_writer_name(
	    m->writer, json_pack("{s:o, s:s}", "name", text_json(name), "flow", phase));
	return VEC_PUSH(&a->flow_names, (struct flow_name){ key, *out });
}

bool asyncs_flow(struct asyncs *a, struct trace_lanes *lanes, const struct kineto_event *e,
		 int64_t base_ns, struct model *m, struct err *err)
{
	struct trace_lane *lane = trace_lane_near(lanes, e, m->file, m->writer, &m->ledger);
	struct timeline_event event = { .start_ns = e->ts_ns + base_ns, .kind = TIMELINE_FLOW };
	char *stop;
	uint64_t id = strtoull(e->id, &stop, 0);

	if (!lane)
		return err_set(err, ERR_MEMORY, "out of memory for a lane");
	a->arrows += e->phase == 's';
	if (!m->writer)
		return true;
	if (!flow_name(a, e, m, &event.name))
		return err_set(err, ERR_MEMORY, "out of memory for arrows");
	event.lane = lane->lane;
	/* An id is a number, mostly; a text is one by its hash. */
	event.correlation = *stop || stop == e->id || id == 0 || id > UINT32_MAX
				? (uint32_t)hash_text(e->id, 0) | 1
				: (uint32_t)id;
	return timeline_writer_add(m->writer, &event, err);
}

void asyncs_end(struct asyncs *a, struct model *m)
{
	m->ledger.n[LEDGER_UNMATCHED_BEGIN] += (int64_t)a->begun.len;
	m->async_spans += a->spans;
	m->async_marks += a->marks;
	m->arrows += a->arrows;
}
