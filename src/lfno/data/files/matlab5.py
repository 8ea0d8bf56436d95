"""Read MATLAB files of versions 5 to 7 byte by byte, so that a damaged or hostile file can only raise an error.

A file is a header of 128 bytes and a sequence of elements (type, size, data). A variable is an element of type matrix, usually
inside an element of type compressed. A matrix is again a sequence of elements: flags, dimensions, name and values. The values
are in column-major order and stored in the smallest type that holds them.
"""

from __future__ import annotations

import math
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from lfno.core.errors import LfnoError
from lfno.core.memory import refuse_bomb
from lfno.data.files.variables import Variable

# types of elements
MATRIX = 14
COMPRESSED = 15
# classes of arrays
CELL = 1
STRUCT = 2
OLD_OBJECT = 3
OBJECT = 17
#: type of an element -> dtype of the stored values
STORED = {1: "i1", 2: "u1", 3: "i2", 4: "u2", 5: "i4", 6: "u4", 7: "f4", 9: "f8", 12: "i8", 13: "u8"}
#: class of an array -> dtype of the values in MATLAB
CLASSES = {6: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8", 15: "u8"}
#: class of an array that is not read -> its description for the user
OTHERS = {4: "text", 5: "a sparse matrix", 16: "a function"}
HEAD = 4096  # bytes: enough for the head of any matrix, so that the values need not be read
DEPTH = 8  # levels: cells and structures that are nested more deeply are left out
MOST_ELEMENTS = 10_000  # elements: a cell or structure array with more is left out


@dataclass(frozen=True)
class Head:
    """The head of a matrix: everything before its values.

    kind: class of the array (a key of CLASSES, CELL, STRUCT, …).
    flags: bits; 8 for complex values, 2 for logical values.
    shape: shape of the array; empty for an object.
    name: name of the variable; empty for an element of a cell or structure.
    at: the byte at which the values begin.
    of: name of the class of an object; empty for other matrices.
    """

    kind: int
    flags: int
    shape: tuple[int, ...]
    name: str
    at: int
    of: str = ""

    @property
    def dtype(self) -> np.dtype:
        if self.flags & 8:
            return np.dtype(complex)
        return np.dtype(bool if self.flags & 2 else CLASSES[self.kind])


def matrices(path: Path, notes: list[str], objects: dict[str, str]) -> Iterator[Variable]:
    """Yield the numeric arrays of the file. `_walk` gives names to the elements of cells and structures.

    notes: receives a sentence for each variable that is left out.
    objects: receives the variables that are or contain objects (timetable, …): name of the variable -> class of the object.
    Raises LfnoError if the file is damaged.
    """
    size = path.stat().st_size
    with path.open("rb") as file:
        order = {b"IM": "<", b"MI": ">"}.get(file.read(128)[126:128])
        if order is None:
            raise LfnoError("its header has no mark of the byte order")
        while (at := file.tell()) + 8 <= size:
            kind, length = struct.unpack(f"{order}II", file.read(8))
            if at + 8 + length > size:
                raise LfnoError(f"the element at byte {at} should have {length} bytes and the file ends before")
            if kind in (MATRIX, COMPRESSED):
                yield from _variable(path, at, order, notes, objects)
            file.seek(at + 8 + length)


def _variable(path: Path, at: int, order: str, notes: list[str], objects: dict[str, str]) -> Iterator[Variable]:
    """Yield the numeric arrays of the variable in the element at byte `at` of the file."""
    head = _head(memoryview(_content(path, at, order, HEAD)), order)
    if not head.name:
        return  # a file with objects ends with a variable that has no name; the module matlab_objects reads this variable
    if head.kind == OBJECT:
        objects[head.name] = head.of
    elif head.kind in (CELL, STRUCT, OLD_OBJECT):
        yield from _walk(memoryview(_content(path, at, order, None)), order, head.name, notes, DEPTH, objects)
    elif head.kind not in CLASSES:
        notes.append(f"{head.name!r} was left out: it is {OTHERS.get(head.kind, 'not an array of numbers')}")
    elif not math.prod(head.shape):
        notes.append(f"{head.name!r} is empty and was left out")
    else:

        def blocks(rows: int) -> Iterator[np.ndarray]:
            content = memoryview(_content(path, at, order, None))
            yield from Variable.of(head.name, _values(content, order, head)).blocks(rows)

        yield Variable(head.name, head.shape, head.dtype, blocks)


def _walk(
    content: memoryview, order: str, name: str, notes: list[str], depth: int, objects: dict[str, str]
) -> Iterator[Variable]:
    """Yield the arrays inside a cell, `name{1}`, a structure, `name.field`, or a structure array, `name(1).field`.

    content: bytes of the cell or structure.
    order: byte order, "<" or ">".
    notes, objects: see `matrices`.
    depth: nested cells and structures are read down to this many levels.
    """
    head = _head(content, order)
    if head.kind in CLASSES and all(head.shape):
        yield Variable.of(name, _values(content, order, head))
        return
    if head.kind == OBJECT:
        objects[re.split(r"[.{(]", name)[0]] = head.of
        return
    count = math.prod(head.shape)
    if head.kind not in (CELL, STRUCT, OLD_OBJECT) or not depth or count > MOST_ELEMENTS:
        if head.kind in (CELL, STRUCT, OLD_OBJECT):
            deep = f"{name!r} was left out: it is nested more than {DEPTH} levels deep"
            notes.append(too_many(name, count) if depth else deep)
        elif head.kind not in CLASSES:  # an empty array needs no note
            notes.append(f"{name!r} was left out: it is {OTHERS.get(head.kind, 'not an array of numbers')}")
        return
    fields, at = [""], head.at
    if head.kind == OLD_OBJECT:
        _, _, at = _element(content, at, order)  # skip the name of the class of the object
    if head.kind != CELL:
        _, width, at = _element(content, at, order)
        _, names, at = _element(content, at, order)
        step = int(np.frombuffer(width, f"{order}i4")[0])
        if step < 1:
            raise LfnoError(f"the structure {name!r} has field names of {step} bytes")
        pieces = (bytes(names[start : start + step]) for start in range(0, len(names), step))
        fields = [piece.split(b"\0")[0].decode("latin-1") for piece in pieces]
    for element in range(1, count + 1):
        for field in fields:
            _, inner, at = _element(content, at, order)
            place = f"{name}({element}).{field}" if count > 1 else f"{name}.{field}"
            place = f"{name}{{{element}}}" if head.kind == CELL else place
            if len(inner):
                yield from _walk(inner, order, place, notes, depth - 1, objects)


def too_many(name: str, count: int) -> str:
    """Return the note for a cell or structure array of more than MOST_ELEMENTS elements."""
    return f"{name!r} was left out: it has {count} elements, more than {MOST_ELEMENTS}"


def _content(path: Path, at: int, order: str, limit: int | None) -> bytes:
    """Return the bytes of the matrix in the element at byte `at` of the file, without the tag (type and size).

    limit: at most about this many bytes are returned; None returns all bytes.
    """
    with path.open("rb") as file:
        file.seek(at)
        kind, length = struct.unpack(f"{order}II", file.read(8))
        if kind == MATRIX:
            return file.read(length if limit is None else min(length, limit))
        inflate = zlib.decompressobj()
        packed = file.read(length if limit is None else min(length, limit))
    try:
        kind, inner = struct.unpack(f"{order}II", inflate.decompress(packed, 8))
        refuse_bomb(f"{path.name}: the variable at byte {at}", length, inner)
        content = inflate.decompress(inflate.unconsumed_tail, inner if limit is None else limit)
    except (zlib.error, struct.error) as error:
        raise LfnoError(f"the variable at byte {at} cannot be unpacked") from error
    if kind != MATRIX:
        raise LfnoError(f"the variable at byte {at} is not a matrix")
    return content


def _element(content: memoryview, at: int, order: str) -> tuple[int, memoryview, int]:
    """Return (type, data, byte at which the next element begins) of the element at byte `at`.

    Each element begins with a tag of 8 bytes. Data of up to four bytes may be stored inside the tag.
    """
    if at + 8 > len(content):
        raise LfnoError("a matrix ends in the middle")
    kind, length = struct.unpack_from(f"{order}II", content, at)
    if kind >> 16:
        kind, length, start, stop = kind & 0xFFFF, kind >> 16, at + 4, at + 8
    else:
        start, stop = at + 8, at + 8 + length + (-length) % 8
    return kind, content[start : start + length], stop


def _head(content: memoryview, order: str) -> Head:
    """Return the head of the matrix in `content`. Raises LfnoError if the head is damaged."""
    _, flags, at = _element(content, 0, order)
    if len(flags) >= 4 and int(np.frombuffer(flags[:4], f"{order}u4")[0]) & 0xFF == OBJECT:
        words = []
        for _ in range(3):  # name of the variable, MATLAB's name of its object system ("MCOS"), name of the class
            _, text, at = _element(content, at, order)
            words.append(bytes(text).decode("latin-1"))
        return Head(OBJECT, 0, (), words[0], at, words[2])
    _, sizes, at = _element(content, at, order)
    _, name, at = _element(content, at, order)
    if len(flags) < 4 or len(sizes) % 4:
        raise LfnoError("the head of a matrix is damaged")
    word = int(np.frombuffer(flags[:4], f"{order}u4")[0])
    shape = tuple(int(size) for size in np.frombuffer(sizes, f"{order}i4"))
    if min(shape, default=-1) < 0 or len(shape) > 32:
        raise LfnoError(f"a matrix claims the size {shape}")
    return Head(word & 0xFF, word >> 8, shape, bytes(name).decode("latin-1"), at)


def _values(content: memoryview, order: str, head: Head) -> np.ndarray:
    """Return the values of a numeric matrix. Complex values are stored as two elements: real parts, imaginary parts."""
    parts, at = [], head.at
    for _ in range(2 if head.flags & 8 else 1):
        kind, data, at = _element(content, at, order)
        if kind not in STORED or len(data) != math.prod(head.shape) * np.dtype(STORED[kind]).itemsize:
            raise LfnoError(f"the values of {head.name!r} do not fill its size {head.shape}")
        parts.append(np.frombuffer(data, order + STORED[kind]).reshape(head.shape, order="F"))
    return parts[0] + 1j * parts[1] if len(parts) == 2 else parts[0].astype(head.dtype)
