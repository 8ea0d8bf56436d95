"""Rewrite docstrings for the site: examples become code, and lines `argument: meaning` become a table of arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from griffe import Class, Extension, Function, Module, Object


class HouseStyle(Extension):
    """Rewrite docstrings, before they are parsed, into the Google style that mkdocstrings understands."""

    def on_package(self, *, pkg: Module, **_: Any) -> None:
        for one in walk(pkg):
            if one.docstring:
                one.docstring.value = google(one.docstring.value, names(one))


def walk(one: Object) -> Iterator[Object]:
    """Yield an object and everything that is defined in it, but not the names that it imports."""
    yield one
    for member in one.members.values():
        if not member.is_alias:
            yield from walk(member)  # type: ignore[arg-type]


def names(one: Object) -> set[str]:
    """Return the names that a docstring may explain: parameters of a function, attributes and parameters of a class."""
    if isinstance(one, Function):
        return {parameter.name for parameter in one.parameters}
    if isinstance(one, Class):
        return {parameter.name for parameter in one.parameters} | set(one.members)
    return set()


def google(text: str, known: set[str]) -> str:
    """Return a docstring with its examples fenced and its explained names in a section `Args:`.

    >>> google("Add one.\\n\\na: a number.", {"a"})
    'Add one.\\n\\nArgs:\\n    a: a number.'
    """
    paragraphs = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        lines = paragraph.splitlines()
        first = re.match(r"(\w+)(?:, \w+)*: ", lines[0])
        if lines[0].startswith(">>> "):
            paragraphs.append("```pycon\n" + paragraph + "\n```")
        elif first and first[1] in known:
            paragraphs.append(arguments(lines, known))
        else:
            paragraphs.append(paragraph)
    return "\n\n".join(paragraphs)


def arguments(lines: list[str], known: set[str]) -> str:
    """Return lines `name: meaning`, with their continuation lines, as a Google section; a line of prose ends the section."""
    section, rest = ["Args:"], []
    for line in lines:
        name = re.match(r"(\w+)((?:, \w+)*): (.*)", line)
        if not rest and name and name[1] in known:
            for one in (name[1] + name[2]).split(", "):
                section.append(f"    {one}: {name[3]}")
        elif not rest and line.startswith(" "):
            section.append(f"        {line.strip()}")
        else:
            rest.append(line)
    return "\n".join(section) + ("\n\n" + "\n".join(rest) if rest else "")
