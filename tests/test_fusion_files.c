/* tests/test_fusion_files.c -- programs of several files: imports as Python has them.
 *
 * Each row is a program, files after "=== PATH", and what its model() returns, or where it fails
 * and how: as CPython 3.11 says it.  Each runs in modes eager and static.
 */
#include "tests/engine.h"

enum { MOST_FILES = 8, TEXT_BYTES = 4096 };

struct program {
	const char *name, *entry, *text, *want;
};

static const struct program programs[] = {
	{ "circular_from", "main.py",
	  "=== main.py\n"
	  "import a\n"
	  "def model():\n"
	  "    return a.x\n"
	  "=== a.py\n"
	  "from b import y\n"
	  "x = 1\n"
	  "=== b.py\n"
	  "from a import x\n"
	  "y = 2\n",
	  "b.py:1: cannot import name 'x' from partially initialized module 'a' (most likely due "
	  "to a circular import) (/a.py)" },
	{ "circular_attr", "main.py",
	  "=== main.py\n"
	  "import a\n"
	  "def model():\n"
	  "    return a.x\n"
	  "=== a.py\n"
	  "import b\n"
	  "x = 1\n"
	  "=== b.py\n"
	  "import a\n"
	  "y = a.x\n",
	  "b.py:2: partially initialized module 'a' has no attribute 'x' (most likely due to a "
	  "circular import)" },
	{ "circular_ok", "main.py",
	  "=== main.py\n"
	  "import a\n"
	  "def model():\n"
	  "    return a.f()\n"
	  "=== a.py\n"
	  "import b\n"
	  "x = 1\n"
	  "def f():\n"
	  "    return b.g()\n"
	  "=== b.py\n"
	  "import a\n"
	  "def g():\n"
	  "    return a.x + 1\n",
	  "2" },
	{ "no_name", "main.py",
	  "=== main.py\n"
	  "from a import nope\n"
	  "def model():\n"
	  "    return 1\n"
	  "=== a.py\n"
	  "x = 1\n",
	  "main.py:1: cannot import name 'nope' from 'a' (/a.py)" },
	{ "no_sub", "main.py",
	  "=== main.py\n"
	  "import a.b\n"
	  "def model():\n"
	  "    return 1\n"
	  "=== a/__init__.py\n"
	  "x = 1\n",
	  "main.py:1: No module named 'a.b'" },
	{ "not_pkg", "main.py",
	  "=== main.py\n"
	  "import a.b\n"
	  "def model():\n"
	  "    return 1\n"
	  "=== a.py\n"
	  "x = 1\n",
	  "main.py:1: No module named 'a.b'; 'a' is not a package" },
	{ "caught", "main.py",
	  "=== main.py\n"
	  "try:\n"
	  "    from a import nope\n"
	  "except ImportError as e:\n"
	  "    msg = str(e) + '|' + type(e).__name__\n"
	  "try:\n"
	  "    import a.zzz\n"
	  "except ModuleNotFoundError as e:\n"
	  "    msg2 = str(e)\n"
	  "def model():\n"
	  "    return msg, msg2\n"
	  "=== a.py\n"
	  "x = 1\n",
	  "(\"cannot import name 'nope' from 'a' (/a.py)|ImportError\", \"No module named 'a.zzz'; "
	  "'a' is not a package\")" },
	{ "beyond", "main.py",
	  "=== main.py\n"
	  "from p import m\n"
	  "def model():\n"
	  "    return 1\n"
	  "=== p/__init__.py\n"
	  "=== p/m.py\n"
	  "from ... import x\n",
	  "p/m.py:1: attempted relative import beyond top-level package" },
	{ "noparent", "main.py",
	  "=== main.py\n"
	  "from . import x\n"
	  "def model():\n"
	  "    return 1\n",
	  "main.py:1: attempted relative import with no known parent package" },
	{ "attr", "main.py",
	  "=== main.py\n"
	  "import a\n"
	  "def model():\n"
	  "    return a.zzz\n"
	  "=== a.py\n"
	  "x = 1\n",
	  "main.py:3: module 'a' has no attribute 'zzz'" },
	{ "names", "main.py",
	  "=== main.py\n"
	  "import p.q.r as r\n"
	  "from p import q\n"
	  "import p\n"
	  "def model():\n"
	  "    return r.__name__, r.__package__, q.__name__, q.__package__, p.__package__, r.N, "
	  "p.q.r is r, r.__doc__\n"
	  "=== p/__init__.py\n"
	  "=== p/q/__init__.py\n"
	  "=== p/q/r.py\n"
	  "'doc'\n"
	  "N = __name__\n",
	  "('p.q.r', 'p.q', 'p.q', 'p.q', 'p', 'p.q.r', True, 'doc')" },
	{ "star", "main.py",
	  "=== main.py\n"
	  "from p import *\n"
	  "def model():\n"
	  "    return a, b, f(), sub.z\n"
	  "=== p/__init__.py\n"
	  "from .x import *\n"
	  "__all__ = ['a', 'b', 'f', 'sub']\n"
	  "=== p/x.py\n"
	  "a = 1\n"
	  "b = 2\n"
	  "_c = 3\n"
	  "def f():\n"
	  "    return _c\n"
	  "=== p/sub.py\n"
	  "z = 9\n",
	  "(1, 2, 3, 9)" },
	{ "star_hidden", "main.py",
	  "=== main.py\n"
	  "from x import *\n"
	  "def model():\n"
	  "    return a, _c\n"
	  "=== x.py\n"
	  "a = 1\n"
	  "_c = 3\n",
	  "main.py:3: name '_c' is not defined" },
	{ "global_shared", "main.py",
	  "=== main.py\n"
	  "import st\n"
	  "from st import n, inc\n"
	  "def model():\n"
	  "    inc()\n"
	  "    inc()\n"
	  "    st.n += 10\n"
	  "    inc()\n"
	  "    return st.n, n\n"
	  "=== st.py\n"
	  "n = 0\n"
	  "def inc():\n"
	  "    global n\n"
	  "    n += 1\n",
	  "(13, 0)" },
	{ "lazy_in_function", "main.py",
	  "=== main.py\n"
	  "log = []\n"
	  "def model():\n"
	  "    import late\n"
	  "    from late import v\n"
	  "    return late.v, v\n"
	  "=== late.py\n"
	  "import main2\n"
	  "v = main2.w + 1\n"
	  "=== main2.py\n"
	  "w = 41\n",
	  "(42, 42)" },
	{ "namespace", "main.py",
	  "=== main.py\n"
	  "from models.unet import f\n"
	  "import models\n"
	  "def model():\n"
	  "    return f(), models.__name__\n"
	  "=== models/unet.py\n"
	  "from .parts import g\n"
	  "from models import other\n"
	  "def f():\n"
	  "    return g() + other.k\n"
	  "=== models/parts.py\n"
	  "def g():\n"
	  "    return 4\n"
	  "=== models/other.py\n"
	  "k = 3\n",
	  "(7, 'models')" },
	{ "shadow", "main.py",
	  "=== main.py\n"
	  "import utils, types as t\n"
	  "from config import cfg\n"
	  "def model():\n"
	  "    return utils.u, cfg.a\n"
	  "=== utils.py\n"
	  "u = 5\n"
	  "=== config.py\n"
	  "class cfg:\n"
	  "    a = 7\n",
	  "(5, 7)" },
	{ "getattr_mod", "main.py",
	  "=== main.py\n"
	  "import a\n"
	  "from a import lazy\n"
	  "def model():\n"
	  "    return lazy, getattr(a, 'x', 0), hasattr(a, 'qq'), getattr(a, 'y', 3)\n"
	  "=== a.py\n"
	  "x = 1\n"
	  "def __getattr__(name):\n"
	  "    if name == 'lazy':\n"
	  "        return 'L'\n"
	  "    raise AttributeError(f'no {name}')\n",
	  "('L', 1, False, 3)" },
	{ "setattr_mod", "main.py",
	  "=== main.py\n"
	  "import a\n"
	  "def model():\n"
	  "    a.new = 5\n"
	  "    setattr(a, 'x', 6)\n"
	  "    r = a.get(), a.new\n"
	  "    del a.new\n"
	  "    return r + (hasattr(a, 'new'),)\n"
	  "=== a.py\n"
	  "x = 1\n"
	  "def get():\n"
	  "    return x\n",
	  "(6, 5, False)" },
	{ "raise_in", "main.py",
	  "=== main.py\n"
	  "import a\n"
	  "def model():\n"
	  "    return a.f(0)\n"
	  "=== a.py\n"
	  "def f(x):\n"
	  "    return 1 / x\n",
	  "a.py:2: division by zero" },
	{ "syntax", "main.py",
	  "=== main.py\n"
	  "import a\n"
	  "def model():\n"
	  "    return 1\n"
	  "=== a.py\n"
	  "x = (1,\n"
	  "y = 2\n",
	  "a.py:1: the '(' that opens here is never closed" },
	{ "reimport_after_fail", "main.py",
	  "=== main.py\n"
	  "import flag\n"
	  "try:\n"
	  "    import a\n"
	  "except ValueError:\n"
	  "    pass\n"
	  "flag.ok = True\n"
	  "import a\n"
	  "def model():\n"
	  "    return a.v, flag.runs\n"
	  "=== flag.py\n"
	  "ok = False\n"
	  "runs = 0\n"
	  "=== a.py\n"
	  "import flag\n"
	  "flag.runs += 1\n"
	  "if not flag.ok:\n"
	  "    raise ValueError('x')\n"
	  "v = 3\n",
	  "(3, 2)" },
	{ "main_guard", "main.py",
	  "=== main.py\n"
	  "import a\n"
	  "def model():\n"
	  "    return a.r\n"
	  "=== a.py\n"
	  "r = 1\n"
	  "if __name__ == '__main__':\n"
	  "    r = 2\n",
	  "1" },
	{ "pkg_entry", "p/m.py",
	  "=== p/__init__.py\n"
	  "from .m import model\n"
	  "z = 4\n"
	  "=== p/m.py\n"
	  "from .n import k\n"
	  "def model():\n"
	  "    from . import z\n"
	  "    return k + z, __name__\n"
	  "=== p/n.py\n"
	  "k = 1\n",
	  "(5, 'p.m')" },
	{ "src_layout", "main.py",
	  "=== main.py\n"
	  "import p.m\n"
	  "def model():\n"
	  "    return p.m.k\n"
	  "=== p/m.py\n"
	  "k = 1\n",
	  "1" },
	{ "import_as_sub", "main.py",
	  "=== main.py\n"
	  "import p.a as x, p.b\n"
	  "def model():\n"
	  "    return x.k, p.b.k, p.a.k\n"
	  "=== p/__init__.py\n"
	  "=== p/a.py\n"
	  "k = 1\n"
	  "=== p/b.py\n"
	  "k = 2\n",
	  "(1, 2, 1)" },
	{ "func_global_names", "main.py",
	  "=== main.py\n"
	  "from a import f\n"
	  "x = 'main'\n"
	  "def model():\n"
	  "    return f()\n"
	  "=== a.py\n"
	  "x = 'a'\n"
	  "def f():\n"
	  "    return x\n",
	  "'a'" },
	{ "name_error", "main.py",
	  "=== main.py\n"
	  "from a import f\n"
	  "x = 'main'\n"
	  "def model():\n"
	  "    return f()\n"
	  "=== a.py\n"
	  "def f():\n"
	  "    return x\n",
	  "a.py:2: name 'x' is not defined" },
	{ "class_across", "main.py",
	  "=== main.py\n"
	  "from a import B\n"
	  "class C(B):\n"
	  "    def f(self):\n"
	  "        return super().f() + 1\n"
	  "def model():\n"
	  "    return C().f(), C.__mro__[1].__name__\n"
	  "=== a.py\n"
	  "class B:\n"
	  "    K = 3\n"
	  "    def f(self):\n"
	  "        return self.K\n",
	  "(4, 'B')" },
	{ "unknown_mod", "main.py",
	  "=== main.py\n"
	  "try:\n"
	  "    import apexx\n"
	  "except ImportError as e:\n"
	  "    s = str(e)\n"
	  "def model():\n"
	  "    return s\n",
	  "\"No module named 'apexx'\"" },
	{ "from_pkg_sub", "main.py",
	  "=== main.py\n"
	  "from p.sub import x\n"
	  "import p\n"
	  "def model():\n"
	  "    return x, p.sub.x, p.sub.__file__[-12:]\n"
	  "=== p/__init__.py\n"
	  "=== p/sub/__init__.py\n"
	  "x = 2\n",
	  "(2, 2, '/__init__.py')" },
	{ "dunder_all_missing", "main.py",
	  "=== main.py\n"
	  "from a import *\n"
	  "def model():\n"
	  "    return 1\n"
	  "=== a.py\n"
	  "__all__ = ['q']\n",
	  "main.py:1: module 'a' has no attribute 'q'" },

};

