/* server/api/texts.c -- the texts of an imported log, listed, read and searched out of the store
 * (profiler/import/artifacts.h has their form). */
#include "server/api/texts.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/clock.h"
#include "fusion/base/vec.h"
#include "profiler/timeline/timeline.h"

enum {
	FIND_MOST = 200,  /* texts of one that looks for something */
	LINES_MOST = 20,  /* lines of a text in it */
	LINE_CHARS = 240, /* of a line */
	Q_CHARS = 200,
	INDEX_MOST = 256 << 20, /* bytes of rows that a search holds */
	LIST_BYTES = 64 << 20,  /* of pieces whose rows an answer has */
};
static const int64_t FIND_NS = 3 * 1000000000LL;
static const int64_t FAR = INT64_C(1) << 41; /* no byte of a text lies there */

/* ---- blocks, as they come out of the store; a stranger may have posted them ---- */

/* What a block of texts or of their index holds, into *out, which is emptied first. */
static bool unpack(const struct timeline_row *row, struct buf *out, struct err *err)
{
	char name[TIMELINE_FILE_NAME_CHARS + 1];
	struct timeline_block b;

	buf_clear(out);
	return timeline_block_read(row->data, row->len, &b, err) &&
	       timeline_file_read(&b, name, out, err);
}

/* The same of a block of texts, whose place is a stranger's too. */
static bool unpack_texts(const struct timeline_row *row, struct buf *out, struct err *err)
{
	if (row->t0_ns < 0 || row->t0_ns >= FAR)
		return err_set(err, ERR_TIMELINE,
			       "the run's texts are damaged: no byte lies there");
	return unpack(row, out, err);
}

static json_t *rows_of(const struct buf *piece, struct err *err)
{
	json_t *rows = json_loadb(piece->data ? piece->data : "", piece->len, 0, NULL);

	if (json_is_array(rows))
		return rows;
	json_decref(rows);
	err_set(err, ERR_TIMELINE, "the index of the run's texts is damaged");
	return NULL;
}

static int64_t number_in(const json_t *row, const char *key, int64_t where_none)
{
	const json_t *n = json_object_get(row, key);

	return json_is_integer(n) ? json_integer_value(n) : where_none;
}

static const char *text_in(const json_t *row, const char *key)
{
	const char *text = json_string_value(json_object_get(row, key));

	return text ? text : "";
}

/* ---- which rows ---- */

static bool passes(const struct texts_asked *f, const json_t *row)
{
	const char *compile = text_in(row, "compile");

	return json_is_object(row) &&
	       (!f->compile || strcmp(*compile ? compile : "none", f->compile) == 0) &&
	       (!f->kind || strcmp(text_in(row, "kind"), f->kind) == 0) &&
	       (!f->group || strcmp(text_in(row, "group"), f->group) == 0) &&
	       (f->process < 0 || number_in(row, "process", 0) == f->process) &&
	       (f->resets < 0 || number_in(row, "resets", 0) == f->resets);
}

/* ---- the list ---- */

struct text_list {
	const struct texts_asked *asked;
	int64_t from, limit, total;
	json_t *rows;
	size_t bytes; /* of the pieces that rows were taken from */
	struct buf piece;
};

static bool list_piece(void *self, const struct timeline_row *block, struct err *err)
{
	struct text_list *l = self;
	json_t *rows = unpack(block, &l->piece, err) ? rows_of(&l->piece, err) : NULL, *row;
	size_t i, had = json_array_size(l->rows);

	json_array_foreach(rows, i, row) {
		if (!passes(l->asked, row))
			continue;
		if (l->total >= l->from && l->total < l->from + l->limit)
			json_array_append(l->rows, row);
		l->total++;
	}
	l->bytes += json_array_size(l->rows) > had ? l->piece.len : 0;
	if (l->bytes > LIST_BYTES) /* the rest is another page */
		l->limit = (int64_t)json_array_size(l->rows);
	json_decref(rows);
	return rows != NULL;
}

