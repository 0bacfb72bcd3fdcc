/* profiler/import/slices.c -- the events of a JSON trace, one text at a time. */
#include "profiler/import/slices.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"
#include "profiler/import/repair.h"

void asyncs_finish(struct asyncs *a)
{
	VEC_FREE(&a->lanes);
	VEC_FREE(&a->ids);
	VEC_FREE(&a->begun);
	VEC_FREE(&a->flow_names);
}

static uint64_t hash_text(const char *text, uint64_t seed)
{
	return hash_bytes(text, strlen(text), seed);
}

/* What an event belongs to: its category and id, or the id2 of newer traces, of which
 * "local" is one within the process.  0: it says none. */
static uint64_t id_of(const struct kineto_event *e, const char *text, size_t len)
{
	uint64_t hash = hash_text(e->category, 1);
	json_t *event, *id2, *id;
	char *spelt;

	if (*e->id)
		return hash_text(e->id, hash) | 1;
	event = json_of_log(text, len, NULL);
	id2 = json_object_get(event, "id2");
	id = json_object_get(id2, "global");
	if (!id) {
		id = json_object_get(id2, "local");
		hash = hash_text(e->pid, hash);
	}
	spelt = id ? json_dumps(id, JSON_ENCODE_ANY) : NULL;
	json_decref(event);
	hash = spelt ? hash_text(spelt, hash) | 1 : 0;
	free(spelt);
	return hash;
}

static json_t *text_json(const char *text)
{
	bool bad = false;

	return json_of_text(text, strlen(text), &bad);
}

static json_t *lane_row(const struct kineto_event *e, int n)
{
	json_t *label = text_json(*e->category ? e->category : "async"), *name;

	name = n ? json_sprintf("%s, %d", json_string_value(label), n + 1) : json_incref(label);
	return json_pack("{s:o, s:s, s:o, s:o}", "name", name, "role", "async", "process",
			 text_json(e->pid), "label", label);
}

/* A lane for the spans of an id: one of its track that is free, or a new one.  Where there
 * are too many the last, and counted.  False: out of memory. */
static bool find_lane(struct asyncs *a, const struct kineto_event *e, uint64_t id, size_t *out,
		      struct model *m)
{
	uint64_t track = hash_text(e->category, hash_text(e->pid, 3));
	struct async_lane lane = { .track = track, .held = id };
	int n = 0;

	for (size_t i = 0; i < a->lanes.len; i++) {
		struct async_lane *l = &a->lanes.at[i];

		if (l->track != track)
			continue;
		n++;
		if (l->held && l->held != id)
			continue;
		l->held = id;
		*out = i;
		return true;
	}
	if (a->lanes.len >= ASYNC_MAX_LANES) {
		m->ledger.n[LEDGER_LANES_FULL]++;
		*out = a->lanes.len - 1;
		return true;
	}
	if (m->writer)
		lane.lane = model_lane(m, lane_row(e, n));
	*out = a->lanes.len;
	return VEC_PUSH(&a->lanes, lane);
}

struct async_span {
	const char *name;
	size_t len;
	int64_t start_ns, duration_ns;
};

static bool put(struct asyncs *a, size_t lane, const struct async_span *s, struct model *m,
		struct err *err)
{
	struct name_total *total = names_find(&m->names, m->writer, GROUP_OTHER,
					      s->len ? s->name : "unnamed", s->len ? s->len : 7,
					      &m->ledger);
	struct timeline_event event = { .start_ns = s->start_ns,
					.duration_ns = s->duration_ns,
					.lane = a->lanes.at[lane].lane,
					.kind = TIMELINE_RANGE,
					.name = total->timeline };

	total->count++;
	total->total_ns += s->duration_ns;
	return !m->writer || timeline_writer_add(m->writer, &event, err);
}

/* The place after the innermost open span of an id; 0: none is open. */
static size_t innermost(const struct asyncs *a, uint64_t id)
{
	size_t i = a->ids.len;

	while (i > 0 && a->ids.at[i - 1] != id)
		i--;
	return i;
}

static bool begin(struct asyncs *a, const struct kineto_event *e, uint64_t id, size_t lane,
		  struct model *m, struct err *err)
{
	struct async_begun b = { .id = id, .start_ns = e->ts_ns, .lane = lane };
	size_t len = e->name.len < sizeof(b.name) - 1 ? e->name.len : sizeof(b.name) - 1;

