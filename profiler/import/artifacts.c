/* profiler/import/artifacts.c -- what the records of a log hold, kept as texts. */
#include "profiler/import/artifacts.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/fields/json.h"
#include "profiler/import/model.h"

enum {
	MOST_OPEN = 1024,          /* texts of lines that are gathered at once */
	MOST_OPEN_BYTES = 8 << 20, /* of all of them */
	MOST_SAID_BYTES = 1024,    /* beside a payload, in the row; what is longer is a line */
	MOST_KINDS = 1000,
	MOST_NAME_BYTES = 200,      /* of a kind or a name, in rows */
	MOST_TEXT_BYTES = 64 << 20, /* of a payload with its blanks */
	MOST_DEPTH = 64,            /* of JSON that is indented */
	MOST_COMPILE_BYTES = 63,    /* "0/1" */
};

/* ---- what kinds are ---- */

struct artifact_kind {
	const char *pattern, *group, *what;
};

static const struct artifact_kind *kind_of(const char *name)
{
	static const struct artifact_kind kinds[] = {
#define ARTIFACT(kind, group, what) { kind, #group, what },
#include "profiler/import/artifacts.def"
#undef ARTIFACT
	};
	static const struct artifact_kind other = { "", "other", "" };
	size_t n = sizeof(kinds) / sizeof(kinds[0]);

	for (size_t i = 0; i < n; i++)
		if (strcmp(kinds[i].pattern, name) == 0)
			return &kinds[i];
	for (size_t i = 0; i < n; i++)
		if (strchr(kinds[i].pattern, '*') && fnmatch(kinds[i].pattern, name, 0) == 0)
			return &kinds[i];
	return &other;
}

/* ---- blocks ---- */

static bool put_piece(struct artifacts *a, struct timeline_writer *writer,
		      struct timeline_piece piece, struct err *err)
{
	bool ok = timeline_writer_file(writer, &piece, err);

	a->stored_bytes += (int64_t)piece.stored_bytes;
	return ok;
}

/* The first `n` bytes of what has not left; they end at the place a->bytes - what stays. */
static bool put_text(struct artifacts *a, struct timeline_writer *writer, size_t n, struct err *err)
{
	int64_t at = a->bytes - (int64_t)a->text.len;
	bool ok = n == 0 || put_piece(a, writer,
				      (struct timeline_piece){ .kind = TIMELINE_TEXTS,
							       .name = "",
							       .bytes = a->text.data,
							       .len = n,
							       .first = at,
							       .last = at + (int64_t)n - 1 },
				      err);

	if (n > 0)
		memmove(a->text.data, a->text.data + n, a->text.len - n);
	a->text.len -= n;
	return ok;
}

static bool put_rows(struct artifacts *a, struct timeline_writer *writer, struct err *err)
{
	bool ok = true;

	if (a->rows.len > 0) {
		buf_putc(&a->rows, ']');
		ok = a->rows.failed
			 ? err_set(err, ERR_MEMORY, "out of memory for the texts of a log")
			 : put_piece(a, writer,
				     (struct timeline_piece){ .kind = TIMELINE_INDEX,
							      .name = "",
							      .bytes = a->rows.data,
							      .len = a->rows.len,
							      .first = a->first_row + 1,
							      .last = a->n },
				     err);
	}
	buf_clear(&a->rows);
	a->first_row = a->n;
	return ok;
}

/* ---- JSON of a payload, indented: its tokens stay as they were written ---- */

static void new_line(struct buf *out, int depth)
{
	buf_putc(out, '\n');
	for (int i = 0; i < depth && i < MOST_DEPTH; i++)
		buf_puts(out, "  ");
}

/* The end of the text in quotes that begins at `at`. */
static size_t quoted_end(const char *text, size_t len, size_t at)
{
	for (at++; at < len && text[at] != '"'; at++)
		if (text[at] == '\\')
			at++;
	return at < len ? at + 1 : len;
}

static size_t skip_blanks(const char *text, size_t len, size_t at)
{
	while (at < len && isspace((unsigned char)text[at]))
		at++;
	return at;
}

