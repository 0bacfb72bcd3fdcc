/* tests/test_lang_lexer.c -- source text to tokens. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fusion/lang/token.h"

struct lexed {
	struct arena arena;
	struct token_list list;
	const char *source;
};

static void setup(struct lexed *l, const char *source)
{
	struct lang_names names = { .arena = &l->arena };
	struct err err = { 0 };

	arena_init(&l->arena, 0);
	l->list = (struct token_list){ 0 };
	l->source = source;
	assert_true(lex(source, strlen(source), &l->arena, &names, &l->list, &err));
}

static void teardown(struct lexed *l)
{
	VEC_FREE(&l->list.tokens);
	arena_finish(&l->arena);
}

static const char *const kind_names[TOK_COUNT] = {
#define TOKEN(id, text) [TOK_##id] = #id,
#define KEYWORD(id, text) [TOK_##id] = text,
#define OPERATOR(id, text, precedence, binop) [TOK_##id] = text,
#define AUGMENTED(id, text, binop) [TOK_##id] = text,
#include "fusion/lang/tokens.def"
};

/* The kinds, with the text of those that vary: "NAME:x = INTEGER:1 NEWLINE END". */
static void check(const char *source, const char *wanted)
{
	struct lexed l = { 0 };
	struct buf text;

	buf_init(&text, 0);
	setup(&l, source);
	for (size_t i = 0; i < l.list.tokens.len; i++) {
		const struct token *t = &l.list.tokens.at[i];
		bool varies = t->len && t->kind >= TOK_NAME && t->kind < TOK_ERROR;

		buf_printf(&text, "%s%s", i ? " " : "", kind_names[t->kind]);
		if (varies)
			buf_printf(&text, ":%.*s", (int)t->len, source + t->start);
	}
	if (l.list.fault.code)
		buf_printf(&text, " (%d:%d)", l.list.fault.line, l.list.fault.column);
	assert_string_equal(text.data, wanted);
	buf_finish(&text);
	teardown(&l);
}

static void an_indent_opens_a_block_and_dedents_close_all(void **state)
{
	(void)state;
	check("if x:\n  if y:\n    z\nw\n",
	      "if NAME:x : NEWLINE INDENT if NAME:y : NEWLINE INDENT NAME:z NEWLINE DEDENT DEDENT "
	      "NAME:w NEWLINE END");
	check("if x:\n\ty\n", "if NAME:x : NEWLINE INDENT NAME:y NEWLINE DEDENT END");
	check("if x:\n  y", "if NAME:x : NEWLINE INDENT NAME:y NEWLINE DEDENT END");
}

static void blank_lines_and_comments_make_no_tokens(void **state)
{
	(void)state;
	check("", "END");
	check("\n\n# one\n   # two\n\t\n", "END");
	check("x # y\n\n      # deeper\nz", "NAME:x NEWLINE NAME:z NEWLINE END");
	check("if x:\n  y\n# less\n  z\n",
	      "if NAME:x : NEWLINE INDENT NAME:y NEWLINE NAME:z NEWLINE DEDENT END");
}

static void brackets_and_backslashes_join_lines(void **state)
{
	(void)state;
	check("(x,\n      y)\nz", "( NAME:x , NAME:y ) NEWLINE NAME:z NEWLINE END");
	check("x = 1 + \\\n  2\n", "NAME:x = INTEGER:1 + INTEGER:2 NEWLINE END");
	check("x \\ y", "NAME:x ERROR (1:3)");
	check("x \\\n", "NAME:x ERROR (1:3)");
}

static void every_keyword_and_operator_is_read_whole(void **state)
{
	(void)state;
	for (int kind = 0; kind < TOK_COUNT; kind++) {
		const char *text = token_table[kind].text;
		struct lexed l = { 0 };

		if (token_table[kind].class == CLASS_SPECIAL || strchr(")]}", text[0]))
			continue;
		setup(&l, text);
		assert_int_equal(l.list.tokens.at[0].kind, kind);
		assert_int_equal(l.list.tokens.at[0].len, strlen(text));
		teardown(&l);
	}
	check("a**=b//c...d", "NAME:a **= NAME:b // NAME:c ... NAME:d NEWLINE END");
	check("iffy notable", "NAME:iffy NAME:notable NEWLINE END");
}

static uint64_t integer(const char *source)
{
	struct lexed l = { 0 };
	uint64_t value;

	setup(&l, source);
	assert_int_equal(l.list.tokens.at[0].kind, TOK_INTEGER);
	value = l.list.tokens.at[0].integer;
	teardown(&l);
	return value;
}

