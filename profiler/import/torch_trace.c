/* profiler/import/torch_trace.c -- TORCH_TRACE: what torch.compile did, record by record.
 *
 * One of these reads one file.  It is of one process mostly; those that it forked write
 * into it too, by the same table of strings.  Files that were joined have one after the
 * other: the first number of the table said again begins a new process, even where it
 * got the old one's number.
 */
#include <stdlib.h>

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "profiler/fields/fields.h"
#include "profiler/fields/json.h"
#include "profiler/import/inductor.h"
#include "profiler/import/model.h"
#include "profiler/import/repair.h"
#include "profiler/import/torch_phases.h"
#include "profiler/import/torch_trace.h"

/* ---- the records of a TORCH_TRACE file. ---- */

static void torch_records_init(struct torch_records *r, torch_record_fn *each, void *self,
			       struct ledger *ledger)
{
	*r = (struct torch_records){ .each = each, .self = self, .ledger = ledger };
	buf_init(&r->line, 2 * RECORD_MAX_BYTES);
	buf_init(&r->payload, RECORD_MAX_BYTES);
}

static void torch_records_finish(struct torch_records *r)
{
	buf_finish(&r->line);
	buf_finish(&r->payload);
	json_decref(r->json);
}

/* Whether text begins like `pattern`, where 0 means any digit; steps over it. */
static bool step(const char **text, const char *end, const char *pattern)
{
	const char *at = *text;

	for (; *pattern; pattern++, at++)
		if (at >= end || (*pattern == '0' ? !isdigit((unsigned char)*at) : *at != *pattern))
			return false;
	*text = at;
	return true;
}

static bool step_digits(const char **text, const char *end, int64_t *value)
{
	const char *from = *text;

	*value = 0;
	for (; *text < end && isdigit((unsigned char)**text) && *text - from < 18; ++*text)
		*value = *value * 10 + (**text - '0');
	return *text > from;
}

/* "path:line] {", from after the process on; the object. */
static const char *step_place(const char *at, const char *end)
{
	for (; at + 2 < end && *at != '{'; at++)
		if (at[0] == ']' && at[1] == ' ' && at[2] == '{')
			return at + 2;
	return NULL;
}

/* The object's text in a line, and the process; NULL: it is no record. */
static const char *torch_record_prefix(const char *line, size_t len, int64_t *pid)
{
	const char *at = line, *end = line + len;
	int64_t fraction;

	if (step(&at, end, "[rank")) { /* of logs that went through torchrun */
		while (at < end && *at != ']')
			at++;
		if (!step(&at, end, "]:"))
			return NULL;
		while (at < end && *at == ' ')
			at++;
	}
	if (at >= end || !strchr("VIWEC", *at) || !*at)
		return NULL;
	at++;
	if (!step(&at, end, "0000 00:00:00.") || !step_digits(&at, end, &fraction) ||
	    !step(&at, end, " ") || !step_digits(&at, end, pid))
		return NULL;
	return step_place(at, end);
}

/* Hands on the record that is pending, with what came of its payload. */
static bool hand_on(struct torch_records *r, struct err *err)
{
	struct torch_record record = { .pid = r->pid, .line = r->at_line, .json = r->json };
	bool ok;

	if (!r->json)
		return true;
	r->ledger->n[LEDGER_TOO_LARGE] += r->payload.failed;
	if (r->wants_payload && !r->has_payload)
		r->ledger->n[LEDGER_NO_PAYLOAD]++;
	else if (r->wants_payload && !r->payload.failed) {
		record.payload = r->payload.data ? r->payload.data : "";
		record.payload_len = r->payload.len;
	}
	ok = r->each(r->self, &record, err);
	json_decref(r->json);
	r->json = NULL;
	buf_finish(&r->payload);
	buf_init(&r->payload, RECORD_MAX_BYTES);
	return ok;
}

