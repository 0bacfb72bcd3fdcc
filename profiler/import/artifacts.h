/* profiler/import/artifacts.h -- private: what the records of a log hold, kept as texts.
 *
 * A record with a payload is a text of its own: a graph, generated code, guards.  Records
 * without one (and events, of which there are very many) are lines of a text for each kind and
 * compilation, JSON each.  So whatever a log says can be read and searched where the log is gone.
 *
 * Texts leave in blocks of the timeline, of which none grows with the log:
 *
 *	TIMELINE_TEXTS   the next bytes of all texts, one after the other; t0 and t1 of the block
 *	                 are the places of its first and last byte
 *	TIMELINE_INDEX   a JSON list of rows, a row a text; t0 and t1: the numbers of the first and
 *	                 last.  A row:
 *		n        its number, from 1
 *		process  whose it is: its place among the import's processes; file likewise
 *		compile  "0/1", with resets and attempt where they are not 0; absent: of none
 *		kind     of the record; of the kind "artifact" the name
 *		name     what tells it from others of its kind; absent: nothing does
 *		part     of the compilation: a subgraph, or a piece that vLLM compiles apart;
 *			 absent: of all of it
 *		group    of artifacts.def, and what
 *		line     of the log, where it begins: the order of the log
 *		records  of a text of lines: how many; absent: it is a payload
 *		said     what the record says beside its payload; absent: nothing
 *		bytes    of the text
 *		at       the place of its first byte; absent: over what an import keeps, cut
 */
#ifndef PROFILER_IMPORT_ARTIFACTS_H
#define PROFILER_IMPORT_ARTIFACTS_H

#include <jansson.h>
#include <stdint.h>

#include "fusion/base/buf.h"
#include "fusion/base/err.h"
#include "fusion/base/vec.h"
#include "profiler/import/ledger.h"
#include "profiler/timeline/timeline.h"

enum {
	ARTIFACTS_MAX = 300000,             /* texts */
	ARTIFACTS_BYTES = 1 << 30,          /* of all, as they are */
	ARTIFACTS_STORED_BYTES = 128 << 20, /* of all, as they are stored */
	ARTIFACTS_PIECE_BYTES = 1 << 20,    /* of a block */
	ARTIFACTS_FILE_BYTES = 128 << 20,   /* of the files of a recording that come back */
};

/* What metadata of a trace of our own is called that has such a block in its args: "block", by
 * base64; texts come before their index. */
#define ARTIFACTS_METADATA "breakeven_texts"

/* What is to be kept; texts and JSON are borrowed. */
struct artifact {
	const char *kind;     /* of the record */
	const char *compile;  /* "": of no compilation */
	const char *part;     /* of it, beside the subgraph that the record names; NULL, "": none */
	const json_t *record; /* an object: the kind's value, and the keys around it */
	const char *payload;  /* NULL: none */
	size_t payload_len;
	int process, file;
	int64_t resets, line;
};

/* Lines that are gathered of one kind and compilation. */
struct artifact_lines {
	json_t *row;
	struct buf text;
	int64_t records;
};

/* Zeroed is empty. */
struct artifacts {
	struct buf text, rows; /* that have not left; rows: without the brackets */
	VEC(struct artifact_lines) open;
	int64_t n, first_row;             /* all; those before `rows` */
	int64_t bytes, stored_bytes, cut; /* kept; of blocks; texts that were cut */
	int64_t row_end;    /* of an export's rows: where the text of the last one ends */
	int64_t file_bytes; /* of an export's files */
	size_t open_bytes;
	json_t *counts; /* {kind: how many} */
};

/* Keeps one.  False with MEMORY, or an error of the writer's sink.  `writer` NULL: nobody wants
 * the texts, they are counted. */
bool artifacts_keep(struct artifacts *a, struct timeline_writer *writer,
		    const struct artifact *what, struct err *err);

/* A block of an export, in the order in which they were kept, texts before their index: what it
 * holds is checked, bounded as that of a log, and kept again; so is a piece of a file that was
 * recorded (TIMELINE_FILE).  What is no such block, or lies out
 * of place, is counted in the ledger.  False with MEMORY, or an error of the writer's sink. */
bool artifacts_restore(struct artifacts *a, struct timeline_writer *writer, const struct buf *block,
		       struct ledger *ledger, struct err *err);

/* Hands out the rest, and frees all but `counts`; `writer` NULL: frees alone. */
bool artifacts_end(struct artifacts *a, struct timeline_writer *writer, struct err *err);

#endif
