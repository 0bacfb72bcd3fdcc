/* profiler/import/model.c -- what the readers of logs fill in together. */
#include "profiler/import/model.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/utf8.h"
#include "fusion/base/hash.h"

/* ---- names that come again, each once, with its totals. ---- */

enum { FIRST_SLOTS = 1024 };

static void names_finish(struct names *n)
{
	arena_finish(&n->arena);
	VEC_FREE(&n->rows);
	free(n->slots);
	*n = (struct names){ 0 };
}

json_t *json_of_text(const char *text, size_t len, bool *bad)
{
	json_t *json = len && memchr(text, '\0', len) ? NULL : json_stringn(text, len);
	struct buf mended;

	if (json)
		return json;
	*bad = true;
	buf_init(&mended, 0);
	for (size_t at = 0, n; at < len; at += n ? n : 1) {
		uint32_t point;

		n = (size_t)utf8_decode(text + at, len - at, &point);
		if (n && point)
			buf_add(&mended, text + at, n);
		else
			buf_puts(&mended, "\xef\xbf\xbd");
	}
	json = mended.failed ? NULL : json_stringn(mended.data ? mended.data : "", mended.len);
	buf_finish(&mended);
	return json ? json : json_string("?");
}

static bool grow(struct names *n)
{
	size_t slots = n->n_slots ? 2 * n->n_slots : FIRST_SLOTS;
	uint32_t *grown = calloc(slots, sizeof(*grown));

	if (!grown)
		return false;
	for (size_t i = 0; i < n->rows.len; i++) {
		size_t at = n->rows.at[i].hash & (slots - 1);

		while (grown[at])
			at = (at + 1) & (slots - 1);
		grown[at] = (uint32_t)i + 1;
	}
	free(n->slots);
	n->slots = grown;
	n->n_slots = slots;
	return true;
}

static struct name_total *add(struct names *n, struct timeline_writer *writer, size_t slot,
			      struct name_total row, struct ledger *ledger)
{
	size_t shown = row.len > TIMELINE_NAME_CHARS ? TIMELINE_NAME_CHARS : row.len;
	char *copy = arena_strndup(&n->arena, row.text, row.len);
	bool bad = false;

	if (!copy)
		return &n->others[row.group];
	while (shown > 0 && shown < row.len && (copy[shown] & 0xc0) == 0x80)
		shown--; /* not within a character */
	row.text = copy;
	if (writer) {
		json_t *text = json_of_text(copy, shown, &bad);

		ledger->n[LEDGER_BAD_UTF8] += bad;
		row.timeline = timeline_writer_name(
		    writer, json_pack("{s:o, s:s*}", "name", text, "group",
				      row.group == GROUP_OTHER ? "other" : NULL));
	}
	if (!VEC_PUSH(&n->rows, row))
		return &n->others[row.group];
	n->slots[slot] = (uint32_t)n->rows.len;
	return &n->rows.at[n->rows.len - 1];
}

struct name_total *names_find(struct names *n, struct timeline_writer *writer,
			      enum name_group group, const char *text, size_t len,
			      struct ledger *ledger)
{
	uint64_t hash = hash_bytes(text, len, group);
	size_t at;

	if (2 * n->rows.len >= n->n_slots && !grow(n))
		return &n->others[group];
	for (at = hash & (n->n_slots - 1); n->slots[at]; at = (at + 1) & (n->n_slots - 1)) {
		struct name_total *row = &n->rows.at[n->slots[at] - 1];

		if (row->hash == hash && row->len == len && row->group == group &&
		    memcmp(row->text, text, len) == 0)
			return row;
	}
	if (n->rows.len + 1 >= TIMELINE_MAX_NAMES || n->arena.used_bytes + len > NAMES_MAX_BYTES) {
		ledger->n[LEDGER_NAMES_FULL]++;
		return &n->others[group];
	}
	return add(n, writer, at,
		   (struct name_total){ .group = group, .text = text, .len = len, .hash = hash },
		   ledger);
}

/* ---- what ran inside of what, and for which compiled frame. ---- */

