-- Who is in a group chat, by the ids that its network gives.
CREATE TABLE members (
    chat_jid TEXT NOT NULL,
    jid      TEXT NOT NULL,
    PRIMARY KEY (chat_jid, jid)
) STRICT, WITHOUT ROWID;

-- Whether we are in a group chat; NULL while its network has not said.
ALTER TABLE chats ADD COLUMN is_member INTEGER;
CREATE INDEX chats_we_are_in ON chats (channel) WHERE is_member = 1;
