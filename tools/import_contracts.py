"""An import-linter contract of our own, named in pyproject.toml."""

import sys

from grimp import ImportGraph
from importlinter.application import output
from importlinter.domain import fields
from importlinter.domain.contract import Contract, ContractCheck


class StandardLibraryOnly(Contract):
    """`source_modules` import nothing but each other's packages and the standard library.

    Written here because a list of forbidden packages would have to grow with every new dependency.
    """

    type_name = "standard_library_only"

    source_modules = fields.SetField(subfield=fields.ModuleField())

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Look at every direct import; an indirect one goes through a direct one of another package."""
        found = [
            f"{importer} imports {imported}"
            for source in sorted(module.name for module in self.source_modules)
            for importer in sorted({source} | graph.find_descendants(source))
            for imported in sorted(graph.find_modules_directly_imported_by(importer))
            if not imported.startswith(f"{source}.") and imported.split(".")[0] not in sys.stdlib_module_names
        ]
        return ContractCheck(kept=not found, metadata={"found": found})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """Say each import that must go."""
        for line in check.metadata["found"]:
            output.print_error(f"- {line}")
        output.new_line()
