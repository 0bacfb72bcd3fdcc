/* profiler/import/slices.c -- see slices.h. */
#include "profiler/import/slices.h"

#include <ctype.h>
#include <string.h>

/* Of commas: what stands before the next event was part of a broken one. */
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

/* The byte before `at` that is no space; 0: none is left. */
static char before(const struct slices *s, size_t at)
{
	while (at > 0 && isspace((unsigned char)s->pending.data[at - 1]))
		at--;
	return at > 0 ? s->pending.data[at - 1] : '\0';
}

/* Where the next event may begin behind a broken one: an object that follows another or
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

/* Drops what is scanned; keeps the event that is under way, and the last byte that an
 * object may want to look back at. */
static void drop_scanned(struct slices *s)
{
	size_t keep = s->in_event ? s->start : s->at;

	while (keep > 0 && isspace((unsigned char)s->pending.data[keep - 1]))
		keep--;
	keep -= keep > 0;
	memmove(s->pending.data, s->pending.data + keep, s->pending.len - keep);
	s->pending.len -= keep;
	s->at -= keep;
	s->start -= s->in_event ? keep : 0;
}

/* Bytes that end a walk: outside of strings the brackets and the quote, within them the
 * quote and the backslash. */
static const bool marks_outside[256] = {
	['"'] = true, ['{'] = true, ['}'] = true, ['['] = true, [']'] = true
};
static const bool marks_inside[256] = { ['"'] = true, ['\\'] = true };

/* The rest of a string from `at` on: behind its quote, or the end of what is there. */
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

/* What stands in the list begins, or the list ends: whether the commas before it were as
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

/* One byte outside of strings, before the events and behind them. */
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
	/* Without the spaces, so that a key can be told by its end. */
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
		s->in_event = true;
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

bool slices_feed(struct slices *s, const char *bytes, size_t len, struct err *err)
{
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

	/* Behind an event that does not end others may stand whole. */
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
