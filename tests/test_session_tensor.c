/* tests/test_session_tensor.c -- tensors, views and the allocator's accounts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "fusion/base/sanitized.h"
#include "fusion/tensor/keep.h"

static const size_t MIB = 1 << 20;

static void memory_is_aligned_and_has_slack(void **state)
{
	struct allocator *a = allocator_create(1024 * MIB, NULL);

	(void)state;
	for (size_t bytes = 0; bytes < 8 * MIB; bytes = bytes * 2 + 3) {
		unsigned char *p = allocator_get(a, bytes, NULL);

		assert_non_null(p);
		assert_int_equal((uintptr_t)p % 64, 0);
		memset(p, 1, bytes + 64); /* the sanitizer would object */
		allocator_put(a, p, bytes);
	}
	allocator_destroy(a);
}

static void a_freed_block_is_used_again(void **state)
{
	struct allocator *a = allocator_create(16 * MIB, NULL);
	void *p = allocator_get(a, 5000, NULL), *q;

	(void)state;
	allocator_put(a, p, 5000);
	q = allocator_get(a, 4990, NULL);
	assert_ptr_equal(p, q);
	allocator_put(a, q, 4990);
	allocator_destroy(a);
}

static void used_and_peak_count_what_was_asked_for(void **state)
{
	struct allocator *a = allocator_create(16 * MIB, NULL);
	void *p = allocator_get(a, 1000, NULL), *q = allocator_get(a, 500, NULL);

	(void)state;
	assert_int_equal(allocator_used_bytes(a), 1500);
	allocator_put(a, p, 1000);
	assert_int_equal(allocator_used_bytes(a), 500);
	assert_int_equal(allocator_peak_bytes(a), 1500);
	allocator_reset_peak(a);
	assert_int_equal(allocator_peak_bytes(a), 500);
	allocator_put(a, q, 500);
	allocator_destroy(a);
}

static void the_limit_is_an_error_with_the_figures(void **state)
{
	struct allocator *a = allocator_create(2 * MIB, NULL);
	struct err err = { 0 };
	void *p = allocator_get(a, MIB, &err);

	(void)state;
	assert_non_null(p);
	assert_null(allocator_get(a, MIB + 1, &err));
	assert_int_equal(err.code, ERR_MEMORY);
	assert_non_null(strstr(err.message, "limit of 2.0 MiB"));
	allocator_put(a, p, MIB);
	p = allocator_get(a, 2 * MIB, NULL);
	assert_non_null(p);
	allocator_put(a, p, 2 * MIB);
	allocator_destroy(a);
}

static void a_new_tensor_is_row_major(void **state)
{
	struct allocator *a = allocator_create(16 * MIB, NULL);
	struct tensor *t = tensor_create(a, DTYPE_F32, 3, (int64_t[]){ 2, 3, 4 }, NULL);

	(void)state;
	assert_int_equal(tensor_numel(t), 24);
	assert_true(tensor_contiguous(t));
	assert_int_equal(t->stride[0], 12);
	assert_int_equal(t->stride[1], 4);
	assert_int_equal(t->stride[2], 1);
	assert_int_equal(allocator_used_bytes(a), 96);
	tensor_unref(t);
	assert_int_equal(allocator_used_bytes(a), 0);
	allocator_destroy(a);
}

static void shapes_out_of_bounds_are_named(void **state)
{
	static const int64_t bad[][2] = { { INT64_MAX, 2 }, { 1LL << 16, 1LL << 16 }, { -1, 3 } };
	struct allocator *a = allocator_create(16 * MIB, NULL);

	(void)state;
	for (int i = 0; i < 3; i++) {
		struct err err = { 0 };
		assert_null(tensor_create(a, DTYPE_BOOL, 2, bad[i], &err));
		assert_int_equal(err.code, ERR_BOUND);
		assert_non_null(strstr(err.message, "the shape ["));
	}
	assert_null(tensor_create(a, DTYPE_F64, MAX_RANK + 1, (int64_t[MAX_RANK + 1]){ 0 }, NULL));
	allocator_destroy(a); /* and nothing of the failed ones is left */
}

