-- Times are integer epoch milliseconds, flags are 0 or 1, lists and objects are JSON text.

CREATE TABLE facts (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

CREATE TABLE chats (
    jid              TEXT PRIMARY KEY,
    channel          TEXT NOT NULL,
    name             TEXT,
    is_group         INTEGER NOT NULL DEFAULT 0,
    last_activity_ms INTEGER
) STRICT;

CREATE TABLE groups (
    number           INTEGER PRIMARY KEY AUTOINCREMENT,
    folder           TEXT NOT NULL UNIQUE COLLATE NOCASE,
    jid              TEXT NOT NULL UNIQUE,
    name             TEXT NOT NULL,
    trigger          TEXT NOT NULL,
    assistant_name   TEXT NOT NULL,
    requires_trigger INTEGER NOT NULL DEFAULT 1,
    is_main          INTEGER NOT NULL DEFAULT 0,
    trigger_position TEXT NOT NULL DEFAULT 'start',
    reply_triggers   INTEGER NOT NULL DEFAULT 1,
    timezone         TEXT,
    locale           TEXT NOT NULL DEFAULT 'en',
    added_ms         INTEGER NOT NULL,
    last_served      INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE UNIQUE INDEX only_one_main ON groups (is_main) WHERE is_main = 1;

-- Up to `seq` nothing is unsettled. The statuses of the messages are the truth; this is their lower bound.
CREATE TABLE cursors (
    chat_jid TEXT PRIMARY KEY,
    seq      INTEGER NOT NULL
) STRICT;

CREATE TABLE messages (
    seq           INTEGER PRIMARY KEY AUTOINCREMENT,
    chat_jid      TEXT NOT NULL,
    message_id    TEXT NOT NULL,
    sender_jid    TEXT NOT NULL,
    sender_name   TEXT NOT NULL,
    sender_role   TEXT NOT NULL,
    text          TEXT NOT NULL,
    quoted        TEXT,
    attachments   TEXT,
    sent_ms       INTEGER NOT NULL,
    received_ms   INTEGER NOT NULL,
    is_trigger    INTEGER NOT NULL,
    status        TEXT NOT NULL,
    tries         INTEGER NOT NULL DEFAULT 0,
    deaths        INTEGER NOT NULL DEFAULT 0,
    is_nudged     INTEGER NOT NULL DEFAULT 0,
    held_since_ms INTEGER,
    due_ms        INTEGER NOT NULL DEFAULT 0,
    agent_id      TEXT,
    turn_id       TEXT,
    is_in_turn    INTEGER NOT NULL DEFAULT 0,
    input_file    TEXT,
    UNIQUE (chat_jid, message_id)
) STRICT;
CREATE INDEX messages_pending ON messages (chat_jid, is_trigger, seq) WHERE status = 'pending';
-- A chat may hold any amount of pending chatter: what looks for triggers must not walk through it.
CREATE INDEX messages_waiting ON messages (chat_jid, seq, due_ms) WHERE status = 'pending' AND is_trigger = 1;
CREATE INDEX messages_dispatched ON messages (agent_id, seq) WHERE status = 'dispatched';
CREATE INDEX messages_at_work ON messages (chat_jid, seq) WHERE status = 'dispatched';
CREATE INDEX messages_unsettled ON messages (chat_jid, seq) WHERE status IN ('pending', 'dispatched');
CREATE INDEX messages_unfinished ON messages (chat_jid, seq) WHERE status IN ('partial', 'failed');

CREATE TABLE agents (
    agent_id    TEXT PRIMARY KEY,
    tree_id     TEXT NOT NULL,
    folder      TEXT NOT NULL,
    chat_jid    TEXT NOT NULL,
    box         TEXT NOT NULL,
    runner      TEXT NOT NULL,
    driver      TEXT NOT NULL,
    status      TEXT NOT NULL,
    is_main     INTEGER NOT NULL,
    is_legacy   INTEGER NOT NULL DEFAULT 0,
    process_ref TEXT,
    started_ms  INTEGER NOT NULL,
    ended_ms    INTEGER,
    exit_code   INTEGER,
    end_reason  TEXT
) STRICT;
CREATE INDEX agents_live ON agents (status) WHERE status IN ('starting', 'running', 'stopping');
CREATE INDEX agents_of_box ON agents (box, started_ms);

-- One prompt and all that came of it. outputs: pairs stored; effects: committed texts and commands.
CREATE TABLE turns (
    turn_id    TEXT NOT NULL,
    agent_id   TEXT NOT NULL REFERENCES agents (agent_id),
    chat_jid   TEXT NOT NULL,
    started_ms INTEGER NOT NULL,
    ended_ms   INTEGER,
    status     TEXT,
    outputs    INTEGER NOT NULL DEFAULT 0,
    effects    INTEGER NOT NULL DEFAULT 0,
    error      TEXT,
    usage      TEXT,
    PRIMARY KEY (agent_id, turn_id)
) STRICT;

CREATE TABLE outbox (
    id                 INTEGER PRIMARY KEY AUTOINCREMENT,
    chat_jid           TEXT NOT NULL,
    text               TEXT NOT NULL,
    source             TEXT NOT NULL,
    source_key         TEXT NOT NULL,
    part               INTEGER NOT NULL,
    parts              INTEGER NOT NULL,
    status             TEXT NOT NULL,
    attempts           INTEGER NOT NULL DEFAULT 0,
    created_ms         INTEGER NOT NULL,
    send_after_ms      INTEGER NOT NULL DEFAULT 0,
    sent_ms            INTEGER,
    unknown_since_ms   INTEGER,
    was_resent         INTEGER NOT NULL DEFAULT 0,
    agent_id           TEXT,
    turn_id            TEXT,
    reply_to           TEXT,
    channel_message_id TEXT,
    error              TEXT,
    told_with_seq      INTEGER,
    UNIQUE (source, source_key, part)
) STRICT;
CREATE INDEX outbox_waiting ON outbox (chat_jid, id) WHERE status IN ('queued', 'sending', 'unknown');
CREATE INDEX outbox_of_chat ON outbox (chat_jid, id);
CREATE INDEX outbox_of_turn ON outbox (agent_id, turn_id, id);
CREATE INDEX outbox_ours ON outbox (chat_jid, channel_message_id) WHERE channel_message_id IS NOT NULL;
-- told_with_seq: the message that brought the agent word of the failure.
CREATE INDEX outbox_failed ON outbox (chat_jid, id) WHERE status = 'failed';

-- A request met again after a crash is known by its key and has no second effect.
CREATE TABLE requests (
    box        TEXT NOT NULL,
    directory  TEXT NOT NULL,
    name       TEXT NOT NULL,
    inode      INTEGER NOT NULL,
    ctime_ns   INTEGER NOT NULL,
    sha256     BLOB NOT NULL,
    agent_id   TEXT NOT NULL,
    request_id TEXT,
    reply      TEXT NOT NULL,
    is_open    INTEGER NOT NULL DEFAULT 1,
    created_ms INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX requests_open ON requests (box, directory, name, inode, ctime_ns, sha256) WHERE is_open = 1;
CREATE INDEX requests_by_id ON requests (agent_id, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX requests_old ON requests (created_ms) WHERE is_open = 0;

-- Something went wrong for a while: told once when it begins and once when it is over.
CREATE TABLE notices (
    incident  TEXT PRIMARY KEY,
    opened_ms INTEGER NOT NULL,
    count     INTEGER NOT NULL DEFAULT 1,
    told_ms   INTEGER
) STRICT;

CREATE TABLE sessions (
    folder     TEXT NOT NULL,
    driver     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    updated_ms INTEGER NOT NULL,
    PRIMARY KEY (folder, driver)
) STRICT;
