/* profiler/import/kineto.c -- traces of torch.profiler, and others in Chrome's format.
 *
 * A file is read once and in order; what is kept does not grow with it, but for totals
 * by name, two bits a flow and 16 bytes for each launch within a compiled region.
 */
#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <yajl/yajl_parse.h>

#include "profiler/import/counters.h"
#include "profiler/import/decimal.h"
#include "profiler/import/model.h"
#include "profiler/import/kineto.h"
#include "profiler/import/own.h"
#include "profiler/import/repair.h"
#include "profiler/import/slices.h"
#include "profiler/timeline/timeline.h"

/* ---- where the clock's zero of a trace lies. ---- */

enum { TAIL_BYTES = 4096 };

/* As the text of a trace's head says it; *ns is not touched where it does not. */
static bool kineto_base(const char *text, int64_t *ns)
{
	static const char key[] = "\"baseTimeNanoseconds\":";
	const char *at = strstr(text, key);
	int64_t value;
	char *end;

	if (!at)
		return false;
	value = strtoll(at + sizeof(key) - 1, &end, 10);
	if (end == at + sizeof(key) - 1 || value < 0 || value >= TIMELINE_MAX_NS / 2)
		return false;
	*ns = value;
	return true;
}

bool kineto_base_at_end(int fd, int64_t *ns)
{
	char tail[TAIL_BYTES + 1];
	struct stat info;
	ssize_t n;

	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return false;
	n = pread(fd, tail, TAIL_BYTES, info.st_size > TAIL_BYTES ? info.st_size - TAIL_BYTES : 0);
	if (n <= 0)
		return false;
	tail[n] = '\0';
	for (char *at = tail; at < tail + n; at++) /* of what is compressed, say */
		*at = *at ? *at : ' ';
	return kineto_base(tail, ns);
}

static void event_parser_destroy(struct event_parser *p);

/* ---- an event of the file.
 *
 * libyajl calls back for each key and value of the text: nothing is built.  It is some
 * six times as fast as making a Jansson object of each event (tests/bench/bench_import).
 */

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
	FIELD_ARG0, /* and one for each kineto_arg after it */
};

/* libyajl takes it for granted that it gets the memory that it asks for.  So its blocks are on a
 * list: where there is none left the call is given up, and the list with it. */
union parser_block {
	struct {
		union parser_block *next, *last;
	};
	max_align_t aligned;
};

struct event_parser {
	yajl_handle yajl;
	union parser_block blocks; /* the list's head */
	jmp_buf given_up;
	bool starved; /* a call was given up */
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

static void unlink_block(union parser_block *b)
{
	if (b->next)
		b->next->last = b->last;
	b->last->next = b->next;
}

static void *link_block(struct event_parser *p, union parser_block *b)
{
	if (!b)
		longjmp(p->given_up, 1);
	b->next = p->blocks.next;
	b->last = &p->blocks;
	if (b->next)
		b->next->last = b;
	p->blocks.next = b;
	return b + 1;
}

static void *parser_malloc(void *self, size_t bytes)
{
	return link_block(self, malloc(sizeof(union parser_block) + bytes));
}

static void *parser_realloc(void *self, void *at, size_t bytes)
{
	union parser_block *b = at, *grown;

	if (!at)
		return parser_malloc(self, bytes);
	unlink_block(--b);
	grown = realloc(b, sizeof(*b) + bytes);
	if (!grown)
		free(b);
	return link_block(self, grown);
}

static void parser_free(void *self, void *at)
{
	(void)self;
	if (!at)
		return;
	unlink_block((union parser_block *)at - 1);
	free((union parser_block *)at - 1);
}

/* The handle with all that it has. */
static void drop_handle(struct event_parser *p)
{
	for (union parser_block *b = p->blocks.next, *next; b; b = next) {
		next = b->next;
		free(b);
	}
	p->blocks.next = NULL;
	p->yajl = NULL;
}

/* One handle for many events: they are values one after the other. */
static bool renew(struct event_parser *p)
{
	yajl_alloc_funcs memory = { parser_malloc, parser_realloc, parser_free, p };

	drop_handle(p);
	if (setjmp(p->given_up)) {
		drop_handle(p);
		p->starved = true;
		return false;
	}
	p->yajl = yajl_alloc(&callbacks, &memory, p);
	return p->yajl && yajl_config(p->yajl, yajl_allow_multiple_values, 1) &&
	       yajl_config(p->yajl, yajl_dont_validate_strings, 1);
}

/* Bytes of `args` numbers beyond 64 bits are not there. */
static struct event_parser *event_parser_create(struct err *err)
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

/* Bytes of `args` numbers beyond 64 bits are not there. */
static void event_parser_destroy(struct event_parser *p)
{
	if (!p)
		return;
	drop_handle(p);
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
	if (setjmp(p->given_up)) {
		drop_handle(p);
		p->starved = true;
		return false;
	}
	if (p->yajl && yajl_parse(p->yajl, (const unsigned char *)text, len) == yajl_status_ok &&
	    p->depth == 0)
		return true;
	renew(p);
	return false;
}

/* The event, good until the next call; NULL where the text is no JSON, even with bare
 * control characters, unknown escapes, nan and inf, and commas mended (then counted). */
static struct kineto_event *event_parse(struct event_parser *p, const char *text, size_t len,
					struct ledger *ledger)
{
	struct repairs done;

