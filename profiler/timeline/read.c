/* profiler/timeline/read.c -- blocks that may come from strangers.
 *
 * Every length is checked before it is used; what a frame of zstd claims of itself
 * never decides how much is written.
 */
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "fusion/base/hash.h"
#include "profiler/timeline/timeline.h"
#include "profiler/timeline/format.h"

enum {
	MAX_WIDTH = 8,
	MAX_TEXT_BYTES = 2 * TIMELINE_MAX_BLOCK_BYTES, /* of a block's tables */
	MAX_TEXTS_BYTES = 384 << 20,                   /* of all, as many as names may have */
	MAX_VALUES = 8 << 20,                          /* in all: one takes some 40 bytes */
};

static bool damaged(struct err *err, const char *what)
{
	return err_set(err, ERR_TIMELINE, "the timeline is damaged: %s", what);
}

bool timeline_block_read(const void *bytes, size_t len, struct timeline_block *out, struct err *err)
{
	struct timeline_head head;

	if (len < sizeof(head))
		return damaged(err, "it ends within the head of a block");
	memcpy(&head, bytes, sizeof(head));
	if (head.magic != TIMELINE_MAGIC)
		return err_set(err, ERR_TIMELINE, "this is no timeline: a block begins with BETL");
	if (head.version != TIMELINE_VERSION)
		return err_set(err, ERR_TIMELINE,
			       "the timeline is of version %u, and this Breakeven knows version "
			       "%d; it may be read by a newer one",
			       head.version, TIMELINE_VERSION);
	if (head.body_bytes > TIMELINE_MAX_BLOCK_BYTES || head.body_bytes > len - sizeof(head))
		return damaged(err, "it ends within a block");
	if (hash_bytes((const char *)bytes + sizeof(head), head.body_bytes, 0) != head.hash)
		return damaged(err, "a block is not as it was written");
	if (head.kind < TIMELINE_CHUNK || head.kind > TIMELINE_INDEX)
		return damaged(err, "a block is of an unknown kind");
	if (head.kind == TIMELINE_CHUNK &&
	    (head.events == 0 || head.events > TIMELINE_CHUNK_EVENTS ||
	     head.t0_ns <= -TIMELINE_MAX_NS || head.t0_ns > head.t1_ns ||
	     head.t1_ns >= TIMELINE_MAX_NS))
		return damaged(err, "the head of a chunk is impossible");
	*out = (struct timeline_block){ .kind = head.kind,
					.events = head.events,
					.t0_ns = head.t0_ns,
					.t1_ns = head.t1_ns,
					.body = (const char *)bytes + sizeof(head),
					.body_bytes = head.body_bytes,
					.block_bytes = sizeof(head) + head.body_bytes };
	return true;
}

/* The next part of a body into `out`, which must become `raw` bytes. */
static bool take_part(const char **at, const char *end, void *out, size_t raw, struct err *err)
{
	struct timeline_part part;

	if ((size_t)(end - *at) < sizeof(part))
		return damaged(err, "a block ends within a column");
	memcpy(&part, *at, sizeof(part));
	*at += sizeof(part);
	if (part.bytes > (size_t)(end - *at))
		return damaged(err, "a block ends within a column");
	if (part.codec == TIMELINE_PLAIN) {
		if (part.bytes != raw)
			return damaged(err, "a column's length is wrong");
		memcpy(out, *at, raw);
	} else if (part.codec != TIMELINE_ZSTD ||
		   ZSTD_decompress(out, raw, *at, part.bytes) != raw) {
		return damaged(err, "a column cannot be decompressed");
	}
	*at += part.bytes;
	return true;
}

bool timeline_file_read(const struct timeline_block *b, char name[TIMELINE_FILE_NAME_CHARS + 1],
			struct buf *out, struct err *err)
{
	const char *at = b->body, *end = at + b->body_bytes;
	uint32_t sizes[2];

