# SPDX-License-Identifier: BSD-3-Clause
"""Files that set several algorithms at once, by operation and message size.

A settings file has one variable on each line (`NAME=VALUE`). Its comments `# algorithm OPERATION
BYTES NAME` say which algorithm every operation takes from which message size on; no size: from the
smallest. Open MPI and MPICH read the choice from a further file, which a variable names.
"""

import json
import pathlib
import re

from . import families

COMMENT = re.compile(r"# algorithm (?P<operation>\w+) (?P<bytes>\d+) (?P<name>\S+)")


class TuningError(ValueError):
    """An algorithm that a library does not offer, or a file of algorithms that cannot be used."""


def read(path):
    """The variables of a settings file, and operation -> list of (smallest size, algorithm)."""
    variables, rules = {}, {}
    try:
        lines = pathlib.Path(path).read_text().splitlines()
    except (OSError, UnicodeDecodeError) as err:
        raise TuningError(f"cannot read settings of algorithms from {path}: {err}") from None
    for line in lines:
        if found := COMMENT.fullmatch(line):
            rules.setdefault(found["operation"], []).append(
                (int(found["bytes"]), found["name"].replace("-", "", found["name"] == "-")))
        elif line and not line.startswith("#"):
            name, equals, value = line.partition("=")
            if not equals or not re.fullmatch(r"[A-Z_][A-Za-z0-9_]*", name):
                raise TuningError(f"{path}: {line[:60]!r} is not NAME=VALUE")
            variables[name] = value
    return variables, rules


def algorithm_at(rules, size):
    """The algorithm that rules give a message size; '': the choice of the library."""
    return next((name for least, name in reversed(rules) if least <= size), "")


def text_of(family, variables, rules, words=()):
    """The text of a settings file; `words`: lines that explain it."""
    lines = [f"# Algorithms of collective operations for {family.title}.",
             *map("# {}".format, words)]
    lines += [f"# algorithm {operation} {least} {name or '-'}"
              for operation, found in sorted(rules.items()) for least, name in found]
    lines += [f"{name}={value}" for name, value in variables.items()]
    return "\n".join(lines) + "\n"


def _rules(declared, choices, rules, ranks):
    """Open MPI's file of dynamic rules, version 2. The rules of a number of ranks hold for more
    ranks, too, and the first ones for fewer. Thus entries before and behind keep the library's
    choice."""
    lines = ["rule-file-version-2", str(len(rules))]
    for operation, found in sorted(rules.items()):
        unit = ranks if operation in declared["by_all_ranks"] else 1
        known = [(least * unit, choices[operation].names.index(name) + 1 if name else 0)
                 for least, name in found]
        if known[0][0]:
            known = [(0, 0), *known]
        own = ["1", "0 0 0 0 0"]
        lines += [f"{declared['collectives'][operation]} # {operation}", "3", "1", *own,
                  str(ranks), str(len(known)),
                  *(f"{least} {number} 0 0 0" for least, number in known), str(ranks + 1), *own]
    return "\n".join(lines) + "\n"


def _trees(library):
    """The decision trees that MPICH has in its library."""
    data = library.read_bytes()
    for found in re.finditer(rb'\{"collective=', data):
        end = data.find(b"\0", found.start())
        try:
            tree = json.loads(data[found.start():end])
        except ValueError:
            continue
        if b"MPIR_Allreduce_intra" in data[found.start():end]:
            yield tree


def _own_tree(library):
    tree = next(_trees(library), None)
    if tree is None:
        raise TuningError(f"{library} has no decision tree that can be edited")
    return tree


def _leaf(operation, name):
    return f"algorithm=MPIR_{operation.capitalize()}_intra_{name}"


def _has(node, leaf):
    return leaf in node or any(_has(child, leaf) for child in node.values())