	if (parse(p, text, len))
		return &p->event;
	buf_clear(&p->mended);
	if (p->starved || !repair_json(text, len, &p->mended, &done) ||
	    !parse(p, p->mended.data, p->mended.len))
		return NULL;
	ledger->n[LEDGER_CONTROL] += done.control;
	ledger->n[LEDGER_ESCAPE] += done.escape;
	ledger->n[LEDGER_NOT_FINITE] += done.not_finite;
	ledger->n[LEDGER_COMMA] += done.comma;
	return &p->event;
}

enum { MAX_OPEN_BEGINS = 4096 };

enum flow_set { FLOWS_TO_DEVICE, FLOWS_BACKWARD, FLOWS_OTHER, FLOWS_LAUNCHES, FLOW_SETS };

struct category {
	const char *name;
	enum timeline_kind kind;
	enum lane_class lane;
	enum name_group group;
};

static const struct category categories[] = {
#define CATEGORY(name, kind, lane, group) { name, TIMELINE_##kind, LANE_##lane, GROUP_##group },
#include "profiler/import/categories.def"
#undef CATEGORY
};

struct kineto {
	struct model *m;
	struct slices slices;
	struct event_parser *parser;
	struct trace_lanes lanes;
	struct flows flows[FLOW_SETS];
	struct own_trace own;
	struct counters counters;
	struct asyncs asyncs;
	int64_t base_ns;
	bool has_begun; /* an event was read: the base is settled */
};

static const struct category *category_of(struct kineto *k, const char *name)
{
	size_t n = sizeof(categories) / sizeof(categories[0]);

	for (size_t i = 0; i < n; i++)
		if (categories[i].name[0] == name[0] && strcmp(categories[i].name, name) == 0)
			return &categories[i];
	k->m->ledger.n[LEDGER_UNKNOWN_CATEGORY]++;
	return &categories[n - 1];
}

/* Where the clock's zero lies, if the file has said so. */
static bool find_base(const struct slices *s, int64_t *ns)
{
	return s->head.data && kineto_base(s->head.data, ns);
}

static uint32_t shape_of(struct kineto *k, const struct kineto_event *e)
{
	if (!k->m->writer || !e->grid[0] || !e->block[0])
		return 0;
	return model_shape(k->m, e->grid, e->block,
			   e->has & 1u << KINETO_ARG_REGISTERS ? e->arg[KINETO_ARG_REGISTERS] : 0,
			   e->has & 1u << KINETO_ARG_SHARED ? e->arg[KINETO_ARG_SHARED] : 0);
}

static int64_t arg_or(const struct kineto_event *e, enum kineto_arg arg, int64_t otherwise)
{
	return e->has & 1u << arg ? e->arg[arg] : otherwise;
}

/* Whether a span is the compiler at work: "dynamo", an op since 2.9 or so, and what is timed
 * for the compile log: annotations in 2.6, ops today. */
static bool is_compiling(const struct category *c, const struct buf *name)
{
	static const char timed[] = " (dynamo_timed)";
	size_t n = sizeof(timed) - 1;

	if (c->kind == TIMELINE_OP && name->len == 6 && memcmp(name->data, "dynamo", 6) == 0)
		return true;
	return (c->kind == TIMELINE_OP || c->group == GROUP_ANNOTATION) && name->len > n &&
	       memcmp(name->data + name->len - n, timed, n) == 0;
}

/* The span of an event, and the compiled frame that it marks. */
static bool note_span(struct kineto *k, const struct category *c, const struct kineto_event *e,
		      uint32_t lane, uint32_t correlation)
{
	static const char region[] = "Torch-Compiled Region: ", call[] = "## Call CompiledFxGraph ";
	const char *name = e->name.data ? e->name.data : "";
	struct import_span span = { e->ts_ns, e->dur_ns, lane, SPAN_PLAIN, 0, correlation };

	if (c->lane == LANE_DEVICE) {
		span.kind = SPAN_DEVICE;
	} else if (c->lane != LANE_HOST) {
		return true;
	} else if (c->kind == TIMELINE_API && correlation) {
		span.kind = SPAN_LAUNCH;
	} else if (strncmp(name, region, sizeof(region) - 1) == 0) {
		int number = regions_find(&k->m->regions, e->pid, name + sizeof(region) - 1);

		span.kind = number >= 0 ? SPAN_REGION : SPAN_PLAIN;
		span.number = number >= 0 ? (unsigned)number & 0xfffffff : 0;
	} else if (strncmp(name, call, sizeof(call) - 1) == 0) {
		const char *hash = name + sizeof(call) - 1;

		span.kind = SPAN_GRAPH;
		model_graph_called(k->m, hash, strcspn(hash, " "));
	} else if (strcmp(name, "TorchDynamo Cache Lookup") == 0) {
		span.kind = SPAN_LOOKUP;
	} else if (is_compiling(c, &e->name)) {
		span.kind = SPAN_COMPILE;
	}
	return regions_add(&k->m->regions, span);
}

/* Launches and what they launched, by their correlation. */
static bool note_launch(struct kineto *k, const struct category *c, const struct kineto_event *e,
			uint32_t correlation)
{
	bool device = c->lane == LANE_DEVICE;

	if (!correlation || (!device && c->kind != TIMELINE_API))
		return true;
	if (!flows_note(&k->flows[FLOWS_LAUNCHES], correlation, device ? FLOW_ENDS : FLOW_STARTS))
		k->m->ledger.n[LEDGER_FLOWS_UNCHECKED]++;
	return c->kind != TIMELINE_KERNEL || regions_kernel(&k->m->regions, correlation, e->dur_ns);
}

/* What the figures of a rank are made of; `name` is kept to the end of the import. */
static bool note_rank(struct kineto *k, const struct category *c, const struct kineto_event *e,
		      const struct trace_lane *lane, const char *name, struct err *err)
{
	int64_t correlation = arg_or(e, KINETO_ARG_CORRELATION, 0);
	int64_t recorded = arg_or(e, KINETO_ARG_ON_RECORD, 0);
	struct ranks_event event = {
		.kind = c->kind,
		.start_ns = e->ts_ns + k->base_ns,
		.duration_ns = e->dur_ns,
		.name = name,
		.lane = (uint32_t)(lane - k->lanes.rows.at),
		.correlation = correlation > 0 && correlation <= UINT32_MAX ? (uint32_t)correlation
									    : 0,
		.device = arg_or(e, KINETO_ARG_DEVICE, 0),
		.stream = arg_or(e, KINETO_ARG_STREAM, 0),
		.bytes = arg_or(e, KINETO_ARG_COPIED, 0),
		.recorded = recorded > 0 && recorded <= UINT32_MAX ? (uint32_t)recorded : 0,
		.on_stream = arg_or(e, KINETO_ARG_ON_STREAM, -1),
		.text = e->text,
		.text_bytes = e->len,
	};

	if (c->lane != LANE_HOST && c->lane != LANE_DEVICE && c->kind != TIMELINE_WAIT &&
	    !(c->lane == LANE_DEVICE_NOTES && c->kind == TIMELINE_RANGE))
		return true;
	return ranks_event(k->m->ranks, &event, err);
}

/* An event with a beginning and a length. */
static bool take_span(struct kineto *k, struct kineto_event *e, struct err *err)
{
	const struct category *c = category_of(k, e->category);
	struct model *m = k->m;
	struct trace_lane *lane = trace_lane_of(&k->lanes, c->lane, e, m);
	const char *name = e->name.len ? e->name.data : "unnamed";
	struct name_total *total = names_find(&m->names, m->writer, c->group, name,
					      e->name.len ? e->name.len : strlen(name), &m->ledger);
	int64_t correlation = arg_or(e, KINETO_ARG_CORRELATION, 0);
	int64_t bytes = arg_or(e, KINETO_ARG_COPIED, 0);
	struct timeline_event event;

	if (!lane)
		return err_set(err, ERR_MEMORY, "out of memory for a lane");
	correlation = correlation > 0 && correlation <= UINT32_MAX ? correlation : 0;
	total->count++;
	total->total_ns = timeline_add(total->total_ns, e->dur_ns);
	total->bytes = timeline_add(total->bytes, bytes);
	m->graph_kernels += c->kind == TIMELINE_KERNEL && e->has & 1u << KINETO_ARG_GRAPH_NODE;
	if (!note_span(k, c, e, lane->lane, (uint32_t)correlation) ||
	    !note_launch(k, c, e, (uint32_t)correlation))
		return err_set(err, ERR_MEMORY, "out of memory for spans");
	if (!note_rank(k, c, e, lane, total->text ? total->text : "others", err))
		return false;
	if (!m->writer)
		return true;
	event = (struct timeline_event){ .start_ns = e->ts_ns + k->base_ns,
					 .duration_ns = e->dur_ns,
					 .bytes = bytes,
					 .lane = lane->lane,
					 .kind = c->kind,
					 .name = total->timeline,
					 .shape = shape_of(k, e),
					 .correlation = (uint32_t)correlation };
	return timeline_writer_add(m->writer, &event, err);
}

static struct counter_sink sink_of(struct kineto *k)
{
	return (struct counter_sink){ k->m, k->base_ns };
}

/* A change of memory, as the profiler says it of each. */
static bool take_memory(struct kineto *k, const struct kineto_event *e, struct err *err)
{
	struct model *m = k->m;
	struct counter_sink sink = sink_of(k);
	int64_t device = arg_or(e, KINETO_ARG_DEVICE_ID, -1);
	int64_t held = arg_or(e, KINETO_ARG_ALLOCATED, 0);
	int64_t reserved = arg_or(e, KINETO_ARG_RESERVED, 0);
	struct held_memory *of;

	if (arg_or(e, KINETO_ARG_DEVICE_TYPE, 0) == 0)
		device = -1;
	if (device < -1 || device >= MODEL_MAX_DEVICES)
		return true;
	of = &m->memory[device + 1];
	of->events++;
	of->allocated_bytes = held;
	of->peak_allocated_bytes = held > of->peak_allocated_bytes ? held
								   : of->peak_allocated_bytes;
	of->peak_reserved_bytes = reserved > of->peak_reserved_bytes ? reserved
								     : of->peak_reserved_bytes;
	if (device >= 0)
		ranks_memory(m->ranks, held, reserved);
	return (!(e->has & 1u << KINETO_ARG_ALLOCATED) ||
		counters_memory(&k->counters, &sink, e,
				&(struct memory_sample){ "allocated", device, held }, err)) &&
	       (!(e->has & 1u << KINETO_ARG_RESERVED) ||
		counters_memory(&k->counters, &sink, e,
				&(struct memory_sample){ "reserved", device, reserved }, err));
}

static bool take_instant(struct kineto *k, struct kineto_event *e, struct err *err)
{
	e->dur_ns = 0;
	if (strcmp(e->category, "cpu_instant_event") == 0 && e->has & 1u << KINETO_ARG_BYTES) {
		if (!take_memory(k, e, err))
			return false;
		e->arg[KINETO_ARG_COPIED] = e->arg[KINETO_ARG_BYTES];
		e->has |= 1u << KINETO_ARG_COPIED;
	}
	return take_span(k, e, err);
}

static bool take_begin(struct kineto *k, const struct kineto_event *e, struct err *err)
{
	const struct category *c = category_of(k, e->category);
	struct trace_lane *lane = trace_lane_of(&k->lanes, c->lane, e, k->m);
	struct begun b = { .start_ns = e->ts_ns };
	size_t len = e->name.len < sizeof(b.name) - 1 ? e->name.len : sizeof(b.name) - 1;

	memcpy(b.name, e->name.data ? e->name.data : "", len);
	strcpy(b.category, e->category);
	if (lane && lane->begun.len >= MAX_OPEN_BEGINS) {
		k->m->ledger.n[LEDGER_UNMATCHED_BEGIN]++;
		return true;
	}
	return (lane && VEC_PUSH(&lane->begun, b)) ||
	       err_set(err, ERR_MEMORY, "out of memory for begins");
}

/* The innermost begin of its lane; its name and category are those of the begin. */
static bool take_end(struct kineto *k, struct kineto_event *e, struct err *err)
{
	int64_t end = e->ts_ns;

	for (struct trace_lane *lane = NULL; (lane = trace_lane_next(&k->lanes, e, lane));) {
		struct begun b;

		if (lane->begun.len == 0)
			continue;
		b = lane->begun.at[--lane->begun.len];
		e->ts_ns = b.start_ns;
		e->dur_ns = end - b.start_ns;
		strcpy(e->category, b.category);
		buf_clear(&e->name);
		buf_puts(&e->name, b.name);
		if (e->dur_ns < 0) {
			e->dur_ns = 0;
			k->m->ledger.n[LEDGER_NEGATIVE]++;
		}
		return take_span(k, e, err);
	}
	k->m->ledger.n[LEDGER_UNMATCHED_END]++;
	return true;
}

static enum flow_set take_flow(struct kineto *k, const struct kineto_event *e)
{
	enum flow_set set = strcmp(e->category, "fwdbwd") == 0 ? FLOWS_BACKWARD
			    : strcmp(e->category, "ac2g") == 0 ||
				    strcmp(e->category, "async_cpu_to_gpu") == 0
				? FLOWS_TO_DEVICE
				: FLOWS_OTHER;
	char *end;
	uint64_t id = strtoull(e->id, &end, 0);

