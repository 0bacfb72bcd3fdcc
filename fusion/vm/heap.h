/* fusion/vm/heap.h -- counts the objects of a VM and frees their cycles.
 *
 * Reference counts free all but objects that hold one another (a local
 * function that calls itself sits in its own closure).  A collection finds those by trial deletion,
 * as CPython does: an object whose references all come from objects of the heap, none of which is
 * held from outside, is dead. So any C code that holds a reference keeps its object alive, and
 * collecting is safe at any time.
 */
#ifndef FUSION_VM_HEAP_H
#define FUSION_VM_HEAP_H

#include "fusion/vm/value.h"

struct heap {
	size_t used_bytes, limit_bytes;
	int objects;     /* adopted and alive */
	unsigned births; /* adopted so far */
	int threshold;   /* heap_collect_if_due() collects beyond this many */
	bool closed;     /* the VM is gone; the last object frees the heap */
	bool collecting;
	struct vm *vm;      /* NULL: it runs no more */
	struct object list; /* sentinel of the ring of objects */
};

struct heap *heap_create(size_t limit_bytes);

/* The VM's part ends.  What a caller still holds lives on. */
void heap_close(struct heap *heap);

/* Counts `bytes` more; false where the limit forbids it even after a
 * collection.  heap_uncharge() takes them back. */
bool heap_charge(struct heap *heap, size_t bytes);
void heap_uncharge(struct heap *heap, size_t bytes);

/* Takes an object in and charges its size; one that is in a heap stays there. */
bool heap_adopt(struct heap *heap, struct object *object);

/* Takes an object out that is about to be freed. */
void heap_forget(struct object *object);

/* Collects where many objects came since the last time. */
void heap_collect_if_due(struct heap *heap);

/* value.c: bytes of an object with what it owns alone; calls `visit` on every
 * value that it references; drops the values of a list, dict or cell. */
size_t object_bytes(const struct object *object);
typedef void object_visit_fn(struct value v, void *context);
void object_visit(struct object *object, object_visit_fn *visit, void *context);
void object_clear(struct object *object);

#endif
