/* fusion/weights/archive.c -- see archive.h.  The format: PKWARE's APPNOTE.TXT, 4.3 and 4.5.3. */
#include "fusion/weights/archive.h"

#include <stdlib.h>
#include <string.h>

enum {
	END_BYTES = 22,     /* the record at the end, without its comment */
	LOCATOR_BYTES = 20, /* before it, of an archive of zip64 */
	END64_BYTES = 56,
	ENTRY_BYTES = 46, /* of the directory, without name and extras */
	LOCAL_BYTES = 30, /* in front of an entry's bytes, the same */
	MOST_COMMENT = 65535,
	MOST_ENTRIES = 1 << 20,
	EXTRA_ZIP64 = 1,
};

static const uint32_t END = 0x06054b50, LOCATOR = 0x07064b50, END64 = 0x06064b50,
		      ENTRY = 0x02014b50, LOCAL = 0x04034b50;

static uint64_t number(const unsigned char *at, int bytes)
{
	uint64_t n = 0;

	for (int i = bytes - 1; i >= 0; i--)
		n = n << 8 | at[i];
	return n;
}

static bool damaged(const char *what, struct err *err)
{
	return err_set(err, ERR_OP, "the archive is damaged: %s", what);
}

/* Whether `bytes` from `at` on are in the archive. */
static bool has(const struct archive *a, uint64_t at, uint64_t bytes)
{
	return at <= a->bytes && bytes <= a->bytes - at;
}

struct directory {
	uint64_t at, bytes, n;
};

static bool find_directory(const struct archive *a, struct directory *d, struct err *err)
{
	size_t least = a->bytes > END_BYTES + MOST_COMMENT ? a->bytes - END_BYTES - MOST_COMMENT
							   : 0;
	const unsigned char *end = NULL, *end64;
	uint64_t at;

	for (size_t i = a->bytes < END_BYTES ? 0 : a->bytes - END_BYTES + 1; !end && i-- > least;)
		if (number(a->data + i, 4) == END)
			end = a->data + i;
	if (!end)
		return damaged("it has no directory at its end; it may be cut short", err);
	*d = (struct directory){ number(end + 16, 4), number(end + 12, 4), number(end + 10, 2) };
	if (end - a->data >= LOCATOR_BYTES && number(end - LOCATOR_BYTES, 4) == LOCATOR) {
		at = number(end - LOCATOR_BYTES + 8, 8);
		end64 = has(a, at, END64_BYTES) ? a->data + at : NULL;
		if (!end64 || number(end64, 4) != END64)
			return damaged("its directory is not where the end says", err);
		*d = (struct directory){ number(end64 + 48, 8), number(end64 + 40, 8),
					 number(end64 + 32, 8) };
	}
	if (!has(a, d->at, d->bytes) || d->n > d->bytes / ENTRY_BYTES)
		return damaged("its directory is not where the end says", err);
	return d->n <= MOST_ENTRIES ||
	       err_set(err, ERR_BOUND, "the archive has %llu entries; the limit is %d",
		       (unsigned long long)d->n, MOST_ENTRIES);
}

/* Sizes that do not fit into 32 bits follow the name, in the order of the record. */
static bool read_extra(const unsigned char *extra, size_t len, struct archive_entry *e,
		       uint64_t *packed)
{
	uint64_t *const wide[] = { &e->bytes, packed, &e->header };

	while (len >= 4) {
		size_t id = number(extra, 2), n = number(extra + 2, 2), used = 0;

		if (n > len - 4)
			return false;
		for (int i = 0; id == EXTRA_ZIP64 && i < 3; i++) {
			if (*wide[i] != UINT32_MAX)
				continue;
			if (n - used < 8)
				return false;
			*wide[i] = number(extra + 4 + used, 8);
			used += 8;
		}
		extra += 4 + n;
		len -= 4 + n;
	}
	return true;
}

static bool read_entry(const unsigned char **at, const unsigned char *end, struct archive_entry *e)
{
	const unsigned char *record = *at;
	size_t name_len, extra_len, comment_len;
	uint64_t packed;

	if (end - record < ENTRY_BYTES || number(record, 4) != ENTRY)
		return false;
	name_len = number(record + 28, 2);
	extra_len = number(record + 30, 2);
	comment_len = number(record + 32, 2);
	if ((size_t)(end - record) - ENTRY_BYTES < name_len + extra_len + comment_len)
		return false;
	packed = number(record + 20, 4);
	*e = (struct archive_entry){ .name = (const char *)record + ENTRY_BYTES,
				     .name_len = name_len,
				     .header = number(record + 42, 4),
				     .bytes = number(record + 24, 4) };
	if (!read_extra(record + ENTRY_BYTES + name_len, extra_len, e, &packed))
		return false;
	e->stored = number(record + 10, 2) == 0 && !(record[8] & 1) && packed == e->bytes;
	*at = record + ENTRY_BYTES + name_len + extra_len + comment_len;
	return true;
}

static int by_name(const void *a, const void *b)
{
	const struct archive_entry *x = a, *y = b;
	size_t n = x->name_len < y->name_len ? x->name_len : y->name_len;
	int order = memcmp(x->name, y->name, n);

	return order ? order : (x->name_len > y->name_len) - (x->name_len < y->name_len);
}

bool archive_open(struct archive *a, const void *data, size_t bytes, struct err *err)
{
	const unsigned char *at, *end;
	struct directory d = { 0 };

	*a = (struct archive){ .data = data, .bytes = bytes };
	if (!find_directory(a, &d, err))
		return false;
	a->entries = calloc(d.n ? d.n : 1, sizeof(*a->entries));
	if (!a->entries)
		return err_set(err, ERR_MEMORY, "out of memory for an archive");
	at = a->data + d.at;
	end = at + d.bytes;
	for (; a->n < d.n; a->n++)
		if (!read_entry(&at, end, &a->entries[a->n]))
			return damaged("an entry of its directory is cut short", err);
	qsort(a->entries, a->n, sizeof(*a->entries), by_name);
	return true;
}

const struct archive_entry *archive_find(const struct archive *a, const char *name)
{
	struct archive_entry key = { .name = name, .name_len = strlen(name) };

	return bsearch(&key, a->entries, a->n, sizeof(key), by_name);
}

bool archive_place(const struct archive *a, const struct archive_entry *e, size_t *at,
		   struct err *err)
{
	const unsigned char *local = has(a, e->header, LOCAL_BYTES) ? a->data + e->header : NULL;
	uint64_t first;

	if (!e->stored)
		return err_set(err, ERR_OP,
			       "its entry %.*s is compressed or encrypted; torch.save stores "
			       "entries as they are: save it again",
			       (int)(e->name_len < 100 ? e->name_len : 100), e->name);
	if (!local || number(local, 4) != LOCAL)
		return damaged("an entry is not where the directory says", err);
	first = e->header + LOCAL_BYTES + number(local + 26, 2) + number(local + 28, 2);
	*at = (size_t)first;
	return has(a, first, e->bytes) || damaged("an entry is cut short", err);
}
