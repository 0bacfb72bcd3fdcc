/* profiler/import/torch_trace.c -- TORCH_TRACE: what torch.compile did, record by record.
 *
 * One of these reads one file.  It is of one process mostly; those that it forked write
 * into it too, by the same table of strings.  Files that were joined have one behind the
 * other: the first number of the table said again begins a new process, even where it
 * got the old one's number.
 */
#include <stdlib.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "profiler/import/repair.h"
#include "profiler/import/torch_trace.h"
#include "profiler/import/model.h"
#include "profiler/import/torch_record.h"

/* A process that writes into the file. */
struct writer {
	int64_t pid;
	int process; /* its row of compiles.processes */
	bool began;  /* the table of strings */
	struct torch_phases phases;
};

struct torch_trace {
	struct model *m;
	struct torch_records records;
	VEC(char *) strings; /* of the file */
	VEC(struct writer) writers;
	struct writer *now; /* who writes now */
};

/* One record, as handlers take it. */
struct told {
	struct torch_trace *t;
	const struct torch_record *record;
	const json_t *meta; /* the value of its kind */
	const char *kind;
	char id[64]; /* "0/1"; "": of no compilation */
	json_t *row; /* of its compilation; NULL: none */
};

typedef bool told_fn(struct told *told, struct err *err);

/* ---- artifacts of a TORCH_TRACE: breaks, reasons, caches, kernels. ---- */

/* A JSON list, or -- since 2.11 or so -- one bare reason. */
static void take_recompile_reasons(struct told *told)
{
	const struct torch_record *r = told->record;
	json_t *list = r->payload_len && r->payload[0] == '['
			   ? json_of_log(r->payload, r->payload_len, NULL)
			   : NULL,
	       *reason;
	size_t i;

	if (!told->row)
		told->t->m->ledger.n[LEDGER_NO_COMPILE]++;
	if (json_is_array(list)) {
		json_array_foreach(list, i, reason)
		{
			compiles_append(&told->t->m->compiles, told->row, "recompile_reasons",
					json_incref(reason));
		}
	} else {
		bool bad = false;

		compiles_append(&told->t->m->compiles, told->row, "recompile_reasons",
				json_of_text(r->payload, r->payload_len, &bad));
	}
	json_decref(list);
}

/* {"triton_poi_fused_0": {"compile_time_us": 137496, ...}} */
static void take_kernel_info(struct told *told)
{
	json_t *kernels = json_of_log(told->record->payload, told->record->payload_len,
				      &told->t->m->ledger);
	const char *name;
	json_t *info;

	if (!json_is_object(kernels))
		told->t->m->ledger.n[LEDGER_BROKEN_PAYLOAD]++;
	json_object_foreach(kernels, name, info)
	    compiles_append(&told->t->m->compiles, told->row, "generated_kernels",
			    json_pack("{s:s, s:O?}", "name", name, "compile_us",
				      json_object_get(info, "compile_time_us")));
	json_decref(kernels);
}

static void take_version(struct told *told)
{
	json_t *version = json_of_log(told->record->payload, told->record->payload_len,
				      &told->t->m->ledger);
	json_t *process = json_array_get(told->t->m->compiles.processes,
					 (size_t)told->t->now->process);

	if (json_is_string(json_object_get(version, "pytorch_version")))
		json_object_set(process, "version", json_object_get(version, "pytorch_version"));
	json_decref(version);
}

/* A record of the kind "artifact": what it is stands in its name.  False with MEMORY. */
static bool torch_artifact_take(struct told *told, struct err *err)
{
	const char *name = json_string_value(json_object_get(told->meta, "name"));
	struct compiles *c = &told->t->m->compiles;
	const char *payload = told->record->payload;
	struct torch_break b;

	(void)err;
	if (!name)
		return true;
	if (strstr(name, "cache_hit") || strstr(name, "cache_miss") || strstr(name, "cache_bypass"))
		compiles_add_in(told->row, "caches", name, 1);
	if (!payload)
		return true;
	if (strcmp(name, "dynamo_graph_break_reason") == 0) {
		torch_break_read(payload, &b);
		compiles_break(c, told->row, &b);
	} else if (strcmp(name, "recompile_reasons") == 0) {
		take_recompile_reasons(told);
	} else if (strcmp(name, "dynamo_error") == 0) {
		compiles_text(c, told->row, "error", payload, told->record->payload_len);
	} else if (strcmp(name, "triton_kernel_info") == 0) {
		take_kernel_info(told);
	} else if (strcmp(name, "torch_version") == 0) {
		take_version(told);
	}
	return true;
}

