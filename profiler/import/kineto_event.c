/* profiler/import/kineto_event.c -- see kineto_event.h.
 *
 * libyajl calls back for each key and value of the text: nothing is built.  It is some
 * six times as fast as making a Jansson object of each event (tests/bench/bench_import).
 */
#include "profiler/import/kineto_event.h"

#include <stdlib.h>
#include <string.h>
#include <yajl/yajl_parse.h>

#include "profiler/import/decimal.h"
#include "profiler/import/repair.h"

enum field {
	FIELD_NONE,
	FIELD_PHASE,
	FIELD_CATEGORY,
	FIELD_NAME,
	FIELD_PID,
	FIELD_TID,
	FIELD_ID,
	FIELD_TS,
	FIELD_DUR,
	FIELD_ARGS,
	FIELD_LABEL,
	FIELD_GRID,
	FIELD_BLOCK,
	FIELD_ARG0, /* and one for each kineto_arg behind it */
};

struct event_parser {
	yajl_handle yajl;
	struct kineto_event event;
	enum field field;
	int depth, item; /* brackets that are open; which number of a grid comes next */
	bool in_args;
	struct buf mended;
};

struct key {
	const char *name;
	size_t len;
	enum field field;
};

static enum field find_key(const struct key *keys, size_t n, const unsigned char *key, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (keys[i].len == len && memcmp(key, keys[i].name, len) == 0)
			return keys[i].field;
	return FIELD_NONE;
}

#define KEY(name, field)                                                                           \
	{                                                                                          \
		name, sizeof(name) - 1, field                                                      \
	}

static enum field top_field(const unsigned char *key, size_t len)
{
	static const struct key keys[] = {
		KEY("ph", FIELD_PHASE), KEY("cat", FIELD_CATEGORY), KEY("name", FIELD_NAME),
		KEY("pid", FIELD_PID),  KEY("tid", FIELD_TID),      KEY("id", FIELD_ID),
		KEY("ts", FIELD_TS),    KEY("dur", FIELD_DUR),      KEY("args", FIELD_ARGS),
	};

	return find_key(keys, sizeof(keys) / sizeof(keys[0]), key, len);
}

static enum field arg_field(const unsigned char *key, size_t len)
{
	static const struct key keys[] = {
#define ARG(id, name) KEY(name, (enum field)(FIELD_ARG0 + KINETO_ARG_##id)),
		KINETO_ARGS(ARG)
#undef ARG
		    KEY("name", FIELD_LABEL),
		KEY("group", FIELD_LABEL),
		KEY("grid", FIELD_GRID),
		KEY("block", FIELD_BLOCK),
	};

	return find_key(keys, sizeof(keys) / sizeof(keys[0]), key, len);
}

static int on_key(void *self, const unsigned char *key, size_t len)
{
	struct event_parser *p = self;

	p->field = FIELD_NONE;
	if (len > 0 && p->depth == 1)
		p->field = top_field(key, len);
	else if (len > 0 && p->depth == 2 && p->in_args)
		p->field = arg_field(key, len);
	return 1;
}

static int on_open(void *self)
{
	struct event_parser *p = self;

	p->event.is_object = true;
	if (p->depth == 1)
		p->in_args = p->field == FIELD_ARGS;
	p->item = 0;
	p->depth++;
	return 1;
}

static int on_close(void *self)
{
	struct event_parser *p = self;

	p->depth--;
	p->field = FIELD_NONE;
	return 1;
}

static void keep(char out[EVENT_TEXT_CHARS + 1], const void *text, size_t len)
{
	len = len > EVENT_TEXT_CHARS ? EVENT_TEXT_CHARS : len;
	memcpy(out, text, len);
	out[len] = '\0';
}

/* Whether the field is one that some write as a number and some as a text. */
static bool take_either(struct event_parser *p, const char *text, size_t len)
{
	struct kineto_event *e = &p->event;

	switch (p->field) {
	case FIELD_PID:
		keep(e->pid, text, len);
		return true;
	case FIELD_TID:
		keep(e->tid, text, len);
		return true;
	case FIELD_ID:
		keep(e->id, text, len);
		return true;
	case FIELD_TS:
		e->has_ts = decimal_scaled(text, len, 3, &e->ts_ns);
		return true;
	case FIELD_DUR:
		e->has_dur = decimal_scaled(text, len, 3, &e->dur_ns);
		return true;
	default:
		return false;
	}
}