/* A span that is open while its lane is walked. */
struct open_span {
	int64_t end_ns, inner_ns; /* inner: of regions, graphs, compilations directly in it */
	int64_t duration_ns;
	enum span_kind kind;
	int region;  /* around it, or itself; -1: none */
	bool within; /* a compilation */
};

struct lane_walk {
	struct regions *r;
	VEC(struct open_span) open;
	int64_t lookups, lookup_ns; /* that no region has taken yet */
};

static void regions_finish(struct regions *r)
{
	VEC_FREE(&r->rows);
	VEC_FREE(&r->window);
	VEC_FREE(&r->launches);
	VEC_FREE(&r->kernels);
}

int regions_find(struct regions *r, const char *pid, const char *id)
{
	struct region row = { 0 };

	snprintf(row.pid, sizeof(row.pid), "%.23s", pid);
	snprintf(row.id, sizeof(row.id), "%.23s", id);
	for (size_t i = r->rows.len; i-- > 0;)
		if (strcmp(r->rows.at[i].id, row.id) == 0 &&
		    strcmp(r->rows.at[i].pid, row.pid) == 0)
			return (int)i;
	if (r->rows.len >= REGION_MAX || !VEC_PUSH(&r->rows, row)) {
		r->ledger->n[LEDGER_ROWS_FULL]++;
		return -1;
	}
	return (int)r->rows.len - 1;
}

/* By lane, then start, then the longest first, which holds the others. */
static int compare_spans(const void *a, const void *b)
{
	const struct import_span *x = a, *y = b;

	if (x->lane != y->lane)
		return x->lane < y->lane ? -1 : 1;
	if (x->start_ns != y->start_ns)
		return x->start_ns < y->start_ns ? -1 : 1;
	return (x->duration_ns < y->duration_ns) - (x->duration_ns > y->duration_ns);
}

static void close_span(struct lane_walk *w)
{
	const struct open_span *s = &w->open.at[--w->open.len];
	struct region *region = s->region >= 0 ? &w->r->rows.at[s->region] : NULL;
	bool counts = s->kind == SPAN_REGION || s->kind == SPAN_GRAPH || s->kind == SPAN_COMPILE;

	if (s->kind == SPAN_REGION && region) {
		region->calls++;
		region->total_ns += s->duration_ns;
		region->self_ns += s->duration_ns - s->inner_ns;
	}
	if (s->kind == SPAN_GRAPH && region) {
		region->graph_calls++;
		region->graph_ns += s->duration_ns;
	}
	if (s->kind == SPAN_COMPILE && region && !s->within)
		region->compile_ns += s->duration_ns;
	if (w->open.len)
		w->open.at[w->open.len - 1].inner_ns += counts ? s->duration_ns : s->inner_ns;
}

static void begin_region(struct lane_walk *w, int number)
{
	if (number < 0)
		return;
	w->r->rows.at[number].lookups += w->lookups;
	w->r->rows.at[number].lookup_ns += w->lookup_ns;
	w->lookups = w->lookup_ns = 0;
}

static bool note_launch(struct regions *r, int region, uint32_t correlation)
{
	if (region < 0)
		return true;
	r->rows.at[region].launches++;
	if (r->launches.len >= REGION_MAX_LINKS) {
		r->links_left_out++;
		return true;
	}
	return VEC_PUSH(&r->launches, (struct region_link){ correlation, (uint32_t)region, 0 });
}

static bool open_span(struct lane_walk *w, const struct import_span *s)
{
	int64_t end = s->start_ns + s->duration_ns;
	struct open_span o = { .end_ns = end, .duration_ns = s->duration_ns, .kind = s->kind };

	while (w->open.len && w->open.at[w->open.len - 1].end_ns <= s->start_ns)
		close_span(w);
	o.region = w->open.len ? w->open.at[w->open.len - 1].region : -1;
	o.within = w->open.len && (w->open.at[w->open.len - 1].within ||
				   w->open.at[w->open.len - 1].kind == SPAN_COMPILE);
	if (w->open.len && s->kind == SPAN_DEVICE)
		w->r->ledger->n[LEDGER_DEVICE_OVERLAP]++;
	else if (w->open.len && end > w->open.at[w->open.len - 1].end_ns)
		w->r->ledger->n[LEDGER_OVERLAPPING]++;
	if (s->kind == SPAN_REGION) {
		o.region = (int)s->number;
		begin_region(w, o.region);
	} else if (s->kind == SPAN_LOOKUP) {
		w->lookups++;
		w->lookup_ns += s->duration_ns;
	} else if (s->kind == SPAN_LAUNCH && !o.within && !note_launch(w->r, o.region, s->id)) {
		return false; /* what a compilation launches it only tries */
	}
	return VEC_PUSH(&w->open, o);
}

