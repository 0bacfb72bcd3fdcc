/* profiler/export/redact.c -- an export without what is the user's own. */
#include "profiler/export/redact.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "fusion/dtype.h"
#include "fusion/registry.h"
#include <jansson.h>
#include "fusion/base/arena.h"
#include "fusion/base/buf.h"
#include "fusion/base/vec.h"

struct secret {
	const char *word; /* in the arena */
	size_t len;
	int number; /* of its stand-in: name7 */
};

struct words {
	struct arena arena;
	json_t *known;  /* {word: its place among the secrets} */
	json_t *open;   /* {word: true}: of the language, and of ops */
	json_t *wholes; /* {text: stand-in}, of texts that are hidden whole */
	json_t *sizing; /* {op: true}: its numbers are dims and sizes */
	VEC(struct secret) secrets;
};

enum {
	MAX_SECRETS = 20000,
	MAX_WORD = 200,
	ANYWHERE = 4, /* letters from which on a name is found within another */
	IN_STRING = 2,
	WORDS_BYTES = 64 << 20,
};

/* Of Python, torch and our own messages; names of ops come from the table of ops. */
static const char open_words[] =
    "False None True and as assert async await break class continue def del elif else except "
    "finally for from global if import in is lambda nonlocal not or pass raise return try while "
    "with yield match case self cls super object print len range int float bool str list dict "
    "tuple set type zip map filter enumerate sorted reversed isinstance getattr setattr hasattr "
    "property staticmethod classmethod Exception ValueError TypeError RuntimeError KeyError "
    "IndexError StopIteration NotImplementedError torch nn functional F Tensor Module Parameter "
    "Sequential ModuleList forward backward item tolist numpy cpu cuda dtype shape size device "
    "data grad no_grad autocast math sys float16 bfloat16 float32 float64 int8 int16 int32 int64 "
    "uint8 __init__ __call__ fused an the of to it its be by at on no so this that";

static bool is_letter(char c)
{
	return isalnum((unsigned char)c) || c == '_' || (unsigned char)c >= 0x80;
}

/* The next word at or after *at, which becomes its end; NULL: there is none. */
static const char *next_word(const char **at)
{
	const char *begin = *at;

	while (*begin && !is_letter(*begin))
		begin++;
	*at = begin;
	while (is_letter(**at))
		++*at;
	return *begin ? begin : NULL;
}

static void add_open(struct words *w, const char *text)
{
	for (const char *word, *at = text; (word = next_word(&at));)
		json_object_setn_new(w->open, word, (size_t)(at - word), json_true());
}

/* Whether numbers that an op takes beside tensors say which dims and sizes. */
static bool takes_sizes(const char *kind)
{
	static const char *const kinds[] = { "reduction", "view", "join", "library" };

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(kind, kinds[i]) == 0)
			return true;
	return false;
}

static bool words_init(struct words *w)
{
	*w = (struct words){ .known = json_object(),
			     .open = json_object(),
			     .wholes = json_object(),
			     .sizing = json_object() };
	arena_init(&w->arena, WORDS_BYTES);
	add_open(w, open_words);
	for (int i = 0; fusion_op(NULL, i).name; i++) {
		struct fusion_op op = fusion_op(NULL, i);

		add_open(w, op.name);
		add_open(w, op.fx);
		add_open(w, op.spellings);
		if (takes_sizes(op.kind)) {
			json_object_set_new(w->sizing, op.name, json_true());
			json_object_set_new(w->sizing, op.fx, json_true());
		}
	}
	return w->known && w->open && w->wholes && w->sizing;
}

static void words_finish(struct words *w)
{
	json_decref(w->known);
	json_decref(w->open);
	json_decref(w->wholes);
	json_decref(w->sizing);
	VEC_FREE(&w->secrets);
	arena_finish(&w->arena);
}

/* A name that something of the user's has; nothing where it is one of the language. */
static void words_add(struct words *w, const char *name, size_t len)
{
	struct secret s = { .len = len, .number = (int)w->secrets.len + 1 };

	if (len == 0 || len > MAX_WORD || isdigit((unsigned char)*name) ||
	    w->secrets.len >= MAX_SECRETS || json_object_getn(w->open, name, len) ||
	    json_object_getn(w->known, name, len))
		return;
	s.word = arena_strndup(&w->arena, name, len);
	if (s.word && VEC_PUSH(&w->secrets, s))
		json_object_setn_new(w->known, name, len,
				     json_integer((json_int_t)w->secrets.len - 1));
}

