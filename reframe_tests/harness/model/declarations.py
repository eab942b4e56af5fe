# SPDX-License-Identifier: BSD-3-Clause
"""Reads declarations and checks them by a JSON Schema: an error names the file and the key."""

import dataclasses
import functools
import itertools
import json
import math
import pathlib
import re

import jsonschema
import referencing
import yaml

from .plain import FileError, read_plain
from .problems import there_are

SCHEMAS = pathlib.Path(__file__).parent / "schemas"
RESULTS = pathlib.Path(__file__).parents[3] / "analysis/inst/results.schema.json"


class DeclarationError(ValueError):
    """The errors in one declaration, in one line; `problems` has one line for each error."""

    def __init__(self, path, problems):
        more = ["and others"] if len(problems) > MOST_SHOWN else []
        super().__init__(f"{path}: {'; '.join([*problems[:MOST_SHOWN], *more])}")
        self.problems = problems


#: libyaml takes a tenth of the time. Too deep a nesting would end the process there.
_SafeLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_SafeLoader):
    """YAML as people write it: 1e6 is a number, too, and only true and false are truth values. The
    size of a text with its anchors written out is limited."""

    def get_single_node(self):
        node = super().get_single_node()
        if node is not None:
            _written_out(node, {}, self.resolve)
        return node


#: Characters of a declaration with all its anchors written out, and of a number; levels of lists;
#: keys, values and lists; problems that are looked for and shown, and characters of each.
MOST_WRITTEN, MOST_DIGITS, MOST_LEVELS, MOST_NODES = 1_000_000, 100, 100, 30_000
MOST_PROBLEMS, MOST_SHOWN, MOST_CHARACTERS = 100, 10, 1000
TEXT, MERGE = "tag:yaml.org,2002:str", "tag:yaml.org,2002:merge"
NUMBERS = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")
#: So many levels libyaml bears in any case.
BORNE_LEVELS = 1000


def _count_levels(text):
    """YAMLError where lists and mappings are nested too deeply."""
    # Each has a bracket, or a column of its line, where a list may begin within a mapping.
    longest = max(map(len, text.split("\n")))
    if text.count("[") + text.count("{") + 2 * longest <= BORNE_LEVELS:
        return
    levels = 0
    for event in yaml.parse(text, _SafeLoader):
        levels += isinstance(event, yaml.CollectionStartEvent)
        levels -= isinstance(event, yaml.CollectionEndEvent)
        if levels > MOST_LEVELS:
            raise yaml.YAMLError(f"more than {MOST_LEVELS} levels of lists and mappings")


def _check_keys(mapping):
    """YAMLError where a key is no text or stands twice: YAML would drop the first one."""
    known = set()
    for key, _ in mapping.value:
        line = key.start_mark.line + 1
        if key.tag not in (TEXT, MERGE):
            shown = str(key.value)[:40] if isinstance(key, yaml.ScalarNode) else "of a list"
            raise yaml.YAMLError(f"the key {shown} in line {line} is no text; write it in quotes")
        if key.value in known:
            raise yaml.YAMLError(f"the key {key.value[:40]!r} stands twice, again in line {line}")
        known.add(key.value)


def _finite(loader, node):
    number = loader.construct_yaml_float(node)
    if not math.isfinite(number):
        raise yaml.YAMLError(f"the number {node.value} is not finite")
    return number


def _check_node(node, resolve):
    """YAMLError for a tag, a key or a number of which a declaration has none."""
    text = node.value if isinstance(node, yaml.ScalarNode) else None
    # `!!int x` has the tag of an integer, but not the text of one.
    if node.tag not in (resolve(type(node), text, (True, False)), TEXT):
        raise yaml.YAMLError(f"{node.tag.rpartition(':')[2][:40]!r} in line "
                             f"{node.start_mark.line + 1} is no tag of a declaration")
    if node.tag in NUMBERS and len(node.value) > MOST_DIGITS:
        raise yaml.YAMLError(f"a number of {len(node.value)} digits")
    if isinstance(node, yaml.MappingNode):
        _check_keys(node)


def _written_out(node, known, resolve):
    """Size of a node with its anchors written out; YAMLError beyond MOST_WRITTEN and MOST_NODES,
    and where one holds itself."""
    if id(node) not in known:
        known[id(node)] = None
        if len(known) > MOST_NODES:
            raise yaml.YAMLError(f"more than {MOST_NODES} entries")
        _check_node(node, resolve)
        size = len(node.value) if isinstance(node, yaml.ScalarNode) else 0
        for part in [] if isinstance(node, yaml.ScalarNode) else node.value:
            size += sum(_written_out(one, known, resolve) for one in
                        (part if isinstance(part, tuple) else [part]))
        known[id(node)] = 1 + size
    if known[id(node)] is None or known[id(node)] > MOST_WRITTEN:
        raise yaml.YAMLError("an anchor holds itself, or anchors make more than "
                             f"{MOST_WRITTEN} characters of it")
    return known[id(node)]


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regex) for tag, regex in found
            if tag.rpartition(":")[2] in ("int", "float", "null", "merge")]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()}
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile("^(true|false)$"), list("tf"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:float",
                              re.compile(r"^[-+]?[0-9]+(\.[0-9]*)?[eE][-+]?[0-9]+$"),
                              list("-+0123456789"))
