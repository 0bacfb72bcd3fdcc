/* profiler/import/archive.c -- the files in a .tar or a .zip, as they come. */
#include "profiler/import/archive.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

enum {
	TAR_BLOCK = 512,
	ZIP_HEAD = 30,
	HEAD_BYTES = TAR_BLOCK + (1 << 16) * 2, /* of a .zip: its name and what follows it */
	OUT_BYTES = 64 << 10,
};

/* What the next bytes are. */
enum archive_state {
	AT_HEAD,       /* of a member: `want` bytes of it */
	AT_NAME,       /* of a .zip's member, and its extra fields, after the head */
	IN_MEMBER,     /* `left` bytes of it, as they are */
	IN_LONG_NAME,  /* of the next member of a .tar: `left` bytes */
	IN_DEFLATE,    /* to the end of the stream */
	IN_STORED,     /* as it is, to the descriptor that says how long it was */
	AT_DESCRIPTOR, /* of a .zip's member, after its stream */
	PASSING,       /* `left` bytes that say nothing */
	AT_END,        /* all that follows is passed over */
};

struct log_archive {
	struct archive_sink sink;
	enum archive_state state, then;                         /* after PASSING */
	bool is_zip, known, inflating, has_descriptor, is_long; /* is_long: sizes of 8 bytes */
	char head[HEAD_BYTES], name[ARCHIVE_NAME_CHARS + 1], next_name[ARCHIVE_NAME_CHARS + 1];
	size_t have, want;
	uint64_t left, padding;
	bool is_pax;
	z_stream z;
	char out[OUT_BYTES];
	size_t held;     /* IN_STORED: bytes of `out` that are not given on */
	uint64_t stored; /* those of the member that are */
	uint32_t crc;
};

static uint32_t u16(const char *at)
{
	const unsigned char *b = (const unsigned char *)at;

	return b[0] | (uint32_t)b[1] << 8;
}

static uint32_t u32(const char *at)
{
	return u16(at) | u16(at + 2) << 16;
}

static uint64_t u64(const char *at)
{
	return u32(at) | (uint64_t)u32(at + 4) << 32;
}

/* ---- .tar ---- */

/* A number of a head: octal, or binary where its first bit is set. */
static uint64_t tar_number(const char *at, size_t n)
{
	uint64_t value = 0;

	if (*at & 0x80) {
		for (size_t i = 1; i < n; i++)
			value = value << 8 | (unsigned char)at[i];
		return value;
	}
	for (size_t i = 0; i < n; i++)
		if (at[i] >= '0' && at[i] <= '7')
			value = value * 8 + (uint64_t)(at[i] - '0');
		else if (value || at[i] != ' ')
			break;
	return value;
}

static bool is_tar_head(const char *head)
{
	uint64_t sum = 0;

	for (int i = 0; i < TAR_BLOCK; i++)
		sum += i >= 148 && i < 156 ? ' ' : (unsigned char)head[i];
	return head[0] && tar_number(head + 148, 8) == sum;
}

static bool archive_recognises(const char *bytes, size_t len)
{
	return (len >= 4 && memcmp(bytes, "PK\3\4", 4) == 0) ||
	       (len >= TAR_BLOCK && memcmp(bytes + 257, "ustar", 5) == 0 && is_tar_head(bytes));
}

static bool damaged(struct err *err, const char *what)
{
	return err_set(err, ERR_UNSUPPORTED, "the archive cannot be read: %s", what);
}

static bool damaged_member(const struct log_archive *a, struct err *err, const char *what)
{
	return err_set(err, ERR_UNSUPPORTED, "the archive cannot be read: \"%.200s\" in it %s",
		       a->name, what);
}

/* Into PASSING where there is something to pass. */
static void go(struct log_archive *a, enum archive_state then, uint64_t pass)
{
	a->state = pass ? PASSING : then;
	a->then = then;
	a->left = pass;
	a->have = 0;
	a->want = a->is_zip ? 4 : TAR_BLOCK;
}

/* "27 path=folder/file\n" among the records of a pax head. */
static void read_pax(struct log_archive *a)
{
	const char *at = a->head, *end = a->head + a->have;

	while (at < end) {
		size_t len = strtoul(at, NULL, 10);
		const char *key = memchr(at, ' ', (size_t)(end - at));

		if (len == 0 || len > (size_t)(end - at) || !key || key > at + len)
			return;
		if (at + len - key > 7 && memcmp(key, " path=", 6) == 0)
			snprintf(a->next_name, sizeof(a->next_name), "%.*s",
				 (int)(at + len - 1 - (key + 6)), key + 6);
		at += len;
	}
}

