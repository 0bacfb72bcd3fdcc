/* tests/fuzz/fuzz_safetensors.c -- libFuzzer entry of the reader of safetensors: the input is a
 * file. */
#include "tests/fuzz/weights_help.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char path[64];
	int fd = file_of(data, size, path);
	const struct fusion_data file = { "w", path };
	const struct fusion_data_files files = { &file, 1 };
	struct allocator *a = allocator_create(1 << 26, NULL);
	struct err err = { 0 };
	struct value v;
	bool read = weights_safetensors(&(struct weights_reader){ a, &files }, "w", &v, &err);

	close(fd);
	end(read, v, &err, a);
	return 0;
}
