// ln and exp from IEEE operations alone: the same bits on every machine, and errors that are proved, not measured.
//
// With u = 2^-53 (docs/math-elementary.md has the proofs):
//   log_of(x, e)   is within u (|L| + 1) of L = ln(x 2^e), for positive x and |e| < 2^16;
//   exp_of(x)      is within 2u of e^x, relative to it, for -708 <= x <= 709; below it is 0, above infinite;
//   exp_sum(...)   is within 1.1u of the sum of its computed terms, relative to it, for fewer than 2^24 of them.
// The polynomials are Taylor's, so that what they lack is a geometric series. Nothing here depends on where in an array
// a number stands.
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>

namespace stablesketch {

// ln 2 = high + low, to 2^-92. `high` is a multiple of 2^-36, so that its product with a whole number below 2^17 is
// exact.
inline constexpr double ln2_high = 0x1.62e42fefap-1, ln2_low = 0x1.cf79abc9e3b3ap-40;

inline double log_of(double x, double exponent) {
    constexpr double infinite = std::numeric_limits<double>::infinity();
    const bool tiny = x < 0x1p-1022;
    const double normal = tiny ? x * 0x1p54 : x;
    // normal = m 2^k with m from √½ to √2: the exponent of normal over √½, biased so that it is not negative.
    constexpr std::uint64_t root_half = 0x3FE6A09E667F3BCDu, bias = std::uint64_t(1024) << 52;
    const std::uint64_t bits = std::bit_cast<std::uint64_t>(normal);
    const std::uint64_t biased = (bits - root_half + bias) >> 52;
    const double m = std::bit_cast<double>(bits - (biased << 52) + bias);
    // An integer below 2^52 in the last places of 2^52 becomes a float by a difference.
    const double k = std::bit_cast<double>(biased | 0x4330000000000000u) - (0x1p52 + 1024.0) - (tiny ? 54.0 : 0.0);
    // ln m = 2 artanh s = 2s (1 + w/3 + w²/5 + ...), w = s² <= 0.0295.
    const double s = (m - 1.0) / (m + 1.0), w = s * s;
    double series = 1.0 / 21.0;
    for (int i = 19; i >= 3; i -= 2) series = series * w + 1.0 / i;
    const double twice = 2.0 * s, power = k + exponent;
    const double found = power * ln2_high + (twice + (twice * (w * series) + power * ln2_low));
    const double odd = x == 0.0 ? -infinite : std::numeric_limits<double>::quiet_NaN();
    return x > 0.0 ? (x < infinite ? found : infinite) : odd;
}

inline double exp_of(double x) {
    constexpr double lowest = -708.0, highest = 709.0;
    const double kept = x > lowest ? (x < highest ? x : highest) : lowest;
    // x = k ln 2 + r: the nearest whole number is in the last places of 1.5 · 2^52 plus x/ln 2.
    constexpr double whole = 0x1.8p52;
    const double shifted = kept * 0x1.71547652b82fep+0 + whole, k = shifted - whole;
    const double r = (kept - k * ln2_high) - k * ln2_low;
    // e^r = 1 + r + r² (1/2! + r/3! + ... + r^11/13!).
    constexpr double inverse_factorials[] = {1.0 / 2.0,       1.0 / 6.0,        1.0 / 24.0,        1.0 / 120.0,
                                             1.0 / 720.0,     1.0 / 5040.0,     1.0 / 40320.0,     1.0 / 362880.0,
                                             1.0 / 3628800.0, 1.0 / 39916800.0, 1.0 / 479001600.0, 1.0 / 6227020800.0};
    double series = inverse_factorials[11];
    for (int i = 10; i >= 0; --i) series = series * r + inverse_factorials[i];
    const double value = 1.0 + (r + (r * r) * series);
    const double power = std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
    const double found = value * power;
    const double above = x <= highest ? found : (x > highest ? std::numeric_limits<double>::infinity() : x);
    return x < lowest ? 0.0 : above;
}

// A sum whose rounding errors, which are exact floats (Knuth), are added up apart.
struct Sum {
    double value = 0.0, lost = 0.0;
    void add(double term) {
        const double next = value + term, taken = next - value;
        lost += (value - (next - taken)) + (term - taken);
        value = next;
    }
};

// The largest of the x, and the sum of e^{x - top}.
struct ExpSum {
    double top;
    double sum;
};
inline ExpSum exp_sum(const double* x, std::size_t count) {
    double top = x[0];
    for (std::size_t i = 1; i < count; ++i) top = x[i] > top ? x[i] : top;
    if (!std::isfinite(top)) return {top, std::numeric_limits<double>::quiet_NaN()};
    constexpr std::size_t block = 64, lanes = 8;  // side by side: one addition need not wait for the other
    Sum sums[lanes];
    for (std::size_t begin = 0; begin < count; begin += block) {
        double terms[block];
        const std::size_t here = std::min(block, count - begin);
        for (std::size_t i = 0; i < here; ++i) terms[i] = exp_of(x[begin + i] - top);
        for (std::size_t i = here; i % lanes != 0; ++i) terms[i] = 0.0;
        for (std::size_t i = 0; i < here; i += lanes)
            for (std::size_t lane = 0; lane < lanes; ++lane) sums[lane].add(terms[i + lane]);
    }
    Sum whole;
    for (const Sum& sum : sums) {
        whole.add(sum.value);
        whole.lost += sum.lost;
    }
    return {top, whole.value + whole.lost};
}

}  // namespace stablesketch
