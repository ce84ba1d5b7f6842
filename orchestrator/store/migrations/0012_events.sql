-- What happened to agents and their trees, kept beyond the end of the tree.

-- position: among the events of all trees. tree_id: '' where there is none. seq: from 1 in its tree.
CREATE TABLE event_log (
    position INTEGER PRIMARY KEY AUTOINCREMENT,
    tree_id  TEXT NOT NULL,
    seq      INTEGER NOT NULL,
    class    TEXT NOT NULL,
    type     TEXT NOT NULL,
    agent_id TEXT,
    at_ms    INTEGER NOT NULL,
    body     TEXT NOT NULL,
    UNIQUE (tree_id, seq)
) STRICT;
CREATE INDEX event_log_by_age ON event_log (class, at_ms);
CREATE INDEX event_log_by_class ON event_log (class, position);
CREATE INDEX event_log_of_agent ON event_log (agent_id, type, position) WHERE agent_id IS NOT NULL;

-- The numbering outlives the events, so that no number of a tree comes twice.
CREATE TABLE event_sequences (
    tree_id  TEXT PRIMARY KEY,
    last_seq INTEGER NOT NULL,
    last_ms  INTEGER NOT NULL
) STRICT;

-- Up to here some events are gone: who reads on from before it is told of the gap.
CREATE TABLE event_horizon (
    only_one INTEGER PRIMARY KEY CHECK (only_one = 1),
    position INTEGER NOT NULL
) STRICT;

-- What one agent used, for who looks at it.
CREATE INDEX usage_of_agent ON usage (agent_id, tokens, cost_usd);