static void end_long_name(struct log_archive *a)
{
	a->head[a->have] = '\0';
	if (a->is_pax)
		read_pax(a);
	else
		snprintf(a->next_name, sizeof(a->next_name), "%.255s", a->head);
	go(a, AT_HEAD, a->padding);
}

static bool begin_member(struct log_archive *a, struct err *err)
{
	return a->sink.begin(a->sink.self, a->name, err);
}

static bool tar_head(struct log_archive *a, struct err *err)
{
	char type = a->head[156];

	if (!a->head[0]) { /* blocks of zeros are its end */
		a->state = AT_END;
		return true;
	}
	if (!is_tar_head(a->head))
		return damaged(err, "the head of a file in the .tar is damaged");
	a->left = tar_number(a->head + 124, 12);
	a->padding = (TAR_BLOCK - a->left % TAR_BLOCK) % TAR_BLOCK;
	a->is_pax = type == 'x';
	if ((type == 'L' || type == 'x') && a->left < HEAD_BYTES) {
		a->state = IN_LONG_NAME;
		a->have = 0;
		return true;
	}
	if (type != '0' && type != '\0' && type != '7') { /* a folder, a link */
		if (a->left > UINT64_MAX - TAR_BLOCK)
			return damaged(err, "the head of a file in the .tar is damaged");
		go(a, AT_HEAD, a->left + a->padding);
		return true;
	}
	if (a->next_name[0])
		snprintf(a->name, sizeof(a->name), "%s", a->next_name);
	else if (a->head[345] && memcmp(a->head + 257, "ustar\0", 6) == 0)
		snprintf(a->name, sizeof(a->name), "%.155s/%.99s", a->head + 345, a->head);
	else
		snprintf(a->name, sizeof(a->name), "%.100s", a->head);
	a->next_name[0] = '\0';
	a->state = IN_MEMBER;
	return begin_member(a, err);
}

/* ---- .zip ---- */

/* The size of 8 bytes, in an extra field. */
static uint64_t long_size(const char *extra, size_t len, uint64_t size, bool *is_long)
{
	while (len >= 4) {
		size_t n = u16(extra + 2);

		if (n > len - 4)
			break;
		if (u16(extra) == 1) {
			*is_long = true;
			if (size == UINT32_MAX && n >= 16)
				return u64(extra + 12);
		}
		extra += 4 + n;
		len -= 4 + n;
	}
	return size;
}

static bool zip_member(struct log_archive *a, struct err *err)
{
	uint32_t flags = u16(a->head + 6), method = u16(a->head + 8), name = u16(a->head + 26);
	uint64_t packed = u32(a->head + 18);

	a->is_long = false;
	packed = long_size(a->head + ZIP_HEAD + name, u16(a->head + 28), packed, &a->is_long);
	snprintf(a->name, sizeof(a->name), "%.*s",
		 (int)(name < ARCHIVE_NAME_CHARS ? name : ARCHIVE_NAME_CHARS), a->head + ZIP_HEAD);
	a->has_descriptor = (flags & 8) != 0;
	a->padding = 0;
	a->left = packed;
	if (flags & 1)
		return damaged_member(a, err, "is encrypted");
	if (name && a->head[ZIP_HEAD + name - 1] == '/' && (method == 0 || !a->has_descriptor)) {
		go(a, a->has_descriptor ? AT_DESCRIPTOR : AT_HEAD, packed); /* a folder */
		return true;
	}
	if (method == 0) {
		a->state = a->has_descriptor ? IN_STORED : IN_MEMBER;
		a->held = 0;
		a->stored = 0;
		a->crc = 0;
		return begin_member(a, err);
	}
	if (method != 8)
		return damaged_member(a, err, "is packed by other than deflate");
	a->z = (z_stream){ 0 };
	a->inflating = inflateInit2(&a->z, -15) == Z_OK;
	if (!a->inflating)
		return err_set(err, ERR_MEMORY, "out of memory for the .zip");
	a->state = IN_DEFLATE;
	return begin_member(a, err);
}

