"""Networks of OCR, two functions on arrays: a picture to the map of its text, strips of lines to their characters.

They are the seam to the device: here onnxruntime runs them, with one thread, inside the parser's sandbox. The weights
are PP-OCRv6 small (`model_store/builtin/ocr`). A parser opens no file, so the zygote loads them before it forks.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]
Integers = npt.NDArray[np.int64]
BUILTIN_WEIGHTS = Path(__file__).parents[3] / "model_store" / "builtin" / "ocr"
STRIP_HEIGHT = 48
"""Height of a strip in pixels, as the recognition network was trained."""


@dataclass(frozen=True, slots=True)
class TextNetworks:
    """The two networks.

    Attributes:
        detect: float32 [3, height, width] in -1 to 1, both sizes multiples of 32, → float32 [height, width]: the
            probability that each pixel belongs to a line of text.
        recognize: float32 [n, 3, 48, width] in -1 to 1, → for each strip and step the number of the likeliest character
            (int64 [n, steps]), its probability, and that of a space (float32 [n, steps]); 0 is no character.
        characters: the text of each number; that of 0 is empty, the last one is a space.
    """

    detect: Callable[[Floats], Floats]
    recognize: Callable[[Floats], tuple[Integers, Floats, Floats]]
    characters: Sequence[str]


_loaded: TextNetworks | None = None


def loaded_networks() -> TextNetworks | None:
    """The networks of this process and its children; None if none were loaded: then nothing is recognized."""
    return _loaded


def load_networks(folder: Path) -> TextNetworks:
    """Load a folder's `detection.onnx` and `recognition.onnx` for this process and the children that it forks.

    Raises:
        ImportError: onnxruntime is not installed.
        OSError: a file is missing.
    """
    global _loaded
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.enable_cpu_mem_arena = False  # an arena would keep the memory of the largest page
    options.add_session_config_entry("session.intra_op.allow_spinning", "0")

    def session(name: str) -> onnxruntime.InferenceSession:
        return onnxruntime.InferenceSession((folder / name).read_bytes(), options, providers=["CPUExecutionProvider"])

    detection, recognition = session("detection.onnx"), session("recognition.onnx")
    picture, strips = (each.get_inputs()[0].name for each in (detection, recognition))
    listed = recognition.get_modelmeta().custom_metadata_map["character"].split("\n")

    def detect(pixels: Floats) -> Floats:
        found: Floats = detection.run(None, {picture: pixels[None]})[0][0, 0]
        return found

    def recognize(pixels: Floats) -> tuple[Integers, Floats, Floats]:
        scores = recognition.run(None, {strips: pixels})[0]
        return scores.argmax(2), scores.max(2), scores[:, :, -1]

    _loaded = TextNetworks(detect, recognize, ["", *listed, " "])
    return _loaded
