// The sum of some weights, whether they are in range, and whether they are all 1, in one pass. Compiled once for each
// instruction set (and so with internal linkage).
#pragma once

#include <cstddef>
#include <cstdint>

namespace stablesketch {

struct WeightSum {
    std::int64_t high, low;  // the sum is high * 2^32 + low, which cannot overflow
    bool inside;             // whether all are in 1..highest
    bool ones;               // whether all are 1, as in a column of counts: then they need not be read again
};

using SumWeights = WeightSum (*)(const std::int64_t* weights, std::size_t n, std::int64_t highest);
WeightSum sum_weights_plain(const std::int64_t*, std::size_t, std::int64_t);
#if defined(__x86_64__)
WeightSum sum_weights_avx2(const std::int64_t*, std::size_t, std::int64_t);
#endif

namespace {

// Without comparisons or arithmetic shifts, which the simplest processors lack for vectors of 64-bit integers.
[[maybe_unused]] inline WeightSum weight_sum(const std::int64_t* weights, std::size_t n, std::int64_t highest) {
    std::uint64_t upper = 0, lower = 0, signs = 0, differ = 0;
    for (std::size_t i = 0; i < n; ++i) {
        const auto v = static_cast<std::uint64_t>(weights[i]), flipped = v ^ (std::uint64_t(1) << 63);
        upper += flipped >> 32;
        lower += flipped & 0xffffffff;
        signs |= (v - 1) | (static_cast<std::uint64_t>(highest) - v);  // one is negative if v is outside
        differ |= v ^ 1;
    }
    return {static_cast<std::int64_t>(upper - (static_cast<std::uint64_t>(n) << 31)), static_cast<std::int64_t>(lower),
            signs >> 63 == 0, differ == 0};
}

}  // namespace
}  // namespace stablesketch
