/* profiler/timeline/write.c -- events into blocks.
 *
 * Events are kept as rows until a chunk is full, then sorted, cut into columns and
 * compressed.  A column's bytes are shuffled first (all lowest bytes, then all
 * second ones): most of the high bytes are zero.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "fusion/base/hash.h"
#include "profiler/timeline/timeline.h"
#include "profiler/timeline/format.h"

enum { MAX_WIDTH = 8 };

struct extent {
	int64_t t0_ns, t1_ns, events;
};

struct timeline_writer {
	timeline_block_fn *put;
	void *self;
	struct timeline_event *events; /* TIMELINE_CHUNK_EVENTS of them */
	int n;
	uint8_t *shuffled; /* one column */
	struct buf body;
	json_t *lanes, *names, *shapes; /* not handed out yet */
	uint32_t n_lanes, n_names, n_shapes;
	struct extent *extents; /* TIMELINE_MAX_LANES of them */
	int64_t total, out_of_range;
	size_t pending_bytes; /* of the rows that are not handed out, about */
};

const char *timeline_kind_name(enum timeline_kind kind)
{
	static const char *const names[] = {
#define KIND(id, name) name,
		TIMELINE_KINDS(KIND)
#undef KIND
	};

	return names[kind];
}

struct timeline_writer *timeline_writer_create(timeline_block_fn *put, void *self, struct err *err)
{
	struct timeline_writer *w = calloc(1, sizeof(*w));

	if (w) {
		w->put = put;
		w->self = self;
		w->events = calloc(TIMELINE_CHUNK_EVENTS, sizeof(*w->events));
		w->shuffled = malloc((size_t)TIMELINE_CHUNK_EVENTS * MAX_WIDTH);
		w->extents = calloc(TIMELINE_MAX_LANES, sizeof(*w->extents));
		w->lanes = json_array();
		w->names = json_array();
		w->shapes = json_array();
		buf_init(&w->body, TIMELINE_MAX_BLOCK_BYTES);
	}
	if (w && w->events && w->shuffled && w->extents && w->lanes && w->names && w->shapes) {
		timeline_writer_name(w, json_pack("{s:s}", "name", "others"));
		return w;
	}
	timeline_writer_destroy(w);
	err_set(err, ERR_MEMORY, "out of memory for a timeline");
	return NULL;
}

void timeline_writer_destroy(struct timeline_writer *w)
{
	if (!w)
		return;
	json_decref(w->lanes);
	json_decref(w->names);
	json_decref(w->shapes);
	buf_finish(&w->body);
	free(w->events);
	free(w->shuffled);
	free(w->extents);
	free(w);
}

/* Adds a row; `full`: the number where it cannot be had. */
static uint32_t add_row(struct timeline_writer *w, json_t *rows, json_t *row, uint32_t *n,
			uint32_t limit, uint32_t full)
{
	if (!row || *n >= limit) {
		json_decref(row);
		return full;
	}
	w->pending_bytes += 2 * (size_t)TIMELINE_NAME_CHARS;
	return json_array_append_new(rows, row) == 0 ? (*n)++ : full;
}

uint32_t timeline_writer_lane(struct timeline_writer *w, json_t *row)
{
	return add_row(w, w->lanes, row, &w->n_lanes, TIMELINE_MAX_LANES,
		       w->n_lanes ? w->n_lanes - 1 : 0);
}

uint32_t timeline_writer_name(struct timeline_writer *w, json_t *row)
{
	return add_row(w, w->names, row, &w->n_names, TIMELINE_MAX_NAMES, 0);
}

uint32_t timeline_writer_shape(struct timeline_writer *w, json_t *row)
{
	uint32_t before = w->n_shapes;
	uint32_t at = add_row(w, w->shapes, row, &w->n_shapes, TIMELINE_MAX_NAMES, UINT32_MAX);

	return at == before && w->n_shapes > before ? at + 1 : 0;
}

