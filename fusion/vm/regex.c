/* fusion/vm/regex.c -- the patterns of Python's module re, which PCRE2 matches
 * (prelude/re.py has the rest).
 *
 * Python's syntax is PCRE2's but for a few spellings, which are written another way here.  Texts
 * are UTF-8 and Python counts characters: offsets are turned into counts. */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "fusion/vm/regex.h"

#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/classes.h"
#include "fusion/vm/operators.h"

enum { MOST_KEPT = 200, MOST_STEPS = 5000000, MOST_DEPTH = 20000, MOST_PATTERN = 100000 };

struct regexes {
	struct {
		char *pattern;
		size_t len;
		int64_t flags;
		pcre2_code *code;
	} at[MOST_KEPT];
	int n, next; /* the oldest is replaced */
	pcre2_match_context *context;
};

/* The flags of the module re. */
enum { IGNORECASE = 2, MULTILINE = 8, DOTALL = 16, VERBOSE = 64, ASCII = 256 };

static uint32_t options_of(int64_t flags)
{
	return PCRE2_UTF | PCRE2_NEVER_BACKSLASH_C | (flags & ASCII ? 0 : PCRE2_UCP) |
	       (flags & IGNORECASE ? PCRE2_CASELESS : 0) |
	       (flags & MULTILINE ? PCRE2_MULTILINE : 0) | (flags & DOTALL ? PCRE2_DOTALL : 0) |
	       (flags & VERBOSE ? PCRE2_EXTENDED : 0);
}

/* \Z is \z, and {,n} is {0,n}. */
static void rewrite(struct buf *out, const char *pattern, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (pattern[i] == '\\' && i + 1 < len) {
			buf_putc(out, '\\');
			i++;
			buf_putc(out, pattern[i] == 'Z' ? 'z' : pattern[i]);
		} else if (pattern[i] == '{' && i + 2 < len && pattern[i + 1] == ',' &&
			   pattern[i + 2] >= '0' && pattern[i + 2] <= '9') {
			buf_puts(out, "{0");
		} else {
			buf_putc(out, pattern[i]);
		}
	}
}

static bool refused(struct vm *vm, int code, size_t at, struct err *err)
{
	char text[200];

	pcre2_get_error_message(code, (PCRE2_UCHAR *)text, sizeof(text));
	return vm_raise(vm, CLASS_VALUE_ERROR, err, "%s at position %zu of the pattern", text, at);
}

static bool compile(struct vm *vm, const struct str *pattern, int64_t flags, pcre2_code **out,
		    struct err *err)
{
	pcre2_compile_context *context = pcre2_compile_context_create(NULL);
	struct buf text = { .limit = 2 * MOST_PATTERN };
	size_t at;
	int code;

	if (pattern->len > MOST_PATTERN) {
		pcre2_compile_context_free(context);
		return err_set(err, ERR_BOUND, "a pattern of re has at most %d bytes, not %zu",
			       MOST_PATTERN, pattern->len);
	}
	rewrite(&text, pattern->text, pattern->len);
	if (!context || text.failed) {
		pcre2_compile_context_free(context);
		buf_finish(&text);
		return vm_out_of_memory(vm, err);
	}
	pcre2_set_newline(context, PCRE2_NEWLINE_LF);
	*out = pcre2_compile((PCRE2_SPTR)(text.data ? text.data : ""), text.len, options_of(flags),
			     &code, &at, context);
	pcre2_compile_context_free(context);
	buf_finish(&text);
	return *out || refused(vm, code, at, err);
}

static struct regexes *kept(struct vm *vm)
{
	if (vm->regexes)
		return vm->regexes;
	vm->regexes = calloc(1, sizeof(*vm->regexes));
	if (!vm->regexes)
		return NULL;
	vm->regexes->context = pcre2_match_context_create(NULL);
	if (!vm->regexes->context) {
		free(vm->regexes);
		return vm->regexes = NULL;
	}
	pcre2_set_match_limit(vm->regexes->context, MOST_STEPS);
	pcre2_set_depth_limit(vm->regexes->context, MOST_DEPTH);
	return vm->regexes;
}

static void forget(struct regexes *r, int i)
{
	pcre2_code_free(r->at[i].code);
	free(r->at[i].pattern);
}

void regexes_release(struct vm *vm)
{
	if (!vm->regexes)
		return;
	for (int i = 0; i < vm->regexes->n; i++)
		forget(vm->regexes, i);
	pcre2_match_context_free(vm->regexes->context);
	free(vm->regexes);
	vm->regexes = NULL;
}

static bool find(struct vm *vm, struct value pattern, int64_t flags, pcre2_code **out,
		 struct err *err)
{
	struct regexes *r = kept(vm);
	const struct str *text = pattern.str;
	char *copy;
	int i;

	if (!r)
		return vm_out_of_memory(vm, err);
	for (i = 0; i < r->n; i++)
		if (r->at[i].flags == flags && r->at[i].len == text->len &&
		    memcmp(r->at[i].pattern, text->text, text->len) == 0) {
			*out = r->at[i].code;
			return true;
		}
	if (!compile(vm, text, flags, out, err))
		return false;
	copy = malloc(text->len + 1);
	if (!copy) {
		pcre2_code_free(*out);
		return vm_out_of_memory(vm, err);
	}
	memcpy(copy, text->text, text->len + 1);
	if (r->n == MOST_KEPT) {
		i = r->next;
		r->next = (r->next + 1) % MOST_KEPT;
		forget(r, i);
	} else {
		i = r->n++;
	}
	r->at[i].pattern = copy;
	r->at[i].len = text->len;
	r->at[i].flags = flags;
	r->at[i].code = *out;
	return true;
}

