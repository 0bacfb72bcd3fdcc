/* server/http/part.h -- which part of an answer is asked for: the headers Range and If-Range.
 */
#ifndef SERVER_HTTP_PART_H
#define SERVER_HTTP_PART_H

#include <stdbool.h>
#include <stdint.h>

struct answer_part {
	uint64_t first, len; /* bytes of the whole */
	int status;          /* 200: all of it; 206; 416: there is no such part, len is 0 */
};

/* `range` and `only` are the headers, NULL: absent; the whole has so many bytes and this tag,
 * without its quotes.  Several ranges, and what is no range of bytes, ask for all. */
struct answer_part part_of(const char *range, const char *only, uint64_t bytes, const char *etag);

/* Content-Range: "bytes 100-199/500", or of status 416 "bytes * /500" without the blank. */
enum { CONTENT_RANGE_CHARS = 96 };
void part_content_range(const struct answer_part *p, uint64_t bytes, char out[CONTENT_RANGE_CHARS]);

/* Whether the tag is in a header If-None-Match (NULL: absent), or any is: *. */
bool etag_matches(const char *header, const char *etag);

#endif
