/* tests/test_lang_compile.c -- code objects, limits and carets.
 *
 * What each construct compiles to is in tests/lang; here is what holds for
 * all of them.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <glob.h>

#include "fusion/source.h"
#include "fusion/lang/lang.h"

static struct lang_program *compiled(const char *source)
{
	struct err err = { 0 };
	struct lang_program *p = lang_compile(source, strlen(source), NULL, &err);

	if (!p)
		fail_msg("%s\n%d:%d: %s", source, err.line, err.column, err.message);
	return p;
}

static struct err refused(const char *source, size_t len, const struct lang_limits *limits)
{
	struct err err = { 0 };

	assert_null(lang_compile(source, len, limits, &err));
	assert_int_not_equal(err.code, ERR_NONE);
	assert_true(err.message[0]);
	return err;
}

static char *slurp(const char *path, size_t *len)
{
	FILE *file = fopen(path, "rb");
	char *text = NULL;

	*len = 0;
	if (!file)
		fail_msg("%s cannot be read; run from the project's root", path);
	for (size_t cap = 1 << 16, n = 1; n; *len += n, cap *= 2) {
		text = realloc(text, cap);
		assert_non_null(text);
		n = fread(text + *len, 1, cap - *len - 1, file);
	}
	text[*len] = '\0';
	fclose(file);
	return text;
}

/* Depth of the stack after an instruction, from code.def's effects. */
static int after(const struct lang_inst *inst, int depth)
{
	switch (inst->op) {
	case CODE_LOAD_CONST:
	case CODE_LOAD_FAST:
	case CODE_LOAD_GLOBAL:
	case CODE_LOAD_DEREF:
	case CODE_LOAD_CLOSURE:
	case CODE_COPY:
	case CODE_FOR_ITER:
	case CODE_IMPORT:
		return depth + 1;
	case CODE_LOAD_ATTR:
	case CODE_UNARY_OP:
	case CODE_GET_ITER:
	case CODE_JUMP:
	case CODE_SWAP:
		return depth;
	case CODE_STORE_ATTR:
	case CODE_MAKE_FUNCTION:
		return depth - 2;
	case CODE_STORE_SUBSCR:
		return depth - 3;
	case CODE_BUILD_TUPLE:
	case CODE_BUILD_LIST:
	case CODE_BUILD_SLICE:
		return depth + 1 - inst->arg;
	case CODE_BUILD_MAP:
		return depth + 1 - 2 * inst->arg;
	case CODE_UNPACK_SEQUENCE:
		return depth - 1 + inst->arg;
	case CODE_CALL:
		return depth - inst->arg;
	case CODE_CALL_KW:
		return depth - inst->arg - 1;
	case CODE_STORE_FAST:
	case CODE_STORE_GLOBAL:
	case CODE_STORE_DEREF:
	case CODE_BINARY_OP:
	case CODE_INPLACE_OP:
	case CODE_COMPARE_OP:
	case CODE_BINARY_SUBSCR:
	case CODE_JUMP_IF_FALSE:
	case CODE_JUMP_IF_TRUE:
	case CODE_POP:
	case CODE_RETURN:
		return depth - 1;
	default:
		return depth + code_effect(inst->op, inst->arg);
	}
}

static bool jumps(const struct lang_inst *inst)
{
	return inst->op == CODE_JUMP || inst->op == CODE_JUMP_IF_FALSE ||
	       inst->op == CODE_JUMP_IF_TRUE || inst->op == CODE_FOR_ITER;
}

static void reach(int *depths, int n, int at, int depth)
{
	assert_in_range(at, 0, n - 1);
	if (depths[at] < 0)
		depths[at] = depth;
	assert_int_equal(depths[at], depth);
}

static bool goes_on(const struct lang_inst *inst)
{
	return inst->op != CODE_JUMP && inst->op != CODE_RETURN && inst->op != CODE_RAISE &&
	       inst->op != CODE_RERAISE;
}

/* An error comes to each of its handlers with the exception on the stack, which
 * was never less deep than they want it. */
