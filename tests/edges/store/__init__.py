"""The store's floor on real files: database, migrations, lock, hostile directories, group folders."""
