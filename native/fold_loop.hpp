// The loop of fold.hpp, compiled once for each instruction set (and so with internal linkage).
#pragma once

#include "fold.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace stablesketch {
namespace {

// One bit a slot: which of the four keys of the line is this one.
inline unsigned matches(const FoldLine& line, std::uint64_t key) {
#if defined(__AVX2__)
    const __m256i equal = _mm256_cmpeq_epi64(_mm256_load_si256(reinterpret_cast<const __m256i*>(line.key)),
                                             _mm256_set1_epi64x(static_cast<long long>(key)));
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
#else
    return unsigned(line.key[0] == key) | unsigned(line.key[1] == key) << 1 | unsigned(line.key[2] == key) << 2 |
           unsigned(line.key[3] == key) << 3;
#endif
}

inline std::uint64_t size_of(std::int64_t w) { return static_cast<std::uint64_t>(w < 0 ? -w : w); }

inline void evict(Evicted& out, std::uint64_t key, std::int64_t weight) {
    out.key[out.count] = key;
    out.weight[out.count++] = weight;
}

// A key that is not in its line takes the place of the lightest.
inline void replace(FoldLine& line, std::uint64_t key, std::int64_t weight, Evicted& out) {
    int lightest = 0;
    for (int k = 1; k < 4; ++k)
        if (size_of(line.weight[k]) < size_of(line.weight[lightest])) lightest = k;
    if (line.weight[lightest] != 0) evict(out, line.key[lightest], line.weight[lightest]);
    line.key[lightest] = key;
    line.weight[lightest] = weight;
}

template <bool weighted>
std::size_t fold_loop(const FoldTable& table, const std::uint64_t* keys, const std::int64_t* weights, std::size_t n,
                      std::int64_t sign, Evicted& out) {
    constexpr std::size_t ahead = 32;  // lines asked for before they are needed
    std::size_t misses = 0;
    for (std::size_t start = 0; start < n; start += ahead) {
        const std::size_t stop = start + ahead < n ? start + ahead : n;
        FoldLine* lines[ahead];
        for (std::size_t i = start; i < stop; ++i) {
            lines[i - start] = table.lines + ((keys[i] * table.multiplier) >> table.shift);
            __builtin_prefetch(lines[i - start], 1);
        }
        for (std::size_t i = start; i < stop; ++i) {
            FoldLine& line = *lines[i - start];
            const std::int64_t weight = weighted ? sign * weights[i] : sign;
            const unsigned match = matches(line, keys[i]);
            if (match == 0) [[unlikely]] {
                replace(line, keys[i], weight, out);
                ++misses;
                continue;
            }
            std::int64_t& held = line.weight[__builtin_ctz(match)];
            held += weight;
            // Weights are at most 2^53, so a sum leaves long before 64 bits could overflow; counts never get there.
            constexpr std::uint64_t large = std::uint64_t(1) << 61;
            if (weighted && static_cast<std::uint64_t>(held) + large > 2 * large) [[unlikely]] {
                evict(out, keys[i], held);
                held = 0;
            }
        }
    }
    return n - misses;
}

inline std::size_t fold_add(const FoldTable& table, const std::uint64_t* keys, const std::int64_t* weights,
                            std::size_t n, std::int64_t sign, Evicted& out) {
    out.count = 0;
    return weights ? fold_loop<true>(table, keys, weights, n, sign, out)
                   : fold_loop<false>(table, keys, weights, n, sign, out);
}

}  // namespace
}  // namespace stablesketch
