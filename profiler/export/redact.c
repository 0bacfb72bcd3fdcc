/* profiler/export/redact.c -- see redact.h. */
#include "profiler/export/redact.h"

#include <stdlib.h>
#include <string.h>

#include "profiler/export/redact_words.h"

enum fate {
	FATE_HIDE,
	FATE_KEEP,
	FATE_NAMES,
	FATE_PATH,
	FATE_DROP,
	FATE_RANGE,
	FATE_OP,
	FATE_NUMBER,
	FATE_WHOLE
};

static const struct {
	const char *key;
	enum fate fate;
} fates[] = {
#define REDACT(fate, key) { key, FATE_##fate },
#include "profiler/export/redact.def"
#undef REDACT
};

struct redactor {
	struct words words;
	bool logs;       /* texts are those of a log: nobody knows which words are the user's */
	enum fate names; /* of "name" in what is under way */
};

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789-")] == '\0';
}

/* Texts of logs that are whole messages: no word of them is known to be ours. */
static bool is_message(const char *key)
{
	static const char *const keys[] = { "message", "hint",  "reason", "text",
					    "guards",  "error", "cause" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

static enum fate fate_of(const struct redactor *r, const char *key)
{
	if (strcmp(key, "name") == 0)
		return r->names;
	if (r->logs && is_message(key))
		return FATE_HIDE;
	for (size_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++)
		if (strcmp(fates[i].key, key) == 0)
			return fates[i].fate;
	return FATE_HIDE;
}

/* ---- ranges and ops of a log ---- */

static bool begins(const char *text, const char *const *with, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(text, with[i], strlen(with[i])) == 0)
			return true;
	return false;
}

/* What PyTorch itself marks. */
static bool is_known_range(const char *text)
{
	static const char *const with[] = {
		"ProfilerStep#",
		"memory allocated, ",
		"memory reserved, ",
		"## Call CompiledFxGraph ",
		"Torch-Compiled Region: ",
		"TorchDynamo ",
		"PyTorch Profiler",
		"Optimizer.",
		"AOTDispatcher ",
		"Pregraph bytecode",
		"CompiledFunction",
		"Inductor",
		"nccl:",
		"record_param_comms",
		"Iteration Start:",
		"Record Window End",
	};

	return begins(text, with, sizeof(with) / sizeof(with[0]));
}

static bool is_known_op(const char *text)
{
	static const char *const with[] = { "aten::",     "prim::",  "prims::",   "c10d::",
					    "inductor::", "triton_", "autograd::" };

	return is_known_range(text) || begins(text, with, sizeof(with) / sizeof(with[0]));
}

/* ---- values ---- */

static json_t *redact_text(struct redactor *r, enum fate fate, const json_t *value)
{
	const char *text = json_string_value(value);

	switch (fate) {
	case FATE_KEEP:
		return json_incref((json_t *)value);
	case FATE_NAMES:
		return words_redact(&r->words, text);
	case FATE_PATH:
		return *text ? words_whole(&r->words, text, "path") : json_string("");
	case FATE_NUMBER:
		return is_number(text) ? json_incref((json_t *)value)
				       : words_whole(&r->words, text, "process");
	case FATE_RANGE:
		return is_known_range(text) ? json_incref((json_t *)value)
					    : words_whole(&r->words, text, "range");
	case FATE_OP:
		return is_known_op(text) ? json_incref((json_t *)value)
					 : words_whole(&r->words, text, "op");
	default:
		return json_string(*text ? "hidden" : "");
	}
}

static json_t *redact(struct redactor *r, const char *key, const json_t *value);

/* What "name" stands for in an object of this key. */
static enum fate names_in(const struct redactor *r, const char *key, const json_t *value)
{
	if (strcmp(key, "annotations") == 0 || strcmp(key, "counters") == 0)
		return FATE_RANGE;
	if (strcmp(key, "ops") == 0 && json_is_object(value))
		return FATE_OP;
	if (strcmp(key, "files") == 0)
		return FATE_PATH;
	if (strcmp(key, "workload") == 0)
		return FATE_HIDE;
	/* Of the machine, of kernels and of passes. */
	if (strcmp(key, "device") == 0 || strcmp(key, "deviceProperties") == 0)
		return FATE_KEEP;
	return r->names;
}

static json_t *redact_object(struct redactor *r, const json_t *value)
{
	json_t *out = json_object(), *item;
	const char *key;

	json_object_foreach((json_t *)value, key, item)
	    json_object_set_new(out, key, redact(r, key, item));
	return out;
}

static json_t *redact_list(struct redactor *r, const char *key, const json_t *value)
{
	json_t *out = json_array();
	const json_t *item;
	size_t i;

	json_array_foreach(value, i, item) json_array_append_new(out, redact(r, key, item));
	return out;
}

/* A copy without what is to be hidden. */
static json_t *redact(struct redactor *r, const char *key, const json_t *value)
{
	enum fate fate = fate_of(r, key), outer = r->names;
	json_t *out;

	if (json_is_string(value))
		return fate == FATE_DROP ? json_null() : redact_text(r, fate, value);
	if (fate == FATE_DROP)
		return json_null();
	if (fate == FATE_WHOLE)
		return json_incref((json_t *)value);
	if (!json_is_object(value) && !json_is_array(value))
		return json_incref((json_t *)value);
	r->names = names_in(r, key, value);
	out = json_is_object(value) ? redact_object(r, value) : redact_list(r, key, value);
	r->names = outer;
	return out;
}

/* ---- what is secret ---- */

static void add_name(struct redactor *r, const json_t *name)
{
	const char *text = json_string_value(name);

	if (text)
		words_add_source(&r->words, text);
}

/* The frame behind a break is named for the one that it goes on with. */
static void add_frame(struct redactor *r, const json_t *frame)
{
	static const char resumed[] = "torch_dynamo_resume_in_";
	const char *name = json_string_value(frame), *at = NULL;

	if (!name || strncmp(name, resumed, sizeof(resumed) - 1) != 0) {
		add_name(r, frame);
		return;
	}
	name += sizeof(resumed) - 1;
	for (const char *next = name; (next = strstr(next, "_at_")); next++)
		at = next;
	words_add(&r->words, name, at ? (size_t)(at - name) : strlen(name));
}

/* Names of functions and frames, wherever they stand in what logs say. */
static void add_names(struct redactor *r, const json_t *json)
{
	const char *key;
	json_t *item;
	size_t i;

	json_array_foreach(json, i, item) add_names(r, item);
	json_object_foreach((json_t *)json, key, item)
	{
		if (strcmp(key, "function") == 0 || strcmp(key, "frame") == 0)
			add_frame(r, item);
		else
			add_names(r, item);
	}
}

static void add_sources(struct redactor *r, const struct export_run *run)
{
	const json_t *sweep = json_object_get(run->workload, "sweep"), *line;
	const json_t *points = json_object_get(run->report, "points");
	json_t *params = json_object_get(run->workload, "params"), *value;
	const char *key;
	size_t i;

	words_add_source(&r->words, run->name ? run->name : "");
	words_add_source(&r->words, run->project ? run->project : "");
	words_add_source(&r->words, run->branch ? run->branch : "");
	add_name(r, json_object_get(run->workload, "source"));
	add_name(r, json_object_get(run->workload, "entry"));
	json_array_foreach(json_object_get(json_object_get(sweep, "statements"), "pool"), i, line)
	    add_name(r, line);
	json_array_foreach(points, i, line) add_name(r, json_object_get(line, "source"));
	json_object_foreach(params, key, value) words_add_source(&r->words, key);
}

/* ---- the timeline ---- */

struct kinds {
	uint8_t *of; /* by name: 1 + the kind of its last event */
};

static bool note_kind(void *self, const struct timeline_event *e, struct err *err)
{
	(void)err;
	((struct kinds *)self)->of[e->name] = (uint8_t)(e->kind + 1);
	return true;
}

/* `kind` -1: no event has the name. */
static enum fate fate_of_kind(int kind)
{
	switch (kind) {
	case -1:
		return FATE_HIDE;
	case TIMELINE_RANGE:
	case TIMELINE_COUNTER:
	case TIMELINE_FLOW:
	case TIMELINE_OVERHEAD:
		return FATE_RANGE;
	case TIMELINE_OP:
		return FATE_OP;
	default:
		return FATE_NAMES;
	}
}

/* A lane's name may be made of a process and a thread, which are texts of somebody's
 * where they are no numbers. */
static json_t *redact_lane(struct redactor *r, const json_t *lane)
{
	static const char *const keys[] = { "process", "thread" };
	const char *label = json_string_value(json_object_get(lane, "label"));
	const char *name = json_string_value(json_object_get(lane, "name"));
	json_t *out = redact_object(r, lane);

	for (size_t i = 0; name && i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *text = json_string_value(json_object_get(lane, keys[i]));

		if (text && *text && !is_number(text) && strstr(name, text))
			json_object_set_new(
			    out, "name",
			    json_sprintf("thread of %s",
					 json_string_value(json_object_get(out, "process"))));
	}
	if (label) /* a log's own word */
		json_object_set_new(out, "name",
				    words_whole(&r->words, label,
						json_string_value(json_object_get(lane, "role"))));
	return out;
}

static json_t *redact_lanes(struct redactor *r, const json_t *lanes)
{
	json_t *out = json_array();
	const json_t *lane;
	size_t i;

	json_array_foreach(lanes, i, lane) json_array_append_new(out, redact_lane(r, lane));
	return out;
}

static bool redact_names(struct redactor *r, struct export_job *job)
{
	size_t n = json_array_size(job->tables.names);
	struct kinds kinds = { calloc(n + 1, 1) };
	struct err err = { 0 };
	json_t *rows = json_array(), *row;
	size_t i;

	if (!kinds.of || !job_events(job, note_kind, &kinds, &err)) {
		free(kinds.of);
		json_decref(rows);
		return false;
	}
	json_array_foreach(job->tables.names, i, row)
	{
		r->names = fate_of_kind(kinds.of[i] - 1);
		json_array_append_new(rows, redact_object(r, row));
	}
	r->names = FATE_NAMES;
	free(kinds.of);
	json_decref(job->tables.names);
	job->tables.names = rows;
	return true;
}

static void replace(struct redactor *r, json_t **json, const char *key)
{
	json_t *before = *json;

	*json = before ? redact(r, key, before) : NULL;
	json_decref(before);
}

static bool redact_tables(struct redactor *r, struct export_job *job)
{
	json_t *lanes = redact_lanes(r, job->tables.lanes);

	json_decref(job->tables.lanes);
	job->tables.lanes = lanes;
	replace(r, &job->tables.facts, "facts");
	return redact_names(r, job);
}

bool redact_job(struct export_job *job)
{
	const struct export_run *run = job->run;
	struct redactor r = { .names = FATE_NAMES };
	json_t *imported = json_object_get(run->report, "import");
	bool ok = words_init(&r.words);

	if (ok) {
		r.logs = imported || json_object_get(run->workload, "trace");
		add_sources(&r, run);
		if (r.logs)
			add_names(&r, run->report);
		replace(&r, &job->report, "report");
		replace(&r, &job->workload, "workload");
		replace(&r, &job->environment, "environment");
		replace(&r, &job->head, "run");
		json_object_set_new(job->head, "name",
				    json_sprintf("run %lld", (long long)run->id));
		json_object_set_new(job->head, "redacted", json_true());
		ok = redact_tables(&r, job);
	}
	words_finish(&r.words);
	return ok;
}