/* Words of a string constant; short ones are of prose, mostly. */
static void add_string(struct words *w, const char *text, const char *end)
{
	const char *at = text, *word;

	while ((word = next_word(&at)) && word < end) {
		const char *stop = at < end ? at : end;

		if (stop - word >= IN_STRING)
			words_add(w, word, (size_t)(stop - word));
	}
}

/* Where a string that begins at its quote ends; its quotes are one or three. */
static const char *end_of_string(const char *at, size_t *quotes)
{
	char quote[4] = { at[0], at[0], at[0], 0 };

	*quotes = strncmp(at, quote, 3) == 0 ? 3 : 1;
	for (at += *quotes; *at; at++) {
		if (*at == '\\' && at[1])
			at++;
		else if (strncmp(at, quote, *quotes) == 0 || (*at == '\n' && *quotes == 1))
			break;
	}
	return at;
}

/* All names of a Python source, and the words of its string constants. */
static void words_add_source(struct words *w, const char *source)
{
	const char *at = source;

	while (*at) {
		if (*at == '#') {
			at += strcspn(at, "\n");
		} else if (*at == '"' || *at == '\'') {
			size_t quotes;
			const char *end = end_of_string(at, &quotes);

			add_string(w, at + quotes, end);
			at = *end == '\n' || !*end ? end : end + quotes;
		} else if (is_letter(*at)) {
			const char *word = next_word(&at);

			words_add(w, word, (size_t)(at - word));
		} else {
			at++;
		}
	}
}

/* The longest secret at `at` of a word of `len` letters, from `i` on; NULL: none. */
static const struct secret *secret_at(const struct words *w, const char *word, size_t len, size_t i)
{
	const struct secret *best = NULL;

	for (size_t k = 0; k < w->secrets.len; k++) {
		const struct secret *s = &w->secrets.at[k];
		bool parted = (i == 0 || word[i - 1] == '_') &&
			      (i + s->len == len || (i + s->len < len && word[i + s->len] == '_'));

		if (s->len <= len - i && (parted || s->len >= ANYWHERE) &&
		    (!best || s->len > best->len) && strncasecmp(word + i, s->word, s->len) == 0)
			best = s;
	}
	return best;
}

static void redact_word(const struct words *w, const char *word, size_t len, struct buf *out)
{
	const json_t *known = json_object_getn(w->known, word, len);

	if (known) {
		buf_printf(out, "name%d", (int)json_integer_value(known) + 1);
		return;
	}
	if (json_object_getn(w->open, word, len)) {
		buf_add(out, word, len);
		return;
	}
	for (size_t i = 0; i < len;) {
		const struct secret *s = secret_at(w, word, len, i);

		if (s)
			buf_printf(out, "name%d", s->number);
		else
			buf_putc(out, word[i]);
		i += s ? s->len : 1;
	}
}

/* Whether a quote at `at` begins a string, and is no apostrophe: "doesn't". */
static bool begins_string(const char *text, const char *at)
{
	const char *before = at;

	while (before > text && is_letter(before[-1]))
		before--;
	return at - before <= 2 && strspn(before, "bBrRuUfF") >= (size_t)(at - before);
}

/* Whether words of a string are all of the language, or have stand-ins. */
static bool is_sayable(const struct words *w, const char *begin, const char *end)
{
	const char *at = begin, *word;

	while ((word = next_word(&at)) && word < end)
		if (!json_object_getn(w->open, word, (size_t)(at - word)) &&
		    !json_object_getn(w->known, word, (size_t)(at - word)))
			return false;
	return true;
}

/* Whether numbers of a condition are sizes; else they may be what a tensor held. */
static bool is_of_sizes(const char *text)
{
	static const char *const of[] = { ".size(",  ".dim()",   ".shape",
					  ".stride", ".numel()", "storage_offset" };

	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (strstr(text, of[i]))
			return true;
	return false;
}

/* Whether the number at `at` says which one of several: x[0], operand 0. */
static bool is_index(const char *text, const char *at)
{
	static const char operand[] = "operand ";
	const size_t len = sizeof(operand) - 1;

	return (at > text && at[-1] == '[') ||
	       ((size_t)(at - text) >= len && strncmp(at - len, operand, len) == 0);
}