static void indent_json(const char *text, size_t len, struct buf *out)
{
	int depth = 0;

	for (size_t at = skip_blanks(text, len, 0), end; at < len;
	     at = skip_blanks(text, len, end)) {
		char c = text[at];

		end = c == '"' ? quoted_end(text, len, at) : at + 1;
		if ((c == '}' || c == ']') && --depth >= 0)
			new_line(out, depth);
		buf_add(out, text + at, end - at);
		if (c == '{' || c == '[') {
			size_t next = skip_blanks(text, len, end);

			if (next < len && text[next] == (c == '{' ? '}' : ']')) { /* empty */
				buf_putc(out, text[next]);
				end = next + 1;
			} else {
				new_line(out, ++depth);
			}
		} else if (c == ',') {
			new_line(out, depth > 0 ? depth : 0);
		} else if (c == ':') {
			buf_putc(out, ' ');
		}
		depth = depth < 0 ? 0 : depth;
	}
}

/* ---- texts ---- */

/* A row, which is taken over; NULL: no memory. */
static bool add_row(struct artifacts *a, struct timeline_writer *writer, json_t *row,
		    struct err *err)
{
	char *line;

	json_object_set_new(row, "n", json_integer(a->n + 1));
	line = row ? json_dumps(row, JSON_COMPACT) : NULL;
	json_decref(row);
	if (!line)
		return err_set(err, ERR_MEMORY, "out of memory for the texts of a log");
	buf_putc(&a->rows, a->rows.len ? ',' : '[');
	buf_puts(&a->rows, line);
	free(line);
	a->n++;
	return a->rows.len < ARTIFACTS_PIECE_BYTES || put_rows(a, writer, err);
}

/* Bytes of texts, which go to the place a->bytes. */
static bool add_bytes(struct artifacts *a, struct timeline_writer *writer, const struct buf *text,
		      struct err *err)
{
	bool ok = true;

	for (size_t at = 0, n; ok && at < text->len; at += n) {
		n = ARTIFACTS_PIECE_BYTES - a->text.len;
		n = n < text->len - at ? n : text->len - at;
		buf_add(&a->text, text->data + at, n);
		a->bytes += (int64_t)n;
		ok = !a->text.failed ||
		     err_set(err, ERR_MEMORY, "out of memory for the texts of a log");
		if (ok && a->text.len == ARTIFACTS_PIECE_BYTES)
			ok = put_text(a, writer, a->text.len, err);
	}
	return ok;
}

/* Adds a text with its row, which is taken over. */
static bool add(struct artifacts *a, struct timeline_writer *writer, json_t *row,
		const struct buf *text, struct err *err)
{
	bool fits = a->bytes + (int64_t)text->len <= ARTIFACTS_BYTES &&
		    a->stored_bytes <= ARTIFACTS_STORED_BYTES;

	if (fits)
		json_object_set_new(row, "at", json_integer(a->bytes));
	else
		a->cut++;
	json_object_set_new(row, "bytes", json_integer((json_int_t)text->len));
	if (text->failed) {
		json_decref(row);
		row = NULL;
	}
	return add_row(a, writer, row, err) && (!fits || add_bytes(a, writer, text, err));
}

/* All lines that were gathered, each kind and compilation a text. */
static bool add_lines(struct artifacts *a, struct timeline_writer *writer, struct err *err)
{
	bool ok = true;

	for (size_t i = 0; i < a->open.len; i++) {
		struct artifact_lines *o = &a->open.at[i];

		if (ok && writer) {
			json_object_set_new(o->row, "records", json_integer(o->records));
			ok = add(a, writer, json_incref(o->row), &o->text, err);
		}
		json_decref(o->row);
		buf_finish(&o->text);
	}
	a->open.len = 0;
	a->open_bytes = 0;
	return ok;
}

/* A text of the log as it stands in rows; new. */
static json_t *clipped(const char *text)
{
	size_t len = strlen(text);
	bool bad = false;

	return json_of_text(text, len < MOST_NAME_BYTES ? len : MOST_NAME_BYTES, &bad);
}