static double real(const char *source)
{
	struct lexed l = { 0 };
	double value;

	setup(&l, source);
	assert_int_equal(l.list.tokens.at[0].kind, TOK_FLOAT);
	value = l.list.tokens.at[0].real;
	teardown(&l);
	return value;
}

static void numbers_have_the_value_that_python_gives_them(void **state)
{
	(void)state;
	assert_int_equal(integer("0"), 0);
	assert_int_equal(integer("00_0"), 0);
	assert_int_equal(integer("1_000_000"), 1000000);
	assert_int_equal(integer("0xFf_e"), 0xffe);
	assert_int_equal(integer("0X_1F"), 0x1f);
	assert_int_equal(integer("0o17"), 15);
	assert_int_equal(integer("0b1011"), 11);
	assert_true(integer("9223372036854775808") == (uint64_t)1 << 63);
	assert_true(real("1.") == 1.0);
	assert_true(real(".5e1") == 5.0);
	assert_true(real("1_0.2_5E-1") == 1.025);
	assert_true(real("0.1") == 0.1);
	assert_true(real("1e400") > 1e308);
	assert_true(real("00.5") == 0.5);
	check("1if x", "INTEGER:1 if NAME:x NEWLINE END");
	check("1..real", "FLOAT:1. . NAME:real NEWLINE END");
	check("9223372036854775809", "INTEGER:9223372036854775809 NEWLINE END");
	check("1j", "INTEGER:1j NEWLINE END");
	check("1.5J", "FLOAT:1.5J NEWLINE END");
}

static void a_malformed_number_is_a_fault_at_its_start(void **state)
{
	static const char *const wrong[] = { "1_",  "1__0", "0x", "0xg",  "0b", "012",
					     "0o8", "1abc", "1e", "1.5_", "1jj" };

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
		struct lexed l = { 0 };

		setup(&l, wrong[i]);
		assert_int_equal(l.list.tokens.at[0].kind, TOK_ERROR);
		assert_int_equal(l.list.fault.line, 1);
		assert_true(l.list.fault.column >= 1 && l.list.fault.message[0]);
		teardown(&l);
	}
}

static void strings_of_all_prefixes_end_where_they_should(void **state)
{
	(void)state;
	check("'a\"b' \"c'd\"", "STRING:'a\"b' STRING:\"c'd\" NEWLINE END");
	check("r'\\' x", "ERROR (1:1)");
	check("r'\\'' x", "STRING:r'\\'' NAME:x NEWLINE END");
	check("Rb'' bR\"\" u'' B''", "STRING:Rb'' STRING:bR\"\" STRING:u'' STRING:B'' NEWLINE END");
	check("'''a'b''c\n''' x", "STRING:'''a'b''c\n''' NAME:x NEWLINE END");
	check("ub''", "NAME:ub STRING:'' NEWLINE END");
	check("'a\\\nb'", "STRING:'a\\\nb' NEWLINE END");
	check("'a\nb'", "ERROR (1:1)");
	check("x = '''a\nb", "NAME:x = ERROR (1:5)");
}

static void fstrings_are_text_and_tokens(void **state)
{
	(void)state;
	check("f''", "FSTRING_START:f' FSTRING_END:' NEWLINE END");
	check("f'a{x}b'",
	      "FSTRING_START:f' FSTRING_MIDDLE:a { NAME:x } FSTRING_MIDDLE:b FSTRING_END:' NEWLINE "
	      "END");
	check("f'{{a}}'", "FSTRING_START:f' FSTRING_MIDDLE:{{a}} FSTRING_END:' NEWLINE END");
	check(
	    "f'{x!r:>{w}.2}'",
	    "FSTRING_START:f' { NAME:x ! NAME:r : FSTRING_MIDDLE:> { NAME:w } FSTRING_MIDDLE:.2 } "
	    "FSTRING_END:' NEWLINE END");
	check("f'{x != y}'", "FSTRING_START:f' { NAME:x != NAME:y } FSTRING_END:' NEWLINE END");
	check("f'{d[\"a\":{}]}'",
	      "FSTRING_START:f' { NAME:d [ STRING:\"a\" : { } ] } FSTRING_END:' NEWLINE END");
	check("f'{f'{1}'}'",
	      "FSTRING_START:f' { FSTRING_START:f' { INTEGER:1 } FSTRING_END:' } FSTRING_END:' "
	      "NEWLINE END");
	check("f'''{\nx\n}\n'''", "FSTRING_START:f''' { NAME:x } FSTRING_MIDDLE:\n "
				  "FSTRING_END:''' NEWLINE END");
	check("f'{x", "FSTRING_START:f' { NAME:x ERROR (1:1)");
	check("f'a}'", "FSTRING_START:f' FSTRING_MIDDLE:a ERROR (1:4)");
	check("f'{x:{y:{z:{w}}}}'",
	      "FSTRING_START:f' { NAME:x : { NAME:y : { NAME:z : ERROR (1:12)");
}

