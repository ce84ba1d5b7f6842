-- edits: the message of the same chat whose later text this one is. revision: how often the text was replaced.
ALTER TABLE messages ADD COLUMN edits TEXT;
ALTER TABLE messages ADD COLUMN revision INTEGER NOT NULL DEFAULT 0;
CREATE INDEX messages_edits ON messages (chat_jid, edits) WHERE edits IS NOT NULL;
