-- Who ever wrote in a chat, without a walk through its messages.
CREATE INDEX messages_by_sender ON messages (chat_jid, sender_jid);
