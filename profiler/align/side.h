/* profiler/align/side.h -- private: one of two timelines, as what is aligned: items and units.
 *
 * An item is what a device ran, a kernel or a copy; of a program that ran on the host alone, an op.
 * A unit is what the program did again and again: a step, a call, or the period of its items.
 * Items are in the order in which they were launched, so that streams may race.
 */
#ifndef PROFILER_ALIGN_SIDE_H
#define PROFILER_ALIGN_SIDE_H

#include <stdbool.h>
#include <stdint.h>

#include "fusion/base/err.h"
#include "fusion/base/vec.h"
#include "profiler/align/align.h"
#include "profiler/align/names.h"
#include "profiler/timeline/idle.h"

struct align_item {
	const struct timeline_event *event;
	uint32_t key;      /* of its name (name_ids) */
	uint32_t op_name;  /* of the tables, + 1 */
	uint32_t op;       /* of the op that launched it; NAMES_NONE: not seen */
	int64_t launch_ns; /* when it was launched; unknown: when it began */
	int64_t
	    idle_from_ns; /* the device was idle from then until it began; its start: it was not */
	double busy_ns;   /* its share of the time in which anything ran */
};

/* Why a unit is set apart. */
enum unit_apart { UNIT_USED, UNIT_OTHER_ITEMS, UNIT_WARM_UP, UNIT_FAR_OFF, UNIT_FIRST };

struct align_unit {
	size_t first, n; /* items */
	int64_t from_ns, to_ns;
	double wall_ns, busy_ns, idle_ns; /* wall is busy and idle together */
	bool has_span;
	bool whole;    /* what was idle before it is known */
	uint64_t hash; /* of its keys */
	enum unit_apart apart;
	const char *cause; /* the host event that a unit set apart is longest in; NULL: none */
	int64_t cause_ns;
};

struct align_side {
	const struct align_run *run;
	bool asks_host;   /* ops are its items, whatever a device ran */
	const char *mode; /* whose lanes; NULL: of all */
	bool has_n, on_host;
	int64_t n;
	bool *wanted; /* lanes */
	size_t n_lanes;
	struct name_ids *ids;
	uint32_t *keys; /* of the tables' names; NAMES_NONE: not looked up yet */
	size_t n_keys;
	int64_t first_ns; /* of the events of these lanes: where a view of them begins */
	VEC(struct align_item) items;
	VEC(struct idle_part) idle; /* by their start */
	VEC(struct align_unit) units;
	size_t used, model; /* units that count; the one that stands for them */
	size_t outside;     /* items in no unit */
	char how[160];      /* what a unit is */
	int device, devices;
};

/* Items alone; side_share() and side_find_units() then.  Borrows the run.  False with BAD_REQUEST
 * (no such lanes, nothing that ran), or MEMORY; finish in any case. */
bool side_read(struct align_side *s, const struct align_run *run, struct name_ids *names,
	       bool asks_host, struct err *err);
void side_finish(struct align_side *s);

/* units.c: finds units, which of them count, and the one that stands for them. */
bool side_find_units(struct align_side *s, struct err *err);

/* shares.c: fills in what of the time is each item's, and what was idle before it. */
bool side_share(struct align_side *s, struct err *err);

/* The number of an event's name; NAMES_NONE: out of memory. */
uint32_t side_key(const struct align_side *s, const struct timeline_event *e);

static inline const char *side_name(const struct align_side *s, const struct timeline_event *e)
{
	const char *name = timeline_name_at(&s->run->events->tables, e->name).name;

	return name ? name : "unnamed";
}

#endif
