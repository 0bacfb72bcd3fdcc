/* server/cli/cmd_doctor.c -- `breakeven doctor`: what is missing here, and what to do. */
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <netdb.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "db/db.h"
#include "fusion/base/clock.h"
#include "fusion/base/scratch.h"
#include "profiler/lists/lists.h"
#include "server/cli/cli.h"
#include "server/cli/flags.h"
#include "server/cli/serve_settings.h"
#include "server/http/listen.h"
#include "server/queue/bounds.h"
#include "server/queue/sandbox.h"
#include "server/text/text.h"

enum { SAID_CHARS = 600, DAY_S = 86400, COARSE_NS = 1000, ANSWER_S = 2, ANSWER_BYTES = 4096 };

/* GOOD; NONE: it is not here and need not be; FAULT. */
enum finding { FINDING_GOOD, FINDING_NONE, FINDING_FAULT };

struct doctor_look {
	enum finding finding;
	char said[SAID_CHARS];
	char remedy[SAID_CHARS]; /* "" unless a fault, or where it would be worth having */
};

struct doctor {
	const struct serve_settings *s;
	const struct registry *registry;
	json_t *backends; /* lists_backends() */
	bool has_gpu;
};

static void found(struct doctor_look *l, enum finding finding, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
static void remedy(struct doctor_look *l, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void found(struct doctor_look *l, enum finding finding, const char *format, ...)
{
	va_list args;

	l->finding = finding;
	va_start(args, format);
	vsnprintf(l->said, sizeof(l->said), format, args);
	va_end(args);
}

static void remedy(struct doctor_look *l, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(l->remedy, sizeof(l->remedy), format, args);
	va_end(args);
}

/* ---- the engine ---- */

static const json_t *backend(const struct doctor *d, const char *name)
{
	const json_t *rows = json_object_get(d->backends, "backends"), *row;
	size_t i;

	json_array_foreach(rows, i, row)
		if (strcmp(json_string_value(json_object_get(row, "name")), name) == 0)
			return row;
	return NULL;
}

static const char *text_of(const json_t *row, const char *field)
{
	const char *text = json_string_value(json_object_get(row, field));

	return text ? text : "";
}

static void look_compiler(const struct doctor *d, struct doctor_look *l)
{
	const json_t *row = backend(d, "cpu");

	if (json_is_true(json_object_get(row, "available"))) {
		found(l, FINDING_GOOD, "%.200s", text_of(row, "compiler"));
		return;
	}
	found(l, FINDING_FAULT, "%.300s", text_of(row, "why_not"));
	remedy(l, "apt-get install gcc libc6-dev, or put gcc or clang on PATH: without one, "
		  "backend interp runs what backend cpu would compile");
}

static void look_gpu(const struct doctor *d, struct doctor_look *l)
{
	const json_t *row = backend(d, "cuda");

	if (json_is_true(json_object_get(row, "available")))
		found(l, FINDING_GOOD, "backend cuda works");
	else if (!d->has_gpu)
		found(l, FINDING_NONE, "%.300s", text_of(row, "why_not"));
	else {
		found(l, FINDING_FAULT, "%.300s", text_of(row, "why_not"));
		remedy(l, "`nvidia-smi` must list the GPU, for this user and in this container; "
			  "`breakeven backends` names what is missing");
	}
}

/* Whether this process may do what an administrator may, by its capabilities. */
static bool is_admin(void)
{
	enum { SYS_ADMIN = 21 };
	unsigned long long has = 0;
	char line[256];
	FILE *f = fopen("/proc/self/status", "re");

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "CapEff: %llx", &has) == 1)
			break;
	if (f)
		fclose(f);
	return has >> SYS_ADMIN & 1;
}

