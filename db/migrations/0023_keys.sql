-- Version 23: what a post with a key was answered, so that the same post again makes nothing twice.

CREATE TABLE request_key (
	who      TEXT NOT NULL,                      -- a token, a user or an address
	key      TEXT NOT NULL,                      -- the header Idempotency-Key
	request  TEXT NOT NULL,                      -- hash of its address and body; 32 hex digits
	status   INTEGER NOT NULL DEFAULT 0,         -- of the answer; 0: it is under way
	answer   TEXT NOT NULL DEFAULT '',           -- JSON
	location TEXT NOT NULL DEFAULT '',           -- the header Location
	at_ns    INTEGER NOT NULL,                   -- since 1970
	PRIMARY KEY (who, key)
) STRICT, WITHOUT ROWID;

CREATE INDEX request_key_by_age ON request_key (at_ns);
