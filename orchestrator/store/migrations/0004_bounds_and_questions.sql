-- What bounds how often the assistant is set off, and what agents ask of people.

-- set_off_by: the highest role among those whose triggers began the turn; NULL for a task's.
ALTER TABLE turns ADD COLUMN set_off_by TEXT;
CREATE INDEX turns_set_off ON turns (chat_jid, started_ms) WHERE set_off_by IS NOT NULL;
-- Said in other words than in other indexes, so that what looks for waiting triggers does not walk here.
CREATE INDEX messages_of_sender ON messages (sender_jid, received_ms) WHERE is_trigger <> 0;

-- number: what people call it. question_id: what its agent calls it. answer: the words of the person,
-- or of the option, whose place from 0 is chosen.
CREATE TABLE questions (
    number      INTEGER PRIMARY KEY AUTOINCREMENT,
    agent_id    TEXT NOT NULL,
    question_id TEXT NOT NULL,
    turn_id     TEXT NOT NULL,
    chat_jid    TEXT NOT NULL,
    question    TEXT NOT NULL,
    options     TEXT NOT NULL,
    status      TEXT NOT NULL,
    asked_ms    INTEGER NOT NULL,
    answer      TEXT,
    chosen      INTEGER,
    UNIQUE (agent_id, question_id)
) STRICT;
CREATE INDEX questions_open ON questions (chat_jid, number) WHERE status = 'open';
CREATE INDEX questions_of_chat ON questions (chat_jid, number);
