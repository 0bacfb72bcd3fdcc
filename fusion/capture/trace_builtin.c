/* fusion/capture/trace_builtin.c -- Python's functions that act outside the tensors. */
#include <stdio.h>
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/capture/prints.h"
#include "fusion/capture/trace.h"

static bool writes_log(const struct native *f)
{
	return builtin_find("_prelude", "log") == f->id ||
	       builtin_find("warnings", "warn") == f->id;
}

/* Messages go nowhere, so natively nothing is lost; TorchDynamo calls no code that
 * might write one.  Within our logging module it is the program's call of it. */
static bool break_at_log(struct trace *t, const struct native *native, struct err *err)
{
	bool warns = builtin_find("warnings", "warn") == native->id;
	const struct frame *f = t->vm->frame;
	char subject[64];

	snprintf(subject, sizeof(subject), "logging's %s()", f->code->name);
	while (!warns && f->unit->hidden && f != t->base)
		f = f->up;
	trace_break_at(t, warns ? BREAK_SKIPPED : BREAK_LOGGING,
		       warns ? "warnings.warn()" : subject, f);
	return err_set(err, ERR_BREAK, "the graph ends here");
}

bool trace_builtin_break(void *self, const struct native *f, struct err *err)
{
	static const char *const skipped[] = { "time" };
	const struct trace *t = self;
	char subject[64];

	if (builtin_find("", "print") == f->id && prints_may(self))
		return true;
	if (writes_log(f))
		return t->native || break_at_log(self, f, err);
	if (builtin_find("_prelude", "rnn") == f->id)
		return t->native || trace_break(self, BREAK_RNN, NULL, err);
	if (t->native && !builtin_row(f->id)->impure) /* the text of symbols: they are pinned */
		return true;
	for (size_t i = 0; i < sizeof(skipped) / sizeof(skipped[0]); i++) {
		if (builtin_find(skipped[i], f->name) != f->id)
			continue;
		snprintf(subject, sizeof(subject), "%s.%s()", skipped[i], f->name);
		return trace_break(self, BREAK_SKIPPED, subject, err);
	}
	snprintf(subject, sizeof(subject), "%s()", f->name);
	return trace_break(self, BREAK_HOST_CALL, subject, err);
}
