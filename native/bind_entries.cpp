// Python's view of the entries. Buffers are read in place and the interpreter lock is released while they are.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "accumulator.hpp"
#include "aes.hpp"
#include "bind_common.hpp"
#include "entries.hpp"
#include "kernel.hpp"
#include "variate.hpp"

namespace nb = nanobind;
using namespace stablesketch;

namespace {

using Fingerprints = nb::ndarray<const std::uint64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Weights = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

std::vector<std::string> tier_names() {
    std::vector<std::string> names;
    for (const Tier& tier : tiers()) names.push_back(tier.name);
    return names;
}

void make_accumulator(Accumulator* self, double p, std::uint32_t size, const nb::bytes& key, std::uint32_t domain,
                      std::size_t rows, const std::string& tier) {
    const KeyBytes raw(key);
    const Tier& chosen = tier_named(tier);
    nb::gil_scoped_release unlocked;
    new (self) Accumulator(p, size, raw.bytes, domain, rows, chosen);
}

// Adds the rows and returns (high, low, outside) as accumulator.hpp has them.
nb::tuple add(Accumulator& accumulator, const Fingerprints& fingerprints, const std::optional<Weights>& weights,
              bool negative, const std::optional<std::int64_t>& highest) {
    const std::size_t rows = fingerprints.shape(0);
    if (weights && weights->shape(0) != rows) throw nb::value_error("one weight a fingerprint");
    const std::int64_t* own = weights ? weights->data() : nullptr;
    Accumulator::Added added;
    {
        nb::gil_scoped_release unlocked;
        added = accumulator.add(fingerprints.data(), own, rows, negative ? -1 : 1, highest.value_or(0));
    }
    return nb::make_tuple(added.high, added.low, added.outside);
}

// The first row whose value is not in [lowest, highest], or -1.
std::int64_t first_outside(const Weights& values, std::int64_t lowest, std::int64_t highest) {
    const std::int64_t* at = values.data();
    const std::size_t rows = values.shape(0);
    nb::gil_scoped_release unlocked;
    // One of the two differences is negative (modulo 2^64, for bounds of at most 2^62) exactly for a value outside; signs
    // are gathered without a comparison, which the least processors lack for vectors.
    std::uint64_t signs = 0;
    for (std::size_t i = 0; i < rows; ++i) {
        const auto v = static_cast<std::uint64_t>(at[i]);
        signs |= (v - static_cast<std::uint64_t>(lowest)) | (static_cast<std::uint64_t>(highest) - v);
    }
    for (std::size_t i = 0; signs >> 63 != 0 && i < rows; ++i)
        if (at[i] < lowest || at[i] > highest) return static_cast<std::int64_t>(i);
    return -1;
}

void absorb(Entries& entries, const std::vector<Accumulator*>& accumulators) {
    if (accumulators.empty()) return;
    for (const Accumulator* one : accumulators)
        if (one == nullptr || one->p() != entries.p() || one->size() != entries.size())
            throw nb::value_error("an accumulator of another p or size");
    nb::gil_scoped_release unlocked;
    entries.absorb(Accumulator::finish(accumulators));
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

// The deep octaves of a table, rows[row, coefficient]; some laws have none.
nb::object deep_rows(double p) {
    std::shared_ptr<const StableTable> table;
    {
        nb::gil_scoped_release unlocked;
        table = stable_table(p);
    }
    auto* keep = new std::shared_ptr<const StableTable>(table);
    const nb::capsule owner(keep, [](void* held) noexcept { delete static_cast<std::shared_ptr<const StableTable>*>(held); });
    const double* data = table->deep.empty() ? nullptr : table->deep.front().c;
    return nb::cast(nb::ndarray<nb::numpy, const double, nb::ndim<2>>(data, {table->deep.size(), 8}, owner));
}

// |x| 2^-shift of bits that ask for more, as a kernel has it: for the tests, which cannot wait for such bits.
double fine_magnitude(double p, std::uint64_t bits, std::uint64_t more, std::uint64_t last) {
    const auto table = stable_table(p);
    const TableView view = view_of(*table);
    if ((bits & view.coarse) != 0) throw nb::value_error("these bits ask for no more");
    return fine_magnitude_of(view, bits, more, last);
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
        .def("absorb", &absorb, nb::arg("accumulators"))
        .def("merge", &Entries::merge, nb::arg("other"), nb::call_guard<nb::gil_scoped_release>())
        .def("copy", [](const Entries& e) { return Entries(e); })
        .def("state", &state)
        .def("load", &load, nb::arg("state"));
    nb::class_<Accumulator>(m, "Accumulator")
        .def("__init__", &make_accumulator, nb::arg("p"), nb::arg("size"), nb::arg("key"), nb::arg("domain"),
             nb::arg("rows"), nb::arg("tier"))
        .def("add", &add, nb::arg("fingerprints").noconvert(), nb::arg("weights").noconvert().none(),
             nb::arg("negative"), nb::arg("highest") = nb::none());
    m.def("first_outside", &first_outside, nb::arg("values").noconvert(), nb::arg("lowest"), nb::arg("highest"));
    m.attr("SKEWED") = skewed;
    m.def("tier_names", &tier_names);
    m.def("table", &table_of, nb::arg("p"));
    m.def("deep_rows", &deep_rows, nb::arg("p"));
    m.def("fine_magnitude", &fine_magnitude, nb::arg("p"), nb::arg("bits"), nb::arg("more"), nb::arg("last"));
    m.def("deep_octaves", [](double p) { return nb::make_tuple(deep_octaves(p).upper, deep_octaves(p).lower); }, nb::arg("p"));
    m.def("tables_held", &tables_held);
    m.attr("MOST_TABLES") = most_tables;
    m.def("aes128_encrypt", &aes128_encrypt, nb::arg("key"), nb::arg("block"));
}