static bool look_through(struct regions *r)
{
	struct lane_walk w = { .r = r };
	bool ok = true;

	if (r->window.len)
		qsort(r->window.at, r->window.len, sizeof(*r->window.at), compare_spans);
	for (size_t i = 0; ok && i < r->window.len; i++) {
		if (i > 0 && r->window.at[i].lane != r->window.at[i - 1].lane) {
			while (w.open.len)
				close_span(&w);
			w.lookups = w.lookup_ns = 0;
		}
		ok = open_span(&w, &r->window.at[i]);
	}
	while (w.open.len)
		close_span(&w);
	VEC_FREE(&w.open);
	r->ledger->n[LEDGER_WINDOWS] += r->window.len > 0;
	r->window.len = 0;
	return ok;
}

bool regions_add(struct regions *r, struct import_span span)
{
	return (r->window.len < REGION_WINDOW || look_through(r)) && VEC_PUSH(&r->window, span);
}

bool regions_kernel(struct regions *r, uint32_t correlation, int64_t ns)
{
	if (r->kernels.len >= REGION_MAX_LINKS) {
		r->links_left_out++;
		return true;
	}
	return VEC_PUSH(&r->kernels, (struct region_link){ correlation, 0, ns });
}

static int by_correlation(const void *a, const void *b)
{
	const struct region_link *x = a, *y = b;

	return (x->correlation > y->correlation) - (x->correlation < y->correlation);
}

bool regions_end_file(struct regions *r)
{
	bool ok = look_through(r);
	size_t at = 0;

	if (r->launches.len)
		qsort(r->launches.at, r->launches.len, sizeof(*r->launches.at), by_correlation);
	if (r->kernels.len)
		qsort(r->kernels.at, r->kernels.len, sizeof(*r->kernels.at), by_correlation);
	for (size_t i = 0; i < r->kernels.len; i++) {
		while (at < r->launches.len &&
		       r->launches.at[at].correlation < r->kernels.at[i].correlation)
			at++;
		if (at < r->launches.len &&
		    r->launches.at[at].correlation == r->kernels.at[i].correlation) {
			struct region *region = &r->rows.at[r->launches.at[at].region];

			region->kernels++;
			region->kernel_ns += r->kernels.at[i].kernel_ns;
		}
	}
	r->launches.len = r->kernels.len = 0;
	return ok;
}

/* ---- threads and streams of a trace, each a lane. ---- */

void trace_lanes_finish(struct trace_lanes *l)
{
	for (size_t i = 0; i < l->rows.len; i++)
		VEC_FREE(&l->rows.at[i].begun);
	VEC_FREE(&l->rows);
}

static json_t *text_json(const char *text)
{
	bool bad = false;

	return json_of_text(text, strlen(text), &bad);
}

/* As people call it; `p` and `t`: what the log says of its process and its thread, NULL without
 * memory. */
static json_t *lane_name(enum lane_class of, const char *p, const char *t)
{
	if (!p || !t)
		return NULL;
	switch (of) {
	case LANE_DEVICE:
		return json_sprintf("GPU %s, stream %s", p, t);
	case LANE_DEVICE_NOTES:
		return json_sprintf("GPU %s, stream %s, ranges", p, t);
	case LANE_MEMORY:
		return json_sprintf("memory of %s", p);
	case LANE_RECORDING:
		/* Spans of the profiler have its name; what recording took has a number. */
		return isdigit((unsigned char)t[*t == '-']) || !*t
			   ? json_string("overhead of recording")
			   : json_sprintf("recording by %s", t);
	default:
		break;
	}
	if (!*p && !*t)
		return json_string("no thread named");
	return strcmp(p, t) == 0 ? json_sprintf("main thread of %s", p)
				 : json_sprintf("thread %s of %s", t, p);
}