	if (b->kind < TIMELINE_FILE || b->body_bytes < sizeof(sizes))
		return damaged(err, "a piece of a file is missing");
	memcpy(sizes, at, sizeof(sizes));
	at += sizeof(sizes);
	if (sizes[0] > TIMELINE_FILE_NAME_CHARS || sizes[0] > (size_t)(end - at) ||
	    sizes[1] > TIMELINE_PIECE_BYTES)
		return damaged(err, "a piece of a file is over its limit");
	memcpy(name, at, sizes[0]);
	name[sizes[0]] = '\0';
	at += sizes[0];
	if (out->limit && out->len + sizes[1] + 1 > out->limit)
		return err_set(err, ERR_TOO_LARGE, "the files of the run have more than %zu MiB",
			       out->limit >> 20);
	if (!buf_grow(out, out->len + sizes[1] + 1))
		return err_set(err, ERR_MEMORY, "out of memory for a file of a run");
	if (!take_part(&at, end, out->data + out->len, sizes[1], err))
		return false;
	out->len += sizes[1];
	out->data[out->len] = '\0';
	return true;
}

bool timeline_chunk_create(struct timeline_chunk *c, struct err *err)
{
	bool ok = true;

	*c = (struct timeline_chunk){ 0 };
#define COLUMN(name, type)                                                                         \
	c->name = malloc(sizeof(type) * TIMELINE_CHUNK_EVENTS);                                    \
	ok = ok && c->name;
	TIMELINE_COLUMNS(COLUMN)
#undef COLUMN
	c->scratch = malloc((size_t)MAX_WIDTH * TIMELINE_CHUNK_EVENTS);
	if (ok && c->scratch)
		return true;
	timeline_chunk_destroy(c);
	return err_set(err, ERR_MEMORY, "out of memory for a timeline");
}

void timeline_chunk_destroy(struct timeline_chunk *c)
{
#define COLUMN(name, type) free(c->name);
	TIMELINE_COLUMNS(COLUMN)
#undef COLUMN
	free(c->scratch);
	*c = (struct timeline_chunk){ 0 };
}

/* ---- clocks ---- */

struct timeline_clock timeline_clock_at(const struct timeline_tables *t, size_t lane)
{
	return lane < t->n_clocks ? t->clocks[lane] : (struct timeline_clock){ 0 };
}

/* What is taken from the times of a lane. */
static int64_t ahead_of(const struct timeline_tables *t, size_t lane)
{
	return t->as_recorded ? 0 : timeline_clock_at(t, lane).ahead_ns;
}

/* A start on the reader's clock; with its duration it stays within TIMELINE_MAX_NS. */
static int64_t put_right(int64_t start_ns, int64_t duration_ns, int64_t ahead_ns)
{
	int64_t at = start_ns - ahead_ns, last = TIMELINE_MAX_NS - 1 - duration_ns;

	return at > last ? last : at <= -TIMELINE_MAX_NS ? 1 - TIMELINE_MAX_NS : at;
}

void timeline_recorded_span(const struct timeline_tables *t, int64_t *t0_ns, int64_t *t1_ns)
{
	int64_t least = 0, most = 0;

	for (size_t i = 0; i < t->n_clocks; i++) {
		int64_t ahead = ahead_of(t, i);

		least = ahead < least ? ahead : least;
		most = ahead > most ? ahead : most;
	}
	*t0_ns = timeline_add(*t0_ns, least);
	*t1_ns = timeline_add(*t1_ns, most);
}

struct start_at {
	int64_t ns;
	int at;
};

static int by_start(const void *a, const void *b)
{
	const struct start_at *x = a, *y = b;

	if (x->ns != y->ns)
		return x->ns < y->ns ? -1 : 1;
	return (x->at > y->at) - (x->at < y->at);
}

/* Of several lanes those that were put right may have changed places. */
static bool sort_events(struct timeline_chunk *c, struct err *err)
{
	struct start_at *order = malloc((size_t)c->n * sizeof(*order));

	if (!order)
		return err_set(err, ERR_MEMORY, "out of memory for a timeline");
	for (int i = 0; i < c->n; i++)
		order[i] = (struct start_at){ c->start_ns[i], i };
	qsort(order, (size_t)c->n, sizeof(*order), by_start);
#define COLUMN(name, type)                                                                         \
	for (int i = 0; i < c->n; i++)                                                             \
		memcpy(c->scratch + (size_t)i * sizeof(type), &c->name[order[i].at],               \
		       sizeof(type));                                                              \
	memcpy(c->name, c->scratch, (size_t)c->n * sizeof(type));
	TIMELINE_COLUMNS(COLUMN)
#undef COLUMN
	free(order);
	return true;
}

