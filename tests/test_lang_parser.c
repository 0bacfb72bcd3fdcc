/* tests/test_lang_parser.c -- what is Python and what is not, and the tree.
 *
 * Which side of the line a program is on was checked against CPython 3.12.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "fusion/lang/parser.h"
#include "fusion/lang/scope.h"

struct parsed {
	struct arena arena;
	struct node_list module;
	struct scope *scope; /* NULL: refused */
	struct err err;
};

static const struct ast_limits usual = { 200, 500000 };

static void parse(struct parsed *p, const char *source, const struct ast_limits *limits)
{
	struct lang_names names = { .arena = &p->arena };
	struct known_names known;
	struct token_list list = { 0 };

	*p = (struct parsed){ 0 };
	assert_true(lex(source, strlen(source), &p->arena, &names, &list, &p->err));
	if (ast_parse(&(struct ast_source){ source, &list, *limits }, &p->arena, &names, &p->module,
		      &p->err))
		p->scope = scope_analyze(&p->module, &names, &known, &p->arena, &p->err);
	VEC_FREE(&list.tokens);
}

static void accepts_one(const char *source)
{
	struct parsed p;

	parse(&p, source, &usual);
	if (!p.scope)
		fail_msg("%s\n%d:%d: %s", source, p.err.line, p.err.column, p.err.message);
	arena_finish(&p.arena);
}

static void refuses_one(const char *source, enum err_code code)
{
	struct parsed p;

	parse(&p, source, &usual);
	if (p.scope)
		fail_msg("accepted: %s", source);
	assert_int_equal(p.err.code, code);
	assert_true(p.err.line >= 1 && p.err.column >= 1);
	arena_finish(&p.arena);
}

#define ACCEPTED(...)                                                                              \
	do {                                                                                       \
		static const char *const list[] = { __VA_ARGS__ };                                 \
		for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)                        \
			accepts_one(list[i]);                                                      \
	} while (0)
#define REFUSED(...)                                                                               \
	do {                                                                                       \
		static const char *const list[] = { __VA_ARGS__ };                                 \
		for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)                        \
			refuses_one(list[i], ERR_SYNTAX);                                          \
	} while (0)

static void statements_of_python_parse(void **state)
{
	(void)state;
	ACCEPTED("", "pass", "pass;", "a; b; c", "a = b = c", "a, b = c", "(a, b), c = d",
		 "[a, *b] = c", "*a, = b", "a.b, c[0] = d", "a: int", "a: int = 3", "(a): int = 3",
		 "a.b: int", "a += 1", "a @= b", "a[0] **= 2", "del a, b[0], c.d", "del (a, [b])",
		 "assert a", "assert a, b", "raise", "raise a", "raise a from b", "import a.b.c",
		 "import a as b, c.d as e", "from a import b", "from a.b import (c as d, e,)",
		 "from . import a", "from ...a import b", "from .... import a", "from a import *",
		 "global a", "if a: b\nelif c: d\nelse: e", "while a: b\nelse: c",
		 "for a in b: c\nelse: d", "for a, *b in c, d: e", "for (a, b) in c: pass",
		 "for a.b in c: break", "while a: continue", "try: a\nexcept: b",
		 "try: a\nexcept A: b\nexcept (B, C) as e: c\nelse: d\nfinally: f",
		 "try: a\nfinally: b", "with a: b", "with a as b, c as (d, e): f",
		 "with (a as b, c as d,): e", "with (a, b): c", "with (a): b", "with (a) as b: c",
		 "with (a, b) as c: d", "with (a), (b): c", "...", "'docstring'",
		 "match = 1\nmatch.a(b)[c]: int", "type = 1; case = type(match)", "_ = print");
}

static void functions_and_classes_of_python_parse(void **state)
{
	(void)state;
	ACCEPTED("def f(): pass", "def f(a, b=1, *c, d, e=2, **g): return a",
		 "def f(a, /, b, *, c): return", "def f(a, b=1, /): pass", "def f(*, a): pass",
		 "def f(*a: int, **b: str) -> c: pass", "def f(*a: *b): pass", "def f(a,): pass",
		 "def f(**a,): pass", "@a\n@b.c(d)\ndef f(): pass", "@a[0]\nclass C: pass",
		 "class C(A, B, k=c, *d, **e): x = 1", "class C(): pass",
		 "def f():\n def g():\n  nonlocal x\n x = 1", "def f():\n global x\n x = 1",
		 "def f(): yield", "def f(): x = yield a, b", "def f(): yield from a",
		 "def f(): return *a, b", "def f(a=(b := 1)): pass", "lambda: 0",
		 "lambda a, b=1, *c, d, **e: a", "lambda *, a: a", "lambda: (yield)",
		 "def f():\n  x = 1\n\n  # comment\n  return x", "def f(): x = 1; return x");
}