	if (a->begun.len >= ASYNC_MAX_OPEN) {
		m->ledger.n[LEDGER_UNMATCHED_BEGIN]++;
		return true;
	}
	memcpy(b.name, e->name.data ? e->name.data : "", len);
	if (VEC_PUSH(&a->ids, id) && VEC_PUSH(&a->begun, b))
		return true;
	return err_set(err, ERR_MEMORY, "out of memory for async spans");
}

static bool end(struct asyncs *a, const struct kineto_event *e, uint64_t id, int64_t base_ns,
		struct model *m, struct err *err)
{
	size_t at = innermost(a, id);
	struct async_begun b;
	int64_t ns;

	if (at == 0) {
		m->ledger.n[LEDGER_UNMATCHED_END]++;
		return true;
	}
	b = a->begun.at[--at];
	memmove(a->begun.at + at, a->begun.at + at + 1, (a->begun.len - at - 1) * sizeof(b));
	memmove(a->ids.at + at, a->ids.at + at + 1, (a->ids.len - at - 1) * sizeof(id));
	a->begun.len--;
	a->ids.len--;
	if (innermost(a, id) == 0 && a->lanes.at[b.lane].held == id)
		a->lanes.at[b.lane].held = 0;
	ns = e->ts_ns - b.start_ns;
	m->ledger.n[LEDGER_NEGATIVE] += ns < 0;
	a->spans++;
	return put(
	    a, b.lane,
	    &(struct async_span){ b.name, strlen(b.name), b.start_ns + base_ns, ns < 0 ? 0 : ns },
	    m, err);
}

bool asyncs_event(struct asyncs *a, const struct kineto_event *e, int64_t base_ns, struct model *m,
		  struct err *err)
{
	uint64_t id = id_of(e, e->text, e->len);
	size_t lane, open;

	if (!id) {
		m->ledger.n[LEDGER_NO_ID]++;
		return true;
	}
	if (e->phase == 'e' || e->phase == 'F')
		return end(a, e, id, base_ns, m, err);
	open = innermost(a, id);
	if (open)
		lane = a->begun.at[open - 1].lane;
	else if (!find_lane(a, e, id, &lane, m))
		return err_set(err, ERR_MEMORY, "out of memory for async spans");
	if (e->phase == 'b' || e->phase == 'S')
		return begin(a, e, id, lane, m, err);
	if (!open && a->lanes.at[lane].held == id)
		a->lanes.at[lane].held = 0; /* a mark is over at once */
	a->marks++;
	return put(a, lane,
		   &(struct async_span){ e->name.len ? e->name.data : "", e->name.len,
					 e->ts_ns + base_ns, 0 },
		   m, err);
}

/* ---- arrows ---- */

/* The row of a name; where there are too many that of "others", and counted. */
static bool flow_name(struct asyncs *a, const struct kineto_event *e, struct model *m,
		      uint32_t *out)
{
	char phase[2] = { e->phase, '\0' };
	const char *name = e->name.len ? e->name.data : e->category;
	uint64_t key = hash_text(name, hash_text(phase, hash_text(e->category, 4)));

	for (size_t i = 0; i < a->flow_names.len; i++)
		if (a->flow_names.at[i].key == key) {
			*out = a->flow_names.at[i].name;
			return true;
		}
	*out = 0;
	if (a->flow_names.len >= FLOW_MAX_NAMES) {
		m->ledger.n[LEDGER_NAMES_FULL]++;
		return true;
	}
	*out = timeline_writer_name(
	    m->writer, json_pack("{s:o, s:s}", "name", text_json(name), "flow", phase));
	return VEC_PUSH(&a->flow_names, (struct flow_name){ key, *out });
}

/* The lane of an event that says no category: one of its thread, whichever was last
 * added, else a new one of the host. */
static struct trace_lane *trace_lane_near(struct trace_lanes *l, const struct kineto_event *e,
					  struct model *m)
{
	struct trace_lane *last = NULL;

	for (struct trace_lane *at = NULL; (at = trace_lane_next(l, e, at));)
		if (at->of == LANE_HOST || at->of == LANE_DEVICE)
			last = at;
	if (last)
		return last;
	return trace_lane_of(l, LANE_HOST, e, m);
}