enum { MAX_OPEN = 4096 };

static void torch_phases_finish(struct torch_phases *p)
{
	VEC_FREE(&p->open);
}

/* The phase on the timeline. */
static bool draw(struct torch_phases *p, struct model *m, const struct open_phase *o,
		 int64_t duration_ns, const struct torch_record *record, struct err *err)
{
	char text[256];
	struct name_total *name;
	struct timeline_event event;

	if (!m->writer)
		return true;
	if (!p->has_lane)
		p->lane = timeline_writer_lane(
		    m->writer,
		    json_pack("{s:o, s:s, s:I}", "name",
			      json_sprintf("compiling, process %lld", (long long)record->pid),
			      "role", "host", "pid", (json_int_t)record->pid));
	p->has_lane = true;
	snprintf(text, sizeof(text), "%s%s%s", o->name, o->id[0] ? " " : "", o->id);
	name = names_find(&m->names, m->writer, GROUP_OTHER, text, strlen(text), &m->ledger);
	event = (struct timeline_event){ .start_ns = o->start_ns,
					 .duration_ns = duration_ns,
					 .lane = p->lane,
					 .kind = TIMELINE_RANGE,
					 .name = name->timeline };
	return timeline_writer_add(m->writer, &event, err);
}

static bool finish(struct torch_phases *p, struct model *m, int process, const char *name,
		   int64_t end_ns, const struct torch_record *record, struct err *err)
{
	size_t at = p->open.len;
	struct open_phase o;
	int64_t spent;

	while (at > 0 && strcmp(p->open.at[at - 1].name, name) != 0)
		at--;
	if (at == 0) {
		m->ledger.n[LEDGER_UNMATCHED_END]++;
		return true;
	}
	o = p->open.at[at - 1];
	memmove(&p->open.at[at - 1], &p->open.at[at], (p->open.len - at) * sizeof(o));
	p->open.len--;
	spent = end_ns - o.start_ns;
	if (spent < 0) {
		m->ledger.n[LEDGER_NEGATIVE]++;
		spent = 0;
	}
	if (o.id[0])
		compiles_add_in(compiles_row(&m->compiles, process, o.id), "phases_us", o.name,
				(double)spent / 1e3);
	return draw(p, m, &o, spent, record, err);
}

/* A double of today's microseconds has quarters; of nanoseconds only 256s. */
static int64_t ns_of(double us)
{
	double whole = floor(us);

	return (int64_t)whole * 1000 + (int64_t)((us - whole) * 1e3);
}

/* The event that is the record's payload; `id` of its compilation, "" where it has none. */
static bool torch_phases_take(struct torch_phases *p, struct model *m, int process, const char *id,
			      const struct torch_record *record, struct err *err)
{
	json_t *event = json_of_log(record->payload, record->payload_len, &m->ledger);
	const char *name = json_string_value(json_object_get(event, "name"));
	const char *phase = json_string_value(json_object_get(event, "ph"));
	const char *own = json_string_value(
	    json_object_get(json_object_get(event, "args"), "compile_id"));
	double us = json_number_value(json_object_get(event, "ts"));
	bool ok = true;

	if (!name || !phase || !isfinite(us) || fabs(us) > 4e15) {
		m->ledger.n[LEDGER_BROKEN_PAYLOAD]++;
	} else if (*phase == 'B' && p->open.len < MAX_OPEN) {
		struct open_phase o = { .start_ns = ns_of(us) };

		snprintf(o.name, sizeof(o.name), "%.127s", name);
		snprintf(o.id, sizeof(o.id), "%.60s", own && strcmp(own, "None") != 0 ? own : id);
		ok = VEC_PUSH(&p->open, o) || err_set(err, ERR_MEMORY, "out of memory for phases");
	} else if (*phase == 'E') {
		ok = finish(p, m, process, name, ns_of(us), record, err);
	}
	json_decref(event);
	return ok;
}

