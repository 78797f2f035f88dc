// The law of X, which entries are made of: one of three kinds, and its p.
//
//   symmetric   the symmetric p-stable law of 0 < p <= 2, E e^{itX} = exp(-|t|^p)
//   one_sided   the positive p-stable law of 0 < p < 1, E e^{-sX} = exp(-s^p)
//   entropy     that of -R, R the 1-stable law with E e^{tR} = t^t, which entropy is made of; its p is 1
// The one-sided law tends to that of entropy, scaled and shifted, as p goes to 1; the heavy tail, of positive X, stays.
#pragma once

#include <cstddef>

namespace stablesketch {

enum class LawKind { symmetric, one_sided, entropy };

struct EntryLaw {
    LawKind kind = LawKind::symmetric;
    double p = 1.0;

    constexpr bool symmetric() const { return kind == LawKind::symmetric; }
    constexpr bool one_sided() const { return kind == LawKind::one_sided; }
    constexpr bool entropy() const { return kind == LawKind::entropy; }
    constexpr bool operator==(const EntryLaw&) const = default;
};

// Additional octaves of t below 2^-63 in some tables (stable_table.hpp), on the upper and on the lower side. One draw
// in 2^62 falls into them; a t below them is moved up (docs/math-noisy-estimate.md says what that costs). Each octave
// of the upper side makes entries wider by 1/p bits, so one-sided tables have few of them there. Symmetric tables with
// 1 < p < 2 have enough to make an X beyond them too rare to matter; on their lower side X is proportional to t, and
// there is nothing to gain. On the lower side of entropy, R is large; an X beyond the end of its upper side counts for
// nothing.
struct DeepOctaves {
    int upper = 0, lower = 0;
    constexpr int of(std::size_t side) const { return side == 0 ? upper : lower; }
    constexpr int both() const { return upper + lower; }
};
static inline constexpr DeepOctaves deep_octaves(const EntryLaw& law) {
    if (law.one_sided()) return {8, 32};
    if (law.symmetric() && law.p > 1.0 && law.p < 2.0) return {32, 0};
    if (law.entropy()) return {0, 63};
    return {};
}

// Which t are continued by more random bits (variate.hpp): those whose first 62 bits, m, are below 2^below, on the
// upper side or on both.
struct Continued {
    int below = 48;
    bool both_sides = false;
};
static inline constexpr Continued continued(const EntryLaw& law) {
    if (law.one_sided()) return {52, true};
    return {48, law.entropy()};
}

}  // namespace stablesketch
