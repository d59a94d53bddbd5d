# cython: language_level=3, embedsignature=True, embedsignature.format=python
# cython: auto_pickle=False, autotestdict=False, annotation_typing=False
# cython: boundscheck=False, wraparound=False, initializedcheck=False
"""The compiled kernel: the same as `_kernel_py.py`, which is its specification.

Every position, group and size that comes from Python is checked where it enters; inside, they
index plain C arrays.
"""

cimport cython
from cpython cimport array as c_array
from cpython.bytes cimport PyBytes_FromStringAndSize
from cpython.object cimport PyObject
from cpython.mem cimport PyMem_Free, PyMem_Malloc, PyMem_Realloc
from cpython.unicode cimport PyUnicode_READ_CHAR
from libc.stdint cimport INT64_MAX, INT64_MIN, int8_t, int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memcpy, memmove, memset

from array import array

from xxhash import xxh3_64_intdigest

cdef extern from "Python.h":
    Py_ssize_t PyUnicode_GET_LENGTH(object text)
    # The same for borrowed references, which Cython would else count at every use.
    Py_ssize_t length_of "PyUnicode_GET_LENGTH"(PyObject *text)
    bint is_ascii "PyUnicode_IS_COMPACT_ASCII"(PyObject *text)
    void *data_of "PyUnicode_DATA"(PyObject *text)
    Py_ssize_t PyUnicode_FindChar(object text, Py_UCS4 char, Py_ssize_t start, Py_ssize_t end, int direction)
    object PyUnicode_Substring(object text, Py_ssize_t start, Py_ssize_t end)
    Py_ssize_t PyUnicode_Tailmatch(object text, object part, Py_ssize_t start, Py_ssize_t end, int direction) except -1
    int PyUnicode_KIND(object text)
    void *PyUnicode_DATA(object text)
    object PyUnicode_FromKindAndData(int kind, const void *buffer, Py_ssize_t size)
    object PyUnicode_New(Py_ssize_t size, Py_UCS4 maxchar)
    PyObject *PyList_GET_ITEM(object items, Py_ssize_t index)
    PyObject *PyTuple_GET_ITEM(object items, Py_ssize_t index)
    long long PyLong_AsLongLongAndOverflow(object value, int *overflow) except? -1
    unsigned long long PyLong_AsUnsignedLongLong(object value) except? 0xffffffffffffffff

cdef enum:
    NONE = -1
    PLAIN = 0
    READ = 2
    WRITE = 3
    SEARCH = 4
    LIVE = 0
    SUPERSEDED = 1
    FAILED = 2
    CUT = 1
    REFRESHED = 2
    STUB = 4
    COLLAPSED = 8
    SHIFT = 4
    # Only here: the text was in a section, and was not changed since.
    SAME = 16
    MAX_COUNT = 0x7FFFFFFE
    MAX_TOP = 255
    MARGIN = 16

cdef enum:
    LINE = 32
    MAX_LINE = 0x40000000
    MAX_LAST = 0x7FFFFFFE

cdef int64_t MAX_SIZE = 0xFFFFFFFF
cdef int64_t END = <int64_t> 1 << 62
cdef int64_t MAX_CHARS = <int64_t> 1 << 62
cdef bint BARE[128]
for _code in range(128):
    BARE[_code] = chr(_code).isalnum() or chr(_code) in "_./@+~^*=%-"
cdef object MAX_KEY = 2**64 - 1
cdef c_array.array WORDS = array("q")

cdef struct Position:
    int64_t size
    int32_t before
    int32_t after
    int32_t gid
    int32_t seen
    int32_t parts
    int32_t stub_size
    int32_t stub_version
    int8_t state
    int8_t bits
    int8_t kind
    uint8_t top_size

cdef struct Segment:
    int64_t lo
    int64_t hi
    int32_t owner

cdef struct Span:
    const char *start
    Py_ssize_t length

# A section in the making: what each piece is, where the block and then each piece ends, and, as
# long as all is ASCII, what its text is to be copied from.
cdef struct Section:
    int64_t *codes
    int64_t *stops
    Span *spans
    Py_ssize_t at
    Py_ssize_t spans_used
    bint ascii

# The lines of a file are one segment, `only`, or several, `many`.
cdef struct Group:
    uint64_t hash
    Segment only
    Segment *many
    int32_t count
    int32_t capacity
    int32_t last
    int32_t version
    int32_t file_version
    int32_t write_version
    int32_t turn_of


# What comes from Python.

cdef int whole(str name, object value) except -1:
    if not isinstance(value, int):
        raise TypeError(f"{name} must be a whole number, got {type(value).__name__}")
    return 0


cdef int64_t clamped(str name, object value) except? -1:
    """A whole number, or the nearest that 64 bits hold."""
    cdef int overflow = 0
    whole(name, value)
    cdef int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow)
    if overflow:
        return INT64_MAX if overflow > 0 else INT64_MIN
    return number


cdef int64_t within(str name, object value, int64_t least, int64_t most) except? -2:
    cdef int overflow = 0
    whole(name, value)
    cdef int64_t number = PyLong_AsLongLongAndOverflow(value, &overflow)
    if overflow or not least <= number <= most:
        raise OverflowError(f"{name} must be from {least} to {most}, got {value}")
    return number


cdef uint64_t hashed(object key) except? 0:
    whole("key", key)
    if not 0 <= key <= MAX_KEY:
        raise OverflowError(f"key must be from 0 to {MAX_KEY}, got {key}")
    return PyLong_AsUnsignedLongLong(key)


cdef uint64_t hash_of(object subject) except? 0:
    """What `hash64` gives."""
    if is_ascii(<PyObject *> subject):
        data = PyBytes_FromStringAndSize(
            <const char *> PyUnicode_DATA(subject), PyUnicode_GET_LENGTH(subject)
        )
    else:
        data = subject.encode("utf-8", "surrogatepass")
    return PyLong_AsUnsignedLongLong(xxh3_64_intdigest(data))


