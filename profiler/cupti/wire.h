/* profiler/cupti/wire.h -- from a traced process to whoever writes its timeline.
 *
 * A traced process connects to the socket that BREAKEVEN_TRACE_SOCKET names and sends
 * messages, each a head and its bytes.  Numbers are the machine's own: both ends are on
 * one host.  Times are nanoseconds of CLOCK_MONOTONIC.
 */
#ifndef PROFILER_CUPTI_WIRE_H
#define PROFILER_CUPTI_WIRE_H

#include <stdint.h>

#define WIRE_SOCKET "BREAKEVEN_TRACE_SOCKET"
#define WIRE_OPTIONS                                                                               \
	"BREAKEVEN_TRACE_OPTIONS"          /* letters: 'a' API calls too, 'q' no ranges or memory */
#define WIRE_CUPTI "BREAKEVEN_TRACE_CUPTI" /* path of a libcupti; unset: looked for */

enum wire_type {
	WIRE_HELLO = 1,  /* struct wire_hello, then the command line */
	WIRE_NAME = 2,   /* u32 number, then the text */
	WIRE_EVENTS = 3, /* struct wire_event, as many as fit */
	WIRE_COUNTS = 4, /* struct wire_counts; the last one holds */
	WIRE_FAULT = 5,  /* text: why nothing is recorded */
};

enum { WIRE_MAX_BYTES = 1 << 20, WIRE_NAME_BYTES = 4096 };

struct wire_head {
	uint32_t type, bytes; /* of what follows */
};

struct wire_hello {
	int32_t pid, parent;
};

enum wire_memory { WIRE_HOST, WIRE_TAKEN, WIRE_GIVEN_BACK }; /* the latter of a device */

struct wire_event {
	int64_t start_ns, end_ns, bytes;
	uint32_t kind; /* enum timeline_kind, or WIRE_EXTERNAL */
	uint32_t name;
	uint32_t device, context, stream; /* of an API call: stream is the thread */
	uint32_t correlation;
	uint32_t graph, node; /* that was instantiated, and its node within; 0: of none */
	int32_t grid[3], block[3], cluster[3];
	uint32_t registers, static_bytes, dynamic_bytes; /* a thread's, a block's */
	uint32_t memory;                                 /* enum wire_memory, of a MEMORY event */
	uint32_t external;                               /* who reads fills it in; 0: none */
};

/* No event of its own: what has this correlation was launched under the id `name`. */
enum { WIRE_EXTERNAL = 1000 };

struct wire_counts {
	uint64_t records, dropped, lost; /* lost: read, but not sent on */
	uint64_t doubtful;               /* without times, or half of a range: left out */
	uint32_t buffers, finished;      /* finished: 1 at an orderly end */
};

#endif
