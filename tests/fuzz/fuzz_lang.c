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

#include "fusion/lang/lang.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void require(bool holds)
{
	if (!holds)
		abort();
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
