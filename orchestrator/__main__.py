"""`python -m orchestrator` is the command `dovecote`."""

from orchestrator.cli.main import main

if __name__ == "__main__":
    main()
