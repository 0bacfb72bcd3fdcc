/* profiler/import/names.c -- names that come again, each once, with its totals. */
#include "profiler/import/names.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/hash.h"

enum { FIRST_SLOTS = 1024 };

void names_finish(struct names *n)
{
	arena_finish(&n->arena);
	VEC_FREE(&n->rows);
	free(n->slots);
	*n = (struct names){ 0 };
}

/* The length of the UTF-8 sequence at text; 0: it is none. */
static size_t utf8_length(const unsigned char *text, size_t len)
{
	size_t n = *text < 0x80   ? 1
		   : *text < 0xc2 ? 0
		   : *text < 0xe0 ? 2
		   : *text < 0xf0 ? 3
		   : *text < 0xf5 ? 4
				  : 0;

	if (n == 0 || n > len)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((text[i] & 0xc0) != 0x80)
			return 0;
	if ((*text == 0xe0 && text[1] < 0xa0) || (*text == 0xed && text[1] >= 0xa0) ||
	    (*text == 0xf0 && text[1] < 0x90) || (*text == 0xf4 && text[1] >= 0x90))
		return 0;
	return n;
}

json_t *json_of_text(const char *text, size_t len, bool *bad)
{
	json_t *json = json_stringn(text, len);
	struct buf mended;

	if (json)
		return json;
	*bad = true;
	buf_init(&mended, 0);
	for (size_t at = 0, n; at < len; at += n ? n : 1) {
		n = utf8_length((const unsigned char *)text + at, len - at);
		if (n)
			buf_add(&mended, text + at, n);
		else
			buf_puts(&mended, "\xef\xbf\xbd");
	}
	json = mended.failed ? NULL : json_stringn(mended.data ? mended.data : "", mended.len);
	buf_finish(&mended);
	return json ? json : json_string("?");
}

static bool grow(struct names *n)
{
	size_t slots = n->n_slots ? 2 * n->n_slots : FIRST_SLOTS;
	uint32_t *grown = calloc(slots, sizeof(*grown));

	if (!grown)
		return false;
	for (size_t i = 0; i < n->rows.len; i++) {
		size_t at = n->rows.at[i].hash & (slots - 1);

		while (grown[at])
			at = (at + 1) & (slots - 1);
		grown[at] = (uint32_t)i + 1;
	}
	free(n->slots);
	n->slots = grown;
	n->n_slots = slots;
	return true;
}

static struct name_total *add(struct names *n, struct timeline_writer *writer, size_t slot,
			      struct name_total row, struct ledger *ledger)
{
	size_t shown = row.len > TIMELINE_NAME_CHARS ? TIMELINE_NAME_CHARS : row.len;
	char *copy = arena_strndup(&n->arena, row.text, row.len);
	bool bad = false;

	if (!copy)
		return &n->others[row.group];
	while (shown > 0 && shown < row.len && (copy[shown] & 0xc0) == 0x80)
		shown--; /* not within a character */
	row.text = copy;
	if (writer) {
		json_t *text = json_of_text(copy, shown, &bad);

		ledger->n[LEDGER_BAD_UTF8] += bad;
		row.timeline = timeline_writer_name(
		    writer, json_pack("{s:o, s:s*}", "name", text, "group",
				      row.group == GROUP_OTHER ? "other" : NULL));
	}
	if (!VEC_PUSH(&n->rows, row))
		return &n->others[row.group];
	n->slots[slot] = (uint32_t)n->rows.len;
	return &n->rows.at[n->rows.len - 1];
}

struct name_total *names_find(struct names *n, struct timeline_writer *writer,
			      enum name_group group, const char *text, size_t len,
			      struct ledger *ledger)
{
	uint64_t hash = hash_bytes(text, len, group);
	size_t at;

	if (2 * n->rows.len >= n->n_slots && !grow(n))
		return &n->others[group];
	for (at = hash & (n->n_slots - 1); n->slots[at]; at = (at + 1) & (n->n_slots - 1)) {
		struct name_total *row = &n->rows.at[n->slots[at] - 1];

		if (row->hash == hash && row->len == len && row->group == group &&
		    memcmp(row->text, text, len) == 0)
			return row;
	}
	if (n->rows.len + 1 >= TIMELINE_MAX_NAMES || n->arena.used_bytes + len > NAMES_MAX_BYTES) {
		ledger->n[LEDGER_NAMES_FULL]++;
		return &n->others[group];
	}
	return add(n, writer, at,
		   (struct name_total){ .group = group, .text = text, .len = len, .hash = hash },
		   ledger);
}

static int by_total(const void *a, const void *b)
{
	const struct name_total *x = *(struct name_total *const *)a,
				*y = *(struct name_total *const *)b;

	if (x->total_ns != y->total_ns)
		return x->total_ns > y->total_ns ? -1 : 1;
	return strcmp(x->text, y->text);
}

json_t *names_json(const struct names *n, enum name_group group)
{
	VEC(const struct name_total *) rows = { 0 };
	struct name_total all = n->others[group];
	json_t *list = json_array();
	bool bad = false;

	for (size_t i = 0; i < n->rows.len; i++) {
		const struct name_total *row = &n->rows.at[i];

		if (row->group != group || row->count == 0)
			continue;
		all.count += row->count;
		all.total_ns += row->total_ns;
		all.bytes += row->bytes;
		if (!VEC_PUSH(&rows, row))
			break;
	}
	if (rows.len)
		qsort(rows.at, rows.len, sizeof(*rows.at), by_total);
	for (size_t i = 0; i < rows.len; i++)
		json_array_append_new(
		    list, json_pack("{s:o, s:I, s:f}", "name",
				    json_of_text(rows.at[i]->text, rows.at[i]->len, &bad), "count",
				    (json_int_t)rows.at[i]->count, "total_us",
				    (double)rows.at[i]->total_ns / 1e3));
	if (n->others[group].count)
		json_array_append_new(list,
				      json_pack("{s:s, s:I, s:f}", "name", "others", "count",
						(json_int_t)n->others[group].count, "total_us",
						(double)n->others[group].total_ns / 1e3));
	VEC_FREE(&rows);
	return json_pack("{s:I, s:f, s:I, s:o}", "count", (json_int_t)all.count, "total_us",
			 (double)all.total_ns / 1e3, "bytes", (json_int_t)all.bytes, "by_name",
			 list);
}
