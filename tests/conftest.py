"""What every test shares: Hypothesis profiles, and a header that says which kernel runs."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

# Time is never what a property asserts, and a shared machine makes a deadline a coin toss.
settings.register_profile("default", deadline=None)
settings.register_profile(
    "thorough",
    deadline=None,
    max_examples=10_000,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("default")