/* The driver says whom it lets profile. */
static void look_cupti(const struct doctor *d, struct doctor_look *l)
{
	char line[256];
	int only = 0;
	FILE *f = fopen("/proc/driver/nvidia/params", "re");

	(void)d;
	if (!f) {
		found(l, FINDING_NONE, "no NVIDIA driver says whom it lets profile");
		return;
	}
	while (fgets(line, sizeof(line), f))
		sscanf(line, "RmProfilingAdminOnly: %d", &only);
	fclose(f);
	if (only && !is_admin()) {
		found(l, FINDING_FAULT,
		      "the driver lets administrators alone profile (RmProfilingAdminOnly: 1)");
		remedy(l, "put `options nvidia NVreg_RestrictProfilingToAdminUsers=0` into "
			  "/etc/modprobe.d/nvidia-profiling.conf and load the module again (or "
			  "restart); in a container --cap-add SYS_ADMIN");
	} else {
		found(l, FINDING_GOOD, "this user may profile");
	}
}

static void look_headers(const struct doctor *d, struct doctor_look *l)
{
	const char *home = getenv("CUDA_HOME");
	char path[4096];

	snprintf(path, sizeof(path), "%s/include/cuda.h", home && *home ? home : "/usr/local/cuda");
	if (access(path, R_OK) == 0) {
		found(l, FINDING_GOOD, "%.300s", path);
		return;
	}
	found(l, d->has_gpu || (home && *home) ? FINDING_FAULT : FINDING_NONE,
	      "%.300s is not there", path);
	remedy(l, "install the headers of the CUDA Toolkit (cuda-cudart-dev, cuda-cupti-dev), or "
		  "let CUDA_HOME name its folder: a build without them has no backend cuda and no "
		  "`breakeven trace`");
}

/* Where settings name a Python for it. */
static void look_torch(const struct doctor *d, struct doctor_look *l)
{
	json_t *torch;

	if (!d->s->torch_python) {
		found(l, FINDING_NONE, "no --torch-python: runs name no engine torch");
		return;
	}
	torch = lists_torch(d->s->torch_python, true);
	if (json_is_true(json_object_get(torch, "available"))) {
		found(l, FINDING_GOOD, "torch %.100s of %.300s", text_of(torch, "version"),
		      d->s->torch_python);
	} else {
		found(l, FINDING_FAULT, "%.500s", text_of(torch, "why_not"));
		remedy(l, "--torch-python names a Python with torch 2.5 or newer, which this user "
			  "may run");
	}
	json_decref(torch);
}

/* ---- the machine ---- */

/* Those of a server that is started like this. */
static void look_settings(const struct doctor *d, struct doctor_look *l)
{
	const char *from = d->s->file;

	found(l, FINDING_GOOD, "of %.300s%sflags, the environment and defaults", from ? from : "",
	      from ? ", " : "");
}

/* A socket to HOST:PORT, which listen_check() took; -1: nobody is there. */
static int reach(const char *address)
{
	const struct timeval most = { .tv_sec = ANSWER_S };
	struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
	struct addrinfo *found = NULL;
	const char *colon = strrchr(address, ':');
	bool bracketed = *address == '[';
	char host[256];
	int fd = -1;

	snprintf(host, sizeof(host), "%.*s", (int)(colon - address) - 2 * bracketed,
		 address + bracketed);
	if (getaddrinfo(host, colon + 1, &hints, &found) == 0)
		fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd >= 0) {
		setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &most, sizeof(most));
		setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &most, sizeof(most));
		if (connect(fd, found->ai_addr, found->ai_addrlen) != 0) {
			close(fd);
			fd = -1;
		}
	}
	if (found)
		freeaddrinfo(found);
	return fd;
}

/* Whether a server of Breakeven answers there, whose paths begin with `base` ("": none); waits for
 * at most two seconds. */
static bool is_served(const char *address, const char *base)
{
	char text[ANSWER_BYTES + 1];
	int fd = reach(address), len;
	ssize_t n = 1, got = 0;

	if (fd < 0)
		return false;
	len = snprintf(text, sizeof(text), "GET %s/livez HTTP/1.0\r\nHost: localhost:%s\r\n\r\n",
		       base, strrchr(address, ':') + 1);
	if (len < 0 || len >= ANSWER_BYTES || send(fd, text, (size_t)len, MSG_NOSIGNAL) != len)
		n = 0;
	while (n > 0 && got < ANSWER_BYTES) {
		n = recv(fd, text + got, (size_t)(ANSWER_BYTES - got), 0);
		got += n > 0 ? n : 0;
	}
	close(fd);
	text[got] = '\0';
	return strstr(text, "\"status\":\"alive\"") != NULL;
}

