"""One example of every message between an API worker and the engine, with its buffer where it has one."""

from __future__ import annotations

import numpy as np

from service.core.debug_snapshot import BatchRun, DebugSnapshot, GpuUse, MemoryUse, RefusalCount
from service.core.decoding.word_tags import WordTags
from service.core.types import Load, Phase, Priority
from service.wire import (
    Buffer,
    Cancelled,
    DebugSnapshotReply,
    DebugSnapshotRequest,
    Hello,
    Message,
    ModelStatus,
    Refused,
    Scored,
    Started,
    Status,
    Submitted,
    TurnedAway,
    tagged,
)

MODEL = ModelStatus("m", "stable", "sha256:0", "/models/m", ("O", "B-X"), 512, True, 1000, kernels="onednn")
IDS = np.arange(5, dtype=np.int32)
LOGITS = np.linspace(-1, 1, 6, dtype=np.float32).reshape(3, 2)
TAGS = {
    "k": WordTags(np.array([0, 70, 300]), np.array([0.1])),
    "none": WordTags(np.empty(0, dtype=np.intp), np.empty(0)),
    "other": WordTags(np.array([7, 8]), np.array([0.2, 0.3])),
}
TAGGED, TAGS_BUFFER = tagged(TAGS, 9, 0.5)
BATCH = BatchRun(8, "sha256:0", 1.0, 1.5, 30, 40, 20, 1000, {"k": (10, 20)}, {"c": 2})
SNAPSHOT = DebugSnapshot(
    engine="77",
    now_seconds=2.0,
    load=Load(1, 2, 3, 4, 5.0),
    backlog_seconds=0.5,
    work_ratios={"compute": 0.4},
    tokens_per_second=None,
    arrived_tokens_per_second=3.0,
    busy_seconds=9.0,
    batches=(BATCH,),
    refusals=(RefusalCount("queue_full", 3, "full"),),
    memory=MemoryUse(1, 2, 3, 4, 5, {"sha256:0": 40}),
    gpu=GpuUse(0.5, None, 1, 70.0),
)
MESSAGES: list[tuple[Message, Buffer | None]] = [
    (Hello(3, closed=True, models_version=7, revisions=("sha256:0",)), None),
    (Submitted("k", "sha256:0", (2, 3), "c", Priority.BATCH, 12.5, 1), IDS),
    (Cancelled("k"), None),
    (TurnedAway("queue_full", 3, 1200), None),
    (DebugSnapshotRequest(7), None),
    (
        Status(
            "77", Phase.READY, 100, "", True, (MODEL,), "cpu", "bfloat16", Load(1, 2, 3, 4, 5.0), 6.0, {"load": 1.0}
        ),
        None,
    ),
    (Started(("a", "b")), None),
    (Scored("k", 1, 3, 2, 9, 0.5), LOGITS),
    (TAGGED, TAGS_BUFFER),
    (Refused("k", "queue_full", "full", 2.0), None),
    (DebugSnapshotReply(7, SNAPSHOT), None),
]
"""In the order of `Message`; `tests/test_wire.py` sees to it that none is missing."""
