// Python's view of the entries. Buffers are read in place and the interpreter lock is released while they are.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <optional>

#include "entries.hpp"

namespace nb = nanobind;
using namespace stablesketch;

namespace {

using Fingerprints = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

struct KeyBytes {
    std::uint8_t bytes[16];
    explicit KeyBytes(const nb::bytes& key) {
        if (key.size() != 16) throw nb::value_error("an AES-128 key has 16 bytes");
        std::memcpy(bytes, key.c_str(), 16);
    }
    ~KeyBytes() {
        volatile std::uint8_t* wipe = bytes;
        for (int i = 0; i < 16; ++i) wipe[i] = 0;
    }
};

void add(Entries& entries, const nb::bytes& key, std::uint32_t domain, const Fingerprints& fingerprints,
         const std::optional<Weights>& weights, bool negative) {
    if (weights && weights->shape(0) != fingerprints.shape(0)) throw nb::value_error("one weight a fingerprint");
    const KeyBytes raw(key);
    nb::gil_scoped_release unlocked;
    const Aes128 aes(raw.bytes);
    entries.add(aes, domain, fingerprints.data(), weights ? weights->data() : nullptr, fingerprints.shape(0),
                negative ? -1 : 1);
}

nb::bytes state(const Entries& entries) {
    const auto words = entries.state();
    std::vector<std::uint8_t> bytes(words.size() * 4);
    for (std::size_t i = 0; i < words.size(); ++i)
        for (int k = 0; k < 4; ++k) bytes[4 * i + k] = static_cast<std::uint8_t>(words[i] >> (8 * k));
    return nb::bytes(bytes.data(), bytes.size());
}

void load(Entries& entries, const nb::bytes& state) {
    const std::size_t words = std::size_t(entries.size()) * entries.digits();
    if (state.size() != 4 * words) throw nb::value_error("a state has 4 * digits bytes an entry");
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(state.c_str());
    std::vector<std::uint32_t> out(words);
    for (std::size_t i = 0; i < words; ++i)
        for (int k = 0; k < 4; ++k) out[i] |= std::uint32_t(bytes[4 * i + k]) << (8 * k);
    entries.load(out.data());
}

// The table as numpy sees it: rows[side, row, coefficient], and the numbers that say how to read it.
nb::tuple table_of(double p) {
    std::shared_ptr<const StableTable> table;
    {
        nb::gil_scoped_release unlocked;
        table = stable_table(p);
    }
    auto* keep = new std::shared_ptr<const StableTable>(table);
    const nb::capsule owner(keep, [](void* held) noexcept { delete static_cast<std::shared_ptr<const StableTable>*>(held); });
    const double* data = table->rows.front().c;
    nb::ndarray<nb::numpy, const double, nb::ndim<3>> rows(data, {2, table->rows_per_side(), 8}, owner);
    return nb::make_tuple(rows, table->bin_bits, table->resolution, table->shift);
}

nb::bytes aes128_encrypt(const nb::bytes& key, const nb::bytes& block) {
    if (block.size() != 16) throw nb::value_error("a block has 16 bytes");
    const KeyBytes raw(key);
    const auto* in = reinterpret_cast<const std::uint8_t*>(block.c_str());
    std::uint32_t words[4] = {};
    for (int i = 0; i < 16; ++i) words[i / 4] |= std::uint32_t(in[i]) << (8 * (i % 4));
    Aes128(raw.bytes).encrypt(words);
    std::uint8_t out[16];
    for (int i = 0; i < 16; ++i) out[i] = static_cast<std::uint8_t>(words[i / 4] >> (8 * (i % 4)));
    return nb::bytes(out, 16);
}

}  // namespace

void bind_entries(nb::module_& m) {
    nb::class_<Entries>(m, "Entries")
        .def(nb::init<double, std::uint32_t>(), nb::arg("p"), nb::arg("size"), nb::call_guard<nb::gil_scoped_release>())
        .def_prop_ro("p", &Entries::p)
        .def_prop_ro("size", &Entries::size)
        .def_prop_ro("digits", &Entries::digits)
        .def_prop_ro("resolution", [](const Entries& e) { return e.table().resolution; })
        .def("add", &add, nb::arg("key"), nb::arg("domain"), nb::arg("fingerprints").noconvert(),
             nb::arg("weights").noconvert().none(), nb::arg("negative"))
        .def("merge", &Entries::merge, nb::arg("other"), nb::call_guard<nb::gil_scoped_release>())
        .def("copy", [](const Entries& e) { return Entries(e); })
        .def("state", &state)
        .def("load", &load, nb::arg("state"));
    m.def("table", &table_of, nb::arg("p"));
    m.def("aes128_encrypt", &aes128_encrypt, nb::arg("key"), nb::arg("block"));
}