enum { MAX_STRINGS = 1 << 20, MAX_KINDS = 1000 };

/* The text of a number of the string table; what is a text already stays one. */
static const char *text_of(struct torch_trace *t, const json_t *json)
{
	json_int_t i = json_integer_value(json);

	if (json_is_string(json))
		return json_string_value(json);
	if (json_is_integer(json) && i >= 0 && (size_t)i < t->strings.len && t->strings.at[i])
		return t->strings.at[i];
	if (!json_is_integer(json) || i >= 0)
		t->m->ledger.n[LEDGER_NO_STRING]++;
	return "?";
}

static json_t *string_json(const char *text)
{
	bool bad = false;

	return json_of_text(text, strlen(text), &bad);
}

/* ---- who writes ---- */

/* A process that is new to the file. */
static bool add_writer(struct torch_trace *t, int64_t pid, struct err *err)
{
	json_t *processes = t->m->compiles.processes;
	struct writer w = { .pid = pid, .process = (int)json_array_size(processes) };

	if (json_array_size(processes) >= COMPILES_MAX)
		return err_set(err, ERR_TOO_LARGE, "an import takes at most %d processes",
			       (int)COMPILES_MAX);
	json_array_append_new(processes, json_pack("{s:I, s:i, s:n}", "pid", (json_int_t)pid,
						   "file", t->m->file, "rank"));
	if (!VEC_PUSH(&t->writers, w))
		return err_set(err, ERR_MEMORY, "out of memory for a process");
	t->now = &t->writers.at[t->writers.len - 1];
	return true;
}

/* The process that wrote a record; of several with its number the last. */
static bool find_writer(struct torch_trace *t, int64_t pid, struct err *err)
{
	if (t->now && t->now->pid == pid)
		return true;
	for (size_t i = t->writers.len; i > 0; i--)
		if (t->writers.at[i - 1].pid == pid) {
			t->now = &t->writers.at[i - 1];
			return true;
		}
	return add_writer(t, pid, err);
}

/* Numbers of a table rise: one that begins again is that of another process. */
static bool begin_table(struct torch_trace *t, struct err *err)
{
	if (t->now->began && !add_writer(t, t->now->pid, err))
		return false;
	t->now->began = true;
	return true;
}

/* ---- handlers, by the kind's name ---- */

static bool take_none(struct told *told, struct err *err)
{
	(void)told;
	(void)err;
	return true;
}

/* {"str": ["/path/f.py", 1]} */
static bool take_string(struct told *told, struct err *err)
{
	struct torch_trace *t = told->t;
	const char *text = json_string_value(json_array_get(told->meta, 0));
	json_int_t number = json_integer_value(json_array_get(told->meta, 1));

	if (!text || number < 0 || number >= MAX_STRINGS) {
		t->m->ledger.n[LEDGER_BROKEN_RECORD]++;
		return true;
	}
	if (number == 0 && !begin_table(t, err))
		return false;
	while (t->strings.len <= (size_t)number)
		if (!VEC_PUSH(&t->strings, NULL))
			return err_set(err, ERR_MEMORY, "out of memory for the string table");
	free(t->strings.at[number]);
	t->strings.at[number] = strdup(text);
	return true;
}

/* An analysis that restarts is the next attempt; releases that we know say a start of the first
 * alone, and one of another attempt begins nothing anew. */
static void note_attempt(struct told *told, json_int_t attempt)
{
	json_int_t known = json_integer_value(json_object_get(told->row, "attempts"));

	if (told->row && attempt >= known)
		json_object_set_new(told->row, "attempts", json_integer(attempt + 1));
}

static bool take_start(struct told *told, struct err *err)
{
	const json_t *stack = json_object_get(told->meta, "stack");
	const json_t *frame = json_array_get(stack, json_array_size(stack) - 1);
	const char *name = json_string_value(json_object_get(frame, "name"));

	(void)err;
	if (told->row && !json_integer_value(json_object_get(told->record->json, "attempt")))
		told->row = compiles_start(&told->t->m->compiles, told->t->now->process, told->id);
	note_attempt(told, 0);
	if (!told->row || !frame)
		return true;
	json_object_set_new(told->row, "frame", string_json(name ? name : "?"));
	json_object_set_new(told->row, "file",
			    string_json(text_of(told->t, json_object_get(frame, "filename"))));
	json_object_set_new(told->row, "line",
			    json_integer(json_integer_value(json_object_get(frame, "line"))));
	return true;
}

