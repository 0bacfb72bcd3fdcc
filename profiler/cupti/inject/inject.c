/* profiler/cupti/inject/inject.c -- libbreakeven_inject.so: records a process that is not ours.
 *
 * The CUDA driver loads the library that CUDA_INJECTION64_PATH names and calls its
 * InitializeInjection().  Rows go to the socket of `breakeven trace` as they come; where
 * that cannot be, the process goes on as if nothing were there.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "profiler/cupti/collector.h"

int InitializeInjection(void);
int InitializeInjectionNvtx2(void *get_export_table);

enum { COMMAND_BYTES = 512, FAULT_BYTES = 512 };

static struct {
	int fd;
	pid_t pid; /* that connected: a child made by fork() must not speak for it */
	pthread_mutex_t lock;
	struct collector *collector;
	uint64_t lost;
} traced = { .fd = -1, .lock = PTHREAD_MUTEX_INITIALIZER };

static bool write_all(int fd, const void *bytes, size_t len)
{
	const char *at = bytes;

	while (len > 0) {
		ssize_t n = send(fd, at, len, MSG_NOSIGNAL);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* A message of two parts; the socket is closed where it cannot be sent. */
static bool tell(enum wire_type type, const void *a, size_t a_len, const void *b, size_t b_len)
{
	struct wire_head head = { .type = type, .bytes = (uint32_t)(a_len + b_len) };
	bool ok;

	pthread_mutex_lock(&traced.lock);
	ok = traced.fd >= 0 && traced.pid == getpid() &&
	     write_all(traced.fd, &head, sizeof(head)) && write_all(traced.fd, a, a_len) &&
	     write_all(traced.fd, b, b_len);
	if (!ok && traced.fd >= 0 && traced.pid == getpid()) {
		close(traced.fd);
		traced.fd = -1;
	}
	pthread_mutex_unlock(&traced.lock);
	return ok;
}

static void on_name(void *self, uint32_t number, const char *text)
{
	size_t len = strnlen(text, WIRE_NAME_BYTES);

	(void)self;
	tell(WIRE_NAME, &number, sizeof(number), text, len);
}

static void on_events(void *self, const struct wire_event *events, size_t n)
{
	(void)self;
	if (!tell(WIRE_EVENTS, events, n * sizeof(*events), NULL, 0))
		traced.lost += n;
}

static bool reach(const char *path)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(address.sun_path))
		return false;
	strcpy(address.sun_path, path);
	traced.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	traced.pid = getpid();
	if (traced.fd >= 0 && connect(traced.fd, (struct sockaddr *)&address, sizeof(address)) == 0)
		return true;
	if (traced.fd >= 0)
		close(traced.fd);
	traced.fd = -1;
	return false;
}

/* "python train.py", from /proc. */
static size_t command_line(char out[COMMAND_BYTES])
{
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t n = fd >= 0 ? read(fd, out, COMMAND_BYTES) : 0;

	if (fd >= 0)
		close(fd);
	if (n <= 0)
		return 0;
	if (out[n - 1] == '\0')
		n--;
	for (ssize_t i = 0; i < n; i++)
		if (out[i] == '\0')
			out[i] = ' ';
	return (size_t)n;
}

static void at_end(void)
{
	struct wire_counts counts;

	if (!traced.collector || traced.pid != getpid())
		return;
	collector_stop(traced.collector, false);
	collector_counts(traced.collector, &counts);
	counts.lost = traced.lost;
	counts.finished = 1;
	tell(WIRE_COUNTS, &counts, sizeof(counts), NULL, 0);
	traced.collector = NULL;
}

__attribute__((visibility("default"))) int InitializeInjection(void)
{
	const struct collector_sink sink = { .name = on_name, .events = on_events };
	const char *path = getenv(WIRE_SOCKET), *letters = getenv(WIRE_OPTIONS);
	bool quiet = letters && strchr(letters, 'q');
	const struct collector_options options = { .library = getenv(WIRE_CUPTI),
						   .api = letters && strchr(letters, 'a'),
						   .ranges = !quiet,
						   .memory = !quiet };
	struct wire_hello hello = { .pid = getpid(), .parent = getppid() };
	char command[COMMAND_BYTES], why[FAULT_BYTES];

	if (!path || traced.collector || !reach(path))
		return 1;
	tell(WIRE_HELLO, &hello, sizeof(hello), command, command_line(command));
	traced.collector = collector_start(&sink, &options, why, sizeof(why));
	if (traced.collector)
		atexit(at_end);
	else
		tell(WIRE_FAULT, why, strlen(why), NULL, 0);
	return 1;
}

/* NVTX, by NVTX_INJECTION64_PATH, in the program's first range. */
__attribute__((visibility("default"))) int InitializeInjectionNvtx2(void *get_export_table)
{
	return collector_nvtx(getenv(WIRE_CUPTI), get_export_table);
}
