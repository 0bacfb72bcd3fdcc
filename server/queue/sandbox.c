/* server/queue/sandbox.c -- capabilities, Landlock, seccomp and limits of a worker.
 *
 * What is allowed is listed; all else is refused with EPERM or EACCES, so that a library which
 * tries something goes on without it.
 */
#include "server/queue/sandbox.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/capability.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fusion/base/refused.h"
#include "fusion/base/sanitized.h"
#include "profiler/cupti/wire.h"
#include "server/queue/cgroup.h"

/* ---- Landlock: files.  Debian 12's headers know two versions of seven. ---- */

enum {
	LANDLOCK_CREATE = 444, /* numbers of the system calls */
	LANDLOCK_ADD = 445,
	LANDLOCK_RESTRICT = 446,
	LANDLOCK_VERSION = 1,
	LANDLOCK_BENEATH = 1,
};

enum {
	MAY_EXECUTE = 1 << 0,
	MAY_WRITE = 1 << 1,
	MAY_READ = 1 << 2,
	MAY_LIST = 1 << 3,
	MAY_ALL_1 = (1 << 13) - 1, /* of version 1 */
	MAY_REFER = 1 << 13,
	MAY_TRUNCATE = 1 << 14,
	MAY_IOCTL = 1 << 15,
	OF_FILES = MAY_EXECUTE | MAY_WRITE | MAY_READ | MAY_TRUNCATE | MAY_IOCTL,
};

struct ruleset {
	uint64_t files, network, scoped;
};

struct __attribute__((packed)) beneath {
	uint64_t allowed;
	int32_t folder;
};

static int landlock_version(void)
{
	long version = syscall(LANDLOCK_CREATE, NULL, 0, LANDLOCK_VERSION);

	return version > 0 ? (int)version : 0;
}

/* All rights that a version can take away. */
static uint64_t all_rights(int version)
{
	return MAY_ALL_1 | (version >= 2 ? MAY_REFER : 0) | (version >= 3 ? MAY_TRUNCATE : 0) |
	       (version >= 5 ? MAY_IOCTL : 0);
}

static int new_ruleset(int version, bool network)
{
	/* connections of TCP; signals and abstract sockets to whom it does not contain */
	const struct ruleset r = { all_rights(version), network ? 0 : 3, 3 };
	size_t bytes = version < 4 ? 8 : version < 6 ? 16 : sizeof(r);

	return (int)syscall(LANDLOCK_CREATE, &r, bytes, 0);
}

static void allow(int ruleset, int version, const char *path, uint64_t rights)
{
	struct beneath rule = { .allowed = rights & all_rights(version) };
	struct stat st;

	if (!path || !*path)
		return;
	rule.folder = open(path, O_PATH | O_CLOEXEC);
	if (rule.folder < 0)
		return;
	if (fstat(rule.folder, &st) == 0 && !S_ISDIR(st.st_mode))
		rule.allowed &= OF_FILES;
	if (rule.allowed)
		syscall(LANDLOCK_ADD, ruleset, LANDLOCK_BENEATH, &rule, 0);
	close(rule.folder);
}

/* What the links in a folder lead to: a suite has its files of weights so. */
static void allow_links(int ruleset, int version, const char *folder, uint64_t rights)
{
	DIR *dir = folder ? opendir(folder) : NULL;
	char path[PATH_MAX + 256];

	for (struct dirent *e; dir && (e = readdir(dir));)
		if (e->d_type == DT_LNK) {
			snprintf(path, sizeof(path), "%s/%s", folder, e->d_name);
			allow(ruleset, version, path, rights);
		}
	if (dir)
		closedir(dir);
}

/* The next absolute folder of a list like PATH; NULL after the last. */
static const char *next_folder(const char **list, char path[PATH_MAX])
{
	while (*list && **list) {
		size_t n = strcspn(*list, ":");
		bool taken = **list == '/' && n > 1 && n < PATH_MAX;

		if (taken)
			snprintf(path, PATH_MAX, "%.*s", (int)n, *list);
		*list += n + ((*list)[n] == ':');
		if (taken)
			return path;
	}
	return NULL;
}

