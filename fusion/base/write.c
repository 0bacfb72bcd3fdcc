/* fusion/base/write.c -- write(2) until all is written. */
#include "fusion/base/write.h"

#include <errno.h>
#include <unistd.h>

bool write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t n = write(fd, at, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n == 0)
			errno = EIO;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}
