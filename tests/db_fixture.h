/* tests/db_fixture.h -- a store in a folder of its own, for each test of db. */
#ifndef TESTS_DB_FIXTURE_H
#define TESTS_DB_FIXTURE_H

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "db/db.h"

struct fixture {
	char folder[64], path[96];
	struct db *db;
	struct arena arena;
};

static int set_up(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));
	struct err err = { 0 };

	strcpy(f->folder, "/tmp/breakeven-db-XXXXXX");
	assert_non_null(mkdtemp(f->folder));
	snprintf(f->path, sizeof(f->path), "%s/store.db", f->folder);
	f->db = db_open(f->path, &err);
	if (!f->db)
		fail_msg("%s", err.message);
	*state = f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;
	DIR *folder;

	db_close(f->db);
	folder = opendir(f->folder);
	for (const struct dirent *entry; folder && (entry = readdir(folder)) != NULL;)
		unlinkat(dirfd(folder), entry->d_name, 0);
	if (folder)
		closedir(folder);
	rmdir(f->folder);
	arena_finish(&f->arena);
	free(f);
	return 0;
}

#endif