static void allow_list(int ruleset, int version, const char *list, uint64_t rights)
{
	char path[PATH_MAX];

	while (next_folder(&list, path))
		allow(ruleset, version, path, rights);
}

/* What lies beside the folder of programs `bin`: a compiler that is installed in /opt/gcc has its
 * parts in lib, libexec and include there, and in a folder named for the machine. */
static void allow_beside(int ruleset, int version, const char *bin, uint64_t rights)
{
	static const char *const parts[] = { "lib", "lib64", "libexec", "include" };
	const char *end = strrchr(bin, '/');
	int prefix = (int)(end - bin);
	char path[PATH_MAX + 264];
	DIR *dir;

	if (strcmp(end, "/bin") != 0 || prefix == 0)
		return;
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		snprintf(path, sizeof(path), "%.*s/%s", prefix, bin, parts[i]);
		allow(ruleset, version, path, rights);
	}
	snprintf(path, sizeof(path), "%.*s", prefix, bin);
	dir = opendir(path);
	for (struct dirent *e; dir && (e = readdir(dir));)
		if (strstr(e->d_name, "-linux-")) {
			snprintf(path, sizeof(path), "%.*s/%s", prefix, bin, e->d_name);
			allow(ruleset, version, path, rights);
		}
	if (dir)
		closedir(dir);
}

/* Each folder of PATH. */
static void allow_programs(int ruleset, int version, uint64_t rights)
{
	const char *list = getenv("PATH");
	char path[PATH_MAX];

	while (next_folder(&list, path)) {
		allow(ruleset, version, path, rights);
		allow_beside(ruleset, version, path, rights);
	}
}

/* What programs of the system read. */
static const char *const system_paths[] = {
	"/usr",
	"/lib",
	"/lib32",
	"/lib64",
	"/bin",
	"/sbin",
	"/etc/alternatives",
	"/etc/ld.so.cache",
	"/etc/ld.so.conf",
	"/etc/ld.so.conf.d",
	"/etc/localtime",
	"/etc/timezone",
	"/proc/self",
	"/proc/cpuinfo",
	"/proc/meminfo",
	"/proc/stat",
	"/proc/loadavg",
	"/proc/version",
	"/proc/sys/vm/overcommit_memory",
	"/proc/sys/kernel/osrelease",
	"/sys/devices/system",
	"/sys/fs/cgroup",
	"/sys/kernel/mm/transparent_hugepage",
	"/dev/zero",
	"/dev/random",
	"/dev/urandom",
};

/* And the libraries of a GPU: what the driver says of the cards, and where its profiles lie. */
static const char *const device_paths[] = {
	"/proc/devices",
	"/proc/driver",
	"/proc/sys/vm/mmap_min_addr",
	"/sys/bus/pci",
	"/sys/devices",
	"/sys/module",
	"/etc/nvidia",
	"/run/nvidia-persistenced",
	"/opt/cuda",
	"/opt/nvidia",
};

static const char *const device_files[] = { "/dev/nvidiactl",
					    "/dev/nvidia-uvm",
					    "/dev/nvidia-uvm-tools",
					    "/dev/nvidia-modeset",
					    "/dev/nvidia-caps",
					    "/dev/nvidia-caps-imex-channels",
					    "/dev/dri",
					    "/dev/dxg",
					    "/dev/shm" };
bool sandbox_has_gpu(void)
{
	const char *list = getenv("LD_LIBRARY_PATH");
	char path[PATH_MAX], driver[PATH_MAX + 16];

	while (next_folder(&list, path)) {
		snprintf(driver, sizeof(driver), "%s/libcuda.so.1", path);
		if (access(driver, R_OK) == 0)
			return true;
	}
	return access("/dev/nvidiactl", F_OK) == 0 || access("/dev/dxg", F_OK) == 0;
}

/* And what finds a host and speaks TLS to it. */
static const char *const network_paths[] = { "/etc/resolv.conf",    "/etc/hosts",
					     "/etc/nsswitch.conf",  "/etc/ssl",
					     "/etc/gai.conf",       "/etc/host.conf",
					     "/etc/services",       "/etc/ca-certificates",
					     "/run/systemd/resolve" };

