/* profiler/timeline/answer.h -- private: a window as the bytes of an answer
 * (timeline_view_columns()), and rows of such bytes again.
 */
#ifndef PROFILER_TIMELINE_ANSWER_H
#define PROFILER_TIMELINE_ANSWER_H

#include <jansson.h>

#include "profiler/timeline/timeline.h"

/* ANSWER_MAX_ROWS: with more the answer is sampled.  What is kept has ANSWER_FINEST_PX columns; the
 * widths that are asked for most divide that.  Both are halved until the buckets are no more than
 * these; the finest are so many times more that every width is coarser than they are. */
enum {
	ANSWER_MAX_ROWS = 6000,
	ANSWER_BUCKETS = 1 << 16,
	ANSWER_FINEST_PX = 12800,
	ANSWER_FINEST_BUCKETS = 1 << 18
};

/* The longest event that begins in a pixel of a lane, of what is found if any is, and how many do.
 */
struct answer_bucket {
	struct timeline_event event;
	uint32_t events;
	bool found;
};

/* So many columns of the asked for as `most` buckets have for each of `rows`. */
int answer_px(int64_t asked, size_t rows, size_t most);

/* Whether `row` is to stand for the bucket. */
bool answer_stands_for(const struct answer_bucket *bucket, const struct timeline_event *row,
		       bool found);

/* The column of a time: `from_ns` of a window of `span_ns`. */
int answer_column(int64_t from_ns, int64_t span_ns, int px);

/* Whether a list, "3,4,17", has the lane; NULL has all. */
bool answer_lists_lane(const char *list, size_t lane);

/* In order of their starts: any two have an order. */
void answer_sort(struct answer_bucket *rows, size_t n);

/* Into an empty *out; takes the head, NULL fails.  Times count from begin_ns.  False: out of
 * memory. */
bool answer_write(json_t *head, const struct answer_bucket *rows, size_t n, int64_t begin_ns,
		  struct buf *out);

/* Head and rows, times from the window's begin, both the caller's.  STORAGE: it is no answer. */
bool answer_read(const struct buf *bytes, json_t **head, struct answer_bucket **rows, size_t *n,
		 struct err *err);

#endif