/* What has the settings of a server that runs is that server. */
static void look_port(const struct doctor *d, struct doctor_look *l)
{
	struct err err = { 0 };
	char url[256];
	int fd = listen_on(d->s->listen, url, sizeof(url), &err);

	if (fd >= 0) {
		close(fd);
		found(l, FINDING_GOOD, "%.200s is free", d->s->listen);
	} else if (is_served(d->s->listen, d->s->base_path ? d->s->base_path : "")) {
		found(l, FINDING_GOOD, "a server of Breakeven listens on %.200s", d->s->listen);
	} else {
		found(l, FINDING_FAULT, "%.400s", err.message);
		remedy(l, "`ss -ltnp` says who has it; end that, or start with --listen and "
			  "another port");
	}
}

/* The folder of a server that is another user's is looked at as that user. */
static void remedy_folder(struct doctor_look *l, const char *folder, const char *other)
{
	struct stat at;
	const struct passwd *owner = NULL;

	if (stat(folder, &at) == 0 && at.st_uid != geteuid() && at.st_uid != 0)
		owner = getpwuid(at.st_uid);
	if (owner)
		remedy(l,
		       "it is %.60s's: `runuser -u %.60s -- breakeven doctor` looks as that user",
		       owner->pw_name, owner->pw_name);
	else
		remedy(l, "%s", other);
}

/* Why nothing can be written to a folder; NULL: it can. */
static const char *cannot_write(const char *folder)
{
	enum { TRY_BYTES = 1 << 20 };
	char path[4096];
	int fd, code;

	snprintf(path, sizeof(path), "%s/.breakeven-XXXXXX", folder);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return strerror(errno);
	unlink(path);
	code = posix_fallocate(fd, 0, TRY_BYTES);
	close(fd);
	return code ? strerror(code) : NULL;
}

static void look_disk(const struct doctor *d, struct doctor_look *l)
{
	char copy[4096], *folder;
	struct statvfs disk;
	struct err err = { 0 };
	const char *why;
	long long mib;
	int fd;

	snprintf(copy, sizeof(copy), "%s", d->s->db);
	folder = dirname(copy);
	why = cannot_write(folder);
	if (why || statvfs(folder, &disk) != 0) {
		found(l, FINDING_FAULT, "the folder of the store, %.200s: %s", folder,
		      why ? why : strerror(errno));
		remedy_folder(l, folder,
			      "make room or give this user the right to write there, or name "
			      "another place with --db FILE");
		return;
	}
	mib = (long long)((unsigned long long)disk.f_bavail * disk.f_frsize >> 20);
	fd = scratch_file("workers", &err);
	if (fd >= 0)
		close(fd);
	found(l, mib < d->s->bounds.free_mib || fd < 0 ? FINDING_FAULT : FINDING_GOOD,
	      "%lld MiB are free at %.200s%s%.200s", mib, folder, fd < 0 ? "; " : "",
	      fd < 0 ? err.message : "");
	if (fd < 0)
		remedy(l, "TMPDIR names the folder for temporary files; this user must be able to "
			  "write there");
	else if (mib < d->s->bounds.free_mib)
		remedy(l,
		       "make room: a server takes nothing new with less than --free-mib, %lld MiB",
		       (long long)d->s->bounds.free_mib);
}