static void columns_count_characters_and_lines_count_line_ends(void **state)
{
	struct lexed l = { 0 };
	const struct token *t;

	(void)state;
	setup(&l, "\xce\xbb = '\xe6\x97\xa5' + x\n  \\\n  y = '''\n\n''' z");
	t = l.list.tokens.at;
	assert_int_equal(t[0].column, 1);
	assert_int_equal(t[0].end_column, 2);
	assert_int_equal(t[2].column, 5);
	assert_int_equal(t[3].column, 9); /* + */
	assert_int_equal(t[4].column, 11);
	assert_int_equal(t[6].kind, TOK_INDENT);
	assert_int_equal(t[7].line, 3); /* y */
	assert_int_equal(t[7].column, 3);
	assert_int_equal(t[9].line, 3);
	assert_int_equal(t[9].end_line, 5);
	assert_int_equal(t[9].end_column, 4);
	assert_int_equal(t[10].line, 5);
	assert_int_equal(t[10].column, 5);
	teardown(&l);
}

static void a_name_is_one_pointer_wherever_it_stands(void **state)
{
	struct lexed l = { 0 };

	(void)state;
	setup(&l, "alpha beta alpha");
	assert_ptr_equal(l.list.tokens.at[0].name, l.list.tokens.at[2].name);
	assert_ptr_not_equal(l.list.tokens.at[0].name, l.list.tokens.at[1].name);
	assert_string_equal(l.list.tokens.at[1].name, "beta");
	teardown(&l);
}

static void the_first_fault_is_the_last_token(void **state)
{
	(void)state;
	check("x = (1]\ny = '", "NAME:x = ( INTEGER:1 ERROR (1:7)");
	check("x = )", "NAME:x = ERROR (1:5)");
	check("x = $", "NAME:x = ERROR (1:5)");
	check("f(a,\n [b\n", "NAME:f ( NAME:a , [ NAME:b ERROR (2:2)");
	check("if x:\n        y\n\tz\n", "if NAME:x : NEWLINE INDENT NAME:y NEWLINE ERROR (3:2)");
	check("if x:\n    y\n  z\n",
	      "if NAME:x : NEWLINE INDENT NAME:y NEWLINE DEDENT ERROR (3:3)");
}

static void nesting_has_a_bound(void **state)
{
	char source[2 * LEX_BRACKETS + 8] = "";
	struct lexed l = { 0 };

	(void)state;
	memset(source, '[', LEX_BRACKETS);
	memset(source + LEX_BRACKETS, ']', LEX_BRACKETS);
	setup(&l, source);
	assert_int_equal(l.list.fault.code, ERR_NONE);
	teardown(&l);
	memset(source, '[', LEX_BRACKETS + 1);
	setup(&l, source);
	assert_int_equal(l.list.fault.code, ERR_BOUND);
	assert_int_equal(l.list.fault.column, LEX_BRACKETS + 1);
	teardown(&l);
}

static void want_of_memory_is_an_error(void **state)
{
	static const char source[] = "alpha = beta + 1.5 * gamma(delta)\n";
	bool ok = false;

	(void)state;
	for (size_t limit = 16; !ok; limit += 16) {
		struct arena arena;
		struct lang_names names = { .arena = &arena };
		struct token_list list = { 0 };
		struct err err = { 0 };

		arena_init(&arena, limit);
		ok = lex(source, strlen(source), &arena, &names, &list, &err);
		assert_int_equal(err.code, ok ? ERR_NONE : ERR_MEMORY);
		VEC_FREE(&list.tokens);
		arena_finish(&arena);
		assert_true(limit < 1 << 20);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(an_indent_opens_a_block_and_dedents_close_all),
		cmocka_unit_test(blank_lines_and_comments_make_no_tokens),
		cmocka_unit_test(brackets_and_backslashes_join_lines),
		cmocka_unit_test(every_keyword_and_operator_is_read_whole),
		cmocka_unit_test(numbers_have_the_value_that_python_gives_them),
		cmocka_unit_test(a_malformed_number_is_a_fault_at_its_start),
		cmocka_unit_test(strings_of_all_prefixes_end_where_they_should),
		cmocka_unit_test(fstrings_are_text_and_tokens),
		cmocka_unit_test(columns_count_characters_and_lines_count_line_ends),
		cmocka_unit_test(a_name_is_one_pointer_wherever_it_stands),
		cmocka_unit_test(the_first_fault_is_the_last_token),
		cmocka_unit_test(nesting_has_a_bound),
		cmocka_unit_test(want_of_memory_is_an_error),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
