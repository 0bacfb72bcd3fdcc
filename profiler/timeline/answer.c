/* profiler/timeline/answer.c -- a window as the bytes of an answer. */
#include "profiler/timeline/answer.h"

#include <stdlib.h>
#include <string.h>

enum { MIN_PX = 16 };

/* name, type, width in bytes, its value of a row `r`: in the order of the bytes */
#define ANSWER_COLUMNS(COLUMN)                                                                     \
	COLUMN("start_ns", "f64", double, event.start_ns)                                          \
	COLUMN("duration_ns", "f64", double, event.duration_ns)                                    \
	COLUMN("bytes", "f64", double, event.bytes)                                                \
	COLUMN("lane", "u32", uint32_t, event.lane)                                                \
	COLUMN("kind", "u32", uint32_t, event.kind)                                                \
	COLUMN("name", "u32", uint32_t, event.name)                                                \
	COLUMN("shape", "u32", uint32_t, event.shape)                                              \
	COLUMN("correlation", "u32", uint32_t, event.correlation)                                  \
	COLUMN("events", "u32", uint32_t, events)

int answer_px(int64_t asked, size_t rows, size_t most)
{
	int64_t px = asked < MIN_PX ? MIN_PX : asked;

	px = px > ANSWER_FINEST_PX ? ANSWER_FINEST_PX : px;
	while (px > MIN_PX && rows * (size_t)px > most)
		px /= 2;
	return (int)px;
}

bool answer_stands_for(const struct answer_bucket *b, const struct timeline_event *e, bool found)
{
	if (b->events == 0 || found != b->found)
		return b->events == 0 || found;
	return e->kind == TIMELINE_COUNTER ? e->bytes > b->event.bytes
					   : e->duration_ns > b->event.duration_ns;
}

bool answer_lists_lane(const char *list, size_t lane)
{
	for (const char *at = list; at && *at; at += strspn(at, ",")) {
		char *end;

		if (strtoul(at, &end, 10) == lane && end != at)
			return true;
		at = end + strcspn(end, ",");
	}
	return !list;
}

int answer_column(int64_t from_ns, int64_t span_ns, int px)
{
	int at = span_ns > 0 ? (int)((double)from_ns / (double)span_ns * px) : 0;

	return at < px ? at : px - 1;
}

/* What holds another comes before it; any two have an order, since qsort() without memory keeps
 * none. */
static int compare_rows(const void *a, const void *b)
{
	const struct timeline_event *x = &((const struct answer_bucket *)a)->event;
	const struct timeline_event *y = &((const struct answer_bucket *)b)->event;

	if (x->start_ns != y->start_ns)
		return (x->start_ns > y->start_ns) - (x->start_ns < y->start_ns);
	if (x->duration_ns != y->duration_ns)
		return x->duration_ns < y->duration_ns ? 1 : -1;
	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->name != y->name)
		return x->name < y->name ? -1 : 1;
	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

void answer_sort(struct answer_bucket *rows, size_t n)
{
	qsort(rows, n, sizeof(*rows), compare_rows);
}

/* ---- written ---- */

static void pad(struct buf *out, char with)
{
	while (out->len % 8 && !out->failed)
		buf_putc(out, with);
}

static json_t *columns_json(void)
{
	json_t *list = json_array();

#define COLUMN(name, type, ctype, value)                                                           \
	json_array_append_new(list, json_pack("[s, s]", name, type));
	ANSWER_COLUMNS(COLUMN)
#undef COLUMN
	return list;
}

/* "BETV", the head's length, the head. */
static bool write_head(json_t *head, struct buf *out)
{
	char *text;
	uint32_t len;

	json_object_set_new(head, "columns", columns_json());
	text = json_dumps(head, JSON_COMPACT);
	if (!text)
		return false;
	buf_add(out, "BETV\0\0\0\0", 8);
	buf_puts(out, text);
	free(text);
	pad(out, ' ');
	if (out->failed)
		return false;
	len = (uint32_t)(out->len - 8);
	memcpy(out->data + 4, &len, sizeof(len));
	return true;
}

bool answer_write(json_t *head, const struct answer_bucket *rows, size_t n, int64_t begin_ns,
		  struct buf *out)
{
	bool ok = head && write_head(head, out);

	json_decref(head);
	if (!ok)
		return false;
#define COLUMN(name, type, ctype, value)                                                           \
	for (size_t i = 0; i < n; i++) {                                                           \
		struct answer_bucket r = rows[i];                                                  \
		ctype x;                                                                           \
		r.event.start_ns -= begin_ns;                                                      \
		x = (ctype)r.value;                                                                \
		buf_add(out, &x, sizeof(x));                                                       \
	}                                                                                          \
	pad(out, '\0');
	ANSWER_COLUMNS(COLUMN)
#undef COLUMN
	return !out->failed;
}

/* ---- read ---- */

static bool no_answer(struct err *err)
{
	return err_set(err, ERR_STORAGE, "what is kept of the timeline is damaged");
}

static size_t padded(size_t len)
{
	return (len + 7) / 8 * 8;
}

/* What of `n` rows the columns take. */
static size_t columns_bytes(size_t n)
{
	size_t bytes = 0;

#define COLUMN(name, type, ctype, value) bytes += padded(n * sizeof(ctype));
	ANSWER_COLUMNS(COLUMN)
#undef COLUMN
	return bytes;
}

static void read_columns(const char *at, struct answer_bucket *rows, size_t n)
{
#define COLUMN(name, type, ctype, value)                                                           \
	for (size_t i = 0; i < n; i++) {                                                           \
		ctype x;                                                                           \
		memcpy(&x, at + i * sizeof(x), sizeof(x));                                         \
		rows[i].value = x;                                                                 \
	}                                                                                          \
	at += padded(n * sizeof(ctype));
	ANSWER_COLUMNS(COLUMN)
#undef COLUMN
}

bool answer_read(const struct buf *bytes, json_t **head, struct answer_bucket **rows, size_t *n,
		 struct err *err)
{
	uint32_t len;
	json_int_t told;

	*head = NULL;
	*rows = NULL;
	if (bytes->len < 8 || memcmp(bytes->data, "BETV", 4) != 0)
		return no_answer(err);
	memcpy(&len, bytes->data + 4, sizeof(len));
	if (len > bytes->len - 8)
		return no_answer(err);
	*head = json_loadb(bytes->data + 8, len, 0, NULL);
	told = json_integer_value(json_object_get(*head, "rows"));
	if (told < 0 || (uint64_t)told > bytes->len ||
	    columns_bytes((size_t)told) != bytes->len - 8 - len) {
		json_decref(*head);
		*head = NULL;
		return no_answer(err);
	}
	*n = (size_t)told;
	*rows = calloc(*n + 1, sizeof(**rows));
	if (!*rows) {
		json_decref(*head);
		*head = NULL;
		return err_set(err, ERR_MEMORY, "out of memory for a window of the timeline");
	}
	read_columns(bytes->data + 8 + len, *rows, *n);
	return true;
}
