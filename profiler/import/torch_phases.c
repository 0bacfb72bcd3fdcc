/* profiler/import/torch_phases.c -- the phases of compilations, from events in a TORCH_TRACE. */
#include "profiler/import/torch_phases.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/import/model.h"
#include "profiler/import/repair.h"

enum { MAX_OPEN = 4096 };

void torch_phases_finish(struct torch_phases *p)
{
	VEC_FREE(&p->open);
}

/* The phase on the timeline. */
static bool draw(struct torch_phases *p, struct model *m, const struct open_phase *o,
		 int64_t duration_ns, const struct torch_record *record, struct err *err)
{
	json_t *rank = json_object_get(json_array_get(m->compiles.processes, (size_t)p->process),
				       "rank");
	char text[256];
	struct name_total *name;
	struct timeline_event event;

	if (!m->writer)
		return true;
	if (!p->has_lane)
		p->lane = model_lane_of(
		    m,
		    json_pack("{s:o, s:s, s:I, s:O*}", "name",
			      json_sprintf("compiling, process %lld", (long long)record->pid),
			      "role", "host", "pid", (json_int_t)record->pid, "rank",
			      json_is_integer(rank) ? rank : NULL),
		    (struct import_lane){ .file = -1,
					  .rank = json_is_integer(rank) ? json_integer_value(rank)
									: -1 });
	p->has_lane = true;
	snprintf(text, sizeof(text), "%s%s%s", o->name, o->id[0] ? " " : "", o->id);
	name = names_find(&m->names, m->writer, GROUP_OTHER, text, strlen(text), &m->ledger);
	event = (struct timeline_event){ .start_ns = o->start_ns,
					 .duration_ns = duration_ns,
					 .lane = p->lane,
					 .kind = TIMELINE_RANGE,
					 .name = name->timeline };
	return timeline_writer_add(m->writer, &event, err);
}

struct phase_end {
	int process;
	const char *name;
	int64_t ns;
};

static bool finish(struct torch_phases *p, struct model *m, const struct phase_end *end,
		   const struct torch_record *record, struct err *err)
{
	size_t at = p->open.len;
	struct open_phase o;
	int64_t spent;

	while (at > 0 && strcmp(p->open.at[at - 1].name, end->name) != 0)
		at--;
	if (at == 0) {
		m->ledger.n[LEDGER_UNMATCHED_END]++;
		return true;
	}
	o = p->open.at[at - 1];
	memmove(&p->open.at[at - 1], &p->open.at[at], (p->open.len - at) * sizeof(o));
	p->open.len--;
	spent = end->ns - o.start_ns;
	if (spent < 0) {
		m->ledger.n[LEDGER_NEGATIVE]++;
		spent = 0;
	}
	if (o.id[0])
		compiles_add_in(compiles_row(&m->compiles, end->process, o.id), "phases_us", o.name,
				(double)spent / 1e3);
	return draw(p, m, &o, spent, record, err);
}

/* A double of today's microseconds has quarters; of nanoseconds only 256s. */
static int64_t ns_of(double us)
{
	double whole = floor(us);

	return (int64_t)whole * 1000 + (int64_t)((us - whole) * 1e3);
}

bool torch_phases_take(struct torch_phases *p, struct model *m, int process, const char *id,
		       const struct torch_record *record, struct err *err)
{
	json_t *event = json_of_log(record->payload, record->payload_len, &m->ledger);
	const char *name = json_string_value(json_object_get(event, "name"));
	const char *phase = json_string_value(json_object_get(event, "ph"));
	const char *own = json_string_value(
	    json_object_get(json_object_get(event, "args"), "compile_id"));
	double us = json_number_value(json_object_get(event, "ts"));
	bool ok = true;

	p->process = process;
	if (!name || !phase || !isfinite(us) || fabs(us) > 4e15) {
		m->ledger.n[LEDGER_BROKEN_PAYLOAD]++;
	} else if (*phase == 'B' && p->open.len < MAX_OPEN) {
		struct open_phase o = { .start_ns = ns_of(us) };

		snprintf(o.name, sizeof(o.name), "%.127s", name);
		snprintf(o.id, sizeof(o.id), "%.60s", own && strcmp(own, "None") != 0 ? own : id);
		ok = VEC_PUSH(&p->open, o) || err_set(err, ERR_MEMORY, "out of memory for phases");
	} else if (*phase == 'E') {
		ok = finish(p, m, &(struct phase_end){ process, name, ns_of(us) }, record, err);
	}
	json_decref(event);
	return ok;
}
