/* What a program could do that has taken a worker over, machine code and all: each attempt is made
 * in a process that is confined as a worker is, and in one that is not, where it must succeed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fusion/backends/host/builder.h"
#include "fusion/base/err.h"
#include "server/queue/sandbox.h"

enum { CPU_SECONDS = 1 };

static char cache[64], outside[64], secret[96];

/* ---- attempts: true where it could be done ---- */

static bool read_secret(void)
{
	return open(secret, O_RDONLY) >= 0;
}

static bool read_shadow(void)
{
	return open("/etc/shadow", O_RDONLY) >= 0;
}

static bool read_others_environment(void)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/environ", (int)getppid());
	return open(path, O_RDONLY) >= 0;
}

static bool list_outside(void)
{
	return opendir(outside) != NULL;
}

static bool create_in(const char *folder)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/planted", folder);
	if (open(path, O_WRONLY | O_CREAT, 0600) < 0)
		return false;
	unlink(path);
	return true;
}

static bool write_outside(void)
{
	return create_in(outside);
}

static bool plant_in_cache(void)
{
	return create_in(cache);
}

static bool overwrite_kernel(void)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/kernel.so", cache);
	return open(path, O_WRONLY) >= 0 || open(path, O_RDONLY | O_TRUNC) >= 0;
}

static bool rename_kernel(void)
{
	char from[128], to[128];

	snprintf(from, sizeof(from), "%s/kernel.so", cache);
	snprintf(to, sizeof(to), "%s/moved.so", cache);
	return rename(from, to) == 0 && rename(to, from) == 0;
}

static bool open_socket(void)
{
	return socket(AF_INET, SOCK_STREAM, 0) >= 0;
}

static bool open_local_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM, 0) >= 0;
}

static bool fork_child(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid > 0 && waitpid(pid, NULL, 0) == pid;
}

static bool execute(void)
{
	execl("/bin/true", "true", NULL); /* ends with 0 where it goes: see attempt() */
	return false;
}

static bool trace_parent(void)
{
	return ptrace(PTRACE_TRACEME, 0, NULL, NULL) == 0;
}

static bool read_parent(void)
{
	char byte;
	struct iovec here = { &byte, 1 }, there = { cache, 1 };

	return process_vm_readv(getppid(), &here, 1, &there, 1, 0) == 1;
}

static bool signal_parent(void)
{
	return kill(getppid(), 0) == 0;
}

static bool map_executable(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1,
		    0) != MAP_FAILED;
}

static bool map_executable_only(void)
{
	return mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) !=
	       MAP_FAILED;
}

static bool make_executable(void)
{
	void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return page != MAP_FAILED && mprotect(page, 4096, PROT_READ | PROT_EXEC) == 0;
}

static bool file_in_memory(void)
{
	return syscall(SYS_memfd_create, "code", 0) >= 0;
}

static bool map_file_writable(void)
{
	char path[128];
	int fd;

	snprintf(path, sizeof(path), "%s/kernel.so", cache);
	fd = open(path, O_RDONLY);
	return fd >= 0 && mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE, fd,
			       0) != MAP_FAILED;
}

static bool leave_by_namespace(void)
{
	return unshare(CLONE_NEWUSER) == 0 || unshare(CLONE_NEWNS) == 0;
}

static bool watch_system(void)
{
	return syscall(SYS_inotify_init1, 0) >= 0;
}

static bool add_key(void)
{
	return syscall(SYS_add_key, "user", "breakeven", "x", 1, -2) >= 0;
}

enum { NEEDS_LANDLOCK = 1, NEEDS_SECCOMP = 2 };

static const struct {
	const char *name;
	bool (*try)(void);
	int needs;
	bool only_root; /* or where the system lets it: it may fail without a sandbox too */
	bool on_gpu;    /* what the libraries of a GPU need: a worker that has one may do it */
} attempts[] = {
	{ "reads a file", read_secret, NEEDS_LANDLOCK, false, false },
	{ "reads /etc/shadow", read_shadow, NEEDS_LANDLOCK, true, false },
	{ "reads the environment of another process", read_others_environment, NEEDS_LANDLOCK,
	  false, false },
	{ "lists a folder", list_outside, NEEDS_LANDLOCK, false, false },
	{ "writes outside", write_outside, NEEDS_LANDLOCK, false, false },
	{ "plants a file in the cache", plant_in_cache, NEEDS_LANDLOCK, false, false },
	{ "overwrites a kernel", overwrite_kernel, NEEDS_LANDLOCK, false, false },
	{ "renames a kernel", rename_kernel, NEEDS_SECCOMP, false, false },
	{ "opens a socket", open_socket, NEEDS_SECCOMP, false, true },
	{ "opens a local socket", open_local_socket, NEEDS_SECCOMP, false, true },
	{ "forks", fork_child, NEEDS_SECCOMP, false, true },
	{ "executes a program", execute, NEEDS_SECCOMP, false, true },
	{ "traces", trace_parent, NEEDS_SECCOMP, true, false },
	{ "reads another process's memory", read_parent, NEEDS_SECCOMP, true, false },
	{ "signals another process", signal_parent, NEEDS_SECCOMP, false, true },
	{ "maps memory to write and execute", map_executable, NEEDS_SECCOMP, false, true },
	{ "maps memory to execute", map_executable_only, NEEDS_SECCOMP, false, true },
	{ "makes memory executable", make_executable, NEEDS_SECCOMP, false, true },
	{ "makes a file in memory", file_in_memory, NEEDS_SECCOMP, false, true },
	{ "maps a kernel to write and execute", map_file_writable, NEEDS_SECCOMP, false, true },
	{ "makes a namespace", leave_by_namespace, NEEDS_SECCOMP, true, false },
	{ "watches files", watch_system, NEEDS_SECCOMP, false, true },
	{ "adds a key", add_key, NEEDS_SECCOMP, true, false },
};

