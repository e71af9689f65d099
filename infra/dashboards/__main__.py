"""`python -m infra.dashboards`: writes the dashboards into infra/grafana, where Grafana's provisioning finds them."""

from __future__ import annotations

from pathlib import Path

from infra.dashboards.capacity import CAPACITY
from infra.dashboards.grafana import to_json
from infra.dashboards.on_call import ON_CALL

FOLDER = Path(__file__).parents[1] / "grafana"
PAGES = (ON_CALL, CAPACITY)


def main() -> None:
    """Write each page into its file."""
    for page in PAGES:
        (FOLDER / f"{page.uid}.json").write_text(to_json(page))


if __name__ == "__main__":
    main()