static json_t *lane_row(enum lane_class of, const struct kineto_event *e)
{
	json_t *pid = text_json(e->pid), *tid = text_json(e->tid);
	json_t *name = lane_name(of, json_string_value(pid), json_string_value(tid));
	json_t *row = json_pack("{s:o, s:s, s:o, s:o}", "name", name, "role",
				of == LANE_DEVICE ? "kernels" : "host", "process", pid, "thread",
				tid);

	if (row && (of == LANE_DEVICE || of == LANE_DEVICE_NOTES)) {
		json_object_set_new(row, "device", json_integer(atoi(e->pid)));
		json_object_set_new(row, "stream", json_integer(atoi(e->tid)));
	}
	return row;
}

static uint16_t *lane_slot(struct trace_lanes *l, const struct kineto_event *e)
{
	uint64_t hash = hash_bytes(e->pid, strlen(e->pid), 0);

	return &l->first[hash_bytes(e->tid, strlen(e->tid), hash) % LANE_SLOTS];
}

struct trace_lane *trace_lane_next(struct trace_lanes *l, const struct kineto_event *e,
				   const struct trace_lane *before)
{
	uint16_t at = before ? before->next : *lane_slot(l, e);

	while (at > 0 && (strcmp(l->rows.at[at - 1].tid, e->tid) != 0 ||
			  strcmp(l->rows.at[at - 1].pid, e->pid) != 0))
		at = l->rows.at[at - 1].next;
	return at > 0 ? &l->rows.at[at - 1] : NULL;
}

static struct trace_lane *add_lane(struct trace_lanes *l, struct trace_lane lane,
				   const struct kineto_event *e)
{
	uint16_t *at = lane_slot(l, e);

	strcpy(lane.pid, e->pid);
	strcpy(lane.tid, e->tid);
	if (!VEC_PUSH(&l->rows, lane))
		return NULL;
	while (*at > 0)
		at = &l->rows.at[*at - 1].next;
	*at = (uint16_t)l->rows.len;
	return &l->rows.at[l->rows.len - 1];
}

struct trace_lane *trace_lane_own(struct trace_lanes *l, const struct kineto_event *e, json_t *row,
				  struct model *m)
{
	struct import_lane of = { .file = m->file, .rank = -1 };
	int64_t ahead = json_integer_value(json_object_get(row, "ahead_ns"));
	struct trace_lane lane = { .of = LANE_HOST };

	if (l->rows.len >= TIMELINE_MAX_LANES) {
		m->ledger.n[LEDGER_LANES_FULL]++;
		json_decref(row);
		return NULL;
	}
	of.clock = (struct timeline_clock){
		.known = json_is_integer(json_object_get(row, "ahead_ns")) &&
			 ahead > -MODEL_MAX_AHEAD_NS && ahead < MODEL_MAX_AHEAD_NS,
		.error_ns = json_integer_value(json_object_get(row, "ahead_error_ns")),
	};
	of.clock.ahead_ns = of.clock.known ? ahead : 0;
	lane.ahead_ns = of.clock.ahead_ns;
	json_object_del(row, "ahead_ns");
	json_object_del(row, "ahead_error_ns");
	lane.lane = m->writer ? model_lane_of(m, row, of) : (uint32_t)l->rows.len;
	if (!m->writer)
		json_decref(row);
	return add_lane(l, lane, e);
}

static bool is_lane_of(const struct trace_lane *lane, enum lane_class of,
		       const struct kineto_event *e)
{
	return lane->of == of && strcmp(lane->tid, e->tid) == 0 && strcmp(lane->pid, e->pid) == 0;
}