/* From each lane's own clock to the one that the tables are read by. */
static bool align(struct timeline_chunk *c, const struct timeline_tables *t, struct err *err)
{
	bool sorted = true;

	if (!t || !t->n_clocks || t->as_recorded)
		return true;
	for (int i = 0; i < c->n; i++) {
		c->start_ns[i] = put_right(c->start_ns[i], c->duration_ns[i],
					   ahead_of(t, c->lane[i]));
		sorted = sorted && (i == 0 || c->start_ns[i - 1] <= c->start_ns[i]);
	}
	return sorted || sort_events(c, err);
}

/* Starts from differences; all within what the head says. */
static bool place_in_time(struct timeline_chunk *c, const struct timeline_block *b, struct err *err)
{
	int64_t now = b->t0_ns;

	for (int i = 0; i < c->n; i++) {
		if (c->start_ns[i] < 0 || c->start_ns[i] > b->t1_ns - now)
			return damaged(err, "an event starts outside its chunk");
		now += c->start_ns[i];
		c->start_ns[i] = now;
		if (c->duration_ns[i] < 0 || c->duration_ns[i] > b->t1_ns - now)
			return damaged(err, "an event ends outside its chunk");
		if (c->kind[i] >= TIMELINE_KIND_COUNT)
			return damaged(err, "an event is of an unknown kind");
	}
	return true;
}

static bool is_zero(const uint8_t *bytes, size_t n)
{
	return n == 0 || (bytes[0] == 0 && memcmp(bytes, bytes + 1, n - 1) == 0);
}

bool timeline_chunk_read(struct timeline_chunk *c, const struct timeline_tables *tables,
			 const struct timeline_block *b, struct err *err)
{
	const char *at = b->body, *end = at + b->body_bytes;
	size_t n = b->events;

	if (b->kind != TIMELINE_CHUNK)
		return damaged(err, "a chunk of events is missing");
	c->n = (int)n;
#define COLUMN(name, type)                                                                         \
	if (!take_part(&at, end, c->scratch, n * sizeof(type), err))                               \
		return false;                                                                      \
	memset(c->name, 0, n * sizeof(type));                                                      \
	for (size_t k = 0; k < sizeof(type); k++) {                                                \
		const uint8_t *plane = c->scratch + k * n;                                         \
		if (is_zero(plane, n)) /* as most are */                                           \
			continue;                                                                  \
		for (size_t i = 0; i < n; i++)                                                     \
			c->name[i] = (type)((uint64_t)c->name[i] | (uint64_t)plane[i] << (8 * k)); \
	}
	TIMELINE_COLUMNS(COLUMN)
#undef COLUMN
	return place_in_time(c, b, err) && align(c, tables, err);
}

void timeline_tables_finish(struct timeline_tables *t)
{
	json_decref(t->lanes);
	json_decref(t->names);
	json_decref(t->shapes);
	json_decref(t->facts);
	free(t->clocks);
	*t = (struct timeline_tables){ 0 };
}

/* A list of objects, with a "name" each where `named`, that may follow those in `old`. */
static bool is_list(const json_t *new, const json_t *old, size_t limit, bool named)
{
	const json_t *row;
	size_t i;

	if (!json_is_array(new) || json_array_size(new) + json_array_size(old) > limit)
		return false;
	json_array_foreach(new, i, row)
	{
		if (!json_is_object(row) ||
		    (named && !json_is_string(json_object_get(row, "name"))))
			return false;
	}
	return true;
}