static json_t *list(struct db *db, int64_t run, struct text_list *l, struct err *err)
{
	int64_t end;
	bool ok;

	l->rows = json_array();
	ok = db_timeline_each(db, run, BLOCKS_ALL(TIMELINE_INDEX), list_piece, l, err);
	end = l->from + l->limit;
	buf_finish(&l->piece);
	if (ok)
		return json_pack("{s:o, s:I, s:o}", "artifacts", l->rows, "total",
				 (json_int_t)l->total, "next",
				 end < l->total ? json_integer(end) : json_null());
	json_decref(l->rows);
	return NULL;
}

/* ---- what has q= ---- */

struct index_piece {
	char *text; /* JSON of rows */
	size_t len;
};

/* Goes through index and texts side by side: both are in the order of the texts. */
struct text_hunt {
	const struct texts_asked *asked;
	const char *q;
	size_t q_len;
	int64_t until_ns;
	bool cut; /* its time was up, or there are too many */
	VEC(struct index_piece) pieces;
	size_t held_bytes; /* of them */
	size_t piece, at;  /* the row that is next */
	json_t *rows;      /* of the piece; NULL: it is not read yet */
	struct buf block, text, lower;
	int64_t looked_at, lines; /* texts, lines that have it */
	json_t *found;
};

static bool keep_piece(void *self, const struct timeline_row *block, struct err *err)
{
	struct text_hunt *h = self;
	struct index_piece p;

	if (!unpack(block, &h->block, err))
		return false;
	h->held_bytes += h->block.len;
	if (h->held_bytes > INDEX_MOST)
		return err_set(err, ERR_TOO_LARGE,
			       "the index of this run's texts has more than %d MiB; it is not "
			       "searched",
			       INDEX_MOST >> 20);
	p = (struct index_piece){ .len = h->block.len };
	p.text = malloc(p.len + 1);
	if (p.text)
		memcpy(p.text, h->block.data, p.len);
	if (p.text && VEC_PUSH(&h->pieces, p))
		return true;
	free(p.text);
	return err_set(err, ERR_MEMORY, "out of memory for the index of texts");
}

/* The row that is next; NULL after the last, or with an error. */
static json_t *next_row(struct text_hunt *h, struct err *err)
{
	while (h->piece < h->pieces.len) {
		const struct index_piece *p = &h->pieces.at[h->piece];
		const struct buf text = { .data = p->text, .len = p->len };

		if (!h->rows)
			h->rows = rows_of(&text, err);
		if (!h->rows)
			return NULL;
		if (h->at < json_array_size(h->rows))
			return json_array_get(h->rows, h->at);
		json_decref(h->rows);
		h->rows = NULL;
		h->at = 0;
		h->piece++;
	}
	return NULL;
}

static void lower_into(struct buf *out, const char *text, size_t len)
{
	buf_clear(out);
	buf_add(out, text, len);
	for (size_t i = 0; i < out->len; i++)
		out->data[i] = (char)tolower((unsigned char)out->data[i]);
}

/* A piece of a text as JSON, whatever its bytes. */
static json_t *excerpt(const char *text, size_t len)
{
	struct buf clean = { 0 };
	json_t *json = json_stringn(text, len);

	if (json)
		return json;
	for (size_t i = 0; i < len; i++)
		buf_putc(&clean, (signed char)text[i] < 0 ? '?' : text[i]);
	json = json_stringn(clean.data, clean.len);
	buf_finish(&clean);
	return json;
}

/* The lines of the text that have it: {"line" from 1, "column" from 1 of bytes, "text": the line
 * around it}; new. */
