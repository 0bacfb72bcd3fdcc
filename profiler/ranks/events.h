/* profiler/ranks/events.h -- private: the events of the file that is read, and what is kept of it.
 */
#ifndef PROFILER_RANKS_EVENTS_H
#define PROFILER_RANKS_EVENTS_H

#include <math.h>

#include "fusion/base/arena.h"
#include "fusion/base/vec.h"
#include "profiler/ranks/ranks.h"

enum rank_kernel {
#define KERNEL(id, name) RANK_##id,
#include "profiler/ranks/kinds.def"
#undef KERNEL
	RANK_KERNELS
};

enum path_kind {
#define PATH(id, name, label) PATH_##id,
#include "profiler/ranks/kinds.def"
#undef PATH
	PATH_KINDS
};
const char *path_kind_name(enum path_kind kind);
const char *path_kind_label(const char *name); /* of a name */
const char *rank_kernel_name(enum rank_kernel kind);

/* What is taken of an event; the first RANK_KERNELS are kernels. */
enum rank_kind { RANK_CALL = RANK_KERNELS, RANK_OP, RANK_STEP, RANK_WAIT, RANK_HOST_COLLECTIVE };

/* What a call does to the host or to a stream. */
enum rank_call {
	CALL_OTHER,
	CALL_ENQUEUE,     /* one kernel, copy or set, which makes a queue longer */
	CALL_SYNCHRONIZE, /* waits for the device, a stream or an event */
	CALL_COPY,        /* may wait for its own copy */
	CALL_RECORD,      /* an event of a stream */
};

struct rank_event {
	int64_t start_ns, end_ns;
	const char *name;
	uint32_t correlation;
	uint16_t lane; /* of struct rank_events */
	uint8_t kind;  /* enum rank_kind or rank_kernel */
	uint8_t call;  /* enum rank_call */
};

struct rank_lane {
	int64_t device, stream;
	bool is_device;
};

/* A collective, as its kernel says it. */
struct rank_collective {
	int64_t start_ns, end_ns;
	const char *name;  /* "allreduce"; of the kernel where the trace does not say it */
	const char *group; /* "default_pg [0, 1]", "stream 1": the first stream with collectives */
	const char *dtype; /* "": not said */
	int64_t in, out;   /* elements; -1: not said */
	int64_t seq;       /* -1: not said */
	uint32_t event;    /* of struct rank_events, while its file is read */
	bool pairwise;     /* send and recv: of two ranks, in no order of the group */
	struct path_segment *before; /* what it waited for */
	/* Of those of all ranks (match.h): the first, how many, 0 without another, and the last to
	 * come. */
	uint32_t meet, n_meet, last;
};

struct path_top {
	const char *name;
	enum path_kind kind;
	int64_t ns;
};
enum { PATH_TOP = 6, PATH_BEGIN = UINT32_MAX };

/* From a collective's end, or from the beginning, to another's start or the rank's end. */
struct path_segment {
	uint32_t after; /* which collective; PATH_BEGIN */
	int64_t from_ns, to_ns;
	int64_t ns[PATH_KINDS];
	struct path_top top[PATH_TOP]; /* by time; name NULL: no more */
};

struct rank_copied {
	uint32_t event;
	int64_t bytes;
};

/* A note of the profiler: a call or a stream waited for a stream, or an event that was recorded. */
struct rank_wait {
	uint32_t event, recorded; /* recorded: the correlation of that call; 0: none */
	int64_t on_stream;
};

/* Texts that come again and again, each once.  Zeroed is empty. */
struct rank_texts {
	struct arena arena;
	VEC(const char *) known;
};
void rank_texts_finish(struct rank_texts *t);

/* To a millionth: a quotient is the same however many digits it is written with. */
static inline double rank_rounded(double quotient)
{
	return round(quotient * 1e6) / 1e6;
}

/* The text, or a copy in which bytes that are no UTF-8 (of a name that was cut, say) are '?'; NULL:
 * out of memory, or of NULL. */
const char *rank_valid(struct arena *arena, const char *text);

/* Zeroed is empty. */
struct rank_events {
	VEC(struct rank_event) rows;
	VEC(struct rank_lane) lanes;
	VEC(struct rank_copied) copied;
	VEC(struct rank_wait) waits;
	VEC(struct rank_collective) collectives;
	VEC(struct rank_collective) of_host; /* that the host ran: gloo, MPI, UCC */
	/* Of rank_events_end(): */
	bool on_host;
	int64_t begin_ns; /* the first event of a device; INT64_MAX: there is none */
	int steps;        /* that are there, but for the last of several, */
	bool last_left_out;
	int64_t in_last_step;          /* with so many collectives */
	int64_t left_out;              /* events past RANKS_MAX_EVENTS */
	uint16_t collective_lanes[16]; /* streams of collectives, as they came */
	int n_collective_lanes;
};
void rank_events_finish(struct rank_events *e);

/* Takes an event over; those that say nothing of ranks are passed over.  Texts of collectives go
 * into `texts`.  False: out of memory. */
bool rank_events_add(struct rank_events *e, const struct ranks_event *event,
		     struct rank_texts *texts);

/* The file is all there.  Where it has collectives of the host and no event of a device, they are
 * its collectives, and each thread's outermost ops, but for those that begin a collective, its
 * computation.  Then leaves the last ProfilerStep out, where there are several: kernels that were
 * launched after it began (on the host or, where the trace notes it there too, on the device: the
 * later), and those whose launch is not there, as HolisticTraceAnalysis does.  False: out of
 * memory. */
bool rank_events_end(struct rank_events *e);

/* Numbers of events of kinds below `kinds`, sorted by start; *n of them, new.  NULL: out of
 * memory, or there is none. */
uint32_t *rank_events_sorted(const struct rank_events *e, int kinds, size_t *n);

/* The first call with a correlation; UINT32_MAX: none.  A table, made of all calls. */
struct rank_launches {
	uint32_t *slots;
	size_t n_slots;
	const struct rank_events *events;
};
bool rank_launches_init(struct rank_launches *l, const struct rank_events *e);
void rank_launches_finish(struct rank_launches *l);
uint32_t rank_launch_of(const struct rank_launches *l, uint32_t correlation);

#endif
