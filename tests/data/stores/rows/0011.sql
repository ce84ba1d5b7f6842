INSERT INTO agents (agent_id, tree_id, folder, chat_jid, box, runner, provider, status, is_main, started_ms, ended_ms, kind, parent_agent_id, depth)
VALUES ('agent-2', 'tree-1', 'family', '1203@g.us', '@agent-2', 'docker', 'claude', 'completed', 0, 1772366400700, 1772366400800, 'job', 'agent-1', 1);
INSERT INTO spawns (agent_id, parent_agent_id, caller_key, task, workspace, writable_paths, is_own_workspace, wait, profile, on_parent_exit, body_sha256, answer, created_ms, deadline_ms, effective_timeout_ms, output)
VALUES ('agent-2', 'agent-1', 'agent-1', 'Look.', '/w', '[]', 0, 'none', 'standard', 'stop', '', '{}', 1772366400700, 1772366460700, 60000, 'Seen.');
INSERT INTO spawn_texts VALUES ('agent-2', 1, 'Seen.');
INSERT INTO waits VALUES ('agent-1', 'agent-2', 'result', 1772366400700);
INSERT INTO workspace_roots VALUES ('/srv/project', 'approved', 'agent-1', 1772366400000, NULL);