static int reach_handlers(const struct code *code, int *depths, int i)
{
	int deepest = 0;

	for (int k = 0; k < code->n_handlers; k++) {
		const struct lang_handler *h = &code->handlers[k];

		if (i < h->start || i >= h->end)
			continue;
		assert_true(h->depth >= 0 && depths[i] >= h->depth && h->target > i);
		reach(depths, code->n_insts, h->target, h->depth + 1);
		deepest = h->depth + 1 > deepest ? h->depth + 1 : deepest;
	}
	return deepest;
}

/* Every instruction is reached with one depth, and none is deeper than told. */
static void check_stack(const struct code *code)
{
	int *depths = malloc((size_t)code->n_insts * sizeof(*depths)), deepest = 0;

	assert_true(code->n_insts > 0);
	for (int i = 0; i < code->n_insts; i++)
		depths[i] = -1;
	depths[0] = 0;
	for (int i = 0; i < code->n_insts; i++) {
		const struct lang_inst *inst = &code->insts[i];
		int next = after(inst, depths[i]), raised = reach_handlers(code, depths, i);

		assert_true(depths[i] >= 0); /* nothing is unreachable */
		assert_true(next >= 0 && inst->line > 0 && inst->column > 0);
		deepest = next > deepest ? next : deepest;
		deepest = raised > deepest ? raised : deepest;
		if (jumps(inst))
			reach(depths, code->n_insts, inst->arg,
			      inst->op == CODE_FOR_ITER ? next - 2 : next);
		if (goes_on(inst))
			reach(depths, code->n_insts, i + 1, next);
	}
	assert_int_equal(deepest, code->stack_depth);
	free(depths);
	for (int i = 0; i < code->n_nested; i++)
		check_stack(code->nested[i]);
}

static void the_stack_has_one_depth_at_each_instruction(void **state)
{
	const char *dir = getenv("TESTS_DIR");
	char pattern[4096];
	int checked = 0;
	glob_t found;

	(void)state;
	snprintf(pattern, sizeof(pattern), "%s/*.py", dir ? dir : "tests/lang");
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct lang_program *p;
		struct err err;
		size_t len;
		char *source = slurp(found.gl_pathv[i], &len);

		p = lang_compile(source, len, NULL, &err);
		if (p) {
			check_stack(p->module);
			checked++;
		}
		lang_destroy(p);
		free(source);
	}
	assert_true(checked >= 25);
	globfree(&found);
}

/* The next "source" of cases.json with its escapes read, or NULL. */
static char *next_source(const char **at)
{
	static const char key[] = "\"source\":";
	const char *s = strstr(*at, key);
	char *text, *to;

	if (!s)
		return NULL;
	s = strchr(s + strlen(key), '"') + 1;
	text = to = malloc(strlen(s));
	for (; *s != '"'; s++) {
		if (*s != '\\')
			*to++ = *s;
		else
			*to++ = *++s == 'n' ? '\n' : *s == 't' ? '\t' : *s;
		assert_true(s[0] != 'u' || s[-1] != '\\');
	}
	*to = '\0';
	*at = s;
	return text;
}

static void the_oracles_programs_compile(void **state)
{
	enum { PROGRAMS = 67 };
	int programs = 0;
	size_t len;
	char *json = slurp("tests/oracle/cases.json", &len), *source;
	const char *at = json;

	(void)state;
	for (; (source = next_source(&at)); programs++) {
		struct lang_program *p = compiled(source);

		check_stack(p->module);
		lang_destroy(p);
		free(source);
	}
	assert_int_equal(programs, PROGRAMS);
	free(json);
}

static void a_program_keeps_its_source_by_lines(void **state)
{
	struct lang_program *p = compiled("\xef\xbb\xbf"
					  "a = 1\r\nb = 2\rc = 3\n");

	(void)state;
	assert_string_equal(p->source, "a = 1\nb = 2\nc = 3\n");
	assert_int_equal(p->source_len, 18);
	assert_int_equal(p->n_lines, 3);
	assert_ptr_equal(p->lines[2], p->source + 12);
	lang_destroy(p);
	p = compiled("");
	assert_int_equal(p->n_lines, 1);
	lang_destroy(p);
	lang_destroy(NULL);
}