#define ALLOW_EACH(list, rights)                                                                   \
	for (size_t i_ = 0; i_ < sizeof(list) / sizeof(list[0]); i_++)                             \
	allow(ruleset, version, (list)[i_], rights)

static void allow_system(int ruleset, int version, uint64_t rights)
{
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	ALLOW_EACH(system_paths, rights);
	allow(ruleset, version, "/dev/null", MAY_READ | MAY_WRITE);
	allow_list(ruleset, version, getenv("LD_LIBRARY_PATH"), rights);
	if (n > 0) {
		self[n] = '\0';
		allow(ruleset, version, self, rights);
	}
}

/* Each folder that a file of ld.so.conf.d names on a line of its own. */
static void allow_loader_file(int ruleset, int version, const char *file, uint64_t rights)
{
	FILE *lines = fopen(file, "re");
	char line[PATH_MAX];

	while (lines && fgets(line, sizeof(line), lines)) {
		line[strcspn(line, " \t\r\n#")] = '\0';
		if (*line == '/' && line[1])
			allow(ruleset, version, line, rights);
	}
	if (lines)
		fclose(lines);
}

/* The folders in which the system's loader looks for libraries beside those of /usr. */
static void allow_loader(int ruleset, int version, uint64_t rights)
{
	DIR *dir = opendir("/etc/ld.so.conf.d");
	char path[PATH_MAX];

	allow_loader_file(ruleset, version, "/etc/ld.so.conf", rights);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		snprintf(path, sizeof(path), "/etc/ld.so.conf.d/%s", e->d_name);
		if (*e->d_name != '.')
			allow_loader_file(ruleset, version, path, rights);
	}
	if (dir)
		closedir(dir);
}

/* A libcupti that the operator names, and the libraries beside it. */
static void allow_cupti(int ruleset, int version, uint64_t rights)
{
	const char *library = getenv(WIRE_CUPTI), *end = library ? strrchr(library, '/') : NULL;
	char folder[PATH_MAX];

	if (!end || end == library || end - library >= PATH_MAX)
		return;
	snprintf(folder, sizeof(folder), "%.*s", (int)(end - library), library);
	allow(ruleset, version, folder, rights);
}

static void allow_device(int ruleset, int version, const struct sandbox_needs *needs)
{
	const uint64_t rights = MAY_READ | MAY_LIST | MAY_EXECUTE;
	char path[PATH_MAX];

	ALLOW_EACH(device_paths, rights);
	ALLOW_EACH(device_files, all_rights(version));
	for (int i = 0; i < 16; i++) {
		snprintf(path, sizeof(path), "/dev/nvidia%d", i);
		allow(ruleset, version, path, all_rights(version));
	}
	allow(ruleset, version, getenv("CUDA_HOME"), rights);
	allow(ruleset, version, getenv("CUDA_PATH"), rights);
	allow_cupti(ruleset, version, rights);
	allow_loader(ruleset, version, rights);
	/* cuInit() names its threads in /proc/self/task/N/comm, and gives up where it cannot.  What
	 * /proc/sys holds root may write without a capability: no more of /proc is opened. */
	allow(ruleset, version, "/proc/self/task", rights | MAY_WRITE | MAY_TRUNCATE);
	/* NVRTC compiles within the process, which keeps what it makes itself: in a folder that
	 * nothing is loaded from into a processor. */
	if (needs->cache_dir) {
		snprintf(path, sizeof(path), "%s/cubin", needs->cache_dir);
		mkdir(path, 0700);
		allow(ruleset, version, path, all_rights(version));
	}
}

static int worker_ruleset(int version, const struct sandbox_needs *needs)
{
	const uint64_t read = MAY_READ | MAY_LIST | (needs->device ? MAY_EXECUTE : 0);
	int ruleset = new_ruleset(version, needs->network);

	if (ruleset < 0)
		return ruleset;
	allow_system(ruleset, version, read);
	allow(ruleset, version, needs->cache_dir, read);
	allow(ruleset, version, needs->temporary,
	      needs->owns_temporary ? all_rights(version) & ~(uint64_t)MAY_EXECUTE : read);
	allow(ruleset, version, needs->files, read);
	allow_links(ruleset, version, needs->files, read);
	for (int i = 0; i < needs->n_read; i++)
		allow(ruleset, version, needs->read[i], read);
	if (needs->device)
		allow_device(ruleset, version, needs);
	allow(ruleset, version, needs->torch_host, all_rights(version) & ~(uint64_t)MAY_EXECUTE);
	if (needs->network)
		ALLOW_EACH(network_paths, MAY_READ | MAY_LIST);
	return ruleset;
}

