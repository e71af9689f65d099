"""`python -m infra.deploy_role ACCOUNT OWNER/REPOSITORY ENVIRONMENT [OWNER-ID REPOSITORY-ID]`: trust in a repository.

It prints the trust policy of the role that deploys: GitHub's tokens of this repository, and of jobs in this
environment alone, whose reviewers GitHub asks first. No key of AWS is stored anywhere.
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Sequence

from infra.environments import find_environment

PROVIDER = "token.actions.githubusercontent.com"
AUDIENCE = "sts.amazonaws.com"
_REPOSITORY = re.compile(r"[A-Za-z0-9_-]+/[A-Za-z0-9._-]+")


class BadRole(ValueError):
    """The account, the repository or the ids cannot be such."""


def trust_policy(account: str, repository: str, environment: str, ids: Sequence[str] = ()) -> dict[str, object]:
    """The trust policy as AWS takes it.

    Args:
        ids: GitHub's numbers of the owner and of the repository, which are in the token's subject beside their names;
            none for a repository whose tokens have the names alone.

    Raises:
        BadRole, BadEnvironment: says which of them is wrong; a wildcard would let in others.
    """
    if not re.fullmatch(r"\d{12}", account):
        raise BadRole(f"{account!r} is no account: twelve digits")
    if not _REPOSITORY.fullmatch(repository):
        raise BadRole(f"{repository!r} is no repository: OWNER/NAME")
    find_environment(environment)
    if len(ids) not in (0, 2) or not all(re.fullmatch(r"[1-9]\d*", each) for each in ids):
        raise BadRole(f"{' '.join(ids)!r} are no ids: two numbers, of the owner and of the repository")
    if ids:
        repository = "/".join(f"{name}@{number}" for name, number in zip(repository.split("/"), ids, strict=True))
    return {
        "Version": "2012-10-17",
        "Statement": [
            {
                "Effect": "Allow",
                "Principal": {"Federated": f"arn:aws:iam::{account}:oidc-provider/{PROVIDER}"},
                "Action": "sts:AssumeRoleWithWebIdentity",
                "Condition": {
                    "StringEquals": {
                        f"{PROVIDER}:aud": AUDIENCE,
                        f"{PROVIDER}:sub": f"repo:{repository}:environment:{environment}",
                    }
                },
            }
        ],
    }


def main() -> int:
    """Print it; 2 on wrong usage."""
    try:
        if len(sys.argv) < 4:
            raise BadRole("account, repository or environment is missing")
        account, repository, environment, *ids = sys.argv[1:]
        print(json.dumps(trust_policy(account, repository, environment, ids), indent=1))
    except ValueError as error:
        print(f"infra: {error}; usage: ACCOUNT OWNER/REPOSITORY ENVIRONMENT [OWNER-ID REPOSITORY-ID]", file=sys.stderr)
        return 2
    if not ids:
        print(
            "infra: without its ids a repository is trusted if it was made before 15 July 2026 and has been neither "
            "renamed nor transferred since; the tokens of others have the ids in them.",
            file=sys.stderr,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