/* Strings and numbers of a text: what is hidden of them. */
enum hiding {
	HIDE_UNKNOWN, /* strings with words that are nobody's: a sentence that Breakeven wrote */
	HIDE_VALUES,  /* all strings, and numbers that are no sizes; it is a condition on values */
};

/* The end of the string or number at `at`, in whose place something else was written;
 * NULL: there is none to hide. */
static const char *redact_constant(const struct words *w, enum hiding hiding, const char *text,
				   const char *at, struct buf *out)
{
	size_t quotes;
	const char *end;
	char *after;

	if ((*at == '"' || *at == '\'') && begins_string(text, at)) {
		end = end_of_string(at, &quotes);
		if (hiding == HIDE_UNKNOWN && is_sayable(w, at + quotes, end))
			return NULL;
		buf_printf(out, "%chidden%c", *at, *at);
		return *end && *end != '\n' ? end + quotes : end;
	}
	if (hiding != HIDE_VALUES || !isdigit((unsigned char)*at) || is_index(text, at) ||
	    (at > text && is_letter(at[-1])))
		return NULL;
	strtod(at, &after);
	buf_puts(out, "?");
	return after;
}

/* The text with names as their stand-ins, parts of longer ones too.  New. */
static json_t *words_redact(const struct words *w, const char *text, enum hiding hiding)
{
	const char *at = text, *end;
	struct buf out;
	json_t *json;

	if (hiding == HIDE_VALUES && is_of_sizes(text))
		hiding = HIDE_UNKNOWN;
	buf_init(&out, 0);
	while (*at) {
		if ((end = redact_constant(w, hiding, text, at, &out))) {
			at = end;
		} else if (is_letter(*at)) {
			const char *word = next_word(&at);

			redact_word(w, word, (size_t)(at - word), &out);
		} else {
			buf_putc(&out, *at++);
		}
	}
	json = json_string(out.data ? out.data : "");
	buf_finish(&out);
	return json ? json : json_string("?");
}

/* The stand-in of a whole text: "path1", "path2", ...  New. */
static json_t *words_whole(struct words *w, const char *text, const char *kind)
{
	json_t *known = json_object_get(w->wholes, text);

	if (!known) {
		known = json_sprintf("%s%zu", kind, json_object_size(w->wholes) + 1);
		json_object_set_new(w->wholes, text, known);
	}
	return json_incref(known);
}

enum fate {
	FATE_HIDE,
	FATE_KEEP,
	FATE_NAMES,
	FATE_VALUES,
	FATE_PATH,
	FATE_DROP,
	FATE_RANGE,
	FATE_OP,
	FATE_NUMBER,
	FATE_WHOLE
};

static const struct {
	const char *key;
	enum fate fate;
} fates[] = {
#define REDACT(fate, key) { key, FATE_##fate },
#include "profiler/export/redact.def"
#undef REDACT
};

struct redactor {
	struct words words;
	bool logs;       /* texts are those of a log: nobody knows which words are the user's */
	bool failure;    /* within an error, whose message the program may have made */
	bool sized;      /* an expression of the calls has the n of the sweep */
	enum fate names; /* of "name" in what is under way */
};

static bool is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789-")] == '\0';
}

/* Texts of logs that are whole messages: no word of them is known to be ours. */
static bool is_message(const char *key)
{
	static const char *const keys[] = { "message", "hint",  "reason", "text",
					    "guards",  "error", "cause" };

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i], key) == 0)
			return true;
	return false;
}

/* What a record of an error, or several by mode, is known by. */
static bool is_failure(const char *key)
{
	return strcmp(key, "error") == 0 || strcmp(key, "log_error") == 0 ||
	       strcmp(key, "failed") == 0;
}

static enum fate fate_of(const struct redactor *r, const char *key)
{
	if (strcmp(key, "name") == 0)
		return r->names;
	if ((r->logs && is_message(key)) || (r->failure && strcmp(key, "message") == 0))
		return FATE_HIDE;
	for (size_t i = 0; i < sizeof(fates) / sizeof(fates[0]); i++)
		if (strcmp(fates[i].key, key) == 0)
			return fates[i].fate;
	return FATE_HIDE;
}

/* ---- ranges and ops of a log ---- */

static bool begins(const char *text, const char *const *with, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strncmp(text, with[i], strlen(with[i])) == 0)
			return true;
	return false;
}

