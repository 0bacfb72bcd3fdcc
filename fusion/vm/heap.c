/* fusion/vm/heap.c -- counts the objects of a VM and frees their cycles.  During a collection
 * `mark` counts the references from outside the heap that are not yet explained away. */
#include "fusion/vm/heap.h"

#include <stdlib.h>

enum { FIRST_THRESHOLD = 10000, REACHED = -1, SUSPECT = -2 };

struct heap *heap_create(size_t limit_bytes)
{
	struct heap *heap = calloc(1, sizeof(*heap));

	if (!heap)
		return NULL;
	heap->limit_bytes = limit_bytes;
	heap->threshold = FIRST_THRESHOLD;
	heap->list.next = heap->list.prev = &heap->list;
	return heap;
}

static void link_last(struct object *list, struct object *o)
{
	o->prev = list->prev;
	o->next = list;
	list->prev->next = o;
	list->prev = o;
}

static void unlink_object(struct object *o)
{
	o->prev->next = o->next;
	o->next->prev = o->prev;
}

static void explain(struct value v, void *context)
{
	if (value_counted(v) && v.object->heap == context)
		v.object->mark--;
}

struct heap_sweep {
	struct heap *heap;
	struct object suspects; /* sentinel: no reference from outside seen so far */
};

static void reach(struct value v, void *context)
{
	struct heap_sweep *sweep = context;
	struct object *o;

	if (!value_counted(v) || v.object->heap != sweep->heap)
		return;
	o = v.object;
	if (o->mark == SUSPECT) { /* cleared of suspicion: to be scanned after all */
		unlink_object(o);
		link_last(&sweep->heap->list, o);
		o->mark = 1;
	} else if (o->mark == 0) {
		o->mark = 1;
	}
}

/* Leaves the dead in sweep->suspects, the living in the heap's list. */
static void find_dead(struct heap_sweep *sweep)
{
	struct heap *heap = sweep->heap;
	struct object *o, *next;

	for (o = heap->list.next; o != &heap->list; o = o->next)
		o->mark = o->refs;
	for (o = heap->list.next; o != &heap->list; o = o->next)
		object_visit(o, explain, heap);
	for (o = heap->list.next; o != &heap->list; o = next) {
		if (o->mark > 0) {
			o->mark = REACHED;
			object_visit(o, reach, sweep); /* may append to the list */
			next = o->next;
		} else {
			next = o->next;
			unlink_object(o);
			link_last(&sweep->suspects, o);
			o->mark = SUSPECT;
		}
	}
}

static void collect(struct heap *heap)
{
	struct heap_sweep sweep = { .heap = heap };
	struct object *o;

	sweep.suspects.next = sweep.suspects.prev = &sweep.suspects;
	heap->objects++; /* it must outlive its last object */
	heap->collecting = true;
	find_dead(&sweep);
	for (o = sweep.suspects.next; o != &sweep.suspects; o = o->next)
		o->refs++;
	/* Every cycle passes through a list, a dict or a cell. */
	for (o = sweep.suspects.next; o != &sweep.suspects; o = o->next)
		object_clear(o);
	while ((o = sweep.suspects.next) != &sweep.suspects) {
		unlink_object(o); /* another dead object may hold it a moment longer */
		link_last(&heap->list, o);
		value_unref(value_of(o));
	}
	heap->objects--;
	heap->collecting = false;
	heap->threshold = heap->objects * 2 > FIRST_THRESHOLD ? heap->objects * 2 : FIRST_THRESHOLD;
}

void heap_close(struct heap *heap)
{
	collect(heap);
	heap->closed = true;
	if (heap->objects == 0)
		free(heap);
}

bool heap_charge(struct heap *heap, size_t bytes)
{
	if (bytes > heap->limit_bytes)
		return false;
	if (heap->used_bytes > heap->limit_bytes - bytes) {
		collect(heap);
		if (heap->used_bytes > heap->limit_bytes - bytes)
			return false;
	}
	heap->used_bytes += bytes;
	return true;
}

void heap_uncharge(struct heap *heap, size_t bytes)
{
	heap->used_bytes -= bytes;
}

bool heap_adopt(struct heap *heap, struct object *object)
{
	if (object->heap)
		return true;
	if (!heap_charge(heap, object_bytes(object)))
		return false;
	object->heap = heap;
	object->birth = heap->births++;
	link_last(&heap->list, object);
	heap->objects++;
	return true;
}

void heap_forget(struct object *object)
{
	struct heap *heap = object->heap;

	if (!heap)
		return;
	unlink_object(object);
	heap->used_bytes -= object_bytes(object);
	object->heap = NULL;
	if (--heap->objects == 0 && heap->closed)
		free(heap);
}

void heap_collect_if_due(struct heap *heap)
{
	if (heap->objects > heap->threshold)
		collect(heap);
}
