/* profiler/fields/fields.c -- what the table says of each record; one reader and one writer for all
 * of them. */
#include "profiler/fields/fields.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "fusion/base/buf.h"

#define REPORT_D_integer REPORT_INTEGER, NULL
#define REPORT_D_real REPORT_REAL, NULL
#define REPORT_D_number REPORT_NUMBER, NULL
#define REPORT_D_float REPORT_FLOAT, NULL
#define REPORT_D_flag REPORT_FLAG, NULL
#define REPORT_D_text REPORT_TEXT, NULL
#define REPORT_D_value REPORT_VALUE, NULL
#define REPORT_D_integers REPORT_INTEGERS, NULL
#define REPORT_D_reals REPORT_REALS, NULL
#define REPORT_D_texts REPORT_TEXTS, NULL
#define REPORT_D_interval REPORT_INTERVAL, NULL
#define REPORT_D_intervals REPORT_INTERVALS, NULL
#define REPORT_D_pair REPORT_PAIR, NULL
#define REPORT_D_counts REPORT_COUNTS, NULL
#define REPORT_D_numbers REPORT_NUMBERS, NULL
#define REPORT_D_names REPORT_NAMES, NULL
#define REPORT_D_lists REPORT_LISTS, NULL
#define REPORT_D_one(record) REPORT_ONE, REPORT_RECORD(record)
#define REPORT_D_list(record) REPORT_LIST, REPORT_RECORD(record)
#define REPORT_D_map(record) REPORT_MAP, REPORT_RECORD(record)

