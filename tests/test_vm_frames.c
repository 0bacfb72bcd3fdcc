/* tests/test_vm_frames.c -- what a capture does with frames: run them by
 * steps and up to an instruction, leave them to an evaluator, meet values that
 * are not read yet. */
#include "tests/vm_host.h"

#include "fusion/vm/frame.h"

#include <stdio.h>

static void open_program(struct session *s, const char *source)
{
	if (!session_open(s, source, NULL))
		fail_msg("%s", s->err.message);
}

/* A frame of the program's function `name`, innermost, with int arguments. */
static struct frame *frame_of(struct session *s, const char *name, const int64_t *args, int n)
{
	struct value f, v[8];
	struct frame *frame;

	assert_true(n <= 8 && vm_global(s->vm, name, &f));
	for (int i = 0; i < n; i++)
		v[i] = value_int(args[i]);
	s->vm->steps_left = s->vm->limits.steps;
	frame = frame_push(s->vm, f.function->unit, f.function, &s->err);
	assert_non_null(frame);
	assert_true(frame_bind(s->vm, frame, &(struct arguments){ v, n, NULL }, &s->err));
	return frame;
}

static int index_of(const struct frame *f)
{
	return (int)(f->inst - f->code->insts);
}

static void steps_run_one_instruction_with_its_calls(void **state)
{
	struct session s;
	struct frame *f;
	enum vm_step how = VM_NEXT;
	struct value out = value_none();
	int steps = 0;

	(void)state;
	open_program(&s, "def g(x):\n"
			 "    return x + 1\n"
			 "def model(x):\n"
			 "    y = g(g(x))\n"
			 "    return y * 2\n");
	f = frame_of(&s, "model", (int64_t[]){ 5 }, 1);
	while (how == VM_NEXT) {
		int at = index_of(f);

		assert_ptr_equal(s.vm->frame, f);
		assert_true(vm_step(s.vm, f, &how, &out, &s.err));
		if (how == VM_NEXT)
			assert_int_equal(index_of(f), at + 1);
		steps++;
	}
	assert_int_equal(out.i, 14);
	assert_null(s.vm->frame);
	assert_true(steps >= 8);
	session_close(&s);
}

static void a_run_stops_before_an_instruction_of_its_frame(void **state)
{
	struct session s;
	struct frame *f;
	struct value out;
	bool stopped;
	int stop = 0;

	(void)state;
	open_program(&s, "def model(n):\n"
			 "    if n > 0:\n"
			 "        return model(n - 1) + 1\n"
			 "    return 10\n");
	f = frame_of(&s, "model", (int64_t[]){ 3 }, 1);
	while (f->code->insts[stop].op != CODE_CALL)
		stop++;
	assert_true(vm_run_until(s.vm, f, stop, &stopped, &out, &s.err));
	assert_true(stopped);
	assert_int_equal(index_of(f), stop);
	assert_ptr_equal(s.vm->frame, f);
	assert_int_equal(f->top - f->stack, 2); /* the callee and n - 1 */
	f->top[-1] = value_int(1);
	assert_true(vm_run_until(s.vm, f, -1, &stopped, &out, &s.err));
	assert_false(stopped);
	assert_int_equal(out.i, 12);
	session_close(&s);
}

static void a_failed_run_leaves_its_frames_for_a_look(void **state)
{
	struct session s;
	struct frame *f;
	struct value out;
	bool stopped;

	(void)state;
	open_program(&s, "def inner(x):\n"
			 "    return x // 0\n"
			 "def model(x):\n"
			 "    return inner(x)\n");
	f = frame_of(&s, "model", (int64_t[]){ 1 }, 1);
	assert_false(vm_run_until(s.vm, f, -1, &stopped, &out, &s.err));
	assert_int_equal(s.err.line, 2);
	assert_string_equal(s.vm->frame->code->name, "inner");
	assert_ptr_equal(s.vm->frame->up, f);
	vm_unwind(s.vm, f);
	assert_null(s.vm->frame);
	session_close(&s);
}

static void a_step_into_a_handler_goes_on_there(void **state)
{
	struct session s;
	struct frame *f;
	enum vm_step how = VM_NEXT;
	struct value out;

	(void)state;
	open_program(&s, "def inner():\n"
			 "    raise ValueError('x')\n"
			 "def model(x):\n"
			 "    try:\n"
			 "        return inner()\n"
			 "    except ValueError as e:\n"
			 "        return str(e) + '!'\n");
	f = frame_of(&s, "model", (int64_t[]){ 1 }, 1);
	while (how == VM_NEXT) {
		assert_ptr_equal(s.vm->frame, f);
		assert_true(vm_step(s.vm, f, &how, &out, &s.err));
	}
	assert_string_equal(out.str->text, "x!");
	value_unref(out);
	session_close(&s);
}