/* The compiler runs programs of the system, and those beside it on PATH. */
static int builder_ruleset(int version, const struct sandbox_needs *needs)
{
	const uint64_t run = MAY_READ | MAY_LIST | MAY_EXECUTE;
	int ruleset = new_ruleset(version, false);

	if (ruleset < 0)
		return ruleset;
	allow_system(ruleset, version, run);
	allow_programs(ruleset, version, run);
	allow(ruleset, version, needs->cache_dir, all_rights(version));
	allow(ruleset, version, needs->temporary, all_rights(version));
	return ruleset;
}

/* 0: in force, or this kernel has none; else errno. */
static int restrict_files(int ruleset)
{
	int code = ruleset < 0 || syscall(LANDLOCK_RESTRICT, ruleset, 0) != 0 ? errno : 0;

	if (ruleset >= 0)
		close(ruleset);
	return code;
}

/* ---- seccomp: system calls ---- */

/* Of which every program makes use. */
static const char *const calls[] = {
	"read",
	"write",
	"readv",
	"writev",
	"pread64",
	"pwrite64",
	"close",
	"close_range",
	"fstat",
	"newfstatat",
	"stat",
	"lstat",
	"statx",
	"fstatfs",
	"statfs",
	"lseek",
	"access",
	"faccessat",
	"faccessat2",
	"open",
	"openat",
	"readlink",
	"readlinkat",
	"getcwd",
	"getdents64",
	"fcntl",
	"poll",
	"ppoll",
	"munmap",
	"mremap",
	"madvise",
	"mincore",
	"msync",
	"mlock",
	"munlock",
	"brk",
	"futex",
	"set_robust_list",
	"get_robust_list",
	"rseq",
	"set_tid_address",
	"exit",
	"exit_group",
	"sched_yield",
	"sched_getaffinity",
	"sched_setaffinity",
	"sched_getparam",
	"sched_getscheduler",
	"sched_get_priority_max",
	"sched_get_priority_min",
	"getpid",
	"gettid",
	"getppid",
	"getuid",
	"geteuid",
	"getgid",
	"getegid",
	"getpriority",
	"getrlimit",
	"setrlimit",
	"getrusage",
	"sysinfo",
	"uname",
	"times",
	"time",
	"clock_gettime",
	"clock_getres",
	"clock_nanosleep",
	"nanosleep",
	"gettimeofday",
	"rt_sigaction",
	"rt_sigprocmask",
	"rt_sigreturn",
	"rt_sigtimedwait",
	"rt_sigpending",
	"sigaltstack",
	"restart_syscall",
	"getrandom",
	"arch_prctl",
	"membarrier",
	"sendto",
	"recvfrom",
	"sendmsg",
	"recvmsg",
	"shutdown",
	"getsockopt",
	"dup",
	"dup2",
	"dup3",
	"pipe2",
	"eventfd2",
	"flock",
	"utimensat",
	"fadvise64",
	"fsync",
	"fdatasync",
	"ftruncate",
	"getcpu",
	"wait4",
	"waitid",
};

/* Of which files in a folder of its own do. */
static const char *const folder_calls[] = { "mkdir",  "mkdirat", "unlink",   "unlinkat",
					    "rmdir",  "rename",  "renameat", "renameat2",
					    "fchmod", "chmod",   "umask",    "fallocate" };

/* Of which the libraries of a GPU do. */
static const char *const device_calls[] = {
	"ioctl",
	"mmap",
	"mprotect",
	"clone",
	"clone3",
	"vfork",
	"execve",
	"socketpair",
	"socket",
	"connect",
	"epoll_create1",
	"epoll_ctl",
	"epoll_wait",
	"epoll_pwait",
	"inotify_init1",
	"mbind",
	"set_mempolicy",
	"get_mempolicy",
	"memfd_create",
	"pidfd_open",
	"kill",
	"tgkill",
	"prctl",
	"prlimit64",
	"mlock2",
	"mlockall",
	"timerfd_create",
	"timerfd_settime",
	"mknodat",
	"mknod",
	"symlink",
	"setpgid",
	"setsockopt",
	"pipe",
	"sched_setscheduler",
	"getsockname",
	"getpeername",
	"bind",
	"listen", /* of cuInit(), on a socket whose name only this machine sees */
	"accept4",
	"select",
	"pselect6",
};

