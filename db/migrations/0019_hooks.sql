-- Version 19: webhooks, what is sent to them, and which changes were told.

CREATE TABLE hook (
	id         INTEGER PRIMARY KEY AUTOINCREMENT, -- never reused: a delivery names it
	project    TEXT NOT NULL,                     -- whose news it is told; '': of all
	url        TEXT NOT NULL,
	secret     TEXT NOT NULL,                     -- what it is sent is signed with
	events     TEXT NOT NULL,                     -- 'change,verdict': which news
	author     TEXT NOT NULL,                     -- who made it; '': nobody is known
	created_ns INTEGER NOT NULL
) STRICT;

CREATE TABLE hook_delivery (
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	hook       INTEGER NOT NULL REFERENCES hook (id) ON DELETE CASCADE,
	event      TEXT NOT NULL,                     -- change, verdict, test
	subject    INTEGER NOT NULL,                  -- the change or the run; 0: none
	body       TEXT NOT NULL,                     -- JSON as it is sent
	state      TEXT NOT NULL CHECK (state IN ('waiting', 'delivered', 'failed')),
	tries      INTEGER NOT NULL DEFAULT 0,
	created_ns INTEGER NOT NULL,
	due_ns     INTEGER NOT NULL,                  -- while it waits: when it is sent next
	tried_ns   INTEGER,                           -- when it was sent last; NULL: not yet
	status     INTEGER,                           -- that the last try was answered with; NULL: no answer
	said       TEXT NOT NULL DEFAULT ''           -- why the last try failed
) STRICT;

CREATE INDEX hook_delivery_by_hook ON hook_delivery (hook, id);
CREATE INDEX hook_delivery_due ON hook_delivery (due_ns) WHERE state = 'waiting';

-- A change that was told, or that waits for a run of its workload to show it again.
CREATE TABLE change_alert (
	change INTEGER PRIMARY KEY REFERENCES change (id) ON DELETE CASCADE,
	run    INTEGER NOT NULL,                      -- that it waits or waited for; 0: none could be made
	told   INTEGER NOT NULL
) STRICT;

-- Up to where runs that ended were looked at.
CREATE TABLE hook_mark (
	only        INTEGER PRIMARY KEY CHECK (only = 1),
	finished_ns INTEGER NOT NULL
) STRICT;

CREATE INDEX run_by_end ON run_row (finished_ns) WHERE finished_ns IS NOT NULL;
