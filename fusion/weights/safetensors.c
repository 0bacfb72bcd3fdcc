/* fusion/weights/safetensors.c -- files of Hugging Face's format safetensors.
 *
 * Eight bytes say how long the header is, the header is a JSON object, the tensors follow:
 *
 *	{"__metadata__": {"format": "pt"},
 *	 "up.weight": {"dtype": "F32", "shape": [4, 3], "data_offsets": [0, 48]}}
 *
 * The reader below knows as much of JSON as such a header has.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/base/buf.h"
#include "fusion/base/utf8.h"
#include "fusion/weights/weights.h"

enum { LENGTH_BYTES = 8, MOST_HEADER_BYTES = 100000000 /* the format's own limit */ };

struct header {
	const struct weights_reader *reader;
	struct mapping *file;
	const char *path; /* as the program says it */
	const char *begin, *at, *end;
	size_t data; /* where the tensors begin in the file */
	struct buf text;
	struct err *err;
};

static bool damaged(struct header *h, const char *what)
{
	return err_set(h->err, ERR_OP,
		       "%.200s: byte %zu of the header of this safetensors file: %s", h->path,
		       (size_t)(h->at - h->begin), what);
}

/* ---- JSON ---- */

static void skip_blanks(struct header *h)
{
	while (h->at < h->end &&
	       (*h->at == ' ' || *h->at == '\t' || *h->at == '\n' || *h->at == '\r'))
		h->at++;
}

static bool take(struct header *h, char c)
{
	skip_blanks(h);
	if (h->at >= h->end || *h->at != c)
		return false;
	h->at++;
	return true;
}

static bool need(struct header *h, char c)
{
	char what[] = "? is expected";

	what[0] = c;
	return take(h, c) || damaged(h, what);
}

/* The four digits after \u; -1: there are none. */
static int take_unit(struct header *h)
{
	int unit = 0;

	if (h->end - h->at < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		unsigned char c = (unsigned char)*h->at++;

		if (!isxdigit(c))
			return -1;
		unit = unit * 16 + (isdigit(c) ? c - '0' : tolower(c) - 'a' + 10);
	}
	return unit;
}

static bool take_escape(struct header *h)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	const char *known;
	char utf8[4];
	int unit, second;

	if (h->at >= h->end)
		return damaged(h, "a text does not end");
	if (*h->at != 'u') {
		known = *h->at ? strchr(from, *h->at) : NULL;
		if (!known)
			return damaged(h, "no escape of JSON");
		h->at++;
		buf_putc(&h->text, to[known - from]);
		return true;
	}
	h->at++;
	unit = take_unit(h);
	if (unit >= 0xd800 && unit < 0xdc00 && h->end - h->at > 2 && h->at[0] == '\\' &&
	    h->at[1] == 'u') {
		h->at += 2;
		second = take_unit(h);
		unit = second >= 0xdc00 && second < 0xe000
			   ? 0x10000 + ((unit - 0xd800) << 10) + (second - 0xdc00)
			   : -1;
	}
	if (unit <= 0 || (unit >= 0xd800 && unit < 0xe000))
		return damaged(h, "no escape of JSON");
	buf_add(&h->text, utf8, (size_t)utf8_encode((uint32_t)unit, utf8));
	return true;
}

/* Into h->text. */
static bool take_text(struct header *h)
{
	buf_clear(&h->text);
	buf_puts(&h->text, "");
	if (!need(h, '"'))
		return false;
	while (h->at < h->end && *h->at != '"') {
		char c = *h->at++;

		if ((unsigned char)c < ' ')
			return damaged(h, "a control character in a text");
		if (c != '\\')
			buf_putc(&h->text, c);
		else if (!take_escape(h))
			return false;
	}
	if (h->text.failed)
		return err_set(h->err, ERR_MEMORY, "out of memory for %.200s", h->path);
	return need(h, '"') &&
	       (utf8_valid(h->text.data, h->text.len) || damaged(h, "a text is no UTF-8"));
}

static bool take_size(struct header *h, int64_t *out)
{
	const char *first;

	skip_blanks(h);
	first = h->at;
	for (*out = 0; h->at < h->end && isdigit((unsigned char)*h->at); h->at++)
		if (__builtin_mul_overflow(*out, 10, out) ||
		    __builtin_add_overflow(*out, *h->at - '0', out))
			return damaged(h, "a number is too large");
	return h->at > first || damaged(h, "a number is expected");
}

