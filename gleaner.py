"""The Python client where the service is installed: `from gleaner import Client`.

The distribution gleaner-client has a package of this name; with both installed Python takes the package.
"""

from service.client import *  # noqa: F403