/* The head comes in three parts: what it is, its fields, name and extra fields. */
static bool zip_head(struct log_archive *a, struct err *err)
{
	if (a->want == 4 && memcmp(a->head, "PK\3\4", 4) != 0) {
		a->state = AT_END; /* the list of its files, which were read */
		return memcmp(a->head, "PK\1\2", 4) == 0 || memcmp(a->head, "PK\5\6", 4) == 0 ||
		       memcmp(a->head, "PK\6\6", 4) == 0 ||
		       damaged(err, "the head of a file in the .zip is damaged");
	}
	if (a->want == 4) {
		a->want = ZIP_HEAD;
		return true;
	}
	if (a->state == AT_HEAD) {
		a->state = AT_NAME;
		a->want = ZIP_HEAD + u16(a->head + 26) + u16(a->head + 28);
		if (a->want > ZIP_HEAD)
			return true;
	}
	return zip_member(a, err);
}

static bool end_deflate(struct log_archive *a, struct err *err)
{
	inflateEnd(&a->z);
	a->inflating = false;
	if (!a->sink.end(a->sink.self, err))
		return false;
	go(a, AT_HEAD, 0);
	if (a->has_descriptor)
		a->state = AT_DESCRIPTOR;
	return true;
}

static bool inflate_some(struct log_archive *a, const char **bytes, size_t *len, struct err *err)
{
	int code;

	a->z.next_in = (Bytef *)*bytes;
	a->z.avail_in = (uInt)(*len < (1 << 30) ? *len : 1 << 30);
	do {
		size_t before = a->z.avail_in, n;

		a->z.next_out = (Bytef *)a->out;
		a->z.avail_out = OUT_BYTES;
		code = inflate(&a->z, Z_NO_FLUSH);
		n = OUT_BYTES - a->z.avail_out;
		*bytes += before - a->z.avail_in;
		*len -= before - a->z.avail_in;
		if (code != Z_OK && code != Z_STREAM_END && code != Z_BUF_ERROR)
			return damaged_member(a, err, "is damaged");
		if (n && !a->sink.feed(a->sink.self, a->out, n, err))
			return false;
	} while (code == Z_OK && (a->z.avail_in > 0 || a->z.avail_out == 0));
	return code != Z_STREAM_END || end_deflate(a, err);
}

/* ---- .zip: what is stored as it is, and says its length after it ---- */

/* Gives on out[from, to), which are summed up. */
static bool give_stored(struct log_archive *a, size_t from, size_t to, struct err *err)
{
	const char *bytes = a->out + from;

	a->crc = (uint32_t)crc32(a->crc, (const Bytef *)bytes, (uInt)(to - from));
	a->stored += to - from;
	return to == from || a->sink.feed(a->sink.self, bytes, to - from, err);
}

/* A mark that may end the member: of its descriptor, or of what comes after one that has none. */
struct stored_end {
	size_t at, end; /* of the mark; of the member */
	bool marked;
	const char *descriptor; /* sum, length, length again */
};

/* The next such from *at on, or where one may begin: then false. */
static bool find_mark(const struct log_archive *a, size_t from, size_t *at, struct stored_end *out)
{
	size_t tail = a->is_long ? 20 : 12;
	const char *hit;

	for (; (hit = memchr(a->out + *at, 'P', a->held - *at)); ++*at) {
		size_t have;

		*at = (size_t)(hit - a->out);
		have = a->held - *at;
		*out = (struct stored_end){ *at, *at, true, hit + 4 };
		if (have < 4 || memcmp(hit, "PK\7\10", 4) == 0) {
			if (have < 4 + tail && memcmp(hit, "PK\7\10", have < 4 ? have : 4) == 0)
				return false;
			if (have >= 4 + tail)
				return true;
		}
		if (have < 4 && memcmp(hit, "PK", have < 2 ? have : 2) == 0)
			return false;
		if (have < 4 || *at - from < tail ||
		    (memcmp(hit, "PK\3\4", 4) != 0 && memcmp(hit, "PK\1\2", 4) != 0))
			continue;
		*out = (struct stored_end){ *at, *at - tail, false, hit - tail };
		return true;
	}
	*at = a->held;
	return false;
}

static bool end_stored(struct log_archive *a, const struct stored_end *e, struct err *err)
{
	if (!a->sink.end(a->sink.self, err))
		return false;
	go(a, AT_HEAD, 0);
	if (e->marked)
		return true;
	memcpy(a->head, a->out + e->at, 4); /* the mark is that of the next head */
	a->have = 4;
	return zip_head(a, err);
}

/* A length in the data says nothing unless it is right, and then the sum decides: so each byte is
 * summed once. */