	k->m->flows++;
	if (e->phase == 't')
		return set; /* a step on the way */
	if (end == e->id || *end ||
	    !flows_note(&k->flows[set], id, e->phase == 's' ? FLOW_STARTS : FLOW_ENDS))
		k->m->ledger.n[LEDGER_FLOWS_UNCHECKED]++;
	return set;
}

/* Puts the times right, or drops the event. */
static bool mend_times(struct kineto *k, struct kineto_event *e)
{
	struct ledger *l = &k->m->ledger;
	int64_t end;

	if (!e->has_ts) {
		l->n[LEDGER_NO_TIME]++;
		return false;
	}
	if (e->phase == 'X' && !e->has_dur)
		l->n[LEDGER_NO_DURATION]++;
	if (e->phase == 'X' && e->has_dur && e->dur_ns < 0) {
		l->n[LEDGER_NEGATIVE]++;
		e->dur_ns = 0;
	}
	if (e->ts_ns <= -TIMELINE_MAX_NS / 2 || e->ts_ns >= TIMELINE_MAX_NS / 2 ||
	    e->dur_ns >= TIMELINE_MAX_NS / 2) {
		l->n[LEDGER_OUT_OF_RANGE]++;
		return false;
	}
	l->n[LEDGER_NEGATIVE_START] += e->ts_ns < 0;
	end = e->ts_ns + (e->phase == 'X' ? e->dur_ns : 0) + k->base_ns;
	k->counters.end_ns = end > k->counters.end_ns ? end : k->counters.end_ns;
	return true;
}

/* Where the file's first event begins the head is known, mostly. */
static void begin_events(struct kineto *k)
{
	static const char key[] = "\"breakeven\":{\"export\":";

	if (k->has_begun)
		return;
	if (!find_base(&k->slices, &k->base_ns))
		k->base_ns = k->m->base_at_end_ns;
	k->has_begun = true;
	k->m->rank = ranks_number(k->slices.head.data, k->m->file_name);
	if (k->slices.head.data && strstr(k->slices.head.data, key)) {
		json_t *head = slices_head(&k->slices);

		own_begins(&k->own, head, k->m);
		json_decref(head);
	}
}

/* An event that joins others, or is of no thread; the arrows of launches are drawn by their
 * correlation. */
static bool take_other(struct kineto *k, struct kineto_event *e, const char *text, size_t len,
		       struct err *err)
{
	struct counter_sink sink = sink_of(k);

