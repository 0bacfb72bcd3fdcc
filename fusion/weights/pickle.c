/* fusion/weights/pickle.c -- the machine of pickles, protocols 2 to 5: see pickle.h.
 *
 * The opcodes are those of pickletools in CPython that pickles of plain data have.
 */
#include "fusion/weights/pickle.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/utf8.h"
#include "fusion/base/vec.h"

enum {
	MOST_BYTES = 256 << 20,
	MOST_DEPTH =
	    100, /* containers in containers: values are printed and copied to such a depth */
	MOST_NAME = 256,
	NOT_KEPT = -1,
};

enum opcode {
	MARK = '(',
	STOP = '.',
	POP = '0',
	POP_MARK = '1',
	BINFLOAT = 'G',
	BININT = 'J',
	BININT1 = 'K',
	BININT2 = 'M',
	NONE = 'N',
	BINPERSID = 'Q',
	REDUCE = 'R',
	BINUNICODE = 'X',
	APPEND = 'a',
	BUILD = 'b',
	GLOBAL = 'c',
	EMPTY_DICT = '}',
	APPENDS = 'e',
	BINGET = 'h',
	LONG_BINGET = 'j',
	EMPTY_LIST = ']',
	BINPUT = 'q',
	LONG_BINPUT = 'r',
	SETITEM = 's',
	TUPLE = 't',
	EMPTY_TUPLE = ')',
	SETITEMS = 'u',
	PROTO = 0x80,
	NEWOBJ = 0x81,
	TUPLE1 = 0x85,
	TUPLE2 = 0x86,
	TUPLE3 = 0x87,
	NEWTRUE = 0x88,
	NEWFALSE = 0x89,
	LONG1 = 0x8a,
	SHORT_BINUNICODE = 0x8c,
	BINUNICODE8 = 0x8d,
	EMPTY_SET = 0x8f,
	ADDITEMS = 0x90,
	STACK_GLOBAL = 0x93,
	MEMOIZE = 0x94,
	FRAME = 0x95,
	BINBYTES = 'B',
	SHORT_BINBYTES = 'C',
	BINBYTES8 = 0x8e,
	BYTEARRAY8 = 0x96,
};

struct pickled {
	struct value v;
	int depth; /* of the containers in it */
	int kept;  /* its place in the memo, or of one that is there, on the stack; NOT_KEPT */
	bool open; /* no other container has it, and it may be changed */
};

struct machine {
	const struct pickle_reader *reader;
	const unsigned char *begin, *at, *end;
	VEC(struct pickled) stack;
	VEC(struct pickled) memo;
	VEC(size_t) marks;
	struct err *err;
};

static bool damaged(struct machine *m, const char *what)
{
	return err_set(m->err, ERR_OP, "byte %zu of its pickle: %s", (size_t)(m->at - m->begin),
		       what);
}

static bool no_memory(struct machine *m)
{
	return err_set(m->err, ERR_MEMORY, "out of memory for a pickle");
}

/* ---- bytes ---- */

static bool take(struct machine *m, size_t n, const unsigned char **out)
{
	if ((size_t)(m->end - m->at) < n)
		return damaged(m, "it ends in the middle");
	*out = m->at;
	m->at += n;
	return true;
}

static bool take_number(struct machine *m, int bytes, uint64_t *out)
{
	const unsigned char *at = NULL;

	if (!take(m, (size_t)bytes, &at))
		return false;
	*out = 0;
	for (int i = bytes - 1; i >= 0; i--)
		*out = *out << 8 | at[i];
	return true;
}

/* ---- the stack ---- */

/* Takes over the reference. */
static bool push_item(struct machine *m, struct pickled item)
{
	if (item.v.kind != VALUE_UNSET && VEC_PUSH(&m->stack, item))
		return true;
	value_unref(item.v);
	return no_memory(m);
}

static bool push(struct machine *m, struct value v)
{
	return push_item(m, (struct pickled){ v, 0, NOT_KEPT, false });
}