static bool take_line(struct torch_records *r, const char *line, size_t len, struct err *err)
{
	const char *object;
	int64_t pid;

	r->lines++;
	if (len > 0 && line[0] == '\t') {
		if (!r->json || !r->wants_payload) {
			r->ledger->n[LEDGER_LOST_PAYLOAD]++;
			return true;
		}
		if (r->has_payload)
			buf_putc(&r->payload, '\n');
		buf_add(&r->payload, line + 1, len - 1);
		r->has_payload = true;
		return true;
	}
	if (len > 0 && line[len - 1] == '\r')
		len--;
	if (len == 0)
		return true;
	if (!hand_on(r, err))
		return false;
	object = torch_record_prefix(line, len, &pid);
	if (!object) {
		r->ledger->n[LEDGER_FOREIGN_LINE]++;
		return true;
	}
	r->pid = pid;
	r->at_line = r->lines;
	r->json = json_of_log(object, len - (size_t)(object - line), r->ledger);
	if (!json_is_object(r->json)) {
		json_decref(r->json);
		r->json = NULL;
		r->ledger->n[LEDGER_BROKEN_RECORD]++;
	}
	r->wants_payload = json_object_get(r->json, "has_payload") != NULL;
	r->has_payload = false;
	return true;
}

/* A line that goes over the bound is passed over to its end. */
static void bound_line(struct torch_records *r)
{
	if (r->line.len <= RECORD_MAX_BYTES)
		return;
	r->ledger->n[LEDGER_TOO_LARGE] += !r->skipping;
	r->lines += !r->skipping;
	r->skipping = true;
	buf_clear(&r->line);
}

static bool torch_records_feed(struct torch_records *r, const char *bytes, size_t len,
			       struct err *err)
{
	while (len > 0) {
		const char *newline = memchr(bytes, '\n', len);
		size_t n = newline ? (size_t)(newline - bytes) : len;
		bool ok = true;

		if (newline && r->line.len == 0 && !r->skipping) {
			ok = take_line(r, bytes, n, err);
		} else {
			buf_add(&r->line, bytes, n);
			bound_line(r);
			if (newline && !r->skipping)
				ok = take_line(r, r->line.data ? r->line.data : "", r->line.len,
					       err);
			if (newline) {
				buf_clear(&r->line);
				r->skipping = false;
			}
		}
		if (!ok)
			return false;
		n += newline != NULL;
		bytes += n;
		len -= n;
	}
	return true;
}

static bool torch_records_end(struct torch_records *r, struct err *err)
{
	int64_t broken = r->ledger->n[LEDGER_BROKEN_RECORD];
	bool ok = r->line.len == 0 || take_line(r, r->line.data, r->line.len, err);

	/* The last line, where it is broken, was cut. */
	if (r->ledger->n[LEDGER_BROKEN_RECORD] > broken) {
		r->ledger->n[LEDGER_BROKEN_RECORD] = broken;
		r->ledger->n[LEDGER_CUT_OFF]++;
	}
	buf_clear(&r->line);
	return ok && hand_on(r, err);
}

