/* server/queue/cgroup.c -- see cgroup.h: files of the kernel, read and written.
 */
#include "server/queue/cgroup.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { PATH_BYTES = 512, TEXT_BYTES = 4096, TRIES = 50, TRY_NS = 2000000 };

#define OURS "breakeven-"
#define SERVER OURS "server"

/* A file of a group as a text; "" where it cannot be read. */
static void read_text(const char *group, const char *file, char text[TEXT_BYTES])
{
	char path[PATH_BYTES + 64];
	ssize_t n = -1;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", group, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0) {
		n = read(fd, text, TEXT_BYTES - 1);
		close(fd);
	}
	text[n > 0 ? n : 0] = '\0';
}

static bool write_text(const char *group, const char *file, const char *text)
{
	char path[PATH_BYTES + 64];
	bool ok;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", group, file);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ok = write(fd, text, strlen(text)) == (ssize_t)strlen(text);
	close(fd);
	return ok;
}

/* Where groups of version 2 are mounted. */
static bool find_mount(char mount[PATH_BYTES])
{
	char line[2048], point[PATH_BYTES] = "", type[64] = "";
	FILE *file = fopen("/proc/self/mounts", "re");
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = sscanf(line, "%*s %511s %63s", point, type) == 2 &&
			strcmp(type, "cgroup2") == 0;
	if (file)
		fclose(file);
	if (found)
		snprintf(mount, PATH_BYTES, "%s", point);
	return found;
}

/* The folder of the group that this process is in. */
static bool own_group(char group[PATH_BYTES])
{
	char text[TEXT_BYTES], mount[PATH_BYTES], *line, *end;
	int n;

	read_text("/proc/self", "cgroup", text);
	line = strncmp(text, "0::", 3) == 0 ? text : strstr(text, "\n0::");
	if (!line || !find_mount(mount))
		return false;
	line = strchr(line, '/');
	end = line ? strchr(line, '\n') : NULL;
	if (!end)
		return false;
	*end = '\0';
	n = snprintf(group, PATH_BYTES, "%s%s", mount, strcmp(line, "/") == 0 ? "" : line);
	return n > 0 && n < PATH_BYTES;
}

/* The group that a server divided, for it and what it started. */
static bool divided_group(char group[PATH_BYTES])
{
	char *last;

	if (!own_group(group))
		return false;
	last = strrchr(group, '/');
	if (!last || strcmp(last + 1, SERVER) != 0)
		return false;
	*last = '\0';
	return true;
}

static bool has_word(const char *text, const char *word)
{
	size_t len = strlen(word);

	for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
		if ((at == text || at[-1] == ' ') && strchr(" \n", at[len]))
			return true;
	return false;
}

/* A group whose controllers its members use cannot have members itself, but for the first of all.
 */
static bool may_divide(const char *group)
{
	char text[TEXT_BYTES], own[16], type[TEXT_BYTES];

	snprintf(own, sizeof(own), "%d\n", (int)getpid());
	read_text(group, "cgroup.controllers", text);
	if (!has_word(text, "memory") && !has_word(text, "pids"))
		return false;
	read_text(group, "cgroup.type", type); /* the first of all has none */
	read_text(group, "cgroup.procs", text);
	return !*type || strcmp(text, own) == 0;
}

/* What an earlier server left: one that has members is not removed. */
static void remove_empty(const char *group)
{
	DIR *folder = opendir(group);
	struct dirent *e;

	while (folder && (e = readdir(folder)))
		if (strncmp(e->d_name, OURS, strlen(OURS)) == 0)
			unlinkat(dirfd(folder), e->d_name, AT_REMOVEDIR);
	if (folder)
		closedir(folder);
}

bool cgroup_divide(void)
{
	char group[PATH_BYTES], own[PATH_BYTES + sizeof(SERVER)];
	bool memory, processes;

	if (!own_group(group) || !may_divide(group))
		return false;
	remove_empty(group);
	snprintf(own, sizeof(own), "%s/%s", group, SERVER);
	if (mkdir(own, 0755) != 0)
		return false;
	if (!write_text(own, "cgroup.procs", "0")) {
		rmdir(own);
		return false;
	}
	memory = write_text(group, "cgroup.subtree_control", "+memory");
	processes = write_text(group, "cgroup.subtree_control", "+pids");
	write_text(group, "cgroup.subtree_control", "+cpu");
	if (!memory && !processes)
		cgroup_join();
	return memory || processes;
}

void cgroup_join(void)
{
	char group[PATH_BYTES];

	if (!divided_group(group))
		return;
	write_text(group, "cgroup.subtree_control", "-memory");
	write_text(group, "cgroup.subtree_control", "-pids");
	write_text(group, "cgroup.subtree_control", "-cpu");
	write_text(group, "cgroup.procs", "0");
	remove_empty(group);
}

static void group_of(const char *divided, pid_t pid, char group[PATH_BYTES + 32])
{
	snprintf(group, PATH_BYTES + 32, "%s/" OURS "%d", divided, (int)pid);
}

bool cgroup_enter(void)
{
	char divided[PATH_BYTES], group[PATH_BYTES + 32], most[32];
	long long memory = (long long)sysconf(_SC_PHYS_PAGES) / 4 * 3 * sysconf(_SC_PAGESIZE);

	if (!divided_group(divided))
		return false;
	group_of(divided, getpid(), group);
	if (mkdir(group, 0755) != 0 && errno != EEXIST) /* of one that had this number before */
		return false;
	snprintf(most, sizeof(most), "%lld", memory);
	write_text(group, "memory.max", most);
	write_text(group, "memory.oom.group", "1");
	snprintf(most, sizeof(most), "%d", CGROUP_PROCESSES);
	write_text(group, "pids.max", most);
	snprintf(most, sizeof(most), "%d", CGROUP_CPU_WEIGHT);
	write_text(group, "cpu.weight", most);
	return write_text(group, "cgroup.procs", "0");
}

void cgroup_remove(pid_t pid)
{
	const struct timespec pause = { .tv_nsec = TRY_NS };
	char divided[PATH_BYTES], group[PATH_BYTES + 32];

	if (!divided_group(divided))
		return;
	group_of(divided, pid, group);
	if (access(group, F_OK) != 0)
		return;
	write_text(group, "cgroup.kill", "1");
	/* What is killed leaves it a little later. */
	for (int i = 0; i < TRIES && rmdir(group) != 0; i++)
		nanosleep(&pause, NULL);
}