/* What PyTorch itself marks. */
static bool is_known_range(const char *text)
{
	static const char *const with[] = {
		"ProfilerStep#",
		"memory allocated, ",
		"memory reserved, ",
		"## Call CompiledFxGraph ",
		"Torch-Compiled Region: ",
		"TorchDynamo ",
		"PyTorch Profiler",
		"Optimizer.",
		"AOTDispatcher ",
		"Pregraph bytecode",
		"CompiledFunction",
		"Inductor",
		"nccl:",
		"gloo:",
		"mpi:",
		"ucc:",
		"record_param_comms",
		"Iteration Start:",
		"Record Window End",
	};

	return begins(text, with, sizeof(with) / sizeof(with[0]));
}

static bool is_known_op(const char *text)
{
	static const char *const with[] = { "aten::",     "prim::",  "prims::",   "c10d::",
					    "inductor::", "triton_", "autograd::" };

	return is_known_range(text) || begins(text, with, sizeof(with) / sizeof(with[0]));
}

/* ---- values ---- */

static json_t *redact_text(struct redactor *r, enum fate fate, const json_t *value)
{
	const char *text = json_string_value(value);

	switch (fate) {
	case FATE_KEEP:
		return json_incref((json_t *)value);
	case FATE_NAMES:
		return words_redact(&r->words, text, HIDE_UNKNOWN);
	case FATE_VALUES:
		return words_redact(&r->words, text, HIDE_VALUES);
	case FATE_PATH:
		return *text ? words_whole(&r->words, text, "path") : json_string("");
	case FATE_NUMBER:
		return is_number(text) ? json_incref((json_t *)value)
				       : words_whole(&r->words, text, "process");
	case FATE_RANGE:
		return is_known_range(text) ? json_incref((json_t *)value)
					    : words_whole(&r->words, text, "range");
	case FATE_OP:
		return is_known_op(text) ? json_incref((json_t *)value)
					 : words_whole(&r->words, text, "op");
	default:
		return json_string(*text ? "hidden" : "");
	}
}

static json_t *redact(struct redactor *r, const char *key, const json_t *value);

/* ---- arguments of calls ---- */

/* "float32[8, n]", "torch.randn(8, 16)": an expression that holds a dtype and sizes. */
static bool is_of_shape(const char *text)
{
	static const char *const makers[] = { "torch.randn(", "torch.rand(", "torch.zeros(",
					      "torch.ones(", "torch.empty(" };
	const char *at = text + strcspn(text, "[");

	for (int i = 0; *at && i < DTYPE_COUNT; i++)
		if (strncmp(text, dtype_name((enum dtype)i), (size_t)(at - text)) == 0 &&
		    dtype_name((enum dtype)i)[at - text] == '\0')
			return at[strspn(at, "[]0123456789n*+-/, ")] == '\0';
	for (size_t i = 0; i < sizeof(makers) / sizeof(makers[0]); i++) {
		at = text + strlen(makers[i]);
		if (strncmp(text, makers[i], strlen(makers[i])) == 0)
			return at[strspn(at, "()0123456789n*+-/, ")] == '\0';
	}
	return false;
}

/* A tensor of the same shape and dtype, without what it held. */
static json_t *redact_tensor(const json_t *tensor)
{
	static const char *const kept[] = { "shape", "dtype", "dynamic_dims", "requires_grad" };
	json_t *out = json_pack("{s:s}", "kind", "zeros");

	for (size_t i = 0; i < sizeof(kept) / sizeof(kept[0]); i++)
		if (json_object_get(tensor, kept[i]))
			json_object_set(out, kept[i], json_object_get(tensor, kept[i]));
	return json_pack("{s:o}", "random", out);
}

static json_t *redact_argument(struct redactor *r, const json_t *spec);

static json_t *redact_arguments(struct redactor *r, const json_t *list)
{
	json_t *out = json_array(), *item;
	size_t i;

	json_array_foreach((json_t *)list, i, item)
	    json_array_append_new(out, redact_argument(r, item));
	return out;
}

/* Of a dict its values; a stand-in for each key. */
static json_t *redact_dict(struct redactor *r, const json_t *dict)
{
	json_t *out = json_object(), *item, *name;
	const char *key;

	json_object_foreach((json_t *)dict, key, item)
	{
		name = words_whole(&r->words, key, "key");
		json_object_set_new(out, json_string_value(name), redact_argument(r, item));
		json_decref(name);
	}
	return out;
}

