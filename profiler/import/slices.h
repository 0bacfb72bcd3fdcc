/* profiler/import/slices.h -- private: the events of a JSON trace, one text at a time.
 *
 * Finds where each object of "traceEvents" (or of a file that is a bare list) begins
 * and ends, by brackets and quotes alone, and hands its text on; what else the file
 * says is kept as the head.  An event that turns out broken is looked through for the
 * beginning of the next: one bad quote costs an event, not the rest of the file.  What is
 * looked through twice is never more than the file: a hostile one costs no more.
 */
#ifndef PROFILER_IMPORT_SLICES_H
#define PROFILER_IMPORT_SLICES_H

#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "profiler/import/ledger.h"
#include "profiler/import/model.h"

enum {
	SLICE_MAX_BYTES = 4 << 20,
	SLICE_HEAD_BYTES = 8 << 20,
	SLICE_IDLE_BYTES = 512 << 20, /* in which no event begins: the rest is left out */
};

/* One event's text, from { to }.  False: it is no JSON; look for others within.  An
 * error of its own it leaves in *err. */
typedef bool slice_fn(void *self, const char *text, size_t len, struct err *err);

struct slices {
	slice_fn *each;
	void *self;
	struct ledger *ledger;
	struct buf pending; /* what is not handed on yet: its first byte is `at` 0 */
	struct buf head;    /* the file without its events */
	char dropped;       /* the last byte before pending that is no space; 0: none */
	size_t at;          /* scanned so far, of pending */
	size_t start;       /* of the event in pending */
	int depth;          /* brackets that are open */
	int events_depth;   /* depth within the list of events; 0: not there */
	uint64_t objects;   /* a bit for each open bracket, the lowest for the innermost: { */
	size_t fed, again;  /* bytes that came, and that were looked through once more */
	/* Bytes since the feed in which an event began last; SIZE_MAX: the rest is left out. */
	size_t idle;
	int commas; /* since the last event, or the list's beginning */
	bool in_string, in_event, listed;
	bool any;     /* an event came */
	bool began;   /* an event began, in this feed */
	bool stray;   /* in what is where an event should be, and is no object */
	bool seeking; /* after what was too large: for the next event */
};

void slices_init(struct slices *s, slice_fn *each, void *self, struct ledger *ledger);
void slices_finish(struct slices *s); /* frees; zeroed is fine */

bool slices_feed(struct slices *s, const char *bytes, size_t len, struct err *err);

/* The file is over. */
bool slices_end(struct slices *s, struct err *err);

/* What the file says of itself, with the brackets that a cut file lacks: an object, new.  It is
 * read once: a head may have megabytes. */
json_t *slices_head(const struct slices *s);

/* what a trace says without a thread.
 *
 * Async spans (phases b, n, e; S, T, p, F of old traces) belong to an id.  Those of a
 * process and category that run side by side have a lane each, of the role "async"; one
 * that ends gives its lane back.  Within an id they nest.
 *
 * Arrows (phases s, t, f) that are not a launch's are points of the kind flow on the lane
 * of their thread: those of one arrow have the same correlation and the same name, whose
 * row says "flow": where it begins (s), passes (t) or ends (f).
 */
enum { ASYNC_MAX_OPEN = 4096, ASYNC_MAX_LANES = 256, FLOW_MAX_NAMES = 1024 };

struct async_lane {
	uint64_t track; /* process and category */
	uint64_t held;  /* by the spans of an id; 0: free */
	uint32_t lane;
};

struct async_begun {
	uint64_t id;
	int64_t start_ns;
	size_t lane; /* of the list below */
	char name[128];
};

struct flow_name {
	uint64_t key; /* name, category and phase */
	uint32_t name;
};

/* Zeroed is empty; those of one file. */
struct asyncs {
	VEC(struct async_lane) lanes;
	VEC(uint64_t) ids; /* of `begun`, to be searched */
	VEC(struct async_begun) begun;
	VEC(struct flow_name) flow_names;
	int64_t spans, marks, arrows;
};
void asyncs_finish(struct asyncs *a);

/* An event of one of the phases above; `base_ns` is the zero of its clock.  False with MEMORY or an
 * error of the writer. */
bool asyncs_event(struct asyncs *a, const struct kineto_event *e, int64_t base_ns, struct model *m,
		  struct err *err);

/* A point of an arrow, into the lane of its thread. */
bool asyncs_flow(struct asyncs *a, struct trace_lanes *lanes, const struct kineto_event *e,
		 int64_t base_ns, struct model *m, struct err *err);

/* The file is over: counts what never ended. */
void asyncs_end(struct asyncs *a, struct model *m);

#endif
