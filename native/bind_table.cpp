// Python's view of the tables that turn bits into X, and of AES: for the reference and the tests.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

#include <initializer_list>
#include <memory>

#include "aes.hpp"
#include "bind_common.hpp"
#include "kernel.hpp"
#include "stable_table.hpp"
#include "variate.hpp"

namespace nb = nanobind;
using namespace stablesketch;

namespace {

std::shared_ptr<const StableTable> table_named(const NamedLaw& law) {
    const EntryLaw own = entry_law(law);
    nb::gil_scoped_release unlocked;
    return stable_table(own);
}

// Rows of a table as an array of numpy, which keeps the table.
nb::object rows_of(const std::shared_ptr<const StableTable>& table, const std::vector<Row>& rows,
                   std::initializer_list<std::size_t> shape) {
    auto* kept = new std::shared_ptr<const StableTable>(table);
    const nb::capsule owner(kept,
                            [](void* held) noexcept { delete static_cast<std::shared_ptr<const StableTable>*>(held); });
    const double* data = rows.empty() ? nullptr : rows.front().c;
    return nb::cast(nb::ndarray<nb::numpy, const double>(data, shape, owner));
}

// rows[side, row, coefficient], and the numbers that say how to read them.
nb::tuple table_of(const NamedLaw& law) {
    const auto table = table_named(law);
    return nb::make_tuple(rows_of(table, table->rows, {2, table->rows_per_side(), 8}), table->bin_bits,
                          table->resolution, table->shift);
}

// The deep octaves of a table, rows[row, coefficient]; some laws have none.
nb::object deep_rows(const NamedLaw& law) {
    const auto table = table_named(law);
    return rows_of(table, table->deep, {table->deep.size(), 8});
}

nb::tuple deep_octaves_of(const NamedLaw& law) {
    const DeepOctaves deep = deep_octaves(entry_law(law));
    return nb::make_tuple(deep.upper, deep.lower);
}

// |x| 2^-shift of bits that need more bits, as a kernel computes it: for the tests, which cannot wait for such bits.
double fine_magnitude(const NamedLaw& law, std::uint64_t bits, std::uint64_t more, std::uint64_t last) {
    const auto table = table_named(law);
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

void bind_table(nb::module_& m) {
    m.def("table", &table_of, nb::arg("law"));
    m.def("deep_rows", &deep_rows, nb::arg("law"));
    m.def("deep_octaves", &deep_octaves_of, nb::arg("law"));
    m.def("fine_magnitude", &fine_magnitude, nb::arg("law"), nb::arg("bits"), nb::arg("more"), nb::arg("last"));
    m.def("tables_held", &tables_held);
    m.attr("MOST_TABLES") = most_tables;
    m.def("aes128_encrypt", &aes128_encrypt, nb::arg("key"), nb::arg("block"));
}