struct timeline_lane timeline_lane_at(const struct timeline_tables *t, size_t lane)
{
	const json_t *row = json_array_get(t->lanes, lane), *value;
	struct timeline_lane to = { 0 };

#define TEXT(key) to.key = json_string_value(json_object_get(row, #key));
#define NUMBER(key)                                                                                \
	value = json_object_get(row, #key);                                                        \
	to.has.key = json_is_integer(value);                                                       \
	to.key = json_integer_value(value);
	TIMELINE_LANE(TEXT, NUMBER)
#undef TEXT
#undef NUMBER
	return to;
}

struct timeline_name timeline_name_at(const struct timeline_tables *t, size_t name)
{
	const json_t *row = json_array_get(t->names, name), *value;
	struct timeline_name to = { .library = json_is_true(json_object_get(row, "library")),
				    .ops = json_object_get(row, "ops"),
				    .lines = json_object_get(row, "lines") };

#define TEXT(member, key) to.member = json_string_value(json_object_get(row, key));
#define NUMBER(member, key)                                                                        \
	value = json_object_get(row, key);                                                         \
	to.has.member = json_is_integer(value);                                                    \
	to.member = json_integer_value(value);
	TIMELINE_NAME(TEXT, NUMBER)
#undef TEXT
#undef NUMBER
	return to;
}

struct timeline_watching timeline_watching(const struct timeline_tables *t)
{
	return (struct timeline_watching){
		.clock_ns = json_number_value(json_object_get(t->facts, "clock_ns")),
		.tell_ns = json_number_value(json_object_get(t->facts, "tell_ns")),
	};
}

bool timeline_extent_at(const struct timeline_tables *t, size_t i, struct timeline_extent *out)
{
	const json_t *row = json_array_get(json_object_get(t->facts, "extents"), i);
	int64_t ahead, duration;

	*out = (struct timeline_extent){
		.lane = (size_t)json_integer_value(json_array_get(row, 0)),
		.t0_ns = json_integer_value(json_array_get(row, 1)),
		.t1_ns = json_integer_value(json_array_get(row, 2)),
	};
	ahead = ahead_of(t, out->lane);
	duration = out->t1_ns - out->t0_ns;
	if (ahead && duration < TIMELINE_MAX_NS) {
		out->t0_ns = put_right(out->t0_ns, duration, ahead);
		out->t1_ns = out->t0_ns + duration;
	}
	return row != NULL;
}

bool timeline_lane_is_of(const struct timeline_lane *lane, const char *mode, const int64_t *n)
{
	if (mode && (!lane->mode || strcmp(lane->mode, mode) != 0))
		return false;
	return !n || (lane->has.n && lane->n == *n);
}

static bool is_extents(const json_t *list)
{
	const json_t *row;
	size_t i;

	if (!list)
		return true;
	if (!json_is_array(list) || json_array_size(list) > TIMELINE_MAX_LANES)
		return false;
	json_array_foreach(list, i, row)
	{
		json_t *copy = (json_t *)row;
		json_int_t lane, t0, t1, events;

		if (json_unpack(copy, "[I, I, I, I!]", &lane, &t0, &t1, &events) != 0 || lane < 0 ||
		    lane >= TIMELINE_MAX_LANES || t0 <= -TIMELINE_MAX_NS || t0 > t1 ||
		    t1 >= TIMELINE_MAX_NS)
			return false;
	}
	return true;
}

/* What clocks are apart, by lane: *n of them, new; NULL and 0 where there is none, or no memory. */
static struct timeline_clock *clocks_of(const json_t *list, size_t *n)
{
	struct timeline_clock *clocks;
	const json_t *row;
	size_t i;