static void expressions_of_python_parse(void **state)
{
	(void)state;
	ACCEPTED("a if b else c if d else e", "not not a", "a or b and not c",
		 "a < b <= c is not d", "a not in b", "-+~a", "a ** -b ** c", "-a ** b", "(a)",
		 "()", "(a,)", "a,", "[]", "[a, *b,]", "{}", "{a}", "{a, *b}", "{a: b, **c,}",
		 "{**a}", "[a for b in c]", "[a for b in c if d if e for f in g]", "{a for b in c}",
		 "{a: b for c in d}", "(a for b in c)", "f(a for b in c)", "f((a for b in c), d)",
		 "[(a, b) for c in d]", "[a for b, in c]", "[x for x in y]", "a[b]", "a[b, c]",
		 "a[b:c]", "a[::]", "a[b:c:d, ...]", "a[*b]", "a[b := 1]", "a[(b := 1):2]", "f()",
		 "f(a,)", "f(a, *b, c, d=e, *g, **h, i=j)", "f(a := 1)", "f(**a, **b)", "(a := b)",
		 "[a := 1, b]", "{(a := 1): 2}", "a.b.c", "a().b[c](d)", "'a' \"b\" '''c'''",
		 "b'a' b'b'", "f'a' 'b' f'{c}'", "f'{a!r:{b}}{c=}{d=:>3}'", "f'{a:{b}{c}}'",
		 "f'{ {1: 2}[1] }'", "f'{(lambda x: x)(1)}'", "f'{yield_}'", "f'{*a, b}'",
		 "rf'\\{a}'", "1 .real", "1.0.real", "a if b else lambda: c",
		 "[b for a in (lambda: c, d) if (lambda: a)]", "print(a, end='')",
		 "a = b if c else d,", "x = *a, b", "a = yield_ = 1");
}

static void what_is_not_python_is_refused(void **state)
{
	(void)state;
	REFUSED(
	    "a b", "a = ", "= a", "a + ", "(a", "a)", "[a)", "a = b c", "if a", "if a:", "if a:\nb",
	    "if a: if b: c", "while: a", "for a: b", "for a in: b", "for 1 in a: b",
	    "for f() in a: b", "def f: a", "def (): a", "def f(a b): c", "def f(1): a",
	    "def f(a, a): b", "def f(a=1, b): c", "def f(*): a", "def f(*, **a): b",
	    "def f(**a, b): c", "def f(*a, *b): c", "def f(*a=1): b", "def f(/, a): b",
	    "def f(a, /, b, /): c", "def f(*a, /): b", "lambda a=1, b: c", "class: a",
	    "class C(: a", "else: a", "elif a: b", "try: a", "try: a\nelse: b",
	    "try: a\nexcept: b\nexcept C: d", "except: a", "finally: a", "with: a", "with a as: b",
	    "with a as f(): b", "@a\nb", "@\ndef f(): a", "return", "return a", "yield", "break",
	    "continue", "def f(): break", "for a in b:\n def f(): continue", "class C: return",
	    "def f():\n class C: return", "nonlocal a", "def f(): nonlocal a", "def f(a): global a",
	    "def f(a): nonlocal a", "def f():\n a = 1\n global a", "def f():\n print(a)\n global a",
	    "def f():\n global a\n nonlocal a", "def f():\n global a\n a: int = 1", "f() = 1",
	    "1 = a", "'a' = b", "None = 1", "a + b = c", "a < b = c", "(a, 1) = b", "[f()] = a",
	    "a if b else c = d", "lambda: a = b", "{a: b} = c", "*a = b", "a, *b, *c = d",
	    "f'{a}' = b", "f() += 1", "a, b += 1", "[a] += 1", "f(): int", "a, b: int", "del f()",
	    "del a + b", "del 1", "import", "import a.", "import a as", "import a as b.c", "from a",
	    "from a import", "from a import (b", "from a import b,", "from import a",
	    "from a import ()", "def f(): from a import *", "global", "global a.b", "assert",
	    "raise a from", "pass a", "a := 1", "(a.b := 1)", "f(a.b := 1)", "a[b:=1:2]",
	    "[a for b]", "[a for b in]", "[*a for b in c]", "{**a for b in c}", "[a, b for c in d]",
	    "f(a for b in c, d)", "f(a, b for c in d)", "f(a=1, b)", "f(**a, b)", "f(**a, *b)",
	    "f(a=1, a=2)", "f(a.b=1)", "f(1=2)", "f(None=1)", "f(a b)", "f(a,, b)", "{a: b, c}",
	    "{a, b: c}", "{a:}", "{: a}", "a[]", "a[b c]", "*a", "(*a)", "x = *a", "print a",
	    "a ++", "a && b", "!a", "a ? b : c", "a <> b", "a = = b", "not", "a not b", "a is",
	    "in a", "(yield)", "f'{}'", "f'{a'", "f'}'", "f'{a!x}'", "f'{a!}'", "f'{lambda x: 1}'",
	    "'a' b'b'", "'\\x1'", "'\\u12'", "b'\\x'", "b'\xce\xbb'", "1__0", "0777", "1abc",
	    "a\n b", "if a:\n  b\n c", "if a:\n\tb\n        c", "a \\ b", "class = 1",
	    "def if(): a", "a.for", "import in", "[(x := 1) for x in y]", "[x := 1 for x in y]",
	    "def f(): return\n yield", "else if a: b", "(a = 1)", "if a = 1: b", "x = {a = 1}");
}

