# SPDX-License-Identifier: BSD-3-Clause
"""Generates CodeMeta, Zenodo and RO-Crate metadata from CITATION.cff and the packed sessions.

Nothing is written by hand, so that no two files state different authors, versions or licences.
"""

import json
import pathlib
import re
import tarfile

import yaml

#: Licence of the measured data; the programs have the one of CITATION.cff.
DATA_LICENCE = "CC-BY-4.0"
SPDX = "https://spdx.org/licenses/"
CRATE = "https://w3id.org/ro/crate/1.1"
PROFILES = {"https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
            "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
            "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate"}
COMPUTATIONAL_WORKFLOW = "https://bioschemas.org/profiles/ComputationalWorkflow/1.0-RELEASE"
#: Formats of files by suffix; all others are plain text.
FORMATS = {".py": "text/x-python", ".md": "text/markdown", ".csv": "text/csv",
           ".cff": "application/yaml"}
#: The program that launches a study: the workflow whose runs the sessions are.
WORKFLOW = "reframe_tests/harness/__main__.py"
STATUS = {"complete": "CompletedActionStatus", "incomplete": "CompletedActionStatus"}


def citation(top):
    return yaml.safe_load((top / "CITATION.cff").read_text())


def name_of(author):
    """An author's name; a group has only `name`."""
    return author.get("name") or f"{author['given-names']} {author['family-names']}"


def agent(author):
    """An author in the words of schema.org."""
    kind = "Organization" if "name" in author else "Person"
    return {"@type": kind, "name": name_of(author),
            **({"@id": author["orcid"]} if "orcid" in author else {})}


def codemeta(cited, identifiers=()):
    """`identifiers` beside the DOI of the citation, such as SWHIDs."""
    known = [*([cited["doi"]] if "doi" in cited else []), *identifiers]
    return {"@context": "https://w3id.org/codemeta/3.0", "@type": "SoftwareSourceCode",
            "name": cited["title"].partition(":")[0], "description": cited["abstract"],
            "version": str(cited["version"]), "dateModified": str(cited["date-released"]),
            "license": SPDX + cited["license"], "author": [*map(agent, cited["authors"])],
            "keywords": cited["keywords"], "programmingLanguage": ["Python", "C", "R"],
            "operatingSystem": "Linux",
            **({"identifier": known} if known else {}),
            **({"codeRepository": cited["repository-code"]} if "repository-code" in cited else {})}


def zenodo(cited):
    def creator(author):
        found = {"name": author.get("name")
                 or f"{author['family-names']}, {author['given-names']}"}
        return {**found, **{key: author[key].rpartition("/")[2] if key == "orcid" else author[key]
                            for key in ("orcid", "affiliation") if key in author}}

    return {"upload_type": "software", "title": cited["title"], "version": str(cited["version"]),
            "description": cited["abstract"], "creators": [*map(creator, cited["authors"])],
            "license": cited["license"], "keywords": cited["keywords"],
            "publication_date": str(cited["date-released"]), "access_right": "open"}


def sessions(top):
    """Path of each packed session, and its session.json."""
    for path in sorted((top / "data").glob("*/*/*.tar.xz")):
        with tarfile.open(path) as packed:
            plan = next((m for m in packed if m.name.rpartition("/")[2] == "session.json"), None)
            yield str(path.relative_to(top)), json.load(packed.extractfile(plan)) if plan else {}


def moment(text):
    """A time of a session as the profile of runs writes it, with its offset from UTC."""
    return re.sub(r"Z$", "+00:00", text)


def run(path, plan, agents):
    """A session as a run of the workflow by its authors."""
    status = STATUS.get(plan.get("ended") or "complete", "FailedActionStatus")
    times = {ours: moment(plan[theirs]) for ours, theirs in (("startTime", "begun"),
                                                     ("endTime", "finished")) if plan.get(theirs)}
    return {"@id": "#run-" + re.sub(r"\W+", "-", path), "@type": "CreateAction",
            "name": f"make study TAG={plan.get('tag', '')}", "instrument": {"@id": WORKFLOW},
            "description": f"Launches of the study {plan.get('tag', '')}, stored in {path}",
            "agent": agents,
            "actionStatus": f"http://schema.org/{status}", "result": {"@id": path}, **times}


def crate(cited, found, files):
    """The RO-Crate: programs, data and documents, and the runs that made the data."""
    licences = {name: {"@id": SPDX + name, "@type": "CreativeWork", "name": name}
                for name in (cited["license"], DATA_LICENCE)}
    authors = [{"@id": f"#author-{n}", **agent(author)}
               for n, author in enumerate(cited["authors"], 1)]
    agents = [{"@id": author["@id"]} for author in authors]
    agents = agents[0] if len(agents) == 1 else agents
    runs = [run(path, plan, agents) for path, plan in found]
    data = [{"@id": path, "@type": "File", "name": f"session {path}",
             "encodingFormat": "application/x-xz",
             "license": {"@id": SPDX + DATA_LICENCE}} for path, _ in found]
    parts = [{"@id": name, "@type": "File", "name": said, "encodingFormat": FORMATS.get(
        pathlib.PurePath(name).suffix, "text/plain")} for name, said in files.items()]
    everything = [{"@id": part["@id"]} for part in [*data, *parts]]
    return {"@context": [f"{CRATE}/context", "https://w3id.org/ro/terms/workflow-run/context"],
            "@graph": [
        {"@id": "ro-crate-metadata.json", "@type": "CreativeWork", "about": {"@id": "./"},
         "conformsTo": [{"@id": CRATE},
                        {"@id": "https://w3id.org/workflowhub/workflow-ro-crate/1.0"}]},
        {"@id": "./", "@type": "Dataset", "name": cited["title"],
         "description": cited["abstract"], "datePublished": str(cited["date-released"]),
         "version": str(cited["version"]), "license": {"@id": SPDX + cited["license"]},
         "author": agents, "publisher": agents,
         "keywords": ", ".join(cited["keywords"]), "conformsTo": [{"@id": p} for p in PROFILES],
         "hasPart": [{"@id": WORKFLOW}, {"@id": "README.md"}, *everything],
         "mainEntity": {"@id": WORKFLOW},
         "mentions": [{"@id": one["@id"]} for one in runs]},
        {"@id": WORKFLOW, "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
         "name": "study of launches", "programmingLanguage": {"@id": "#python"},
         "version": str(cited["version"]), "encodingFormat": FORMATS[".py"],
         "conformsTo": {"@id": COMPUTATIONAL_WORKFLOW}},
        {"@id": "README.md", "@type": "File", "name": "description for users",
         "encodingFormat": FORMATS[".md"], "about": {"@id": "./"}},
        {"@id": "#python", "@type": "ComputerLanguage", "name": "Python",
         "url": "https://www.python.org/"},
        *({"@id": page, "@type": "CreativeWork", "name": name, "version": page.rpartition("/")[2]}
          for page, name in {**PROFILES, COMPUTATIONAL_WORKFLOW: "ComputationalWorkflow"}.items()),
        *licences.values(), *authors, *data, *parts, *runs]}