/* Of which a connection does. */
static const char *const network_calls[] = {
	"socket",     "connect",    "bind",     "getsockname", "getpeername",
	"setsockopt", "socketpair", "sendmmsg", "recvmmsg",    "epoll_create1",
	"epoll_ctl",  "epoll_wait", "select",   "pselect6",    "pipe",
};

static int allow_call(scmp_filter_ctx filter, const char *name)
{
	int call = seccomp_syscall_resolve_name(name);

	return call == __NR_SCMP_ERROR ? 0 : seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
}

#define ALLOW_CALLS(list)                                                                          \
	for (size_t i_ = 0; code == 0 && i_ < sizeof(list) / sizeof(list[0]); i_++)                \
	code = allow_call(filter, (list)[i_])

#define RULE(call, n, ...)                                                                         \
	do {                                                                                       \
		if (code == 0)                                                                     \
			code = seccomp_rule_add(filter, SCMP_ACT_ALLOW, SCMP_SYS(call), n,         \
						__VA_ARGS__);                                      \
	} while (0)

/* A kernel with filters looks for this one where there is none. */
static bool has_filters(void)
{
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, NULL, 0, 0) != 0 && errno == EFAULT;
}

/* Memory is written or executed, never both; what is executed comes from a file.  Threads, but
 * no processes.  Signals and limits of itself alone. */
static int allow_some(scmp_filter_ctx filter)
{
	static const int named[] = { PR_SET_NAME,        PR_GET_NAME,      PR_SET_VMA,
				     PR_GET_DUMPABLE,    PR_SET_PDEATHSIG, PR_GET_NO_NEW_PRIVS,
				     PR_SET_THP_DISABLE, PR_CAPBSET_READ };
	static const unsigned long asked[] = { TCGETS, TIOCGWINSZ, FIONREAD, FIOCLEX, FIONBIO };
	const scmp_datum_t self = (scmp_datum_t)getpid();
	int code = 0;

	RULE(mmap, 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	RULE(mmap, 2, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC | PROT_WRITE, PROT_EXEC),
	     SCMP_A3(SCMP_CMP_MASKED_EQ, MAP_ANONYMOUS, 0));
	RULE(mprotect, 1, SCMP_A2(SCMP_CMP_MASKED_EQ, PROT_EXEC, 0));
	RULE(clone, 1, SCMP_A0(SCMP_CMP_MASKED_EQ, CLONE_THREAD, CLONE_THREAD));
	RULE(tgkill, 1, SCMP_A0(SCMP_CMP_EQ, self, 0));
	RULE(kill, 1, SCMP_A0(SCMP_CMP_EQ, self, 0));
	RULE(prlimit64, 1, SCMP_A0(SCMP_CMP_EQ, 0, 0));
	for (size_t i = 0; i < sizeof(named) / sizeof(named[0]); i++)
		RULE(prctl, 1, SCMP_A0(SCMP_CMP_EQ, (scmp_datum_t)named[i], 0));
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		RULE(ioctl, 1, SCMP_A1(SCMP_CMP_EQ, asked[i], 0));
	/* glibc takes clone() then, whose flags can be looked at */
	if (code == 0)
		code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SCMP_SYS(clone3), 0);
	return code;
}

/* more than libseccomp asks for */
enum { SPARE_BYTES = 8 << 20 };

/* libseccomp 2.5 does not live through a want of memory while it makes a program of the rules. */
static int load_calls(scmp_filter_ctx filter)
{
	void *spare = memory_try(SPARE_BYTES);

	free(spare);
	return spare ? seccomp_load(filter) : -ENOMEM;
}

