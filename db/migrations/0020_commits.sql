-- Version 20: commits of users' projects, as git tells of them: a change's suspects are those between its runs.

CREATE TABLE known_commit (
	project      TEXT NOT NULL,    -- of the runs that it is for
	id           TEXT NOT NULL,
	subject      TEXT NOT NULL,    -- the first line of its message
	author       TEXT NOT NULL,
	committed_ns INTEGER NOT NULL, -- since 1970
	PRIMARY KEY (project, id)
) STRICT, WITHOUT ROWID;

CREATE TABLE commit_parent (
	project TEXT NOT NULL,
	id      TEXT NOT NULL,
	place   INTEGER NOT NULL,      -- 0: the first parent
	parent  TEXT NOT NULL,
	PRIMARY KEY (project, id, place)
) STRICT, WITHOUT ROWID;
