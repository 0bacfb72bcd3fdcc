/* profiler/import/artifacts.c -- what the records of a log hold, kept as texts. */
#include "profiler/import/artifacts.h"

#include <ctype.h>
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "profiler/import/model.h"

enum {
	MOST_OPEN = 1024,          /* texts of lines that are gathered at once */
	MOST_OPEN_BYTES = 8 << 20, /* of all of them */
	MOST_SAID_BYTES = 1024,    /* beside a payload, in the row; what is longer is a line */
	MOST_KINDS = 1000,
	MOST_NAME_BYTES = 200,      /* of a kind or a name, in rows */
	MOST_TEXT_BYTES = 64 << 20, /* of a payload with its blanks */
	MOST_DEPTH = 64,            /* of JSON that is indented */
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

/* Adds a text with its row, which is taken over. */
static bool add(struct artifacts *a, struct timeline_writer *writer, json_t *row,
		const struct buf *text, struct err *err)
{
	bool fits = a->bytes + (int64_t)text->len <= ARTIFACTS_BYTES &&
		    a->stored_bytes <= ARTIFACTS_STORED_BYTES,
	     ok = !text->failed && row;
	char *line;

	if (fits)
		json_object_set_new(row, "at", json_integer(a->bytes));
	else
		a->cut++;
	json_object_set_new(row, "n", json_integer(a->n + 1));
	json_object_set_new(row, "bytes", json_integer((json_int_t)text->len));
	line = ok ? json_dumps(row, JSON_COMPACT) : NULL;
	json_decref(row);
	if (!line)
		return err_set(err, ERR_MEMORY, "out of memory for the texts of a log");
	buf_putc(&a->rows, a->rows.len ? ',' : '[');
	buf_puts(&a->rows, line);
	free(line);
	a->n++;
	for (size_t at = 0, n; fits && ok && at < text->len; at += n) {
		n = ARTIFACTS_PIECE_BYTES - a->text.len;
		n = n < text->len - at ? n : text->len - at;
		buf_add(&a->text, text->data + at, n);
		a->bytes += (int64_t)n;
		ok = !a->text.failed ||
		     err_set(err, ERR_MEMORY, "out of memory for the texts of a log");
		if (ok && a->text.len == ARTIFACTS_PIECE_BYTES)
			ok = put_text(a, writer, a->text.len, err);
	}
	return ok && (a->rows.len < ARTIFACTS_PIECE_BYTES || put_rows(a, writer, err));
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

/* A text's row, without its number and its place; new. */
static json_t *row_of(const struct artifact *what, const json_t *said)
{
	const char *kind = kind_in(what, said), *name = name_in(said);
	const struct artifact_kind *known = kind_of(kind);
	json_t *row = json_pack("{s:i, s:i, s:o, s:s, s:s, s:I}", "process", what->process, "file",
				what->file, "kind", clipped(kind), "group", known->group, "what",
				known->what, "line", (json_int_t)what->line);
	json_t *attempt = json_object_get(what->record, "attempt");

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