static bool push_open(struct machine *m, struct value v)
{
	return push_item(m, (struct pickled){ v, 1, NOT_KEPT, true });
}

/* Items above the last mark; without a mark all. */
static size_t floor_of(const struct machine *m)
{
	return m->marks.len ? m->marks.at[m->marks.len - 1] : 0;
}

static bool need(struct machine *m, size_t n)
{
	return m->stack.len - floor_of(m) >= n || damaged(m, "its stack is empty");
}

static struct pickled *top(struct machine *m, size_t below)
{
	return &m->stack.at[m->stack.len - 1 - below];
}

/* From here on the item stays as it is. */
static void finish(struct machine *m, struct pickled *item)
{
	item->open = false;
	if (item->kept != NOT_KEPT) {
		m->memo.at[item->kept].depth = item->depth;
		m->memo.at[item->kept].open = false;
	}
}

static void drop(struct machine *m, size_t n)
{
	while (n-- > 0) {
		struct pickled *item = &m->stack.at[--m->stack.len];

		finish(m, item);
		value_unref(item->v);
	}
}

static bool pop_mark(struct machine *m, size_t *first)
{
	if (m->marks.len == 0)
		return damaged(m, "a mark is missing");
	*first = m->marks.at[--m->marks.len];
	return true;
}

/* An item becomes part of another. */
static bool close_item(struct machine *m, struct pickled *item, int *depth)
{
	finish(m, item);
	if (item->depth + 1 > *depth)
		*depth = item->depth + 1;
	return *depth <= MOST_DEPTH || damaged(m, "more than 100 containers are in one another");
}

/* ---- memo ---- */

static bool keep(struct machine *m, uint64_t index)
{
	struct pickled *item;

	if (!need(m, 1))
		return false;
	if (index != m->memo.len || index > INT32_MAX)
		return damaged(m, "it keeps a value under a number that is not the next");
	item = top(m, 0);
	if (item->kept != NOT_KEPT)
		return damaged(m, "it keeps one value twice");
	if (!VEC_PUSH(&m->memo, (struct pickled){ item->v, item->depth, (int)(m->stack.len - 1),
						  item->open }))
		return no_memory(m);
	value_ref(item->v);
	item->kept = (int)index;
	return true;
}

static bool get(struct machine *m, uint64_t index)
{
	const struct pickled *kept;

	if (index >= m->memo.len)
		return damaged(m, "it asks for a value that it has not kept");
	kept = &m->memo.at[index];
	if (kept->open) /* it waits to be part of something, or it holds itself: put_items() */
		finish(m, &m->stack.at[kept->kept]);
	return push_item(m, (struct pickled){ value_ref(kept->v), kept->depth, NOT_KEPT, false });
}

/* ---- containers ---- */

static bool make_tuple(struct machine *m, size_t first)
{
	size_t n = m->stack.len - first;
	struct value v = value_sequence(VALUE_TUPLE, (int)n);
	int depth = 1;

	if (v.kind == VALUE_UNSET)
		return no_memory(m);
	for (size_t i = 0; i < n; i++) {
		struct pickled *item = &m->stack.at[first + i];

		if (!close_item(m, item, &depth)) {
			value_unref(v);
			return false;
		}
		v.list->at[v.list->len++] = value_ref(item->v);
	}
	drop(m, n);
	return push_item(m, (struct pickled){ v, depth, NOT_KEPT, false });
}

/* Marks are in tuples of arguments alone. */
static bool is_plain(struct value v)
{
	if (pickle_is_mark(v))
		return false;
	for (int i = 0; v.kind == VALUE_TUPLE && i < v.list->len; i++)
		if (!is_plain(v.list->at[i]))
			return false;
	return true;
}

static bool check_plain(struct machine *m, struct value v)
{
	return is_plain(v) ||
	       damaged(m, "it keeps a type, a function or a storage itself; save tensors, numbers "
			  "and text");
}