bool asyncs_flow(struct asyncs *a, struct trace_lanes *lanes, const struct kineto_event *e,
		 int64_t base_ns, struct model *m, struct err *err)
{
	struct trace_lane *lane = trace_lane_near(lanes, e, m);
	struct timeline_event event = { .start_ns = e->ts_ns + base_ns, .kind = TIMELINE_FLOW };
	char *stop;
	uint64_t id = strtoull(e->id, &stop, 0);

	if (!lane)
		return err_set(err, ERR_MEMORY, "out of memory for a lane");
	a->arrows += e->phase == 's';
	event.start_ns += lane->ahead_ns;
	if (!m->writer)
		return true;
	if (!flow_name(a, e, m, &event.name))
		return err_set(err, ERR_MEMORY, "out of memory for arrows");
	event.lane = lane->lane;
	/* An id is a number, mostly; a text is one by its hash. */
	event.correlation = *stop || stop == e->id || id == 0 || id > UINT32_MAX
				? (uint32_t)hash_text(e->id, 0) | 1
				: (uint32_t)id;
	return timeline_writer_add(m->writer, &event, err);
}

void asyncs_end(struct asyncs *a, struct model *m)
{
	m->ledger.n[LEDGER_UNMATCHED_BEGIN] += (int64_t)a->begun.len;
	m->async_spans += a->spans;
	m->async_marks += a->marks;
	m->arrows += a->arrows;
}

/* Of commas: what comes before the next event was part of a broken one. */
enum { UNKNOWN = -1 };

void slices_init(struct slices *s, slice_fn *each, void *self, struct ledger *ledger)
{
	*s = (struct slices){ .each = each, .self = self, .ledger = ledger };
	buf_init(&s->pending, 0);
	buf_init(&s->head, SLICE_HEAD_BYTES);
}

void slices_finish(struct slices *s)
{
	buf_finish(&s->pending);
	buf_finish(&s->head);
}

/* The byte before `at` that is no space; 0: there was none. */
static char before(const struct slices *s, size_t at)
{
	while (at > 0 && isspace((unsigned char)s->pending.data[at - 1]))
		at--;
	return at > 0 ? s->pending.data[at - 1] : s->dropped;
}

/* Where the next event may begin after a broken one: an object that follows another or
 * a comma.  `end` where there is none. */
static size_t next_begin(const struct slices *s, size_t from, size_t end)
{
	for (; from < end; from++) {
		char c;

		if (s->pending.data[from] != '{')
			continue;
		c = before(s, from);
		if (c == ',' || c == '}')
			return from;
	}
	return end;
}

/* The same within a broken event, as long as looking twice costs no more than once. */
static size_t look_within(struct slices *s, size_t begin, size_t end)
{
	if (s->again > s->fed)
		return end;
	begin = next_begin(s, begin + 1, end);
	s->again += end - begin;
	return begin;
}

/* Within the list of events, outside of any. */
static void stand_between(struct slices *s)
{
	s->in_event = s->in_string = false;
	s->depth = s->events_depth;
	s->objects = 0;
	s->stray = false;
}

/* Hands on the event that lies in [start, end) of pending.  Where it is broken, goes on
 * from where another may begin within. */
static bool hand_on(struct slices *s, size_t end, struct err *err)
{
	struct err inner = { 0 };
	size_t begin = s->start;

	stand_between(s);
	s->at = end;
	if (s->each(s->self, s->pending.data + begin, end - begin, &inner))
		return true;
	if (inner.code) {
		*err = inner;
		return false;
	}
	s->ledger->n[LEDGER_BROKEN_EVENT]++;
	s->at = look_within(s, begin, end);
	s->commas = UNKNOWN;
	return true;
}

/* Drops what is scanned, but for the event that has not ended; an object may ask for the last
 * byte that is gone. */
static void drop_scanned(struct slices *s)
{
	size_t gone = s->in_event ? s->start : s->at;

	if (gone == 0)
		return;
	s->dropped = before(s, gone);
	memmove(s->pending.data, s->pending.data + gone, s->pending.len - gone);
	s->pending.len -= gone;
	s->at -= gone;
	s->start -= s->in_event ? gone : 0;
}

