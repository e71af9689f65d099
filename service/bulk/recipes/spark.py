"""Spark: `spark-submit --master 'local[1]' service/bulk/recipes/spark.py IN OUT`; gleaner on every executor.

    pip install pyspark pyarrow 'pandas<3'    # 770 MB, and a JRE of 17 or later; up after ten seconds, and the engine

An executor's Python worker answers its partitions and keeps its engine from task to task. An engine takes a device, or
half the processors: give each executor one core and each machine one executor, or have all ask one service
(`BulkExtractor(url=…)`). Of a task whose worker died Spark answers the whole partition anew, four times at most. There
is no checkpoint: a job that was ended begins anew, and one that was written is not written over.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pyarrow
from pyspark.sql import SparkSession

from service.bulk.extractor import BulkExtractor

SCHEMA = (
    "key string, bytes long, error_code string, error_detail string, "
    "version string, sha256 string, model string, document string"
)
"""The columns of `BulkExtractor`, in their order."""


def answers(batches: Iterator[pyarrow.RecordBatch]) -> Iterator[pyarrow.RecordBatch]:
    extractor = BulkExtractor(fields=True)
    for batch in batches:
        columns = extractor({"path": batch["path"].to_pylist(), "bytes": batch["content"].to_pylist()})
        yield pyarrow.RecordBatch.from_pydict(columns)


def main(source: str, target: str) -> None:
    spark = SparkSession.builder.config("spark.sql.execution.arrow.maxRecordsPerBatch", 64).getOrCreate()
    files = spark.read.format("binaryFile").option("recursiveFileLookup", "true").load(source)
    files.select("path", "content").mapInArrow(answers, SCHEMA).write.parquet(target)


if __name__ == "__main__":
    main(*sys.argv[1:])
