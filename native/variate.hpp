// Random bits -> t -> X, as every tier must compute it: a table row, a polynomial of degree 7, two roundings an
// operation.
//
// 64 bits are the sign (bit 63), the side (bit 62) and m (62 bits). t = 2m + 1 as a double, in units of 2^-63, is
// uniform in (0, 1]. On the upper side a small t is a large X, and what matters is its relative precision: the largest
// of n keys has t near 1/n. So where m < 2^48 another 64 bits continue m, and t has a full mantissa however small it
// is. (On the lower side of symmetric laws X is proportional to t, and its absolute precision matters, which 62 bits
// give.) The law of entropy has a tail on its lower side too, and m is continued there as well. For the positive stable
// law the relative precision of both tails matters to the last bit (docs/math-noisy-estimate.md): an m < 2^52 is
// continued on both sides, so that t is always a uniform number rounded to 53 bits. If m = 0 and the table has deep
// octaves (entry_law.hpp), all bits of t come from those that follow, including a last 64, and t continues down into
// them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "exact_sum.hpp"
#include "kernel.hpp"

namespace stablesketch {

// Set in the domain word of the block that continues another one.
inline constexpr std::uint32_t continuation = 0x80000000u;
// And of the block that continues that one.
inline constexpr std::uint32_t last_continuation = 0xc0000000u;
// If no bit of these is set, m is continued: it is small, and the side is one where it is continued.
static inline std::uint64_t coarse_bits(const EntryLaw& law) {
    const Continued m = continued(law);
    const std::uint64_t small = 0x3fffffffffffffffULL & ~((std::uint64_t(1) << m.below) - 1);
    return m.both_sides ? small : small | std::uint64_t(1) << 62;
}

// The bits of t.
static inline std::uint64_t uniform_of(std::uint64_t bits) {
    const std::uint64_t odd = ((bits << 1) | 1) & 0x7fffffffffffffffULL;  // 2m + 1
    return std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(odd)));
}

// The bits of t for m < 2^52 with 64 more bits after m. Where there are no deep octaves all of m = 0 goes to the lowest
// one, [2^-63, 2^-62): a t below it is moved up by 2^-63.
static inline std::uint64_t fine_uniform_of(std::uint64_t bits, std::uint64_t more) {
    const std::uint64_t m = bits & 0x3fffffffffffffffULL;
    const int length = 64 - std::countl_zero(m);  // 0..52
    const std::uint64_t lead = m == 0 ? std::uint64_t(1) << 62 : m << (63 - length);
    const double mantissa = static_cast<double>(static_cast<std::int64_t>(lead | more >> (1 + length) | 1));
    return std::bit_cast<std::uint64_t>(mantissa) - (std::uint64_t(62 - length) << 52);
}

// The bits of t for m = 0 with this many deep octaves: t comes from the 128 bits that follow m, from 2 down to
// 2^-octaves. A smaller t goes to the lowest octave: it is moved up by 2^-octaves.
static inline std::uint64_t deep_uniform_of(std::uint64_t more, std::uint64_t last, int octaves) {
    const int zeros = std::countl_zero(more), down = zeros < octaves ? zeros : octaves;
    const std::uint64_t first = down == 0 ? more : more << down | last >> (64 - down);
    const double mantissa = static_cast<double>(static_cast<std::int64_t>(first >> 1 | std::uint64_t(1) << 62 | 1));
    return std::bit_cast<std::uint64_t>(mantissa) - (std::uint64_t(62 + down) << 52);
}

// The polynomial of a row at the place of t in its bin.
static inline double value_of(const Row& row, int b, std::uint64_t t) {
    const double s = std::bit_cast<double>(((t << b) & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL) - 1.5;
    const double* c = row.c;
    const double s2 = s * s;
    const double low = (c[0] + c[1] * s) + (c[2] + c[3] * s) * s2;
    const double high = (c[4] + c[5] * s) + (c[6] + c[7] * s) * s2;
    return low + high * (s2 * s2);
}

// |x| 2^-shift on a side: 0 upper, 1 lower. Of a law signed by itself, x with its sign.
static inline double magnitude_of(const TableView& table, std::size_t side, std::uint64_t t) {
    const int b = table.bin_bits;
    const std::size_t row = static_cast<std::size_t>((t >> (52 - b)) - (std::uint64_t(1023) << b));
    return value_of(table.rows[side * table.rows_per_side + row], b, t);
}

// Whether 64 more bits are not enough: m = 0, and there are deep octaves.
static inline bool asks_for_last(const TableView& table, std::uint64_t bits) {
    return (bits & 0x3fffffffffffffffULL) == 0 && table.deep != nullptr;
}

// magnitude_of for m < 2^52: with 64 more bits, and the last 64 if they are needed.
static inline double fine_magnitude_of(const TableView& table, std::uint64_t bits, std::uint64_t more,
                                       std::uint64_t last) {
    const std::size_t side = (bits >> 62) & 1;
    if (!asks_for_last(table, bits)) return magnitude_of(table, side, fine_uniform_of(bits, more));
    const int b = table.bin_bits, octaves = table.deep_octaves[side];
    const std::uint64_t t = deep_uniform_of(more, last, octaves);
    if (t >= std::uint64_t(1023) << 52) return magnitude_of(table, side, t);
    const std::size_t row = static_cast<std::size_t>((t >> (52 - b)) - (std::uint64_t(1023 - octaves) << b));
    return value_of(table.deep[(side == 0 ? 0 : std::size_t(table.deep_octaves[0]) << b) + row], b, t);
}

// digits += weight * X, X = (-1)^sign * x * 2^(shift + resolution) rounded to an integer.
static inline void add_variate(std::int64_t* digits, const TableView& table, std::uint64_t bits, double x,
                               std::int64_t weight) {
    const std::uint64_t sign = std::bit_cast<std::uint64_t>(x) >> 63;
    const double magnitude = std::fabs(x);
    const std::uint64_t raw = std::bit_cast<std::uint64_t>(magnitude);
    // magnitude = mantissa * 2^(exponent field - 1075)
    const int position = static_cast<int>(raw >> 52) - 1075 + table.shift + table.resolution;
    const bool negative = ((bits & table.sign_bit) != 0) != ((sign != 0) != (weight < 0));
    const std::uint64_t w = weight < 0 ? ~static_cast<std::uint64_t>(weight) + 1 : static_cast<std::uint64_t>(weight);
    if (position >= 0) {
        const std::uint64_t mantissa = (raw & 0x000fffffffffffffULL) | 0x0010000000000000ULL;
        add_shifted(digits, static_cast<uint128>(mantissa) * w, negative, position);
    } else {
        const double units = std::nearbyint(std::ldexp(magnitude, table.shift + table.resolution));
        add_shifted(digits, static_cast<uint128>(static_cast<std::uint64_t>(units)) * w, negative, 0);
    }
}

}  // namespace stablesketch
