"""What is fitted: trajectories in memory or streamed, cut into chunks."""

from wgsindy.data.arrays import (
    CENTRAL_RANGE,
    BoolArray,
    FloatArray,
    Frame,
    HashArray,
    IntArray,
    Scratch,
    frozen,
    scrambled,
    zeros,
)
from wgsindy.data.dataset import (
    BLOCK,
    CHUNK_SIZE,
    WINDOW_SIZE,
    Chunk,
    Dataset,
    Partition,
    Spans,
    Window,
    block_labels,
    whole_blocks,
)
from wgsindy.data.holes import BRIDGED, LONGEST_HOLE, velocity_name
from wgsindy.data.screening import (
    PROBED_SEGMENTS,
    PROBED_STEPS,
    Resolution,
    resolution_of,
    screened,
)
from wgsindy.data.source import Block, FunctionSource, Source
from wgsindy.data.stream import Stream
from wgsindy.data.trajectories import Trajectories
from wgsindy.data.validation import real_number, real_numbers, whole_number

__all__ = [
    "BLOCK",
    "BRIDGED",
    "CENTRAL_RANGE",
    "CHUNK_SIZE",
    "LONGEST_HOLE",
    "PROBED_SEGMENTS",
    "PROBED_STEPS",
    "WINDOW_SIZE",
    "Block",
    "BoolArray",
    "Chunk",
    "Dataset",
    "FloatArray",
    "Frame",
    "FunctionSource",
    "HashArray",
    "IntArray",
    "Partition",
    "Resolution",
    "Scratch",
    "Source",
    "Spans",
    "Stream",
    "Trajectories",
    "Window",
    "block_labels",
    "frozen",
    "real_number",
    "real_numbers",
    "resolution_of",
    "scrambled",
    "screened",
    "velocity_name",
    "whole_blocks",
    "whole_number",
    "zeros",
]
