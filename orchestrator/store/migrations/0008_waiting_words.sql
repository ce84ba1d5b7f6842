-- Words to Dovecote itself, such as `/stop`, that are stored and not done yet. seq: of the message.
CREATE TABLE waiting_words (
    seq      INTEGER PRIMARY KEY REFERENCES messages (seq) ON DELETE CASCADE,
    name     TEXT NOT NULL,
    argument TEXT NOT NULL
) STRICT;
