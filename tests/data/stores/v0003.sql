PRAGMA application_id = 1148155493;
PRAGMA user_version = 3;
BEGIN TRANSACTION;
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
, rights TEXT NOT NULL DEFAULT 'operator', task_run_id TEXT) STRICT;
INSERT INTO "agents" VALUES('agent-1','tree-1','family','1203@g.us','family','docker','claude','completed',1,0,NULL,1772366400600,1772366400900,0,'exited','operator',NULL);
CREATE TABLE alerts (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    text       TEXT NOT NULL,
    created_ms INTEGER NOT NULL
) STRICT;
INSERT INTO "alerts" VALUES(1,'The disk is low.',1772366400000);
CREATE TABLE chats (
    jid              TEXT PRIMARY KEY,
    channel          TEXT NOT NULL,
    name             TEXT,
    is_group         INTEGER NOT NULL DEFAULT 0,
    last_activity_ms INTEGER
) STRICT;
INSERT INTO "chats" VALUES('1203@g.us','whatsapp','Family',1,1772366400000);
CREATE TABLE cursors (
    chat_jid TEXT PRIMARY KEY,
    seq      INTEGER NOT NULL
) STRICT;
INSERT INTO "cursors" VALUES('1203@g.us',2);
CREATE TABLE facts (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
INSERT INTO "facts" VALUES('instance','dovecote-0001');
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
INSERT INTO "groups" VALUES(1,'family','1203@g.us','Family','@Andy','Andy',1,1,'start',1,NULL,'en',1772366400000,0);
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
INSERT INTO "messages" VALUES(1,'1203@g.us','m-1','49170@s.whatsapp.net','Ann','member','@Andy süß? 🐦','["m-0", "Bob", "what?", false]','[["a.txt", "text/plain", 3, null]]',1772366400000,1772366400500,1,'settled',0,0,0,NULL,0,'agent-1','turn-1',0,NULL);
INSERT INTO "messages" VALUES(2,'1203@g.us','m-2','49171@s.whatsapp.net','Bob','member','@Andy and now?',NULL,NULL,1772366401000,1772366401500,1,'pending',0,0,0,NULL,0,NULL,NULL,0,NULL);
CREATE TABLE notices (
    incident  TEXT PRIMARY KEY,
    opened_ms INTEGER NOT NULL,
    count     INTEGER NOT NULL DEFAULT 1,
    told_ms   INTEGER
) STRICT;
INSERT INTO "notices" VALUES('late:1203@g.us',1772366400000,1,1772366400000);
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
INSERT INTO "outbox" VALUES(1,'1203@g.us','Sweet.','pair','agent-1:1',1,1,'sent',0,1772366400750,0,1772366400760,NULL,0,'agent-1','turn-1',NULL,'w-1',NULL,NULL);
INSERT INTO "outbox" VALUES(2,'1203@g.us','Not sent yet.','notice','n-1',1,1,'queued',0,1772366400800,0,NULL,NULL,0,NULL,NULL,NULL,NULL,NULL,NULL);
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
INSERT INTO "proposals" VALUES(1,'agent-1','family','family','1203@g.us','send_message','{}','member','Write elsewhere','open',1772366400000,4102444800000,NULL,NULL);
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
INSERT INTO "requests" VALUES('family','messages','0001.json',1,2,X'00FF','agent-1','r-1','{}',0,1772366400760);
CREATE TABLE sessions (
    folder     TEXT NOT NULL,
    driver     TEXT NOT NULL,
    session_id TEXT NOT NULL,
    updated_ms INTEGER NOT NULL, rights TEXT NOT NULL DEFAULT 'operator',
    PRIMARY KEY (folder, driver)
) STRICT;
INSERT INTO "sessions" VALUES('family','claude','session-1',1772366400900,'member');
CREATE TABLE task_runs (
    run_id     TEXT PRIMARY KEY,
    task_id    TEXT NOT NULL REFERENCES tasks (task_id),
    planned_ms INTEGER,
    status     TEXT NOT NULL,
    claimed_ms INTEGER NOT NULL,
    due_ms     INTEGER NOT NULL,
    agent_id   TEXT,
    started_ms INTEGER,
    ended_ms   INTEGER,
    failure    TEXT,
    error      TEXT,
    output     TEXT,
    tries      INTEGER NOT NULL DEFAULT 0,
    deaths     INTEGER NOT NULL DEFAULT 0,
    UNIQUE (task_id, planned_ms)
) STRICT;
INSERT INTO "task_runs" VALUES('run-1','task-1',1772366300000,'succeeded',1772366300000,1772366300000,NULL,NULL,1772366301000,NULL,NULL,'Watered.',0,0);
CREATE TABLE tasks (
    task_id        TEXT PRIMARY KEY,
    folder         TEXT NOT NULL,
    chat_jid       TEXT NOT NULL,
    title          TEXT NOT NULL,
    prompt         TEXT NOT NULL,
    kind           TEXT NOT NULL,
    schedule_value TEXT NOT NULL,
    timezone       TEXT NOT NULL,
    context_mode   TEXT NOT NULL,
    catch_up       TEXT NOT NULL,
    notify         INTEGER NOT NULL,
    status         TEXT NOT NULL,
    rights         TEXT NOT NULL,
    created_ms     INTEGER NOT NULL,
    next_run_ms    INTEGER,
    last_run_ms    INTEGER,
    last_status    TEXT,
    failures       INTEGER NOT NULL DEFAULT 0,
    alias          TEXT,
    paused_why     TEXT
) STRICT;
INSERT INTO "tasks" VALUES('task-1','family','1203@g.us','plants','Water the plants.','cron','0 9 * * *','Europe/Berlin','group','latest',1,'active','operator',1772366400000,4102444800000,NULL,NULL,0,NULL,NULL);
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
INSERT INTO "turns" VALUES('turn-1','agent-1','1203@g.us',1772366400700,1772366400800,'success',1,1,NULL,NULL);
CREATE UNIQUE INDEX only_one_main ON groups (is_main) WHERE is_main = 1;
CREATE INDEX messages_pending ON messages (chat_jid, is_trigger, seq) WHERE status = 'pending';
CREATE INDEX messages_waiting ON messages (chat_jid, seq, due_ms) WHERE status = 'pending' AND is_trigger = 1;
CREATE INDEX messages_dispatched ON messages (agent_id, seq) WHERE status = 'dispatched';
CREATE INDEX messages_at_work ON messages (chat_jid, seq) WHERE status = 'dispatched';
CREATE INDEX messages_unsettled ON messages (chat_jid, seq) WHERE status IN ('pending', 'dispatched');
CREATE INDEX messages_unfinished ON messages (chat_jid, seq) WHERE status IN ('partial', 'failed');
CREATE INDEX agents_live ON agents (status) WHERE status IN ('starting', 'running', 'stopping');
CREATE INDEX agents_of_box ON agents (box, started_ms);
CREATE INDEX outbox_waiting ON outbox (chat_jid, id) WHERE status IN ('queued', 'sending', 'unknown');
CREATE INDEX outbox_of_chat ON outbox (chat_jid, id);
CREATE INDEX outbox_of_turn ON outbox (agent_id, turn_id, id);
CREATE INDEX outbox_ours ON outbox (chat_jid, channel_message_id) WHERE channel_message_id IS NOT NULL;
CREATE INDEX outbox_failed ON outbox (chat_jid, id) WHERE status = 'failed';
CREATE UNIQUE INDEX requests_open ON requests (box, directory, name, inode, ctime_ns, sha256) WHERE is_open = 1;
CREATE INDEX requests_by_id ON requests (agent_id, request_id) WHERE request_id IS NOT NULL;
CREATE INDEX requests_old ON requests (created_ms) WHERE is_open = 0;
CREATE INDEX tasks_due ON tasks (next_run_ms) WHERE status = 'active' AND next_run_ms IS NOT NULL;
CREATE INDEX tasks_of_group ON tasks (folder, status, created_ms);
CREATE UNIQUE INDEX tasks_by_alias ON tasks (folder, alias) WHERE alias IS NOT NULL;
CREATE INDEX task_runs_waiting ON task_runs (due_ms, claimed_ms, planned_ms) WHERE status = 'claimed';
CREATE INDEX task_runs_open ON task_runs (task_id, claimed_ms) WHERE status IN ('claimed', 'started');
CREATE INDEX task_runs_ended ON task_runs (ended_ms) WHERE ended_ms IS NOT NULL;
CREATE INDEX task_runs_of_task ON task_runs (task_id, claimed_ms);
CREATE INDEX task_runs_of_agent ON task_runs (agent_id) WHERE agent_id IS NOT NULL;
CREATE INDEX proposals_open ON proposals (folder, expires_ms) WHERE status = 'open';
CREATE INDEX proposals_ended ON proposals (ended_ms) WHERE ended_ms IS NOT NULL;
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('groups',1);
INSERT INTO "sqlite_sequence" VALUES('messages',2);
INSERT INTO "sqlite_sequence" VALUES('outbox',2);
INSERT INTO "sqlite_sequence" VALUES('proposals',1);
INSERT INTO "sqlite_sequence" VALUES('alerts',1);
COMMIT;