struct trace_lane *trace_lane_of(struct trace_lanes *l, enum lane_class of,
				 const struct kineto_event *e, struct model *m)
{
	struct trace_lane *lane = l->rows.len ? &l->rows.at[l->last] : NULL;
	struct trace_lane new = { .of = of, .lane = (uint32_t)l->rows.len };

	if (lane && is_lane_of(lane, of, e))
		return lane;
	lane = trace_lane_next(l, e, NULL);
	while (lane && lane->of != of)
		lane = trace_lane_next(l, e, lane);
	if (lane) {
		l->last = (size_t)(lane - l->rows.at);
		return lane;
	}
	if (l->rows.len >= TIMELINE_MAX_LANES) {
		m->ledger.n[LEDGER_LANES_FULL]++;
		return &l->rows.at[l->rows.len - 1];
	}
	if (m->writer)
		new.lane = model_lane(m, lane_row(of, e));
	return add_lane(l, new, e);
}

/* ---- whose clock a lane of the timeline has. ---- */

uint32_t model_lane_of(struct model *m, json_t *row, struct import_lane of)
{
	of.lane = timeline_writer_lane(m->writer, row);
	/* Where there are too many lanes the last is of the first that came to it. */
	if (!m->lanes.len || m->lanes.at[m->lanes.len - 1].lane < of.lane)
		VEC_PUSH(&m->lanes, of); /* no memory: the import ends by that */
	return of.lane;
}

uint32_t model_lane(struct model *m, json_t *row)
{
	if (row && m->file > 0)
		json_object_set_new(row, "file", json_integer(m->file));
	if (row && m->rank >= 0)
		json_object_set_new(row, "rank", json_integer(m->rank));
	return model_lane_of(m, row, (struct import_lane){ .file = m->file, .rank = -1 });
}

/* A trace whose times are further from the others' has lost where its clock has its zero. */
static const int64_t log_apart_ns = INT64_C(86400) * 1000000000;

/* A trace's clock is that of its file; a compile log has the clock of its rank's machine. */
static struct timeline_clock clock_of(const struct model *m, const struct import_lane *lane)
{
	struct ranks_clock c;

	for (size_t at = 0; !lane->clock.known && ranks_clock_next(m->ranks, &at, &c);)
		if (llabs(c.ahead_ns) < (lane->file >= 0 ? MODEL_MAX_AHEAD_NS : log_apart_ns) &&
		    (lane->file >= 0 ? c.file == lane->file : c.rank == lane->rank))
			return (struct timeline_clock){ true, c.ahead_ns, c.error_ns };
	return lane->clock;
}

json_t *model_clocks(const struct model *m)
{
	json_t *list = json_array();
	bool apart = false;

	for (size_t i = 0; i < m->lanes.len; i++) {
		struct timeline_clock c = clock_of(m, &m->lanes.at[i]);

		apart = apart || c.ahead_ns;
		if (c.known)
			json_array_append_new(
			    list, json_pack("[I, I, I]", (json_int_t)m->lanes.at[i].lane,
					    (json_int_t)c.ahead_ns, (json_int_t)c.error_ns));
	}
	if (apart)
		return list;
	json_decref(list);
	return NULL;
}

/* ---- which flows begin, and which end. ---- */

enum { SLOTS = 2 * FLOW_MAX_PAGES, IDS_PER_BYTE = 4 };

void flows_finish(struct flows *f)
{
	for (int i = 0; f->pages && i < SLOTS; i++)
		free(f->pages[i].bits);
	free(f->pages);
	*f = (struct flows){ 0 };
}

/* The slot of a page, or the free one where it would stand. */
static struct flow_page *slot_of(const struct flows *f, uint64_t number)
{
	uint64_t at = (number * UINT64_C(0x9e3779b97f4a7c15)) >> 32;

	for (;; at++) {
		struct flow_page *page = &f->pages[at % SLOTS];

		if (!page->bits || page->number == number)
			return page;
	}
}

bool flows_note(struct flows *f, uint64_t id, int bits)
{
	uint64_t within = id % FLOW_PAGE_IDS;
	struct flow_page *page;

	if (!f->pages)
		f->pages = calloc(SLOTS, sizeof(*f->pages));
	if (!f->pages)
		return false;
	page = slot_of(f, id / FLOW_PAGE_IDS);
	if (!page->bits) {
		if (f->n_pages == FLOW_MAX_PAGES)
			return false;
		page->bits = calloc(FLOW_PAGE_IDS / IDS_PER_BYTE, 1);
		if (!page->bits)
			return false;
		page->number = id / FLOW_PAGE_IDS;
		f->n_pages++;
	}
	page->bits[within / IDS_PER_BYTE] |= (uint8_t)(bits << 2 * (within % IDS_PER_BYTE));
	return true;
}

