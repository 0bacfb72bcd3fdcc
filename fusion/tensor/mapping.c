/* fusion/tensor/mapping.c -- see mapping.h. */
#include "fusion/tensor/mapping.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { READABLE_BEHIND = 64 }; /* as allocator_get() promises */

static size_t reserved_bytes(size_t bytes)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE);

	return (bytes + READABLE_BEHIND + page - 1) / page * page;
}

/* The file, over pages of zeros that go on after its end. */
static bool map(int fd, struct mapping *m)
{
	void *pages = mmap(NULL, reserved_bytes(m->bytes), PROT_READ,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (pages == MAP_FAILED)
		return false;
	m->data = pages;
	return m->bytes == 0 || mmap(pages, m->bytes, PROT_READ | PROT_WRITE,
				     MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE, fd, 0) != MAP_FAILED;
}

struct mapping *mapping_open(const char *path, struct err *err)
{
	struct mapping *m = calloc(1, sizeof(*m));
	int fd = m ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) : -1;
	struct stat at;
	bool ok = false;

	if (!m)
		err_set(err, ERR_MEMORY, "out of memory for the file %s", path);
	else if (fd < 0 || fstat(fd, &at) != 0)
		err_set(err, ERR_IO, "%s cannot be opened: %s", path, strerror(errno));
	else if (!S_ISREG(at.st_mode))
		err_set(err, ERR_IO, "%s is no file", path);
	else {
		m->refs = 1;
		m->bytes = (size_t)at.st_size;
		ok = map(fd, m) || err_set(err, ERR_IO, "%s cannot be mapped into memory: %s", path,
					   strerror(errno));
	}
	if (fd >= 0)
		close(fd);
	if (ok)
		return m;
	if (m && m->data)
		munmap(m->data, reserved_bytes(m->bytes));
	free(m);
	return NULL;
}

void mapping_unref(struct mapping *m)
{
	if (!m || --m->refs > 0)
		return;
	munmap(m->data, reserved_bytes(m->bytes));
	free(m);
}