/* The items from `first` on go into the container below them. */
static bool put_items(struct machine *m, size_t first, bool pairs)
{
	struct pickled *to;
	struct dict *dict = NULL;
	int depth;

	if (first == floor_of(m))
		return damaged(m, "its stack is empty");
	to = &m->stack.at[first - 1];
	depth = to->depth;
	if (!to->open)
		return damaged(m, "it changes an object that is complete, or that holds itself");
	if (to->v.kind == VALUE_DICT || to->v.kind == VALUE_SET)
		dict = to->v.dict;
	else if (to->v.kind == VALUE_INSTANCE)
		dict = m->reader->items(m->reader->self, to->v);
	if (pairs ? !dict || to->v.kind == VALUE_SET
		  : to->v.kind != VALUE_LIST && to->v.kind != VALUE_SET)
		return damaged(m, "it puts items into what has none");
	if (pairs && (m->stack.len - first) % 2)
		return damaged(m, "a key has no value");
	for (size_t i = first; i < m->stack.len; i += pairs ? 2 : 1) {
		struct pickled *item = &m->stack.at[i], *v = pairs ? item + 1 : item;
		bool hashed = pairs || to->v.kind == VALUE_SET;

		if (!close_item(m, item, &depth) || !close_item(m, v, &depth) ||
		    !check_plain(m, item->v) || !check_plain(m, v->v))
			return false;
		if (hashed && (!value_hashable(item->v) || item->v.kind == VALUE_INSTANCE))
			return damaged(m, "a key is neither a number nor text");
		if (!(hashed ? value_dict_set(dict, item->v, pairs ? v->v : value_none())
			     : value_list_push(to->v.list, v->v)))
			return no_memory(m);
	}
	to->depth = depth;
	drop(m, m->stack.len - first);
	return true;
}

static bool put_marked(struct machine *m, bool pairs)
{
	size_t first = 0;

	return pop_mark(m, &first) && put_items(m, first, pairs);
}

/* ---- names and calls ---- */

static bool resolve(struct machine *m, const char *module, const char *name)
{
	struct value v;

	return m->reader->name(m->reader->self, module, name, &v, m->err) && push(m, v);
}

/* Two lines of text. */
static bool global(struct machine *m)
{
	char word[2][MOST_NAME];

	for (int i = 0; i < 2; i++) {
		const unsigned char *end = memchr(m->at, '\n', (size_t)(m->end - m->at));
		size_t n = end ? (size_t)(end - m->at) : MOST_NAME;

		if (n >= MOST_NAME || memchr(m->at, '\0', n) || !utf8_valid((const char *)m->at, n))
			return damaged(m, "a name does not end, or is no text");
		memcpy(word[i], m->at, n);
		word[i][n] = '\0';
		m->at += n + 1;
	}
	return resolve(m, word[0], word[1]);
}

static bool stack_global(struct machine *m)
{
	char word[2][MOST_NAME];

	if (!need(m, 2))
		return false;
	for (int i = 0; i < 2; i++) {
		struct value v = top(m, i == 0)->v;

		if (v.kind != VALUE_STR || v.str->len >= MOST_NAME ||
		    strlen(v.str->text) != v.str->len)
			return damaged(m, "a name is no text, or too long");
		memcpy(word[i], v.str->text, v.str->len + 1);
	}
	drop(m, 2);
	return resolve(m, word[0], word[1]);
}

static bool call(struct machine *m)
{
	struct pickled *callee, *args;
	struct value out;
	int depth = 1;

	if (!need(m, 2))
		return false;
	callee = top(m, 1);
	args = top(m, 0);
	if (!pickle_is_mark(callee->v) || args->v.kind != VALUE_TUPLE)
		return damaged(m, "it calls what is no function");
	if (!close_item(m, args, &depth) ||
	    !m->reader->call(m->reader->self, callee->v, args->v, &out, m->err))
		return false;
	drop(m, 2);
	return push_item(m,
			 (struct pickled){ out, depth, NOT_KEPT,
					   out.kind == VALUE_INSTANCE || out.kind == VALUE_DICT });
}

