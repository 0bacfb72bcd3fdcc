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

enum { SLICE_MAX_BYTES = 4 << 20, SLICE_HEAD_BYTES = 8 << 20 };

/* One event's text, from { to }.  False: it is no JSON; look for others within.  An
 * error of its own it leaves in *err. */
typedef bool slice_fn(void *self, const char *text, size_t len, struct err *err);

struct slices {
	slice_fn *each;
	void *self;
	struct ledger *ledger;
	struct buf pending; /* what is not handed on yet: its first byte is `at` 0 */
	struct buf head;    /* the file without its events */
	size_t at;          /* scanned so far, of pending */
	size_t start;       /* of the event in pending */
	int depth;          /* brackets that are open */
	int events_depth;   /* depth within the list of events; 0: not there */
	uint64_t objects;   /* a bit for each open bracket, the lowest for the innermost: { */
	size_t fed, again;  /* bytes that came, and that were looked through once more */
	int commas;         /* since the last event, or the list's beginning */
	bool in_string, in_event, listed;
	bool any;     /* an event came */
	bool stray;   /* in what stands where an event should, and is no object */
	bool seeking; /* behind what was too large: for the next event */
};

void slices_init(struct slices *s, slice_fn *each, void *self, struct ledger *ledger);
void slices_finish(struct slices *s); /* frees; zeroed is fine */

bool slices_feed(struct slices *s, const char *bytes, size_t len, struct err *err);

/* The file is over. */
bool slices_end(struct slices *s, struct err *err);

#endif