cdef int text_of(str name, object value) except -1:
    if not isinstance(value, str):
        raise TypeError(f"{name} must be text, got {type(value).__name__}")
    return 0


# Cut points.

cdef inline bint splits_pair(object text, Py_ssize_t at) noexcept:
    return (
        0xD800 <= PyUnicode_READ_CHAR(text, at - 1) <= 0xDBFF
        and 0xDC00 <= PyUnicode_READ_CHAR(text, at) <= 0xDFFF
    )


def cut_head(text: str, size: int) -> int:
    """The end of the longest head of at most `size` code points that splits no surrogate pair."""
    text_of("text", text)
    cdef int64_t room = clamped("size", size)
    if room >= PyUnicode_GET_LENGTH(text):
        return PyUnicode_GET_LENGTH(text)
    if room <= 0:
        return 0
    return room - 1 if splits_pair(text, room) else room


def cut_tail(text: str, size: int) -> int:
    """The start of the longest tail of at most `size` code points that splits no pair."""
    text_of("text", text)
    cdef int64_t room = clamped("size", size)
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(text)
    if room >= length:
        return 0
    if room <= 0:
        return length
    return length - room + 1 if splits_pair(text, length - room) else length - room


def cut_lines(text: str, size: int) -> int:
    """The end of the whole lines that fit in `size`, their last line end left off; -1 for none."""
    text_of("text", text)
    cdef int64_t room = clamped("size", size)
    if room >= PyUnicode_GET_LENGTH(text):
        return PyUnicode_GET_LENGTH(text)
    if room < 0:
        return -1
    return PyUnicode_FindChar(text, 10, 0, room + 1, -1)


cdef Py_ssize_t count_bytes(const uint8_t *text, Py_ssize_t length) noexcept:
    """How many bytes are LF, in steps whose count fits a byte, so that 16 are compared at once."""
    cdef Py_ssize_t ends = 0, start = 0, index, stop
    cdef uint8_t few
    while start < length:
        stop = min(start + 128, length)
        few = 0
        for index in range(start, stop):
            few += text[index] == 10
        ends += few
        start = stop
    return ends


def count_lines(text: str) -> int:
    """Lines of a text; LF alone ends one, and a last one needs no end."""
    text_of("text", text)
    return lines_of(text)


cdef Py_ssize_t lines_of(object text) noexcept:
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(text), ends = 0, index
    if length == 0:
        return 0
    if PyUnicode_KIND(text) == 1:
        ends = count_bytes(<const uint8_t *> PyUnicode_DATA(text), length)
    else:
        for index in range(length):
            ends += PyUnicode_READ_CHAR(text, index) == 10
    return ends + (PyUnicode_READ_CHAR(text, length - 1) != 10)


cdef class Extent:
    """The lines that a text shows of a file.

    `last` is the last line shown whole, `inside` how many characters are shown of the line
    after it, `reached` whether the file's end is shown. `lo` and `hi` are where that starts and
    ends on the kernel's axis.
    """

    cdef readonly int64_t first, last, inside, lo, hi
    cdef readonly bint reached


cdef Extent made_extent(int64_t first, int64_t last, int64_t inside, bint reached):
    cdef Extent made = Extent.__new__(Extent)
    made.first = first
    made.last = last
    made.inside = inside
    made.reached = reached
    made.lo = first << LINE
    made.hi = END if reached else ((last + 1) << LINE) + inside
    return made


def extent(
    text: str, lines: tuple[int, int] | None, total: int | None, head: int | None = None
) -> Extent:
    """The lines shown of a read of `lines` that got `text` and shows its first `head` chars."""
    text_of("text", text)
    return shown_of(text, lines, total, head)


cdef Extent shown_of(object text, object lines, object total, object head):
    cdef int64_t first = 1, asked = 0, most = -1, last, count
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(text), kept, whole, start
    if lines is not None:
        first_asked, last_asked = lines
        first = within("the first line", first_asked, 0, MAX_LINE)
        asked = within("the last line", last_asked, 0, MAX_LINE)
    if total is not None:
        most = within("total", total, 0, MAX_LINE)
    if head is not None:
        kept = min(within("head", head, 0, MAX_CHARS), length)
        start = PyUnicode_FindChar(text, 10, 0, kept, -1) + 1
        whole = text.count("\n", 0, kept)
        if kept > start and (kept == length or PyUnicode_READ_CHAR(text, kept) == 10):
            return made_extent(first, first + whole, 0, False)
        return made_extent(first, first + whole - 1, kept - start, False)
    count = lines_of(text)
    last = first + count - 1
    if last > MAX_LAST:
        within("the last line shown", last, -1, MAX_LAST)
    if lines is None:
        return made_extent(first, last, 0, total is None or last >= most)
    return made_extent(
        first,
        last,
        0,
        count == 0 or last < asked or (total is not None and last >= most),
    )


def is_bare(text: str) -> bool:
    """Whether a text is letters, digits and `_./@+~^*=%-` of ASCII only, and any at all."""
    text_of("text", text)
    return bare(text)


cdef bint bare(object text) noexcept:
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(text), index
    cdef Py_UCS4 char
    for index in range(length):
        char = PyUnicode_READ_CHAR(text, index)
        if char >= 128 or not BARE[char]:
            return False
    return length > 0


cdef enum:
    MOST_VALUES = 8
    DIGITS = 20


cdef Py_ssize_t spelled(int64_t number, char *end) noexcept:
    """Write a number that is not negative before `end`; gives how many digits it has."""
    cdef Py_ssize_t count = 0
    while number or not count:
        count += 1
        end[-count] = 48 + number % 10
        number //= 10
    return count


def filled(words: tuple[str, ...], *values: int | str) -> str:
    """The words with a value after each but the last: a line in one piece, without its parts."""
    return line_of(words, values)


