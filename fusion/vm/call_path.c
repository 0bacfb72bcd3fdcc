/* fusion/vm/call_path.c -- which module of the program is at work.
 *
 * Two instances are one where their addresses are.  A capture's stand-ins hold only what has
 * been read of them so far, so names are looked up in what they stand for.
 */
#include "fusion/vm/call_path.h"

#include <ctype.h>
#include <string.h>

#include "fusion/vm/classes.h"

enum {
	MOST_DEPTH = 3,  /* containers between a module and one that it calls */
	MOST_BYTES = 80, /* of a name */
};

/* The first argument, perhaps in a cell; UNSET where the program is done with it. */
static struct value first_argument(const struct frame *f)
{
	for (int i = 0; i < f->code->n_own_cells; i++)
		if (f->code->cell_local[i] == 0 && f->cells[i].kind == VALUE_CELL)
			return f->cells[i].cell->content;
	return f->locals[0];
}

struct instance *call_path_module(const struct frame *f)
{
	struct value self;

	if (f->module || !f->function || f->code->n_locals == 0)
		return f->module;
	self = first_argument(f);
	if (self.kind != VALUE_INSTANCE || !class_lookup(self.instance->class, "_call_impl"))
		return NULL;
	return self.instance;
}

/* It is kept: captures forget locals that are read no more. */
void call_path_keep(struct frame *f, const struct frame *like)
{
	struct instance *m = f->module ? NULL : call_path_module(like);

	if (m)
		f->module = value_ref(value_of(m)).instance;
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

/* A name holds none of the characters that separate parts of a path. */
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

void call_path_find(const struct vm *vm, const struct call_path_stands *stands,
		    struct call_path *out)
{
	struct frame *f = vm->frame;

	for (out->n = 0; f && out->n < CALL_PATH_MODULES;
	     f = stands && f == stands->base ? stands->below : f->up) {
		const struct instance *m;

		call_path_keep(f, f);
		m = f->module;
		if (m && stands)
			m = stands->real(stands->self, value_of(f->module)).instance;
		if (m && (out->n == 0 || out->modules[out->n - 1] != m)) {
			out->births[out->n] = m->head.birth;
			out->modules[out->n++] = m;
		}
	}
}

void call_path_print(const struct call_path *p, struct buf *out)
{
	size_t began = out->len;
	struct buf text;

	if (p->n == 0)
		return;
	buf_init(&text, 0);
	for (int i = p->n - 1; i >= 0; i--)
		add_module(i + 1 < p->n ? p->modules[i + 1] : NULL, p->modules[i], &text);
	if (text.len && !text.failed)
		buf_add(out, text.data, text.len);
	else
		out->len = began;
	buf_finish(&text);
}