/* What tells one from others of its kind: a name, or the file that it was written to. */
static const char *name_in(const json_t *said)
{
	const char *name = json_string_value(json_object_get(said, "name"));
	const char *file = json_string_value(json_object_get(said, "filename"));
	const char *slash = file ? strrchr(file, '/') : NULL;

	return name ? name : slash ? slash + 1 : file;
}

/* The kind that a text is listed under: of the kind "artifact" the name is one. */
static const char *kind_in(const struct artifact *what, const json_t *said)
{
	const char *name = strcmp(what->kind, "artifact") == 0 ? name_in(said) : NULL;

	return name ? name : what->kind;
}

/* The part of the compilation that it is of; new, NULL: all of it. */
static json_t *part_of(const struct artifact *what)
{
	const char *subgraph = json_text(what->record, "subgraph_name");
	const char *part = what->part ? what->part : "";
	char text[MOST_NAME_BYTES + 1];

	snprintf(text, sizeof(text), "%.98s%s%.98s", part, *part && *subgraph ? ", " : "",
		 subgraph);
	return *text ? clipped(text) : NULL;
}

/* A text's row, without its number and its place; new. */
static json_t *row_of(const struct artifact *what, const json_t *said)
{
	const char *kind = kind_in(what, said), *name = name_in(said);
	const struct artifact_kind *known = kind_of(kind);
	json_t *row = json_pack("{s:i, s:i, s:o, s:s, s:s, s:I}", "process", what->process, "file",
				what->file, "kind", clipped(kind), "group", known->group, "what",
				known->what, "line", (json_int_t)what->line);
	json_t *attempt = json_object_get(what->record, "attempt"), *part = part_of(what);

	if (row && part)
		json_object_set(row, "part", part);
	json_decref(part);
	if (row && name && kind != name)
		json_object_set_new(row, "name", clipped(name));

	if (row && what->compile[0])
		json_object_set_new(row, "compile", json_string(what->compile));
	if (row && what->resets)
		json_object_set_new(row, "resets", json_integer(what->resets));
	if (row && json_integer_value(attempt))
		json_object_set(row, "attempt", attempt);
	return row;
}

static bool is_same(const json_t *row, const json_t *other, const char *key)
{
	const json_t *a = json_object_get(row, key), *b = json_object_get(other, key);

	return a == b || (a && b && json_equal(a, b));
}

/* The lines of the row's kind and compilation; takes the row over.  NULL: no memory. */
static struct artifact_lines *lines_of(struct artifacts *a, json_t *row)
{
	struct artifact_lines fresh = { .row = row };

	json_object_del(row, "name");
	json_object_del(row, "part");
	for (size_t i = a->open.len; i > 0; i--) {
		struct artifact_lines *o = &a->open.at[i - 1];

		if (is_same(o->row, row, "kind") && is_same(o->row, row, "compile") &&
		    is_same(o->row, row, "resets") && is_same(o->row, row, "process")) {
			json_decref(row);
			return o;
		}
	}
	if (row && VEC_PUSH(&a->open, fresh))
		return &a->open.at[a->open.len - 1];
	json_decref(row);
	return NULL;
}

/* A line is what the kind says, with the stack where the record has one beside it; an event its
 * payload. */
static bool keep_line(struct artifacts *a, struct timeline_writer *writer,
		      const struct artifact *what, const json_t *said, struct err *err)
{
	struct artifact_lines *lines;
	const json_t *stack = json_object_get(what->record, "stack");
	json_t *whole = json_is_object(said) ? json_copy((json_t *)said)
					     : json_incref((json_t *)said);
	char *text = NULL;
	size_t before;

	if (stack && json_is_object(whole) && !json_object_get(whole, "stack"))
		json_object_set(whole, "stack", (json_t *)stack);
	if (!what->payload || json_object_size(whole) > 0)
		text = json_dumps(whole, JSON_COMPACT | JSON_ENCODE_ANY);
	json_decref(whole);
	if ((a->open.len >= MOST_OPEN || a->open_bytes >= MOST_OPEN_BYTES) &&
	    !add_lines(a, writer, err)) {
		free(text);
		return false;
	}
	lines = lines_of(a, row_of(what, said));
	if (!lines || (!text && !what->payload)) {
		free(text);
		return err_set(err, ERR_MEMORY, "out of memory for the texts of a log");
	}
	before = lines->text.len;
	if (text) {
		buf_puts(&lines->text, text);
	} else {
		for (size_t i = 0; i < what->payload_len; i++)
			if (what->payload[i] != '\n')
				buf_putc(&lines->text, what->payload[i]);
	}
	buf_putc(&lines->text, '\n');
	lines->records++;
	a->open_bytes += lines->text.len - before;
	free(text);
	return true;
}