/* Puts head and body to the sink. */
static bool put_block(struct timeline_writer *w, struct timeline_head head, struct err *err)
{
	struct buf block;
	bool ok;

	if (w->body.failed)
		return err_set(err, ERR_MEMORY, "out of memory for a block of a timeline");
	head.magic = TIMELINE_MAGIC;
	head.version = TIMELINE_VERSION;
	head.body_bytes = w->body.len;
	head.hash = hash_bytes(w->body.data, w->body.len, 0);
	buf_init(&block, 0);
	buf_add(&block, &head, sizeof(head));
	buf_add(&block, w->body.data, w->body.len);
	ok = block.failed ? err_set(err, ERR_MEMORY, "out of memory for a block of a timeline")
			  : w->put(w->self, block.data, block.len, err);
	buf_finish(&block);
	return ok;
}

/* Adds `len` bytes to the body, compressed where that makes them fewer. */
static bool add_part(struct timeline_writer *w, const void *bytes, size_t len, struct err *err)
{
	struct timeline_part part = { .codec = TIMELINE_ZSTD };
	size_t at = w->body.len, bound = ZSTD_compressBound(len), n;

	buf_add(&w->body, &part, sizeof(part));
	if (!buf_grow(&w->body, at + sizeof(part) + bound))
		return err_set(err, ERR_MEMORY, "out of memory for a block of a timeline");
	n = ZSTD_compress(w->body.data + at + sizeof(part), bound, bytes, len, TIMELINE_LEVEL);
	if (ZSTD_isError(n) || n >= len) {
		part.codec = TIMELINE_PLAIN;
		memcpy(w->body.data + at + sizeof(part), bytes, len);
		n = len;
	}
	part.bytes = (uint32_t)n;
	memcpy(w->body.data + at, &part, sizeof(part));
	w->body.len = at + sizeof(part) + n;
	return true;
}

static bool put_tables(struct timeline_writer *w, json_t *facts, struct err *err)
{
	json_t *tables = json_pack("{s:O, s:O, s:O}", "lanes", w->lanes, "names", w->names,
				   "shapes", w->shapes);
	char *text;
	uint32_t raw;
	bool ok;

	if (facts && tables)
		json_object_set(tables, "facts", facts);
	text = tables ? json_dumps(tables, JSON_COMPACT) : NULL;
	json_decref(tables);
	if (!text)
		return err_set(err, ERR_MEMORY, "out of memory for the tables of a timeline");
	raw = (uint32_t)strlen(text);
	buf_clear(&w->body);
	buf_add(&w->body, &raw, sizeof(raw));
	ok = add_part(w, text, raw, err) &&
	     put_block(w, (struct timeline_head){ .kind = TIMELINE_TABLES }, err);
	free(text);
	json_array_clear(w->lanes);
	json_array_clear(w->names);
	json_array_clear(w->shapes);
	w->pending_bytes = 0;
	return ok;
}

/* By start; of those that start together the longest, which holds the others, first. */
static int compare_events(const void *a, const void *b)
{
	const struct timeline_event *x = a, *y = b;

	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->duration_ns < y->duration_ns) - (x->duration_ns > y->duration_ns);
}

static bool put_chunk(struct timeline_writer *w, struct err *err)
{
	struct timeline_head head = { .kind = TIMELINE_CHUNK, .events = (uint32_t)w->n };
	size_t n = (size_t)w->n;

	qsort(w->events, n, sizeof(*w->events), compare_events);
	head.t0_ns = head.t1_ns = w->events[0].start_ns;
	for (size_t i = 0; i < n; i++)
		if (w->events[i].start_ns + w->events[i].duration_ns > head.t1_ns)
			head.t1_ns = w->events[i].start_ns + w->events[i].duration_ns;
	for (size_t i = n - 1; i > 0; i--)
		w->events[i].start_ns -= w->events[i - 1].start_ns;
	w->events[0].start_ns = 0;
	buf_clear(&w->body);
#define COLUMN(name, type)                                                                         \
	for (size_t i = 0; i < n; i++) {                                                           \
		type value = w->events[i].name;                                                    \
		for (size_t b = 0; b < sizeof(type); b++)                                          \
			w->shuffled[b * n + i] = (uint8_t)((uint64_t)value >> (8 * b));            \
	}                                                                                          \
	if (!add_part(w, w->shuffled, n * sizeof(type), err))                                      \
		return false;
	TIMELINE_COLUMNS(COLUMN)
#undef COLUMN
	w->n = 0;
	return put_block(w, head, err);
}