struct seen {
	char names[16][32];
	int n;
	const char *own; /* the function whose frames it runs itself, giving 100 */
	bool fail;
};

static bool see(void *self, struct vm *vm, struct frame *f, bool *done, struct value *out,
		struct err *err)
{
	struct seen *seen = self;

	assert_ptr_equal(vm->frame, f);
	if (seen->n < 16)
		snprintf(seen->names[seen->n++], 32, "%s", f->code->name);
	if (!seen->own || strcmp(seen->own, f->code->name) != 0)
		return true;
	if (seen->fail)
		return err_at(err, ERR_VALUE, 7, 1, "the evaluator fails");
	vm_unwind(vm, f);
	*out = value_int(100);
	*done = true;
	return true;
}

static const char *const CALLS = "class C:\n"
				 "    def __init__(self):\n"
				 "        self.k = 1\n"
				 "    def m(self, x):\n"
				 "        return x\n"
				 "def g(x):\n"
				 "    return x + 1\n"
				 "def items():\n"
				 "    yield g(1)\n"
				 "def model(x):\n"
				 "    c = C()\n"
				 "    return g(x) + c.m(0) + sum(map(g, [0])) + sum(items())\n";

static void the_evaluator_sees_each_call(void **state)
{
	static const char *const wanted[] = { "model", "__init__", "g", "m", "g", "g" };
	struct session s;
	struct seen seen = { 0 };
	struct value out, x = value_int(1);

	(void)state;
	open_program(&s, CALLS);
	vm_set_evaluator(s.vm, &(struct vm_evaluator){ &seen, see });
	assert_true(session_call(&s, "model", &x, 1, &out));
	assert_int_equal(out.i, 5);
	assert_int_equal(seen.n, 6);
	for (int i = 0; i < 6; i++)
		assert_string_equal(seen.names[i], wanted[i]);
	session_close(&s);
}

static void the_evaluator_may_run_a_frame_itself(void **state)
{
	struct session s;
	struct seen seen = { .own = "g" };
	struct value out, x = value_int(1);

	(void)state;
	open_program(&s, CALLS);
	vm_set_evaluator(s.vm, &(struct vm_evaluator){ &seen, see });
	assert_true(session_call(&s, "model", &x, 1, &out));
	assert_int_equal(out.i, 300);
	seen.fail = true;
	assert_false(session_call(&s, "model", &x, 1, &out));
	assert_string_equal(s.err.message, "the evaluator fails");
	assert_null(s.vm->frame);
	vm_set_evaluator(s.vm, NULL);
	s.err = (struct err){ 0 };
	assert_true(session_call(&s, "model", &x, 1, &out));
	assert_int_equal(out.i, 5);
	session_close(&s);
}

/* Lazy value i is the int 10 * i; what was read is counted. */
static int forced;

static bool force_tens(void *self, struct value *place, struct err *err)
{
	(void)self;
	(void)err;
	forced++;
	*place = value_int(10 * place->i);
	return true;
}

static struct value lazy(int i)
{
	return (struct value){ .kind = VALUE_LAZY, .i = i };
}

/* model(xs) where xs is [10, 20, 30] of lazy values; how many were read. */
static void reads(const char *body, int wanted, const char *gives)
{
	struct buf source = { 0 }, text = { 0 };
	struct session s;
	struct value out, xs = value_list((struct value[]){ lazy(1), lazy(2), lazy(3) }, 3);

	buf_printf(&source,
		   "def both(a, b=0):\n    return a\n"
		   "def model(xs):\n    %s\n",
		   body);
	open_program(&s, source.data);
	s.host.vm.realize = force_tens;
	forced = 0;
	if (!session_call(&s, "model", &xs, 1, &out))
		fail_msg("%s: %s", body, s.err.message);
	value_print(&text, out, false);
	if (forced != wanted || strcmp(text.data, gives) != 0)
		fail_msg("%s: %d values were read, and it gave %s", body, forced, text.data);
	value_unref(out);
	value_unref(xs);
	session_close(&s);
	buf_finish(&source);
	buf_finish(&text);
}

