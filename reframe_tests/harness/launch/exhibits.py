# SPDX-License-Identifier: BSD-3-Clause
"""Tags of the published exhibits whose data a test produces."""


def tags(*exhibits):
    """Exhibits such as `stival-fig-4.24`, and the studies that they are of, as tags."""
    return {*exhibits, *(exhibit.partition("-")[0] for exhibit in exhibits)}


def figures(study, *numbers):
    """Names of figures of a study: figures("stival", "4.1") -> ["stival-fig-4.1"]."""
    return [f"{study}-fig-{number}" for number in numbers]