/* The facts that the writer itself knows, into `facts`. */
static void add_facts(const struct timeline_writer *w, json_t *facts)
{
	json_t *extents = json_array();

	for (uint32_t i = 0; i < w->n_lanes; i++) {
		const struct extent *x = &w->extents[i];

		if (x->events)
			json_array_append_new(
			    extents, json_pack("[I, I, I, I]", (json_int_t)i, (json_int_t)x->t0_ns,
					       (json_int_t)x->t1_ns, (json_int_t)x->events));
	}
	json_object_set_new(facts, "events", json_integer(w->total));
	json_object_set_new(facts, "out_of_range", json_integer(w->out_of_range));
	json_object_set_new(facts, "extents", extents);
}

/* Tables that are new, then the chunk. */
static bool put_all(struct timeline_writer *w, json_t *facts, struct err *err)
{
	size_t rows = json_array_size(w->lanes) + json_array_size(w->names) +
		      json_array_size(w->shapes);

	if ((rows > 0 || facts) && !put_tables(w, facts, err))
		return false;
	return w->n == 0 || put_chunk(w, err);
}

bool timeline_writer_flush(struct timeline_writer *w, struct err *err)
{
	json_t *facts;
	bool ok;

	if (w->n == 0)
		return true;
	facts = json_object();
	add_facts(w, facts);
	ok = put_all(w, facts, err);
	json_decref(facts);
	return ok;
}

bool timeline_writer_file(struct timeline_writer *w, struct timeline_piece *piece, struct err *err)
{
	uint32_t sizes[2] = { (uint32_t)strnlen(piece->name, TIMELINE_FILE_NAME_CHARS),
			      (uint32_t)piece->len };
	bool ok;

	buf_clear(&w->body);
	buf_add(&w->body, sizes, sizeof(sizes));
	buf_add(&w->body, piece->name, sizes[0]);
	ok = add_part(w, piece->bytes, piece->len, err) &&
	     put_block(w,
		       (struct timeline_head){
			   .kind = piece->kind, .t0_ns = piece->first, .t1_ns = piece->last },
		       err);
	piece->stored_bytes = sizeof(struct timeline_head) + w->body.len;
	return ok;
}

bool timeline_writer_add(struct timeline_writer *w, const struct timeline_event *event,
			 struct err *err)
{
	struct extent *x;

	if (event->start_ns <= -TIMELINE_MAX_NS || event->start_ns >= TIMELINE_MAX_NS ||
	    event->duration_ns < 0 || event->duration_ns >= TIMELINE_MAX_NS - event->start_ns ||
	    event->lane >= w->n_lanes) {
		w->out_of_range++;
		return true;
	}
	x = &w->extents[event->lane];
	if (x->events++ == 0)
		*x = (struct extent){ event->start_ns, event->start_ns, 1 };
	if (event->start_ns < x->t0_ns)
		x->t0_ns = event->start_ns;
	if (event->start_ns + event->duration_ns > x->t1_ns)
		x->t1_ns = event->start_ns + event->duration_ns;
	w->total++;
	w->events[w->n++] = *event;
	if (w->n < TIMELINE_CHUNK_EVENTS && w->pending_bytes < TIMELINE_MAX_BLOCK_BYTES / 4)
		return true;
	return put_all(w, NULL, err);
}

bool timeline_writer_finish(struct timeline_writer *w, json_t *facts, struct err *err)
{
	json_t *all = facts ? facts : json_object();
	bool ok;

	add_facts(w, all);
	ok = put_all(w, NULL, err) && put_tables(w, all, err);
	json_decref(all);
	return ok;
}
