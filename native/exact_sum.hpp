// Exact sums: an entry as one wide fixed-point integer, in units of 2^-resolution.
//
// The integer is kept in digits of base 2^32, each in its own 64-bit word, so that additions carry nothing: a word
// takes 2^31 additions of one digit before `settle` must move the carries up. Integer addition is associative, so the
// settled digits depend only on the set of terms: not on order, batching, threads or shards, and a deletion is exact.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "entry_law.hpp"

namespace stablesketch {

using uint128 = unsigned __int128;
using int128 = __int128;

// How many digits an entry of this law needs: X below 2^(64/p), or 2^((64 + d)/p) with d deep octaves above, with
// `resolution` bits below the point, times a weight below 2^63, summed 2^64 times, and a sign. Nothing that could ever
// be counted overflows it.
static inline int digits_for(const EntryLaw& law, int resolution) {
    const double bits = (64.0 + deep_octaves(law).upper) / law.p;
    int largest = static_cast<int>(bits);
    if (largest < bits) ++largest;
    return (resolution + largest + 63 + 64 + 1) / 32 + 2;
}

// digits += (-1)^negative * magnitude * 2^position, magnitude below 2^117.
static inline void add_shifted(std::int64_t* digits, uint128 magnitude, bool negative, int position) {
    std::int64_t* d = digits + (position >> 5);
    const int s = position & 31;
    const uint128 low = magnitude << s;
    const std::uint64_t top = s == 0 ? 0 : static_cast<std::uint64_t>(magnitude >> (128 - s));
    const std::int64_t sign = -static_cast<std::int64_t>(negative);
    const auto put = [&](int i, std::uint64_t digit) {
        d[i] += (static_cast<std::int64_t>(digit & 0xffffffffu) ^ sign) - sign;
    };
    put(0, static_cast<std::uint64_t>(low));
    put(1, static_cast<std::uint64_t>(low >> 32));
    put(2, static_cast<std::uint64_t>(low >> 64));
    if (static_cast<std::uint64_t>(low >> 96) | top) {
        put(3, static_cast<std::uint64_t>(low >> 96));
        put(4, top);
    }
}

// digits += value * 2^position for a signed 64-bit value.
static inline void add_signed(std::int64_t* digits, std::int64_t value, int position) {
    const std::uint64_t magnitude =
        value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
    add_shifted(digits, magnitude, value < 0, position);
}

// Moves the carries up: every digit but the last ends in [0, 2^32), the last one keeps the sign.
static inline void settle(std::int64_t* digits, int count) {
    std::int64_t carry = 0;
    for (int i = 0; i + 1 < count; ++i) {
        const std::int64_t with = digits[i] + carry;
        digits[i] = with & 0xffffffff;
        carry = with >> 32;
    }
    digits[count - 1] += carry;
}

// total += source * 2^bits for settled digits of the same count; `source` is used up.
static inline void add_scaled(std::int64_t* total, std::int64_t* source, int count, int bits) {
    const bool negative = source[count - 1] < 0;
    if (negative) {  // as a magnitude it has no run of leading ones that a shift would push out of range
        for (int i = 0; i < count; ++i) source[i] = -source[i];
        settle(source, count);
    }
    for (int i = 0; i < count; ++i) {
        uint128 left = static_cast<uint128>(static_cast<std::uint64_t>(source[i])) << (bits & 31);
        for (int k = i + (bits >> 5); left != 0 && k < count; ++k, left >>= 32) {
            const auto digit = static_cast<std::int64_t>(left & 0xffffffff);
            total[k] += negative ? -digit : digit;
        }
    }
}

}  // namespace stablesketch