	switch (e->phase) {
	case 'C':
		return !mend_times(k, e) || counters_event(&k->counters, &sink, e, text, len, err);
	case 's':
	case 't':
	case 'f':
		return take_flow(k, e) == FLOWS_TO_DEVICE || !mend_times(k, e) ||
		       asyncs_flow(&k->asyncs, &k->lanes, e, k->base_ns, k->m, err);
	default:
		return !mend_times(k, e) || asyncs_event(&k->asyncs, e, k->base_ns, k->m, err);
	}
}

/* A counter or an arrow of our own; said again for viewers are those of memory and of
 * launches. */
static bool take_own_other(struct kineto *k, struct kineto_event *e, struct err *err)
{
	struct counter_sink sink = sink_of(k);
	struct trace_lane *lane;

	if (e->phase != 'C')
		return take_flow(k, e) == FLOWS_TO_DEVICE || !mend_times(k, e) ||
		       asyncs_flow(&k->asyncs, &k->lanes, e, k->base_ns, k->m, err);
	if (strcmp(e->category, "series") != 0 || !mend_times(k, e))
		return true;
	lane = trace_lane_of(&k->lanes, LANE_HOST, e, k->m);
	if (!lane)
		return err_set(err, ERR_MEMORY, "out of memory for a lane");
	e->ts_ns += lane->ahead_ns;
	return counters_own(&k->counters, &sink, lane->lane, e, err);
}

/* An event of a trace of our own. */
static bool take_own(struct kineto *k, struct kineto_event *e, struct err *err)
{
	switch (e->phase) {
	case 'M':
		return own_metadata(&k->lanes, e, k->m, err);
	case 'X':
		return !mend_times(k, e) || own_event(&k->own, &k->lanes, e, k->base_ns, k->m, err);
	case 's':
	case 't':
	case 'f':
	case 'C':
		return take_own_other(k, e, err);
	case 'i': /* said again for viewers */
		return true;
	default:
		k->m->ledger.n[e->phase ? LEDGER_OTHER_PHASE : LEDGER_NO_PHASE]++;
		return true;
	}
}

static bool take_event(void *self, const char *text, size_t len, struct err *err)
{
	struct kineto *k = self;
	struct ledger *l = &k->m->ledger;
	struct kineto_event *e = event_parse(k->parser, text, len, l);

	if (!e)
		return k->parser->starved
			   ? err_set(err, ERR_MEMORY, "out of memory for reading events")
			   : false;
	e->text = text;
	e->len = len;
	k->m->events++;
	begin_events(k);
	l->n[LEDGER_STRING_PID] += e->pid_is_text;
	if (k->own.is_own)
		return take_own(k, e, err);
	switch (e->phase) {
	case 'M':
		return true;
	case 'X':
		return !mend_times(k, e) || take_span(k, e, err);
	case 'i':
	case 'I':
		return !mend_times(k, e) || take_instant(k, e, err);
	case 'B':
		return !mend_times(k, e) || take_begin(k, e, err);
	case 'E':
		return !mend_times(k, e) || take_end(k, e, err);
	default:
		if (e->phase && strchr("CstfbneSTpF", e->phase))
			return take_other(k, e, text, len, err);
		l->n[e->phase ? LEDGER_OTHER_PHASE : LEDGER_NO_PHASE]++;
		return true;
	}
}

static void *create(struct model *m, struct err *err)
{
	struct kineto *k = calloc(1, sizeof(*k));

	if (!k) {
		err_set(err, ERR_MEMORY, "out of memory for a trace");
		return NULL;
	}
	k->m = m;
	m->rank = -1;
	slices_init(&k->slices, take_event, k, &m->ledger);
	k->parser = event_parser_create(err);
	if (k->parser && ranks_begin(m->ranks, m->file_name, m->file, err))
		return k;
	event_parser_destroy(k->parser);
	free(k);
	return NULL;
}

static void destroy(void *self)
{
	struct kineto *k = self;

	if (!k)
		return;
	for (int i = 0; i < FLOW_SETS; i++)
		flows_finish(&k->flows[i]);
	trace_lanes_finish(&k->lanes);
	own_finish(&k->own);
	counters_finish(&k->counters);
	asyncs_finish(&k->asyncs);
	event_parser_destroy(k->parser);
	slices_finish(&k->slices);
	free(k);
}

/* JSON that is whole and lists no events is another's; of one that is cut the ledger says so. */
static bool has_events(const struct kineto *k, int64_t cuts_before, struct err *err)
{
	return k->slices.listed || k->m->ledger.n[LEDGER_CUT_OFF] > cuts_before ||
	       err_set(err, ERR_UNSUPPORTED,
		       "it has no list of \"traceEvents\", nor is it one: no Chrome trace");
}

static bool end(void *self, struct err *err)
{
	struct kineto *k = self;
	struct model *m = k->m;
	int64_t open, orphans, whole, base = k->base_ns;
	struct counter_sink sink = sink_of(k);
	int64_t cuts = m->ledger.n[LEDGER_CUT_OFF];
	bool ok = slices_end(&k->slices, err) && has_events(k, cuts, err) &&
		  (regions_end_file(&m->regions) ||
		   err_set(err, ERR_MEMORY, "out of memory for spans"));

	sink.base_ns = k->base_ns;
	ok = ok && counters_end(&k->counters, &sink, m->counters, err);
	asyncs_end(&k->asyncs, m);

	for (int i = 0; i < FLOW_SETS; i++) {
		flows_count(&k->flows[i], &open, &orphans, &whole);
		if (i == FLOWS_LAUNCHES) {
			m->ledger.n[LEDGER_UNLAUNCHED] += orphans;
			continue;
		}
		m->ledger.n[LEDGER_UNMATCHED_START] += open;
		m->ledger.n[LEDGER_UNMATCHED_FINISH] += orphans;
	}
	for (size_t i = 0; i < k->lanes.rows.len; i++)
		m->ledger.n[LEDGER_UNMATCHED_BEGIN] += (int64_t)k->lanes.rows.at[i].begun.len;
	find_base(&k->slices, &base);
	m->ledger.n[LEDGER_LATE_BASE] += k->has_begun && base != k->base_ns;
	json_array_append_new(m->heads, slices_head(&k->slices));
	ok = ok && ranks_end(m->ranks, json_array_get(m->heads, json_array_size(m->heads) - 1),
			     m->ledger.n[LEDGER_CUT_OFF] > cuts, err);
	if (k->own.is_own) /* kept once, as what it says of the run */
		json_object_del(json_array_get(m->heads, json_array_size(m->heads) - 1),
				"breakeven");
	return ok;
}

static bool feed(void *self, const char *bytes, size_t len, struct err *err)
{
	return slices_feed(&((struct kineto *)self)->slices, bytes, len, err);
}

/* JSON, and nothing that another log begins with. */
static bool recognises(const char *bytes, size_t len)
{
	size_t at = 0;

	if (len >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		at = 3;
	while (at < len && strchr(" \t\r\n", bytes[at]) && bytes[at])
		at++;
	return at < len && (bytes[at] == '{' || bytes[at] == '[');
}

const struct log_reader reader_kineto = {
	.kind = "kineto",
	.recognises = recognises,
	.create = create,
	.feed = feed,
	.end = end,
	.destroy = destroy,
};