static void parameters_come_first_and_in_order(void **state)
{
	struct lang_program *p = compiled("def f(a, b=1, *c, d, e=2, **g):\n"
					  "    h = lambda: (b, c)\n");
	const struct code *code = p->module->nested[0];
	static const char *const locals[] = { "a", "b", "d", "e", "c", "g", "h" };

	(void)state;
	assert_int_equal(code->n_positional, 2);
	assert_int_equal(code->n_keyword_only, 2);
	assert_true(code->has_varargs && code->has_kwargs);
	assert_int_equal(code->n_locals, 7);
	for (int i = 0; i < 7; i++)
		assert_string_equal(code->locals[i], locals[i]);
	assert_int_equal(code->n_own_cells, 2);
	assert_string_equal(code->cells[0], "b");
	assert_int_equal(code->cell_local[0], 1);
	assert_string_equal(code->cells[1], "c");
	assert_int_equal(code->cell_local[1], 4);
	lang_destroy(p);
}

static void equal_constants_are_one_and_others_stay_apart(void **state)
{
	struct lang_program *p = compiled(
	    "x = 1, a, 1, 1.0, True, '1', (1,), (1,), (1.0,), -0.0, 0.0\n"
	    "y = 'a\\0b', 'a'\n");
	const struct code *code = p->module;

	(void)state;
	/* 1 1.0 True "1" (1,) (1.0,) -0.0 0.0 ("a\0b", "a") None */
	assert_int_equal(code->n_consts, 10);
	assert_int_equal(code->consts[8].kind, CONST_TUPLE);
	assert_int_equal(code->consts[8].items[0].n, 3);
	assert_memory_equal(code->consts[8].items[0].str, "a\0b", 4);
	lang_destroy(p);
}

static void limits_are_kept_and_named(void **state)
{
	struct lang_limits small = { .source_bytes = 10 };
	struct lang_limits shallow = { .depth = 3 };
	struct lang_limits few = { .nodes = 5 };
	struct err err;

	(void)state;
	lang_destroy(compiled("x = (((1)))\n"));
	err = refused("x = 1 + 22\n", 11, &small);
	assert_int_equal(err.code, ERR_BOUND);
	assert_non_null(strstr(err.message, "11 bytes"));
	err = refused("x = (((1)))\n", 12, &shallow);
	assert_int_equal(err.code, ERR_BOUND);
	assert_int_equal(err.column, 8);
	err = refused("x = a + b + c\n", 14, &few);
	assert_int_equal(err.code, ERR_BOUND);
}

/* A finally block is compiled for each way out of it. */
static void finally_blocks_that_multiply_are_refused(void **state)
{
	enum { LEVELS = 40 };
	struct buf inside, returns;
	struct err err;

	(void)state;
	buf_init(&inside, 0);
	buf_init(&returns, 0);
	buf_puts(&inside, "def f():\n");
	buf_puts(&returns, "def f():\n");
	for (int i = 1; i <= LEVELS; i++) {
		buf_printf(&inside, "%*stry:\n%*sx()\n%*sfinally:\n", i, "", i + 1, "", i, "");
		buf_printf(&returns, "%*stry:\n", i, "");
	}
	buf_printf(&inside, "%*sx()\n", LEVELS + 1, "");
	buf_printf(&returns, "%*sreturn 1\n", LEVELS + 1, "");
	for (int i = LEVELS; i > 0; i--)
		buf_printf(&returns, "%*sfinally:\n%*sif x: return 2\n", i, "", i + 1, "");
	err = refused(inside.data, inside.len, NULL);
	assert_int_equal(err.code, ERR_BOUND);
	assert_non_null(strstr(err.message, "the program is too large"));
	err = refused(returns.data, returns.len, NULL);
	assert_int_equal(err.code, ERR_BOUND);
	assert_non_null(strstr(err.message, "more than 16 finally blocks"));
	buf_finish(&inside);
	buf_finish(&returns);
}