/* Bytes that end a walk: outside of strings the brackets and the quote, within them the
 * quote and the backslash. */
static const bool marks_outside[256] = {
	['"'] = true, ['{'] = true, ['}'] = true, ['['] = true, [']'] = true
};
static const bool marks_inside[256] = { ['"'] = true, ['\\'] = true };

/* The rest of a string from `at` on: after its quote, or the end of what is there. */
static size_t skip_string(const struct slices *s, size_t at, bool *ended)
{
	const unsigned char *data = (const unsigned char *)s->pending.data;
	size_t len = s->pending.len;

	*ended = false;
	for (;;) {
		while (at < len && !marks_inside[data[at]])
			at++;
		if (at >= len)
			return len;
		if (data[at] == '"') {
			*ended = true;
			return at + 1;
		}
		if (at + 1 == len)
			return at; /* what is escaped has not come yet */
		at += 2;
	}
}

/* What is in the list begins, or the list ends: whether the commas before it were as
 * many as there should be. */
static void count_commas(struct slices *s, bool begins)
{
	s->ledger->n[LEDGER_COMMA] += s->commas >= 0 && s->commas != (begins && s->any);
	s->commas = 0;
	s->any = true;
}

/* A byte between two events that is no bracket, or one too many. */
static void stand_at(struct slices *s, char c)
{
	if (c == ',') {
		s->commas += s->commas >= 0;
		s->stray = false;
	} else if (!isspace((unsigned char)c) && !s->stray) {
		count_commas(s, true);
		s->ledger->n[LEDGER_BROKEN_EVENT]++;
		s->stray = true;
	}
}

/* Past all of an event that is no bracket. */
static void skip_plain(struct slices *s)
{
	const unsigned char *data = (const unsigned char *)s->pending.data;
	size_t at = s->at, len = s->pending.len;
	bool ended = true;

	while (ended) {
		while (at < len && !marks_outside[data[at]])
			at++;
		if (at >= len || data[at] != '"')
			break;
		at = skip_string(s, at + 1, &ended);
	}
	s->at = at;
	s->in_string = !ended;
}

static bool ends_with(const struct buf *b, const char *text)
{
	size_t n = strlen(text);

	return b->len >= n && memcmp(b->data + b->len - n, text, n) == 0;
}

/* One byte outside of strings, before the events and after them. */
static void take_head(struct slices *s, char c)
{
	if (c == '{' || c == '[') {
		bool list = c == '[' &&
			    (s->depth == 0 ||
			     (s->depth == 1 && ends_with(&s->head, "\"traceEvents\":")));

		s->depth++;
		if (list && !s->listed) {
			s->listed = true;
			s->events_depth = s->depth;
			buf_putc(&s->head, '[');
			return;
		}
	} else if ((c == '}' || c == ']') && s->depth > 0) {
		s->depth--;
	}
	/* Without the spaces, so that a key can be reported by its end. */
	if (!isspace((unsigned char)c))
		buf_putc(&s->head, c);
}

/* One byte outside of strings, among the events. */
static bool take_byte(struct slices *s, char c, struct err *err)
{
	switch (c) {
	case '{':
		/* An object where a key should stand: the event before was never closed. */
		if (s->in_event && (s->objects & 1) && before(s, s->at) != ':')
			return hand_on(s, s->at, err);
		if (!s->in_event) {
			count_commas(s, true);
			s->start = s->at;
		}
		s->in_event = s->began = true;
		s->objects = s->objects << 1 | 1;
		s->depth++;
		break;
	case '[':
		s->depth++;
		s->objects <<= 1;
		break;
	case '}':
	case ']':
		s->depth--;
		s->objects >>= 1;
		if (s->in_event && s->depth <= s->events_depth)
			return hand_on(s, s->at + 1, err);
		if (!s->in_event && c == ']') {
			count_commas(s, false);
			s->events_depth = 0;
			buf_putc(&s->head, ']');
		} else if (!s->in_event) {
			s->depth++;
			stand_at(s, c); /* a bracket too many */
		}
		break;
	default:
		break;
	}
	s->at++;
	return true;
}

/* No bracket and no quote, among the events: within one on to the next. */
static void take_plain(struct slices *s, char c)
{
	if (s->in_event) {
		skip_plain(s);
		return;
	}
	stand_at(s, c);
	s->at++;
}

