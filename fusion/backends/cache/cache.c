/* fusion/backends/cache/cache.c -- compiled kernels on disk (cache.h).
 *
 * Whoever can write to the folder can run code in our process, so a folder that
 * is neither ours nor root's, is a link, or lets others write is not used at all.
 * An entry appears by renames, key.ok last; fsync is left out, since an entry that
 * a power cut tears does not match its hash.  The time of key.so is that of its
 * last use.
 */
#include "fusion/backends/cache/cache.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "fusion/base/write.h"

enum {
	LARGEST_FILE = 64 << 20,
	NAME_BYTES = HASH_HEX_BYTES + 8,
	KEY_CHARS = 32,
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

	return fstat(fd, &st) == 0 && (st.st_mode & S_IFMT) == type &&
	       (st.st_uid == geteuid() || st.st_uid == 0) && !(st.st_mode & (S_IWGRP | S_IWOTH));
}

void cache_open(struct cache *c, const char *path, size_t most_bytes)
{
	*c = (struct cache){ .folder = -1, .writable = true };
	c->most_bytes = most_bytes ? most_bytes : (size_t)CACHE_DEFAULT_MIB << 20;
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
		    "No kernel cache: %.120s cannot be opened (%s). Kernels are compiled again.",
		    path, strerror(errno));
	} else if (!trusted(c->folder, S_IFDIR)) {
		snprintf(c->note, sizeof(c->note),
			 "No kernel cache: %.120s belongs to someone else or others may write "
			 "there. Make it yours with mode 700.",
			 path);
		cache_close(c);
	} else if (faccessat(c->folder, ".", W_OK | X_OK, AT_EACCESS) != 0) {
		snprintf(c->note, sizeof(c->note),
			 "The kernel cache %.120s is not writable: kernels that it lacks are "
			 "compiled each time.",
			 path);
		c->writable = false;
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
	ok = write_all(fd, data, len);
	return close(fd) == 0 && ok;
}

/* What is found under a key. */
struct cache_entry {
	bool there;
	char *object; /* the bytes of the object; to be freed */
	size_t bytes;
};

/* What is wrong with the entry's object; NULL: nothing, and it is in *e. */
static const char *object_fault(const struct cache *c, const char *key, struct cache_entry *e)
{
	char name[NAME_BYTES], hash[HASH_HEX_BYTES];
	size_t ok_len;
	char *ok = read_file(c->folder, entry_name(name, key, "ok"), &ok_len);
	const char *fault = "a file is missing, or others may write to it";

	e->object = ok ? read_file(c->folder, entry_name(name, key, "so"), &e->bytes) : NULL;
	if (e->object) {
		hash_hex(e->object, e->bytes, hash);
		fault = strcmp(hash, ok) == 0 ? NULL : "its object does not match its hash";
	}
	free(ok);
	return fault;
}

