// The table that turns a uniform number into a stable number X.
//
// Random bits give a sign, a side and t, uniform in (0, 1] and at least 2^-63 (variate.hpp).
//   upper side: P(|X| > x) = t/2      lower side: P(|X| <= x) = t/2
// so both tails keep their relative accuracy. Each octave of t (each binary exponent) is cut into 2^bin_bits equal
// bins, and in a bin x is a polynomial of degree 7 in the position s in [-1/2, 1/2): eight coefficients, one cache
// line. Entries keep X as an integer multiple of 2^-resolution; see entries.hpp.
//
// The laws that are not symmetric (entry_law.hpp) are signed by themselves, so that no bit is the sign of X: P(X > x) =
// t/2 on the upper side, which has the heavy tail, and P(X <= x) = t/2 on the lower one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "entry_law.hpp"

namespace stablesketch {

struct alignas(64) Row {
    double c[8];
};

struct TableShape {
    int bin_bits = 5;     // bins per octave = 2^bin_bits
    int resolution = 52;  // q: X is kept as a multiple of 2^-q
    int shift = 0;        // S: the rows hold x 2^-S, so that nothing overflows at p = 0.05
    int octaves = 63;     // exponents of the 63-bit odd integer 2m + 1; one more row for t rounded up to 1

    std::size_t rows_per_side() const { return (std::size_t(octaves) << bin_bits) + 1; }
};

struct StableTable : TableShape {
    EntryLaw law;
    std::vector<Row> rows;    // upper side, then lower side
    std::vector<Row> deep;    // the deep octaves, if there are any, from the smallest t on, upper side, then lower side
    std::vector<Row> marked;  // the same as the vector tiers take them, if that is not the same (marked_rows.hpp)
    std::vector<Row> direct;  // the same as the AVX-512 tier takes them (direct_rows.hpp); empty where it cannot run
};

TableShape table_shape(const EntryLaw& law);
// Two builds of one function: the same rows, whichever runs.
void fill_table_plain(const EntryLaw& law, const TableShape& shape, Row* rows, Row* deep);
void fill_table_fma(const EntryLaw& law, const TableShape& shape, Row* rows, Row* deep);

// The table of a law, with p in [0.05, 2] or, one-sided, in [0.05, 0.999]: built on first use and shared by all users
// of the same law. Thread-safe. The last `most_tables` are kept, of at most 3.3 MiB each; a dropped table is built
// again, with the same bits. Users hold the tables that they use.
inline constexpr std::size_t most_tables = 32;
std::shared_ptr<const StableTable> stable_table(const EntryLaw& law);
std::size_t tables_held();

}  // namespace stablesketch
