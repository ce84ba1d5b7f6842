INSERT INTO facts VALUES ('instance', 'dovecote-0001');
INSERT INTO chats VALUES ('1203@g.us', 'whatsapp', 'Family', 1, 1772366400000);
INSERT INTO groups (folder, jid, name, trigger, assistant_name, is_main, added_ms)
VALUES ('family', '1203@g.us', 'Family', '@Andy', 'Andy', 1, 1772366400000);
INSERT INTO cursors VALUES ('1203@g.us', 2);
INSERT INTO messages (chat_jid, message_id, sender_jid, sender_name, sender_role, text, quoted, attachments, sent_ms, received_ms, is_trigger, status, agent_id, turn_id)
VALUES ('1203@g.us', 'm-1', '49170@s.whatsapp.net', 'Ann', 'member', '@Andy süß? 🐦', '["m-0", "Bob", "what?", false]', '[["a.txt", "text/plain", 3, null]]', 1772366400000, 1772366400500, 1, 'settled', 'agent-1', 'turn-1');
INSERT INTO messages (chat_jid, message_id, sender_jid, sender_name, sender_role, text, sent_ms, received_ms, is_trigger, status)
VALUES ('1203@g.us', 'm-2', '49171@s.whatsapp.net', 'Bob', 'member', '@Andy and now?', 1772366401000, 1772366401500, 1, 'pending');
INSERT INTO agents (agent_id, tree_id, folder, chat_jid, box, runner, driver, status, is_main, started_ms, ended_ms, exit_code, end_reason)
VALUES ('agent-1', 'tree-1', 'family', '1203@g.us', 'family', 'docker', 'claude', 'completed', 1, 1772366400600, 1772366400900, 0, 'exited');
INSERT INTO turns VALUES ('turn-1', 'agent-1', '1203@g.us', 1772366400700, 1772366400800, 'success', 1, 1, NULL, NULL);
INSERT INTO outbox (chat_jid, text, source, source_key, part, parts, status, created_ms, agent_id, turn_id, channel_message_id, sent_ms)
VALUES ('1203@g.us', 'Sweet.', 'pair', 'agent-1:1', 1, 1, 'sent', 1772366400750, 'agent-1', 'turn-1', 'w-1', 1772366400760);
INSERT INTO outbox (chat_jid, text, source, source_key, part, parts, status, created_ms)
VALUES ('1203@g.us', 'Not sent yet.', 'notice', 'n-1', 1, 1, 'queued', 1772366400800);
INSERT INTO requests VALUES ('family', 'messages', '0001.json', 1, 2, x'00ff', 'agent-1', 'r-1', '{}', 0, 1772366400760);
INSERT INTO notices VALUES ('late:1203@g.us', 1772366400000, 1, 1772366400000);
INSERT INTO sessions VALUES ('family', 'claude', 'session-1', 1772366400900);