cdef object line_of(object words, tuple values):
    if not isinstance(words, tuple):
        raise TypeError(f"words must be a tuple, got {type(words).__name__}")
    if len(words) != len(values) + 1:
        raise ValueError(f"{len(words)} words need one value less, got {len(values)}")
    text_of("word", words[0])
    cdef char digits[MOST_VALUES * DIGITS]
    cdef Py_ssize_t lengths[MOST_VALUES]
    cdef Py_ssize_t count = len(values), index, total = PyUnicode_GET_LENGTH(words[0])
    cdef int64_t number
    cdef int overflow = 0
    cdef PyObject *part
    cdef char *place
    cdef bint plain = count <= MOST_VALUES and is_ascii(PyTuple_GET_ITEM(words, 0))
    for index in range(count if plain else 0):
        part = PyTuple_GET_ITEM(values, index)
        if isinstance(<object> part, str):
            plain = is_ascii(part)
            lengths[index] = length_of(part)
        elif isinstance(<object> part, int):
            number = PyLong_AsLongLongAndOverflow(<object> part, &overflow)
            plain = not overflow and number >= 0
            lengths[index] = spelled(number, digits + (index + 1) * DIGITS) if plain else 0
        else:
            plain = False
        part = PyTuple_GET_ITEM(words, index + 1)
        plain = plain and isinstance(<object> part, str) and is_ascii(part)
        if not plain:
            break
        total += lengths[index] + length_of(part)
    if not plain:
        return joined_words(words, values)
    text = PyUnicode_New(total, 127)
    place = <char *> PyUnicode_DATA(text)
    for index in range(count + 1):
        part = PyTuple_GET_ITEM(words, index)
        memcpy(place, data_of(part), length_of(part))
        place += length_of(part)
        if index < count:
            part = PyTuple_GET_ITEM(values, index)
            if isinstance(<object> part, str):
                memcpy(place, data_of(part), lengths[index])
            else:
                memcpy(place, digits + (index + 1) * DIGITS - lengths[index], lengths[index])
            place += lengths[index]
    return text


cdef object joined_words(tuple words, tuple values):
    """The same for what is not plain."""
    parts = [words[0]]
    for value, word in zip(values, words[1:]):
        if not isinstance(value, str):
            whole("value", value)
            value = f"{value:d}"
        text_of("word", word)
        parts.append(value)
        parts.append(word)
    return "".join(parts)


def grouped(number: int) -> str:
    """A count with a comma between thousands; Python's own format takes four times as long."""
    return thousands(number)


cdef object thousands(object number):
    cdef int64_t left = clamped("number", number)
    if not 0 <= left < 1_000_000_000:
        return f"{number:,}"
    cdef char digits[12]
    cdef int at = 12, count = 0
    while left or not count:
        if count and count % 3 == 0:
            at -= 1
            digits[at] = 44
        at -= 1
        digits[at] = 48 + left % 10
        left //= 10
        count += 1
    return PyUnicode_FromKindAndData(1, digits + at, 12 - at)


def has_any(text: str, signs: tuple[str, ...]) -> bool:
    """Whether a text has one of several signs, which all start with the same character."""
    text_of("text", text)
    return has_sign(text, signs)


cdef bint has_sign(object text, object signs) except -1:
    cdef Py_ssize_t length = PyUnicode_GET_LENGTH(text), at = 0
    cdef Py_UCS4 first
    if not signs:
        return False
    first = signs[0][0]
    while True:
        at = PyUnicode_FindChar(text, first, at, length, 1)
        if at < 0:
            return False
        for sign in signs:
            if PyUnicode_Tailmatch(text, sign, at, length, -1):
                return True
        at += 1


def plain_read(
    words: tuple[str, ...],
    signs: tuple[str, ...],
    step: int,
    target: str,
    text: str,
    lines: tuple[int, int] | None,
    total: int | None,
) -> tuple[str, Extent] | None:
    """A read's header and content in one piece, and the lines it shows, where all is plain.

    `words` are as in `filled`, around the step, the target, the first and the last line shown,
    the file's number of lines, and the content. `None` where that is not all there is to say, the
    target is not bare, or the content is not ASCII or has one of `signs`.
    """
    cdef Extent shown = plain_extent(signs, target, text, lines, total)
    return None if shown is None else (plain_text(words, step, target, text, total, shown), shown)


cdef Extent plain_extent(object signs, object target, object text, object lines, object total):
    """The lines shown of a read that is plain; `None` for another."""
    text_of("target", target)
    text_of("text", text)
    if not is_ascii(<PyObject *> text) or not bare(target) or has_sign(text, signs):
        return None
    cdef Extent shown = shown_of(text, lines, total, None)
    if (total is None and lines is not None) or shown.last < shown.first:
        return None
    return shown


cdef object plain_text(
    object words, object step, object target, object text, object total, Extent shown
):
    last = shown.last
    lines = last if total is None else total
    return line_of(words, (step, target, shown.first, last, lines, text))


cdef inline void put_text(Section *made, PyObject *text, int64_t code) noexcept:
    made.ascii = made.ascii and is_ascii(text)
    made.spans[made.spans_used] = Span(<const char *> data_of(text), length_of(text))
    made.spans_used += 1
    made.codes[made.at] = code
    made.stops[made.at + 1] = made.stops[made.at] + length_of(text)
    made.at += 1


cdef object copied(const Section *made):
    """The text of a section that is all ASCII."""
    cdef Py_ssize_t index
    text = PyUnicode_New(made.stops[made.at], 127)
    cdef char *place = <char *> PyUnicode_DATA(text)
    for index in range(made.spans_used):
        memcpy(place, made.spans[index].start, made.spans[index].length)
        place += made.spans[index].length
    return text


cdef void *grown(void *memory, Py_ssize_t count, Py_ssize_t width) except NULL:
    memory = PyMem_Realloc(memory, count * width)
    if memory == NULL:
        raise MemoryError
    return memory


cdef inline Py_ssize_t roomier(Py_ssize_t count) noexcept:
    """An eighth more, as Python's lists grow: amortised constant, and little is left unused."""
    return count + (count >> 3) + 6