enum { N_ATTEMPTS = sizeof(attempts) / sizeof(attempts[0]) };

static int kernel_has(void)
{
	return (syscall(444, NULL, 0, 1) > 0 ? NEEDS_LANDLOCK : 0) |
	       (prctl(PR_SET_SECCOMP, 2, NULL, 0, 0) != 0 && errno == EFAULT ? NEEDS_SECCOMP : 0);
}

/* The exit status of a process that did it: 0 done, 1 refused, 2 not confined; or the signal
 * that ended it, negative. */
static int attempt(bool (*try)(void), bool confined, bool on_gpu)
{
	const struct sandbox_needs needs = { .cache_dir = cache, .device = on_gpu };
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		if (confined) {
			sandbox_begin(false, CPU_SECONDS);
			if (!sandbox_enter(&needs, NULL))
				_exit(2);
		}
		_exit(try() ? 0 : 1);
	}
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void test_attempts(void **state)
{
	int has = kernel_has(), bad = 0;

	(void)state;
	for (size_t i = 0; i < N_ATTEMPTS; i++) {
		int free_one = attempt(attempts[i].try, false, false), confined;

		if (free_one != 0 && !attempts[i].only_root)
			bad += !!fprintf(stderr, "%s: does not even without a sandbox (%d)\n",
					 attempts[i].name, free_one);
		if (!(has & attempts[i].needs)) {
			fprintf(stderr, "%s: skipped, this kernel has no %s\n", attempts[i].name,
				attempts[i].needs == NEEDS_LANDLOCK ? "Landlock" : "seccomp");
			continue;
		}
		confined = attempt(attempts[i].try, true, false);
		if (confined != 1)
			bad += !!fprintf(stderr, "%s: %d in a sandbox\n", attempts[i].name,
					 confined);
		confined = attempts[i].on_gpu ? 1 : attempt(attempts[i].try, true, true);
		if (confined != 1)
			bad += !!fprintf(stderr, "%s: %d in the sandbox of a GPU\n",
					 attempts[i].name, confined);
	}
	assert_int_equal(bad, 0);
}

static bool loop(void)
{
	for (volatile bool on = true; on;)
		;
	return true;
}

static void test_endless(void **state)
{
	int end = attempt(loop, true, false);

	(void)state;
	assert_true(end == -SIGXCPU || end == -SIGKILL);
}

/* ---- what it does need ---- */

static void *thread(void *self)
{
	*(bool *)self = true;
	return self;
}

static bool work(void)
{
	char path[128];
	bool ran = false;
	pthread_t id;
	void *library, *function;
	int (*answer)(void);

	snprintf(path, sizeof(path), "%s/kernel.so", cache);
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	function = library ? dlsym(library, "answer") : NULL;
	if (!function)
		return false;
	memcpy(&answer, &function, sizeof(answer));
	return answer() == 42 && pthread_create(&id, NULL, thread, &ran) == 0 &&
	       pthread_join(id, NULL) == 0 && ran && fopen("/proc/cpuinfo", "r") &&
	       malloc(64 << 20) && sysconf(_SC_NPROCESSORS_ONLN) > 0;
}

static void test_work(void **state)
{
	(void)state;
	assert_int_equal(attempt(work, true, false), 0);
}

static bool has_nothing(void)
{
	char line[256];
	FILE *file = fopen("/proc/self/status", "r");
	int found = 0;

	while (file && fgets(line, sizeof(line), file)) {
		found += strncmp(line, "CapEff:\t0000000000000000", 24) == 0;
		found += strncmp(line, "CapPrm:\t0000000000000000", 24) == 0;
		found += strncmp(line, "CapBnd:\t0000000000000000", 24) == 0 ||
			 (strncmp(line, "CapBnd:", 7) == 0 && geteuid() != 0);
		found += strncmp(line, "NoNewPrivs:\t1", 13) == 0;
	}
	return found == 4;
}

static void test_privileges(void **state)
{
	(void)state;
	assert_int_equal(attempt(has_nothing, true, false), 0);
}

/* ---- the process that compiles for it ---- */