int flows_have(const struct flows *f, uint64_t id)
{
	uint64_t within = id % FLOW_PAGE_IDS;
	const struct flow_page *page = f->pages ? slot_of(f, id / FLOW_PAGE_IDS) : NULL;

	return page && page->bits
		   ? page->bits[within / IDS_PER_BYTE] >> 2 * (within % IDS_PER_BYTE) & 3
		   : 0;
}

void flows_count(const struct flows *f, int64_t *open, int64_t *orphans, int64_t *whole)
{
	*open = *orphans = *whole = 0;
	for (int i = 0; f->pages && i < SLOTS; i++) {
		const uint8_t *bits = f->pages[i].bits;

		for (int k = 0; bits && k < FLOW_PAGE_IDS; k++) {
			int have = bits[k / IDS_PER_BYTE] >> 2 * (k % IDS_PER_BYTE) & 3;

			*open += have == FLOW_STARTS;
			*orphans += have == FLOW_ENDS;
			*whole += have == (FLOW_STARTS | FLOW_ENDS);
		}
	}
}

bool model_init(struct model *m, struct timeline_writer *writer, struct err *err)
{
	*m = (struct model){ .writer = writer };
	m->regions.ledger = &m->ledger;
	m->heads = json_array();
	m->counters = json_array();
	m->graphs_called = json_object();
	m->ranks = ranks_create(err);
	return (compiles_init(&m->compiles, &m->ledger) && xla_init(&m->xla, &m->ledger) &&
		m->heads && m->counters && m->graphs_called && m->ranks) ||
	       err_set(err, ERR_MEMORY, "out of memory for an import");
}

void model_finish(struct model *m)
{
	VEC_FREE(&m->lanes);
	names_finish(&m->names);
	regions_finish(&m->regions);
	compiles_finish(&m->compiles);
	artifacts_end(&m->artifacts, NULL, NULL);
	stacks_finish(&m->stacks);
	json_decref(m->artifacts.counts);
	xla_finish(&m->xla);
	json_decref(m->heads);
	json_decref(m->counters);
	json_decref(m->exported);
	json_decref(m->graphs_called);
	ranks_destroy(m->ranks);
}

uint32_t model_shape(struct model *m, const int32_t grid[3], const int32_t block[3],
		     int64_t registers, int64_t shared_bytes)
{
	struct model_shape key = { { grid[0], grid[1], grid[2] },
				   { block[0], block[1], block[2] },
				   registers,
				   shared_bytes,
				   0 };
	uint64_t at = hash_bytes(&key, offsetof(struct model_shape, number), 0);

	for (int tries = 0; tries < MODEL_SHAPES; tries++, at++) {
		struct model_shape *slot = &m->shapes[at % MODEL_SHAPES];

		if (slot->number && memcmp(slot, &key, offsetof(struct model_shape, number)) == 0)
			return slot->number;
		if (slot->number)
			continue;
		if (m->n_shapes >= MODEL_SHAPES / 2)
			return 0;
		key.number = timeline_writer_shape(
		    m->writer,
		    json_pack("{s:[i, i, i], s:[i, i, i], s:I, s:I}", "grid", grid[0], grid[1],
			      grid[2], "block", block[0], block[1], block[2], "registers",
			      (json_int_t)registers, "static_bytes", (json_int_t)shared_bytes));
		m->n_shapes += key.number != 0;
		*slot = key;
		return key.number;
	}
	return 0;
}

void model_graph_called(struct model *m, const char *hash, size_t len)
{
	char key[128];

	if (json_object_size(m->graphs_called) >= MODEL_MAX_GRAPHS)
		return;
	len = len < sizeof(key) - 1 ? len : sizeof(key) - 1;
	memcpy(key, hash, len);
	key[len] = '\0';
	json_object_set_new(
	    m->graphs_called, key,
	    json_integer(1 + json_integer_value(json_object_get(m->graphs_called, key))));
}