static bool build(struct machine *m)
{
	struct pickled *made, *state;
	int depth;

	if (!need(m, 2))
		return false;
	made = top(m, 1);
	state = top(m, 0);
	depth = made->depth;
	if (!made->open)
		return damaged(m, "it changes an object that is complete, or that holds itself");
	if (!close_item(m, state, &depth) || !check_plain(m, state->v) ||
	    !m->reader->build(m->reader->self, made->v, state->v, m->err))
		return false;
	made->depth = depth;
	drop(m, 1);
	return true;
}

static bool persistent(struct machine *m)
{
	struct value out;

	if (!need(m, 1) || !m->reader->persistent(m->reader->self, top(m, 0)->v, &out, m->err))
		return false;
	drop(m, 1);
	return push(m, out);
}

/* ---- numbers and text ---- */

static bool push_text(struct machine *m, int length_bytes)
{
	const unsigned char *text = NULL;
	uint64_t len;

	if (!take_number(m, length_bytes, &len) || !take(m, len, &text))
		return false;
	if (!utf8_valid((const char *)text, len))
		return damaged(m, "a text is no UTF-8");
	return push(m, value_str((const char *)text, len));
}

static bool push_int(struct machine *m, int bytes)
{
	uint64_t n;

	return take_number(m, bytes, &n) &&
	       push(m, value_int(bytes == 4 ? (int32_t)(uint32_t)n : (int64_t)n));
}

/* Two's complement of any length. */
static bool push_long(struct machine *m)
{
	const unsigned char *at = NULL;
	uint64_t len, n;
	bool negative;

	if (!take_number(m, 1, &len) || !take(m, len, &at))
		return false;
	negative = len > 0 && at[len - 1] & 0x80;
	n = negative ? UINT64_MAX : 0;
	for (uint64_t i = len; i-- > 0;) {
		if (i >= 8 && at[i] != (negative ? 0xff : 0))
			return damaged(m, "a number needs more than 64 bits");
		if (i < 8)
			n = n << 8 | at[i];
	}
	if (len > 8 && ((int64_t)n < 0) != negative)
		return damaged(m, "a number needs more than 64 bits");
	return push(m, value_int((int64_t)n));
}

static bool push_float(struct machine *m)
{
	uint64_t bits;
	double f;

	if (!take_number(m, 8, &bits))
		return false;
	bits = __builtin_bswap64(bits); /* the one number that comes with its first byte first */
	memcpy(&f, &bits, sizeof(f));
	return push(m, value_float(f));
}

/* ---- the program ---- */

static bool protocol(struct machine *m)
{
	uint64_t version;

	return take_number(m, 1, &version) &&
	       (version <= 5 || damaged(m, "its protocol is newer than 5"));
}

static bool skip_frame(struct machine *m)
{
	uint64_t bytes;

	return take_number(m, 8, &bytes);
}

static bool keep_at(struct machine *m, int bytes)
{
	uint64_t index;

	return take_number(m, bytes, &index) && keep(m, index);
}

static bool get_at(struct machine *m, int bytes)
{
	uint64_t index;

	return take_number(m, bytes, &index) && get(m, index);
}

static bool tuple_of(struct machine *m, size_t n)
{
	return need(m, n) && make_tuple(m, m->stack.len - n);
}

static bool marked_tuple(struct machine *m)
{
	size_t first = 0;

	return pop_mark(m, &first) && make_tuple(m, first);
}

static bool pop_marked(struct machine *m)
{
	size_t first = 0;

	if (!pop_mark(m, &first))
		return false;
	drop(m, m->stack.len - first);
	return true;
}

