# SPDX-License-Identifier: BSD-3-Clause
"""Effects of the variables that a study sets: shown by evidence, not shown, or refused.

A library that knows a variable, or prints its value, may still ignore it. So a variable has one
of these states: `refused` (the library's own words), `unknown` (the library has no such variable),
`shown` (an observation that only the value explains), and `none shown` in all other cases.
"""

SHOWN, NONE_SHOWN, REFUSED, UNKNOWN = "shown", "none shown", "refused", "unknown"


def of(level, family, refused, observed):
    """Name -> `status` and `evidence` of each variable that a launch sets; `refused`: the line in
    which the library refused a setting, or ''."""
    found = {}
    for name, _ in level.values:
        declared = family.variables_of(name)
        by_interface = bool(declared and declared.interface)
        control = observed.get("control_variables", {}).get(name)
        status = (REFUSED if refused else UNKNOWN if by_interface and not control else NONE_SHOWN)
        evidence = refused or (f"control variable {control}" if control else "")
        found[name] = {"status": status, "evidence": evidence}
    return found


def show(found, evidence):
    """Marks variables as effective, in place: `evidence` is name -> the observation."""
    for name, text in evidence.items():
        if found.get(name, {}).get("status") == NONE_SHOWN:
            found[name] = {"status": SHOWN, "evidence": text}


def words(refused):
    """The reason of a launch whose library refused a setting; '' where it refused none."""
    return f"the library refused a setting: {refused}"[:300] if refused else ""


def problem(record):
    """Why settings of a launch were not accepted, or ''."""
    if reason := words(record["reported"]["refused"]):
        return reason
    unknown = [name for name, one in record["effects"].items() if one["status"] == UNKNOWN]
    return f"the library has no variable {unknown[0]}" if unknown else ""