/* (groups, {name: number}) */
static bool regex_groups(struct vm *vm, const struct builtin_call *call, struct value *out,
			 struct err *err)
{
	struct value names, pair[2];
	uint32_t groups = 0, count = 0, size = 0;
	const unsigned char *table = NULL;
	pcre2_code *code;
	bool ok = true;

	if (call->args[0].kind != VALUE_STR)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"first argument must be string or compiled pattern");
	if (!find(vm, call->args[0], call->args[1].i, &code, err) ||
	    !vm_keep(vm, value_dict(), &names, err))
		return false;
	pcre2_pattern_info(code, PCRE2_INFO_CAPTURECOUNT, &groups);
	pcre2_pattern_info(code, PCRE2_INFO_NAMECOUNT, &count);
	pcre2_pattern_info(code, PCRE2_INFO_NAMEENTRYSIZE, &size);
	pcre2_pattern_info(code, PCRE2_INFO_NAMETABLE, &table);
	for (uint32_t i = 0; ok && i < count; i++, table += size)
		ok = store_named(vm, names.dict, (const char *)table + 2,
				 value_int(table[0] << 8 | table[1]), err);
	pair[0] = value_int(groups);
	pair[1] = names;
	ok = ok && vm_keep(vm, value_tuple(pair, 2), out, err);
	value_unref(names);
	return ok;
}

/* Bytes of a text to characters and back; both are counted from where the last was. */
struct ruler {
	const struct str *text;
	size_t byte;
	int64_t character;
};

static int64_t character_at(struct ruler *r, size_t byte)
{
	if (byte < r->byte)
		r->byte = 0, r->character = 0;
	for (; r->byte < byte; r->byte++)
		r->character += ((unsigned char)r->text->text[r->byte] & 0xc0) != 0x80;
	return r->character;
}

static size_t byte_at(const struct str *text, int64_t character)
{
	size_t at = 0;

	for (; at < text->len; at++)
		if (((unsigned char)text->text[at] & 0xc0) != 0x80 && character-- <= 0)
			break;
	return at;
}

/* A list of begin and end for the match and each group, -1 where a group has none. */
static bool spans(struct vm *vm, const pcre2_match_data *data, const struct str *text,
		  struct value *out, struct err *err)
{
	uint32_t n = pcre2_get_ovector_count((pcre2_match_data *)data);
	const size_t *at = pcre2_get_ovector_pointer((pcre2_match_data *)data);
	struct ruler ruler = { text, 0, 0 };

	if (!vm_keep(vm, value_list(NULL, 0), out, err))
		return false;
	for (uint32_t i = 0; i < 2 * n; i++)
		if (!value_list_push(
			out->list,
			value_int(at[i] == PCRE2_UNSET ? -1 : character_at(&ruler, at[i])))) {
			value_unref(*out);
			return vm_out_of_memory(vm, err);
		}
	return true;
}

/* (pattern, flags, text, first, end, how): how 0 looks everywhere, 1 at `first`, 2 for all up to
 * `end`, 3 everywhere but for an empty match at `first`. */
static bool regex_match(struct vm *vm, const struct builtin_call *call, struct value *out,
			struct err *err)
{
	const struct value *args = call->args;
	uint32_t options[] = { 0, PCRE2_ANCHORED, PCRE2_ANCHORED | PCRE2_ENDANCHORED,
			       PCRE2_NOTEMPTY_ATSTART };
	pcre2_match_data *data;
	pcre2_code *code;
	size_t from, to;
	int found;
	bool ok = true;

	if (args[2].kind != VALUE_STR)
		return vm_raise(vm, CLASS_TYPE_ERROR, err,
				"expected string or bytes-like object, got '%s'",
				value_type_name(args[2]));
	if (!find(vm, args[0], args[1].i, &code, err) ||
	    !vm_spend(vm, 10 + (int)(args[2].str->len / 16), err))
		return false;
	data = pcre2_match_data_create_from_pattern(code, NULL);
	if (!data)
		return vm_out_of_memory(vm, err);
	from = byte_at(args[2].str, args[3].i);
	to = byte_at(args[2].str, args[4].i);
	found = from > to ? PCRE2_ERROR_NOMATCH
			  : pcre2_match(code, (PCRE2_SPTR)args[2].str->text, to, from,
					options[args[5].i], data, vm->regexes->context);
	*out = value_none();
	if (found >= 0)
		ok = spans(vm, data, args[2].str, out, err);
	else if (found != PCRE2_ERROR_NOMATCH)
		ok = err_set(
		    err, ERR_BOUND,
		    "matching a pattern of re took more than %d steps or went deeper than %d",
		    MOST_STEPS, MOST_DEPTH);
	pcre2_match_data_free(data);
	return ok;
}

#define BUILTINS_OF_REGEX
const struct builtin regex_builtins[] = {
#include "fusion/vm/builtins.def"
	{ 0 },
};