static void empty_and_0d_tensors_have_storage(void **state)
{
	struct allocator *a = allocator_create(16 * MIB, NULL);
	struct tensor *empty = tensor_create(a, DTYPE_I64, 2, (int64_t[]){ 0, 5 }, NULL);
	struct tensor *scalar = tensor_create(a, DTYPE_I64, 0, NULL, NULL);

	(void)state;
	assert_int_equal(tensor_numel(empty), 0);
	assert_true(tensor_contiguous(empty));
	assert_int_equal(tensor_numel(scalar), 1);
	*(int64_t *)tensor_data(scalar) = -7;
	assert_int_equal(tensor_get_int(scalar, 0), -7);
	assert_true(tensor_get_double(scalar, 0) == -7);
	tensor_unref(empty);
	tensor_unref(scalar);
	tensor_unref(NULL);
	allocator_destroy(a);
}

/* A transposed view of t, made by hand. */
static struct tensor transposed(struct tensor *t)
{
	struct tensor view = *t;

	view.size[0] = t->size[1];
	view.size[1] = t->size[0];
	view.stride[0] = t->stride[1];
	view.stride[1] = t->stride[0];
	return view;
}

static void elements_and_copies_follow_the_strides(void **state)
{
	struct allocator *a = allocator_create(16 * MIB, NULL);
	struct tensor *t = tensor_create(a, DTYPE_F64, 2, (int64_t[]){ 3, 4 }, NULL);
	struct tensor *dense = tensor_create(a, DTYPE_F64, 2, (int64_t[]){ 4, 3 }, NULL);
	struct tensor view = transposed(t);

	(void)state;
	for (int i = 0; i < 12; i++)
		((double *)tensor_data(t))[i] = i;
	assert_false(tensor_contiguous(&view));
	assert_true(tensor_get_double(&view, 1) == 4);
	tensor_copy(dense, &view);
	for (int i = 0; i < 4; i++)
		for (int j = 0; j < 3; j++)
			assert_true(((double *)tensor_data(dense))[i * 3 + j] == j * 4 + i);
	memset(tensor_data(t), 0, 96);
	tensor_copy(&view, dense);
	for (int i = 0; i < 12; i++)
		assert_true(((double *)tensor_data(t))[i] == i);
	tensor_unref(t);
	tensor_unref(dense);
	allocator_destroy(a);
}

static void a_storage_lives_as_long_as_its_last_tensor(void **state)
{
	struct allocator *a = allocator_create(16 * MIB, NULL);
	struct tensor *t = tensor_create(a, DTYPE_F32, 1, (int64_t[]){ 100 }, NULL);

	(void)state;
	assert_ptr_equal(tensor_ref(t), t);
	tensor_unref(t);
	assert_int_equal(allocator_used_bytes(a), 400);
	tensor_unref(t);
	assert_int_equal(allocator_used_bytes(a), 0);
	allocator_destroy(a);
}

/* ---- a device's */

static char device_block[1 << 10];

static void *get(void *self, size_t bytes)
{
	(void)self, (void)bytes;
	return device_block;
}

static void put(void *self, void *memory)
{
	(void)self, (void)memory;
}

static int reads;

static void read_from(void *self, void *host, const void *memory, size_t bytes)
{
	(void)self;
	reads++;
	memcpy(host, memory, bytes);
}

static void write_to(void *self, void *memory, const void *host, size_t bytes)
{
	(void)self;
	memcpy(memory, host, bytes);
}

static void no_shortage(void *self, void (*give_back)(void *owner), void *owner)
{
	(void)self, (void)give_back, (void)owner;
}

static const struct device_memory device = {
	.name = "a device",
	.get = get,
	.put = put,
	.read = read_from,
	.write = write_to,
	.on_shortage = no_shortage,
};

/* To copy what nobody wrote is an uninitialised read, and waits for the device. */
static void a_tensor_that_nobody_wrote_is_not_read_from_the_device(void **state)
{
	struct allocator *a = allocator_create(MIB, &device);
	struct tensor *t = tensor_create(a, DTYPE_F32, 1, (int64_t[]){ 256 }, NULL);

	(void)state;
	reads = 0;
	assert_false(tensor_host_knows(t));
	((float *)tensor_data(t))[3] = 5;
	assert_true(tensor_host_knows(t));
	assert_int_equal(reads, 0);
	assert_true(((const float *)tensor_kernel_reads(t))[3] == 5);
	((float *)tensor_kernel_writes(t))[3] = 7; /* as a kernel would */
	assert_true(tensor_get_double(t, 3) == 7);
	assert_int_equal(reads, 1);
	tensor_unref(t);
	allocator_destroy(a);
}

