// The loop of fold.hpp, compiled once for each instruction set (and so with internal linkage).
#pragma once

#include "fold.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace stablesketch {
namespace {

// Nothing, where keys have no groups; the compiler leaves it out.
struct NoCodes {
    std::int32_t operator[](std::size_t) const { return 0; }
};

template <class Line>
inline Line* line_of(const TableOf<Line>& table, std::uint64_t key, std::int32_t code) {
    // Different groups start at different lines, or a key that all of them have would fill its own.
    const std::uint64_t apart = static_cast<std::uint64_t>(code) * 0x9e3779b97f4a7c15ULL;
    return table.lines + (((key ^ apart) * table.multiplier) >> table.shift);
}

// One bit a slot: which of the keys of the line is this one.
inline unsigned matches(const FoldLine& line, std::uint64_t key, std::int32_t) {
#if defined(__AVX2__)
    const __m256i equal = _mm256_cmpeq_epi64(_mm256_load_si256(reinterpret_cast<const __m256i*>(line.key)),
                                             _mm256_set1_epi64x(static_cast<long long>(key)));
    return static_cast<unsigned>(_mm256_movemask_pd(_mm256_castsi256_pd(equal)));
#else
    return unsigned(line.key[0] == key) | unsigned(line.key[1] == key) << 1 | unsigned(line.key[2] == key) << 2 |
           unsigned(line.key[3] == key) << 3;
#endif
}

[[maybe_unused]] inline unsigned matches(const GroupLine& line, std::uint64_t key, std::int32_t code) {
    unsigned found = 0;
    for (int k = 0; k < GroupLine::slots; ++k) found |= unsigned(line.key[k] == key && line.code[k] == code) << k;
    return found;
}

inline std::uint64_t size_of(std::int64_t w) { return static_cast<std::uint64_t>(w < 0 ? -w : w); }

inline void evict(Evicted& out, std::uint64_t key, std::int64_t weight, [[maybe_unused]] std::int32_t code,
                  bool grouped) {
    out.key[out.count] = key;
    out.weight[out.count] = weight;
    if (grouped) out.code[out.count] = code;
    ++out.count;
}

inline std::int32_t code_of(const FoldLine&, int) { return 0; }
[[maybe_unused]] inline std::int32_t code_of(const GroupLine& line, int k) { return line.code[k]; }
inline void set_code(FoldLine&, int, std::int32_t) {}
[[maybe_unused]] inline void set_code(GroupLine& line, int k, std::int32_t code) { line.code[k] = code; }

// A key that is not in its line takes the place of the lightest.
template <class Line>
inline void replace(Line& line, std::uint64_t key, std::int64_t weight, std::int32_t code, Evicted& out) {
    int lightest = 0;
    for (int k = 1; k < Line::slots; ++k)
        if (size_of(line.weight[k]) < size_of(line.weight[lightest])) lightest = k;
    if (line.weight[lightest] != 0)
        evict(out, line.key[lightest], line.weight[lightest], code_of(line, lightest), Line::grouped);
    line.key[lightest] = key;
    line.weight[lightest] = weight;
    set_code(line, lightest, code);
}

template <bool weighted, class Line, class Codes>
std::size_t fold_loop(const TableOf<Line>& table, const std::uint64_t* keys, const std::int64_t* weights,
                      const Codes codes, std::size_t n, std::int64_t sign, Evicted& out) {
    constexpr std::size_t ahead = 32;  // lines asked for before they are needed
    const auto most = static_cast<std::uint64_t>(table.most);
    std::size_t misses = 0;
    Line* lines[2 * ahead];  // of the keys that are next, in turns
    const auto ask = [&](std::size_t start) {
        // Prefetches the rows of the next call while this one waits for lines of the table.
        for (std::size_t i = start; i < start + ahead; i += 8) {
            __builtin_prefetch(keys + i + Evicted::capacity, 0, 2);
            if (weights) __builtin_prefetch(weights + i + Evicted::capacity, 0, 2);
        }
        for (std::size_t i = start; i < start + ahead && i < n; ++i) {
            lines[i % (2 * ahead)] = line_of(table, keys[i], codes[i]);
            __builtin_prefetch(lines[i % (2 * ahead)], 1);
        }
    };
    ask(0);
    for (std::size_t start = 0; start < n; start += ahead) {
        ask(start + ahead);
        for (std::size_t i = start; i < start + ahead && i < n; ++i) {
            Line& line = *lines[i % (2 * ahead)];
            const std::int64_t weight = weighted ? sign * weights[i] : sign;
            const unsigned match = matches(line, keys[i], codes[i]);
            if (match == 0) [[unlikely]] {
                replace(line, keys[i], weight, codes[i], out);
                ++misses;
                continue;
            }
            std::int64_t& held = line.weight[__builtin_ctz(match)];
            held += weight;
            // If a sum would become too large, the old one leaves the table unchanged; counts never get there.
            if (weighted && static_cast<std::uint64_t>(held) + most > 2 * most) [[unlikely]] {
                if (held != weight) evict(out, keys[i], held - weight, codes[i], Line::grouped);
                held = weight;
            }
        }
    }
    return n - misses;
}

inline std::size_t fold_add(const FoldTable& table, const std::uint64_t* keys, const std::int64_t* weights, bool ones,
                            std::size_t n, std::int64_t sign, Evicted& out) {
    out.count = 0;
    return weights && !ones ? fold_loop<true>(table, keys, weights, NoCodes{}, n, sign, out)
                            : fold_loop<false>(table, keys, weights, NoCodes{}, n, sign, out);
}

}  // namespace
}  // namespace stablesketch
