-- Who is who on networks that know a person by two ids, and how people are called.

-- lid: the hidden id. phone: the one with the number. A number can change hands: the newest pair counts.
CREATE TABLE contacts (
    lid   TEXT PRIMARY KEY,
    phone TEXT NOT NULL UNIQUE
) STRICT;

-- What people called themselves last.
CREATE TABLE names (
    jid  TEXT PRIMARY KEY,
    name TEXT NOT NULL
) STRICT;
