/* profiler/timeline/view.h -- private: a window while it is being filled. */
#ifndef PROFILER_TIMELINE_VIEW_H
#define PROFILER_TIMELINE_VIEW_H

#include "profiler/timeline/find.h"
#include "profiler/timeline/overlap.h"
#include "profiler/timeline/timeline.h"

/* The longest event that begins in a pixel of a lane, of what is found if any is, and how many do.
 */
struct view_bucket {
	struct timeline_event event;
	uint32_t events;
	bool found;
};

struct view_lane {
	bool wanted;
	int row; /* among the wanted */
	int64_t events, sum_ns;
	struct overlap busy;
};

struct view_total {
	int64_t events, sum_ns, most_ns;
	uint32_t kind;
	bool shown; /* some row has its name */
};

struct timeline_view {
	struct timeline_query query;
	struct timeline_tables tables;
	struct timeline_chunk chunk;
	bool ready;               /* what follows is filled in */
	int64_t begin_ns, end_ns; /* of the wanted lanes */
	int64_t t0_ns, t1_ns;     /* of the window */
	struct view_lane *lanes;
	struct overlap_room room; /* of the lanes */
	size_t n_lanes, n_wanted;
	struct view_total *totals; /* by name and kind; grows with the names */
	size_t n_names;
	struct timeline_event *rows; /* as long as there are few */
	int n_rows;
	struct view_bucket *buckets; /* n_wanted times px */
	int px;
	int64_t events; /* in the window */
	int64_t shown;  /* that want a row: of events and of gaps */
	struct find *find;
	struct idle *idle;
	uint32_t idle_names; /* the first of the causes' names */
	int n_devices;
	int64_t readings, reports; /* of the events in the window */
	int64_t late;              /* events that came too late for gaps */
};

enum { VIEW_MAX_ROWS = 6000 }; /* with more the answer is sampled */

/* Once all tables are there: window, lanes and buckets. */
bool view_ready(struct timeline_view *v, struct err *err);

/* A row of buckets for each lane, and one for the gaps of each device. */
size_t view_bucket_rows(const struct timeline_view *v);

bool view_out_of_memory(struct err *err); /* false */

#endif
