/* tests/faults/inject.c -- a library for LD_PRELOAD that lets calls fail.
 *
 * A point is a call of the C library together with the addresses that it is reached by.  Points
 * are counted in a file that the tester (tests/faults/inject.py) maps too; the point whose hash it
 * wrote there fails, and all of its kind for as long as it wants.  The file is mapped before main,
 * so that a worker in its sandbox needs no right for it.  Processes that the file does not name are
 * left alone.
 */
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { COMMAND_BYTES = 32, MOST_FRAMES = 24, WHERE_FRAMES = 64, MOST_POINTS = 1 << 16 };
enum { MOST_MODULES = 64, MODULE_BYTES = 192 };
/* frames of this library above those of the call */
enum { OWN_FRAMES = 2 };

enum kind { MEMORY, READ, WRITE, SYNC, OPEN, MAP, LOAD, THREAD };

/* Of frames in libraries that follow each other the outermost stays, which our code called.
 * Frames are `module << 48 | offset`, so that they are the same in each process. */
struct point {
	uint64_t hash; /* 0: free */
	uint32_t kind;
	uint32_t count;
	uint64_t frames[MOST_FRAMES];
};

struct control {
	char
	    command[COMMAND_BYTES]; /* the first word after the program's name: "serve", "worker" */
	uint32_t kinds;             /* a bit for each that is counted and may fail */
	uint32_t depth;             /* frames that make a point */
	uint64_t target;            /* fails; 0: none */
	uint64_t innermost;         /* the first frame of it */
	uint32_t skip;              /* so many calls of it go well before */
	uint32_t goes_on_ms;        /* so long all calls of its kind fail after it */
	uint32_t failed;            /* calls that failed */
	uint32_t failed_kind;
	uint64_t failed_ns;           /* when the first did */
	uint32_t dropped;             /* points that found no room */
	uint64_t where[WHERE_FRAMES]; /* the way to the first that failed */
	uint64_t crash[WHERE_FRAMES]; /* and to the signal that ended the process; 0: none did */
	char modules[MOST_MODULES][MODULE_BYTES];
	struct point points[MOST_POINTS];
};

static struct control *control; /* NULL: this process is left alone */
static struct {
	uintptr_t from, to;
} modules[MOST_MODULES];
static int n_modules;
/* glibc calls some functions leaves that call back: volatile */
static __thread volatile bool inside __attribute__((tls_model("initial-exec")));

static int note_module(struct dl_phdr_info *info, size_t bytes, void *self)
{
	int at = n_modules;

	(void)bytes, (void)self;
	if (at == MOST_MODULES)
		return 1;
	for (int i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD) {
			uintptr_t from = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
			uintptr_t to = from + info->dlpi_phdr[i].p_memsz;

			if (!modules[at].from || from < modules[at].from)
				modules[at].from = from;
			if (to > modules[at].to)
				modules[at].to = to;
		}
	strncpy(control->modules[at], info->dlpi_name, MODULE_BYTES - 1);
	n_modules++;
	return 0;
}

static uint64_t encoded(void *address)
{
	uintptr_t at = (uintptr_t)address;

	for (int i = 0; i < n_modules; i++)
		if (at >= modules[i].from && at < modules[i].to)
			return (uint64_t)i << 48 | (at - modules[i].from);
	return (uint64_t)MOST_MODULES << 48; /* loaded later: a kernel */
}