/* What is wrong with the entry of that source; NULL: nothing. */
static const char *entry_fault(const struct cache *c, const char *key, const char *source,
			       size_t len, struct cache_entry *e)
{
	char name[NAME_BYTES];
	size_t stored_len;
	char *stored = read_file(c->folder, entry_name(name, key, "c"), &stored_len);
	bool same = stored && stored_len == len && memcmp(stored, source, len) == 0;

	free(stored);
	e->there = stored || faccessat(c->folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	return same ? object_fault(c, key, e) : "its source is not the one that it was compiled of";
}

/* A handle of dlopen(); or the object's bytes, where `bytes` asks for them. */
static void *load(struct cache *c, const char *key, const char *source, size_t len, size_t *bytes)
{
	char name[NAME_BYTES], path[PATH_MAX + NAME_BYTES];
	struct cache_entry e = { 0 };
	const char *fault = entry_fault(c, key, source, len, &e);
	void *found = NULL;

	entry_name(name, key, "so");
	if (!fault && bytes) {
		*bytes = e.bytes;
		found = e.object;
	} else if (!fault) {
		snprintf(path, sizeof(path), "%s/%s", c->path, name);
		found = dlopen(path, RTLD_NOW | RTLD_LOCAL);
		fault = "it cannot be loaded";
	}
	if (found != e.object)
		free(e.object);
	if (found)
		utimensat(c->folder, name, NULL, AT_SYMLINK_NOFOLLOW); /* used now */
	else if (e.there)
		snprintf(c->note, sizeof(c->note),
			 "The cached kernel %.12s in %.120s is damaged: %s. It is compiled again.",
			 key, c->path, fault);
	return found;
}

static void *load_locked(struct cache *c, const char *key, const char *source, size_t len,
			 size_t *bytes)
{
	void *found;

	if (c->folder < 0 || c->rebuild)
		return NULL;
	flock(c->folder, LOCK_SH); /* where that does not work hashes tell */
	found = load(c, key, source, len, bytes);
	flock(c->folder, LOCK_UN);
	return found;
}

void *cache_read(struct cache *c, const char *key, const char *source, size_t len, size_t *bytes)
{
	return load_locked(c, key, source, len, bytes);
}

bool cache_workshop(const struct cache *c, char path[PATH_MAX])
{
	const char *temporary = getenv("TMPDIR");

	if (c->folder >= 0 && c->writable) {
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

/* A file of an entry, or the whole entry. */
struct cached {
	char name[NAME_BYTES];
	size_t bytes;
	struct timespec used;
};

static int by_name(const void *x, const void *y)
{
	return strcmp(((const struct cached *)x)->name, ((const struct cached *)y)->name);
}

static bool is_earlier(struct timespec a, struct timespec b)
{
	return a.tv_sec != b.tv_sec ? a.tv_sec < b.tv_sec : a.tv_nsec < b.tv_nsec;
}

static int by_use(const void *x, const void *y)
{
	struct timespec a = ((const struct cached *)x)->used, b = ((const struct cached *)y)->used;

	return is_earlier(a, b) ? -1 : is_earlier(b, a);
}

/* Workshops of processes that were killed. */
static void sweep_old(const struct cache *c, const char *name)
{
	char path[PATH_MAX + 256];
	struct stat st;

	if (fstatat(c->folder, name, &st, AT_SYMLINK_NOFOLLOW) != 0 ||
	    time(NULL) - st.st_mtim.tv_sec < STALE_SECONDS)
		return;
	snprintf(path, sizeof(path), "%s/%s", c->path, name);
	cache_sweep(path);
}

/* All files of entries; NULL when out of memory. */
static struct cached *list_files(const struct cache *c, DIR *folder, size_t *n)
{
	struct cached *files = NULL, *grown;
	struct dirent *entry;
	size_t cap = 0;

	for (*n = 0; (entry = readdir(folder));) {
		struct stat st;

		if (strncmp(entry->d_name, ".new-", 5) == 0)
			sweep_old(c, entry->d_name);
		if (entry->d_name[0] == '.' || strlen(entry->d_name) >= NAME_BYTES ||
		    strlen(entry->d_name) < KEY_CHARS ||
		    fstatat(c->folder, entry->d_name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		if (*n == cap) {
			cap = cap ? 2 * cap : 256;
			grown = realloc(files, cap * sizeof(*files));
			if (!grown) {
				free(files);
				return NULL;
			}
			files = grown;
		}
		files[*n] = (struct cached){ .bytes = (size_t)st.st_size, .used = st.st_mtim };
		strcpy(files[(*n)++].name, entry->d_name);
	}
	return files;
}

/* Files of one key, side by side, become one; how many there are then. */
static size_t join_entries(struct cached *files, size_t n)
{
	size_t made = 0;

	qsort(files, n, sizeof(*files), by_name);
	for (size_t i = 0; i < n; i++) {
		struct cached *last = made ? &files[made - 1] : NULL;

		files[i].name[KEY_CHARS] = '\0';
		if (!last || strcmp(last->name, files[i].name) != 0) {
			files[made++] = files[i];
			continue;
		}
		last->bytes += files[i].bytes;
		if (is_earlier(last->used, files[i].used))
			last->used = files[i].used;
	}
	return made;
}

static void drop_entry(const struct cache *c, const char *key)
{
	static const char *const endings[] = { "ok", "so", "c" };
	char name[NAME_BYTES];

	for (int i = 0; i < 3; i++)
		unlinkat(c->folder, entry_name(name, key, endings[i]), 0);
}

/* What the entries take together, and when they were last counted, in a file beside them: to
 * look at all of them takes longer than to store one. */
static const char account[] = ".account";

static bool account_read(const struct cache *c, size_t *bytes, time_t *counted)
{
	size_t len;
	char *text = read_file(c->folder, account, &len);
	unsigned long long n = 0;
	long long when = 0;
	bool ok = text && sscanf(text, "%llu %lld\n", &n, &when) == 2;

	free(text);
	*bytes = (size_t)n;
	*counted = (time_t)when;
	return ok;
}

static void account_write(const struct cache *c, size_t bytes, time_t counted)
{
	char text[64];
	int len = snprintf(text, sizeof(text), "%zu %lld\n", bytes, (long long)counted);

	unlinkat(c->folder, account, 0);
	write_file(c->folder, account, text, (size_t)len);
}

/* Drops of n entries what was used longest ago, but not `key`, until a quarter of the bound
 * is free: so that not every store has to drop something.  What is left. */
static size_t drop_oldest(const struct cache *c, struct cached *entries, size_t n, size_t bytes,
			  const char *key)
{
	qsort(entries, n, sizeof(*entries), by_use);
	for (size_t i = 0; i < n && bytes > c->most_bytes / 4 * 3; i++) {
		if (strncmp(entries[i].name, key, KEY_CHARS) == 0)
			continue;
		drop_entry(c, entries[i].name);
		bytes -= entries[i].bytes;
	}
	return bytes;
}

static void count(const struct cache *c, const char *key)
{
	DIR *folder = opendir(c->path);
	struct cached *entries = NULL;
	size_t n = 0, bytes = 0;

	if (folder)
		entries = list_files(c, folder, &n);
	if (entries)
		n = join_entries(entries, n);
	for (size_t i = 0; entries && i < n; i++)
		bytes += entries[i].bytes;
	if (bytes > c->most_bytes)
		bytes = drop_oldest(c, entries, n, bytes, key);
	if (entries)
		account_write(c, bytes, time(NULL));
	free(entries);
	if (folder)
		closedir(folder);
}

/* Keeps to the bound after `added` bytes of `key`.  An entry that replaces itself counts
 * twice until all are counted, which they are once an hour too. */
static void tidy(const struct cache *c, const char *key, size_t added)
{
	size_t bytes;
	time_t counted, age;

	if (account_read(c, &bytes, &counted)) {
		age = time(NULL) - counted;
		if (age >= 0 && age < STALE_SECONDS && bytes + added <= c->most_bytes) {
			account_write(c, bytes + added, counted);
			return;
		}
	}
	count(c, key);
}

/* What it takes of the bound. */
static size_t store(const struct cache *c, const char *key, int shop)
{
	char to[NAME_BYTES], hash[HASH_HEX_BYTES];
	size_t len = 0;
	char *object = read_file(shop, "kernel.so", &len);
	struct stat source = { 0 };

	if (object) {
		hash_hex(object, len, hash);
		if (write_file(shop, "kernel.ok", hash, strlen(hash)) &&
		    fstatat(shop, "kernel.c", &source, AT_SYMLINK_NOFOLLOW) == 0 &&
		    renameat(shop, "kernel.c", c->folder, entry_name(to, key, "c")) == 0 &&
		    renameat(shop, "kernel.so", c->folder, entry_name(to, key, "so")) == 0)
			(void)!renameat(shop, "kernel.ok", c->folder, entry_name(to, key, "ok"));
	}
	free(object);
	return len + (size_t)source.st_size + HASH_HEX_BYTES - 1;
}

void cache_store(const struct cache *c, const char *key, const char *workshop)
{
	int shop;

	if (c->folder < 0 || !c->writable)
		return;
	shop = open(workshop, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (shop < 0)
		return;
	flock(c->folder, LOCK_EX);
	tidy(c, key, store(c, key, shop));
	flock(c->folder, LOCK_UN);
	close(shop);
}

void cache_write(const struct cache *c, const char *key, const char *source, size_t len,
		 const void *object, size_t bytes)
{
	char workshop[PATH_MAX];
	int shop;

	if (c->folder < 0 || !c->writable || !cache_workshop(c, workshop))
		return;
	shop = open(workshop, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (shop >= 0 && write_file(shop, "kernel.c", source, len) &&
	    write_file(shop, "kernel.so", object, bytes))
		cache_store(c, key, workshop);
	if (shop >= 0)
		close(shop);
	cache_sweep(workshop);
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
