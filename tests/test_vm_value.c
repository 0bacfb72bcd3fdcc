/* tests/test_vm_value.c -- values by themselves, and code that no
 * compiler should make. */
#include "tests/vm_host.h"

static void assert_prints(struct value v, const char *wanted)
{
	struct buf text = { 0 };

	value_print(&text, v, false);
	assert_string_equal(text.data, wanted);
	buf_finish(&text);
	value_unref(v);
}

static void floats_print_their_shortest_digits(void **state)
{
	static const struct {
		double f;
		const char *wanted;
	} rows[] = {
		{ 0.1, "0.1" },
		{ 1e-05, "1e-05" },
		{ 1e+16, "1e+16" },
		{ 123456.0, "123456.0" },
		{ 0x1p-1074, "5e-324" },
		{ 0x1p-44, "5.684341886080802e-14" },
		/* below a power of two doubles lie closer than above it */
		{ 0x1p-1017, "7.120236347223045e-307" },
		{ 0x1p-1007, "7.291122019556398e-304" },
		{ 0x1p122, "5.316911983139664e+36" },
		{ 1.7976931348623157e308, "1.7976931348623157e+308" },
		{ -2.5, "-2.5" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		assert_prints(value_float(rows[i].f), rows[i].wanted);
}

static void kinds_that_only_hosts_make_print_too(void **state)
{
	struct value v;

	(void)state;
	assert_prints((struct value){ .kind = VALUE_DTYPE, .dtype = DTYPE_F32 }, "torch.float32");
	assert_prints(value_tensor(), "tensor(...)");
	assert_prints(value_module("torch.nn"), "<module 'torch.nn'>");
	assert_prints(value_slice(value_int(1), value_none(), value_int(2)), "slice(1, None, 2)");
	v = value_tuple((struct value[]){ value_int(2), value_int(3) }, 2);
	v.list->is_size = true;
	assert_prints(v, "torch.Size([2, 3])");
	assert_prints(value_str("\xff\xc3", 2), "'\\xff\\xc3'"); /* no UTF-8 */
}

static void keys_of_a_dict_are_found_after_many_changes(void **state)
{
	struct value d = value_dict(), found;

	(void)state;
	for (int i = 0; i < 1000; i++)
		assert_true(value_dict_set(d.dict, value_int(i), value_int(2 * i)));
	for (int i = 0; i < 1000; i += 3)
		assert_true(value_dict_remove(d.dict, value_int(i)));
	assert_false(value_dict_remove(d.dict, value_int(3)));
	for (int i = 0; i < 1000; i++) {
		bool there = value_dict_get(d.dict, value_float(i), &found); /* 1.0 finds 1 */

		assert_int_equal(there, i % 3 != 0);
		if (there)
			assert_int_equal(found.i, 2 * i);
	}
	assert_int_equal(d.dict->keys[0].i, 1);
	value_unref(d);
}

static void values_of_one_number_are_one_key(void **state)
{
	struct value d = value_dict(), found, pair[2], key;

	(void)state;
	for (int i = 0; i < 20; i++) /* enough for the index */
		assert_true(value_dict_set(d.dict, value_float(i + 0.5), value_none()));
	assert_true(value_dict_set(d.dict, value_bool(true), value_int(7)));
	assert_true(value_dict_get(d.dict, value_float(1.0), &found));
	assert_int_equal(found.i, 7);
	pair[0] = value_int(1);
	pair[1] = value_none();
	key = value_tuple(pair, 2);
	assert_true(value_dict_set(d.dict, key, value_int(8)));
	value_unref(key);
	pair[0] = value_bool(true);
	key = value_tuple(pair, 2);
	assert_true(value_dict_get(d.dict, key, &found));
	assert_int_equal(found.i, 8);
	value_unref(key);
	value_unref(d);
}

static void a_long_chain_is_freed_by_a_loop(void **state)
{
	struct value v = value_list(NULL, 0);

	(void)state;
	for (int i = 0; i < 2000000; i++) {
		struct value outer = value_list(&v, 1);

		assert_int_equal(outer.kind, VALUE_LIST);
		value_unref(v);
		v = outer;
	}
	value_unref(v);
}

static void a_heap_counts_what_it_holds(void **state)
{
	struct heap *heap = heap_create(1 << 20);
	struct value list = value_list(NULL, 0), d = value_dict();

	(void)state;
	assert_true(heap_adopt(heap, list.object));
	assert_true(heap_adopt(heap, d.object));
	for (int i = 0; i < 1000; i++) {
		assert_true(value_list_push(list.list, value_int(i)));
		assert_true(value_dict_set(d.dict, value_int(i), value_none()));
	}
	assert_int_equal(heap->used_bytes, object_bytes(list.object) + object_bytes(d.object));
	assert_true(heap->used_bytes >= 3000 * sizeof(struct value));
	value_unref(list);
	value_unref(d);
	assert_int_equal(heap->used_bytes, 0);
	assert_int_equal(heap->objects, 0);
	heap_close(heap);
}

static void a_collection_frees_cycles_and_nothing_else(void **state)
{
	struct heap *heap = heap_create(1 << 20);
	struct value dead = value_list(NULL, 0), held = value_list(NULL, 0), tuple;

	(void)state;
	assert_true(heap_adopt(heap, dead.object));
	assert_true(heap_adopt(heap, held.object));
	tuple = value_tuple((struct value[]){ dead, held }, 2);
	assert_true(heap_adopt(heap, tuple.object));
	assert_true(value_list_push(dead.list, tuple)); /* dead -> tuple -> dead */
	value_unref(tuple);
	value_unref(dead);
	assert_true(value_list_push(held.list, held)); /* a cycle that is held from here */
	assert_int_equal(heap->objects, 3);
	heap->threshold = 0; /* a collection is due */
	heap_collect_if_due(heap);
	assert_int_equal(heap->objects, 1);
	assert_int_equal(held.list->len, 1);
	value_unref(held);
	heap_close(heap); /* the second cycle goes with the heap */
}

/* Runs hand-made instructions as a module; the error's code, NONE if fine. */
static enum err_code run_code(const struct lang_inst *insts, int n, int stack_depth)
{
	static const struct lang_const consts[] = { { .kind = CONST_INT, .i = 3 } };
	struct code code = {
		.name = "<module>",
		.insts = (struct lang_inst *)(uintptr_t)insts,
		.n_insts = n,
		.stack_depth = stack_depth,
		.consts = consts,
		.n_consts = 1,
		.names = (const char *const[]){ "a" },
		.n_names = 1,
	};
	struct lang_program program = { .module = &code };
	struct host host;
	struct err err = { 0 };
	struct vm *vm;

	host_init(&host);
	vm = vm_create(&program, &host.vm, NULL);
	assert_non_null(vm);
	vm_run_module(vm, &err);
	vm_destroy(vm);
	return err.code;
}

#define RUN_CODE(depth, ...)                                                                       \
	run_code(                                                                                  \
	    (const struct lang_inst[]){ __VA_ARGS__ },                                             \
	    (int)(sizeof((const struct lang_inst[]){ __VA_ARGS__ }) / sizeof(struct lang_inst)),   \
	    depth)
#define I(op, arg)                                                                                 \
	{                                                                                          \
		CODE_##op, arg, 1, 1, 2                                                            \
	}

static void sound_code_runs(void **state)
{
	(void)state;
	assert_int_equal(RUN_CODE(1, I(LOAD_CONST, 0), I(RETURN, 0)), ERR_NONE);
	assert_int_equal(
	    RUN_CODE(2, I(LOAD_CONST, 0), I(COPY, 1), I(JUMP_IF_TRUE, 4), I(JUMP, 4), I(RETURN, 0)),
	    ERR_NONE);
}

static void code_out_of_bounds_is_refused_and_never_run(void **state)
{
	(void)state;
	assert_int_equal(RUN_CODE(1, I(LOAD_CONST, 1), I(RETURN, 0)), ERR_INTERNAL);
	assert_int_equal(RUN_CODE(1, I(LOAD_CONST, -1), I(RETURN, 0)), ERR_INTERNAL);
	assert_int_equal(RUN_CODE(1, I(LOAD_FAST, 0), I(RETURN, 0)), ERR_INTERNAL);
	assert_int_equal(RUN_CODE(1, I(LOAD_GLOBAL, 1), I(RETURN, 0)), ERR_INTERNAL);
	assert_int_equal(RUN_CODE(1, I(LOAD_DEREF, 0), I(RETURN, 0)), ERR_INTERNAL);
	assert_int_equal(RUN_CODE(1, I(MAKE_FUNCTION, 0), I(RETURN, 0)), ERR_INTERNAL);
	/* deeper than the code says, or below its bottom */
	assert_int_equal(RUN_CODE(1, I(LOAD_CONST, 0), I(LOAD_CONST, 0), I(RETURN, 0)),
			 ERR_INTERNAL);
	assert_int_equal(RUN_CODE(1, I(RETURN, 0)), ERR_INTERNAL);
	assert_int_equal(RUN_CODE(1, I(LOAD_CONST, 0), I(CALL, 1), I(RETURN, 0)), ERR_INTERNAL);
	/* off the end, or to nowhere */
	assert_int_equal(RUN_CODE(1, I(LOAD_CONST, 0)), ERR_INTERNAL);
	assert_int_equal(RUN_CODE(1, I(JUMP, 7)), ERR_INTERNAL);
	/* two ways to one place with different depths */
	assert_int_equal(RUN_CODE(2, I(LOAD_CONST, 0), I(JUMP_IF_TRUE, 3), I(LOAD_CONST, 0),
				  I(LOAD_CONST, 0), I(RETURN, 0)),
			 ERR_INTERNAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(floats_print_their_shortest_digits),
		cmocka_unit_test(kinds_that_only_hosts_make_print_too),
		cmocka_unit_test(keys_of_a_dict_are_found_after_many_changes),
		cmocka_unit_test(values_of_one_number_are_one_key),
		cmocka_unit_test(a_long_chain_is_freed_by_a_loop),
		cmocka_unit_test(a_heap_counts_what_it_holds),
		cmocka_unit_test(a_collection_frees_cycles_and_nothing_else),
		cmocka_unit_test(sound_code_runs),
		cmocka_unit_test(code_out_of_bounds_is_refused_and_never_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
