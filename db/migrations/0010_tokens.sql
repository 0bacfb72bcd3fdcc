-- Version 10: who may ask, who did what, and whose a run and its note are.

CREATE TABLE token (
	id         INTEGER PRIMARY KEY,
	name       TEXT NOT NULL UNIQUE,             -- never given again: runs carry it
	hash       BLOB NOT NULL UNIQUE,             -- SHA-256 of the token, which itself is not kept
	scope      TEXT NOT NULL CHECK (scope IN ('read', 'submit', 'admin')),
	project    TEXT NOT NULL,                    -- what it sees and posts; '': all
	created_ns INTEGER NOT NULL,
	expires_ns INTEGER,                          -- NULL: never
	revoked_ns INTEGER                           -- NULL: it counts
) STRICT;

-- A browser that signed in with a token.
CREATE TABLE session (
	hash       BLOB PRIMARY KEY,                 -- SHA-256 of what its cookie has
	token      INTEGER NOT NULL REFERENCES token (id) ON DELETE CASCADE,
	expires_ns INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE audit (
	id      INTEGER PRIMARY KEY AUTOINCREMENT,
	at_ns   INTEGER NOT NULL,
	who     TEXT NOT NULL,                       -- name of a token or a user; '': the server has no accounts
	address TEXT NOT NULL,                       -- that asked
	route   TEXT NOT NULL,                       -- DELETE /api/v1/runs/{id}
	subject INTEGER                              -- the run or suite; no reference: it may be gone
) STRICT;

ALTER TABLE run ADD COLUMN author TEXT NOT NULL DEFAULT '';   -- who posted it; '': unknown
ALTER TABLE run ADD COLUMN note_by TEXT NOT NULL DEFAULT '';  -- who wrote its note last
