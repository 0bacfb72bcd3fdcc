/* fusion/base/scratch.c -- private folders, and files, that nobody keeps. */
#include "fusion/base/scratch.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRIES = 16, OPEN_FOLDERS = 8 };

static const char prefix[] = "breakeven-scratch-";

static const char *base_folder(void)
{
	const char *base = getenv("TMPDIR");

	return base && *base == '/' ? base : "/tmp";
}

static int remove_entry(const char *path, const struct stat *info, int kind, struct FTW *at)
{
	(void)info, (void)kind, (void)at;
	remove(path); /* what is left over is in the system's folder for such things */
	return 0;
}

static void remove_tree(const char *path)
{
	nftw(path, remove_entry, OPEN_FOLDERS, FTW_DEPTH | FTW_PHYS);
}

static bool path_of(char *out, size_t bytes, const char *base, const char *name)
{
	int len = snprintf(out, bytes, "%s/%s", base, name);

	return len > 0 && (size_t)len < bytes;
}

static int open_folder(const char *path)
{
	return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

/* Those whose makers have died.  Where folders cannot be locked nobody can say which. */
static void remove_abandoned(const char *base)
{
	DIR *all = opendir(base);
	char path[sizeof(((struct scratch *)0)->path)];
	struct stat info;

	for (struct dirent *e; all && (e = readdir(all));) {
		int fd;

		if (strncmp(e->d_name, prefix, sizeof(prefix) - 1) != 0 ||
		    !path_of(path, sizeof(path), base, e->d_name) || (fd = open_folder(path)) < 0)
			continue;
		if (fstat(fd, &info) == 0 && info.st_uid == geteuid() &&
		    flock(fd, LOCK_EX | LOCK_NB) == 0)
			remove_tree(path);
		close(fd);
	}
	if (all)
		closedir(all);
}

/* Locks what was just made; false where somebody took it for abandoned before that. */
static bool hold(struct scratch *s)
{
	struct stat opened, there;

	s->held = open_folder(s->path);
	if (s->held < 0)
		return false;
	if ((flock(s->held, LOCK_EX | LOCK_NB) == 0 || errno != EWOULDBLOCK) &&
	    fstat(s->held, &opened) == 0 && stat(s->path, &there) == 0 &&
	    opened.st_ino == there.st_ino && opened.st_dev == there.st_dev)
		return true;
	close(s->held);
	return false;
}

bool scratch_create_in(struct scratch *s, const char *base, const char *what, struct err *err)
{
	int code = ENAMETOOLONG;

	remove_abandoned(base);
	for (int i = 0; i < TRIES; i++) {
		if (!path_of(s->path, sizeof(s->path), base, "breakeven-scratch-XXXXXX"))
			break;
		if (!mkdtemp(s->path)) {
			code = errno;
			break;
		}
		if (hold(s))
			return true;
		code = errno;
	}
	s->path[0] = '\0';
	return err_set(err, ERR_IO, "no temporary folder for %s in %.200s: %s", what, base,
		       strerror(code));
}

bool scratch_create(struct scratch *s, const char *what, struct err *err)
{
	return scratch_create_in(s, base_folder(), what, err);
}

void scratch_destroy(struct scratch *s)
{
	if (!s->path[0])
		return;
	remove_tree(s->path);
	close(s->held);
	s->path[0] = '\0';
}

int scratch_file(const char *what, struct err *err)
{
	int fd = open(base_folder(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);

	if (fd < 0)
		err_set(err, ERR_IO, "no temporary file for %s in %.200s: %s", what, base_folder(),
			strerror(errno));
	return fd;
}
