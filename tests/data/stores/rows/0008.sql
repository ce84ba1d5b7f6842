INSERT INTO waiting_words VALUES (2, 'new', '');