static void what_is_outside_the_language_is_named(void **state)
{
	static const char *const list[] = {
		"[a async for a in b]",

		"type A = int",         "def f[T](a): pass", "class C[T]: pass",
		"try: a\nexcept* B: c", "'\\N{DASH}'",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(list) / sizeof(list[0]); i++)
		refuses_one(list[i], ERR_UNSUPPORTED);
}

static void nodes_span_their_source(void **state)
{
	const struct ast_node *sum, *call;
	struct parsed p;

	(void)state;
	parse(&p, "y = (a +\n     f(b,\n       c=1)) * d\n", &usual);
	assert_non_null(p.scope);
	assert_int_equal(p.module.n, 1);
	sum = p.module.at[0]->assign.value;
	assert_int_equal(sum->kind, NODE_BINARY);
	assert_int_equal(sum->binary.op, BIN_MUL);
	assert_int_equal(sum->column, 5); /* at the bracket */
	assert_int_equal(sum->end_line, 3);
	assert_int_equal(sum->end_column, 17);
	assert_true(sum->binary.left->in_brackets);
	assert_int_equal(sum->binary.left->column, 6); /* within it */
	call = sum->binary.left->binary.right;
	assert_int_equal(call->kind, NODE_CALL);
	assert_int_equal(call->line, 2);
	assert_int_equal(call->column, 6);
	assert_int_equal(call->end_line, 3);
	assert_int_equal(call->end_column, 12);
	assert_string_equal(call->call.arguments.at[1]->keyword.name, "c");
	arena_finish(&p.arena);
}

static void a_block_ends_with_its_last_statement(void **state)
{
	struct parsed p;

	(void)state;
	parse(&p, "def f(x):\n    if x:\n        y\n\n\nz\n", &usual);
	assert_non_null(p.scope);
	assert_int_equal(p.module.at[0]->end_line, 3);
	assert_int_equal(p.module.at[0]->end_column, 10);
	arena_finish(&p.arena);
}

static void check_depth(const char *open, const char *core, const char *close, int n, bool fits)
{
	size_t room = (strlen(open) + strlen(close)) * (size_t)n + strlen(core) + 1;
	char *source = calloc(room, 1);
	struct parsed p;

	for (int i = 0; i < n; i++)
		strcat(source, open);
	strcat(source, core);
	for (int i = 0; i < n; i++)
		strcat(source, close);
	parse(&p, source, &usual);
	assert_int_equal(p.scope != NULL, fits);
	if (!fits)
		assert_int_equal(p.err.code, ERR_BOUND);
	arena_finish(&p.arena);
	free(source);
}