/* What a record says beside its payload and is not in its row; new, NULL: nothing. */
static json_t *beside_payload(const struct artifact *what, const json_t *said)
{
	json_t *rest = json_is_object(said) ? json_copy((json_t *)said) : NULL;

	if (strcmp(what->kind, "artifact") == 0) {
		json_object_del(rest, "name");
		json_object_del(rest, "encoding");
	}
	if (json_object_size(rest) > 0)
		return rest;
	json_decref(rest);
	return NULL;
}

static bool keep_payload(struct artifacts *a, struct timeline_writer *writer,
			 const struct artifact *what, const json_t *said, struct err *err)
{
	const char *encoding = json_string_value(json_object_get(said, "encoding"));
	json_t *rest = beside_payload(what, said);
	char *beside = rest ? json_dumps(rest, JSON_COMPACT) : NULL;
	bool is_json = encoding && strcmp(encoding, "json") == 0 && what->payload_len &&
		       strchr("{[", what->payload[0]),
	     ok;
	json_t *row = row_of(what, said);
	struct buf text;

	if (beside && strlen(beside) <= MOST_SAID_BYTES)
		json_object_set(row, "said", rest);
	buf_init(&text, MOST_TEXT_BYTES);
	if (is_json)
		indent_json(what->payload, what->payload_len, &text);
	if (!is_json || text.failed) { /* of a stranger's nesting, blanks may be too many */
		buf_clear(&text);
		buf_add(&text, what->payload, what->payload_len);
	}
	ok = add(a, writer, row, &text, err);
	if (ok && beside && strlen(beside) > MOST_SAID_BYTES) {
		struct artifact alone = *what;

		alone.payload = NULL;
		ok = keep_line(a, writer, &alone, rest, err);
	}
	json_decref(rest);
	buf_finish(&text);
	free(beside);
	return ok;
}

static void count(struct artifacts *a, const char *kind)
{
	json_t *clean = clipped(kind);
	const char *key = json_string_value(clean);
	json_int_t n;

	if (!a->counts)
		a->counts = json_object();
	n = json_integer_value(json_object_get(a->counts, key));
	if (key && (n || json_object_size(a->counts) < MOST_KINDS))
		json_object_set_new(a->counts, key, json_integer(n + 1));
	json_decref(clean);
}

bool artifacts_keep(struct artifacts *a, struct timeline_writer *writer,
		    const struct artifact *what, struct err *err)
{
	const json_t *said = json_object_get(what->record, what->kind);
	bool is_event = strcmp(what->kind, "chromium_event") == 0;

	if (what->payload && !is_event)
		count(a, kind_in(what, said));
	if (!writer)
		return true;
	if (a->n >= ARTIFACTS_MAX) {
		a->cut++;
		return true;
	}
	return what->payload && !is_event ? keep_payload(a, writer, what, said, err)
					  : keep_line(a, writer, what, said, err);
}

/* ---- those of an export ---- */

/* The text under a key, if there is one, into the row, as texts of a log stand there; false: it is
 * no text, or has more than `most` bytes. */
static bool copy_text(json_t *row, const json_t *was, const char *key, size_t most)
{
	const json_t *value = json_object_get(was, key);
	const char *text = json_string_value(value);

	if (text && strlen(text) <= most)
		json_object_set_new(row, key, clipped(text));
	return !value || (text && strlen(text) <= most);
}

