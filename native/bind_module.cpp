// The Python module stablesketch._native: one binding file a subject.
#include <nanobind/nanobind.h>

namespace nb = nanobind;

void bind_elementary(nb::module_& m);
void bind_entries(nb::module_& m);
void bind_fold(nb::module_& m);
void bind_keys(nb::module_& m);
void bind_mixture(nb::module_& m);
void bind_lines(nb::module_& m);
void bind_noisy_law(nb::module_& m);
void bind_registers(nb::module_& m);
void bind_table(nb::module_& m);

NB_MODULE(_native, m) {
    nb::set_leak_warnings(false);  // objects alive at exit are the interpreter's business, not a message to users
    m.doc() = "The compiled core of stablesketch: fingerprints of keys, the exact entries of a sketch, and registers.";
    bind_elementary(m);
    bind_entries(m);
    bind_fold(m);
    bind_keys(m);
    bind_mixture(m);
    bind_lines(m);
    bind_noisy_law(m);
    bind_registers(m);
    bind_table(m);
}
