/* fusion/capture/prints.c -- print() as something that a piece leaves. */
#include "fusion/capture/prints.h"

#include <stdlib.h>
#include <string.h>

#include "fusion/capture/deferred_text.h"

bool prints_may(const struct trace *t)
{
	return t->native && t->prints.len < MAX_PRINTS;
}

bool prints_add(struct trace *t, const char *text, size_t len)
{
	struct traced_print p = { .condition = -1 };

	if (!text)
		text = "";
	if (memchr(text, TEXT_GAP, len)) {
		if (!late_text_make(t, text, len, &p.text, NULL))
			return false;
	} else {
		p.text = value_str(text, len);
		if (p.text.kind == VALUE_UNSET)
			return false;
	}
	if (VEC_PUSH(&t->prints, p))
		return true;
	value_unref(p.text);
	return false;
}

void prints_drop(struct trace *t, size_t n)
{
	for (size_t i = n; i < t->prints.len; i++)
		value_unref(t->prints.at[i].text);
	t->prints.len = n;
}

static bool describe(struct entry_print *to, const struct traced_print *p, struct recipe_builder *b)
{
	struct value condition = { .kind = VALUE_LATEBOOL, .i = p->condition };

	*to = (struct entry_print){ .condition = -1 };
	if (p->condition >= 0) {
		to->condition = recipe_add(b, condition);
		if (to->condition < 0)
			return false;
	}
	to->text = recipe_add(b, p->text);
	return to->text >= 0;
}

bool prints_describe(struct prints *p, struct recipe_builder *b, struct arena *arena)
{
	const struct trace *t = b->trace;

	p->n = 0;
	p->at = ARENA_ARRAY(arena, struct entry_print, t->prints.len + 1);
	if (!p->at)
		return trace_no_memory(b->err);
	for (size_t i = 0; i < t->prints.len; i++, p->n++)
		if (!describe(&p->at[i], &t->prints.at[i], b))
			return false;
	return true;
}

void prints_write(const struct prints *p, const struct recipe *r, struct vm *vm)
{
	struct vm_host *host = vm->host;

	for (int i = 0; i < p->n; i++) {
		const struct str *text = r->made[p->at[i].text].str;

		if (host->print && (p->at[i].condition < 0 || r->made[p->at[i].condition].b))
			host->print(host->self, text->text, text->len);
	}
}
