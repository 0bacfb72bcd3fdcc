/* fusion/backends/cache.c -- see cache.h.
 *
 * Whoever can write to the folder can run code in our process, so a folder that
 * is not ours, is a link, or lets others write is not used at all.  An entry
 * appears by renames, key.ok last; fsync is left out, since an entry that a
 * power cut tears does not match its hash.
 */
#include "fusion/backends/cache.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
	LARGEST_FILE = 64 << 20,
	NAME_BYTES = HASH_HEX_BYTES + 8,
	MOST_FILES = 3 * 4096,
	STALE_SECONDS = 3600,
};

static void make_folders(const char *path)
{
	char part[PATH_MAX];

	if (snprintf(part, sizeof(part), "%s", path) >= (int)sizeof(part))
		return;
	for (char *slash = strchr(part + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(part, 0700);
		*slash = '/';
	}
	mkdir(part, 0700);
}

static bool trusted(int fd, mode_t type)
{
	struct stat st;

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type && st.st_uid == geteuid() &&
	       !(st.st_mode & (S_IWGRP | S_IWOTH));
}

void cache_open(struct cache *c, const char *path)
{
	*c = (struct cache){ .folder = -1 };
	if (!path)
		return;
	if (strlen(path) >= sizeof(c->path) - NAME_BYTES) {
		snprintf(c->note, sizeof(c->note), "The path of the kernel cache is too long.");
		return;
	}
	strcpy(c->path, path);
	make_folders(path);
	c->folder = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (c->folder < 0) {
		snprintf(
		    c->note, sizeof(c->note),
		    "No kernel cache: %.120s cannot be opened (%s). Kernels are compiled anew.",
		    path, strerror(errno));
	} else if (!trusted(c->folder, S_IFDIR)) {
		snprintf(c->note, sizeof(c->note),
			 "No kernel cache: %.120s belongs to someone else or others may write "
			 "there. Make it yours with mode 700.",
			 path);
		cache_close(c);
	} else if (faccessat(c->folder, ".", W_OK | X_OK, AT_EACCESS) != 0) {
		snprintf(c->note, sizeof(c->note),
			 "No kernel cache: %.120s is not writable. Kernels are compiled anew.",
			 path);
		cache_close(c);
	}
}

void cache_close(struct cache *c)
{
	if (c->folder >= 0)
		close(c->folder);
	c->folder = -1;
}

static char *entry_name(char name[NAME_BYTES], const char *key, const char *ending)
{
	snprintf(name, NAME_BYTES, "%.32s.%s", key, ending);
	return name;
}

/* A whole file, NUL terminated, to be freed; NULL where it is missing or not to
 * be trusted. */
static char *read_file(int folder, const char *name, size_t *len)
{
	int fd = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	char *data = NULL;
	size_t got = 0;

	if (fd < 0)
		return NULL;
	if (trusted(fd, S_IFREG) && fstat(fd, &st) == 0 && st.st_size <= LARGEST_FILE)
		data = malloc((size_t)st.st_size + 1);
	while (data && got < (size_t)st.st_size) {
		ssize_t n = read(fd, data + got, (size_t)st.st_size - got);

		if (n <= 0 && errno != EINTR)
			break;
		got += n > 0 ? (size_t)n : 0;
	}
	close(fd);
	if (data)
		data[got] = '\0';
	*len = got;
	return data;
}

static bool write_file(int folder, const char *name, const char *data, size_t len)
{
	int fd = openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	bool ok;

	if (fd < 0)
		return false;
	ok = write(fd, data, len) == (ssize_t)len;
	return close(fd) == 0 && ok;
}

static bool object_is_sound(const struct cache *c, const char *key)
{
	char name[NAME_BYTES], hash[HASH_HEX_BYTES];
	size_t len, ok_len;
	char *ok = read_file(c->folder, entry_name(name, key, "ok"), &ok_len);
	char *object = ok ? read_file(c->folder, entry_name(name, key, "so"), &len) : NULL;
	bool sound = false;

	if (object) {
		hash_hex(object, len, hash);
		sound = strcmp(hash, ok) == 0;
	}
	free(ok);
	free(object);
	return sound;
}

void *cache_load(const struct cache *c, const char *key, const char *source, size_t len)
{
	char name[NAME_BYTES], path[PATH_MAX + NAME_BYTES];
	size_t stored_len;
	char *stored;
	bool same;

	if (c->folder < 0)
		return NULL;
	stored = read_file(c->folder, entry_name(name, key, "c"), &stored_len);
	same = stored && stored_len == len && memcmp(stored, source, len) == 0;
	free(stored);
	if (!same || !object_is_sound(c, key))
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", c->path, entry_name(name, key, "so"));
	return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

bool cache_workshop(const struct cache *c, char path[PATH_MAX])
{
	const char *temporary = getenv("TMPDIR");

	if (c->folder >= 0) {
		strcpy(path, c->path); /* cache_open() has left room */
		strcat(path, "/.new-XXXXXX");
		if (mkdtemp(path))
			return true;
	}
	if (!temporary || *temporary != '/' || strlen(temporary) > PATH_MAX - 32)
		temporary = "/tmp";
	snprintf(path, PATH_MAX, "%s/breakeven-XXXXXX", temporary);
	return mkdtemp(path) != NULL;
}

/* Workshops of processes that were killed, and old entries once there are many. */
static void tidy(const struct cache *c)
{
	DIR *folder = opendir(c->path);
	time_t now = time(NULL);
	struct dirent *entry;
	int files = 0;

	while (folder && (entry = readdir(folder))) {
		char path[PATH_MAX + 256];
		struct stat st;
		bool shop = strncmp(entry->d_name, ".new-", 5) == 0;

		files += entry->d_name[0] != '.';
		if (!(shop || (files > MOST_FILES && entry->d_name[0] != '.')) ||
		    fstatat(c->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
		    now - st.st_mtim.tv_sec < STALE_SECONDS)
			continue;
		snprintf(path, sizeof(path), "%s/%s", c->path, entry->d_name);
		if (shop)
			cache_sweep(path);
		else
			unlink(path);
	}
	if (folder)
		closedir(folder);
}

void cache_store(const struct cache *c, const char *key, const char *workshop)
{
	char from[NAME_BYTES], hash[HASH_HEX_BYTES];
	size_t len;
	char *object;
	int shop;

	if (c->folder < 0)
		return;
	shop = open(workshop, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (shop < 0)
		return;
	object = read_file(shop, "kernel.so", &len);
	if (object) {
		hash_hex(object, len, hash);
		if (write_file(shop, "kernel.ok", hash, strlen(hash)) &&
		    renameat(shop, "kernel.c", c->folder, entry_name(from, key, "c")) == 0 &&
		    renameat(shop, "kernel.so", c->folder, entry_name(from, key, "so")) == 0)
			(void)!renameat(shop, "kernel.ok", c->folder, entry_name(from, key, "ok"));
	}
	free(object);
	close(shop);
	tidy(c);
}

void cache_sweep(const char *workshop)
{
	DIR *folder = opendir(workshop);
	struct dirent *entry;

	while (folder && (entry = readdir(folder)))
		if (strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0)
			unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(workshop);
}
