"""How far the estimate was from what a provider reported."""

from __future__ import annotations

from io_harness.context.estimate import Calibration


def learned(*ratios: float) -> Calibration:
    calibration = Calibration()
    for ratio in ratios:
        calibration.learn(1_000, round(ratio * 1_000))
    return calibration


def test_nothing_is_known_before_three_reports() -> None:
    assert learned(1.5, 1.5).ratio == 1.0
    assert learned(1.5, 1.5, 1.5).ratio == 1.5


def test_one_outlier_never_moves_it() -> None:
    assert learned(1.4, 1_000_000.0, 1.4).ratio == 1.4
    assert learned(1.4, 1.4, 1.4, 1.4, 0.0001).ratio == 1.4


def test_false_reports_stay_within_the_clamp() -> None:
    assert learned(*[1e9] * 8).ratio == 3.0
    assert learned(*[0.001] * 8).ratio == 0.5


def test_what_was_not_reported_teaches_nothing() -> None:
    calibration = learned(1.4, 1.4, 1.4)
    calibration.learn(1_000, None)
    calibration.learn(0, 500)
    assert calibration.ratio == 1.4
    assert calibration.ceiling(24_000) == 17_142
