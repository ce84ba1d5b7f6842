INSERT INTO contacts VALUES ('812@lid', '49170@s.whatsapp.net');
INSERT INTO names VALUES ('49170@s.whatsapp.net', 'Ann');