/* An argument of the same form: null for a number, "hidden" for a text. */
static json_t *redact_argument(struct redactor *r, const json_t *spec)
{
	const json_t *value = json_object_get(spec, "value"), *inner;
	const char *text = json_string_value(json_object_get(spec, "python"));

	if ((inner = json_object_get(spec, "tensor")))
		return redact_tensor(inner);
	if (json_object_get(spec, "random"))
		return json_incref((json_t *)spec);
	if ((inner = json_object_get(spec, "list")))
		return json_pack("{s:o}", "list", redact_arguments(r, inner));
	if ((inner = json_object_get(spec, "tuple")))
		return json_pack("{s:o}", "tuple", redact_arguments(r, inner));
	if ((inner = json_object_get(spec, "dict")))
		return json_pack("{s:o}", "dict", redact_dict(r, inner));
	if (text && (is_of_shape(text) || r->sized))
		return json_pack("{s:s}", "python", is_of_shape(text) ? text : "n");
	if (json_is_boolean(value))
		return json_incref((json_t *)spec);
	return json_pack("{s:o}", "value",
			 json_is_string(value) ? json_string("hidden") : json_null());
}

static json_t *redact_call(struct redactor *r, const json_t *call)
{
	json_t *named, *item, *name, *out;
	const char *key;

	if (json_is_array(call))
		return redact_arguments(r, call);
	named = json_object();
	json_object_foreach(json_object_get(call, "kwargs"), key, item)
	{
		name = words_redact(&r->words, key, HIDE_UNKNOWN);
		json_object_set_new(named, json_string_value(name), redact_argument(r, item));
		json_decref(name);
	}
	out = json_pack("{s:o}", "args", redact_arguments(r, json_object_get(call, "args")));
	json_object_set_new(out, "kwargs", named);
	return out;
}

static json_t *redact_calls(struct redactor *r, const json_t *calls)
{
	json_t *out = json_array(), *call;
	size_t i;

	json_array_foreach((json_t *)calls, i, call)
	    json_array_append_new(out, redact_call(r, call));
	return out;
}

/* ---- objects and lists ---- */

/* What "name" means in an object of this key. */
static enum fate names_in(const struct redactor *r, const char *key, const json_t *value)
{
	if (strcmp(key, "annotations") == 0 || strcmp(key, "counters") == 0)
		return FATE_RANGE;
	if (strcmp(key, "ops") == 0 && json_is_object(value))
		return FATE_OP;
	if (strcmp(key, "files") == 0)
		return FATE_PATH;
	if (strcmp(key, "workload") == 0)
		return FATE_HIDE;
	/* Of the machine, of kernels and of passes. */
	if (strcmp(key, "device") == 0 || strcmp(key, "deviceProperties") == 0)
		return FATE_KEEP;
	return r->names;
}

/* Of a program of several files its texts by path, of weights ids by name; of a difference
 * the values that differ. */
static bool is_data(const json_t *of, const char *key, const json_t *item)
{
	if (json_is_object(item))
		return strcmp(key, "files") == 0 || strcmp(key, "weights") == 0;
	return json_object_get(of, "ours") &&
	       (strcmp(key, "ours") == 0 || strcmp(key, "eager") == 0 ||
		strcmp(key, "reference") == 0);
}

/* What an op took beside tensors: numbers that the program may have computed, but for dims
 * and sizes. */
static json_t *redact_args(const struct redactor *r, const json_t *node)
{
	const json_t *args = json_object_get(node, "args");
	const char *op = json_string_value(json_object_get(node, "op"));
	bool sizes = op && json_object_get(r->words.sizing, op);
	json_t *out = json_array(), *arg;
	size_t i;

	json_array_foreach((json_t *)args, i, arg)
	{
		bool hidden = json_is_real(arg) || json_is_string(arg) ||
			      (json_is_integer(arg) && !sizes);

		json_array_append_new(out, hidden ? json_string("hidden") : json_incref(arg));
	}
	return out;
}

static json_t *redact_object(struct redactor *r, const json_t *value)
{
	json_t *out = json_object(), *item;
	const char *key;

	json_object_foreach((json_t *)value, key, item)
	{
		if (is_data(value, key, item))
			json_object_set_new(out, key, json_null());
		else if (strcmp(key, "args") == 0 && json_object_get(value, "op"))
			json_object_set_new(out, key, redact_args(r, value));
		else
			json_object_set_new(out, key, redact(r, key, item));
	}
	return out;
}

