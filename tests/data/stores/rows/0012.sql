INSERT INTO event_log (tree_id, seq, class, type, agent_id, at_ms, body)
VALUES ('tree-1', 1, 'agent', 'agent.log', 'agent-1', 1772366400700, '{"message":"hm"}');
INSERT INTO event_sequences VALUES ('tree-1', 1, 1772366400700);
INSERT INTO event_horizon VALUES (1, 0);
