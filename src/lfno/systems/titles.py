"""Headings of the data sets. Tables and the web page list data sets in this order."""

from __future__ import annotations

#: name of the data set -> its heading. The fields in LINES have one axis of space, and the fields in FLOWS have two
ODES = {
    "duffing-c0": "Duffing c = 0",
    "duffing-c05": "Duffing c = 0.5",
    "lorenz-rho5": "Lorenz ρ = 5",
    "lorenz-rho10": "Lorenz ρ = 10",
    "pendulum-c05": "Pendulum c = 0.5",
}
LINES = {
    "beam": "Beam",
    "heat": "Heat",
    "reaction-diffusion": "Reaction–diffusion",
    "brusselator": "Brusselator",
    "burgers": "Burgers",
}
FLOWS = {"navier-stokes": "Navier–Stokes", "navier-stokes-nu1e-3": "Navier–Stokes ν = 10⁻³"}
PDES = LINES | FLOWS
ALL = ODES | PDES

#: ending of a name -> ending of the heading
_ENDINGS = {"-rich": ", rich", "-out": ", out of family", "-small": ", 512 points"}


def title(name: str) -> str:
    """Return the heading of a data set. If the name is not in the dictionaries above, return the name.

    >>> title("duffing-c05-rich"), title("duffing-c05-rich-out")
    ('Duffing c = 0.5, rich', 'Duffing c = 0.5, rich, out of family')
    """
    for ending, addition in _ENDINGS.items():
        stem = name.removesuffix(ending)
        if stem != name:
            heading = title(stem)
            return name if heading == stem else heading + addition
    return ALL.get(name, name)