	*n = 0;
	json_array_foreach(list, i, row)
	{
		size_t lane = (size_t)json_integer_value(json_array_get(row, 0));

		*n = lane >= *n ? lane + 1 : *n;
	}
	clocks = *n ? calloc(*n, sizeof(*clocks)) : NULL;
	json_array_foreach(list, i, row)
	{
		if (clocks)
			clocks[json_integer_value(json_array_get(row, 0))] =
			    (struct timeline_clock){ true,
						     json_integer_value(json_array_get(row, 1)),
						     json_integer_value(json_array_get(row, 2)) };
	}
	return clocks;
}

static bool is_clocks(const json_t *list)
{
	const json_t *row;
	size_t i;

	if (!list)
		return true;
	if (!json_is_array(list) || json_array_size(list) > TIMELINE_MAX_LANES)
		return false;
	json_array_foreach(list, i, row)
	{
		json_int_t lane, ahead, error;

		if (json_unpack((json_t *)row, "[I, I, I!]", &lane, &ahead, &error) != 0 ||
		    lane < 0 || lane >= TIMELINE_MAX_LANES || ahead <= -TIMELINE_MAX_NS ||
		    ahead >= TIMELINE_MAX_NS || error < 0)
			return false;
	}
	return true;
}

static bool take_facts(struct timeline_tables *t, json_t *facts, struct err *err)
{
	size_t n;
	struct timeline_clock *clocks = clocks_of(json_object_get(facts, "clocks"), &n);

	if (n && !clocks)
		return err_set(err, ERR_MEMORY, "out of memory for the tables of a timeline");
	free(t->clocks);
	t->clocks = clocks;
	t->n_clocks = n;
	json_decref(t->facts);
	t->facts = json_incref(facts);
	return true;
}

static bool append(json_t **list, const json_t *rows)
{
	if (!*list)
		*list = json_array();
	return *list && json_array_extend(*list, (json_t *)rows) == 0;
}

static bool merge(struct timeline_tables *t, const json_t *json, struct err *err)
{
	const json_t *lanes = json_object_get(json, "lanes");
	const json_t *names = json_object_get(json, "names");
	const json_t *shapes = json_object_get(json, "shapes");
	json_t *facts = json_object_get(json, "facts");

	if (!is_list(lanes, t->lanes, TIMELINE_MAX_LANES, true) ||
	    !is_list(names, t->names, TIMELINE_MAX_NAMES, true) ||
	    !is_list(shapes, t->shapes, TIMELINE_MAX_NAMES, false) ||
	    (facts && !json_is_object(facts)) || !is_extents(json_object_get(facts, "extents")) ||
	    !is_clocks(json_object_get(facts, "clocks")))
		return damaged(err, "its tables are not as they should be");
	if (!append(&t->lanes, lanes) || !append(&t->names, names) || !append(&t->shapes, shapes))
		return err_set(err, ERR_MEMORY, "out of memory for the tables of a timeline");
	return !facts || take_facts(t, facts, err);
}

/* How many values a JSON text has at most, before memory is taken for them. */
static size_t count_values(const char *text, size_t len)
{
	bool quoted = false;
	size_t n = 1;

	for (size_t i = 0; i < len; i++)
		if (quoted && text[i] == '\\')
			i++;
		else if (text[i] == '"')
			quoted = !quoted;
		else if (!quoted)
			n += text[i] == ',' || text[i] == '[' || text[i] == '{' || text[i] == ':';
	return n;
}

/* Some bytes of zstd become very many values: all tables of a timeline together are bounded. */
static bool fits(struct timeline_tables *t, const char *text, size_t len, struct err *err)
{
	t->text_bytes += len;
	t->values += count_values(text, len);
	return (t->text_bytes <= MAX_TEXTS_BYTES && t->values <= MAX_VALUES) ||
	       damaged(err, "its tables are over their limit");
}

bool timeline_tables_read(struct timeline_tables *t, const struct timeline_block *b,
			  struct err *err)
{
	const char *at = b->body, *end = at + b->body_bytes;
	uint32_t raw;
	char *text;
	json_t *json = NULL;
	bool ok;

	if (b->kind != TIMELINE_TABLES || b->body_bytes < sizeof(raw))
		return damaged(err, "tables are missing");
	memcpy(&raw, at, sizeof(raw));
	at += sizeof(raw);
	if (raw > MAX_TEXT_BYTES)
		return damaged(err, "its tables are over their limit");
	text = malloc((size_t)raw + 1);
	if (!text)
		return err_set(err, ERR_MEMORY, "out of memory for the tables of a timeline");
	ok = take_part(&at, end, text, raw, err) && fits(t, text, raw, err);
	if (ok)
		json = json_loadb(text, raw, 0, NULL);
	free(text);
	if (ok)
		ok = json ? merge(t, json, err) : damaged(err, "its tables are not JSON");
	json_decref(json);
	return ok;
}
