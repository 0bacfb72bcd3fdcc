/* profiler/import/counters.c -- counters of a trace, each a series of the timeline. */
#include "profiler/import/counters.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"
#include "profiler/import/model.h"
#include "profiler/import/repair.h"

/* Beyond it a double has no such digits. */
#define MOST_SCALED 9007199254740992.0

struct sample {
	int64_t value;
	bool scaled;
	double number;
};

void counters_finish(struct counters *c)
{
	for (size_t i = 0; i < c->rows.len; i++) {
		json_decref(c->rows.at[i].row);
		json_decref(c->rows.at[i].name);
	}
	VEC_FREE(&c->rows);
}

static json_t *text_json(const char *text)
{
	size_t len = strlen(text);
	bool bad = false;

	return json_of_text(text, len < TIMELINE_NAME_CHARS ? len : TIMELINE_NAME_CHARS, &bad);
}

/* The value of a sample; false: no number, or one that has no room. */
static bool take_number(const json_t *json, struct sample *out)
{
	double x = json_number_value(json);

	if (json_is_integer(json)) {
		*out = (struct sample){ json_integer_value(json), false, x };
		return true;
	}
	if (!json_is_real(json) || !isfinite(x) || fabs(x) >= (double)INT64_MAX)
		return false;
	if (fabs(x * COUNTER_SCALE) < MOST_SCALED)
		*out = (struct sample){ llround(x * COUNTER_SCALE), true, x };
	else
		*out = (struct sample){ llround(x), false, x };
	return true;
}

static struct counter_series *find(struct counters *c, uint64_t key)
{
	for (size_t i = 0; i < c->rows.len; i++)
		if (c->rows.at[i].key == key)
			return &c->rows.at[i];
	return NULL;
}

/* A new series; takes over both.  NULL where there are too many, which is counted, or
 * without memory. */
static struct counter_series *add(struct counters *c, const struct counter_sink *sink, uint64_t key,
				  json_t *row, json_t *name)
{
	struct counter_series s = { .key = key, .row = row, .name = name };

	if (c->rows.len >= COUNTER_MAX_SERIES || !row || !name || !VEC_PUSH(&c->rows, s)) {
		sink->m->ledger.n[LEDGER_SERIES_FULL]++;
		json_decref(row);
		json_decref(name);
		return NULL;
	}
	return &c->rows.at[c->rows.len - 1];
}

static struct counter_series *add_lane(struct counters *c, const struct counter_sink *sink,
				       uint64_t key, json_t *row, json_t *name)
{
	struct counter_series *s = add(c, sink, key, row, name);

	if (s && sink->m->writer)
		s->lane = model_lane(sink->m, json_incref(row));
	return s;
}

static uint32_t name_of(struct counter_series *s, const struct counter_sink *sink, bool scaled)
{
	json_t *row;

	if (s->names[scaled])
		return s->names[scaled] - 1;
	row = json_pack("{s:O}", "name", s->name);
	if (scaled)
		json_object_set_new(row, "scale", json_integer(COUNTER_SCALE));
	s->names[scaled] = 1 + timeline_writer_name(sink->m->writer, row);
	return s->names[scaled] - 1;
}

/* Writes the sample that is pending: it held until then. */
static bool settle(struct counter_series *s, const struct counter_sink *sink, int64_t until_ns,
		   struct err *err)
{
	if (s->samples == 0 || !sink->m->writer)
		return true;
	if (!s->says && until_ns > s->pending.start_ns)
		s->pending.duration_ns = until_ns - s->pending.start_ns;
	return timeline_writer_add(sink->m->writer, &s->pending, err);
}

static bool add_sample(struct counter_series *s, const struct counter_sink *sink, int64_t ts_ns,
		       const struct sample *x, struct err *err)
{
	int64_t at = ts_ns + sink->base_ns;

	if (!settle(s, sink, at, err))
		return false;
	sink->m->ledger.n[LEDGER_COUNTER_BACK] += s->samples && at < s->pending.start_ns;
	s->least = s->samples == 0 || x->number < s->least ? x->number : s->least;
	s->most = s->samples == 0 || x->number > s->most ? x->number : s->most;
	s->last = x->number;
	s->samples++;
	s->says = false;
	s->pending = (struct timeline_event){
		.start_ns = at, .bytes = x->value, .lane = s->lane, .kind = TIMELINE_COUNTER
	};
	if (sink->m->writer)
		s->pending.name = name_of(s, sink, x->scaled);
	return true;
}

/* A counter's name and its series' as one, unless they are the same. */
static json_t *title(const char *counter, const char *series)
{
	char text[2 * EVENT_TEXT_CHARS + 8];

	if (strcmp(counter, series) == 0 || strcmp(series, "value") == 0 || !*series)
		return text_json(counter);
	if (!*counter)
		return text_json(series);
	snprintf(text, sizeof(text), "%.*s: %.*s", EVENT_TEXT_CHARS, counter, EVENT_TEXT_CHARS,
		 series);
	return text_json(text);
}

