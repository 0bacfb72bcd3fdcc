/* fusion/lang/lang.c -- from bytes to a program: see lang.h.
 *
 * The syntax tree and the scopes live in an arena of their own and are gone
 * when lang_compile() returns; names and code are in the program's.
 */
#include "fusion/lang/lang.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/base/arena.h"
#include "fusion/lang/compile.h"
#include "fusion/lang/parser.h"
#include "fusion/base/utf8.h"

enum {
	SOURCE_BYTES = 1 << 20,
	DEPTH = 200,
	NODES = 500000,
	ARENA_BYTES = 512 << 20, /* of a compilation: what the other limits should keep far away */
};

/* The place of a byte that cannot be read; everything before it can. */
static bool bad_byte(const char *source, const char *at, int lines_before, struct err *err)
{
	const char *line = source;
	int n = lines_before + 1;

	for (const char *c = source; c < at; c++) {
		if (*c == '\n' || (*c == '\r' && c[1] != '\n')) {
			line = c + 1;
			n++;
		}
	}
	if (!*at)
		return err_at(err, ERR_SYNTAX, n, utf8_count(line, at) + 1,
			      "the source has a NUL byte here; remove it");
	return err_at(err, ERR_SYNTAX, n, utf8_count(line, at) + 1,
		      "the byte 0x%02x is not UTF-8; save the file as UTF-8",
		      (unsigned)(unsigned char)*at);
}

/* Whether eight bytes are ASCII, none of them NUL. */
static bool is_plain(const char *text, size_t len)
{
	const uint64_t high = 0x8080808080808080, ones = 0x0101010101010101;
	uint64_t bytes;

	if (len < sizeof(bytes))
		return false;
	memcpy(&bytes, text, sizeof(bytes));
	return !((bytes | (bytes - ones)) & high); /* without high bits, a borrow shows a NUL */
}

static bool check_text(const char *source, size_t len, int lines_before, struct err *err)
{
	size_t at = 0;

	while (at < len) {
		uint32_t point;
		int n;

		if (is_plain(source + at, len - at)) {
			at += sizeof(uint64_t);
			continue;
		}
		if ((signed char)source[at] > 0) {
			at++;
			continue;
		}
		n = utf8_decode(source + at, len - at, &point);

		if (!n || !point)
			return bad_byte(source, source + at, lines_before, err);
		at += (size_t)n;
	}
	return true;
}

/* A copy without a byte order mark and with \n at the end of each line. */
static bool copy_source(struct lang_program *p, const char *source, size_t len)
{
	char *copy = arena_alloc(p->arena, len + 1);
	size_t from = len >= 3 && memcmp(source, "\xef\xbb\xbf", 3) == 0 ? 3 : 0, to = 0;

	if (!copy)
		return false;
	if (!memchr(source, '\r', len)) {
		to = len - from;
		memcpy(copy, source + from, to);
		from = len;
	}
	for (; from < len; from++) {
		if (source[from] == '\r' && from + 1 < len && source[from + 1] == '\n')
			continue;
		copy[to++] = source[from] == '\r' ? '\n' : source[from];
	}
	p->source = copy;
	p->source_len = to;
	return true;
}

static bool find_lines(struct lang_program *p)
{
	const char *end = p->source + p->source_len, *at = p->source;
	int n = 1;

	while ((at = memchr(at, '\n', (size_t)(end - at))) && ++at < end)
		n++;
	p->lines = ARENA_ARRAY(p->arena, const char *, (size_t)n);
	if (!p->lines)
		return false;
	p->lines[0] = at = p->source;
	for (p->n_lines = 1; p->n_lines < n; p->n_lines++)
		p->lines[p->n_lines] = at = (char *)memchr(at, '\n', (size_t)(end - at)) + 1;
	return true;
}

/* Of an input there is one expression. */
static bool check_expression(const struct node_list *module, struct err *err)
{
	const struct ast_node *at = module->n ? module->at[module->n > 1] : NULL;

	if (module->n == 1 && at->kind == NODE_EXPRESSION)
		return true;
	return err_at(
	    err, ERR_SYNTAX, at ? at->line : 1, at ? at->column : 1,
	    at ? "this is no expression; write what gives one value, as torch.randn(8, 16)"
	       : "there is no expression; write what gives one value, as "
		 "torch.randn(8, 16)");
}

static bool compile(struct lang_program *p, const struct lang_limits *limits, struct arena *scratch,
		    struct token_list *list, struct err *err)
{
	struct ast_limits ast = { limits && limits->depth ? limits->depth : DEPTH,
				  limits && limits->nodes ? limits->nodes : NODES };
	struct lang_names names = { .arena = p->arena };
	struct compiler compiler = { .lines_before = list->lines_before,
				     .expression = limits && limits->expression,
				     .program = p->arena,
				     .scratch = scratch,
				     .keys.arena = scratch,
				     .err = err };
	struct known_names known;
	struct node_list module;
	struct scope *scope;

	if (!lex(p->source, p->source_len, scratch, &names, list, err) ||
	    !ast_parse(&(struct ast_source){ p->source, list, ast }, scratch, &names, &module,
		       err) ||
	    (compiler.expression && !check_expression(&module, err)))
		return false;
	scope = scope_analyze(&module, &names, &known, scratch, err);
	if (!scope)
		return false;
	compiler.known = &known;
	p->module = compile_module(&compiler, &module, scope);
	return p->module != NULL;
}

static struct lang_program *program_new(const char *source, size_t len, struct err *err)
{
	struct lang_program *p = calloc(1, sizeof(*p));

	if (p)
		p->arena = calloc(1, sizeof(*p->arena));
	if (p && p->arena) {
		arena_init(p->arena, ARENA_BYTES);
		if (copy_source(p, source, len) && find_lines(p))
			return p;
	}
	lang_destroy(p);
	err_set(err, ERR_MEMORY, "out of memory for the source");
	return NULL;
}

struct lang_program *lang_compile(const char *source, size_t len, const struct lang_limits *limits,
				  struct err *err)
{
	size_t most = limits && limits->source_bytes ? limits->source_bytes : SOURCE_BYTES;
	struct token_list list = { .lines_before = limits ? limits->lines_before : 0 };
	struct err unread = { 0 };
	struct lang_program *p;
	struct arena scratch;

	if (!err)
		err = &unread; /* what is refused decides how it goes on */
	if (len > most) {
		err_set(err, ERR_BOUND, "the source has %zu bytes; at most %zu are allowed", len,
			most);
		return NULL;
	}
	if (!check_text(source, len, list.lines_before, err) ||
	    !(p = program_new(source, len, err)))
		return NULL;
	arena_init(&scratch, ARENA_BYTES);
	if (!compile(p, limits, &scratch, &list, err)) {
		lang_destroy(p);
		p = NULL;
	}
	VEC_FREE(&list.tokens);
	arena_finish(&scratch);
	return p;
}

void lang_destroy(struct lang_program *p)
{
	if (!p)
		return;
	arena_finish(p->arena);
	free(p->arena);
	free(p);
}
