/* profiler/import/compiles.h -- private: what compile logs say, over all files of an import.
 *
 * Rows are JSON objects from the first, as the report shows them; the functions here
 * hold the rules by which they are counted (torch_trace.c reads them out of records):
 * a graph is a dynamo_output_graph; a break is a place in the user's source, however many
 * frames and compilations met it; a recompile is a compilation that has reasons.
 */
#ifndef PROFILER_IMPORT_COMPILES_H
#define PROFILER_IMPORT_COMPILES_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "profiler/import/ledger.h"

/* ---- The text of a graph break, taken apart. */

enum { BREAK_FILE_CHARS = 1024, BREAK_TYPE_CHARS = 256 };

struct torch_break {
	char file[BREAK_FILE_CHARS]; /* "": the text names no place */
	int line;
	bool unplaced;       /* the place is that of its frame */
	const char *outcome; /* "resume", "step", "skip", "jump"; NULL: not said */
	const char *reason;  /* within the text, from the cause on */
	size_t reason_len;
	char type[BREAK_TYPE_CHARS]; /* the first line of the reason */
	char gb[16];                 /* "GB0170"; "": none */
	const char *kind;            /* one of fusion/report/breaks.def */
};

/* The payload of a dynamo_graph_break_reason, of 2.5 to 2.14.  `text` is NUL terminated
 * and must outlive *out. */
void torch_break_read(const char *text, struct torch_break *out);

enum {
	COMPILES_MAX = 20000,          /* compilations, and breaks */
	COMPILES_LIST_MAX = 256,       /* rows of a list of a compilation */
	COMPILES_TEXT_BYTES = 4 << 20, /* of errors, in all */
};

/* Zeroed needs compiles_init(). */
struct compiles {
	struct ledger *ledger;
	json_t *processes; /* [{"pid", "rank", "file", "version", "resets", ...}] */
	json_t *rows;      /* {"PROCESS F/C": a compilation}, in the order of the log */
	json_t *breaks;    /* {"FILE:LINE": a break} */
	json_t *kinds;     /* {kind of record: how many} */
	json_t *unknown;   /* the same of kinds that are not known */
	int64_t graphs;
	size_t text_bytes;    /* kept so far */
	size_t tensors_bytes; /* of op_tensors (inductor.h), likewise */
};

static inline bool compiles_init(struct compiles *c, struct ledger *ledger)
{
	*c = (struct compiles){ .ledger = ledger,
				.processes = json_array(),
				.rows = json_object(),
				.breaks = json_object(),
				.kinds = json_object(),
				.unknown = json_object() };
	return c->processes && c->rows && c->breaks && c->kinds && c->unknown;
}

static inline void compiles_finish(struct compiles *c)
{
	json_decref(c->processes);
	json_decref(c->rows);
	json_decref(c->breaks);
	json_decref(c->kinds);
	json_decref(c->unknown);
}

/* The row of a compilation, new where it is not known; borrowed.  NULL: too many. */
json_t *compiles_row(struct compiles *c, int process, const char *id);

/* The same for one that begins now.  Where it began before, the process has forgotten its
 * compilations since (torch._dynamo.reset()) and numbers them from 0 again: a row of its own, which
 * says "resets": after how many, as the process does. */
json_t *compiles_start(struct compiles *c, int process, const char *id);

/* The last of a process with this id, and that of a place {"process", "compile", "resets"};
 * borrowed.  NULL: there is none. */
json_t *compiles_find(const struct compiles *c, int process, const char *id);
json_t *compiles_of(const struct compiles *c, const json_t *place);

/* Adds `item` (taken over) to a list of a row, up to COMPILES_LIST_MAX. */
void compiles_append(struct compiles *c, json_t *row, const char *list, json_t *item);

/* Adds to a number of a row. */
static inline void compiles_add(json_t *row, const char *field, int64_t n)
{
	if (row)
		json_object_set_new(
		    row, field, json_integer(json_integer_value(json_object_get(row, field)) + n));
}

/* The same in an object of a row, as "phases": {name: n}; up to COMPILES_LIST_MAX names. */
void compiles_add_in(json_t *row, const char *object, const char *name, double n);

/* A break that the log states, in the compilation `row` (NULL: of none). */
void compiles_break(struct compiles *c, json_t *row, const struct torch_break *b);

/* The rest once all is read: breaks that restart_reasons alone tell, what became of each
 * compilation. */
void compiles_settle(struct compiles *c);

/* [{"frame", "reason", "reasons", "compile", "process"}].  New. */
json_t *compiles_recompiles(const struct compiles *c);

#endif