/* 0, or an errno that is negative. */
static int restrict_calls(const struct sandbox_needs *needs)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
	int code = filter ? seccomp_attr_set(filter, SCMP_FLTATR_CTL_TSYNC, 1) : -ENOMEM;

	ALLOW_CALLS(calls);
	if (needs->owns_temporary || needs->device || needs->torch_host)
		ALLOW_CALLS(folder_calls);
	if (needs->device)
		ALLOW_CALLS(device_calls);
	else if (code == 0)
		code = allow_some(filter);
	if (needs->network && !needs->device)
		ALLOW_CALLS(network_calls);
	if (needs->torch_host && !needs->network && !needs->device) {
		RULE(socket, 1, SCMP_A0(SCMP_CMP_EQ, AF_UNIX, 0)); /* to its host */
		code = code ? code : allow_call(filter, "connect");
	}
	if (code == 0)
		code = load_calls(filter);
	seccomp_release(filter);
	return code;
}

/* Sockets of which a process makes its own. */
static const char *const socket_calls[] = { "socket", "connect", "bind", "listen" };

/* Sockets that it is given, or that lead nowhere. */
static const char *const pair_calls[] = { "socketpair", "accept", "accept4" };

/* Who starts programs is refused what none of them needs: other processes' memory, mounts,
 * modules, and what names a kernel's inside; and the calls of two lists.  0, or an errno that is
 * negative. */
static int refuse_calls(const char *const *first, size_t n_first, const char *const *second,
			size_t n_second)
{
	static const char *const refused[] = {
		"ptrace",
		"process_vm_readv",
		"process_vm_writev",
		"kcmp",
		"mount",
		"umount2",
		"pivot_root",
		"chroot",
		"unshare",
		"setns",
		"bpf",
		"perf_event_open",
		"userfaultfd",
		"keyctl",
		"add_key",
		"request_key",
		"init_module",
		"finit_module",
		"delete_module",
		"kexec_load",
		"reboot",
		"swapon",
		"swapoff",
		"io_uring_setup",
		"io_uring_enter",
		"io_uring_register",
		"open_by_handle_at",
		"pidfd_getfd",
		"move_mount",
		"fsopen",
		"fsmount",
		"open_tree",
		"mknod",
		"mknodat",
		"memfd_create",
	};
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
	size_t n = sizeof(refused) / sizeof(refused[0]);
	int code = filter ? 0 : -ENOMEM;

	for (size_t i = 0; code == 0 && i < n + n_first + n_second; i++) {
		const char *name = i < n             ? refused[i]
				   : i - n < n_first ? first[i - n]
						     : second[i - n - n_first];
		int call = seccomp_syscall_resolve_name(name);

		if (call != __NR_SCMP_ERROR)
			code = seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
	}
	if (code == 0)
		code = load_calls(filter);
	seccomp_release(filter);
	return code;
}

#define REFUSED(list) list, sizeof(list) / sizeof((list)[0])

/* ---- the rest ---- */

/* All of them, and those that a program which it starts could get. */
static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = { .version = _LINUX_CAPABILITY_VERSION_3 };
	const struct __user_cap_data_struct none[2] = { { 0 }, { 0 } };

	for (int i = 0; i <= CAP_LAST_CAP + 8; i++)
		prctl(PR_CAPBSET_DROP, i, 0, 0, 0);
	prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0);
	syscall(SYS_capset, &header, none);
}

static bool write_line(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text);

	if (fd >= 0)
		close(fd);
	return ok;
}

/* What others have in common, left for `spaces` of its own: a network without a way out.  Who may
 * not make one makes it in a user namespace, where he stays who he is: the kernel cache is his. */
