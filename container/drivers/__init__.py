"""What turns a prompt into agent behaviour. Each driver is loaded by name, only when it is used."""