static bool take_sizes(struct header *h, int64_t *out, int most, int *n, const char *too_many)
{
	*n = 0;
	if (!need(h, '['))
		return false;
	if (take(h, ']'))
		return true;
	do {
		if (*n == most)
			return damaged(h, too_many);
		if (!take_size(h, &out[(*n)++]))
			return false;
	} while (take(h, ','));
	return need(h, ']');
}

/* ---- what a header says ---- */

static const struct {
	const char *name, *torch;
} dtypes[] = {
	{ "BOOL", "bool" },           { "U8", "uint8" },      { "I8", "int8" },
	{ "I16", "int16" },           { "I32", "int32" },     { "I64", "int64" },
	{ "F16", "float16" },         { "BF16", "bfloat16" }, { "F32", "float32" },
	{ "F64", "float64" },         { "U16", "uint16" },    { "U32", "uint32" },
	{ "U64", "uint64" },          { "C64", "complex64" }, { "F8_E4M3", "float8_e4m3fn" },
	{ "F8_E5M2", "float8_e5m2" },
};

static bool find_dtype(struct header *h, const char *tensor, enum dtype *out)
{
	for (size_t i = 0; i < sizeof(dtypes) / sizeof(dtypes[0]); i++) {
		if (strcmp(dtypes[i].name, h->text.data) != 0)
			continue;
		return dtype_from_name(dtypes[i].torch, out) ||
		       err_set(h->err, ERR_DTYPE,
			       "%.200s: %.100s is of dtype %s, which is not among those of "
			       "this engine; save it as float32 or bfloat16",
			       h->path, tensor, dtypes[i].torch);
	}
	return damaged(h, "a dtype of safetensors is expected, as F32");
}

/* {"dtype": ..., "shape": [...], "data_offsets": [first, end]} */
struct header_entry {
	enum dtype dtype;
	int64_t shape[MAX_RANK], offsets[2];
	int rank;
	bool has_dtype, has_shape, has_offsets;
};

static bool take_field(struct header *h, const char *tensor, struct header_entry *e)
{
	int n;

	if (!take_text(h) || !need(h, ':'))
		return false;
	if (strcmp(h->text.data, "dtype") == 0) {
		e->has_dtype = true;
		return take_text(h) && find_dtype(h, tensor, &e->dtype);
	}
	if (strcmp(h->text.data, "shape") == 0) {
		e->has_shape = true;
		return take_sizes(h, e->shape, MAX_RANK, &e->rank,
				  "a tensor has more than 8 dimensions");
	}
	if (strcmp(h->text.data, "data_offsets") == 0) {
		e->has_offsets = true;
		return take_sizes(h, e->offsets, 2, &n, "data_offsets are two numbers") &&
		       (n == 2 || damaged(h, "data_offsets are two numbers"));
	}
	return damaged(h, "dtype, shape or data_offsets is expected");
}

static bool check_entry(struct header *h, const char *tensor, const struct header_entry *e)
{
	int64_t bytes = (int64_t)dtype_bytes(e->dtype), room = (int64_t)(h->file->bytes - h->data);

	if (!e->has_dtype || !e->has_shape || !e->has_offsets)
		return damaged(h, "a tensor lacks its dtype, shape or data_offsets");
	for (int d = 0; d < e->rank; d++)
		if (__builtin_mul_overflow(bytes, e->shape[d], &bytes))
			return damaged(h, "a shape is too large");
	if (e->offsets[0] > e->offsets[1] || e->offsets[1] > room)
		return err_set(h->err, ERR_OP,
			       "%.200s: %.100s lies at bytes %" PRId64 " to %" PRId64 " of %" PRId64
			       " that the file has; it is cut short or damaged",
			       h->path, tensor, e->offsets[0], e->offsets[1], room);
	return e->offsets[1] - e->offsets[0] == bytes ||
	       err_set(h->err, ERR_OP,
		       "%.200s: %.100s has %" PRId64 " bytes, and its shape and dtype ask for "
		       "%" PRId64,
		       h->path, tensor, e->offsets[1] - e->offsets[0], bytes);
}

static bool add(struct header *h, struct value dict, struct value key, struct value v)
{
	bool ok = key.kind != VALUE_UNSET && v.kind != VALUE_UNSET &&
		  value_dict_set(dict.dict, key, v);

	value_unref(v);
	return ok || err_set(h->err, ERR_MEMORY, "out of memory for %.200s", h->path);
}

