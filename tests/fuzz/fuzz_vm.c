/* tests/fuzz/fuzz_vm.c -- libFuzzer entry of the VM.
 *
 * Any program that compiles is checked, run and called under small limits,
 * with tensors that are ints (tests/vm_host.h).  It must end, with a
 * result or with an error that has a place, and give all its memory back.
 */
#include "tests/vm_host.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* The host of the tests has not all that the modules of the prelude are made of. */
static bool is_fault(const struct err *err)
{
	return err->code == ERR_INTERNAL && !strstr(err->message, "cannot be made");
}

static void call_model(struct session *s)
{
	struct buf text = { .limit = 1 << 16 };
	struct value f, v, args[2];

	if (!vm_global(s->vm, "model", &f))
		return;
	args[0] = host_tensor(&s->host, 3);
	args[1] = value_list(args, 1);
	for (int n = 0; n <= 2; n++) {
		s->err = (struct err){ 0 };
		if (vm_call(s->vm, f, &(struct arguments){ args, n, NULL }, &v, &s->err)) {
			value_print(&text, v, false);
			value_unref(v);
		} else {
			require(s->err.code != ERR_NONE && s->err.message[0]);
			require(!is_fault(&s->err));
		}
	}
	value_unref(args[0]);
	value_unref(args[1]);
	buf_finish(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct vm_limits limits = { .steps = 20000, .depth = 100, .object_bytes = 4 << 20 };
	static struct vm_problems problems;
	struct session s = { 0 };

	host_init(&s.host);
	s.program = lang_compile((const char *)data, size, NULL, &s.err);
	if (!s.program)
		return 0;
	require(vm_check(s.program, &s.host.vm, "model", &problems, &s.err));
	for (int i = 0; i < problems.n; i++)
		require(problems.at[i].err.line > 0 && problems.at[i].err.column > 0);
	s.vm = vm_create(s.program, &s.host.vm, &limits);
	require(s.vm != NULL);
	s.err = (struct err){ 0 };
	if (vm_run_module(s.vm, &s.err))
		call_model(&s);
	else
		require(!is_fault(&s.err) && s.err.line > 0 && s.err.column > 0);
	vm_destroy(s.vm);
	lang_destroy(s.program);
	buf_finish(&s.host.printed);
	require(s.host.live == 0);
	return 0;
}