/* Without keys that no row has; the others stay in their order. */
static void drop_unknown(json_t *row, const json_t *was)
{
	static const char *const keys[] = { "n",      "process", "file",    "compile",
					    "resets", "kind",    "attempt", "name",
					    "group",  "what",    "line",    "records",
					    "said",   "bytes",   "at",      "part" };
	json_t *value;
	const char *key;

	json_object_foreach((json_t *)was, key, value)
	{
		size_t i = 0, n = sizeof(keys) / sizeof(keys[0]);

		while (i < n && strcmp(keys[i], key) != 0)
			i++;
		if (i == n)
			json_object_del(row, key);
	}
}

/* What a row of an index may say; new, NULL: it is none. */
static json_t *row_again(const json_t *was)
{
	static const struct {
		const char *key;
		json_int_t least, most;
		bool always;
	} numbers[] = {
		{ "process", 0, INT32_MAX, true },  { "file", 0, INT32_MAX, true },
		{ "line", 0, INT64_MAX, true },     { "bytes", 0, MOST_TEXT_BYTES, true },
		{ "resets", 1, INT64_MAX, false },  { "attempt", INT64_MIN, INT64_MAX, false },
		{ "records", 1, INT64_MAX, false },
	};
	const char *kind = json_string_value(json_object_get(was, "kind"));
	const struct artifact_kind *known = kind_of(kind ? kind : "");
	json_t *row = kind ? json_copy((json_t *)was) : NULL, *said = json_object_get(was, "said");
	bool ok = row && copy_text(row, was, "kind", SIZE_MAX) &&
		  copy_text(row, was, "name", SIZE_MAX) && copy_text(row, was, "part", SIZE_MAX) &&
		  copy_text(row, was, "compile", MOST_COMPILE_BYTES) &&
		  (!said || (json_is_object(said) &&
			     json_dumpb(said, NULL, 0, JSON_COMPACT) <= MOST_SAID_BYTES));

	for (size_t i = 0; ok && i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		json_t *value = json_object_get(was, numbers[i].key);
		json_int_t n = json_integer_value(value);

		ok = value ? json_is_integer(value) && n >= numbers[i].least && n <= numbers[i].most
			   : !numbers[i].always;
	}
	if (!ok) {
		json_decref(row);
		return NULL;
	}
	drop_unknown(row, was);
	json_object_set_new(row, "group", json_string(known->group));
	json_object_set_new(row, "what", json_string(known->what));
	return row;
}

/* A row whose text has come: in the order of the texts, and within them. */
static bool restore_row(struct artifacts *a, struct timeline_writer *writer, const json_t *was,
			struct ledger *ledger, struct err *err)
{
	json_t *row = row_again(was), *at = json_object_get(was, "at");
	json_int_t from = json_integer_value(at),
		   n = json_integer_value(json_object_get(row, "bytes"));

	if (!row || (at && (!json_is_integer(at) || from < a->row_end))) {
		ledger->n[LEDGER_BROKEN_TEXTS]++;
		json_decref(row);
		return true;
	}
	if (a->n >= ARTIFACTS_MAX || (at && (from > a->bytes || n > a->bytes - from))) {
		a->cut++;
		at = NULL;
	}
	if (a->n >= ARTIFACTS_MAX) {
		json_decref(row);
		return true;
	}
	if (at)
		a->row_end = from + n;
	else
		json_object_del(row, "at");
	return add_row(a, writer, row, err);
}

static bool restore_rows(struct artifacts *a, struct timeline_writer *writer,
			 const struct buf *piece, struct ledger *ledger, struct err *err)
{
	json_t *rows = json_loadb(piece->data ? piece->data : "", piece->len, 0, NULL), *row;
	bool ok = true;
	size_t i;

	if (!json_is_array(rows))
		ledger->n[LEDGER_BROKEN_TEXTS]++;
	json_array_foreach(rows, i, row) ok = ok && restore_row(a, writer, row, ledger, err);
	json_decref(rows);
	return ok;
}