#define RECORD(record, meaning) static const struct report_field fields_##record[] = {
#define FIELD(record, name, type, presence, unit, meaning, since)                                  \
	{ REPORT_KEY(name),                                                                        \
	  REPORT_D_##type,                                                                         \
	  REPORT_##presence,                                                                       \
	  unit,                                                                                    \
	  meaning,                                                                                 \
	  since,                                                                                   \
	  offsetof(struct report_##record, name),                                                  \
	  offsetof(struct report_##record, has.name),                                              \
	  offsetof(struct report_##record, written.name) },
#define END(record)                                                                                \
	}                                                                                          \
	;
#include "profiler/fields/report.def"
#undef RECORD
#undef FIELD
#undef END

#define FIELD(record, name, type, presence, unit, meaning, since)
#define END(record)
#define RECORD(record, meaning)                                                                    \
	[REPORT_IS_##record] = { #record,                                                          \
				 meaning,                                                          \
				 sizeof(struct report_##record),                                   \
				 offsetof(struct report_##record, json),                           \
				 fields_##record,                                                  \
				 sizeof(fields_##record) / sizeof(fields_##record[0]) },
const struct report_record report_records[REPORT_RECORDS] = {
#include "profiler/fields/report.def"
};
#undef RECORD
#undef FIELD
#undef END

size_t report_key(const char *const *keys, size_t n, const char *key)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(keys[i], key) == 0)
			return i;
	return n;
}

const struct report_field *report_field(const struct report_record *record, const char *name)
{
	for (int i = 0; i < record->n_fields; i++)
		if (strcmp(record->fields[i].name, name) == 0)
			return &record->fields[i];
	return NULL;
}

const json_t *report_found(const struct report_field *field, const struct report_record *record,
			   const void *from)
{
	const char *at = from;

	return at ? json_object_get(*(const json_t *const *)(at + record->json), field->name)
		  : NULL;
}

/* ---- types ---- */

/* Every list and map begins with these members; a list ends with `n`. */
struct many {
	void *at;
	size_t n;
	const char **keys;
};

/* Where a value is, outermost last. */
struct step {
	const struct step *up;
	const char *key; /* NULL: `index` of a list */
	size_t index;
};

struct reader {
	struct arena *arena;
	size_t left_bytes;
	struct err *err;
};

/* What a type takes, as a message says it; its bytes in C; whether it has keys. */
static const struct {
	const char *takes;
	size_t bytes; /* of an element of a list or map; 0: it is none */
	enum report_type element;
	bool keys;
} types[REPORT_TYPES] = {
	[REPORT_INTEGER] = { .takes = "a whole number" },
	[REPORT_REAL] = { .takes = "a number" },
	[REPORT_NUMBER] = { .takes = "a number" },
	[REPORT_FLOAT] = { .takes = "a number, or nan, inf or -inf as a text" },
	[REPORT_FLAG] = { .takes = "true or false" },
	[REPORT_TEXT] = { .takes = "a text" },
	[REPORT_VALUE] = { .takes = "anything" },
	[REPORT_INTEGERS] = { "a list of whole numbers", sizeof(int64_t), REPORT_INTEGER, false },
	[REPORT_REALS] = { "a list of numbers", sizeof(double), REPORT_REAL, false },
	[REPORT_TEXTS] = { "a list of texts", sizeof(char *), REPORT_TEXT, false },
	[REPORT_INTERVAL] = { .takes = "[low, high]" },
	[REPORT_INTERVALS] = { "a list of [low, high]", sizeof(struct report_interval),
			       REPORT_INTERVAL, false },
	[REPORT_PAIR] = { .takes = "two numbers, [before, after]" },
	[REPORT_COUNTS] = { .takes = "two whole numbers, [before, after]" },
	[REPORT_NUMBERS] = { "an object of numbers", sizeof(double), REPORT_NUMBER, true },
	[REPORT_NAMES] = { "an object of texts", sizeof(char *), REPORT_TEXT, true },
	[REPORT_LISTS] = { "an object of lists of texts", sizeof(struct report_texts), REPORT_TEXTS,
			   true },
	[REPORT_ONE] = { .takes = "an object" },
	[REPORT_LIST] = { .takes = "a list of objects" },
	[REPORT_MAP] = { .takes = "an object of objects", .keys = true },
};

static size_t element_bytes(enum report_type type, const struct report_record *of)
{
	return type == REPORT_LIST || type == REPORT_MAP ? of->bytes : types[type].bytes;
}

static enum report_type element_type(enum report_type type)
{
	return type == REPORT_LIST || type == REPORT_MAP ? REPORT_ONE : types[type].element;
}

/* Ends of a pair of numbers. */
static bool is_pair(const json_t *json, bool whole)
{
	for (size_t i = 0; i < 2; i++) {
		const json_t *end = json_array_get(json, i);

		if (whole ? !json_is_integer(end) : !json_is_number(end))
			return false;
	}
	return json_array_size(json) == 2;
}

static bool float_of(const json_t *json, double *x)
{
	const char *text = json_string_value(json);

	if (json_is_number(json))
		*x = json_number_value(json);
	else if (text && strcmp(text, "nan") == 0)
		*x = NAN;
	else if (text && (strcmp(text, "inf") == 0 || strcmp(text, "-inf") == 0))
		*x = text[0] == '-' ? -INFINITY : INFINITY;
	else
		return false;
	return true;
}

/* Whether JSON is of a type, as far as its own elements do not say. */
static bool has_form(enum report_type type, const json_t *json)
{
	double ignored;

	switch (type) {
	case REPORT_INTEGER:
		return json_is_integer(json);
	case REPORT_REAL:
	case REPORT_NUMBER:
		return json_is_number(json);
	case REPORT_FLOAT:
		return float_of(json, &ignored);
	case REPORT_FLAG:
		return json_is_boolean(json);
	case REPORT_TEXT:
		return json_is_string(json);
	case REPORT_VALUE:
		return true;
	case REPORT_INTERVAL:
	case REPORT_PAIR:
		return is_pair(json, false);
	case REPORT_COUNTS:
		return is_pair(json, true);
	case REPORT_ONE:
	case REPORT_NUMBERS:
	case REPORT_NAMES:
	case REPORT_LISTS:
	case REPORT_MAP:
		return json_is_object(json);
	default:
		return json_is_array(json);
	}
}

bool report_accepts(const struct report_field *field, const json_t *value)
{
	enum report_type element = element_type(field->type);
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_null(value))
		return field->presence != REPORT_ALWAYS;
	if (!has_form(field->type, value))
		return false;
	if (element_bytes(field->type, field->of) == 0)
		return true;
	json_array_foreach((json_t *)value, i, item)
	{
		if (!has_form(element, item))
			return false;
	}
	json_object_foreach((json_t *)value, key, item)
	{
		if (!has_form(element, item))
			return false;
	}
	return true;
}

/* ---- reading ---- */

static void put_path(struct buf *out, const struct step *step)
{
	if (step->up)
		put_path(out, step->up);
	if (step->key)
		buf_printf(out, "%s%.60s", step->up ? "." : "", step->key);
	else
		buf_printf(out, "[%zu]", step->index);
}

static void put_found(struct buf *out, const json_t *found)
{
	char *text = json_dumps(found, JSON_ENCODE_ANY | JSON_COMPACT);

	if (!found)
		buf_puts(out, "missing");
	else if (!text || strlen(text) > 40)
		buf_printf(out, "%s",
			   json_is_string(found)   ? "a text"
			   : json_is_array(found)  ? "a list"
			   : json_is_object(found) ? "an object"
						   : "a number");
	else
		buf_puts(out, text);
	free(text);
}

/* "modes.static.latency.median_us is "fast"; it takes a number (us): the median" */
static bool wrong(struct reader *r, const struct step *at, const json_t *found,
		  enum report_type type, const struct report_field *field)
{
	struct buf text;

	buf_init(&text, 4096);
	put_path(&text, at);
	buf_puts(&text, " is ");
	put_found(&text, found);
	buf_printf(&text, "; it takes %s", types[type].takes);
	if (field && *field->unit)
		buf_printf(&text, " (%s)", field->unit);
	if (field)
		buf_printf(&text, ": %s", field->meaning);
	err_set(r->err, ERR_WORKLOAD, "%.*s", ERR_MESSAGE_BYTES - 1, text.data ? text.data : "");
	buf_finish(&text);
	return false;
}

static void *take(struct reader *r, size_t n, size_t bytes)
{
	void *at = NULL;

	if (bytes && n > r->left_bytes / bytes) {
		err_set(r->err, ERR_BOUND, "the report has more than %d MiB of fields, the limit",
			REPORT_MOST_BYTES >> 20);
		return NULL;
	}
	at = arena_array(r->arena, n ? n : 1, bytes);
	if (!at)
		err_set(r->err, ERR_MEMORY, "out of memory for a report");
	r->left_bytes -= n * bytes;
	return at;
}

/* Lists within a map. */
static const struct report_field texts_field = { .type = REPORT_TEXTS };

static bool read_record(struct reader *r, const struct step *at, const struct report_record *record,
			const json_t *json, char *to);
static bool read_many(struct reader *r, const struct step *at, const struct report_field *field,
		      const json_t *json, void *to);

/* A value that is neither list nor map, or a list within a map. */
static bool read_one(struct reader *r, const struct step *at, enum report_type type,
		     const struct report_record *of, const json_t *json, void *to)
{
	const json_t *low = json_array_get(json, 0), *high = json_array_get(json, 1);

	switch (type) {
	case REPORT_INTEGER:
		*(int64_t *)to = json_integer_value(json);
		break;
	case REPORT_REAL:
	case REPORT_NUMBER:
	case REPORT_FLOAT:
		float_of(json, to);
		break;
	case REPORT_FLAG:
		*(bool *)to = json_is_true(json);
		break;
	case REPORT_TEXT:
		*(const char **)to = json_string_value(json);
		break;
	case REPORT_VALUE:
		*(const json_t **)to = json;
		break;
	case REPORT_INTERVAL:
		*(struct report_interval *)to = (struct report_interval){ json_number_value(low),
									  json_number_value(high) };
		break;
	case REPORT_PAIR:
		*(struct report_pair *)to = (struct report_pair){ json_number_value(low),
								  json_number_value(high) };
		break;
	case REPORT_COUNTS:
		*(struct report_counts *)to = (struct report_counts){ json_integer_value(low),
								      json_integer_value(high) };
		break;
	case REPORT_TEXTS:
		return read_many(r, at, &texts_field, json, to);
	default: /* REPORT_ONE: in a list, `to` is the record itself */
		return read_record(r, at, of, json, to);
	}
	return true;
}

static bool read_element(struct reader *r, const struct step *at, enum report_type type,
			 const struct report_record *of, const json_t *json, void *to)
{
	return (has_form(type, json) || wrong(r, at, json, type, NULL)) &&
	       read_one(r, at, type, of, json, to);
}

/* Elements of a list or an object. */
static bool read_many(struct reader *r, const struct step *at, const struct report_field *field,
		      const json_t *json, void *to)
{
	size_t bytes = element_bytes(field->type, field->of), i;
	bool keyed = types[field->type].keys;
	struct many many = { .n = keyed ? json_object_size(json) : json_array_size(json) };
	enum report_type type = element_type(field->type);
	const char *key;
	json_t *item;

	many.at = take(r, many.n, bytes);
	many.keys = keyed && many.at ? take(r, many.n, sizeof(*many.keys)) : NULL;
	if (!many.at || (keyed && !many.keys))
		return false;
	json_array_foreach((json_t *)json, i, item)
	{
		struct step here = { .up = at, .index = i };

		if (!read_element(r, &here, type, field->of, item, (char *)many.at + i * bytes))
			return false;
	}
	i = 0;
	json_object_foreach((json_t *)json, key, item)
	{
		struct step here = { .up = at, .key = key };

		many.keys[i] = key;
		if (!read_element(r, &here, type, field->of, item, (char *)many.at + i++ * bytes))
			return false;
	}
	memcpy(to, &many, keyed ? sizeof(many) : offsetof(struct many, keys));
	return true;
}

static void set_nan(const struct report_field *field, char *record)
{
	const struct report_interval none = { NAN, NAN };

	if (field->type == REPORT_INTERVAL || field->type == REPORT_PAIR)
		memcpy(record + field->offset, &none, sizeof(none));
	else if (field->type == REPORT_REAL || field->type == REPORT_NUMBER ||
		 field->type == REPORT_FLOAT)
		memcpy(record + field->offset, &none.low, sizeof(none.low));
}

static bool read_field(struct reader *r, const struct step *at, const struct report_field *field,
		       const json_t *json, char *record)
{
	void *to = record + field->offset;
	unsigned char *form = (unsigned char *)record + field->written;
	bool real = field->type == REPORT_REAL || field->type == REPORT_FLOAT;

	if (field->type != REPORT_VALUE && json_is_null(json))
		json = field->presence == REPORT_ALWAYS ? json : (*form = REPORT_NULL, NULL);
	if (!json) {
		set_nan(field, record);
		return *form == REPORT_NULL || field->presence != REPORT_ALWAYS ||
		       wrong(r, at, json, field->type, field);
	}
	if (!has_form(field->type, json))
		return wrong(r, at, json, field->type, field);
	*(bool *)(record + field->has) = true;
	if (real && json_is_integer(json))
		*form = REPORT_WHOLE;
	if (element_bytes(field->type, field->of))
		return read_many(r, at, field, json, to);
	if (field->type == REPORT_ONE) {
		char *one = take(r, 1, field->of->bytes);

		*(void **)to = one;
		return one && read_record(r, at, field->of, json, one);
	}
	return read_one(r, at, field->type, NULL, json, to);
}

static bool read_record(struct reader *r, const struct step *at, const struct report_record *record,
			const json_t *json, char *to)
{
	*(const json_t **)(to + record->json) = json;
	for (int i = 0; i < record->n_fields; i++) {
		const struct report_field *field = &record->fields[i];
		struct step here = { .up = at, .key = field->name };

		if (!read_field(r, &here, field, json_object_get(json, field->name), to))
			return false;
	}
	return true;
}

void *report_read(const struct report_record *record, const json_t *json, struct arena *arena,
		  struct err *err)
{
	struct reader r = { .arena = arena, .left_bytes = REPORT_MOST_BYTES, .err = err };
	const struct step root = { .key = "report" };
	char *to;

	if (!json_is_object(json)) {
		wrong(&r, &root, json, REPORT_ONE, NULL);
		return NULL;
	}
	to = take(&r, 1, record->bytes);
	return to && read_record(&r, NULL, record, json, to) ? to : NULL;
}

/* ---- reports in the making ---- */

void report_draft_finish(struct report_draft *draft)
{
	for (size_t i = 0; i < draft->values.len; i++)
		json_decref(draft->values.at[i]);
	VEC_FREE(&draft->values);
	arena_finish(&draft->arena);
}

json_t *report_draft_value(struct report_draft *draft, json_t *value)
{
	if (value && VEC_PUSH(&draft->values, value))
		return value;
	json_decref(value);
	return NULL;
}

struct report_integers report_draft_integers(struct report_draft *draft, const int *from, int n)
{
	int64_t *at = ARENA_ARRAY(&draft->arena, int64_t, (size_t)n + 1);

	for (int i = 0; at && i < n; i++)
		at[i] = from[i];
	return (struct report_integers){ at, (size_t)n };
}

struct report_texts report_draft_texts(struct report_draft *draft, const char *const *from, int n)
{
	const char **at = ARENA_ARRAY(&draft->arena, const char *, (size_t)n + 1);

	for (int i = 0; at && i < n; i++)
		at[i] = report_draft_text(draft, from[i]);
	return (struct report_texts){ at, (size_t)n };
}

/* ---- writing ---- */

static json_t *write_real(double x)
{
	return isfinite(x) ? json_real(x) : json_null();
}

static json_t *write_text(const char *text)
{
	json_t *json = text ? json_string(text) : NULL;

	return json || !text ? json : json_string("");
}

static json_t *write_float(double x)
{
	if (isnan(x))
		return json_string("nan");
	if (isinf(x))
		return json_string(x > 0 ? "inf" : "-inf");
	return json_real(x);
}

static json_t *write_number(double x)
{
	if (!isfinite(x))
		return json_null();
	return x == (double)(int64_t)x ? json_integer((json_int_t)x) : json_real(x);
}

static json_t *write_many(const struct report_field *field, const char *from);

/* `from` is where the value is; of REPORT_ONE the record itself. */
static json_t *write_one(enum report_type type, const struct report_record *of, const void *from)
{
	const struct report_interval *interval = from; /* a pair has the same members */
	const struct report_counts *counts = from;

	switch (type) {
	case REPORT_INTEGER:
		return json_integer(*(const int64_t *)from);
	case REPORT_REAL:
		return write_real(*(const double *)from);
	case REPORT_NUMBER:
		return write_number(*(const double *)from);
	case REPORT_FLOAT:
		return write_float(*(const double *)from);
	case REPORT_FLAG:
		return json_boolean(*(const bool *)from);
	case REPORT_TEXT:
		return write_text(*(const char *const *)from);
	case REPORT_VALUE:
		return json_incref(*(json_t *const *)from);
	case REPORT_INTERVAL:
	case REPORT_PAIR:
		if (!isfinite(interval->low) || !isfinite(interval->high))
			return json_null();
		return json_pack("[f, f]", interval->low, interval->high);
	case REPORT_COUNTS:
		return json_pack("[I, I]", (json_int_t)counts->before, (json_int_t)counts->after);
	case REPORT_TEXTS:
		return write_many(&texts_field, from);
	default:
		return report_write(of, from);
	}
}

static json_t *write_many(const struct report_field *field, const char *from)
{
	size_t bytes = element_bytes(field->type, field->of);
	bool keyed = types[field->type].keys, ok = true;
	json_t *json = keyed ? json_object() : json_array();
	struct many many = { 0 };

	memcpy(&many, from, keyed ? sizeof(many) : offsetof(struct many, keys));
	ok = many.n == 0 || (many.at && (!keyed || many.keys));
	for (size_t i = 0; ok && i < many.n; i++) {
		json_t *item = write_one(element_type(field->type), field->of,
					 (const char *)many.at + i * bytes);

		ok = (keyed ? json_object_set_new(json, many.keys[i], item)
			    : json_array_append_new(json, item)) == 0;
	}
	if (ok)
		return json;
	json_decref(json);
	return NULL;
}

static json_t *write_field(const struct report_field *field, const char *record)
{
	const char *from = record + field->offset;
	unsigned char form = *((const unsigned char *)record + field->written);

	if (!*(const bool *)(record + field->has))
		return json_null();
	if (form == REPORT_WHOLE)
		return write_number(*(const double *)from);
	if (element_bytes(field->type, field->of))
		return write_many(field, from);
	return write_one(field->type, field->of,
			 field->type == REPORT_ONE ? *(const void *const *)from : from);
}

/* What the document has that the table has not. */
static bool add_unknown(const struct report_record *record, const json_t *document, json_t *json)
{
	const char *key;
	json_t *item;

	json_object_foreach((json_t *)document, key, item)
	{
		if (!report_field(record, key) && json_object_set(json, key, item) != 0)
			return false;
	}
	return true;
}

json_t *report_write(const struct report_record *record, const void *from)
{
	const char *at = from;
	json_t *json = at ? json_object() : NULL;
	bool ok = json != NULL;

	for (int i = 0; ok && i < record->n_fields; i++) {
		const struct report_field *field = &record->fields[i];
		bool has = *(const bool *)(at + field->has);

		if (has || *((const unsigned char *)at + field->written) == REPORT_NULL)
			ok = json_object_set_new(json, field->name, write_field(field, at)) == 0;
	}
	if (ok && add_unknown(record, *(const json_t *const *)(at + record->json), json))
		return json;
	json_decref(json);
	return NULL;
}

void report_each_record(const struct report_record *record, void *from,
			void (*each)(void *self, const struct report_field *field, void *held),
			void *self)
{
	char *at = from;

	for (int i = 0; i < record->n_fields; i++) {
		const struct report_field *field = &record->fields[i];
		struct many many = { 0 };

		if (!field->of || !*(const bool *)(at + field->has))
			continue;
		if (field->type == REPORT_ONE) {
			memcpy(&many.at, at + field->offset, sizeof(many.at));
			many.n = many.at != NULL;
		} else {
			memcpy(&many, at + field->offset, offsetof(struct many, keys));
		}
		for (size_t k = 0; many.at && k < many.n; k++)
			each(self, field, (char *)many.at + k * field->of->bytes);
	}
}

void *report_new(const struct report_record *record, size_t n, struct arena *arena)
{
	char *all = arena_array(arena, n ? n : 1, record->bytes);

	for (size_t k = 0; all && k < n; k++)
		for (int i = 0; i < record->n_fields; i++) {
			const struct report_field *field = &record->fields[i];
			char *one = all + k * record->bytes;

			set_nan(field, one);
			if (field->presence == REPORT_OR_NULL)
				one[field->written] = REPORT_NULL;
		}
	return all;
}
