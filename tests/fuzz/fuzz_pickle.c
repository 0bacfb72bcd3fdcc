/* tests/fuzz/fuzz_pickle.c -- libFuzzer entry of torch.load: the input is an archive, where it
 * begins as one, or the pickle of an archive that has it and four storages.
 */
#include "tests/fuzz/weights_help.h"

#include "fusion/base/buf.h"

enum { STORAGES = 4, STORAGE_BYTES = 256 };

static void put(struct buf *out, uint64_t n, int bytes)
{
	for (int i = 0; i < bytes; i++)
		buf_putc(out, (char)(i < 8 ? n >> 8 * i : 0));
}

struct record {
	const char *name;
	const void *bytes;
	size_t len, at;
};

static void put_archive(struct buf *out, struct record *records, int n)
{
	size_t directory;

	for (int i = 0; i < n; i++) {
		records[i].at = out->len;
		put(out, 0x04034b50, 4);
		put(out, 0, 22);
		put(out, strlen(records[i].name), 2);
		put(out, 0, 2);
		buf_puts(out, records[i].name);
		buf_add(out, records[i].bytes, records[i].len);
	}
	directory = out->len;
	for (int i = 0; i < n; i++) {
		put(out, 0x02014b50, 4);
		put(out, 0, 16);
		put(out, records[i].len, 4);
		put(out, records[i].len, 4);
		put(out, strlen(records[i].name), 2);
		put(out, 0, 12);
		put(out, records[i].at, 4);
		buf_puts(out, records[i].name);
	}
	put(out, 0x06054b50, 4);
	put(out, 0, 4);
	put(out, (uint64_t)n, 2);
	put(out, (uint64_t)n, 2);
	put(out, out->len - 12 - directory, 4);
	put(out, directory, 4);
	put(out, 0, 2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char elements[STORAGE_BYTES];
	struct record records[] = {
		{ "w/data.pkl", data, size, 0 },
		{ "w/data/0", elements, sizeof(elements), 0 },
		{ "w/data/1", elements, sizeof(elements) - 1, 0 },
		{ "w/data/2", elements, 8, 0 },
		{ "w/data/3", elements, 0, 0 },
	};
	struct allocator *a = allocator_create(1 << 26, NULL);
	struct value name = value_str("OrderedDict", strlen("OrderedDict"));
	struct value ordered = value_class(name, (struct value){ .kind = VALUE_UNSET }), v;
	struct err err = { 0 };
	struct buf file;
	char path[64];
	struct fusion_data at = { "w", path };
	const struct fusion_data_files files = { &at, 1 };
	bool read;
	int fd;

	buf_init(&file, 0);
	if (size > 1 && memcmp(data, "PK", 2) == 0)
		buf_add(&file, data, size);
	else
		put_archive(&file, records, 1 + STORAGES);
	fd = file_of(file.data, file.len, path);
	read = weights_torch(&(struct weights_reader){ a, &files }, "w", ordered, &v, &err);
	close(fd);
	buf_finish(&file);
	end(read, v, &err, a);
	value_unref(ordered);
	value_unref(name);
	return 0;
}
