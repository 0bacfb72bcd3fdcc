/* fusion/vm/late.c -- text that is made when the graph has run.
 *
 * A capture hands such a text on, puts it into another one, prints and returns
 * it.  Whatever looks at its characters ends the graph. */
#include <string.h>

#include "fusion/vm/builtins.h"
#include "fusion/vm/operators.h"

bool text_append(struct vm *vm, struct value v, struct buf *text, struct err *err)
{
	struct vm_host *host;

	if (v.kind == VALUE_STR) {
		buf_add(text, v.str->text, v.str->len);
		return true;
	}
	host = vm_host_here(vm);
	return host->late_bytes(host->self, v, text, err);
}

bool text_needed(struct vm *vm, struct value v, struct err *err)
{
	struct vm_host *host = vm_host_here(vm);

	if (!host->need_text)
		return err_set(err, ERR_INTERNAL, "a text that no capture knows was read");
	return host->need_text(host->self, v, err);
}

bool text_has_gaps(const struct buf *text)
{
	return text->data && memchr(text->data, TEXT_GAP, text->len);
}

void text_close_gaps(struct buf *text)
{
	char *to = text->data;

	if (!text_has_gaps(text))
		return;
	for (size_t i = 0; i < text->len;) {
		if ((unsigned char)text->data[i] != TEXT_GAP) {
			*to++ = text->data[i++];
			continue;
		}
		memcpy(to, "...", 3);
		to += 3;
		i += TEXT_GAP_BYTES;
	}
	*to = '\0';
	text->len = (size_t)(to - text->data);
}

/* Builtins that only hand on what they get from argument `first` on, keywords
 * too, or know such text. */
static bool hands_on(const struct builtin *row, int index, bool keyword)
{
	static const struct {
		const char *name;
		int first;
	} rows[] = {
		{ "print", 0 },    { "str", 0 },
		{ "repr", 0 },     { "join", 0 },
		{ "append", 0 },   { "isinstance", 0 },
		{ "callable", 0 }, { "insert", 1 },
		{ "get", 1 },      { "setdefault", 1 },
		{ "setattr", 2 },  { "getattr", 2 },
		{ "next", 1 },     { "with_traceback", 0 },
		{ "type", 0 },     { "bool", 0 },
	};

	if (strcmp(row->name, "format") == 0)
		return index == 0 || row->scope[0] != '\0';
	if (strcmp(row->name, "dict") == 0 || strcmp(row->name, "update") == 0)
		return keyword;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (strcmp(row->name, rows[i].name) == 0)
			return index >= rows[i].first;
	return false;
}

bool text_arguments(struct vm *vm, const struct native *f, const struct arguments *args,
		    struct err *err)
{
	int positional = args->kw ? args->n - args->kw->n : args->n;

	if (f->self.kind == VALUE_DEFERRED_TEXT)
		return text_needed(vm, f->self, err);
	for (int i = 0; f->builtin && i < args->n; i++)
		if (args->at[i].kind == VALUE_DEFERRED_TEXT &&
		    !hands_on(builtin_row(f->id), i, i >= positional))
			return text_needed(vm, args->at[i], err);
	return true;
}
