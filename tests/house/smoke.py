"""Does an installed wheel work? Run by the tests of packaging, and after every wheel that is built."""

import sys
import sysconfig

import stablesketch as ss

assert sys.prefix in ss.__file__, ss.__file__
secret = ss.Secret.generate()
sketches = [ss.Sketch(p=p, size=100, secret=secret) for p in (0.05, 0.5, 1.0)]
for sketch in sketches:
    sketch.update(["home", "search", "home", "cart"], [1, 2, 3, 4])
    sketch.delete(["cart"], [4])
    found = sketch.estimate(confidence=1 - 1e-9)
    assert found.low < 4**sketch.p + 2**sketch.p < found.high, found
    assert ss.Sketch.from_bytes(sketch.to_bytes(), secret).to_bytes() == sketch.to_bytes()
    assert (sketch + sketch).total == 12
assert abs(ss.StableLaw(1.0).quantile(0.75) - 1) < 1e-14  # the Cauchy law: the tangent of 45 degrees
try:
    ss.Sketch(p=3.0, size=5)
except ss.ArgumentError as error:
    assert "got 3.0" in str(error)  # noqa: PT017 (there is no pytest)
else:
    raise AssertionError("p = 3 was accepted")
collector = ss.plan(ss.Moment(0.5), ss.Privacy(1.0, 1e-9)).open()
collector.update(range(1000))
release = collector.release()
assert abs(release.value - 1000) < 250, release  # it errs by 5 and by 2.5: 250 is out of reach
assert ss.Release.from_json(release.to_json()) == release
if sysconfig.get_config_var("Py_GIL_DISABLED"):
    assert not sys._is_gil_enabled(), "the import took the interpreter lock back"
others = {name.partition(".")[0] for name in sys.modules if getattr(sys.modules[name], "__file__", None)}
print(sorted(name for name in others & {"scipy", "pandas", "polars", "pyarrow", "pytest", "mpmath"}))