static json_t *redact_list(struct redactor *r, const char *key, const json_t *value)
{
	json_t *out = json_array();
	const json_t *item;
	size_t i;

	json_array_foreach(value, i, item) json_array_append_new(out, redact(r, key, item));
	return out;
}

/* A copy without what is to be hidden. */
static json_t *redact(struct redactor *r, const char *key, const json_t *value)
{
	enum fate fate = fate_of(r, key), outer = r->names;
	bool failure = r->failure;
	json_t *out;

	if (json_is_string(value))
		return fate == FATE_DROP ? json_null() : redact_text(r, fate, value);
	if (fate == FATE_DROP) /* `lowered` is a text of a graph, and a count of graphs */
		return json_is_integer(value) ? json_incref((json_t *)value) : json_null();
	if (fate == FATE_WHOLE)
		return json_incref((json_t *)value);
	if (!json_is_object(value) && !json_is_array(value))
		return json_incref((json_t *)value);
	if (outer == FATE_HIDE && strcmp(key, "calls") == 0) /* of a workload */
		return redact_calls(r, value);
	r->names = names_in(r, key, value);
	r->failure = failure || is_failure(key);
	out = json_is_object(value) ? redact_object(r, value) : redact_list(r, key, value);
	r->names = outer;
	r->failure = failure;
	return out;
}

/* ---- what is secret ---- */

static void add_name(struct redactor *r, const json_t *name)
{
	const char *text = json_string_value(name);

	if (text)
		words_add_source(&r->words, text);
}

/* The frame after a break is named for the one that it goes on with. */
static void add_frame(struct redactor *r, const json_t *frame)
{
	static const char resumed[] = "torch_dynamo_resume_in_";
	const char *name = json_string_value(frame), *at = NULL;

	if (!name || strncmp(name, resumed, sizeof(resumed) - 1) != 0) {
		add_name(r, frame);
		return;
	}
	name += sizeof(resumed) - 1;
	for (const char *next = name; (next = strstr(next, "_at_")); next++)
		at = next;
	words_add(&r->words, name, at ? (size_t)(at - name) : strlen(name));
}

/* Names of functions and frames, wherever they stand in what logs say. */
static void add_names(struct redactor *r, const json_t *json)
{
	const char *key;
	json_t *item;
	size_t i;

	json_array_foreach(json, i, item) add_names(r, item);
	json_object_foreach((json_t *)json, key, item)
	{
		if (strcmp(key, "function") == 0 || strcmp(key, "frame") == 0)
			add_frame(r, item);
		else
			add_names(r, item);
	}
}

/* Texts and keys of arguments. */
static void add_arguments(struct redactor *r, const json_t *json)
{
	const char *key;
	json_t *item;
	size_t i;

	if (json_is_string(json))
		words_add_source(&r->words, json_string_value(json));
	json_array_foreach(json, i, item) add_arguments(r, item);
	json_object_foreach((json_t *)json, key, item)
	{
		words_add_source(&r->words, key);
		add_arguments(r, item);
	}
}

/* Whether it is expressions of the calls that say where a sweep over sizes has its n. */
static bool is_sized(const json_t *workload)
{
	const json_t *input = json_object_get(json_object_get(workload, "sweep"), "input");

	return input && !json_is_integer(json_object_get(input, "arg"));
}

static void add_sources(struct redactor *r, const struct export_run *run)
{
	const json_t *sweep = json_object_get(run->workload, "sweep"), *line;
	const json_t *points = json_object_get(run->report, "points");
	json_t *params = json_object_get(run->workload, "params"), *value;
	const char *key;
	size_t i;

	words_add_source(&r->words, run->name ? run->name : "");
	words_add_source(&r->words, run->project ? run->project : "");
	words_add_source(&r->words, run->branch ? run->branch : "");
	add_name(r, json_object_get(run->workload, "source"));
	add_name(r, json_object_get(run->workload, "entry"));
	json_object_foreach(json_object_get(run->workload, "files"), key, value)
	{
		words_add_source(&r->words, key);
		add_name(r, value);
	}
	json_array_foreach(json_object_get(json_object_get(sweep, "statements"), "pool"), i, line)
	    add_name(r, line);
	json_array_foreach(points, i, line) add_name(r, json_object_get(line, "source"));
	json_object_foreach(params, key, value) words_add_source(&r->words, key);
	add_arguments(r, json_object_get(run->workload, "calls"));
	r->sized = is_sized(run->workload);
}

