"""What an agent may do: layers of rules of which the strictest wins, and whom to ask."""

from io_harness.policy.approval import ApprovalRequest, Approver, Choice, Decision
from io_harness.policy.load import load_policy, user_policy_file
from io_harness.policy.rules import SECRETS, Layer, Policy

__all__ = [
    "SECRETS",
    "ApprovalRequest",
    "Approver",
    "Choice",
    "Decision",
    "Layer",
    "Policy",
    "load_policy",
    "user_policy_file",
]