static void depth_is_bounded_for_every_way_to_nest(void **state)
{
	static const struct {
		const char *open, *core, *close;
	} ways[] = {
		{ "(", "a", ")" },
		{ "[", "a", "]" },
		{ "f(", "a", ")" },
		{ "a[", "a", "]" },
		{ "-", "a", "" },
		{ "not ", "a", "" },
		{ "a ** ", "a", "" },
		{ "lambda: ", "a", "" },
		{ "a if b else ", "a", "" },
		{ "{a: ", "b", "}" },
		{ "[", "a", " for a in b]" },
		{ "f'{", "a", "}'" },
		{ "f(b=", "a", ")" },
		{ "(a := ", "a", ")" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		check_depth(ways[i].open, ways[i].core, ways[i].close, 20, true);
		check_depth(ways[i].open, ways[i].core, ways[i].close, 2000, false);
	}
}

static void chains_may_be_long_but_not_endless(void **state)
{
	static const char *const links[] = { " + a", ".b", "[0]", "()", " @ a" };

	(void)state;
	for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
		check_depth("", "a", links[i], 900, true);
		check_depth("", "a", links[i], 1100, false);
	}
	check_depth("", "a", " and a", 5000, true); /* a list, not a chain */
	check_depth("", "a", " < a", 5000, true);
	check_depth("", "a", ", a.b + c", 5000, true);
	check_depth("a = ", "a", "", 5000, true);
}

static void nodes_are_counted(void **state)
{
	static const struct ast_limits few = { 200, 10 };
	struct parsed p;

	(void)state;
	parse(&p, "a + b", &few);
	assert_non_null(p.scope);
	arena_finish(&p.arena);
	parse(&p, "a + b + c + d + e + f", &few);
	assert_null(p.scope);
	assert_int_equal(p.err.code, ERR_BOUND);
	arena_finish(&p.arena);
}

static void names_resolve_as_python_resolves_them(void **state)
{
	const struct scope *outer, *inner, *class;
	struct parsed p;

	(void)state;
	parse(&p,
	      "g = 1\n"
	      "def outer(a, b):\n"
	      "    c = b\n"
	      "    class K:\n"
	      "        c = 2\n"
	      "        def inner(self):\n"
	      "            return a + c + g\n"
	      "    return K\n",
	      &usual);
	assert_non_null(p.scope);
	outer = p.module.at[1]->function->scope;
	class = p.module.at[1]->function->body.at[1]->class->scope;
	inner = p.module.at[1]->function->body.at[1]->class->body.at[1]->function->scope;
	assert_int_equal(scope_find(outer, "nothing") == NULL, true);
	assert_int_equal(outer->symbols[0].kind, SYMBOL_CELL);      /* a */
	assert_int_equal(outer->symbols[1].kind, SYMBOL_LOCAL);     /* b */
	assert_int_equal(outer->symbols[2].kind, SYMBOL_CELL);      /* c: not the class's */
	assert_int_equal(class->symbols[0].kind, SYMBOL_NAMESPACE); /* c: in the namespace */
	assert_int_equal(inner->n_symbols, 4);
	assert_int_equal(inner->symbols[1].kind, SYMBOL_FREE);   /* a */
	assert_int_equal(inner->symbols[2].kind, SYMBOL_FREE);   /* c */
	assert_int_equal(inner->symbols[3].kind, SYMBOL_GLOBAL); /* g */
	assert_int_equal(inner->n_own_cells, 0);
	assert_int_equal(inner->n_cells, 2);
	assert_int_equal(outer->n_own_cells, 2);
	arena_finish(&p.arena);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(statements_of_python_parse),
		cmocka_unit_test(functions_and_classes_of_python_parse),
		cmocka_unit_test(expressions_of_python_parse),
		cmocka_unit_test(what_is_not_python_is_refused),
		cmocka_unit_test(what_is_outside_the_language_is_named),
		cmocka_unit_test(nodes_span_their_source),
		cmocka_unit_test(a_block_ends_with_its_last_statement),
		cmocka_unit_test(depth_is_bounded_for_every_way_to_nest),
		cmocka_unit_test(chains_may_be_long_but_not_endless),
		cmocka_unit_test(nodes_are_counted),
		cmocka_unit_test(names_resolve_as_python_resolves_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