/* A process that writes into the file. */
struct writer {
	int64_t pid;
	int process;                  /* its row of compiles.processes */
	bool began;                   /* the table of strings */
	char piece[96], piece_of[64]; /* that vLLM compiles, and the compilation; "": none */
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
struct torch_item {
	struct torch_trace *t;
	const struct torch_record *record;
	const json_t *meta; /* the value of its kind */
	const char *kind;
	char id[64]; /* "0/1"; "": of no compilation */
	json_t *row; /* of its compilation; NULL: none */
};

typedef bool torch_take_fn(struct torch_item *item, struct err *err);

/* ---- artifacts of a TORCH_TRACE: breaks, reasons, caches, kernels. ---- */

/* A JSON list, or -- since 2.11 or so -- one bare reason. */
static void take_recompile_reasons(struct torch_item *item)
{
	const struct torch_record *r = item->record;
	json_t *list = r->payload_len && r->payload[0] == '['
			   ? json_of_log(r->payload, r->payload_len, NULL)
			   : NULL,
	       *reason;
	size_t i;

	if (!item->row)
		item->t->m->ledger.n[LEDGER_NO_COMPILE]++;
	if (json_is_array(list)) {
		json_array_foreach(list, i, reason)
		{
			if (json_is_string(reason))
				compiles_append(&item->t->m->compiles, item->row,
						"recompile_reasons", json_incref(reason));
			else
				item->t->m->ledger.n[LEDGER_BROKEN_PAYLOAD]++;
		}
	} else {
		bool bad = false;

		compiles_append(&item->t->m->compiles, item->row, "recompile_reasons",
				json_of_text(r->payload, r->payload_len, &bad));
	}
	json_decref(list);
}

/* {"triton_poi_fused_0": {"compile_time_us": 137496, ...}} */
static void take_kernel_info(struct torch_item *item)
{
	json_t *kernels = json_of_log(item->record->payload, item->record->payload_len,
				      &item->t->m->ledger);
	const char *name;
	json_t *info;

	if (!json_is_object(kernels))
		item->t->m->ledger.n[LEDGER_BROKEN_PAYLOAD]++;
	json_object_foreach(kernels, name, info)
	    compiles_append(&item->t->m->compiles, item->row, "generated_kernels",
			    json_pack("{s:s, s:O?}", "name", name, "compile_us",
				      json_object_get(info, "compile_time_us")));
	json_decref(kernels);
}

/* {"submod_name": "submod_0", "is_single_size": false, "compile_range_start": 1, ...}: what follows
 * of the compilation is of this piece of its graph, for these sizes. */
static void take_piece(struct torch_item *item)
{
	json_t *said = json_of_log(item->record->payload, item->record->payload_len,
				   &item->t->m->ledger);
	const char *name = json_text(said, "submod_name");
	long long index = json_integer_value(json_object_get(said, "piecewise_index")),
		  from = json_integer_value(json_object_get(said, "compile_range_start")),
		  to = json_integer_value(json_object_get(said, "compile_range_end"));
	struct writer *w = item->t->now;
	char own[32];

	if (!json_is_object(said))
		item->t->m->ledger.n[LEDGER_BROKEN_PAYLOAD]++;
	snprintf(own, sizeof(own), "subgraph_%lld", index);
	name = *name ? name : own;
	if (json_is_true(json_object_get(said, "is_single_size")))
		snprintf(w->piece, sizeof(w->piece), "%.40s, size %lld", name, from);
	else
		snprintf(w->piece, sizeof(w->piece), "%.40s, sizes %lld to %lld", name, from, to);
	snprintf(w->piece_of, sizeof(w->piece_of), "%s", item->id);
	json_decref(said);
}

static void take_version(struct torch_item *item)
{
	json_t *version = json_of_log(item->record->payload, item->record->payload_len,
				      &item->t->m->ledger);
	json_t *process = json_array_get(item->t->m->compiles.processes,
					 (size_t)item->t->now->process);

	if (json_is_string(json_object_get(version, "pytorch_version")))
		json_object_set(process, "version", json_object_get(version, "pytorch_version"));
	json_decref(version);
}

/* Why a compilation failed, whole or not at all: then its length alone. */
static void take_error(struct torch_item *item)
{
	struct compiles *c = &item->t->m->compiles;
	size_t len = item->record->payload_len;
	bool bad = false;

	if (!item->row)
		return;
	json_object_set_new(item->row, "error_bytes", json_integer((json_int_t)len));
	if (c->text_bytes + len > COMPILES_TEXT_BYTES)
		return;
	c->text_bytes += len;
	json_object_set_new(item->row, "error", json_of_text(item->record->payload, len, &bad));
}

static void take_of_inductor(struct torch_item *item, const char *name)
{
	struct compiles *c = &item->t->m->compiles;
	const struct inductor_said said = {
		.row = item->row,
		.process = json_array_get(c->processes, (size_t)item->t->now->process),
		.payload = item->record->payload,
		.len = item->record->payload_len,
	};

	inductor_take(c, name, &said);
}

/* A record of the kind "artifact": its name says what it is.  False with MEMORY. */
static bool torch_artifact_take(struct torch_item *item, struct err *err)
{
	const char *name = json_string_value(json_object_get(item->meta, "name"));
	struct compiles *c = &item->t->m->compiles;
	const char *payload = item->record->payload;
	struct torch_break b;

	(void)err;
	if (!name)
		return true;
	if (strstr(name, "cache_hit") || strstr(name, "cache_miss") || strstr(name, "cache_bypass"))
		compiles_add_in(item->row, "caches", name, 1);
	if (!payload)
		return true;
	if (strcmp(name, "dynamo_graph_break_reason") == 0) {
		torch_break_read(payload, &b);
		compiles_break(c, item->row, &b);
	} else if (strcmp(name, "recompile_reasons") == 0) {
		take_recompile_reasons(item);
	} else if (strcmp(name, "dynamo_error") == 0) {
		take_error(item);
	} else if (strcmp(name, "triton_kernel_info") == 0) {
		take_kernel_info(item);
	} else if (strcmp(name, "vllm_piecewise_compile_start") == 0) {
		take_piece(item);
	} else if (strcmp(name, "torch_version") == 0) {
		take_version(item);
	} else {
		take_of_inductor(item, name);
	}
	return true;
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

/* Texts in place of their numbers, wherever a stack names a file. */
static void name_files(const struct torch_trace *t, json_t *json)
{
	json_t *number = json_object_get(json, "filename"), *item;
	json_int_t n = json_integer_value(number);
	const char *key;
	bool bad = false;
	size_t i;

	if (json_is_integer(number) && n >= 0 && (size_t)n < t->strings.len && t->strings.at[n])
		json_object_set_new(json, "filename",
				    json_of_text(t->strings.at[n], strlen(t->strings.at[n]), &bad));
	json_object_foreach(json, key, item) name_files(t, item);
	json_array_foreach(json, i, item) name_files(t, item);
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

static bool take_none(struct torch_item *item, struct err *err)
{
	(void)item;
	(void)err;
	return true;
}

/* {"str": ["/path/f.py", 1]} */
static bool take_string(struct torch_item *item, struct err *err)
{
	struct torch_trace *t = item->t;
	const char *text = json_string_value(json_array_get(item->meta, 0));
	json_int_t number = json_integer_value(json_array_get(item->meta, 1));

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
 * alone, and one of another attempt begins nothing again. */
static void note_attempt(struct torch_item *item, json_int_t attempt)
{
	json_int_t known = json_integer_value(json_object_get(item->row, "attempts"));

	if (item->row && attempt >= known && attempt < INT32_MAX) /* more is nobody's */
		json_object_set_new(item->row, "attempts", json_integer(attempt + 1));
}

/* Where the frame was called from; where a process analyses it again, the last time. */
static void note_stack(struct torch_item *item, const json_t *stack)
{
	int node = stacks_add(&item->t->m->stacks, stack);

	if (item->row && node >= 0)
		json_object_set_new(item->row, "stack", json_integer(node));
}

static bool take_start(struct torch_item *item, struct err *err)
{
	const json_t *stack = json_object_get(item->meta, "stack");
	const json_t *frame = json_array_get(stack, json_array_size(stack) - 1);
	const char *name = json_string_value(json_object_get(frame, "name"));

	(void)err;
	if (item->row && !json_integer_value(json_object_get(item->record->json, "attempt")))
		item->row = compiles_start(&item->t->m->compiles, item->t->now->process, item->id);
	note_attempt(item, 0);
	if (!item->row || !frame)
		return true;
	note_stack(item, stack);
	json_object_set_new(item->row, "frame", string_json(name ? name : "?"));
	json_object_set_new(item->row, "file",
			    string_json(text_of(item->t, json_object_get(frame, "filename"))));
	json_object_set_new(item->row, "line",
			    json_integer(json_integer_value(json_object_get(frame, "line"))));
	return true;
}

static bool take_output_graph(struct torch_item *item, struct err *err)
{
	(void)err;
	item->t->m->compiles.graphs++;
	compiles_add(item->row, "graphs", 1);
	if (item->record->payload) {
		char hash[20];

		snprintf(hash, sizeof(hash), "%016llx",
			 (unsigned long long)ranks_graph_hash(item->record->payload,
							      item->record->payload_len));
		if (item->row)
			json_object_set_new(item->row, "graph_hash", json_string(hash));
	}
	return true;
}

static bool take_aot_graph(struct torch_item *item, struct err *err)
{
	(void)err;
	compiles_add_in(item->row, "aot_graphs", item->kind, 1);
	return true;
}

/* A symbol of a size: analysing again makes it again. */
static bool take_symbol(struct torch_item *item, struct err *err)
{
	const json_t *meta = item->meta, *known;
	const char *symbol = json_string_value(json_object_get(meta, "symbol"));
	const char *source = json_string_value(json_object_get(meta, "source"));
	const json_t *list = json_object_get(item->row, "dynamic");
	const json_t *at = json_array_get(json_object_get(meta, "user_stack"), 0);
	size_t i;

	(void)err;
	json_array_foreach((json_t *)list, i, known)
	{
		const char *other = json_string_value(json_object_get(known, "symbol"));

		if (symbol && other && strcmp(symbol, other) == 0)
			return true;
	}
	compiles_append(&item->t->m->compiles, item->row, "dynamic",
			json_pack("{s:s?, s:s?, s:O?, s:O?, s:O?, s:b}", "symbol", symbol, "source",
				  source, "value", json_object_get(meta, "val"), "range",
				  json_object_get(meta, "vr"), "line", json_object_get(at, "line"),
				  "unbacked", strcmp(item->kind, "create_unbacked_symbol") == 0));
	return true;
}

/* One that is found again, by another attempt too, is the same. */
static bool take_shape_guard(struct torch_item *item, struct err *err)
{
	const json_t *expression = json_object_get(item->meta, "expr"), *known;
	size_t i;

	(void)err;
	json_array_foreach(json_object_get(item->row, "shape_guards"), i, known)
	{
		if (json_equal(known, expression))
			return true;
	}
	if (json_is_string(expression))
		compiles_append(&item->t->m->compiles, item->row, "shape_guards",
				json_incref((json_t *)expression));
	else if (expression)
		item->t->m->ledger.n[LEDGER_BROKEN_RECORD]++;
	return true;
}

static bool take_specialization(struct torch_item *item, struct err *err)
{
	(void)err;
	compiles_append(&item->t->m->compiles, item->row, "specializations",
			json_pack("{s:O?, s:O?}", "symbol", json_object_get(item->meta, "symbol"),
				  "value", json_object_get(item->meta, "value")));
	return true;
}

/* Leaves of the tree: "+- TENSOR_MATCH: ...", "+- NO_HASATTR: ...", not its managers. */
static bool take_guard_tree(struct torch_item *item, struct err *err)
{
	const char *at = item->record->payload;

	(void)err;
	if (!at || !item->row)
		return true;
	json_object_del(item->row, "guard_kinds"); /* of an attempt before */
	while ((at = strstr(at, "+- "))) {
		size_t n = strspn(at += 3, "ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
		char name[64];

		if (n == 0 || n >= sizeof(name) || at[n] != ':')
			continue;
		memcpy(name, at, n);
		name[n] = '\0';
		compiles_add_in(item->row, "guard_kinds", name, 1);
	}
	return true;
}

static bool take_guard_list(struct torch_item *item, struct err *err)
{
	json_t *list = item->record->payload
			   ? json_of_log(item->record->payload, item->record->payload_len,
					 &item->t->m->ledger)
			   : NULL;

	(void)err;
	if (item->record->payload && !json_is_array(list))
		item->t->m->ledger.n[LEDGER_BROKEN_PAYLOAD]++;
	else if (item->row && list)
		json_object_set_new(item->row, "listed_guards",
				    json_integer((json_int_t)json_array_size(list)));
	json_decref(list);
	return true;
}

static bool take_output_code(struct torch_item *item, struct err *err)
{
	const json_t *file = json_object_get(item->meta, "filename");

	(void)err;
	compiles_add(item->row, "code_files", 1);
	if (item->row && json_is_string(file))
		json_object_set(item->row, "code_file", (json_t *)file);
	take_of_inductor(item, item->kind);
	return true;
}

static bool take_chromium_event(struct torch_item *item, struct err *err)
{
	struct model *m = item->t->m;

	if (!item->record->payload)
		return true;
	return torch_phases_take(&item->t->now->phases, m, item->t->now->process, item->id,
				 item->record, err);
}

/* ---- metrics ---- */

static void keep_skip_reason(struct torch_item *item)
{
	const json_t *why = json_object_get(item->meta, "cudagraph_skip_reason");

	if (json_is_string(why))
		compiles_append(&item->t->m->compiles, item->row, "cudagraph_skips",
				json_incref((json_t *)why));
}

static bool take_backward_metrics(struct torch_item *item, struct err *err);

static bool take_metrics(struct torch_item *item, struct err *err)
{
	static const struct {
		const char *from, *to;
	} fields[] = {
#define METRIC(from, to) { from, to },
#include "profiler/import/torch_metrics.def"
#undef METRIC
	};

	if (json_is_false(json_object_get(item->meta, "is_forward")))
		return take_backward_metrics(item, err);
	if (!item->row)
		return true;
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++) {
		json_t *value = json_object_get(item->meta, fields[i].from);

		if (!value || json_is_null(value))
			continue;
		if (report_accepts(report_field(REPORT_RECORD(compilation), fields[i].to), value))
			json_object_set(item->row, fields[i].to, value);
		else
			item->t->m->ledger.n[LEDGER_BROKEN_RECORD]++;
	}
	json_object_set_new(item->row, "metrics", json_true());
	keep_skip_reason(item);
	return true;
}

/* Of the backward, and what the first calls added. */
static bool take_backward_metrics(struct torch_item *item, struct err *err)
{
	const json_t *spent = json_object_get(item->meta, "duration_us");

	(void)err;
	if (json_is_integer(spent))
		compiles_add_in(item->row, "later_us", item->kind, json_number_value(spent));
	keep_skip_reason(item);
	return true;
}

static bool take_artifact(struct torch_item *item, struct err *err)
{
	return torch_artifact_take(item, err);
}

/* ---- records ---- */

static const struct torch_kind {
	const char *name;
	torch_take_fn *take;
	const char *counts; /* a field of the compilation; NULL: none */
} kinds[] = {
#define KIND(name, handler) { name, take_##handler, NULL },
#define COUNT(name, field) { name, take_none, #field },
#include "profiler/import/torch_kinds.def"
#undef KIND
#undef COUNT
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
static void read_id(struct torch_item *item)
{
	const json_t *json = item->record->json;
	const json_t *frame = json_object_get(json, "frame_id");
	const json_t *compile = json_object_get(json, "frame_compile_id");
	const json_t *autograd = json_object_get(json, "compiled_autograd_id");
	size_t at = 0;

	if (json_is_integer(autograd))
		at = (size_t)snprintf(item->id, sizeof(item->id), "!%lld%s",
				      (long long)json_integer_value(autograd),
				      json_is_integer(frame) ? "/" : "");
	if (json_is_integer(frame) && json_is_integer(compile))
		snprintf(item->id + at, sizeof(item->id) - at, "%lld/%lld",
			 (long long)json_integer_value(frame),
			 (long long)json_integer_value(compile));
}

/* Metrics of 2.5 are written where no compilation is under way: they say whose they are,
 * "0/1" or "[0/1_2]". */
static void read_own_id(struct torch_item *item)
{
	const char *text = json_string_value(json_object_get(item->meta, "compile_id"));

	if (text && *text == '[')
		text++;
	if (!item->id[0] && text && strchr(text, '/') && strlen(text) < sizeof(item->id))
		snprintf(item->id, sizeof(item->id), "%.*s", (int)strcspn(text, "_]"), text);
}

static void count_kind(json_t *counts, const char *kind)
{
	if (json_object_get(counts, kind) || json_object_size(counts) < MAX_KINDS)
		json_object_set_new(
		    counts, kind,
		    json_integer(1 + json_integer_value(json_object_get(counts, kind))));
}

static const struct torch_kind *kind_of(const char *name)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kinds[i].name, name) == 0)
			return &kinds[i];
	return NULL;
}

/* A record has one kind; a field of tomorrow beside it must not hide one that is known. */
static const struct torch_kind *find_kind(struct torch_item *item)
{
	const struct torch_kind *kind = NULL, *found;
	const char *key;
	json_t *value;

	json_object_foreach((json_t *)item->record->json, key, value)
	{
		if (is_context(key) || kind)
			continue;
		found = kind_of(key);
		if (found || !item->kind) {
			item->kind = key;
			item->meta = value;
			kind = found;
		}
	}
	return kind;
}

/* The stack of a record that is of no compilation: its node counts such records by kind. */
static void note_loose_stack(struct torch_item *item, const json_t *stack)
{
	int node = stacks_add(&item->t->m->stacks, stack);

	if (node >= 0)
		compiles_add_in(json_array_get(item->t->m->stacks.nodes, (size_t)node), "records",
				item->kind, 1);
}

/* What the record says, for those who read it here; the table of strings stands in it. */
static bool keep_text(const struct torch_item *item, struct err *err)
{
	struct model *m = item->t->m;
	const struct writer *w = item->t->now;
	const struct artifact what = {
		.kind = item->kind,
		.compile = item->id,
		.part = strcmp(w->piece_of, item->id) == 0 ? w->piece : "",
		.record = item->record->json,
		.payload = item->record->payload,
		.payload_len = item->record->payload_len,
		.process = w->process,
		.file = m->file,
		.resets = json_integer_value(json_object_get(item->row, "resets")),
		.line = item->record->line,
	};

	return strcmp(item->kind, "str") == 0 ||
	       artifacts_keep(&m->artifacts, m->writer, &what, err);
}

static bool take_record(void *self, const struct torch_record *record, struct err *err)
{
	struct torch_trace *t = self;
	struct compiles *c = &t->m->compiles;
	struct torch_item item = { .t = t, .record = record };
	json_int_t attempt = json_integer_value(json_object_get(record->json, "attempt"));
	const struct torch_kind *kind;

	if (!find_writer(t, record->pid, err))
		return false;
	name_files(t, (json_t *)record->json);
	note_rank(t, record->json);
	read_id(&item);
	kind = find_kind(&item);
	if (!item.kind) {
		t->m->ledger.n[LEDGER_BROKEN_RECORD]++;
		return true;
	}
	read_own_id(&item);
	if (item.id[0] && strcmp(item.kind, "str") != 0)
		item.row = compiles_row(c, t->now->process, item.id);
	if (attempt > 0)
		note_attempt(&item, attempt);
	count_kind(c->kinds, item.kind);
	if (kind && kind->counts && item.row)
		compiles_add(item.row, kind->counts, 1);
	if (!item.row && json_object_get(record->json, "stack"))
		note_loose_stack(&item, json_object_get(record->json, "stack"));
	if (kind && !kind->take(&item, err))
		return false;
	if (!kind) {
		t->m->ledger.n[LEDGER_UNKNOWN_KIND]++;
		count_kind(c->unknown, item.kind);
	}
	return keep_text(&item, err);
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
