/* server/http/part.c -- see part.h. */
#include "server/http/part.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RANGE_CHARS = 40 };

/* "100-199", "100-" or "-100" of so many bytes; false for what is none. */
static bool read_range(const char *at, uint64_t bytes, struct answer_part *out)
{
	unsigned long long from = 0, to = UINT64_MAX;
	bool suffix = *at == '-';
	char *end = (char *)at;

	if (at[strspn(at, "0123456789-")] || strlen(at) > RANGE_CHARS)
		return false;
	if (!suffix)
		from = strtoull(at, &end, 10);
	if (*end++ != '-' || (suffix && !*end))
		return false;
	if (*end)
		to = strtoull(end, &end, 10);
	if (*end || (!suffix && to < from))
		return false;
	if (suffix) { /* the last so many */
		from = to < bytes ? bytes - to : 0;
		to = bytes;
	}
	if (from >= bytes) {
		*out = (struct answer_part){ .first = bytes, .status = 416 };
		return true;
	}
	to = to < bytes ? to : bytes - 1;
	*out = (struct answer_part){ from, to - from + 1, 206 };
	return true;
}

/* A tag of a header is quoted; one that is weak is not the same for parts. */
static bool has_tag(const char *header, const char *etag)
{
	char quoted[80];

	snprintf(quoted, sizeof(quoted), "\"%s\"", etag);
	return strstr(header, quoted) != NULL;
}

struct answer_part part_of(const char *range, const char *only, uint64_t bytes, const char *etag)
{
	struct answer_part all = { 0, bytes, 200 }, part;

	if (!range || strncmp(range, "bytes=", 6) != 0)
		return all;
	if (only && (!has_tag(only, etag) || strncmp(only, "W/", 2) == 0))
		return all;
	return read_range(range + 6, bytes, &part) ? part : all;
}

void part_content_range(const struct answer_part *p, uint64_t bytes, char out[CONTENT_RANGE_CHARS])
{
	if (p->status == 416)
		snprintf(out, CONTENT_RANGE_CHARS, "bytes */%llu", (unsigned long long)bytes);
	else
		snprintf(out, CONTENT_RANGE_CHARS, "bytes %llu-%llu/%llu",
			 (unsigned long long)p->first, (unsigned long long)(p->first + p->len - 1),
			 (unsigned long long)bytes);
}

bool etag_matches(const char *header, const char *etag)
{
	return header && (strcmp(header, "*") == 0 || has_tag(header, etag));
}