static bool take_output_graph(struct told *told, struct err *err)
{
	(void)err;
	told->t->m->compiles.graphs++;
	compiles_add(told->row, "graphs", 1);
	if (told->record->payload)
		compiles_text(&told->t->m->compiles, told->row, "graph", told->record->payload,
			      told->record->payload_len);
	return true;
}

static bool take_aot_graph(struct told *told, struct err *err)
{
	(void)err;
	compiles_add_in(told->row, "aot_graphs", told->kind, 1);
	return true;
}

/* A symbol of a size: analysing anew makes it anew. */
static bool take_symbol(struct told *told, struct err *err)
{
	const json_t *meta = told->meta, *known;
	const char *symbol = json_string_value(json_object_get(meta, "symbol"));
	const char *source = json_string_value(json_object_get(meta, "source"));
	const json_t *list = json_object_get(told->row, "dynamic");
	const json_t *at = json_array_get(json_object_get(meta, "user_stack"), 0);
	size_t i;

	(void)err;
	json_array_foreach((json_t *)list, i, known)
	{
		const char *other = json_string_value(json_object_get(known, "symbol"));

		if (symbol && other && strcmp(symbol, other) == 0)
			return true;
	}
	compiles_append(&told->t->m->compiles, told->row, "dynamic",
			json_pack("{s:s?, s:s?, s:O?, s:O?, s:O?, s:b}", "symbol", symbol, "source",
				  source, "value", json_object_get(meta, "val"), "range",
				  json_object_get(meta, "vr"), "line", json_object_get(at, "line"),
				  "unbacked", strcmp(told->kind, "create_unbacked_symbol") == 0));
	return true;
}

/* One that is found again, by another attempt too, is the same. */
static bool take_shape_guard(struct told *told, struct err *err)
{
	const json_t *expression = json_object_get(told->meta, "expr"), *known;
	size_t i;

	(void)err;
	json_array_foreach(json_object_get(told->row, "shape_guards"), i, known)
	{
		if (json_equal(known, expression))
			return true;
	}
	if (expression)
		compiles_append(&told->t->m->compiles, told->row, "shape_guards",
				json_incref((json_t *)expression));
	return true;
}

static bool take_specialization(struct told *told, struct err *err)
{
	(void)err;
	compiles_append(&told->t->m->compiles, told->row, "specializations",
			json_pack("{s:O?, s:O?}", "symbol", json_object_get(told->meta, "symbol"),
				  "value", json_object_get(told->meta, "value")));
	return true;
}