static int on_string(void *self, const unsigned char *text, size_t len)
{
	struct event_parser *p = self;
	struct kineto_event *e = &p->event;

	switch (p->field) {
	case FIELD_PHASE:
		e->phase = len > 0 ? (char)text[0] : '\0';
		break;
	case FIELD_CATEGORY:
		keep(e->category, text, len);
		break;
	case FIELD_NAME:
		buf_clear(&e->name);
		buf_add(&e->name, text, len > EVENT_NAME_CHARS ? EVENT_NAME_CHARS : len);
		break;
	case FIELD_LABEL:
		keep(e->label, text, len);
		break;
	default:
		if (take_either(p, (const char *)text, len))
			e->pid_is_text = e->pid_is_text || p->field == FIELD_PID;
		break;
	}
	return 1;
}

static void take_arg(struct event_parser *p, const char *text, size_t len)
{
	struct kineto_event *e = &p->event;
	int i = (int)p->field - FIELD_ARG0;

	if (p->depth == 2 && decimal_scaled(text, len, 0, &e->arg[i]))
		e->has |= 1u << i;
}

static void take_size(struct event_parser *p, int32_t *sizes, const char *text, size_t len)
{
	int64_t value;

	if (p->depth == 3 && p->item < 3 && decimal_scaled(text, len, 0, &value))
		sizes[p->item] = value > 0 && value < INT32_MAX ? (int32_t)value : 0;
	p->item++;
}

static int on_number(void *self, const char *text, size_t len)
{
	struct event_parser *p = self;
	struct kineto_event *e = &p->event;

	if (take_either(p, text, len))
		return 1;
	switch (p->field) {
	case FIELD_GRID:
		take_size(p, e->grid, text, len);
		break;
	case FIELD_BLOCK:
		take_size(p, e->block, text, len);
		break;
	default:
		if (p->field >= FIELD_ARG0)
			take_arg(p, text, len);
	}
	return 1;
}

static int on_null(void *self)
{
	(void)self;
	return 1;
}

static int on_bool(void *self, int value)
{
	(void)self;
	(void)value;
	return 1;
}

static const yajl_callbacks callbacks = {
	.yajl_null = on_null,
	.yajl_boolean = on_bool,
	.yajl_number = on_number,
	.yajl_string = on_string,
	.yajl_start_map = on_open,
	.yajl_map_key = on_key,
	.yajl_end_map = on_close,
	.yajl_start_array = on_open,
	.yajl_end_array = on_close,
};

/* One handle for many events: they are values one behind the other. */
static bool renew(struct event_parser *p)
{
	if (p->yajl)
		yajl_free(p->yajl);
	p->yajl = yajl_alloc(&callbacks, NULL, p);
	return p->yajl && yajl_config(p->yajl, yajl_allow_multiple_values, 1) &&
	       yajl_config(p->yajl, yajl_dont_validate_strings, 1);
}

struct event_parser *event_parser_create(struct err *err)
{
	struct event_parser *p = calloc(1, sizeof(*p));

	if (p && renew(p)) {
		buf_init(&p->event.name, 0);
		buf_init(&p->mended, 0);
		return p;
	}
	event_parser_destroy(p);
	err_set(err, ERR_MEMORY, "out of memory for reading events");
	return NULL;
}

void event_parser_destroy(struct event_parser *p)
{
	if (!p)
		return;
	if (p->yajl)
		yajl_free(p->yajl);
	buf_finish(&p->event.name);
	buf_finish(&p->mended);
	free(p);
}

/* Whether the text is one object. */
static bool parse(struct event_parser *p, const char *text, size_t len)
{
	struct buf name = p->event.name;

	buf_clear(&name);
	p->event = (struct kineto_event){ .name = name };
	p->field = FIELD_NONE;
	p->depth = 0;
	if (p->yajl && yajl_parse(p->yajl, (const unsigned char *)text, len) == yajl_status_ok &&
	    p->depth == 0)
		return true;
	renew(p);
	return false;
}

struct kineto_event *event_parse(struct event_parser *p, const char *text, size_t len,
				 struct ledger *ledger)
{
	struct repairs done;

	if (parse(p, text, len))
		return &p->event;
	buf_clear(&p->mended);
	if (!repair_json(text, len, &p->mended, &done) || !parse(p, p->mended.data, p->mended.len))
		return NULL;
	ledger->n[LEDGER_CONTROL] += done.control;
	ledger->n[LEDGER_ESCAPE] += done.escape;
	ledger->n[LEDGER_NOT_FINITE] += done.not_finite;
	ledger->n[LEDGER_COMMA] += done.comma;
	return &p->event;
}
