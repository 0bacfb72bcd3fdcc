/* profiler/fields/fields.h -- reports as structs, made from the table report.def.
 *
 * For each RECORD(mode, ...) of the table there are
 *
 *	struct report_mode       a member for each field, under its name
 *	struct report_mode_list  { at, n }
 *	struct report_mode_map   { at, n, keys }: see report_get()
 *	report_read_mode()       of JSON
 *	report_write_mode()      as JSON
 *	report_new_mode()        to be filled
 *	REPORT_RECORD(mode)      what the table says of it
 *
 * Beside its fields a struct holds, for each of them, `has.field`: whether there is a value.
 * Where there is none, a real number or an end of an interval is NAN, an integer 0, a flag
 * false, a text or record NULL, a list empty.  `json` is the object that the struct was read from.
 *
 *	struct report_run *run = report_read_run(json, &arena, &err);
 *	struct report_mode *m = run ? report_get(run->modes, "static") : NULL;
 *	if (m && m->latency)
 *		printf("%g us\n", m->latency->median_us);
 *
 * Structs live in the arena; texts, free JSON and `json` are the document's, which must live as
 * long.  What only reads is safe in several threads at once.
 */
#ifndef PROFILER_FIELDS_FIELDS_H
#define PROFILER_FIELDS_FIELDS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fusion/base/arena.h"
#include "fusion/base/err.h"
#include "fusion/base/vec.h"

/* Structs of one document; a larger one is refused. */
enum { REPORT_MOST_BYTES = 512 * 1024 * 1024 };

struct report_interval {
	double low, high;
};
struct report_pair {
	double before, after;
};
struct report_counts {
	int64_t before, after;
};
struct report_integers {
	int64_t *at;
	size_t n;
};
struct report_reals {
	double *at;
	size_t n;
};
struct report_texts {
	const char **at;
	size_t n;
};
struct report_intervals {
	struct report_interval *at;
	size_t n;
};
struct report_numbers {
	double *at;
	size_t n;
	const char **keys;
};
struct report_names {
	const char **at;
	size_t n;
	const char **keys;
};

struct report_lists {
	struct report_texts *at;
	size_t n;
	const char **keys;
};

/* How a field was written where that is not how the table says it; set by readers. */
enum report_form { REPORT_PLAIN, REPORT_NULL, REPORT_WHOLE };

/* The key of a field: `_default` is `default`, a word of C. */
#define REPORT_KEY(name) (&#name[#name[0] == '_'])

/* ---- the structs */

#define FIELD(record, name, type, presence, unit, meaning, since)
#define END(record)
#define RECORD(record, meaning)                                                                    \
	struct report_##record;                                                                    \
	struct report_##record##_list {                                                            \
		struct report_##record *at;                                                        \
		size_t n;                                                                          \
	};                                                                                         \
	struct report_##record##_map {                                                             \
		struct report_##record *at;                                                        \
		size_t n;                                                                          \
		const char **keys;                                                                 \
	};
#include "profiler/fields/report.def"
#undef RECORD
#undef FIELD
#undef END

#define REPORT_C_integer int64_t
#define REPORT_C_real double
#define REPORT_C_number double
#define REPORT_C_float double
#define REPORT_C_flag bool
#define REPORT_C_text const char *
#define REPORT_C_value json_t *
#define REPORT_C_integers struct report_integers
#define REPORT_C_reals struct report_reals
#define REPORT_C_texts struct report_texts
#define REPORT_C_interval struct report_interval
#define REPORT_C_intervals struct report_intervals
#define REPORT_C_pair struct report_pair
#define REPORT_C_counts struct report_counts
#define REPORT_C_numbers struct report_numbers
#define REPORT_C_names struct report_names
#define REPORT_C_lists struct report_lists
#define REPORT_C_one(record) struct report_##record *
#define REPORT_C_list(record) struct report_##record##_list
#define REPORT_C_map(record) struct report_##record##_map

#define RECORD(record, meaning) struct report_has_##record {
#define FIELD(record, name, type, presence, unit, meaning, since) bool name;
#define END(record)                                                                                \
	}                                                                                          \
	;
#include "profiler/fields/report.def"
#undef RECORD
#undef FIELD
#undef END

#define RECORD(record, meaning) struct report_form_##record {
#define FIELD(record, name, type, presence, unit, meaning, since) unsigned char name;
#define END(record)                                                                                \
	}                                                                                          \
	;
#include "profiler/fields/report.def"
#undef RECORD
#undef FIELD
#undef END

#define RECORD(record, meaning) struct report_##record {
#define FIELD(record, name, type, presence, unit, meaning, since) REPORT_C_##type name;
#define END(record)                                                                                \
	struct report_has_##record has;                                                            \
	struct report_form_##record written; /* enum report_form */                                \
	const json_t *json;                                                                        \
	}                                                                                          \
	;
#include "profiler/fields/report.def"
#undef RECORD
#undef FIELD
#undef END

/* Gives a field of a struct its value, and says that it has one. */
#define REPORT_SET(record, name, ...)                                                              \
	((record)->has.name = true, (record)->written.name = REPORT_PLAIN,                         \
	 (record)->name = (__VA_ARGS__))

/* The same where something holds; else nothing changes. */
#define REPORT_SET_IF(record, name, holds, ...)                                                    \
	((holds) ? (void)REPORT_SET(record, name, __VA_ARGS__) : (void)0)

/* The same where there is a value; else the field is null. */
#define REPORT_SET_OR_NULL(record, name, exists, ...)                                              \
	((exists) ? (void)REPORT_SET(record, name, __VA_ARGS__)                                    \
		  : (void)((record)->written.name = REPORT_NULL))

