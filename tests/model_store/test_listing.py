"""Listed revisions: compared with each other, and listed with their problem if they are damaged."""

from __future__ import annotations
