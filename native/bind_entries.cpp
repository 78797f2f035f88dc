// Python's view of the entries. Buffers are read in place and the interpreter lock is released while they are.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

#include "accumulator.hpp"
#include "aes.hpp"
#include "bind_common.hpp"
#include "entries.hpp"
#include "integers.hpp"
#include "kernel.hpp"

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

void check_buckets(std::uint32_t size, std::uint32_t buckets) {
    if (buckets == 0 || (buckets > 1 && (size % buckets != 0 || size / buckets % 2 != 0 || size == 0)))
        throw nb::value_error("an even number of entries in each bucket");
}

void make_entries(Entries* self, const NamedLaw& law, std::uint32_t size, std::uint32_t buckets) {
    check_buckets(size, buckets);
    const EntryLaw own = entry_law(law);
    nb::gil_scoped_release unlocked;
    new (self) Entries(own, size, buckets);
}

void make_accumulator(Accumulator* self, const NamedLaw& law, std::uint32_t size, const nb::bytes& key,
                      std::uint32_t domain, std::size_t rows, const std::string& tier, std::uint32_t buckets,
                      const Accumulator* beside, bool folded) {
    const KeyBytes raw(key);
    const EntryLaw own = entry_law(law);
    check_buckets(size, buckets);
    if (beside && (beside->law() != own || beside->size() != size || beside->buckets() != buckets))
        throw nb::value_error("an accumulator of another law, size or number of buckets");
    const Tier& chosen = tier_named(tier);
    nb::gil_scoped_release unlocked;
    new (self) Accumulator(own, size, raw.bytes, domain, rows, chosen, buckets, buckets > 1 ? beside : nullptr, folded);
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
    // One of the two differences is negative (modulo 2^64, for bounds of at most 2^62) exactly for a value outside.
    // Signs are collected without comparisons, which the simplest processors lack for vectors.
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
        if (one == nullptr || one->law() != entries.law() || one->size() != entries.size() ||
            one->buckets() != entries.buckets())
            throw nb::value_error("an accumulator of another law, size or number of buckets");
    nb::gil_scoped_release unlocked;
    Accumulator::finish(accumulators, entries);
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

nb::bytes packed_integers(const std::vector<std::uint32_t>& words, std::size_t digits) {
    std::vector<std::uint8_t> out;
    for (std::size_t at = 0; at < words.size(); at += digits) append_integer(out, &words[at], digits);
    return nb::bytes(out.data(), out.size());
}

// The digits of exactly `count` integers in the wire format.
std::vector<std::uint32_t> unpacked(const nb::bytes& integers, std::size_t count, std::size_t digits) {
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(integers.c_str());
    const IntegersEnd found = integers_end(bytes, integers.size(), 0, count);
    if (found.form != Form::good || found.position != integers.size()) throw nb::value_error("not so many integers");
    std::vector<std::uint32_t> words(count * digits);
    for (std::size_t i = 0, at = 0; i < count; ++i, at += 1 + std::size_t(bytes[at]))
        if (!read_integer(bytes + at, &words[i * digits], digits))
            throw std::overflow_error("an integer beyond its width");
    return words;
}

// The entries in the wire format.
nb::bytes packed(const Entries& entries) {
    return packed_integers(entries.state(), static_cast<std::size_t>(entries.digits()));
}

void load_packed(Entries& entries, const nb::bytes& integers) {
    entries.load(unpacked(integers, entries.size(), static_cast<std::size_t>(entries.digits())).data());
}

constexpr std::size_t total_digits = 4;

// The totals of the buckets, if they are kept, in the wire format.
nb::bytes packed_totals(const Entries& entries) {
    std::vector<std::uint32_t> words;
    for (const int128 total : entries.totals())
        for (std::size_t k = 0; k < total_digits; ++k) words.push_back(static_cast<std::uint32_t>(total >> (32 * k)));
    return packed_integers(words, total_digits);
}

void load_packed_totals(Entries& entries, const nb::bytes& integers) {
    std::vector<int128> totals(entries.totals().size());
    const auto words = unpacked(integers, totals.size(), total_digits);
    for (std::size_t i = 0; i < words.size(); ++i)
        totals[i / total_digits] |= static_cast<int128>(static_cast<uint128>(words[i]) << (32 * (i % total_digits)));
    entries.load_totals(std::move(totals));
}

// The totals of the buckets, if they are kept: (high, low) with total = high * 2^64 + low.
nb::tuple totals(const Entries& entries) {
    std::vector<std::int64_t> high;
    std::vector<std::uint64_t> low;
    for (const int128 total : entries.totals()) {
        high.push_back(static_cast<std::int64_t>(total >> 64));
        low.push_back(static_cast<std::uint64_t>(total));
    }
    return nb::make_tuple(given(std::move(high)), given(std::move(low)));
}

// Where `count` integers that begin at a position end, and what is wrong with the first invalid one, or "".
nb::tuple end_of_integers(const nb::bytes& body, std::size_t begin, std::size_t count) {
    const IntegersEnd found =
        integers_end(reinterpret_cast<const std::uint8_t*>(body.c_str()), body.size(), begin, count);
    const char* const wrong[] = {"", "missing", "cut", "long"};
    return nb::make_tuple(found.position, wrong[static_cast<int>(found.form)]);
}

// (fraction, exponent) of each entry, as entries.hpp has them.
nb::tuple split(const Entries& entries) {
    std::vector<double> fraction(entries.size());
    std::vector<std::int64_t> exponent(entries.size());
    {
        nb::gil_scoped_release unlocked;
        entries.split(fraction.data(), exponent.data());
    }
    return nb::make_tuple(given(std::move(fraction)), given(std::move(exponent)));
}

nb::object buckets_of_keys(const nb::bytes& key, std::uint32_t domain, const Fingerprints& fingerprints,
                           std::uint32_t buckets, const std::string& tier) {
    const KeyBytes raw(key);
    const Tier& chosen = tier_named(tier);
    std::vector<std::uint32_t> found(fingerprints.shape(0));
    buckets_of(Aes128(raw.bytes), domain, chosen.encrypt, fingerprints.data(), found.size(), buckets, found.data());
    return given(std::move(found));
}

}  // namespace

