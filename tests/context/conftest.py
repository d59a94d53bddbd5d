"""One fixture runs every kernel test on both kernels."""

from __future__ import annotations

import pytest

from .flavours import COMPILED, NO_COMPILED, TWIN, Flavour


@pytest.fixture(params=["twin", "compiled"])
def flavour(request: pytest.FixtureRequest) -> Flavour:
    """Either kernel; the compiled one where it was built."""
    if request.param == "twin":
        return TWIN
    if COMPILED is None:
        pytest.skip(NO_COMPILED)
    return COMPILED
