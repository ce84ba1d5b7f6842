INSERT INTO outbox (chat_jid, text, source, source_key, part, parts, status, created_ms, file_name, file_type, file_size, spool_name)
VALUES ('1203@g.us', '', 'request', 'f-1', 1, 1, 'sent', 1772366400000, 'a.pdf', 'application/pdf', 3, 'spooled');