void bind_entries(nb::module_& m) {
    nb::class_<Entries>(m, "Entries")
        .def("__init__", &make_entries, nb::arg("law"), nb::arg("size"), nb::arg("buckets") = 1)
        .def_prop_ro("size", &Entries::size)
        .def_prop_ro("buckets", &Entries::buckets)
        .def_prop_ro("digits", &Entries::digits)
        .def_prop_ro("resolution", [](const Entries& e) { return e.table().resolution; })
        .def("absorb", &absorb, nb::arg("accumulators"))
        .def("merge", &Entries::merge, nb::arg("other"), nb::call_guard<nb::gil_scoped_release>())
        .def("copy", [](const Entries& e) { return Entries(e); })
        .def("state", &state)
        .def("load", &load, nb::arg("state"))
        .def("packed", &packed)
        .def("load_packed", &load_packed, nb::arg("integers"))
        .def("totals", &totals)
        .def("packed_totals", &packed_totals)
        .def("load_packed_totals", &load_packed_totals, nb::arg("integers"))
        .def("split", &split);
    nb::class_<Accumulator>(m, "Accumulator")
        .def("__init__", &make_accumulator, nb::arg("law"), nb::arg("size"), nb::arg("key"), nb::arg("domain"),
             nb::arg("rows"), nb::arg("tier"), nb::arg("buckets") = 1, nb::arg("beside").none() = nb::none(),
             nb::arg("folded") = false)
        .def("add", &add, nb::arg("fingerprints").noconvert(), nb::arg("weights").noconvert().none(),
             nb::arg("negative"), nb::arg("highest") = nb::none());
    m.def("integers_end", &end_of_integers, nb::arg("body"), nb::arg("begin"), nb::arg("count"));
    m.def("buckets_of", &buckets_of_keys, nb::arg("key"), nb::arg("domain"), nb::arg("fingerprints").noconvert(),
          nb::arg("buckets"), nb::arg("tier"));
    m.def("first_outside", &first_outside, nb::arg("values").noconvert(), nb::arg("lowest"), nb::arg("highest"));
    m.def("tier_names", &tier_names);
}
