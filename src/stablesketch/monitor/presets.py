"""The logs of well-known programs: which field is the key, the time, the value."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

PresetName = Literal["zeek", "suricata", "goflow2"]
LineFormat = Literal["json", "csv", "tsv", "zeek", "lines"]
TimeUnit = Literal["s", "ms", "us", "ns"]


@dataclass(frozen=True)
class Preset:
    """The fields to read from a program's logs, unless others are named."""

    format: LineFormat
    key: str
    time: str
    value: str
    time_unit: TimeUnit = "s"


PRESETS: dict[PresetName, Preset] = {
    "zeek": Preset("zeek", "id.orig_h", "ts", "orig_bytes"),  # conn.log, as TSV or as JSON
    "suricata": Preset("json", "src_ip", "timestamp", "flow.bytes_toserver"),  # eve.json
    "goflow2": Preset("json", "src_addr", "time_received_ns", "bytes", "ns"),  # its JSON of flows
}