static void bytes_that_are_not_text_are_refused_at_their_place(void **state)
{
	struct err err;

	(void)state;
	err = refused("a\n\xce\xbb = \x80", 7, NULL);
	assert_int_equal(err.line, 2);
	assert_int_equal(err.column, 5);
	err = refused("a\r\nb\r\0", 6, NULL);
	assert_int_equal(err.line, 3);
	assert_int_equal(err.column, 1);
	refused("\xc0\x80", 2, NULL);         /* overlong */
	refused("\xed\xa0\x80", 3, NULL);     /* a surrogate */
	refused("\xf4\x90\x80\x80", 4, NULL); /* above 10FFFF */
	refused("\xe2\x82", 2, NULL);         /* cut short */
}

static void check_caret(const char *source, int line, int column, const char *wanted)
{
	struct err err = { .code = ERR_NAME, .line = line, .column = column, .message = "no" };
	struct buf out;

	buf_init(&out, 0);
	lang_caret(&out, "m.py", source, &err);
	assert_string_equal(out.data, wanted);
	buf_finish(&out);
}

static void a_caret_stands_below_its_character(void **state)
{
	(void)state;
	check_caret("a = b\nx = torch.sinn(x)\n", 2, 5,
		    "m.py:2:5: no\n    2 | x = torch.sinn(x)\n      |     ^\n");
	check_caret("a = b", 1, 6, "m.py:1:6: no\n    1 | a = b\n      |      ^\n");
	check_caret("\t\tx y", 1, 5, "m.py:1:5: no\n    1 | \t\tx y\n      | \t\t  ^\n");
	check_caret("\xce\xbb \xce\xbc", 1, 3,
		    "m.py:1:3: no\n    1 | \xce\xbb \xce\xbc\n      |   ^\n");
	check_caret("a\r\nb\rc", 3, 1, "m.py:3:1: no\n    3 | c\n      | ^\n");
}

static void a_caret_needs_a_place_that_exists(void **state)
{
	(void)state;
	check_caret("a", 0, 0, "m.py: no\n");
	check_caret("a", 1, 0, "m.py:1: no\n");
	check_caret("a", 7, 1, "m.py:7:1: no\n");
	check_caret("a", 1, 1000, "m.py:1:1000: no\n    1 | a\n      |  ^\n");
}

static void a_caret_line_is_safe_to_print(void **state)
{
	char source[3000], wanted[400], part[130];

	(void)state;
	check_caret("a\x1b[2Jb\x7f\xff", 1, 1, "m.py:1:1: no\n    1 | a?[2Jb??\n      | ^\n");
	memset(source, 'x', sizeof(source));
	source[sizeof(source) - 1] = '\0';
	memset(part, 'x', 120);
	part[120] = '\0';
	snprintf(wanted, sizeof(wanted), "m.py:1:1000: no\n    1 | ...%s...\n      | %*s\n", part,
		 64, "^");
	check_caret(source, 1, 1000, wanted);
}

static void symbols_are_as_python_spells_them(void **state)
{
	(void)state;
	assert_string_equal(binop_symbol(BIN_FLOORDIV), "//");
	assert_string_equal(binop_symbol(BIN_MATMUL), "@");
	assert_string_equal(unop_symbol(UN_NOT), "not");
	assert_string_equal(cmpop_symbol(CMP_NOT_IN), "not in");
	for (int op = 0; op < BIN_COUNT; op++)
		assert_non_null(binop_symbol((enum binop)op));
	for (int op = 0; op < CMP_COUNT; op++)
		assert_non_null(cmpop_symbol((enum cmpop)op));
	assert_string_equal(binop_symbol(BIN_COUNT), "?");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_stack_has_one_depth_at_each_instruction),
		cmocka_unit_test(the_oracles_programs_compile),
		cmocka_unit_test(a_program_keeps_its_source_by_lines),
		cmocka_unit_test(parameters_come_first_and_in_order),
		cmocka_unit_test(equal_constants_are_one_and_others_stay_apart),
		cmocka_unit_test(limits_are_kept_and_named),
		cmocka_unit_test(finally_blocks_that_multiply_are_refused),
		cmocka_unit_test(bytes_that_are_not_text_are_refused_at_their_place),
		cmocka_unit_test(a_caret_stands_below_its_character),
		cmocka_unit_test(a_caret_needs_a_place_that_exists),
		cmocka_unit_test(a_caret_line_is_safe_to_print),
		cmocka_unit_test(symbols_are_as_python_spells_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