static void what_a_program_does_not_read_stays_unread(void **state)
{
	(void)state;
	reads("return len(xs)", 0, "3");
	reads("return 1 if xs else 2", 0, "1");
	reads("xs.append(4)\n    return len(xs)", 0, "4");
	reads("ys = xs\n    return isinstance(ys, list)", 0, "True");
	reads("return xs[1]", 1, "20");
	reads("return xs[1] + xs[-1]", 2, "50");
	reads("return both(xs[0], xs)", 1, "10");
	reads("return xs.pop()", 1, "30");
	reads("a, *b = xs\n    return a", 3, "10");
	reads("a, b, c = xs\n    return b", 3, "20");
	reads("for x in xs:\n        return x", 1, "10");
	reads("return sum(xs)", 3, "60");
	reads("return [x for x in xs]", 3, "[10, 20, 30]");
	reads("return xs == [10, 20, 30]", 3, "True");
	reads("return 20 in xs", 3, "True");
	reads("return max(xs)", 3, "30");
	reads("return sorted(xs, reverse=True)", 3, "[30, 20, 10]");
	reads("return str(xs)", 3, "'[10, 20, 30]'");
	reads("return f'{xs}'", 3, "'[10, 20, 30]'");
	reads("return '%s' % (xs,)", 3, "'[10, 20, 30]'");
	reads("return str({'a': [xs]})", 3, "\"{'a': [[10, 20, 30]]}\"");
	reads("return list(map(lambda x: x + 1, xs))", 3, "[11, 21, 31]");
	reads("return both(*xs[:2])", 2, "10");
	reads("return [*xs]", 3, "[10, 20, 30]");
	reads("return xs.index(20)", 3, "1");
}

static bool never(void *self, const struct native *f, const struct arguments *args,
		  struct value *out, struct err *err)
{
	(void)self;
	(void)f;
	(void)args->at;
	(void)args->n;
	(void)args->kw;
	(void)out;
	return err_set(err, ERR_BREAK, "a graph break");
}

static void no_program_catches_a_break(void **state)
{
	struct session s;
	struct value out;

	(void)state;
	open_program(&s, "import torch\n"
			 "log = []\n"
			 "def model():\n"
			 "    try:\n"
			 "        return torch.sin(1)\n"
			 "    except BaseException:\n"
			 "        return 1\n"
			 "    finally:\n"
			 "        log.append(1)\n"
			 "def count():\n"
			 "    return len(log)\n");
	s.host.vm.call = never;
	assert_false(session_call(&s, "model", NULL, 0, &out));
	assert_int_equal(s.err.code, ERR_BREAK);
	s.err = (struct err){ 0 };
	assert_true(session_call(&s, "count", NULL, 0, &out));
	assert_int_equal(out.i, 0);
	session_close(&s);
}

/* Globals of a shadow: every name is 7, and what is stored is counted. */
static int stored;

static bool load_seven(void *self, int slot, const char *name, struct value real, struct value *out,
		       struct err *err)
{
	(void)self;
	(void)slot;
	(void)err;
	*out = strcmp(name, "K") == 0 ? value_int(7) : value_ref(real);
	return true;
}

static bool count_store(void *self, int slot, const char *name, struct value v, struct err *err)
{
	(void)self;
	(void)slot;
	(void)name;
	(void)v;
	(void)err;
	stored++;
	return true;
}

static void a_capture_answers_for_globals(void **state)
{
	struct session s;
	struct value out, k;
	struct buf text = { 0 };

	(void)state;
	open_program(&s, "K = 1\n"
			 "def model():\n"
			 "    global K\n"
			 "    K = K + 1\n"
			 "    return K, len([K])\n");
	s.host.vm.load_global = load_seven;
	s.host.vm.store_global = count_store;
	stored = 0;
	assert_true(session_call(&s, "model", NULL, 0, &out));
	value_print(&text, out, false);
	assert_string_equal(text.data, "(7, 1)");
	assert_int_equal(stored, 1);
	assert_true(vm_global(s.vm, "K", &k));
	assert_int_equal(k.i, 1);
	value_unref(out);
	buf_finish(&text);
	session_close(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(steps_run_one_instruction_with_its_calls),
		cmocka_unit_test(a_run_stops_before_an_instruction_of_its_frame),
		cmocka_unit_test(a_failed_run_leaves_its_frames_for_a_look),
		cmocka_unit_test(a_step_into_a_handler_goes_on_there),
		cmocka_unit_test(the_evaluator_sees_each_call),
		cmocka_unit_test(the_evaluator_may_run_a_frame_itself),
		cmocka_unit_test(what_a_program_does_not_read_stays_unread),
		cmocka_unit_test(no_program_catches_a_break),
		cmocka_unit_test(a_capture_answers_for_globals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
