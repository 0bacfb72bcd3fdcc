/* tests/fuzz/fuzz_gather.c -- libFuzzer entry of the archives that programs come in.
 *
 * Whatever the bytes are, there is a program within its bounds, or a message.
 */
#include <stdlib.h>
#include <string.h>

#include "profiler/gather/gather.h"
#include "profiler/workload/workload.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err = { 0 };
	json_t *files = gather_zip(data, size, "fuzz", &err), *text;
	size_t bytes = 0;
	const char *path;

	if (files ? !json_object_size(files) : !err.message[0])
		abort();
	json_object_foreach(files, path, text)
	{
		struct err refused = { 0 };

		bytes += json_string_length(text);
		if (!workload_path_check(path, &refused) || json_string_length(text) > 1 << 20)
			abort();
	}
	if (json_object_size(files) > WORKLOAD_MAX_FILES || bytes > WORKLOAD_MAX_FILES_BYTES)
		abort();
	json_decref(files);
	return 0;
}