/* Leaves of the tree: "+- TENSOR_MATCH: ...", "+- NO_HASATTR: ...", not its managers. */
static bool take_guard_tree(struct told *told, struct err *err)
{
	const char *at = told->record->payload;

	(void)err;
	if (!at || !told->row)
		return true;
	json_object_del(told->row, "guard_kinds"); /* of an attempt before */
	while ((at = strstr(at, "+- "))) {
		size_t n = strspn(at += 3, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
		char name[64];

		if (n == 0 || n >= sizeof(name) || at[n] != ':')
			continue;
		memcpy(name, at, n);
		name[n] = '\0';
		compiles_add_in(told->row, "guard_kinds", name, 1);
	}
	return true;
}

static bool take_guard_list(struct told *told, struct err *err)
{
	json_t *list = told->record->payload
			   ? json_of_log(told->record->payload, told->record->payload_len,
					 &told->t->m->ledger)
			   : NULL;

	(void)err;
	if (told->record->payload && !json_is_array(list))
		told->t->m->ledger.n[LEDGER_BROKEN_PAYLOAD]++;
	else if (told->row && list)
		json_object_set_new(told->row, "listed_guards",
				    json_integer((json_int_t)json_array_size(list)));
	json_decref(list);
	return true;
}

static bool take_output_code(struct told *told, struct err *err)
{
	const json_t *file = json_object_get(told->meta, "filename");

	(void)err;
	compiles_add(told->row, "code_files", 1);
	if (told->row && json_is_string(file))
		json_object_set(told->row, "code_file", (json_t *)file);
	if (told->record->payload)
		compiles_text(&told->t->m->compiles, told->row, "code", told->record->payload,
			      told->record->payload_len);
	return true;
}

static bool take_chromium_event(struct told *told, struct err *err)
{
	struct model *m = told->t->m;

	if (!told->record->payload)
		return true;
	return torch_phases_take(&told->t->now->phases, m, told->t->now->process, told->id,
				 told->record, err);
}

/* ---- metrics ---- */

static void keep_skip_reason(struct told *told)
{
	const json_t *why = json_object_get(told->meta, "cudagraph_skip_reason");

	if (json_is_string(why))
		compiles_append(&told->t->m->compiles, told->row, "cudagraph_skips",
				json_incref((json_t *)why));
}

static bool take_backward_metrics(struct told *told, struct err *err);

static bool take_metrics(struct told *told, struct err *err)
{
	static const struct {
		const char *from, *to;
	} fields[] = {
#define METRIC(from, to) { from, to },
#include "profiler/import/torch_metrics.def"
#undef METRIC
	};

	if (json_is_false(json_object_get(told->meta, "is_forward")))
		return take_backward_metrics(told, err);
	if (!told->row)
		return true;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		json_t *value = json_object_get(told->meta, fields[i].from);

		if (value && !json_is_null(value))
			json_object_set(told->row, fields[i].to, value);
	}
	json_object_set_new(told->row, "metrics", json_true());
	keep_skip_reason(told);
	return true;
}

/* Of the backward, and what the first calls added. */
static bool take_backward_metrics(struct told *told, struct err *err)
{
	const json_t *spent = json_object_get(told->meta, "duration_us");

	(void)err;
	if (json_is_integer(spent))
		compiles_add_in(told->row, "later_us", told->kind, json_number_value(spent));
	keep_skip_reason(told);
	return true;
}

static bool take_artifact(struct told *told, struct err *err)
{
	return torch_artifact_take(told, err);
}

/* ---- records ---- */

static const struct {
	const char *name;
	told_fn *take;
} kinds[] = {
#define KIND(name, handler) { name, take_##handler },
#include "profiler/import/torch_kinds.def"
#undef KIND
};

static bool is_context(const char *key)
{
	static const char *const keys[] = { "rank",
					    "frame_id",
					    "frame_compile_id",
					    "attempt",
					    "compiled_autograd_id",
					    "subgraph_name",
					    "has_payload",
					    "stack" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(key, keys[i]) == 0)
			return true;
	return false;
}

/* Records without a compilation do not say their rank. */
static void note_rank(struct torch_trace *t, const json_t *json)
{
	json_t *process = json_array_get(t->m->compiles.processes, (size_t)t->now->process);
	json_t *rank = json_object_get(json, "rank");

	if (rank && json_is_null(json_object_get(process, "rank")))
		json_object_set(process, "rank", rank);
}

/* "0/1", "!0/0/1" where compiled autograd is at work; "" where there is no such. */
static void read_id(struct told *told)
{
	const json_t *json = told->record->json;
	const json_t *frame = json_object_get(json, "frame_id");
	const json_t *compile = json_object_get(json, "frame_compile_id");
	const json_t *autograd = json_object_get(json, "compiled_autograd_id");
	size_t at = 0;

	if (json_is_integer(autograd))
		at = (size_t)snprintf(told->id, sizeof(told->id), "!%lld%s",
				      (long long)json_integer_value(autograd),
				      json_is_integer(frame) ? "/" : "");
	if (json_is_integer(frame) && json_is_integer(compile))
		snprintf(told->id + at, sizeof(told->id) - at, "%lld/%lld",
			 (long long)json_integer_value(frame),
			 (long long)json_integer_value(compile));
}

/* Metrics of 2.5 are written where no compilation is under way: they say whose they are,
 * "0/1" or "[0/1_2]". */
