-- db/migrations/0012_waiting.sql -- who posted a run, found by the run: how many of one user wait.
CREATE INDEX audit_by_subject ON audit (subject) WHERE route = 'POST /api/v1/runs';