static struct counter_series *series_of(struct counters *c, const struct counter_sink *sink,
					const struct kineto_event *e, const char *arg)
{
	const char *counter = e->name.len ? e->name.data : "";
	uint64_t key = hash_bytes(e->pid, strlen(e->pid), 1);
	struct counter_series *s;
	json_t *name;

	key = hash_bytes(e->id, strlen(e->id), key);
	key = hash_bytes(counter, strlen(counter), key);
	key = hash_bytes(arg, strlen(arg), key);
	s = find(c, key);
	if (s)
		return s;
	name = title(counter, arg);
	return add_lane(c, sink, key,
			json_pack("{s:O, s:s, s:o, s:O}", "name", name, "role", "counter",
				  "process", text_json(e->pid), "label", name),
			name);
}

/* The series of an event's args; new. */
static json_t *args_of(const char *text, size_t len, struct ledger *ledger)
{
	json_t *event = json_of_log(text, len, NULL);
	json_t *args = json_incref(json_object_get(event, "args"));

	json_decref(event);
	if (json_object_size(args) == 0)
		ledger->n[LEDGER_NO_VALUE]++;
	return args;
}

bool counters_event(struct counters *c, const struct counter_sink *sink,
		    const struct kineto_event *e, const char *text, size_t len, struct err *err)
{
	json_t *args = args_of(text, len, &sink->m->ledger), *value;
	const char *key;
	bool ok = true;

	json_object_foreach(args, key, value)
	{
		struct counter_series *s;
		struct sample x;

		if (!ok)
			break;
		if (!take_number(value, &x)) {
			sink->m->ledger.n[LEDGER_NO_VALUE]++;
			continue;
		}
		s = series_of(c, sink, e, key);
		ok = !s || add_sample(s, sink, e->ts_ns, &x, err);
	}
	json_decref(args);
	return ok;
}

bool counters_own(struct counters *c, const struct counter_sink *sink, uint32_t lane,
		  const struct kineto_event *e, struct err *err)
{
	json_t *args = args_of(e->text, e->len, &sink->m->ledger);
	void *first = json_object_iter(args);
	struct counter_series *s = find(c, lane);
	struct sample x;
	bool ok = true;

	if (first && take_number(json_object_iter_value(first), &x)) {
		const char *key = json_object_iter_key(first);

		if (!s)
			s = add(c, sink, lane,
				json_pack("{s:s, s:o}", "name", key, "process", text_json(e->pid)),
				json_string(key));
		if (s)
			s->lane = lane;
		ok = !s || add_sample(s, sink, e->ts_ns, &x, err);
		if (s && ok && e->has_dur && e->dur_ns >= 0) {
			s->says = true;
			s->pending.duration_ns = e->dur_ns;
		}
	} else if (first) {
		sink->m->ledger.n[LEDGER_NO_VALUE]++;
	}
	json_decref(args);
	return ok;
}

bool counters_memory(struct counters *c, const struct counter_sink *sink,
		     const struct kineto_event *e, const struct memory_sample *sample,
		     struct err *err)
{
	const char *series = sample->series;
	int64_t device = sample->device;
	uint64_t key = hash_bytes(e->pid, strlen(e->pid), 2 + (uint64_t)device);
	struct sample x = { sample->bytes, false, (double)sample->bytes };
	struct counter_series *s;

	key = hash_bytes(series, strlen(series), key);
	s = find(c, key);
	if (!s) {
		json_t *where = device < 0 ? json_string("host")
					   : json_sprintf("GPU %lld", (long long)device);
		json_t *name = json_sprintf("memory %s, %s", series, json_string_value(where));

		json_decref(where);
		s = add_lane(c, sink, key,
			     json_pack("{s:O, s:s, s:o, s:s, s:o}", "name", name, "role", "counter",
				       "process", text_json(e->pid), "unit", "bytes", "device",
				       device < 0 ? json_null() : json_integer(device)),
			     name);
	}
	return !s || add_sample(s, sink, e->ts_ns, &x, err);
}

bool counters_end(struct counters *c, const struct counter_sink *sink, json_t *list,
		  struct err *err)
{
	bool ok = true;

	for (size_t i = 0; ok && i < c->rows.len; i++) {
		struct counter_series *s = &c->rows.at[i];

		ok = settle(s, sink, c->end_ns, err);
		if (json_array_size(list) < COUNTER_MAX_SERIES)
			json_array_append_new(
			    list, json_pack("{s:O, s:O?, s:I, s:f, s:f, s:f}", "name", s->name,
					    "process", json_object_get(s->row, "process"),
					    "samples", (json_int_t)s->samples, "min", s->least,
					    "max", s->most, "last", s->last));
	}
	return ok;
}
