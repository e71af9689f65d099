"""The table of layers, from what podman and docker tell."""

from __future__ import annotations

from infra.image.layers import Layer, read_layers, table

HISTORY = """\
0 B\t/bin/sh -c #(nop) LABEL org.opencontainers.image.title="gleaner"
21.3 MB\t/bin/sh -c #(nop) COPY dir:f33f18 in /opt/gleaner
2.56 kB\t/bin/sh -c #(nop) COPY dir:7e7a99 in /opt/models
348MB\tRUN /bin/sh -c python3 -m venv /tmp/pip && pip --requirement /opt/gleaner/lists/libraries/requirements.txt
4.12 GB\t/bin/sh -c pip --requirement /opt/gleaner/lists/torch/requirements.txt && pip uninstall triton
42.5 kB\t/bin/sh -c useradd --uid 10001 gleaner && python3 -m venv --without-pip /opt/gleaner
272 MB\t/bin/sh -c #(nop) ADD file:7a42d7 in /
"""


def test_layers_are_named_by_content_and_empty_ones_left_out() -> None:
    assert read_layers(HISTORY) == (
        Layer("the base image", 272_000_000),
        Layer("the user, an empty environment", 42_500),
        Layer("torch and what it brings along", 4_120_000_000),
        Layer("all other libraries", 348_000_000),
        Layer("baked models", 2_560),
        Layer("our code and the built-in model", 21_300_000),
    )


def test_the_table_ends_with_the_sum() -> None:
    assert table((Layer("a", 1_500_000), Layer("b", 500_000))).endswith("| a | 1.5 |\n| b | 0.5 |\n| sum | 2.0 |")
