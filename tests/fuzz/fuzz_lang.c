/* tests/fuzz/fuzz_lang.c -- libFuzzer entry of the workload language.
 *
 *	clang -g -O1 -fsanitize=fuzzer,address,undefined -I. tests/fuzz/fuzz_lang.c \
 *		fusion/lang/[a-z]*.c fusion/base/[a-z]*.c -lxxhash -o fuzz_lang
 *	./fuzz_lang -dict=tests/fuzz/python.dict CORPUS tests/lang
 *
 * Any bytes give a program, or an error with a message and a place that
 * lang_caret() can show.
 */
#include <stdlib.h>
#include <string.h>

#include "fusion/source.h"
#include "fusion/lang/lang.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
}

/* Handlers lie inside their code and after what they guard; the first that covers
 * an instruction is the innermost, so each lies wholly in a later one or beside it. */
static void check_handlers(const struct code *code)
{
	for (int i = 0; i < code->n_handlers; i++) {
		const struct lang_handler *h = &code->handlers[i];

		require(h->start >= 0 && h->start < h->end && h->end <= h->target);
		require(h->target < code->n_insts && h->depth >= 0 && h->depth < code->stack_depth);
		for (int k = 0; k < i && i < 100; k++)
			require(code->handlers[k].end <= h->start ||
				code->handlers[k].start >= h->end ||
				(code->handlers[k].start >= h->start &&
				 code->handlers[k].end <= h->end));
	}
	for (int i = 0; i < code->n_nested; i++)
		check_handlers(code->nested[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct lang_program *program;
	struct err err = { 0 };
	struct buf out;
	char *source;

	program = lang_compile((const char *)data, size, NULL, &err);
	require((program == NULL) == (err.code != ERR_NONE));
	buf_init(&out, 0);
	if (program) {
		check_handlers(program->module);
		lang_print(&out, program->module);
		require(out.len > 0);
	} else {
		source = malloc(size + 1);
		require(source != NULL);
		memcpy(source, data, size);
		source[size] = '\0';
		require(err.message[0] && err.line > 0 && err.column > 0);
		lang_caret(&out, "model.py", source, &err);
		require(out.len > 0);
		free(source);
	}
	buf_finish(&out);
	lang_destroy(program);
	return 0;
}
