// What the vector tiers share: X outside the window that they sum in registers, added one by one; and the window of
// AVX2. (That of AVX-512 is cut for 52-bit products, in kernel_avx512.cpp.)
//
// An |X| below 2^61 units (one unit is 2^-resolution) is an integer of 62 bits. Cut at bit 31, its two limbs times a
// weight are summed in two 64-bit lanes, and only the sums of a block go to the wide digits. For the middle range of p,
// where one X in twenty is larger than that, a third limb takes the window to 2^92 units. What is still larger is exact
// in the double itself: 53 bits at a position of their own.
#pragma once

#include <bit>
#include <cstdint>

#include "exact_sum.hpp"
#include "kernel.hpp"

namespace stablesketch {

inline constexpr int limb_bits = 31;

static inline double power_of_two(int exponent) { return std::bit_cast<double>(std::uint64_t(1023 + exponent) << 52); }

// Scale from the table's doubles to units, and the first magnitude outside the window.
static inline double units_scale(const TableView& table) { return power_of_two(table.shift + table.resolution); }
static inline double window_limit(const TableView& table) {
    const double end = power_of_two((table.wide ? 92 : 61) - table.shift - table.resolution);
    return end < table.fine_from ? end : table.fine_from;
}

struct Outliers {  // of one entry and one block
    alignas(64) double x[block_keys + 8];
    alignas(64) std::int64_t weight[block_keys + 8];
    std::size_t count = 0;
};

// digits += weight * x for each outlier; |weight| < 2^23, so a product has 76 bits and four digits take it.
static inline void add_outliers(std::int64_t* digits, const Outliers& out, const TableView& table) {
    const int base = table.shift + table.resolution - 1075;
    for (std::size_t i = 0; i < out.count; ++i) {
        const std::uint64_t raw = std::bit_cast<std::uint64_t>(out.x[i]);
        const std::int64_t w = out.weight[i];
        const std::int64_t sign = (static_cast<std::int64_t>(raw) ^ w) >> 63;
        const int position = static_cast<int>((raw >> 52) & 0x7ff) + base;
        const std::uint64_t mantissa = (raw & 0x000fffffffffffffULL) | 0x0010000000000000ULL;
        const uint128 product = static_cast<uint128>(mantissa) * static_cast<std::uint64_t>((w ^ (w >> 63)) - (w >> 63))
                             << (position & 31);
        std::int64_t* d = digits + (position >> 5);
        const auto low = static_cast<std::uint64_t>(product), high = static_cast<std::uint64_t>(product >> 64);
        d[0] += (static_cast<std::int64_t>(low & 0xffffffff) ^ sign) - sign;
        d[1] += (static_cast<std::int64_t>(low >> 32) ^ sign) - sign;
        d[2] += (static_cast<std::int64_t>(high & 0xffffffff) ^ sign) - sign;
        d[3] += (static_cast<std::int64_t>(high >> 32) ^ sign) - sign;
    }
}

}  // namespace stablesketch