static void read_own_id(struct told *told)
{
	const char *text = json_string_value(json_object_get(told->meta, "compile_id"));

	if (text && *text == '[')
		text++;
	if (!told->id[0] && text && strchr(text, '/') && strlen(text) < sizeof(told->id))
		snprintf(told->id, sizeof(told->id), "%.*s", (int)strcspn(text, "_]"), text);
}

static void count_kind(json_t *counts, const char *kind)
{
	if (json_object_get(counts, kind) || json_object_size(counts) < MAX_KINDS)
		json_object_set_new(
		    counts, kind,
		    json_integer(1 + json_integer_value(json_object_get(counts, kind))));
}

static told_fn *handler_of(const char *kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, kind) == 0)
			return kinds[i].take;
	return NULL;
}

/* A record has one kind; a field of tomorrow beside it must not hide one that is known. */
static told_fn *find_kind(struct told *told)
{
	told_fn *take = NULL, *found;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)told->record->json, key, value)
	{
		if (is_context(key) || take)
			continue;
		found = handler_of(key);
		if (found || !told->kind) {
			told->kind = key;
			told->meta = value;
			take = found;
		}
	}
	return take;
}

static bool take_record(void *self, const struct torch_record *record, struct err *err)
{
	struct torch_trace *t = self;
	struct compiles *c = &t->m->compiles;
	struct told told = { .t = t, .record = record };
	json_int_t attempt = json_integer_value(json_object_get(record->json, "attempt"));
	told_fn *take;

	if (!find_writer(t, record->pid, err))
		return false;
	note_rank(t, record->json);
	read_id(&told);
	take = find_kind(&told);
	if (!told.kind) {
		t->m->ledger.n[LEDGER_BROKEN_RECORD]++;
		return true;
	}
	read_own_id(&told);
	if (told.id[0] && strcmp(told.kind, "str") != 0)
		told.row = compiles_row(c, t->now->process, told.id);
	if (attempt > 0)
		note_attempt(&told, attempt);
	count_kind(c->kinds, told.kind);
	if (take)
		return take(&told, err);
	t->m->ledger.n[LEDGER_UNKNOWN_KIND]++;
	count_kind(c->unknown, told.kind);
	return true;
}

/* ---- the reader ---- */

static void *create(struct model *m, struct err *err)
{
	struct torch_trace *t = calloc(1, sizeof(*t));

	if (!t) {
		err_set(err, ERR_MEMORY, "out of memory for a log");
		return NULL;
	}
	t->m = m;
	torch_records_init(&t->records, take_record, t, &m->ledger);
	return t;
}

static void destroy(void *self)
{
	struct torch_trace *t = self;

	if (!t)
		return;
	torch_records_finish(&t->records);
	for (size_t i = 0; i < t->writers.len; i++)
		torch_phases_finish(&t->writers.at[i].phases);
	VEC_FREE(&t->writers);
	for (size_t i = 0; i < t->strings.len; i++)
		free(t->strings.at[i]);
	VEC_FREE(&t->strings);
	free(t);
}

static bool feed(void *self, const char *bytes, size_t len, struct err *err)
{
	return torch_records_feed(&((struct torch_trace *)self)->records, bytes, len, err);
}

static bool end(void *self, struct err *err)
{
	struct torch_trace *t = self;
	bool ok = torch_records_end(&t->records, err);

	for (size_t i = 0; i < t->writers.len; i++)
		t->m->ledger.n[LEDGER_UNMATCHED_BEGIN] += (int64_t)t->writers.at[i].phases.open.len;
	return ok;
}

/* One of the first lines is a record. */
static bool recognises(const char *bytes, size_t len)
{
	int64_t pid;

	for (size_t at = 0, n; at < len; at += n + 1) {
		const char *newline = memchr(bytes + at, '\n', len - at);

		n = newline ? (size_t)(newline - bytes) - at : len - at;
		if (torch_record_prefix(bytes + at, n, &pid))
			return true;
	}
	return false;
}

const struct log_reader reader_torch_trace = {
	.kind = "torch_trace",
	.recognises = recognises,
	.create = create,
	.feed = feed,
	.end = end,
	.destroy = destroy,
};