@cython.final
cdef class Kernel:
    """The supersession index, the walk of the fit, and the emission of what it chose."""

    cdef Position *positions
    cdef Group *groups
    cdef int32_t *table
    cdef list texts
    cdef list subjects
    # The carried positions whose text was let go, and has to be set again.
    cdef readonly list missing
    # The section before, where it is all ASCII and nothing was cut: its text, what each piece is,
    # where it ends. The positions from `same_low` to `same_count` have the pieces from
    # `same_from` on.
    cdef object text_before
    cdef c_array.array order_before, ends_before
    cdef Py_ssize_t same_from
    cdef int32_t same_low, same_count
    cdef Py_ssize_t count, capacity, group_count, group_capacity, table_size
    cdef int64_t room, stub_room
    cdef int32_t newest_live, turn, writes, cursor, first, stub_cursor, low
    cdef int32_t first_before, low_before
    # What the walk before carried, see the twin.
    cdef int32_t walked, joint, kept_first
    cdef int64_t kept_used, kept_carried
    cdef bint stat
    cdef readonly int64_t live, live_chars, work, used, carried, stub_used, stub_count

    def __cinit__(self) -> None:
        self.texts = []
        self.subjects = []
        self.missing = []
        self.newest_live = self.cursor = self.first = self.stub_cursor = self.first_before = NONE
        self.walked = self.joint = self.kept_first = NONE
        self.table_size = 8
        self.table = <int32_t *> grown(NULL, self.table_size, sizeof(int32_t))
        memset(self.table, 0, self.table_size * sizeof(int32_t))

    def __dealloc__(self) -> None:
        cdef Py_ssize_t gid
        for gid in range(self.group_count):
            PyMem_Free(self.groups[gid].many)
        PyMem_Free(self.groups)
        PyMem_Free(self.positions)
        PyMem_Free(self.table)

    def __len__(self) -> int:
        return self.count

    # Groups.

    def group(self, key: int, subject: str) -> int:
        """The group of a subject, made where it is new; `key` is the 64-bit hash of it.

        The subject is compared on every hit, so that two subjects of one hash stay two groups.
        """
        text_of("subject", subject)
        return self.group_by(hashed(key), subject)

    def group_of(self, subject: str) -> int:
        """The group of a subject by its `hash64`, made where it is new."""
        text_of("subject", subject)
        return self.group_by(hash_of(subject), subject)

    cdef int32_t group_by(self, uint64_t hash_, object subject) except -2:
        cdef int32_t found = self.lookup(hash_, subject)
        if found != NONE:
            return found
        within("the number of groups", self.group_count, 0, MAX_COUNT)
        cdef Py_ssize_t room
        if self.group_count == self.group_capacity:
            room = roomier(self.group_count)
            self.groups = <Group *> grown(self.groups, room, sizeof(Group))
            self.group_capacity = room
        if 3 * (self.group_count + 1) > 2 * self.table_size:
            self.widen()
        self.subjects.append(subject)
        cdef Group *made = &self.groups[self.group_count]
        memset(made, 0, sizeof(Group))
        made.hash = hash_
        made.last = made.only.owner = NONE
        self.group_count += 1
        self.place(self.group_count)
        return self.group_count - 1

    cdef void place(self, Py_ssize_t entry) noexcept:
        """Put a group, by its number from 1 on, into a slot of the table."""
        cdef uint64_t mask = self.table_size - 1
        cdef uint64_t slot = self.groups[entry - 1].hash & mask
        while self.table[slot]:
            slot = (slot + 1) & mask
        self.table[slot] = entry

    cdef int widen(self) except -1:
        cdef Py_ssize_t size = 2 * self.table_size, entry
        cdef int32_t *table = <int32_t *> grown(NULL, size, sizeof(int32_t))
        memset(table, 0, size * sizeof(int32_t))
        PyMem_Free(self.table)
        self.table = table
        self.table_size = size
        for entry in range(1, self.group_count + 1):
            self.place(entry)
        return 0

    cdef int32_t lookup(self, uint64_t hash_, object subject) except -2:
        cdef uint64_t mask = self.table_size - 1, slot = hash_ & mask
        cdef int32_t gid
        while self.table[slot]:
            gid = self.table[slot] - 1
            if self.groups[gid].hash == hash_ and <str> self.subjects[gid] == <str> subject:
                return gid
            slot = (slot + 1) & mask
        return NONE

    def find(self, key: int, subject: str) -> int:
        """The group of a subject; -1 where there is none."""
        text_of("subject", subject)
        return self.lookup(hashed(key), subject)

    def subject(self, gid: int) -> str:
        """What a group was made for."""
        return self.subjects[self.group_at(gid)]

    def last(self, gid: int) -> int:
        """The newest position of a keyed group, or the newest write of a file; -1 for none."""
        return self.groups[self.group_at(gid)].last

    cdef int32_t group_at(self, object gid) except -1:
        cdef int64_t number = clamped("gid", gid)
        if not 0 <= number < self.group_count:
            raise IndexError(f"there is no group {gid}, there are {self.group_count}")
        return number

    cdef int32_t at(self, object position) except -1:
        cdef int64_t number = clamped("position", position)
        if not 0 <= number < self.count:
            raise IndexError(f"there is no position {position}, {self.count} have entered")
        return number

    cdef list paint(self, Group *group, int64_t lo, int64_t hi, int32_t position):
        """Give [lo, hi) of a file to a position; the owners that lost their last part."""
        cdef int32_t owner = group.only.owner
        self.positions[position].parts = 1
        if group.many == NULL:
            if owner == NONE or (lo <= group.only.lo and group.only.hi <= hi):
                group.only = Segment(lo, hi, position)
                if owner == NONE:
                    return []
                self.positions[owner].parts = 0
                return [owner]
            group.many = <Segment *> grown(NULL, 4, sizeof(Segment))
            group.many[0] = group.only
            group.count = 1
            group.capacity = 4
        gone = self.paint_over(group, lo, hi, position)
        if group.count == 1:
            group.only = group.many[0]
            PyMem_Free(group.many)
            group.many = NULL
        return gone

    cdef list paint_over(self, Group *group, int64_t lo, int64_t hi, int32_t position):
        cdef int32_t first = touching(group, lo), stop = first, index, owner, more, tail
        cdef Segment left, right
        cdef bint has_left = False, has_right = False
        cdef list gone = []
        while stop < group.count and group.many[stop].lo < hi:
            stop += 1
        if group.count + 2 > group.capacity:
            more = roomier(group.count + 2)
            group.many = <Segment *> grown(group.many, more, sizeof(Segment))
            group.capacity = more
        for index in range(first, stop):
            owner = group.many[index].owner
            self.positions[owner].parts -= 1
            if group.many[index].lo < lo:
                has_left = True
                left = Segment(group.many[index].lo, lo, owner)
                self.positions[owner].parts += 1
            if group.many[index].hi > hi:
                has_right = True
                right = Segment(hi, group.many[index].hi, owner)
                self.positions[owner].parts += 1
            if self.positions[owner].parts == 0:
                gone.append(owner)
        tail = first + 1 + has_left + has_right
        memmove(&group.many[tail], &group.many[stop], (group.count - stop) * sizeof(Segment))
        group.count += tail - stop
        if has_left:
            group.many[first] = left
            first += 1
        group.many[first] = Segment(lo, hi, position)
        if has_right:
            group.many[first + 1] = right
        return gone

    def covering(self, gid: int, lo: int, hi: int) -> list[int]:
        """The positions that show [lo, hi) of a file now, newest first."""
        cdef Group *group = &self.groups[self.group_at(gid)]
        cdef int64_t start = within("lo", lo, 0, INT64_MAX), stop = within("hi", hi, 0, INT64_MAX)
        cdef int32_t index
        if group.many == NULL:
            if group.only.owner != NONE and group.only.lo < stop and start < group.only.hi:
                return [group.only.owner]
            return []
        found = set()
        index = touching(group, start)
        while index < group.count and group.many[index].lo < stop:
            found.add(group.many[index].owner)
            index += 1
        return sorted(found, reverse=True)

    # Entering.

    def add(
        self, kind: int, gid: int, lo: int, hi: int, size: int, text: str | None, mark: int
    ) -> list[int]:
        """Enter the next position, newest of all; gives the positions it supersedes.

        `size` is in code points, arguments included. For a read `[lo, hi)` is what it shows, on
        an axis where line L starts at L << 32 and a line cut inside ends at (L << 32) + kept.
        A group of -1 is a question of its own, never superseded. `text` and `mark` are as in
        `show`.
        """
        cdef int8_t code = within("kind", kind, PLAIN, SEARCH)
        cdef int64_t start = within("lo", lo, 0, INT64_MAX), stop = within("hi", hi, 0, INT64_MAX)
        cdef int64_t chars = within("size", size, 0, MAX_SIZE)
        cdef int32_t number = NONE
        if clamped("gid", gid) != NONE:
            number = self.group_at(gid)
        within("the number of positions", self.count, 0, MAX_COUNT)
        cdef int8_t bits = within("mark", mark, 0, CUT | REFRESHED)
        if text is None:
            text = ""
            bits |= COLLAPSED
        else:
            text_of("text", text)
        return self.added(code, number, start, stop, chars, text, bits)

    def add_read(
        self,
        words: tuple[str, ...],
        signs: tuple[str, ...],
        step: int,
        target: str,
        text: str,
        lines: tuple[int, int] | None,
        total: int | None,
        subject: str,
        keeps: bool,
        fresh: bool,
    ) -> list[int] | None:
        """Enter a `plain_read`, as `add` does; `None` where it is none, and nothing entered.

        `subject` is its file's. `keeps`: the kernel keeps its text. `fresh`: it was looked at, as
        by `freshen`.
        """
        text_of("subject", subject)
        cdef int32_t number = self.group_by(hash_of(subject), subject), position = self.count
        cdef int64_t chars
        cdef Extent shown = plain_extent(signs, target, text, lines, total)
        if shown is None:
            return None
        made = plain_text(words, step, target, text, total, shown)
        within("the number of positions", self.count, 0, MAX_COUNT)
        chars = within("size", PyUnicode_GET_LENGTH(made), 0, MAX_SIZE)
        cdef list superseded = self.added(
            READ, number, shown.lo, shown.hi, chars, made if keeps else "", 0 if keeps else COLLAPSED
        )
        if fresh:
            self.positions[position].seen = self.wanted(&self.positions[position])
        return superseded

    cdef list added(
        self,
        int8_t code,
        int32_t number,
        int64_t start,
        int64_t stop,
        int64_t chars,
        object text,
        int8_t bits,
    ):
        """Enter the next position: as `add`, which has checked all of it."""
        cdef int32_t position = self.count
        self.append(code, number, chars, text, bits)
        if number == NONE:
            return []
        cdef Group *group = &self.groups[number]
        cdef list superseded = []
        group.version += 1
        if code == READ:
            if start < stop:
                superseded = self.paint(group, start, stop, position)
        else:
            if group.last != NONE:
                superseded.append(group.last)
            group.last = position
            if code == WRITE:
                self.walked = self.joint = NONE
                group.file_version += 1
                group.write_version = group.file_version
                self.writes += 1
        for old in superseded:
            self.retire(old, SUPERSEDED)
        return superseded

    cdef int append(
        self, int8_t kind, int32_t gid, int64_t size, object text, int8_t bits
    ) except -1:
        cdef Py_ssize_t room
        if self.count == self.capacity:
            room = roomier(self.count)
            self.positions = <Position *> grown(self.positions, room, sizeof(Position))
            self.capacity = room
        self.texts.append(text)
        cdef Position *new = &self.positions[self.count]
        new.size = size
        new.before = self.newest_live
        new.after = NONE
        new.gid = gid
        new.seen = NONE
        new.parts = new.stub_size = new.stub_version = 0
        new.state = LIVE
        new.bits = bits
        new.kind = kind
        new.top_size = 0
        if self.newest_live != NONE:
            self.positions[self.newest_live].after = self.count
        self.newest_live = self.count
        self.count += 1
        self.work += 1
        self.live += 1
        self.live_chars += size
        return 0

    cdef int retire(self, int32_t position, int8_t state) except -1:
        cdef Position *old = &self.positions[position]
        if old.state == LIVE:
            self.joint = NONE
            if self.first <= position <= self.walked:
                self.used -= old.size
                self.carried -= 1
                if position == self.walked:
                    self.walked = old.before if self.carried else NONE
            if old.before != NONE:
                self.positions[old.before].after = old.after
            if old.after != NONE:
                self.positions[old.after].before = old.before
            else:
                self.newest_live = old.before
            if self.cursor == position:
                self.cursor = old.before
            if self.first == position:
                self.first = old.after
            self.live -= 1
            self.live_chars -= old.size
        old.state = state
        top = self.top_of(position) if position >= self.low_before else ""
        self.let_go(position)
        self.texts[position] = top
        return 0

    cdef int let_go(self, int32_t position) except -1:
        self.texts[position] = ""
        self.positions[position].bits = self.positions[position].bits & ~(STUB | SAME) | COLLAPSED
        return 0

    # What Python hands over for a position.

    def show(self, position: int, text: str | None, size: int, mark: int) -> None:
        """Set the text shown where a position is carried, its size, and CUT or REFRESHED.

        Without a text the position is `missing` once it is carried.
        """
        cdef int32_t number = self.at(position)
        cdef int64_t chars = within("size", size, 0, MAX_SIZE)
        cdef int8_t bits = within("mark", mark, 0, CUT | REFRESHED)
        if text is None:
            text = ""
            bits |= COLLAPSED
        else:
            text_of("text", text)
        cdef Position *shown = &self.positions[number]
        if shown.state == LIVE:
            self.live_chars += chars - shown.size
            if number <= self.walked or number <= self.joint:
                self.walked = self.joint = NONE
        shown.size = chars
        shown.bits = bits
        self.texts[number] = text

    def set_stub(self, position: int, text: str, size: int) -> None:
        """Set the one line that stands for a position now; it is asked for again when wrong."""
        cdef int32_t number = self.at(position)
        cdef int32_t chars = within("size", size, 0, MAX_COUNT)
        text_of("text", text)
        self.stand(number, text, chars)

    def set_below(
        self, position: int, more: int, words: tuple[str, ...], *values: int | str
    ) -> bool:
        """Set a stub that begins with `top`; False where there is none, and nothing was set.

        `words` are as in `filled`, around the top and the values; `more` is the size of what goes
        with the stub.
        """
        cdef int32_t number = self.at(position)
        top = self.top_of(number)
        cdef int64_t size = within("more", more, 0, MAX_COUNT)
        if not top:
            return False
        text = line_of(words, (top, *values))
        size += PyUnicode_GET_LENGTH(text)
        self.stand(number, text, within("size", size, 0, MAX_COUNT))
        if PyUnicode_GET_LENGTH(top) <= MAX_TOP:
            self.positions[number].top_size = PyUnicode_GET_LENGTH(top)
        return True

    cdef int stand(self, int32_t number, object text, int32_t chars) except -1:
        cdef Position *shown = &self.positions[number]
        shown.stub_size = chars
        shown.stub_version = self.stub_wanted(shown)
        shown.top_size = 0
        shown.bits = shown.bits & ~(COLLAPSED | SAME) | STUB
        self.texts[number] = text
        return 0

    cdef inline int32_t stub_wanted(self, Position *position) noexcept:
        """What a stub's words depend on: the answers that came later."""
        return self.groups[position.gid].version if position.state == SUPERSEDED else 0

    def top(self, position: int) -> str:
        """The first line of a carried text, its closing bracket left off: how a stub begins.

        Kept for a turn after the position was retired, and in a stub that `set_below` set; ""
        where no such text is held.
        """
        return self.top_of(self.at(position))

    cdef object top_of(self, int32_t position):
        cdef Py_ssize_t end
        text = self.texts[position]
        if self.positions[position].bits & STUB:
            return PyUnicode_Substring(text, 0, self.positions[position].top_size)
        end = PyUnicode_FindChar(text, 10, 0, PyUnicode_GET_LENGTH(text), 1)
        return text if end < 0 else PyUnicode_Substring(text, 0, max(end - 1, 0))

    def fail(self, position: int) -> None:
        """A refresh failed: the position leaves the live ones."""
        self.retire(self.at(position), FAILED)

    def state(self, position: int) -> int:
        """LIVE, SUPERSEDED or FAILED."""
        return self.positions[self.at(position)].state

    def mark(self, position: int) -> int:
        """CUT and REFRESHED, or 0."""
        return self.positions[self.at(position)].bits & (CUT | REFRESHED)

    def size(self, position: int) -> int:
        """The code points of a position where it is carried, arguments included."""
        return self.positions[self.at(position)].size

    def newest(self) -> int:
        """The newest live position; -1 for none."""
        return self.newest_live

    def before(self, position: int) -> int:
        """The live position before a live one; -1 for none."""
        return self.positions[self.at(position)].before

    def gid(self, position: int) -> int:
        """The group of a position; -1 for none."""
        return self.positions[self.at(position)].gid

    def kind(self, position: int) -> int:
        """PLAIN, KEYED, READ, WRITE or SEARCH."""
        return self.positions[self.at(position)].kind

    def replaced_by(self, position: int) -> int:
        """The position that answers instead: itself while it is live; -1 for none, or several."""
        cdef int32_t number = self.at(position)
        cdef Position *asked = &self.positions[number]
        cdef Group *group
        if asked.state != SUPERSEDED:
            return number if asked.state == LIVE else NONE
        group = &self.groups[asked.gid]
        if asked.kind != READ:
            return group.last
        return group.only.owner if group.many == NULL else NONE

    # Freshness of files.

    def file_version(self, gid: int) -> int:
        """How often a file is known to have changed."""
        return self.groups[self.group_at(gid)].file_version

    def write_version(self, gid: int) -> int:
        """What `file_version` was right after the newest write of a file; 0 for none."""
        return self.groups[self.group_at(gid)].write_version

    def touch(self, gid: int) -> None:
        """A file may have changed: what was seen of it must be looked at again."""
        self.groups[self.group_at(gid)].file_version += 1
        self.walked = self.joint = NONE

    def freshen(self, position: int) -> None:
        """A read or search was looked at, and is shown as things now are."""
        cdef Position *seen = &self.positions[self.at(position)]
        seen.seen = self.wanted(seen)

    def is_fresh(self, position: int) -> bool:
        """Whether a read or search was looked at since anything changed for it."""
        cdef Position *seen = &self.positions[self.at(position)]
        return seen.seen == self.wanted(seen)

    def unseen_write(self, position: int) -> bool:
        """Whether a later write of a read's file has not been looked at yet."""
        cdef int32_t number = self.at(position)
        cdef int32_t gid = self.positions[number].gid
        if gid == NONE or self.groups[gid].last <= number:
            return False
        return self.positions[number].seen < self.groups[gid].write_version

    cdef inline int32_t wanted(self, Position *position) noexcept:
        if position.kind == READ and position.gid != NONE:
            return self.groups[position.gid].file_version
        return self.writes if position.kind == SEARCH else NONE

    def checked(self, gid: int) -> None:
        """A file's signature was looked at in this turn."""
        self.groups[self.group_at(gid)].turn_of = self.turn

    # The fit.

    def start(self, room: int, turn: int, stat: bool) -> int:
        """Begin the walk from the newest live position; gives what `walk` gives.

        `stat`: every file is looked at once a turn.
        """
        self.room = clamped("room", room)
        self.turn = within("turn", turn, 0, MAX_COUNT)
        self.stat = stat
        self.joint = NONE if stat or self.missing else self.walked
        self.kept_first, self.kept_used, self.kept_carried = self.first, self.used, self.carried
        self.walked = NONE
        self.cursor = self.newest_live
        self.first = NONE
        self.missing = []
        self.used = 0
        self.carried = 0
        return self.walk_on()

    def walk(self) -> int:
        """Go on until a read or search must be looked at (its position) or the walk ends (-1)."""
        return self.walk_on()

    cdef int32_t walk_on(self) except -2:
        cdef int32_t position = self.cursor
        cdef Position *here
        if position == NONE:
            return NONE
        self.cursor = NONE
        while position != NONE:
            if position == self.joint:
                position = self.take_over()
                continue
            here = &self.positions[position]
            if here.seen != self.wanted(here) or self.unchecked(here):
                self.cursor = position
                return position
            self.work += 1
            if self.used + here.size > self.room:
                break
            if here.bits & (STUB | COLLAPSED):
                self.missing.append(position)
            self.used += here.size
            self.carried += 1
            self.first = position
            position = here.before
        self.walked = self.newest_live if self.carried else NONE
        return NONE

    cdef int32_t take_over(self) noexcept:
        """Carry what the walk before did, without its oldest where they do not fit any more.

        Gives the position to go on from; -1 where some did not fit.
        """
        cdef int32_t first = self.kept_first, older = self.positions[first].before
        self.joint = NONE
        while self.kept_carried and self.used + self.kept_used > self.room:
            self.kept_used -= self.positions[first].size
            self.kept_carried -= 1
            first = self.positions[first].after
            older = NONE
            self.work += 1
        if self.kept_carried:
            self.used += self.kept_used
            self.carried += self.kept_carried
            self.first = first
        return older

    cdef inline bint unchecked(self, Position *position) noexcept:
        if not self.stat or position.kind != READ or position.gid == NONE:
            return False
        return self.groups[position.gid].turn_of != self.turn

    def start_stubs(self, room: int, cut: int) -> int:
        """Begin the stubs, newest first; gives what `stubs` gives.

        `cut` is the size of the newest live one where it is carried all the same, cut; else -1.
        """
        self.stub_room = clamped("room", room)
        cdef int64_t size = within("cut", cut, -1, MAX_SIZE)
        if size >= 0 and self.newest_live != NONE:
            self.first = self.newest_live
            self.carried = 1
            self.used = size
            self.walked = NONE
        self.stub_cursor = self.count - 1
        self.stub_used = 0
        self.stub_count = 0
        self.low = self.count
        return self.stubs_on()

    def stubs(self) -> int:
        """Go on until a stub's line must be made (its position) or no more fits (-1)."""
        return self.stubs_on()

    cdef int32_t stubs_on(self) noexcept:
        cdef int32_t start = self.stub_cursor, position = start, count = 0
        cdef int32_t first = self.first if self.first != NONE else self.count
        cdef int64_t left = self.stub_room - self.stub_used
        cdef Position *here
        if start == NONE:
            return NONE
        self.stub_cursor = NONE
        while position >= 0:
            here = &self.positions[position]
            if position < first or here.state != LIVE:
                if not here.bits & STUB or here.stub_version != self.stub_wanted(here):
                    self.stub_cursor = position
                    break
                if here.stub_size > left:
                    self.work += 1
                    break
                left -= here.stub_size
                count += 1
            position -= 1
        self.stub_used = self.stub_room - left
        self.stub_count += count
        self.work += start - position
        self.low = position + 1
        return self.stub_cursor

    @property
    def hidden(self) -> int:
        """How many are neither carried nor a stub."""
        return self.count - self.carried - self.stub_count

    def emit(
        self, block: str, collapsed: tuple[str, ...], cut: str | None, since: int
    ) -> tuple[str, array[int], Texts, Counts]:
        """The section: `block` and the chosen texts in order; what each is; those texts.

        What it is: a position << 4 with CUT, REFRESHED, STUB or COLLAPSED. `collapsed` are the
        words around the count of those `hidden`, as in `filled`: the line at the place of the
        oldest of them. `cut` stands for the text of the newest live position where that had to
        be cut. The last value is an account; `since` is what `work` was before the turn.
        """
        text_of("block", block)
        cdef int64_t hidden = self.count - self.carried - self.stub_count
        line = line_of(collapsed, (thousands(hidden),)) if hidden else ""
        if cut is not None:
            text_of("cut", cut)
        cdef int64_t work = self.work - within("since", since, 0, INT64_MAX)
        cdef int64_t chars = PyUnicode_GET_LENGTH(block) + self.used + self.stub_used
        chars += PyUnicode_GET_LENGTH(line)
        cdef Py_ssize_t total = self.count - self.low + (1 if hidden else 0), line_at = NONE
        cdef int32_t position = self.first, oldest = 0
        while position != NONE and position < self.low:
            total += 1
            position = self.positions[position].after
        cdef c_array.array order = c_array.clone(WORDS, total, False)
        cdef c_array.array ends = c_array.clone(WORDS, total + 1, False)
        cdef Section made
        made.codes = <int64_t *> order.data.as_longlongs
        made.stops = <int64_t *> ends.data.as_longlongs
        made.spans = <Span *> grown(NULL, total + 1, sizeof(Span))
        made.spans[0] = Span(<const char *> PyUnicode_DATA(block), PyUnicode_GET_LENGTH(block))
        made.stops[0] = PyUnicode_GET_LENGTH(block)
        made.ascii = is_ascii(<PyObject *> block)
        made.spans_used = 1
        made.at = 0
        position = self.first
        if line:
            while position == oldest and oldest < self.low:
                self.put(&made, position, cut)
                position = self.positions[position].after
                oldest += 1
            line_at = made.at
            put_text(&made, <PyObject *> line, <int64_t> oldest << SHIFT | COLLAPSED)
        while position != NONE and position < self.low:
            self.put(&made, position, cut)
            position = self.positions[position].after
        # Held until it was copied from; no text is the same as there once this section stands.
        before = self.text_before if cut is None else None
        cdef Py_ssize_t same_from = made.at
        self.put_window(&made, cut, before)
        self.text_before = None
        try:
            if made.ascii:
                text = copied(&made)
            else:
                text = "".join([block, *[
                    line if at == line_at else <object> self.shown(code >> SHIFT, cut)
                    for at, code in enumerate(order)
                ]])
        finally:
            PyMem_Free(made.spans)
        if made.ascii and cut is None:
            self.text_before, self.order_before, self.ends_before = text, order, ends
            self.same_from, self.same_low, self.same_count = same_from, self.low, self.count
        self.release()
        return text, order, ends, (self.carried, self.count, hidden, chars, work, total)

    cdef inline PyObject *shown(self, int32_t position, object cut) noexcept:
        if cut is not None and position == self.newest_live:
            return <PyObject *> cut
        return PyList_GET_ITEM(self.texts, position)

    cdef inline void put(self, Section *made, int32_t position, object cut) noexcept:
        cdef int64_t code = <int64_t> position << SHIFT | self.positions[position].bits & ~SAME
        put_text(made, self.shown(position, cut), code)

    cdef void put_window(self, Section *made, object cut, object before) noexcept:
        """Every position from `low` on.

        What followed each other in the section before, and is as it was, is copied from there in
        one piece.
        """
        cdef int32_t position = self.low, stop, same_count = 0
        if before is not None:
            same_count = self.same_count
        while position < self.count:
            stop = position
            if position >= self.same_low:
                while stop < same_count and self.positions[stop].bits & SAME:
                    stop += 1
            if stop > position:
                self.put_same(made, before, position, stop)
                position = stop
                continue
            self.put(made, position, cut)
            self.positions[position].bits |= SAME
            position += 1

    cdef void put_same(self, Section *made, object before, int32_t start, int32_t stop) noexcept:
        """The positions from `start` to `stop`, which stand in the section before."""
        cdef Py_ssize_t first = self.same_from + start - self.same_low, count = stop - start, index
        cdef int64_t *stops = <int64_t *> self.ends_before.data.as_longlongs + first
        cdef int64_t *ends = made.stops + made.at
        cdef int64_t moved = ends[0] - stops[0]
        cdef int64_t *codes = <int64_t *> self.order_before.data.as_longlongs + first
        memcpy(made.codes + made.at, codes, count * sizeof(int64_t))
        for index in range(1, count + 1):
            ends[index] = stops[index] + moved
        made.spans[made.spans_used] = Span(
            <const char *> PyUnicode_DATA(before) + stops[0], stops[count] - stops[0]
        )
        made.spans_used += 1
        made.at += count

    cdef int release(self) except -1:
        """Let go the texts of what is no longer shown, so that a long run holds only a window.

        The last ones are kept: a stub that had no room this turn may have some in the next.
        """
        cdef int32_t first = self.first if self.first != NONE else self.count
        cdef int32_t position = self.newest_live, low = max(self.low - MARGIN, 0)
        if self.first != NONE:
            position = self.positions[first].before
        while position != NONE and (
            not self.positions[position].bits & (STUB | COLLAPSED)
            or 0 <= self.first_before <= position
        ):
            if position < low:
                self.let_go(position)
            position = self.positions[position].before
        self.first_before = self.first
        for position in range(self.low_before, low):
            if position < first or self.positions[position].state != LIVE:
                self.let_go(position)
        self.low_before = low
        return 0


cdef int32_t touching(Group *group, int64_t lo) noexcept:
    """The first of several segments that ends after `lo`."""
    cdef int32_t low = 0, high = group.count, middle
    while low < high:
        middle = low + (high - low) // 2
        if group.many[middle].hi <= lo:
            low = middle + 1
        else:
            high = middle
    return low