static void look_sandbox(const struct doctor *d, struct doctor_look *l)
{
	json_t *parts = sandbox_parts();
	const char *lacks = text_of(parts, "lacks");
	bool holds = json_integer_value(json_object_get(parts, "landlock")) > 0 &&
		     json_is_true(json_object_get(parts, "seccomp"));

	(void)d;
	found(l, holds ? FINDING_GOOD : FINDING_FAULT, "%s%.300s",
	      *lacks ? "this kernel lets workers have no "
		     : "Landlock, seccomp, a network of "
		       "their own",
	      lacks);
	if (!holds)
		remedy(l, "a program that is posted can do more than it should: serve who you "
			  "trust alone. A kernel from 5.13 on with `landlock` in the boot option "
			  "lsm= has it; a container must not forbid it");
	else if (*lacks)
		remedy(l, "the rest is in force; a container that allows namespaces has it too");
	json_decref(parts);
}

static void look_cache(const struct doctor *d, struct doctor_look *l)
{
	struct statvfs disk;
	const char *why;
	bool made;

	if (!d->s->cache) {
		found(l, FINDING_FAULT, "there is no home for the cache of compiled kernels");
		remedy(l, "name a folder with --cache DIR, or set HOME");
		return;
	}
	made = mkdir(d->s->cache, 0700) == 0;
	why = !made && errno != EEXIST ? strerror(errno) : cannot_write(d->s->cache);
	if (!why && statvfs(d->s->cache, &disk) == 0 && (disk.f_flag & ST_NOEXEC))
		why = "its file system is mounted noexec, so no kernel there can be loaded";
	if (made) /* who serves makes it, as the user that serves */
		rmdir(d->s->cache);
	if (!why) {
		found(l, FINDING_GOOD, "%.300s", d->s->cache);
		return;
	}
	found(l, FINDING_FAULT, "%.300s: %s", d->s->cache, why);
	remedy_folder(l, d->s->cache,
		      "name a folder that this user can write with --cache DIR: each kernel is "
		      "compiled again until then");
}

static void look_schema(const struct doctor *d, struct doctor_look *l)
{
	struct err err = { 0 };
	struct db *db;

	if (access(d->s->db, F_OK) != 0) {
		found(l, FINDING_NONE, "there is no store %.200s yet; `breakeven serve` makes it",
		      d->s->db);
		return;
	}
	db = db_open_reading(d->s->db, &err);
	if (db) {
		found(l, FINDING_GOOD, "%.300s is of this version", d->s->db);
	} else {
		found(l, FINDING_FAULT, "%.500s", err.message);
		remedy(l,
		       "one of an earlier version is copied to %.200s.before-N and brought up "
		       "to date when a server opens it; `breakeven check` looks at any, "
		       "`breakeven restore` makes one of a backup",
		       d->s->db);
	}
	db_close(db);
}

static int64_t step_of_clock(void)
{
	int64_t least = INT64_MAX;

	for (int i = 0; i < 200; i++) {
		int64_t a = clock_ns(), b = clock_ns();

		while (b == a)
			b = clock_ns();
		least = b - a < least ? b - a : least;
	}
	return least;
}

static void look_clock(const struct doctor *d, struct doctor_look *l)
{
	const char *const files[] = { d->s->db, "/proc/self/exe" };
	int64_t now = clock_wall_ns() / 1000000000, step = step_of_clock();
	struct stat at;
	struct tm utc;
	time_t when;
	char text[64];

	for (size_t i = 0; i < 2; i++) {
		if (stat(files[i], &at) != 0 || at.st_mtim.tv_sec <= now + DAY_S)
			continue;
		when = at.st_mtim.tv_sec;
		gmtime_r(&when, &utc);
		strftime(text, sizeof(text), "%Y-%m-%d %H:%M UTC", &utc);
		found(l, FINDING_FAULT,
		      "the clock is wrong, or was: %.200s was written at %s, which is yet to come",
		      i ? "this program" : files[i], text);
		remedy(l, "`timedatectl set-ntp true` has the clock set; histories are in the "
			  "order of the times that it tells");
		return;
	}
	found(l, step > COARSE_NS ? FINDING_FAULT : FINDING_GOOD,
	      "right as far as files tell; it moves in steps of %lld ns", (long long)step);
	if (step > COARSE_NS)
		remedy(l, "short calls cannot be timed by it: "
			  "/sys/devices/system/clocksource/clocksource0/current_clocksource should "
			  "be tsc or kvm-clock");
}

