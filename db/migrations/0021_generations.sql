-- Version 21: how far a commit is from where its history begins: one more than its parents, 0 where none is known.

ALTER TABLE known_commit ADD COLUMN generation INTEGER NOT NULL DEFAULT 0;
