/* fusion/capture/call_path.c -- see call_path.h.
 *
 * Instances are told apart by where they lie.  A capture's stand-ins hold only what has
 * been read of them so far, so names are looked up in what they stand for.
 */
#include "fusion/capture/call_path.h"

#include <ctype.h>
#include <string.h>

#include "fusion/capture/classes.h"

enum {
	MOST_MODULES = 32, /* of a path, the innermost */
	MOST_DEPTH = 3,    /* containers between a module and one that it calls */
	MOST_BYTES = 80,   /* of a name */
};

/* The module whose method the frame runs; NULL. */
static const struct instance *module_of(const struct frame *f)
{
	const struct value *self = f->locals;

	if (!f->function || f->code->n_locals == 0 || self->kind != VALUE_INSTANCE ||
	    !class_lookup(self->instance->class, "_call_impl"))
		return NULL;
	return self->instance;
}

/* Whether `parent` holds `child`, so many steps down: then names[] are those of the way. */
static bool holds(const struct instance *parent, const struct instance *child, int steps,
		  const char **names)
{
	const struct dict *own = parent->attributes;

	for (int i = 0; own && i < own->len; i++) {
		const struct value *v = &own->values[i];

		if (own->keys[i].kind != VALUE_STR || v->kind != VALUE_INSTANCE ||
		    !(steps == 1 ? v->instance == child
				 : holds(v->instance, child, steps - 1, names + 1)))
			continue;
		names[0] = own->keys[i].str->text;
		return true;
	}
	return false;
}

/* The nearest way: an attribute of its own, else in a container that it holds. */
static bool add_name(const struct instance *parent, const struct instance *child, struct buf *out)
{
	const char *names[MOST_DEPTH];
	int steps = 1;

	while (steps <= MOST_DEPTH && !holds(parent, child, steps, names))
		steps++;
	for (int i = 0; steps <= MOST_DEPTH && i < steps; i++)
		buf_printf(out, "%s%s", i ? "." : "", names[i]);
	return steps <= MOST_DEPTH;
}

/* What parts a path from another does not stand in a name of it. */
static void clean(struct buf *out, size_t from)
{
	if (out->len > from + MOST_BYTES)
		out->len = from + MOST_BYTES;
	for (size_t i = from; i < out->len; i++)
		if (!isalnum((unsigned char)out->data[i]) && !strchr("_.", out->data[i]))
			out->data[i] = '_';
}

static void add_module(const struct instance *up, const struct instance *m, struct buf *out)
{
	size_t from;

	if (out->len)
		buf_putc(out, '/');
	from = out->len;
	if (up && add_name(up, m, out)) {
		clean(out, from);
		buf_putc(out, ':');
		from = out->len;
	}
	buf_puts(out, m->class->name);
	clean(out, from);
}

void vm_call_path(const struct vm *vm, struct value (*real)(const void *self, struct value v),
		  const void *self, struct buf *out)
{
	const struct instance *path[MOST_MODULES];
	size_t began = out->len;
	struct buf text;
	int n = 0;

	for (const struct frame *f = vm->frame; f && n < MOST_MODULES; f = f->up) {
		const struct instance *m = module_of(f);

		if (m && real)
			m = real(self, f->locals[0]).instance;
		if (m && (n == 0 || path[n - 1] != m))
			path[n++] = m;
	}
	if (n == 0)
		return;
	buf_init(&text, 0);
	for (int i = n - 1; i >= 0; i--)
		add_module(i + 1 < n ? path[i + 1] : NULL, path[i], &text);
	if (text.len && !text.failed)
		buf_add(out, text.data, text.len);
	else
		out->len = began;
	buf_finish(&text);
}