/* ---- the timeline ---- */

struct kinds {
	uint8_t *of; /* by name: 1 + the kind of its last event */
};

static bool note_kind(void *self, const struct timeline_event *e, struct err *err)
{
	(void)err;
	((struct kinds *)self)->of[e->name] = (uint8_t)(e->kind + 1);
	return true;
}

/* `kind` -1: no event has the name. */
static enum fate fate_of_kind(int kind)
{
	switch (kind) {
	case -1:
		return FATE_HIDE;
	case TIMELINE_RANGE:
	case TIMELINE_COUNTER:
	case TIMELINE_FLOW:
	case TIMELINE_OVERHEAD:
		return FATE_RANGE;
	case TIMELINE_OP:
		return FATE_OP;
	default:
		return FATE_NAMES;
	}
}

/* A lane's name may be made of a process and a thread, which are texts of somebody's
 * where they are no numbers. */
static json_t *redact_lane(struct redactor *r, const json_t *lane)
{
	static const char *const keys[] = { "process", "thread" };
	const char *label = json_string_value(json_object_get(lane, "label"));
	const char *name = json_string_value(json_object_get(lane, "name"));
	json_t *out = redact_object(r, lane);

	for (size_t i = 0; name && i < sizeof(keys) / sizeof(keys[0]); i++) {
		const char *text = json_string_value(json_object_get(lane, keys[i]));

		if (text && *text && !is_number(text) && strstr(name, text))
			json_object_set_new(
			    out, "name",
			    json_sprintf("thread of %s",
					 json_string_value(json_object_get(out, "process"))));
	}
	if (label) /* a log's own word */
		json_object_set_new(out, "name",
				    words_whole(&r->words, label,
						json_string_value(json_object_get(lane, "role"))));
	return out;
}

static json_t *redact_lanes(struct redactor *r, const json_t *lanes)
{
	json_t *out = json_array();
	const json_t *lane;
	size_t i;

	json_array_foreach(lanes, i, lane) json_array_append_new(out, redact_lane(r, lane));
	return out;
}

static bool redact_names(struct redactor *r, struct export_job *job)
{
	size_t n = json_array_size(job->tables.names);
	struct kinds kinds = { calloc(n + 1, 1) };
	struct err err = { 0 };
	json_t *rows = json_array(), *row;
	size_t i;

	if (!kinds.of || !job_events(job, note_kind, &kinds, &err)) {
		free(kinds.of);
		json_decref(rows);
		return false;
	}
	json_array_foreach(job->tables.names, i, row)
	{
		r->names = fate_of_kind(kinds.of[i] - 1);
		json_array_append_new(rows, redact_object(r, row));
	}
	r->names = FATE_NAMES;
	free(kinds.of);
	json_decref(job->tables.names);
	job->tables.names = rows;
	return true;
}

static void replace(struct redactor *r, json_t **json, const char *key)
{
	json_t *before = *json;

	*json = before ? redact(r, key, before) : NULL;
	json_decref(before);
}

static bool redact_tables(struct redactor *r, struct export_job *job)
{
	json_t *lanes = redact_lanes(r, job->tables.lanes);

	json_decref(job->tables.lanes);
	job->tables.lanes = lanes;
	replace(r, &job->tables.facts, "facts");
	return redact_names(r, job);
}

bool redact_job(struct export_job *job)
{
	const struct export_run *run = job->run;
	struct redactor r = { .names = FATE_NAMES };
	json_t *imported = json_object_get(run->report, "import");
	bool ok = words_init(&r.words);

	if (ok) {
		r.logs = imported || json_object_get(run->workload, "trace");
		add_sources(&r, run);
		if (r.logs)
			add_names(&r, run->report);
		replace(&r, &job->report, "report");
		replace(&r, &job->workload, "workload");
		replace(&r, &job->environment, "environment");
		replace(&r, &job->head_json, "run");
		json_object_set_new(job->head_json, "name",
				    json_sprintf("run %lld", (long long)run->id));
		json_object_set_new(job->head_json, "redacted", json_true());
		ok = redact_tables(&r, job);
	}
	words_finish(&r.words);
	return ok;
}