static bool stored_some(struct log_archive *a, const char **bytes, size_t *len, struct err *err)
{
	size_t n = OUT_BYTES - a->held < *len ? OUT_BYTES - a->held : *len, from = 0, at = 0, keep;
	size_t tail = a->is_long ? 20 : 12;
	struct stored_end e;

	memcpy(a->out + a->held, *bytes, n);
	a->held += n;
	*bytes += n;
	*len -= n;
	for (; find_mark(a, from, &at, &e); at++) {
		uint64_t size = a->is_long ? u64(e.descriptor + 4) : u32(e.descriptor + 4);
		uint64_t was = a->stored + e.end - from;

		if (size != (a->is_long ? was : (uint32_t)was))
			continue;
		if (!give_stored(a, from, e.end, err))
			return false;
		from = e.end;
		if (a->crc != u32(e.descriptor))
			continue;
		n = a->held - (e.at + 4 + (e.marked ? tail : 0)); /* came with these bytes */
		*bytes -= n;
		*len += n;
		return end_stored(a, &e, err);
	}
	keep = at > from + tail ? at - tail : from;
	if (!give_stored(a, from, keep, err))
		return false;
	memmove(a->out, a->out + keep, a->held - keep);
	a->held -= keep;
	return true;
}

/* ---- both ---- */

/* Gathers `want` bytes of a head; then it is read. */
static bool gather(struct log_archive *a, const char **bytes, size_t *len, struct err *err)
{
	size_t n = a->want - a->have < *len ? a->want - a->have : *len;

	memcpy(a->head + a->have, *bytes, n);
	a->have += n;
	*bytes += n;
	*len -= n;
	if (a->have < a->want)
		return true;
	if (a->state != AT_DESCRIPTOR)
		return a->is_zip ? zip_head(a, err) : tar_head(a, err);
	/* Its mark may be absent: then these were the sum already. */
	go(a, AT_HEAD, (memcmp(a->head, "PK\7\10", 4) == 0 ? 4u : 0u) + (a->is_long ? 16u : 8u));
	return true;
}

static bool take_bytes(struct log_archive *a, const char **bytes, size_t *len, struct err *err)
{
	size_t n = a->left < *len ? (size_t)a->left : *len;
	bool ok = true;

	if (a->state == IN_MEMBER && n)
		ok = a->sink.feed(a->sink.self, *bytes, n, err);
	if (a->state == IN_LONG_NAME && n) {
		memcpy(a->head + a->have, *bytes, n);
		a->have += n;
	}
	*bytes += n;
	*len -= n;
	a->left -= n;
	if (!ok || a->left)
		return ok;
	if (a->state == IN_LONG_NAME) {
		end_long_name(a);
	} else if (a->state == IN_MEMBER) {
		ok = a->sink.end(a->sink.self, err);
		go(a, AT_HEAD, a->padding);
	} else {
		go(a, a->then, 0);
	}
	return ok;
}

/* An empty member ends where it begins, without a byte more. */
static bool is_over(const struct log_archive *a)
{
	return (a->state == IN_MEMBER || a->state == IN_LONG_NAME) && a->left == 0;
}

static bool archive_feed(struct log_archive *a, const char *bytes, size_t len, struct err *err)
{
	bool ok = true;

	while (ok && (len > 0 || is_over(a)) && a->state != AT_END) {
		if (!a->known && len > 0) {
			a->known = true;
			a->is_zip = len >= 4 && memcmp(bytes, "PK\3\4", 4) == 0;
			go(a, AT_HEAD, 0);
		}
		if (a->state == AT_HEAD || a->state == AT_NAME || a->state == AT_DESCRIPTOR)
			ok = gather(a, &bytes, &len, err);
		else if (a->state == IN_DEFLATE)
			ok = inflate_some(a, &bytes, &len, err);
		else if (a->state == IN_STORED)
			ok = stored_some(a, &bytes, &len, err);
		else
			ok = take_bytes(a, &bytes, &len, err);
	}
	return ok;
}

static bool archive_is_cut(const struct log_archive *a)
{
	return a->state != AT_END && (a->state != AT_HEAD || a->have > 0);
}

static struct log_archive *archive_create(const struct archive_sink *sink, struct err *err)
{
	struct log_archive *a = calloc(1, sizeof(*a));

	if (!a) {
		err_set(err, ERR_MEMORY, "out of memory for an archive");
		return NULL;
	}
	a->sink = *sink;
	return a;
}

static void archive_destroy(struct log_archive *a)
{
	if (a && a->inflating)
		inflateEnd(&a->z);
	free(a);
}

const struct archive_reader reader_archive = {
	.recognises = archive_recognises,
	.create = archive_create,
	.destroy = archive_destroy,
	.feed = archive_feed,
	.is_cut = archive_is_cut,
};