def _with_algorithm(node, leaf):
    """A decision tree in which an algorithm replaces all choices by size and number of ranks.

    MPICH does not check whether an algorithm of the file is usable for the arguments of a call.
    Thus all other conditions stay, such as commutative operators, with the library's own choice
    where they exclude the algorithm.
    """
    if leaf in node:
        return {leaf: node[leaf]}
    if not _has(node, leaf):
        return node
    if all(re.match("(avg|total)_msg_size|comm_size(<|=any)", key) for key in node):
        found = [_with_algorithm(child, leaf) for child in node.values() if _has(child, leaf)]
        return min(found, key=lambda one: len(json.dumps(one)))  # with the fewest conditions
    if _has(node.get("comm_size=any", {}), leaf):  # needs no power of two as number of ranks
        return _with_algorithm(node["comm_size=any"], leaf)
    return {key: _with_algorithm(child, leaf) for key, child in node.items()}


def _tree(rules, ranks, tree):
    """MPICH's decision tree with these rules before its own.

    MPICH ends a program in which a tree asks for a size that it does not know of the operation: it
    knows that of one block or that of all blocks, as its own tree shows.
    """
    for operation, found in rules.items():
        own, sizes = tree[f"collective={operation}"]["comm_type=intra"], {}
        steps = [*([(0, "")] if found[0][0] else []), *found]
        of_all = "total_msg_size" in json.dumps(own)
        unit, size = (ranks, "total_msg_size") if of_all else (1, "avg_msg_size")
        ends = [*(least * unit - 1 for least, _ in steps[1:]), None]
        for (_, name), end in zip(steps, ends, strict=True):
            key = f"{size}=any" if end is None else f"{size}<={end}"
            sizes[key] = _with_algorithm(own, _leaf(operation, name)) if name else own
        tree[f"collective={operation}"]["comm_type=intra"] = {
            f"comm_size<={ranks - 1}": own, f"comm_size<={ranks}": sizes, "comm_size=any": own}
    return json.dumps(tree, indent=1) + "\n"


def _ranges(found):
    """Intel MPI's presets, each with its range of sizes. Sizes and numbers of ranks outside of all
    ranges take one of the presets, too, so that a number of ranks in a range has no effect."""
    words = []
    for (least, name), (end, _) in zip(found, [*found[1:], (1 << 31, "")], strict=True):
        words += [f"{name}:{least}-{end - 1}"] if name else []
    return ";".join(words)


def settable(family, choices):
    """Operation -> names of the algorithms that the library's own file can select.

    A tree of MPICH has no parameters and conditions for other algorithms than its own ones.
    """
    declared = family.algorithms.tuned
    if declared.get("format") != "tree":
        return {operation: list(choice.names) for operation, choice in choices.items()}
    tree = _own_tree(_library(family))
    return {operation: [name for name in choice.names if name not in declared["left_out"]
                        and _has(tree.get(f"collective={operation}", {}), _leaf(operation, name))]
            for operation, choice in choices.items()}


def _library(family):
    return family.prefix(families.stack_prefix()) / family.algorithms.tuned.get("library", "lib")


def keeps_default(family):
    """Whether the library makes its own choice at the sizes of an operation without a rule."""
    return not family.algorithms or family.algorithms.tuned.get("format") != "ranges"


def render(family, choices, rules, ranks, path):
    """The variables that select the rules, and file -> text of the library's own file, which
    belongs beside `path`; {} if it has none.

    `choices`: what the library offers; `rules`: operation -> list of (smallest size, algorithm),
    sorted; '': the library's choice.
    """
    declared = family.algorithms.tuned if family.algorithms else {}
    if not declared:
        raise TuningError(f"{family.title} reads no file of algorithms")
    if declared["format"] == "ranges":
        return {choices[operation].variable: _ranges(found)
                for operation, found in rules.items()}, {}
    file = path.with_suffix(".json" if declared["format"] == "tree" else ".rules")
    own = (_rules(declared, choices, rules, ranks) if declared["format"] == "rules" else
           _tree(rules, ranks, _own_tree(_library(family))))
    fill = [{"file": file, "OPERATION": operation.upper()} for operation in rules]
    return {name.format(**one): text.format(**one)
            for one in fill for name, text in declared["environment"].items()}, {file: own}