/* Of building alone. */
static void look_npm(const struct doctor *d, struct doctor_look *l)
{
	char text[128] = "";
	FILE *f = popen("command -v npm >/dev/null || exit 127; npm --version 2>&1", "re");
	int status;

	(void)d;
	if (f && !fgets(text, sizeof(text), f))
		text[0] = '\0';
	status = f ? pclose(f) : -1;
	text[strcspn(text, "\n")] = '\0';
	if (status == 0)
		found(l, FINDING_GOOD, "npm %.100s", text);
	else if (f && WIFEXITED(status) && WEXITSTATUS(status) == 127 && !*text)
		found(l, FINDING_NONE, "npm is not here: only who builds the page needs it");
	else {
		found(l, FINDING_FAULT, "npm does not work: %.100s",
		      *text ? text : "it says nothing");
		remedy(l, "`npm --version` must work to build the page: apt-get install nodejs "
			  "npm; a program that is built does not need it");
	}
}

static const struct {
	const char *name;
	void (*look)(const struct doctor *d, struct doctor_look *l);
} looks[] = {
	{ "settings", look_settings }, { "torch", look_torch },   { "compiler", look_compiler },
	{ "gpu", look_gpu },           { "cupti", look_cupti },   { "cuda-headers", look_headers },
	{ "port", look_port },         { "disk", look_disk },     { "sandbox", look_sandbox },
	{ "cache", look_cache },       { "schema", look_schema }, { "clock", look_clock },
	{ "npm", look_npm },
};

enum { N_LOOKS = sizeof(looks) / sizeof(looks[0]) };

static json_t *look_at_all(const struct doctor *d)
{
	static const char *const names[] = { "good", "none", "fault" };
	json_t *rows = json_array();

	for (int i = 0; i < N_LOOKS; i++) {
		struct doctor_look l = { .finding = FINDING_GOOD };

		looks[i].look(d, &l);
		json_array_append_new(rows, json_pack("{s:s, s:s, s:s, s:s}", "name", looks[i].name,
						      "finding", names[l.finding], "said", l.said,
						      "remedy", l.remedy));
	}
	return rows;
}

static int print(json_t *rows, bool as_json)
{
	int faults = 0;
	json_t *row;
	size_t i;

	json_array_foreach(rows, i, row) {
		const char *finding = text_of(row, "finding"), *what = text_of(row, "remedy");

		faults += strcmp(finding, "fault") == 0;
		if (as_json)
			continue;
		printf("%-6s %-13s %s\n", finding, text_of(row, "name"), text_of(row, "said"));
		if (*what && strcmp(finding, "none") != 0)
			printf("%-20s -> %s\n", "", what);
	}
	if (as_json) {
		json_flag_print("doctor",
				json_pack("{s:s, s:i, s:O}", "version", breakeven_version(),
					  "faults", faults, "checks", rows));
	} else {
		printf("%d fault%s\n", faults, faults == 1 ? "" : "s");
	}
	return faults ? EXIT_FAILED : EXIT_DONE;
}

/* As the user that runs this: the unit is another's. */
static int look_and_say(struct doctor *d)
{
	struct err err = { 0 };
	json_t *rows;
	int status;

	d->has_gpu = sandbox_has_gpu();
	d->backends = lists_backends(d->registry, &err);
	if (!d->backends) {
		fprintf(stderr, "breakeven doctor: %s\n", err.message);
		return EXIT_FAILED;
	}
	rows = look_at_all(d);
	status = print(rows, d->s->json);
	json_decref(rows);
	json_decref(d->backends);
	return status;
}

int cmd_doctor(int argc, char **argv, const struct registry *registry)
{
	struct serve_settings *s = calloc(1, sizeof(*s));
	struct arena arena = { 0 };
	struct doctor d = { .s = s, .registry = registry };
	int status = serve_settings_read("doctor", true, argc, argv, s, &arena);

	if (status < 0)
		status = look_and_say(&d);
	arena_finish(&arena);
	free(s);
	return status;
}
