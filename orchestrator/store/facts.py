"""Single values that the installation remembers, such as its own id."""

from typing import Final

from orchestrator.contracts.ids import new_id
from orchestrator.store.database import Transaction

ADD: Final = "INSERT INTO facts (name, value) VALUES (:name, :value) ON CONFLICT (name) DO NOTHING"
GET: Final = "SELECT value FROM facts WHERE name = :name"


def instance_id(tx: Transaction) -> str:
    """The id of this installation, made once; what its containers are labelled with."""
    tx.execute(ADD, {"name": "instance", "value": new_id("dovecote")})
    row = tx.one(GET, {"name": "instance"})
    assert row is not None
    return str(row["value"])