static json_t *lines_with(struct text_hunt *h, int64_t *n)
{
	const char *text = h->text.data, *lower, *end, *at, *line;
	json_t *lines = json_array();
	int64_t number = 1;

	*n = 0;
	lower_into(&h->lower, text, h->text.len);
	lower = line = h->lower.data;
	end = lower + h->lower.len;
	for (at = lower; at && (at = memmem(at, (size_t)(end - at), h->q, h->q_len));) {
		const char *newline;

		while ((newline = memchr(line, '\n', (size_t)(at - line)))) {
			line = newline + 1;
			number++;
		}
		newline = memchr(at, '\n', (size_t)(end - at));
		if (++*n <= LINES_MOST) {
			size_t column = (size_t)(at - line);
			size_t from = column > LINE_CHARS / 3 ? column - LINE_CHARS / 3 : 0;
			size_t len = (size_t)((newline ? newline : end) - line) - from;

			json_array_append_new(
			    lines, json_pack("{s:I, s:I, s:o}", "line", (json_int_t)number,
					     "column", (json_int_t)column + 1, "text",
					     excerpt(text + (line - lower) + from,
						     len < LINE_CHARS ? len : LINE_CHARS)));
		}
		at = newline ? newline + 1 : NULL; /* one of a line counts */
	}
	return lines;
}

/* A text that is whole. */
static void examine(struct text_hunt *h, json_t *row)
{
	static const char *const keys[] = { "kind", "name", "part", "compile", "what" };
	bool named = false;
	int64_t n = 0;
	json_t *lines;

	h->looked_at++;
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		named = named || strcasestr(text_in(row, keys[i]), h->q);
	lines = h->text.len ? lines_with(h, &n) : json_array();
	h->lines += n;
	if (n || named) {
		json_object_set(row, "found", lines);
		json_object_set_new(row, "matches", json_integer(n));
		json_array_append(h->found, row);
	}
	json_decref(lines);
	h->cut = h->cut || json_array_size(h->found) >= FIND_MOST || clock_ns() > h->until_ns;
}

/* Rows of texts that end where these bytes, from place `at` on, do, or before. */
static bool hunt_in(struct text_hunt *h, int64_t at, const char *bytes, size_t len, struct err *err)
{
	int64_t end = at + (int64_t)len;
	json_t *row;

	while (!h->cut && (row = next_row(h, err))) {
		int64_t from = number_in(row, "at", -1), n = number_in(row, "bytes", 0), have, part;
		bool wanted = passes(h->asked, row);

		if (from >= 0 && from < FAR && n > 0 && n <= TEXTS_MOST_BYTES && wanted) {
			have = from + (int64_t)h->text.len;
			if (have >= end)
				return true;
			part = from + n < end ? from + n : end;
			wanted = have >= at; /* else a block is missing */
			if (wanted)
				buf_add(&h->text, bytes + (have - at), (size_t)(part - have));
			if (wanted && part < from + n)
				return true;
		}
		if (wanted)
			examine(h, row);
		buf_clear(&h->text);
		h->at++;
	}
	return err->code == ERR_NONE && !h->cut;
}

static bool hunt_block(void *self, const struct timeline_row *row, struct err *err)
{
	struct text_hunt *h = self;

	return unpack_texts(row, &h->block, err) &&
	       hunt_in(h, row->t0_ns, h->block.data ? h->block.data : "", h->block.len, err);
}

static void hunt_finish(struct text_hunt *h)
{
	for (size_t i = 0; i < h->pieces.len; i++)
		free(h->pieces.at[i].text);
	VEC_FREE(&h->pieces);
	json_decref(h->rows);
	buf_finish(&h->block);
	buf_finish(&h->text);
	buf_finish(&h->lower);
}

static json_t *find(struct db *db, int64_t run, struct text_hunt *h, struct err *err)
{
	json_t *answer = NULL;
	bool ok;

	h->found = json_array();
	h->until_ns = clock_ns() + FIND_NS;
	buf_init(&h->text, 0);
	ok = db_timeline_each(db, run, BLOCKS_ALL(TIMELINE_INDEX), keep_piece, h, err) &&
	     (db_timeline_each(db, run, BLOCKS_ALL(TIMELINE_TEXTS), hunt_block, h, err) || h->cut);
	if (ok && !h->cut) /* empty ones, and those that were cut, after the last */
		ok = hunt_in(h, FAR, "", 0, err) || h->cut;
	if (ok)
		answer = json_pack("{s:O, s:I, s:I, s:I, s:b}", "artifacts", h->found, "total",
				   (json_int_t)json_array_size(h->found), "lines",
				   (json_int_t)h->lines, "looked_at", (json_int_t)h->looked_at,
				   "cut", h->cut);
	json_decref(h->found);
	hunt_finish(h);
	return answer;
}

