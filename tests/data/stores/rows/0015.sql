INSERT INTO members VALUES ('1203@g.us', '49170@s.whatsapp.net');
