// The table that turns a uniform number into a symmetric p-stable number X.
//
// Random bits give a sign, a side and t, uniform in (0, 1] and at least 2^-63 (variate.hpp).
//   upper side: P(|X| > x) = t/2      lower side: P(|X| <= x) = t/2
// so both tails keep their relative accuracy. Each octave of t (each binary exponent) is cut into 2^bin_bits equal bins,
// and in a bin x is a polynomial of degree 7 in the position s in [-1/2, 1/2): eight coefficients, one cache line.
// Entries keep X as an integer multiple of 2^-resolution; see entries.hpp.
//
// A negative order -p stands for a law that is signed by itself, so that no bit is the sign of X: P(X > x) = t/2 on the
// upper side and P(X <= x) = t/2 on the lower one. For 0 < p < 1 it is the positive p-stable law, E e^{-sX} = exp(-s^p).
// -1, `skewed`, is the law that it tends to, scaled and shifted, as p goes to 1: that of -R, R the 1-stable law with
// E e^{tR} = t^t, which entropy is made of. Its heavy tail, of positive X, is the upper side, too.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace stablesketch {

inline constexpr double skewed = -1.0;
static inline bool one_sided(double order) { return order < 0.0 && order > skewed; }
// Octaves of t below 2^-63 that some tables have besides, on the upper and on the lower side. Once in 2^62 draws one of them
// is met; what is below them is moved up (docs/math-noisy-estimate.md says what that costs). Each octave of the upper side
// makes entries wider by 1/p bits, so one-sided tables have few of them there. Symmetric ones of 1 < p < 2 have as many as
// make an X beyond them too rare to matter; on their lower side X is proportional to t, and there is nothing to gain.
struct DeepOctaves {
    int upper = 0, lower = 0;
    constexpr int of(std::size_t side) const { return side == 0 ? upper : lower; }
    constexpr int both() const { return upper + lower; }
};
static inline constexpr DeepOctaves deep_octaves(double order) {
    if (order < 0.0 && order > skewed) return {8, 32};
    if (order > 1.0 && order < 2.0) return {32, 0};
    return {};
}

struct alignas(64) Row {
    double c[8];
};

struct TableShape {
    int bin_bits = 5;     // bins per octave = 2^bin_bits
    int resolution = 52;  // q: X is kept as a multiple of 2^-q
    int shift = 0;        // S: the rows hold x 2^-S, so that nothing overflows at p = 0.05
    int octaves = 63;     // exponents of the 63-bit odd integer 2m + 1; one more row for t rounded up to 1

    bool symmetric = true;

    std::size_t rows_per_side() const { return (std::size_t(octaves) << bin_bits) + 1; }
};

struct StableTable : TableShape {
    double p = 1.0;           // the order: negative for a law signed by itself
    std::vector<Row> rows;    // upper side, then lower side
    std::vector<Row> deep;    // the deep octaves, if there are any, from the smallest t on, upper side, then lower side
    std::vector<Row> marked;  // the same as the vector tiers take them, if that is not the same (marked_rows.hpp)
    std::vector<Row> direct;  // the same as the AVX-512 tier takes them (direct_rows.hpp); empty where it cannot run
};

TableShape table_shape(double p);
// Two builds of one function: the same rows, whichever runs.
void fill_table_plain(double p, const TableShape& shape, Row* rows, Row* deep);
void fill_table_fma(double p, const TableShape& shape, Row* rows, Row* deep);

// The table of p in [0.05, 2], of a one-sided law of order -p, or of the skewed law, built on first use and shared by all
// who ask for the same p. Thread-safe. The `most_tables` used last are kept, of at most 3.3 MiB each; a table that was let go
// is built again, with the same bits. What is in use is held by who uses it.
inline constexpr std::size_t most_tables = 32;
std::shared_ptr<const StableTable> stable_table(double p);
std::size_t tables_held();

}  // namespace stablesketch
