"""Private numbers from Spark DataFrames: `release`, `sketch`, `sketch_by`, `merged`, and where to find secrets.

Needs the extra `spark` and Java 17. How to use it: docs/how-to/spark.md.
"""

from .reading.libraries import need

need("pyspark", "spark")
need("pyarrow", "spark")

from .engines.secret_from import SecretFrom  # noqa: E402  # the libraries first: their absence has a message of its own
from .engines.spark.release import release  # noqa: E402
from .engines.spark.sketch import merged, sketch, sketch_by  # noqa: E402

__all__ = ["SecretFrom", "merged", "release", "sketch", "sketch_by"]
