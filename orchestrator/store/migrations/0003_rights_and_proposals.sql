-- A resumed session keeps the least rights of all whose words it was given.
ALTER TABLE sessions ADD COLUMN rights TEXT NOT NULL DEFAULT 'operator';
-- Of sessions that are older than this column the messages of their chat tell.
UPDATE sessions
   SET rights = coalesce((SELECT CASE WHEN sum(m.sender_role = 'bot') > 0 THEN 'bot'
                                      WHEN sum(m.sender_role = 'member') > 0 THEN 'member'
                                      ELSE 'operator' END
                            FROM messages AS m JOIN groups AS g ON g.jid = m.chat_jid
                           WHERE g.folder = sessions.folder), 'operator')
 WHERE session_id <> '';

-- What an agent asked for and an operator has to confirm. agent_id to chat_jid: who asked.
-- request: JSON as in its box. effect: what operators are shown. number: what people call it by.
CREATE TABLE proposals (
    number     INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id   TEXT NOT NULL,
    box        TEXT NOT NULL,
    folder     TEXT NOT NULL,
    chat_jid   TEXT NOT NULL,
    command    TEXT NOT NULL,
    request    TEXT NOT NULL,
    rights     TEXT NOT NULL,
    effect     TEXT NOT NULL,
    status     TEXT NOT NULL,
    created_ms INTEGER NOT NULL,
    expires_ms INTEGER NOT NULL,
    ended_ms   INTEGER,
    error      TEXT
) STRICT;
CREATE INDEX proposals_open ON proposals (folder, expires_ms) WHERE status = 'open';
CREATE INDEX proposals_ended ON proposals (ended_ms) WHERE ended_ms IS NOT NULL;

-- What the operator's own command is to be told, until it was run with it.
CREATE TABLE alerts (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    text       TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
