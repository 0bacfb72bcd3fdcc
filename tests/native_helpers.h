/* tests/native_helpers.h -- programs whose functions break, under policy native.
 *
 * Each program runs on several inputs, natively in each mode and in eager: results
 * or errors with their places, what is printed and what is written to the argument
 * are the same.  The first call makes as many graphs as the table says, and breaks
 * no more often than TorchDynamo.
 */
#ifndef TESTS_NATIVE_HELPERS_H
#define TESTS_NATIVE_HELPERS_H

#include "tests/native_programs.h"

struct helper {
	const char *name, *source;
	int graphs; /* 0: not looked at */
};

/* What no policy captures. */
static const char breaks[] = "import torch\n"
			     "@torch._dynamo.disable\n"
			     "def values(x):\n"
			     "    return x.tolist()\n"
			     "@torch._dynamo.disable\n"
			     "def place(x, n):\n"
			     "    return [0, 1, 2].index(n)\n";

static inline struct engine begin(const char *source, enum fusion_mode mode,
				  enum fusion_policy policy)
{
	struct fusion_options options = { .backend = "interp", .threads = 1, .policy = policy };
	struct engine e = { .f = fusion_create(&options, NULL) };
	struct err err = { 0 };
	char text[4096];

	snprintf(text, sizeof(text), "%s%s", breaks, source);
	e.program = fusion_parse(text, strlen(text), "model", &err);
	if (e.program)
		e.session = fusion_session(e.f, e.program, mode, &err);
	if (!e.session)
		fail_msg("%d:%d: %s", err.line, err.column, err.message);
	return e;
}

static inline void same_text(const char *name, struct buf *said, struct buf *wanted)
{
	if (said->len != wanted->len ||
	    (said->len > 0 && memcmp(said->data, wanted->data, said->len) != 0))
		fail_msg("%s: printed %.*s, not %.*s", name, (int)said->len,
			 said->data ? said->data : "", (int)wanted->len,
			 wanted->data ? wanted->data : "");
	buf_clear(said);
	buf_clear(wanted);
}

/* One call in both: a result, or an error, of the same place and words. */
static inline void same_call(const char *name, struct engine *native, struct engine *eager,
			     int seed, int size)
{
	struct value a = FLOATS(native, seed, size), b = FLOATS(eager, seed, size);
	struct value x = value_none(), y = value_none();
	struct err why = { 0 }, wanted = { 0 };
	bool ok = fusion_call(native->session, &a, 1, &x, &why);

	if (ok != fusion_call(eager->session, &b, 1, &y, &wanted))
		fail_msg("%s: %s; in eager: %s", name, why.message, wanted.message);
	if (ok)
		same_tensors(name, x, y);
	else if (why.code != wanted.code || why.line != wanted.line ||
		 why.column != wanted.column || strcmp(why.message, wanted.message) != 0)
		fail_msg("%s: %d:%d: %s; in eager: %d:%d: %s", name, why.line, why.column,
			 why.message, wanted.line, wanted.column, wanted.message);
	same_tensors(name, a, b);
	same_text(name, fusion_stdout(native->session), fusion_stdout(eager->session));
	if (ok) {
		value_unref(x);
		value_unref(y);
	}
	value_unref(a);
	value_unref(b);
}

static inline void check_counts(const struct helper *p, enum fusion_mode mode)
{
	struct engine native = begin(p->source, mode, FUSION_NATIVE);
	struct engine dynamo = begin(p->source, mode, FUSION_DYNAMO);
	struct value a = FLOATS(&native, 0, 3), b = FLOATS(&dynamo, 0, 3), x, y;
	struct err err = { 0 };

	if (fusion_call(native.session, &a, 1, &x, &err))
		value_unref(x);
	if (fusion_call(dynamo.session, &b, 1, &y, &err))
		value_unref(y);
	if (p->graphs > 0 && fusion_counts(native.session).n_graphs != p->graphs)
		fail_msg("%s: %d graphs", p->name, fusion_counts(native.session).n_graphs);
	if (fusion_counts(native.session).n_breaks > fusion_counts(dynamo.session).n_breaks)
		fail_msg("%s: %d breaks, of TorchDynamo %d", p->name,
			 fusion_counts(native.session).n_breaks,
			 fusion_counts(dynamo.session).n_breaks);
	value_unref(a);
	value_unref(b);
	engine_close(&native);
	engine_close(&dynamo);
}

static inline void check_helpers(const struct helper *programs, size_t n)
{
	static const enum fusion_mode modes[] = { FUSION_STATIC, FUSION_AUTO, FUSION_DYNAMIC };

	for (size_t i = 0; i < n; i++)
		for (int m = 0; m < 3; m++) {
			struct engine native = begin(programs[i].source, modes[m], FUSION_NATIVE);
			struct engine eager = begin(programs[i].source, FUSION_EAGER, 0);

			check_counts(&programs[i], modes[m]);
			for (int seed = 0; seed < 5; seed++)
				same_call(programs[i].name, &native, &eager, seed, 3);
			for (int size = 4; size < 8; size++)
				same_call(programs[i].name, &native, &eager, 3, size);
			same_call(programs[i].name, &native, &eager, 2, 3);
			engine_close(&native);
			engine_close(&eager);
		}
}

#endif
