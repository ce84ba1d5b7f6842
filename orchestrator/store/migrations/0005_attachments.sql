-- A row may hold a file: its copy lies in data/spool/ until the row is sent or failed and the copy removed.
ALTER TABLE outbox ADD COLUMN file_name TEXT;
ALTER TABLE outbox ADD COLUMN file_type TEXT;
ALTER TABLE outbox ADD COLUMN file_size INTEGER;
ALTER TABLE outbox ADD COLUMN spool_name TEXT;
CREATE UNIQUE INDEX outbox_spooled ON outbox (spool_name) WHERE spool_name IS NOT NULL;
CREATE INDEX outbox_files ON outbox (chat_jid, status) WHERE spool_name IS NOT NULL;
