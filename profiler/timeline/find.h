/* profiler/timeline/find.h -- private: events looked for by their names, or by a launch's number.
 *
 * Told of each event of a window once, in any order.  Matches have an order of their own (start,
 * lane, the longer first, name), so that one can go from each to the next; memory is that of
 * the tables.
 */
#ifndef PROFILER_TIMELINE_FIND_H
#define PROFILER_TIMELINE_FIND_H

#include "fusion/base/vec.h"
#include "profiler/timeline/overlap.h"
#include "profiler/timeline/timeline.h"

enum { FIND_MOST_JOINED = 64 };

struct find_lane {
	int64_t events;      /* of what was found in it */
	struct overlap busy; /* likewise */
	bool joined;         /* of the process that is asked about */
};

struct find {
	const struct timeline_query *query; /* borrowed, as the tables are */
	int64_t begin_ns;                   /* from which the query's times count */
	uint8_t *names;                     /* whether each is looked for */
	size_t n_names, n_lanes;
	struct find_lane *lanes;
	int64_t events, sum_ns;
	struct overlap_room room;
	int64_t looked; /* at so many events */
	bool cut;       /* the time was up before all were looked at */
	int64_t before; /* of the order, up to where it goes on from */
	bool has_next;
	struct timeline_event next;
	VEC(struct timeline_event) joined;
};

/* NULL: out of memory. */
struct find *find_create(const struct timeline_query *q, const struct timeline_tables *tables,
			 int64_t begin_ns);
void find_destroy(struct find *f); /* NULL is fine */

/* Before each chunk: whether there is time for its events (timeline_query.find_until_ns). */
bool find_goes_on(struct find *f);

/* How long what was found took, a lane's overlaps counted once; *at_least: or longer.  False: out
 * of memory. */
bool find_busy_ns(struct find *f, int64_t *ns, bool *at_least);

/* Whether the event is looked for; [from, to] is what of it lies in the window. */
bool find_event(struct find *f, const struct timeline_event *e, int64_t from_ns, int64_t to_ns);

#endif