/* Cuts the text at its "=== PATH" lines. */
static struct fusion_files cut(char *text, const char *entry, struct fusion_file *list)
{
	struct fusion_files files = { .at = list };
	char *at = text;

	while (at && strncmp(at, "=== ", 4) == 0) {
		char *end = strchr(at, '\n'), *next = strstr(end + 1, "=== ");

		*end = '\0';
		list[files.n] = (struct fusion_file){ at + 4, end + 1,
						      next ? (size_t)(next - end - 1)
							   : strlen(end + 1) };
		if (strcmp(at + 4, entry) == 0)
			files.entry = files.n;
		files.n++;
		at = next;
	}
	return files;
}

static void run(const struct program *p, enum fusion_mode mode, struct buf *got)
{
	struct fusion_options options = { .backend = "interp", .threads = 1, .steps = 200000 };
	struct fusion_file list[MOST_FILES];
	struct err err = { 0 };
	char text[TEXT_BYTES];
	struct fusion_files files;
	struct value out = value_none();
	struct engine e = { .f = fusion_create(&options, &err) };

	assert_non_null(e.f);
	snprintf(text, sizeof(text), "%s", p->text);
	files = cut(text, p->entry, list);
	e.program = fusion_parse_in(NULL, &files, "model", &err);
	if (e.program)
		e.session = fusion_session(e.f, e.program, mode, &err);
	if (!e.session || !fusion_call(e.session, NULL, 0, &out, &err))
		buf_printf(got, "%s:%d: %s", err.file, err.line, err.message);
	else
		value_print(got, out, false);
	value_unref(out);
	fusion_session_destroy(e.session);
	fusion_program_destroy(e.program);
	fusion_destroy(e.f);
}

