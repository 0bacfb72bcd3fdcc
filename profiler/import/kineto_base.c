/* profiler/import/kineto_base.c -- where the clock's zero of a trace lies. */
#include "profiler/import/kineto_base.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "profiler/timeline/timeline.h"

enum { TAIL_BYTES = 4096 };

bool kineto_base(const char *text, int64_t *ns)
{
	static const char key[] = "\"baseTimeNanoseconds\":";
	const char *at = strstr(text, key);
	int64_t value;
	char *end;

	if (!at)
		return false;
	value = strtoll(at + sizeof(key) - 1, &end, 10);
	if (end == at + sizeof(key) - 1 || value < 0 || value >= TIMELINE_MAX_NS / 2)
		return false;
	*ns = value;
	return true;
}

bool kineto_base_at_end(int fd, int64_t *ns)
{
	char tail[TAIL_BYTES + 1];
	struct stat info;
	ssize_t n;

	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return false;
	n = pread(fd, tail, TAIL_BYTES, info.st_size > TAIL_BYTES ? info.st_size - TAIL_BYTES : 0);
	if (n <= 0)
		return false;
	tail[n] = '\0';
	for (char *at = tail; at < tail + n; at++) /* of what is compressed, say */
		*at = *at ? *at : ' ';
	return kineto_base(tail, ns);
}
