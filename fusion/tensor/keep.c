/* fusion/tensor/keep.c -- tensors that stay as they are while the program writes to their
 * memory.
 */
#include "fusion/tensor/keep.h"

#include "fusion/tensor/shadow.h"
#include "fusion/tensor/view.h"

struct tensor *tensor_keep(struct tensor *t, struct err *err)
{
	struct tensor *kept = tensor_view(t, t->rank, t->size, t->stride, t->offset, err);

	if (!kept)
		return NULL;
	kept->kept = true;
	kept->next_kept = t->storage->kept;
	t->storage->kept = kept;
	return kept;
}

/* Backward passes end with what was kept first: it is near the head. */
void tensor_unkeep(struct tensor *t)
{
	struct tensor **place = &t->storage->kept;

	while (*place != t)
		place = &(*place)->next_kept;
	*place = t->next_kept;
	t->kept = false;
}

/* All of the storage, as elements of the dtype. */
static struct tensor *copy_storage(struct storage *s, enum dtype dtype, struct err *err)
{
	int64_t n = (int64_t)(s->bytes / dtype_bytes(dtype));
	struct tensor all = {
		.storage = s, .refs = 1, .dtype = dtype, .rank = 1, .size = { n }, .stride = { 1 }
	};
	struct tensor *copy = tensor_create(s->allocator, dtype, 1, &n, err);

	if (!copy)
		return NULL;
	tensor_copy(copy, &all);
	copy->storage->version = s->version;
	if (s->shadow && !shadow_copy(copy, &all, err)) {
		tensor_unref(copy);
		return NULL;
	}
	return copy;
}

bool storage_move_kept(struct storage *s, struct err *err)
{
	struct tensor *copy = copy_storage(s, s->kept->dtype, err);

	if (!copy)
		return false;
	while (s->kept) {
		struct tensor *t = s->kept;

		tensor_unkeep(t);
		t->storage = copy->storage;
		t->storage->refs++;
		storage_unref(s);
	}
	tensor_unref(copy);
	return true;
}