static void test_imports(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(programs) / sizeof(programs[0]); i++)
		for (enum fusion_mode mode = FUSION_EAGER; mode <= FUSION_STATIC; mode++) {
			struct buf got = { 0 };

			run(&programs[i], mode, &got);
			if (strcmp(got.data, programs[i].want) != 0)
				fail_msg("%s, %s: got %s\nwanted %s", programs[i].name,
					 fusion_mode_name(mode), got.data, programs[i].want);
			buf_finish(&got);
		}
}

/* A graph break is told with its file, and lines count on from file to file. */
static void test_places(void **state)
{
	static const char main_text[] = "import net\n\ndef model(x):\n    return net.f(x) + 1\n";
	static const char net_text[] = "import torch\n\n\ndef f(x):\n    x = x * 2\n"
				       "    torch._dynamo.graph_break()\n    return x.sin()\n";
	const struct fusion_file list[] = { { "net.py", net_text, sizeof(net_text) - 1 },
					    { "main.py", main_text, sizeof(main_text) - 1 } };
	struct fusion_options options = { .backend = "interp", .threads = 1 };
	struct err err = { 0 };
	struct engine e = { .f = fusion_create(&options, &err) };
	struct value x, out;
	struct fusion_break b;
	int line;

	(void)state;
	e.program = fusion_parse_in(NULL, &(struct fusion_files){ list, 2, 1 }, "model", &err);
	assert_non_null(e.program);
	e.session = fusion_session(e.f, e.program, FUSION_STATIC, &err);
	assert_non_null(e.session);
	x = FLOATS(&e, 1, 4);
	out = engine_call(&e, &x, 1);
	value_unref(out);
	value_unref(x);
	assert_true(fusion_counts(e.session).n_breaks > 0);
	b = fusion_break(e.session, 0);
	assert_string_equal(fusion_place(e.program, b.stack[b.n_stack - 1].line, &line), "net.py");
	assert_int_equal(line, 6);
	assert_string_equal(fusion_place(e.program, b.stack[0].line, &line), "main.py");
	assert_int_equal(line, 4);
	assert_null(fusion_place(e.program, 100, &line));
	for (int i = 0; i < fusion_counts(e.session).n_frames; i++)
		assert_null(strstr(fusion_frame(e.session, i).name, "_at_11"));
	engine_close(&e);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_imports),
		cmocka_unit_test(test_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
