// Python's view of the registers that count distinct keys: a numpy array of 32-bit words, changed in place.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>

#include "bind_common.hpp"
#include "registers.hpp"

namespace nb = nanobind;
using namespace stablesketch;

namespace {

using Fingerprints = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Registers = nb::ndarray<std::uint32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

void registers_add(const Registers& registers, const Fingerprints& fingerprints, const nb::bytes& key,
                   std::uint32_t domain, const std::string& tier) {
    if (registers.shape(0) == 0 || registers.shape(0) >> 32 != 0) throw nb::value_error("1 to 2^32 - 1 registers");
    const KeyBytes raw(key);
    const Encrypt encrypt = tier_named(tier).encrypt;
    nb::gil_scoped_release unlocked;
    add_to_registers(Aes128(raw.bytes), domain, encrypt, fingerprints.data(), fingerprints.shape(0), registers.data(),
                     static_cast<std::uint32_t>(registers.shape(0)));
}

}  // namespace

void bind_registers(nb::module_& m) {
    m.def("registers_add", &registers_add, nb::arg("registers").noconvert(), nb::arg("fingerprints").noconvert(),
          nb::arg("key"), nb::arg("domain"), nb::arg("tier"));
}