/* Counts the point; returns which of its calls this is, from 0. */
static uint32_t count(uint64_t hash, enum kind kind, const uint64_t *frames, int n)
{
	for (uint32_t i = 0; i < MOST_POINTS; i++) {
		struct point *p = &control->points[(hash + i) % MOST_POINTS];
		uint64_t found = __atomic_load_n(&p->hash, __ATOMIC_ACQUIRE);

		if (!found && __atomic_compare_exchange_n(&p->hash, &found, hash, false,
							  __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
			p->kind = kind;
			memcpy(p->frames, frames, n * sizeof *frames);
			found = hash;
		}
		if (found == hash)
			return __atomic_fetch_add(&p->count, 1, __ATOMIC_RELAXED);
	}
	__atomic_fetch_add(&control->dropped, 1, __ATOMIC_RELAXED);
	return 0;
}

static __attribute__((noinline)) void note_way(uint64_t *way)
{
	void *frames[WHERE_FRAMES];
	int n;

	inside = true;
	n = backtrace(frames, WHERE_FRAMES);

	/* this function, too, is no part of it */
	for (int i = OWN_FRAMES + 1; i < n; i++)
		way[i - OWN_FRAMES - 1] = encoded(frames[i]);
}

/* The signal comes again, as there was no handler. */
static void crashes(int number)
{
	(void)number;
	note_way(control->crash);
	inside = true; /* so that note_way() is no tail call: this function needs its frame */
}

/* What LD_PRELOAD loaded first sees everything that was loaded at the start. */
__attribute__((constructor)) static void begin(void)
{
	struct sigaction once = { .sa_handler = crashes, .sa_flags = (int)SA_RESETHAND };
	const char *path = getenv("BREAKEVEN_TEST_FAULTS");
	int fd = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
	char line[4096] = "";
	int in = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	ssize_t got = in >= 0 ? read(in, line, sizeof line - 1) : 0;
	void *map, *warm[4];

	if (in >= 0)
		close(in);
	if (fd < 0)
		return;
	map = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	close(fd);
	if (map == MAP_FAILED)
		return;
	if (got <= 0 || strcmp(line + strlen(line) + 1, ((struct control *)map)->command) != 0) {
		munmap(map, sizeof *control);
		return;
	}
	backtrace(warm, 4); /* the first call loads libgcc */
	inside = true;
	control = map;
	dl_iterate_phdr(note_module, NULL);
	inside = false;
	sigaction(SIGSEGV, &once, NULL);
	sigaction(SIGABRT, &once, NULL);
	sigaction(SIGBUS, &once, NULL);
	sigaction(SIGFPE, &once, NULL);
}

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

/* Whether a call by this address may be the one that fails: seen without the whole way, which
 * costs more than most calls.  What libraries call for each other is left to the way. */
static bool may_be_target(void *caller)
{
	uint64_t at;

	if (!control->target)
		return true;
	if (control->failed_ns)
		return false;
	at = encoded(caller);
	return at >> 48 != 0 ? control->innermost >> 48 != 0 : at == control->innermost;
}

/* Whether this call by `caller` fails. */
static __attribute__((noinline)) bool fails(enum kind kind, void *caller)
{
	void *found[WHERE_FRAMES];
	uint64_t frames[MOST_FRAMES] = { 0 }, hash = 14695981039346656037u + kind;
	int found_n, n = 0, most;
	bool fail = false;

	if (!control || inside || !(control->kinds >> kind & 1))
		return false;
	inside = true;
	if (control->failed_ns && kind == control->failed_kind &&
	    now_ns() - control->failed_ns < control->goes_on_ms * (uint64_t)1000000) {
		__atomic_fetch_add(&control->failed, 1, __ATOMIC_RELAXED);
		inside = false;
		return true;
	}
	if (!may_be_target(caller)) {
		inside = false;
		return false;
	}
	/* most calls are reached without a library in between */
	most = OWN_FRAMES + (int)control->depth;
	found_n = backtrace(found, most);
	if (found_n == most && encoded(found[OWN_FRAMES]) >> 48 != 0)
		found_n = backtrace(found, WHERE_FRAMES);
	for (int i = OWN_FRAMES; i < found_n && n < (int)control->depth; i++) {
		uint64_t at = encoded(found[i]);

		if (i + 1 < found_n && at >> 48 != 0 && encoded(found[i + 1]) >> 48 != 0)
			continue;
		frames[n++] = at;
		hash = (hash ^ at) * 1099511628211u;
		hash ^= hash >> 29;
	}
	if (!hash)
		hash = 1;
	if (count(hash, kind, frames, n) == control->skip && hash == control->target) {
		control->failed_kind = kind;
		control->failed_ns = now_ns();
		__atomic_fetch_add(&control->failed, 1, __ATOMIC_RELAXED);
		note_way(control->where);
		fail = true;
	}
	inside = false;
	return fail;
}

/* The C library's own, found when first needed.  dlsym() itself may want memory (of ASan, whose
 * allocator it is on the way to): that is given from here and never freed. */
static char early[1 << 16] __attribute__((aligned(16)));
static size_t early_used;

static bool is_early(void *at)
{
	return (char *)at >= early && (char *)at < early + sizeof early;
}

static void *early_alloc(size_t bytes)
{
	size_t at = __atomic_fetch_add(&early_used, (bytes + 31) & ~(size_t)15, __ATOMIC_RELAXED);

	return at + bytes <= sizeof early ? early + at : NULL;
}

static __thread volatile bool looking __attribute__((tls_model("initial-exec")));

static void *find(void **slot, const char *name)
{
	if (!*slot && !looking) {
		looking = true;
		*slot = dlsym(RTLD_NEXT, name);
		looking = false;
	}
	return *slot;
}

#define REAL(name)                                                                                 \
	static void *real_##name;                                                                  \
	__typeof__(&name) real = (__typeof__(&name))find(&real_##name, #name)

#define CHECKED(kind, code, failure)                                                               \
	do {                                                                                       \
		if (fails(kind, __builtin_return_address(0))) {                                    \
			errno = (code);                                                            \
			return failure;                                                            \
		}                                                                                  \
	} while (0)

void *malloc(size_t bytes)
{
	REAL(malloc);

	if (!real)
		return early_alloc(bytes);
	CHECKED(MEMORY, ENOMEM, NULL);
	return real(bytes);
}

void free(void *at)
{
	REAL(free);

	if (real && !is_early(at))
		real(at);
}

void *calloc(size_t n, size_t bytes)
{
	REAL(calloc);

	if (!real)
		return early_alloc(n * bytes);
	CHECKED(MEMORY, ENOMEM, NULL);
	return real(n, bytes);
}

void *realloc(void *at, size_t bytes)
{
	REAL(realloc);

	if (!real)
		return NULL;
	if (is_early(at)) {
		void *to = malloc(bytes);

		if (to)
			memcpy(to, at, bytes);
		return to;
	}
	CHECKED(MEMORY, ENOMEM, NULL);
	return real(at, bytes);
}

int posix_memalign(void **at, size_t alignment, size_t bytes)
{
	REAL(posix_memalign);

	if (fails(MEMORY, __builtin_return_address(0)))
		return ENOMEM;
	return real(at, alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes)
{
	REAL(aligned_alloc);

	CHECKED(MEMORY, ENOMEM, NULL);
	return real(alignment, bytes);
}

ssize_t read(int fd, void *to, size_t bytes)
{
	REAL(read);

	CHECKED(READ, EIO, -1);
	return real(fd, to, bytes);
}

ssize_t pread64(int fd, void *to, size_t bytes, off_t at)
{
	REAL(pread64);

	CHECKED(READ, EIO, -1);
	return real(fd, to, bytes, at);
}

/* An eventfd wakes another thread of this process: a disk or a peer has no part in it. */
static bool is_eventfd(int fd)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == 0;
}

ssize_t write(int fd, const void *from, size_t bytes)
{
	REAL(write);

	if (bytes == sizeof(uint64_t) && is_eventfd(fd))
		return real(fd, from, bytes);
	CHECKED(WRITE, ENOSPC, -1);
	return real(fd, from, bytes);
}

ssize_t pwrite64(int fd, const void *from, size_t bytes, off_t at)
{
	REAL(pwrite64);

	CHECKED(WRITE, ENOSPC, -1);
	return real(fd, from, bytes, at);
}

int ftruncate64(int fd, off_t bytes)
{
	REAL(ftruncate64);

	CHECKED(WRITE, EIO, -1);
	return real(fd, bytes);
}

int fallocate64(int fd, int mode, off_t at, off_t bytes)
{
	REAL(fallocate64);

	CHECKED(WRITE, ENOSPC, -1);
	return real(fd, mode, at, bytes);
}

int posix_fallocate64(int fd, off_t at, off_t bytes)
{
	REAL(posix_fallocate64);

	if (fails(WRITE, __builtin_return_address(0)))
		return ENOSPC;
	return real(fd, at, bytes);
}

int rename(const char *from, const char *to)
{
	REAL(rename);

	CHECKED(WRITE, ENOSPC, -1);
	return real(from, to);
}

int fsync(int fd)
{
	REAL(fsync);

	CHECKED(SYNC, EIO, -1);
	return real(fd);
}

int fdatasync(int fd)
{
	REAL(fdatasync);

	CHECKED(SYNC, EIO, -1);
	return real(fd);
}

#define MODE_OF(flags)                                                                             \
	mode_t mode = 0;                                                                           \
	if ((flags) & (O_CREAT | __O_TMPFILE)) {                                                   \
		va_list more;                                                                      \
		va_start(more, flags);                                                             \
		mode = va_arg(more, mode_t);                                                       \
		va_end(more);                                                                      \
	}

int open(const char *path, int flags, ...)
{
	REAL(open);

	MODE_OF(flags);
	CHECKED(OPEN, EMFILE, -1);
	return real(path, flags, mode);
}

int open64(const char *path, int flags, ...)
{
	REAL(open64);

	MODE_OF(flags);
	CHECKED(OPEN, EMFILE, -1);
	return real(path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
	REAL(openat);

	MODE_OF(flags);
	CHECKED(OPEN, EMFILE, -1);
	return real(folder, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
	REAL(fopen);

	CHECKED(OPEN, EMFILE, NULL);
	return real(path, mode);
}

FILE *fopen64(const char *path, const char *mode)
{
	REAL(fopen64);

	CHECKED(OPEN, EMFILE, NULL);
	return real(path, mode);
}

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t from)
{
	REAL(mmap);

	CHECKED(MAP, ENOMEM, MAP_FAILED);
	return real(at, bytes, protection, flags, fd, from);
}

void *mmap64(void *at, size_t bytes, int protection, int flags, int fd, off_t from)
{
	REAL(mmap64);

	CHECKED(MAP, ENOMEM, MAP_FAILED);
	return real(at, bytes, protection, flags, fd, from);
}

void *dlopen(const char *path, int flags)
{
	REAL(dlopen);

	/* dlerror() has the text of a real failure */
	return fails(LOAD, __builtin_return_address(0)) ? real("/no/such/library", RTLD_NOW)
							: real(path, flags);
}

pid_t fork(void)
{
	REAL(fork);

	CHECKED(THREAD, EAGAIN, -1);
	return real();
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *),
		   void *self)
{
	REAL(pthread_create);

	if (fails(THREAD, __builtin_return_address(0)))
		return EAGAIN;
	return real(thread, attributes, run, self);
}