/* Whether the bytes of a block may lie where it says: after those that came.  Between them some
 * may be missing. */
static bool has_place(const struct artifacts *a, const struct timeline_block *b)
{
	return b->t0_ns >= a->bytes && b->t1_ns >= b->t0_ns &&
	       b->t1_ns - b->t0_ns < TIMELINE_PIECE_BYTES;
}

static bool restore_texts(struct artifacts *a, struct timeline_writer *writer, int64_t at,
			  const struct buf *piece, struct err *err)
{
	if (at > a->bytes && !put_text(a, writer, a->text.len, err))
		return false;
	a->bytes = at;
	return add_bytes(a, writer, piece, err);
}

static bool restore_block(struct artifacts *a, struct timeline_writer *writer,
			  const struct timeline_block *b, struct ledger *ledger, struct err *err)
{
	char name[TIMELINE_FILE_NAME_CHARS + 1];
	struct buf piece = { 0 };
	struct err why = { 0 };
	bool is_texts = b->kind == TIMELINE_TEXTS, ok = timeline_file_read(b, name, &piece, &why);

	if (why.code == ERR_MEMORY) {
		*err = why;
	} else if (!ok || (is_texts && (int64_t)piece.len != b->t1_ns - b->t0_ns + 1)) {
		ledger->n[LEDGER_BROKEN_TEXTS]++;
		ok = true;
	} else {
		ok = is_texts ? restore_texts(a, writer, b->t0_ns, &piece, err)
			      : restore_rows(a, writer, &piece, ledger, err);
	}
	buf_finish(&piece);
	return ok;
}

/* A piece of a file that a recording holds: pieces of one follow each other. */
static bool restore_file(struct artifacts *a, struct timeline_writer *writer,
			 const struct timeline_block *b, struct ledger *ledger, struct err *err)
{
	char name[TIMELINE_FILE_NAME_CHARS + 1];
	struct buf piece = { 0 };
	struct err why = { 0 };
	bool ok = true;

	if (!timeline_file_read(b, name, &piece, &why)) {
		ledger->n[LEDGER_BROKEN_TEXTS]++;
		ok = why.code != ERR_MEMORY;
		if (!ok)
			*err = why;
	} else if (a->file_bytes + (int64_t)piece.len > ARTIFACTS_FILE_BYTES) {
		a->cut++;
	} else {
		a->file_bytes += (int64_t)piece.len;
		ok = timeline_writer_file(writer,
					  &(struct timeline_piece){ .kind = TIMELINE_FILE,
								    .name = name,
								    .bytes = piece.data,
								    .len = piece.len },
					  err);
	}
	buf_finish(&piece);
	return ok;
}

bool artifacts_restore(struct artifacts *a, struct timeline_writer *writer, const struct buf *block,
		       struct ledger *ledger, struct err *err)
{
	struct timeline_block b;

	if (!writer)
		return true;
	if (!timeline_block_read(block->data, block->len, &b, NULL) ||
	    (b.kind != TIMELINE_FILE && b.kind != TIMELINE_INDEX &&
	     (b.kind != TIMELINE_TEXTS || !has_place(a, &b)))) {
		ledger->n[LEDGER_BROKEN_TEXTS]++;
		return true;
	}
	if (b.kind == TIMELINE_FILE)
		return restore_file(a, writer, &b, ledger, err);
	/* Over what is kept: its rows will say so. */
	if (b.kind == TIMELINE_TEXTS &&
	    (b.t1_ns >= ARTIFACTS_BYTES || a->stored_bytes > ARTIFACTS_STORED_BYTES))
		return true;
	return restore_block(a, writer, &b, ledger, err);
}

bool artifacts_end(struct artifacts *a, struct timeline_writer *writer, struct err *err)
{
	bool ok = add_lines(a, writer, err);

	if (writer)
		ok = ok && put_text(a, writer, a->text.len, err) && put_rows(a, writer, err);
	VEC_FREE(&a->open);
	buf_finish(&a->text);
	buf_finish(&a->rows);
	return ok;
}
