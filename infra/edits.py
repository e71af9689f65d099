"""`python -m infra.edits DEPLOYED NEW FIRST`: edits of a deployed environment, as CloudFormation takes them.

Two rules of CloudFormation are kept here. Nothing goes from a stack, and nothing is replaced in it, that another one
imports; and whatever is replaced is made before the old one is deleted, so a second network would want the addresses
of the first, a second group its name, a second balancer its targets. The base therefore keeps what it no longer needs
until the fleet has let go of it, and the options that mean a replacement are refused.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from infra.environments import Environment

Template = dict[str, Any]
DEPLOYED = "Gleaner"
"""Key of the base's metadata with what is in force: options that are made once, and zones, the fleet's first."""


def in_force(base: Template) -> dict[str, Any]:
    """The options and zones that a deployed base tells of; none of a base that is not there."""
    found: dict[str, Any] = base.get("Metadata", {}).get(DEPLOYED, {})
    return found


def refusals(environment: Environment, base: Template) -> list[str]:
    """The edits that cannot be deployed, one sentence each, with the remedy."""
    was = in_force(base)
    beside = f"and destroy {environment.name} afterwards (infra/README.md, Operating)"
    if base and DEPLOYED not in base.get("Metadata", {}):
        return [
            f"{environment.fleet} was deployed by an older version of Gleaner, whose network no deployment can change "
            f"into this one's: deploy an environment of another name beside it, {beside}"
        ]
    return [
        f"{name} is {was[name]!r} in what is deployed, and no deployment can change it to {value!r}: set it back; or "
        f"give an environment of another name the new value, {beside}"
        for name, value in environment.made_once.items()
        if was.get(name, value) != value
    ]


def base_first(base: Template, new: Template) -> Template:
    """The base for the time until the fleet is deployed: the new one, with all that the deployed one has."""
    return {**new, **{part: {**base.get(part, {}), **new[part]} for part in ("Resources", "Outputs")}}


def main() -> int:
    """Write the base that is deployed before the fleet."""
    deployed, text, out = Path(sys.argv[1]).read_text(), Path(sys.argv[2]).read_text(), Path(sys.argv[3])
    new = json.loads(text)
    first = base_first(json.loads(deployed), new)
    out.write_text(text if first == new else json.dumps(first, separators=(",", ":")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
