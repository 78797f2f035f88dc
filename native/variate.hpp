// 64 random bits -> X, as every tier must compute it: a table row, a polynomial of degree 7, two roundings an operation.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "exact_sum.hpp"
#include "kernel.hpp"

namespace stablesketch {

// |x| 2^-shift for the given bits; the sign is bit 63, the side bit 62.
static inline double magnitude_of(const TableView& table, std::uint64_t bits) {
    const std::uint64_t odd = ((bits << 1) | 1) & 0x7fffffffffffffffULL;  // 2m + 1
    const std::uint64_t t = std::bit_cast<std::uint64_t>(static_cast<double>(static_cast<std::int64_t>(odd)));
    const int b = table.bin_bits;
    const std::size_t row = static_cast<std::size_t>((t >> (52 - b)) - (std::uint64_t(1023) << b));
    const std::size_t side = (bits >> 62) & 1;
    const double s = std::bit_cast<double>(((t << b) & 0x000fffffffffffffULL) | 0x3ff0000000000000ULL) - 1.5;
    const double* c = table.rows[side * table.rows_per_side + row].c;
    const double s2 = s * s;
    const double low = (c[0] + c[1] * s) + (c[2] + c[3] * s) * s2;
    const double high = (c[4] + c[5] * s) + (c[6] + c[7] * s) * s2;
    return low + high * (s2 * s2);
}

// digits += weight * X, X = (-1)^sign * magnitude * 2^(shift + resolution) rounded to an integer.
static inline void add_variate(std::int64_t* digits, const TableView& table, std::uint64_t bits, double magnitude,
                        std::int64_t weight) {
    const std::uint64_t raw = std::bit_cast<std::uint64_t>(magnitude);
    // magnitude = mantissa * 2^(exponent field - 1075)
    const int position = static_cast<int>(raw >> 52) - 1075 + table.shift + table.resolution;
    const bool negative = ((bits >> 63) != 0) != (weight < 0);
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
