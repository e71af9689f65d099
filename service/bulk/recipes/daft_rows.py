"""Daft: `python -m service.bulk.recipes.daft_rows IN OUT`.

    pip install daft    # 350 MB with pyarrow; up after two seconds, and the engine

On one machine; on a Ray cluster with `daft.set_runner_ray()`. There is no checkpoint: a job that was ended begins anew,
and replaces what is in OUT. A file that cannot be read is answered as an empty one (`on_error="null"`): its row has
`bytes` 0, where Daft would end the whole job.
"""

from __future__ import annotations

import sys

import daft
from daft import DataType, Series, col

from service.bulk.extractor import BulkExtractor

TEXTS = ("key", "version", "sha256", "model", "document", "error_code", "error_detail")
ROW = DataType.struct({"bytes": DataType.int64(), **{name: DataType.string() for name in TEXTS}})
EXTRACTOR = BulkExtractor(fields=True)


@daft.func.batch(return_dtype=ROW, unnest=True, batch_size=64, use_process=False)
def answers(paths: Series, contents: Series) -> Series:
    batch = {"path": paths.to_pylist(), "bytes": [content or b"" for content in contents.to_pylist()]}
    columns = EXTRACTOR(batch)
    return Series.from_pylist([dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)])


def main(source: str, target: str) -> None:
    files = daft.from_glob_path(f"{source.rstrip('/')}/**")
    contents = col("path").download(on_error="null")
    files.select(answers(col("path"), contents)).write_parquet(target, write_mode="overwrite")


if __name__ == "__main__":
    main(*sys.argv[1:])