_Loader.add_constructor(NUMBERS[1], _finite)


def _schema(file):
    return json.loads((SCHEMAS / file).read_text())


#: Values of keys that are left out and have no `default`, by their types in a schema.
EMPTY = {"array": list, "object": dict, "integer": int, "boolean": bool}


def with_keys(schema, *path):
    """Makes a class a data class that has, behind its own fields, the keys of a schema, or of the
    part of it that `path` leads to. A key that is left out has its `default` in the schema, else
    an empty value."""
    part = _schema(f"{schema}.json")
    for name in path:
        part = part[name]

    def decorated(cls):
        own = cls.__dict__.get("__annotations__", {})
        cls.__annotations__ = {**own, **dict.fromkeys(part["properties"], object)}
        for key, one in part["properties"].items():
            empty = EMPTY.get(one.get("type"), str)
            setattr(cls, key, one["default"] if "default" in one else
                    dataclasses.field(default_factory=empty))
        return dataclasses.dataclass(frozen=True)(cls)

    return decorated


@functools.cache
def _validator(schema):
    # Schemas refer to each other by the names of their files.
    registry = referencing.Registry(
        retrieve=lambda file: referencing.Resource.from_contents(_schema(file)))
    return jsonschema.Draft202012Validator(_schema(f"{schema}.json"), registry=registry)


def _where(path, data):
    """The keys to a place in data; an entry of a list by its name, where it has one."""
    words = []
    for part in path:
        data = data[part]
        named = isinstance(part, int) and isinstance(data, dict) and data.get("name")
        words.append(str(named or part))
    return "".join(f"{word}: " for word in words)


def _lines(error, data):
    """One error of a schema, in words: a line for each key."""
    where, value = _where(error.absolute_path, data), error.instance
    if error.validator == "required":
        return [f"{where}lacks `{key}`" for key in error.validator_value if key not in value]
    if error.validator == "dependentRequired":
        return [f"{where}{key!r} needs {other!r}" for key, others in error.validator_value.items()
                for other in others if key in value and other not in value]
    if error.validator == "additionalProperties":
        known = error.schema.get("properties", {})
        return (f"{where}unknown key {key!r}; {there_are(key, known)}"
                for key in value if key not in known)
    wanted = error.schema.get("description")
    if not wanted:
        return [f"{where}{error.message}"]
    shown = json.dumps(value) if value is None or isinstance(value, bool) else repr(value)
    shown = shown if len(shown) < 80 else f"{shown[:77]}..."
    # A text that YAML takes for a number or a truth value.
    taken = (error.validator == "type" and error.validator_value == "string"
             and not isinstance(value, dict | list))
    return [f"{where}{shown} is not {wanted}{'; write it in quotes' if taken else ''}"]


def merged(below, above):
    """Merges declarations: `above` replaces `below` key by key; lists are replaced completely."""
    if not (isinstance(below, dict) and isinstance(above, dict)):
        return above
    return {**below, **{key: merged(below.get(key), value) for key, value in above.items()}}


def problems(data, schema):
    """The errors in data by a schema, one line each."""
    found = itertools.islice(_validator(schema).iter_errors(data), MOST_PROBLEMS)
    lines = (line if len(line) < MOST_CHARACTERS else f"{line[:MOST_CHARACTERS]} ..."
             for error in sorted(found, key=lambda e: list(map(str, e.path)))
             for line in _lines(error, data))
    return list(dict.fromkeys(itertools.islice(lines, MOST_PROBLEMS)))


@functools.cache
def _launch_validator():
    """A validator of launches by the JSON Schema by which R reads results; numbers are finite."""
    kinds = jsonschema.Draft202012Validator.TYPE_CHECKER.redefine(
        "number", lambda _, one: isinstance(one, int | float) and not isinstance(one, bool)
        and math.isfinite(one))
    validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, type_checker=kinds)
    return validator(json.loads(RESULTS.read_text()))


def wrong_in_launch(data):
    """The first error in the description of a launch, or ''."""
    error = next(_launch_validator().iter_errors(data), None)
    if not error:
        return ""
    path = ".".join(str(word) for word in error.absolute_path if isinstance(word, str))
    # The description of a pattern says what it allows; other descriptions say what a member is.
    said = error.validator == "pattern" and error.schema.get("description") or error.message
    return ascii(f"{path}: {said}"[:200])[1:-1]


def parse(path):
    """The content of a YAML file; DeclarationError if it is not YAML."""
    try:
        text = read_plain(path, MOST_WRITTEN).decode()
        _count_levels(text)
        return yaml.load(text, _Loader)  # noqa: S506 - it is a SafeLoader
    except FileError:
        if not path.exists():
            path.read_text()  # the system's own words
        raise
    except (yaml.YAMLError, ValueError, RecursionError) as err:
        raise DeclarationError(path, [f"not YAML: {' '.join(str(err).split())}"]) from None


def read(path, schema):
    """The content of a declaration; DeclarationError names the file and each key that is wrong."""
    data = parse(path)
    if wrong := problems(data, schema):
        raise DeclarationError(path, wrong)
    return data
