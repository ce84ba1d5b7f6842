INSERT INTO proposals (agent_id, box, folder, chat_jid, command, request, rights, effect, status, created_ms, expires_ms)
VALUES ('agent-1', 'family', 'family', '1203@g.us', 'send_message', '{}', 'member', 'Write elsewhere', 'open', 1772366400000, 4102444800000);
INSERT INTO alerts (text, created_ms)
VALUES ('The disk is low.', 1772366400000);
