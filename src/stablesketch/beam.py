"""Private numbers from Beam PCollections: `Release`, `Sketch`, where to find secrets, and `typed_error`.

Needs the extra `beam`. How to use it: docs/how-to/beam.md.
"""

from .reading.libraries import need

need("apache_beam", "beam")
need("pyarrow", "beam")

from .engines.beam.collect_fn import CollectFn  # noqa: E402  # the libraries first: their absence has its own message
from .engines.beam.failure import typed_error  # noqa: E402
from .engines.beam.sketch import Sketch  # noqa: E402
from .engines.beam.transform import Release  # noqa: E402
from .engines.secret_from import SecretFrom  # noqa: E402

__all__ = ["CollectFn", "Release", "SecretFrom", "Sketch", "typed_error"]