/* The place of a key; n where it is not there. */
size_t report_key(const char *const *keys, size_t n, const char *key);

/* Of a map: the value of a key; NULL where it is not there. */
#define report_get(map, key)                                                                       \
	({                                                                                         \
		size_t at_ = report_key((map).keys, (map).n, key);                                 \
		at_ < (map).n ? &(map).at[at_] : NULL;                                             \
	})

/* A text of a struct, "" where there is none. */
static inline const char *report_text(const char *text)
{
	return text ? text : "";
}

/* ---- reports in the making */

/* Where the structs and texts of a report live that is being filled in, and the free JSON in it.
 * Zeroed is empty.  Whoever fills a report in need not ask whether there was memory: a record, a
 * text or a list that is NULL for want of it makes report_write() fail. */
struct report_draft {
	struct arena arena;
	VEC(json_t *) values;
};
void report_draft_finish(struct report_draft *draft);

/* Takes free JSON over; NULL where there is none, or no memory for it. */
json_t *report_draft_value(struct report_draft *draft, json_t *value);

/* A copy of a text; NULL of NULL. */
static inline const char *report_draft_text(struct report_draft *draft, const char *text)
{
	return text ? arena_strdup(&draft->arena, text) : NULL;
}

/* Copies. */
struct report_integers report_draft_integers(struct report_draft *draft, const int *from, int n);
struct report_texts report_draft_texts(struct report_draft *draft, const char *const *from, int n);

/* ---- what the table says */

enum report_type {
	REPORT_INTEGER,
	REPORT_REAL,
	REPORT_NUMBER,
	REPORT_FLOAT,
	REPORT_FLAG,
	REPORT_TEXT,
	REPORT_VALUE,
	REPORT_INTEGERS,
	REPORT_REALS,
	REPORT_TEXTS,
	REPORT_INTERVAL,
	REPORT_INTERVALS,
	REPORT_PAIR,
	REPORT_COUNTS,
	REPORT_NUMBERS,
	REPORT_NAMES,
	REPORT_LISTS,
	REPORT_ONE,
	REPORT_LIST,
	REPORT_MAP,
	REPORT_TYPES
};
enum report_presence { REPORT_ALWAYS, REPORT_OR_NULL, REPORT_OR_NONE, REPORT_EITHER };

struct report_record;

struct report_field {
	const char *name;
	enum report_type type;
	const struct report_record *of; /* of one, list, map */
	enum report_presence presence;
	const char *unit, *meaning, *since;
	size_t offset, has, written; /* in the struct */
};

struct report_record {
	const char *name, *meaning;
	size_t bytes; /* of the struct */
	size_t json;  /* the offset of its member `json` */
	const struct report_field *fields;
	int n_fields;
};

/* All of them, in the order of the table. */
enum report_record_id {
#define FIELD(record, name, type, presence, unit, meaning, since)
#define END(record)
#define RECORD(record, meaning) REPORT_IS_##record,
#include "profiler/fields/report.def"
#undef RECORD
#undef FIELD
#undef END
	REPORT_RECORDS
};
extern const struct report_record report_records[REPORT_RECORDS];

#define REPORT_RECORD(record) (&report_records[REPORT_IS_##record])

/* NULL where the record has no such field. */
const struct report_field *report_field(const struct report_record *record, const char *name);

/* What the document has for a field that the struct was read from, whatever its type; NULL where
 * it has nothing, or where there is no struct. */
const json_t *report_found(const struct report_field *field, const struct report_record *record,
			   const void *from);

/* Whether the table allows the value there. */
bool report_accepts(const struct report_field *field, const json_t *value);

/* ---- reading and writing: report_read_mode() and its like call these */

/* NULL with WORKLOAD where the JSON is no such record (the message names the path, what is
 * there, and what it takes), with BOUND, or with MEMORY.  A field that is not in the table is
 * left in the document, where report_write() finds it. */
void *report_read(const struct report_record *record, const json_t *json, struct arena *arena,
		  struct err *err);

/* A new object: fields in the order of the table, then those of the document that are not in
 * the table.  What was read comes out as it was, but for whole numbers in lists of real ones,
 * which become real.  A text that is no UTF-8 is empty, a real number that is not finite null.
 * NULL of NULL, and when out of memory. */
json_t *report_write(const struct report_record *record, const void *from);

/* Calls back for each record that a field of `from` holds, not for those within them. */
void report_each_record(const struct report_record *record, void *from,
			void (*each)(void *self, const struct report_field *field, void *held),
			void *self);

/* n of them, whose fields have no value yet; those that are null where they have none are
 * null.  NULL when out of memory. */
void *report_new(const struct report_record *record, size_t n, struct arena *arena);

#define FIELD(record, name, type, presence, unit, meaning, since)
#define END(record)
#define RECORD(record, meaning)                                                                    \
	static inline struct report_##record *report_read_##record(                                \
	    const json_t *json, struct arena *arena, struct err *err)                              \
	{                                                                                          \
		return report_read(REPORT_RECORD(record), json, arena, err);                       \
	}                                                                                          \
	static inline json_t *report_write_##record(const struct report_##record *from)            \
	{                                                                                          \
		return report_write(REPORT_RECORD(record), from);                                  \
	}                                                                                          \
	static inline struct report_##record *report_new_##record(size_t n, struct arena *arena)   \
	{                                                                                          \
		return report_new(REPORT_RECORD(record), n, arena);                                \
	}
#include "profiler/fields/report.def"
#undef RECORD
#undef FIELD
#undef END

#endif
