"""Why a page cannot be rewritten exactly; it is then made a picture of itself."""

from __future__ import annotations


class CannotRewrite(Exception):
    """The content of a page, or one of its fonts, is not understood well enough; the sentence says why."""