/* Numbers, text and what is kept. */
static bool plain_step(struct machine *m, int op, bool *known)
{
	*known = true;
	switch (op) {
	case NONE:
		return push(m, value_none());
	case NEWTRUE:
	case NEWFALSE:
		return push(m, value_bool(op == NEWTRUE));
	case BININT:
		return push_int(m, 4);
	case BININT1:
		return push_int(m, 1);
	case BININT2:
		return push_int(m, 2);
	case LONG1:
		return push_long(m);
	case BINFLOAT:
		return push_float(m);
	case BINUNICODE:
		return push_text(m, 4);
	case SHORT_BINUNICODE:
		return push_text(m, 1);
	case BINUNICODE8:
		return push_text(m, 8);
	case BINPUT:
		return keep_at(m, 1);
	case LONG_BINPUT:
		return keep_at(m, 4);
	case MEMOIZE:
		return keep(m, m->memo.len);
	case BINGET:
		return get_at(m, 1);
	case LONG_BINGET:
		return get_at(m, 4);
	case BINBYTES:
	case SHORT_BINBYTES:
	case BINBYTES8:
	case BYTEARRAY8:
		return damaged(m, "it keeps bytes, which the language does not have; save them as "
				  "text or as a tensor");
	default:
		*known = false;
		return true;
	}
}

static bool step(struct machine *m, int op)
{
	bool known;

	if (!plain_step(m, op, &known))
		return false;
	if (known)
		return true;
	switch (op) {
	case PROTO:
		return protocol(m);
	case FRAME:
		return skip_frame(m);
	case MARK:
		return VEC_PUSH(&m->marks, m->stack.len) || no_memory(m);
	case POP:
		if (!need(m, 1))
			return false;
		drop(m, 1);
		return true;
	case POP_MARK:
		return pop_marked(m);
	case EMPTY_DICT:
		return push_open(m, value_dict());
	case EMPTY_LIST:
		return push_open(m, value_list(NULL, 0));
	case EMPTY_SET:
		return push_open(m, value_set(false));
	case EMPTY_TUPLE:
		return make_tuple(m, m->stack.len);
	case TUPLE1:
	case TUPLE2:
	case TUPLE3:
		return tuple_of(m, (size_t)(op - TUPLE1 + 1));
	case TUPLE:
		return marked_tuple(m);
	case APPEND:
		return need(m, 2) && put_items(m, m->stack.len - 1, false);
	case APPENDS:
	case ADDITEMS:
		return put_marked(m, false);
	case SETITEM:
		return need(m, 3) && put_items(m, m->stack.len - 2, true);
	case SETITEMS:
		return put_marked(m, true);
	case GLOBAL:
		return global(m);
	case STACK_GLOBAL:
		return stack_global(m);
	case REDUCE:
	case NEWOBJ:
		return call(m);
	case BUILD:
		return build(m);
	case BINPERSID:
		return persistent(m);
	default:
		return damaged(m, "no opcode that a state dict needs");
	}
}

static bool run(struct machine *m)
{
	while (m->at < m->end) {
		int op = *m->at++;

		if (op != STOP) {
			if (!step(m, op))
				return false;
			continue;
		}
		if (m->stack.len != 1 || m->marks.len > 0)
			return damaged(m, "it ends with other than one value");
		return check_plain(m, m->stack.at[0].v);
	}
	return damaged(m, "it ends in the middle");
}

bool pickle_read(const struct pickle_reader *r, const void *bytes, size_t len, struct value *out,
		 struct err *err)
{
	struct machine m = { .reader = r, .begin = bytes, .at = bytes, .err = err };
	bool ok;

	m.end = m.begin + len;
	if (len <= MOST_BYTES)
		ok = run(&m);
	else
		ok = err_set(err, ERR_BOUND, "its pickle has %zu bytes; the limit is 256 MiB", len);
	if (ok)
		*out = value_ref(m.stack.at[0].v);
	drop(&m, m.stack.len);
	for (size_t i = 0; i < m.memo.len; i++)
		value_unref(m.memo.at[i].v);
	VEC_FREE(&m.stack);
	VEC_FREE(&m.memo);
	VEC_FREE(&m.marks);
	return ok;
}
