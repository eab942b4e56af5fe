# SPDX-License-Identifier: BSD-3-Clause
"""The rules of figures, checked in the SVG and CSV files of a folder of figures."""

import csv
import html
import pathlib
import re
import sys

#: Panels of a figure, points of its text, and points of its height (an A4 page is 842 high).
MOST_PANELS, LEAST_TEXT, MOST_HEIGHT = 12, 8, 842
BORDER = "#8C8C8C"
UNITS = r"\((?:[µnm]?s|h|B|[KMGk]?B/s|Mbit/s|million messages/s|messages/s|%|[^()]*/[^()]*)\)|%" \
        r"|ratio|speed-up|efficiency|message size|\btimes\b"
#: Titles that promise an axis, and its column.
AXES = {"ranks": "ranks", "pairs": "pairs", "threads": "threads", "burst": "burst"}
#: Names of tests, operations and options, and numbers without a word.
NO_WORDS = r"(?<!reduce)(?<!neighbor)(?<!scatter)(?<!AF)(?<!MPI)_|\w=|[a-z]\.[a-z]" \
           r"|-(?:first|second)\b|, [0-9.]+$|^[0-9.]+$|\btest [a-z]"


def texts(svg):
    """The texts of a figure, in their order."""
    return [html.unescape(text) for text in re.findall(r"<text [^>]*>([^<]*)</text>", svg)]


def titles_of_panels(svg):
    """The titles of panels, each of which may have several lines below one another."""
    found = []
    for x, y, style, text in re.findall(
            r"<text x='([\d.]+)' y='([\d.]+)' style='([^']*)'[^>]*>([^<]*)</text>", svg):
        if "font-size: 8.00px" in style and "font-weight: bold" in style:
            found.append((float(x), float(y), html.unescape(text)))
    titles = []
    for x, y, text in sorted(found):
        if titles and titles[-1][0] == x and 0 < y - titles[-1][1] < 13:
            titles[-1] = (x, y, f"{titles[-1][2]} {text}")
        else:
            titles.append((x, y, text))
    return [text for _, _, text in titles]


def panels(svg):
    """How many panels a figure has: frames that are drawn, not the keys of a legend."""
    frames = re.findall(rf"<rect x='([\d.]+)' y='([\d.]+)'[^>]*stroke: {BORDER};", svg)
    return len(set(frames))


def faults_of_drawing(svg):
    """The faults in the size and texts of a figure, in words."""
    size = min((float(number) for number in re.findall(r"font-size: ([\d.]+)px", svg)), default=0)
    height = float(re.search(r"height='([\d.]+)pt'", svg)[1])
    if panels(svg) > MOST_PANELS:
        yield f"{panels(svg)} panels"
    if size < LEAST_TEXT:
        yield f"text of {size} pt"
    if height > MOST_HEIGHT:
        yield f"{height:.0f} pt high"
    if not any(re.search(UNITS, text) for text in texts(svg)):
        yield "no unit"


def faults(path, overlays=()):
    """The faults of a figure, in words."""
    svg = path.read_text(encoding="utf-8")
    with path.with_suffix(".csv").open(newline="", encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    yield from faults_of_drawing(svg)
    levels = {row["level"] for row in rows if row.get("level") and not re.match(
        r"-?[\d.e-]+$", row["level"])}
    if len(levels) > 1 and len(levels & {*texts(svg)}) < 2:
        yield f"no legend for {', '.join(sorted(levels))}"
    titles = titles_of_panels(svg)
    yield from (f"panel \"{title}\"" for title in titles if re.search(NO_WORDS, title))
    heading, subtitle = re.search(r"<title>([^<]*)</title>\s*<desc>([^<]*)</desc>", svg).groups()
    if not re.search(r"\bsites?\b", subtitle.partition("Test ")[0]):
        yield "no place in the subtitle"
    if re.search("interval", re.sub("No intervals", "", subtitle)) and "No intervals" in subtitle:
        yield "the caption explains an interval, and there are none"
    headings = f"{heading}. {subtitle}"
    for word, column in AXES.items():
        values = {row.get(column) for row in rows}
        if re.search(rf"\bby (?:the number of )?{word}\b", headings) and len(values - {None}) == 1:
            yield f"\"by {word}\" with one value"
    for row in overlays:
        if "PUBLISHED" in svg and row["label"] in html.unescape(svg):
            lacking = [word for word in row["panel"].split("; ")
                       if not any(word in text for text in [*titles, *levels])]
            yield from (f"printed numbers, but no panel of {word}" for word in lacking)


def faults_below(folder, overlays):
    """Faults of all figures of a folder, by name."""
    with pathlib.Path(overlays).open(newline="", encoding="utf-8") as file:
        rows = [*csv.DictReader(file)]
    found = {}
    for path in sorted(pathlib.Path(folder).rglob("*.svg")):
        name = f"{path.parent.name}-{re.sub('-(emulated|simulated)$', '', path.stem)}"
        wrong = [*faults(path, [row for row in rows if row["exhibit"] == name])]
        if wrong:
            found[str(path.relative_to(folder))] = wrong
    return found


if __name__ == "__main__":
    wrong = faults_below(*sys.argv[1:3])
    for name, reasons in wrong.items():
        print(f"{name}: {'; '.join(reasons)}")
    sys.exit(bool(wrong))