static bool take_tensor(struct header *h, struct value key, struct value tensors)
{
	const char *name = value_text(key, NULL);
	struct header_entry e = { 0 };
	struct tensor *t;

	if (!need(h, '{'))
		return false;
	do {
		if (!take_field(h, name, &e))
			return false;
	} while (take(h, ','));
	if (!need(h, '}') || !check_entry(h, name, &e))
		return false;
	t = tensor_mapped(h->reader->allocator, h->file,
			  &(struct mapped){ .at = h->data + (size_t)e.offsets[0],
					    .dtype = e.dtype,
					    .rank = e.rank,
					    .size = e.shape },
			  h->err);
	return t && add(h, tensors, key, tensor_wrap(t));
}

static bool take_metadata(struct header *h, struct value metadata)
{
	if (!need(h, '{'))
		return false;
	if (take(h, '}'))
		return true;
	do {
		struct value key;
		bool ok = take_text(h) && need(h, ':');

		if (!ok)
			return false;
		key = value_str(h->text.data, h->text.len);
		ok = take_text(h) && add(h, metadata, key, value_str(h->text.data, h->text.len));
		value_unref(key);
		if (!ok)
			return false;
	} while (take(h, ','));
	return need(h, '}');
}

static bool take_entry(struct header *h, struct value tensors, struct value metadata)
{
	struct value key, ignored;
	bool ok;

	if (!take_text(h) || !need(h, ':'))
		return false;
	if (strcmp(h->text.data, "__metadata__") == 0)
		return take_metadata(h, metadata);
	key = value_str(h->text.data, h->text.len);
	if (key.kind == VALUE_UNSET)
		return err_set(h->err, ERR_MEMORY, "out of memory for %.200s", h->path);
	if (value_dict_get(tensors.dict, key, &ignored))
		ok = damaged(h, "two tensors have one name");
	else
		ok = take_tensor(h, key, tensors);
	value_unref(key);
	return ok;
}

static bool read_header(struct header *h, struct value tensors, struct value metadata)
{
	if (!need(h, '{'))
		return false;
	if (!take(h, '}')) {
		do {
			if (!take_entry(h, tensors, metadata))
				return false;
		} while (take(h, ','));
		if (!need(h, '}'))
			return false;
	}
	skip_blanks(h);
	return h->at == h->end || damaged(h, "something follows the object");
}

/* ---- the file ---- */

static bool find_header(struct header *h)
{
	const struct mapping *m = h->file;
	uint64_t len = 0;

	for (int i = LENGTH_BYTES - 1; i >= 0 && m->bytes >= LENGTH_BYTES; i--)
		len = len << 8 | (unsigned char)m->data[i];
	if (m->bytes >= 2 && memcmp(m->data, "PK", 2) == 0)
		return err_set(h->err, ERR_OP,
			       "%.200s is no safetensors file, but an archive; what torch.save "
			       "wrote is read by torch.load",
			       h->path);
	if (m->bytes < LENGTH_BYTES || len > MOST_HEADER_BYTES || len > m->bytes - LENGTH_BYTES)
		return err_set(h->err, ERR_OP,
			       "%.200s is no safetensors file: it has %zu bytes, and its header "
			       "would have %" PRIu64,
			       h->path, m->bytes, len);
	h->begin = h->at = m->data + LENGTH_BYTES;
	h->end = h->begin + len;
	h->data = LENGTH_BYTES + (size_t)len;
	return true;
}

bool weights_safetensors(const struct weights_reader *r, const char *path, struct value *out,
			 struct err *err)
{
	const struct fusion_data *file = weights_find(r->files, path);
	struct header h = { .reader = r, .path = path, .err = err };
	struct value both[2] = { value_dict(), value_dict() };
	bool ok = false;

	buf_init(&h.text, 1 << 20);
	if (!file)
		err_set(err, ERR_IO, "the run has no file %.200s", path);
	else if (both[0].kind == VALUE_UNSET || both[1].kind == VALUE_UNSET)
		err_set(err, ERR_MEMORY, "out of memory for %.200s", path);
	else
		h.file = mapping_open(file->path, err);
	if (h.file && find_header(&h) && read_header(&h, both[0], both[1])) {
		*out = value_tuple(both, 2);
		ok = out->kind != VALUE_UNSET ||
		     err_set(err, ERR_MEMORY, "out of memory for %.200s", path);
	}
	mapping_unref(h.file);
	buf_finish(&h.text);
	value_unref(both[0]);
	value_unref(both[1]);
	return ok;
}
