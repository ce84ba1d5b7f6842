INSERT INTO questions (agent_id, question_id, turn_id, chat_jid, question, options, status, asked_ms)
VALUES ('agent-1', 'q-1', 'turn-1', '1203@g.us', 'Red or blue?', '["red", "blue"]', 'answered', 1772366400700);