json_t *texts_list(struct db *db, int64_t run, const struct texts_asked *asked, struct err *err)
{
	struct text_list l = { .asked = asked, .from = asked->from, .limit = asked->limit };
	struct text_hunt h = { .asked = asked };
	struct buf lower = { 0 };
	json_t *answer;

	if (!asked->q || !*asked->q)
		return list(db, run, &l, err);
	if (strlen(asked->q) > Q_CHARS) {
		err_set(err, ERR_BAD_REQUEST, "q= has %zu bytes; at most %d are looked for",
			strlen(asked->q), Q_CHARS);
		return NULL;
	}
	lower_into(&lower, asked->q, strlen(asked->q));
	buf_add(&lower, "", 1);
	h.q = lower.failed ? asked->q : lower.data;
	h.q_len = strlen(asked->q);
	answer = find(db, run, &h, err);
	buf_finish(&lower);
	return answer;
}

/* ---- one text ---- */

struct text_read {
	int64_t n;    /* of the row */
	json_t *row;  /* new */
	int64_t at;   /* of the byte that is next */
	int64_t left; /* bytes */
	struct buf block, out;
};

static bool find_row(void *self, const struct timeline_row *block, struct err *err)
{
	struct text_read *r = self;
	json_t *rows = unpack(block, &r->block, err) ? rows_of(&r->block, err) : NULL, *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		if (!r->row && number_in(row, "n", -1) == r->n)
			r->row = json_incref(row);
	}
	json_decref(rows);
	return rows != NULL;
}

static bool read_piece(void *self, const struct timeline_row *row, struct err *err)
{
	struct text_read *r = self;
	int64_t from, n;

	if (!unpack_texts(row, &r->block, err))
		return false;
	from = r->at - row->t0_ns;
	n = (int64_t)r->block.len - from;
	if (from < 0 || n <= 0)
		return true;
	n = n < r->left ? n : r->left;
	buf_add(&r->out, r->block.data + from, (size_t)n);
	r->at += n;
	r->left -= n;
	return !r->out.failed || err_set(err, ERR_MEMORY, "out of memory for a text");
}

static bool read_part(struct db *db, int64_t run, struct text_read *r,
		      const struct text_asked *asked, struct err *err)
{
	struct block_range here = { TIMELINE_INDEX, r->n, r->n };
	int64_t at, bytes;

	if (!db_timeline_each(db, run, here, find_row, r, err))
		return false;
	if (!r->row)
		return err_set(err, ERR_NOT_FOUND, "run %lld has no text %lld", (long long)run,
			       (long long)r->n);
	at = number_in(r->row, "at", -1);
	bytes = number_in(r->row, "bytes", 0);
	if (at < 0 || at >= FAR || bytes < 0 || bytes > TEXTS_MOST_BYTES)
		return err_set(err, ERR_NOT_FOUND,
			       "text %lld of run %lld was not kept: the log has more than an "
			       "import keeps",
			       (long long)r->n, (long long)run);
	if (asked->from > bytes)
		return err_set(err, ERR_BAD_REQUEST, "at=%lld: text %lld has %lld bytes",
			       (long long)asked->from, (long long)r->n, (long long)bytes);
	r->at = at + asked->from;
	r->left = asked->most < bytes - asked->from ? asked->most : bytes - asked->from;
	here = (struct block_range){ TIMELINE_TEXTS, r->at, r->at + r->left - 1 };
	if (r->left > 0 && !db_timeline_each(db, run, here, read_piece, r, err))
		return false;
	return r->left == 0 ||
	       err_set(err, ERR_TIMELINE, "a part of text %lld is missing", (long long)r->n);
}

bool text_of_run(struct db *db, int64_t run, const struct text_asked *asked, struct buf *out,
		 struct err *err)
{
	struct text_read r = { .n = asked->n };
	bool ok = read_part(db, run, &r, asked, err);

	buf_add(&r.out, "", 0);
	json_decref(r.row);
	buf_finish(&r.block);
	*out = r.out;
	return ok;
}