static void take_string(struct slices *s)
{
	size_t from = s->at;
	bool ended;

	if (s->events_depth && !s->in_event && !s->in_string)
		stand_at(s, '"');
	s->at = skip_string(s, s->at + !s->in_string, &ended);
	s->in_string = !ended;
	if (!s->events_depth)
		buf_add(&s->head, s->pending.data + from, s->at - from);
}

static bool scan(struct slices *s, struct err *err)
{
	while (s->at < s->pending.len) {
		size_t from = s->at;
		char c = s->pending.data[s->at];

		if (s->seeking) {
			s->at = next_begin(s, s->at, s->pending.len);
			s->seeking = s->at == s->pending.len;
			continue;
		}
		if (s->events_depth && !s->in_string && !marks_outside[(unsigned char)c]) {
			take_plain(s, c);
		} else if (s->in_string || c == '"') {
			take_string(s);
			if (s->at == from)
				break; /* a backslash alone */
		} else if (!s->events_depth) {
			take_head(s, c);
			s->at++;
		} else if (!take_byte(s, c, err)) {
			return false;
		}
		if (s->in_event && s->at - s->start > SLICE_MAX_BYTES) {
			s->ledger->n[LEDGER_TOO_LARGE]++;
			stand_between(s);
			s->seeking = true;
			s->commas = UNKNOWN;
		}
	}
	return true;
}

/* Of a hole, or whatever else is no trace, no end need ever come. */
static bool is_idle(struct slices *s, size_t len)
{
	s->idle = s->began ? 0 : s->idle;
	s->began = false;
	if (s->idle < SLICE_IDLE_BYTES) {
		s->idle += len;
		return false;
	}
	s->ledger->n[LEDGER_NO_EVENTS] += s->idle != SIZE_MAX;
	s->idle = SIZE_MAX;
	return true;
}

bool slices_feed(struct slices *s, const char *bytes, size_t len, struct err *err)
{
	if (is_idle(s, len))
		return true;
	buf_add(&s->pending, bytes, len);
	s->fed += len;
	if (s->pending.failed)
		return err_set(err, ERR_MEMORY, "out of memory for an event");
	if (!scan(s, err))
		return false;
	drop_scanned(s);
	return true;
}

bool slices_end(struct slices *s, struct err *err)
{
	bool cut = false;

	/* After an event that does not end others may stand whole. */
	while (s->in_event) {
		size_t from = look_within(s, s->start, s->pending.len);

		cut = from == s->pending.len;
		s->ledger->n[LEDGER_BROKEN_EVENT] += !cut;
		stand_between(s);
		s->commas = UNKNOWN;
		s->at = from;
		if (!scan(s, err))
			return false;
	}
	s->ledger->n[LEDGER_CUT_OFF] += cut || s->in_string || s->depth > 0;
	s->ledger->n[LEDGER_TOO_LARGE] += s->head.failed;
	return true;
}

/* What ends a head, which may be cut in its object or in a list there; NULL: it is cut deeper. */
static const char *ending_of(const struct buf *head)
{
	static const char *const endings[] = { "", "}", "]}" };
	size_t depth = 0;
	bool in_string = false;

	for (size_t i = 0; i < head->len; i++) {
		char c = head->data[i];

		if (in_string && c == '\\')
			i++;
		else if (c == '"')
			in_string = !in_string;
		else if (!in_string && (c == '{' || c == '['))
			depth++;
		else if (!in_string && (c == '}' || c == ']') && depth-- == 0)
			return NULL;
	}
	return depth < sizeof(endings) / sizeof(endings[0]) && !in_string ? endings[depth] : NULL;
}

json_t *slices_head(const struct slices *s)
{
	const struct buf *head = &s->head;
	const char *ending = ending_of(head);
	struct buf text;
	json_t *json = NULL;

	buf_init(&text, 0);
	if (ending && head->len) {
		buf_add(&text, head->data, head->len);
		buf_puts(&text, ending);
		json = text.failed ? NULL : json_of_log(text.data, text.len, NULL);
	}
	buf_finish(&text);
	if (!json_is_object(json)) {
		json_decref(json);
		json = json_object();
	}
	json_object_del(json, "traceEvents");
	return json;
}