/* A kernel whose source has the line: what became of it. */
static bool compiles(const char *line)
{
	struct sandbox_needs needs = { .cache_dir = cache };
	const struct kernel_builder_options options = { .cache_dir = cache,
							.confine = sandbox_builder,
							.self = &needs };
	struct kernel_builder *builder = kernel_builder_create();
	struct cpu_build b = { .vector_bytes = 16, .builder = builder };
	struct err err = { 0 };
	char source[512];
	bool cached, ok;

	snprintf(source, sizeof(source), "%s\nint answer(void) { return 42; }\n", line);
	b.source = source;
	b.len = strlen(source);
	ok = kernel_builder_start(builder, &options, &err) && sandbox_enter(&needs, &err) &&
	     toolchain_find(&b.toolchain, NULL, &err);
	cache_open(&b.cache, cache, 0);
	ok = ok && build_load(&b, &cached, &err);
	cache_close(&b.cache);
	kernel_builder_destroy(builder);
	return ok;
}

static bool compile_plain(void)
{
	return compiles("");
}

static void write_program(const char *path, const char *runs)
{
	FILE *file = fopen(path, "w");

	if (!file)
		return;
	fprintf(file, "#!/bin/sh\nexec %s \"$@\"\n", runs);
	fchmod(fileno(file), 0700);
	fclose(file);
}

/* With a compiler of a prefix of its own, whose parts lie beside its folder of PATH. */
static bool compile_elsewhere(void)
{
	char path[128], part[128], folders[256];

	snprintf(path, sizeof(path), "%s/bin", outside);
	snprintf(part, sizeof(part), "%s/libexec", outside);
	if (mkdir(path, 0700) != 0 || mkdir(part, 0700) != 0)
		return false;
	snprintf(folders, sizeof(folders), "%s:/usr/bin:/bin", path);
	setenv("PATH", folders, 1);
	strcat(path, "/gcc");
	strcat(part, "/cc1");
	write_program(path, part);
	write_program(part, "/usr/bin/cc");
	return compiles("/* elsewhere */");
}

static bool include_secret(void)
{
	char line[160];

	snprintf(line, sizeof(line), "#include \"%s\"", secret);
	return compiles(line);
}

static bool take_in_secret(void)
{
	char line[160];

	snprintf(line, sizeof(line), "__asm__(\".incbin \\\"%s\\\"\");", secret);
	return compiles(line);
}

/* C that a worker sends may name files: the compiler reads no more than it must. */
static void test_compiler(void **state)
{
	(void)state;
	assert_int_equal(attempt(compile_plain, false, false), 0);
	assert_int_equal(attempt(compile_elsewhere, false, false), 0);
	if (!(kernel_has() & NEEDS_LANDLOCK)) {
		fprintf(stderr, "what the compiler reads: skipped, this kernel has no Landlock\n");
		skip();
	}
	assert_int_equal(attempt(include_secret, false, false), 1);
	assert_int_equal(attempt(take_in_secret, false, false), 1);
}

static int setup(void **state)
{
	static const char source[] = "int answer(void){return 42;}";
	char command[256], path[128];
	FILE *file;

	(void)state;
	strcpy(cache, "/tmp/breakeven-sandbox-XXXXXX");
	strcpy(outside, "/tmp/breakeven-outside-XXXXXX");
	if (!mkdtemp(cache) || !mkdtemp(outside))
		return -1;
	snprintf(secret, sizeof(secret), "%s/secret", outside);
	file = fopen(secret, "w");
	if (!file)
		return -1;
	fclose(file);
	snprintf(path, sizeof(path), "%s/kernel.c", cache);
	file = fopen(path, "w");
	if (!file)
		return -1;
	fputs(source, file);
	fclose(file);
	snprintf(command, sizeof(command), "cc -shared -fPIC -o %s/kernel.so %s/kernel.c", cache,
		 cache);
	return system(command);
}

static int teardown(void **state)
{
	char command[256];

	(void)state;
	snprintf(command, sizeof(command), "rm -rf %s %s", cache, outside);
	return system(command);
}

static void test_gpu(void **state)
{
	char folder[] = "/tmp/breakeven-gpu-XXXXXX", path[64], list[128];
	const char *before = getenv("LD_LIBRARY_PATH");
	char *kept = before ? strdup(before) : NULL;
	bool files = access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;

	(void)state;
	assert_non_null(mkdtemp(folder));
	snprintf(path, sizeof(path), "%s/libcuda.so.1", folder);
	snprintf(list, sizeof(list), "/none::%s", folder);
	setenv("LD_LIBRARY_PATH", list, 1);
	assert_int_equal(sandbox_has_gpu(), files);
	close(open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
	assert_true(sandbox_has_gpu());
	unlink(path);
	rmdir(folder);
	if (kept)
		setenv("LD_LIBRARY_PATH", kept, 1);
	else
		unsetenv("LD_LIBRARY_PATH");
	free(kept);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attempts), cmocka_unit_test(test_endless),
		cmocka_unit_test(test_work),     cmocka_unit_test(test_privileges),
		cmocka_unit_test(test_compiler), cmocka_unit_test(test_gpu),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
