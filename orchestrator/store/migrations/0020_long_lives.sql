-- An agent may live for weeks: what was open lately is found without looking at all its turns.
CREATE INDEX turns_begun ON turns (agent_id, started_ms);
CREATE INDEX turns_ended ON turns (agent_id, ended_ms) WHERE ended_ms IS NOT NULL;