/* To read it could not fail any more. */
static void a_tensor_is_not_made_where_the_host_has_no_room_for_it(void **state)
{
	struct rlimit before, limit;
	struct err err = { 0 };
	struct allocator *a;
	struct tensor *t;

	(void)state;
	if (ADDRESS_SANITIZED) /* whose shadow needs all addresses */
		skip();
	a = allocator_create((size_t)8 << 30, &device);
	t = tensor_create(a, DTYPE_F32, 1, (int64_t[]){ 256 }, &err);
	((float *)tensor_kernel_writes(t))[3] = 7;
	assert_true(tensor_get_double(t, 3) == 7);
	tensor_unref(t);
	getrlimit(RLIMIT_AS, &before);
	limit = (struct rlimit){ (rlim_t)1 << 30, before.rlim_max };
	setrlimit(RLIMIT_AS, &limit);
	t = tensor_create(a, DTYPE_F32, 1, (int64_t[]){ 512 << 20 }, &err);
	setrlimit(RLIMIT_AS, &before);
	assert_null(t);
	assert_int_equal(err.code, ERR_MEMORY);
	assert_non_null(strstr(err.message, "this machine has no memory for its copy of a tensor "
					    "of 2048.0 MiB that is on a device"));
	assert_int_equal(allocator_used_bytes(a), 0);
	allocator_destroy(a);
}

static void what_is_kept_moves_to_a_copy_before_a_write(void **state)
{
	struct allocator *a = allocator_create(16 * MIB, NULL);
	int64_t size[] = { 2, 3 };
	struct tensor *t = tensor_create(a, DTYPE_F32, 2, size, NULL);
	struct tensor row = *t, *all, *second, *gone;

	(void)state;
	for (int i = 0; i < 6; i++)
		((float *)tensor_data(t))[i] = (float)i;
	row.rank = 1;
	row.size[0] = 3;
	row.stride[0] = 1;
	row.offset = 3;
	all = tensor_keep(t, NULL);
	gone = tensor_keep(t, NULL);
	second = tensor_keep(&row, NULL);
	tensor_unref(gone);
	assert_ptr_equal(tensor_data(all), tensor_data(t));
	assert_true(storage_before_write(t->storage, NULL));
	((float *)tensor_data(t))[4] = 40;
	storage_written(t->storage);
	assert_int_equal(all->storage->version, 0);
	assert_ptr_equal(all->storage, second->storage);
	assert_true(tensor_get_double(all, 4) == 4 && tensor_get_double(second, 1) == 4);
	assert_true(tensor_get_double(t, 4) == 40);
	assert_null(t->storage->kept);
	assert_int_equal(allocator_used_bytes(a), 48);
	tensor_unref(all);
	tensor_unref(second);
	assert_int_equal(allocator_used_bytes(a), 24);
	tensor_unref(t);
	allocator_destroy(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(memory_is_aligned_and_has_slack),
		cmocka_unit_test(a_freed_block_is_used_again),
		cmocka_unit_test(used_and_peak_count_what_was_asked_for),
		cmocka_unit_test(the_limit_is_an_error_with_the_figures),
		cmocka_unit_test(a_new_tensor_is_row_major),
		cmocka_unit_test(shapes_out_of_bounds_are_named),
		cmocka_unit_test(empty_and_0d_tensors_have_storage),
		cmocka_unit_test(elements_and_copies_follow_the_strides),
		cmocka_unit_test(a_storage_lives_as_long_as_its_last_tensor),
		cmocka_unit_test(what_is_kept_moves_to_a_copy_before_a_write),
		cmocka_unit_test(a_tensor_that_nobody_wrote_is_not_read_from_the_device),
		cmocka_unit_test(a_tensor_is_not_made_where_the_host_has_no_room_for_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
