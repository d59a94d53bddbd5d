"""Groups: what answers one question, and which position shows which lines of a file."""

from __future__ import annotations

from array import array
from bisect import bisect_right
from typing import TypeAlias

from xxhash import xxh3_64_intdigest

NONE = -1
MAX_COUNT = 2**31 - 2
MAX_AXIS = 2**63 - 1
MAX_KEY = 2**64 - 1

Segments: TypeAlias = "tuple[array[int], array[int], array[int]]"


def whole(name: str, value: int) -> int:
    """A whole number, of any size."""
    if not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, got {type(value).__name__}")
    return value


def text_of(name: str, value: str) -> str:
    """A text."""
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, got {type(value).__name__}")
    return value


def within(name: str, value: int, least: int, most: int) -> int:
    """A whole number that the compiled kernel can hold, too."""
    if not isinstance(value, int):
        whole(name, value)
    if not least <= value <= most:
        raise OverflowError(f"{name} must be from {least} to {most}, got {value}")
    return value


def hash64(subject: str) -> int:
    """A 64-bit hash that is the same in every process."""
    return xxh3_64_intdigest(subject.encode("utf-8", "surrogatepass"))


class Index:
    """The supersession index by hashed subject, half of the kernel in plain Python.

    Lines are intervals on one axis, where line L starts at L << 32. Each point of a file's axis
    belongs to the newest position that shows it; a position whose last part is taken over is
    superseded.
    """

    def __init__(self) -> None:
        """No group yet."""
        self._parts = array("i")
        self._hash = array("Q")
        self._last = array("i")
        self._version = array("i")
        self._file_version = array("i")
        self._write_version = array("i")
        self._turn_of = array("i")
        self._lo = array("q")
        self._hi = array("q")
        self._owner = array("i")
        self._subject: list[str] = []
        self._segments: dict[int, Segments] = {}
        self._table = array("i", [0] * 8)

    def group(self, key: int, subject: str) -> int:
        """The group of a subject, made where it is new; `key` is the 64-bit hash of it.

        The subject is compared on every hit, so that two subjects of one hash stay two groups.
        """
        found = self.find(key, subject)
        if found != NONE:
            return found
        gid = within("the number of groups", len(self._hash), 0, MAX_COUNT)
        self._hash.append(key)
        self._subject.append(subject)
        for column in (self._last, self._owner):
            column.append(NONE)
        for column in (self._version, self._file_version, self._write_version, self._turn_of):
            column.append(0)
        self._lo.append(0)
        self._hi.append(0)
        self._table[self._free_slot(self._table, key)] = gid + 1
        if 3 * len(self._hash) > 2 * len(self._table):
            self._grow()
        return gid

    def group_of(self, subject: str) -> int:
        """The group of a subject by its `hash64`, made where it is new."""
        return self.group(hash64(text_of("subject", subject)), subject)

    def _grow(self) -> None:
        table = array("i", [0]) * (2 * len(self._table))
        for gid, key in enumerate(self._hash):
            table[self._free_slot(table, key)] = gid + 1
        self._table = table

    @staticmethod
    def _free_slot(table: array[int], key: int) -> int:
        mask = len(table) - 1
        slot = key & mask
        while table[slot]:
            slot = (slot + 1) & mask
        return slot

    def find(self, key: int, subject: str) -> int:
        """The group of a subject; -1 where there is none."""
        text_of("subject", subject)
        mask = len(self._table) - 1
        slot = within("key", key, 0, MAX_KEY) & mask
        while found := self._table[slot]:
            if self._hash[found - 1] == key and self._subject[found - 1] == subject:
                return found - 1
            slot = (slot + 1) & mask
        return NONE

    def subject(self, gid: int) -> str:
        """What a group was made for."""
        return self._subject[self._group(gid)]

    def last(self, gid: int) -> int:
        """The newest position of a keyed group, or the newest write of a file; -1 for none."""
        return self._last[self._group(gid)]

    def file_version(self, gid: int) -> int:
        """How often a file is known to have changed."""
        return self._file_version[self._group(gid)]

    def write_version(self, gid: int) -> int:
        """What `file_version` was right after the newest write of a file; 0 for none."""
        return self._write_version[self._group(gid)]

    def _group(self, gid: int) -> int:
        """A group that exists."""
        if not 0 <= whole("gid", gid) < len(self._hash):
            raise IndexError(f"there is no group {gid}, there are {len(self._hash)}")
        return gid

    def _paint(self, gid: int, lo: int, hi: int, position: int) -> list[int]:
        """Give [lo, hi) of a file to a position; the owners that lost their last part."""
        self._parts[position] = 1
        segments = self._segments.get(gid)
        if segments is None:
            owner = self._owner[gid]
            if owner == NONE or (lo <= self._lo[gid] and self._hi[gid] <= hi):
                self._lo[gid], self._hi[gid], self._owner[gid] = lo, hi, position
                if owner == NONE:
                    return []
                self._parts[owner] = 0
                return [owner]
            segments = (
                array("q", [self._lo[gid]]),
                array("q", [self._hi[gid]]),
                array("i", [owner]),
            )
            self._segments[gid] = segments
        gone = self._paint_over(segments, lo, hi, position)
        starts, ends, owners = segments
        if len(starts) == 1:
            self._lo[gid], self._hi[gid], self._owner[gid] = starts[0], ends[0], owners[0]
            del self._segments[gid]
        return gone

    def _paint_over(self, segments: Segments, lo: int, hi: int, position: int) -> list[int]:
        starts, ends, owners = segments
        stop = first = bisect_right(ends, lo)
        while stop < len(starts) and starts[stop] < hi:
            stop += 1
        new = [(lo, hi, position)]
        gone = []
        for index in range(first, stop):
            owner = owners[index]
            self._parts[owner] -= 1
            if starts[index] < lo:
                new.insert(0, (starts[index], lo, owner))
                self._parts[owner] += 1
            if ends[index] > hi:
                new.append((hi, ends[index], owner))
                self._parts[owner] += 1
            if self._parts[owner] == 0:
                gone.append(owner)
        starts[first:stop] = array("q", [part[0] for part in new])
        ends[first:stop] = array("q", [part[1] for part in new])
        owners[first:stop] = array("i", [part[2] for part in new])
        return gone

    def covering(self, gid: int, lo: int, hi: int) -> list[int]:
        """The positions that show [lo, hi) of a file now, newest first."""
        gid = self._group(gid)
        lo, hi = within("lo", lo, 0, MAX_AXIS), within("hi", hi, 0, MAX_AXIS)
        segments = self._segments.get(gid)
        if segments is None:
            owner = self._owner[gid]
            hit = owner != NONE and self._lo[gid] < hi and lo < self._hi[gid]
            return [owner] if hit else []
        starts, ends, owners = segments
        index = bisect_right(ends, lo)
        found = set()
        while index < len(starts) and starts[index] < hi:
            found.add(owners[index])
            index += 1
        return sorted(found, reverse=True)
