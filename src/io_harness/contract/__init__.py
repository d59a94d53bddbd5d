"""What a run is to do, within which limits, and how it is known to be done."""

from io_harness.contract.form import contract_from_file, contract_from_json, contract_to_json
from io_harness.contract.limits import Retries, StallLimits
from io_harness.contract.task import TaskContract
from io_harness.contract.verification import Check, Verification

__all__ = [
    "Check",
    "Retries",
    "StallLimits",
    "TaskContract",
    "Verification",
    "contract_from_file",
    "contract_from_json",
    "contract_to_json",
]
