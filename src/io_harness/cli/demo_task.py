"""The demo's task: a small shop with three bugs, and what a scripted agent does about them."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path

from io_harness.providers import Turn
from io_harness.types import JSON, ToolCall

CHECK = (sys.executable, "check.py")
PRIVATE = "private/*"

_FUNCTION = '''\
def {name}_{n}(amount, rate={n}):
    """Rule {n} for {name}: what is due on an amount."""
    due = amount * rate
    return max(due, {n})


'''
_CHECK = """\
from shop import prices, report, stock

assert prices.discounted(200, 10) == 180, "prices.discounted(200, 10) should be 180"
assert stock.left(5, 7) == 0, "stock.left(5, 7) should be 0"
assert report.title("may") == "Report: May", "report.title should start with a capital"
print("all is well")
"""
_BUGS = {
    "prices": ("return price - percent", "return price - price * percent // 100"),
    "stock": ("return held - sold", "return max(0, held - sold)"),
    "report": ('return "Report: " + month', 'return "Report: " + month.capitalize()'),
}
_HEADS = {
    "prices": "def discounted(price, percent):\n    {}\n\n\n",
    "stock": "def left(held, sold):\n    {}\n\n\n",
    "report": "def title(month):\n    {}\n\n\n",
    "orders": "ORDERS = []\n\n\n",
}


def make_workspace(root: Path) -> None:
    """Write the shop's files into a new directory."""
    (root / "shop").mkdir(parents=True)
    (root / "private").mkdir()
    (root / "shop" / "__init__.py").write_text("")
    for name, head in _HEADS.items():
        rules = "".join(_FUNCTION.format(name=name, n=n) for n in range(1, 25))
        bug = _BUGS.get(name, ("", ""))[0]
        (root / "shop" / f"{name}.py").write_text(head.format(bug) + rules)
    (root / "private" / "owner.txt").write_text("Owner: Ada\nPhone: 0123\n")
    (root / "check.py").write_text(_CHECK)


def first_run() -> list[Turn]:
    """The turns of the run that mends the shop."""
    check = _call("run_command", argv=list(CHECK))
    return [
        [_call("list_dir", path="shop"), _read("shop/prices.py")],
        [_read("shop/stock.py"), _read("shop/orders.py")],
        check,
        _call("grep", pattern="def discounted", path="shop"),
        _read("shop/prices.py", offset=1, limit=40),
        _mend("prices"),
        check,
        _read("shop/stock.py", offset=1, limit=30),
        _mend("stock"),
        _read("private/owner.txt"),
        _call("edit_file", path="private/owner.txt", old="0123", new="0456"),
        check,
        _read("shop/report.py"),
        _mend("report"),
        _call("remember", key="how to check", value=f"run `{shlex.join(CHECK)}` in the root"),
        _read("shop/orders.py"),
        _call("show", step=2, call=1, limit=600),
        check,
        _read("shop/prices.py"),
        _call("find", pattern="*.py"),
        _read("shop/stock.py"),
        _call("write_file", path="CHANGES.md", content="# Changes\n\nMended three bugs.\n"),
        _read("CHANGES.md"),
        _call("remember", key="layout", value="one module a concern in shop/, see CHANGES.md"),
        _read("shop/report.py", offset=1, limit=20),
        "The three bugs are mended and the check passes.",
    ]


def second_run() -> list[Turn]:
    """The turns of a later run over the same workspace."""
    return [
        _call("run_command", argv=list(CHECK)),
        "Still well: my notes said how to check.",
    ]


def _call(tool: str, **arguments: JSON) -> ToolCall:
    return ToolCall("", tool, arguments)


def _read(path: str, **lines: JSON) -> ToolCall:
    return _call("read_file", path=path, **lines)


def _mend(name: str) -> ToolCall:
    old, new = _BUGS[name]
    return _call("edit_file", path=f"shop/{name}.py", old=old, new=new)
