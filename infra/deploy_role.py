"""`python -m infra.deploy_role ACCOUNT OWNER/REPOSITORY ENVIRONMENT`: who may take the role that deploys.

It prints the role's trust policy: GitHub's tokens of this repository, and of jobs in this environment alone, whose
reviewers GitHub asks first. No key of AWS is stored anywhere.
"""

from __future__ import annotations

import json
import re
import sys

PROVIDER = "token.actions.githubusercontent.com"
AUDIENCE = "sts.amazonaws.com"
_REPOSITORY = re.compile(r"[A-Za-z0-9-]+/[A-Za-z0-9._-]+")


class BadRole(ValueError):
    """The account, the repository or the environment cannot be one."""


def trust_policy(account: str, repository: str, environment: str) -> dict[str, object]:
    """The trust policy as AWS takes it.

    Raises:
        BadRole: says which of the three is wrong; a wildcard would let in others.
    """
    if not re.fullmatch(r"\d{12}", account):
        raise BadRole(f"{account!r} is no account: twelve digits")
    if not _REPOSITORY.fullmatch(repository):
        raise BadRole(f"{repository!r} is no repository: OWNER/NAME")
    if not re.fullmatch(r"[a-z][a-z0-9-]*", environment):
        raise BadRole(f"{environment!r} is no environment")
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
        account, repository, environment = sys.argv[1:]
        print(json.dumps(trust_policy(account, repository, environment), indent=1))
    except ValueError as error:
        print(f"infra: {error}; usage: ACCOUNT OWNER/REPOSITORY ENVIRONMENT", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