static bool leave(int spaces)
{
	char map[64];
	uid_t user = geteuid();
	gid_t group = getegid();

	if (unshare(spaces) == 0)
		return true;
	if (unshare(CLONE_NEWUSER | spaces) != 0)
		return false;
	snprintf(map, sizeof(map), "%u %u 1\n", (unsigned)user, (unsigned)user);
	write_line("/proc/self/uid_map", map);
	write_line("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "%u %u 1\n", (unsigned)group, (unsigned)group);
	write_line("/proc/self/gid_map", map);
	return true;
}

void sandbox_limit(int what, rlim_t value)
{
	struct rlimit now;

	if (getrlimit((__rlimit_resource_t)what, &now) == 0 && now.rlim_cur < value)
		value = now.rlim_cur;
	now = (struct rlimit){ value, value };
	setrlimit((__rlimit_resource_t)what, &now);
}

static void give_up_what_all_do(int cpu_seconds)
{
	cgroup_enter();
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	sandbox_limit(RLIMIT_CORE, 0);
	if (cpu_seconds > 0) {
		sandbox_limit(RLIMIT_CPU, (rlim_t)cpu_seconds);
		/* When memory runs out the system ends it, not the server. */
		write_line("/proc/self/oom_score_adj", "1000");
	}
}

void sandbox_begin(bool network, int cpu_seconds)
{
	give_up_what_all_do(cpu_seconds);
	if (!network)
		leave(CLONE_NEWNET);
	drop_capabilities();
}

void sandbox_builder(void *self)
{
	const struct sandbox_needs *needs = self;
	int version = landlock_version();

	if (version > 0)
		restrict_files(builder_ruleset(version, needs));
	refuse_calls(REFUSED(socket_calls), REFUSED(pair_calls));
}

/* ---- PyTorch */

/* A /proc that shows this namespace of processes alone, in which nothing changes the system. */
static bool mount_own_proc(void)
{
	static const char *const of_system[] = { "/proc/sys",  "/proc/sysrq-trigger",
						 "/proc/irq",  "/proc/bus",
						 "/proc/fs",   "/proc/acpi",
						 "/proc/scsi", "/proc/driver" };
	const unsigned long flags = MS_NOSUID | MS_NODEV | MS_NOEXEC;

	/* Nobody else sees what is mounted here.  In another root "/" is no mount, but /proc is. */
	if ((mount(NULL, "/proc", NULL, MS_REC | MS_PRIVATE, NULL) != 0 &&
	     mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0) ||
	    mount("proc", "/proc", "proc", flags, NULL) != 0)
		return false;
	for (size_t i = 0; i < sizeof(of_system) / sizeof(of_system[0]); i++)
		if (access(of_system[i], F_OK) == 0 &&
		    (mount(of_system[i], of_system[i], NULL, MS_BIND, NULL) != 0 ||
		     mount(NULL, of_system[i], NULL, MS_BIND | MS_REMOUNT | MS_RDONLY | flags,
			   NULL) != 0))
			return false;
	return true;
}

enum { SPACES_OF_TORCH = CLONE_NEWNET | CLONE_NEWPID | CLONE_NEWNS };

/* The status of a child that tries; it is the first process of its namespace. */
static bool can_mount_own_proc(void)
{
	pid_t outer = fork(), inner;
	int status = 1;

	if (outer == 0) {
		inner = leave(SPACES_OF_TORCH) ? fork() : -1;
		if (inner == 0)
			_exit(mount_own_proc() ? 0 : 1);
		_exit(inner > 0 && waitpid(inner, &status, 0) == inner && status == 0 ? 0 : 1);
	}
	if (outer > 0)
		while (waitpid(outer, &status, 0) < 0 && errno == EINTR)
			;
	return outer > 0 && status == 0;
}

/* Whether what runs here may write all of /proc: cuInit() names its threads in that of its own
 * process, and gives up where it cannot; which processes there will be nobody knows before. */
static bool may_write_proc(bool own_proc)
{
	struct statvfs of_system;

	return sandbox_has_gpu() &&
	       (own_proc || geteuid() != 0 ||
		(statvfs("/proc/sys", &of_system) == 0 && (of_system.f_flag & ST_RDONLY)));
}

static int torch_ruleset(int version, const struct torch_places *at, bool own_proc)
{
	const uint64_t run = MAY_READ | MAY_LIST | MAY_EXECUTE;
	const uint64_t keep = all_rights(version) & ~(uint64_t)MAY_EXECUTE;
	const struct sandbox_needs none = { 0 };
	int ruleset = new_ruleset(version, false);

	if (ruleset < 0)
		return ruleset;
	allow_system(ruleset, version, run);
	allow_programs(ruleset, version, run);
	allow(ruleset, version, at->files, MAY_READ | MAY_LIST);
	allow_links(ruleset, version, *at->files ? at->files : NULL, MAY_READ);
	for (const char *const *path = at->read; *path; path++)
		if (strcmp(*path, "/") != 0)
			allow(ruleset, version, *path, run);
	/* its host counts what its processes hold; the kernel shows no more of others than ps does
	 */
	allow(ruleset, version, "/proc",
	      MAY_READ | MAY_LIST | (may_write_proc(own_proc) ? MAY_WRITE | MAY_TRUNCATE : 0));
	allow(ruleset, version, "/dev/shm", keep); /* locks between processes */
	allow(ruleset, version, at->folder, keep);
	if (sandbox_has_gpu())
		allow_device(ruleset, version, &none);
	return ruleset;
}

/* Of the first process of the namespace, before it has what was posted. */
static bool confine_torch(const struct torch_places *at, bool own_proc, struct err *err)
{
	int version = landlock_version(), code;

	if (own_proc && !mount_own_proc())
		return err_set(err, ERR_WORKER, "/proc could not be mounted: %s", strerror(errno));
	drop_capabilities();
	code = version > 0 ? restrict_files(torch_ruleset(version, at, own_proc)) : 0;
	if (code != 0)
		return err_set(err, ERR_WORKER, "Landlock could not be put in force: %s",
			       strerror(code));
	/* The driver of a GPU makes sockets. */
	code = !has_filters()      ? 0
	       : sandbox_has_gpu() ? refuse_calls(NULL, 0, NULL, 0)
				   : refuse_calls(REFUSED(socket_calls), NULL, 0);
	return code == 0 ||
	       err_set(err, ERR_WORKER, "seccomp could not be put in force: %s", strerror(-code));
}

pid_t sandbox_fork_torch(const struct torch_places *at, struct err *err)
{
	bool own_proc = can_mount_own_proc();
	pid_t pid;

	give_up_what_all_do(0);
	/* What it starts sees no process but its own to signal, and ends when the first of them
	 * does.  The driver of a GPU looks for processes by their numbers in /proc. */
	if (!leave(own_proc ? SPACES_OF_TORCH
			    : CLONE_NEWNET | (sandbox_has_gpu() ? 0 : CLONE_NEWPID)))
		leave(CLONE_NEWNET);
	pid = fork();
	if (pid == 0)
		return confine_torch(at, own_proc, err) ? 0 : -1;
	if (pid < 0)
		err_set(err, ERR_WORKER, "no process: %s", strerror(errno));
	drop_capabilities();
	return pid;
}

#if ADDRESS_SANITIZED
/* Looking for leaks takes a thread that traces the others: out of reach from then on. */
static bool entered;

int __lsan_is_turned_off(void);
int __lsan_is_turned_off(void)
{
	return entered;
}
#endif

bool sandbox_enter(const struct sandbox_needs *needs, struct err *err)
{
	int version = landlock_version(), code;

	if (needs->torch)
		return true;
#if ADDRESS_SANITIZED
	entered = true;
#endif
	code = version > 0 ? restrict_files(worker_ruleset(version, needs)) : 0;
	if (code != 0)
		return err_set(err, ERR_WORKER, "Landlock could not be put in force: %s",
			       strerror(code));
	code = has_filters() ? restrict_calls(needs) : 0;
	return code == 0 ||
	       err_set(err, ERR_WORKER, "seccomp could not be put in force: %s", strerror(-code));
}

/* Whether a child may have a network of its own. */
static bool network_can_be_left(void)
{
	pid_t pid = fork();
	int status = 1;

	if (pid == 0)
		_exit(leave(CLONE_NEWNET) ? 0 : 1);
	if (pid > 0)
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			;
	return pid > 0 && status == 0;
}

json_t *sandbox_parts(void)
{
	int version = landlock_version();
	bool calls_too = has_filters(), network = network_can_be_left();
	char lacks[128];

	snprintf(lacks, sizeof(lacks), "%s%s%s", version ? "" : "Landlock, ",
		 calls_too ? "" : "seccomp, ", network ? "" : "network namespaces, ");
	if (*lacks)
		lacks[strlen(lacks) - 2] = '\0';
	return json_pack("{s:i, s:b, s:b, s:s}", "landlock", version, "seccomp", calls_too,
			 "network", network, "lacks", lacks);
}
