// What a key becomes: 64 bits. An integer below 2^63 is its own two's complement; everything else is the SipHash-1-3 of
// its canonical bytes under a key of its type, so that by design the text "1", the bytes b"1" and the first day never
// collide. Nothing here depends on Python or Arrow.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "siphash.hpp"

namespace stablesketch {

// The order is that of the key material, 16 bytes each. It decides what a key becomes (docs/keys.md), so it is fixed.
enum class Domain : std::uint8_t { big, text, bytes, date, naive, instant, uuid, tuple };
inline constexpr std::size_t domain_count = 8;
inline constexpr std::size_t material_bytes = 16 * domain_count;

inline constexpr std::uint64_t two_63 = 1ULL << 63;

// Why a row has no fingerprint. The binding turns these into words, the Python side into an error with a way out.
enum class Reason : std::uint8_t { none, null, part_of_day, malformed, not_unicode, too_large };

// Thrown by loops over buffers, where one refused row refuses the batch. `value` is only set for `too_large`.
struct RowRefused {
    std::int64_t row;
    Reason reason;
    std::uint64_t value = 0;
};

class KeySet {
  public:
    explicit KeySet(const std::uint8_t* material) noexcept {
        for (std::size_t i = 0; i < domain_count; ++i)
            keys_[i] = {load_word(material + 16 * i), load_word(material + 16 * i + 8)};
    }
    // The keys are derived from the secret: they are wiped, not left behind for the next owner of the memory.
    ~KeySet() {
        volatile std::uint64_t* words = &keys_[0].k0;
        for (std::size_t i = 0; i < 2 * domain_count; ++i) words[i] = 0;
    }
    KeySet(const KeySet&) = delete;
    KeySet& operator=(const KeySet&) = delete;

    SipKey operator[](Domain domain) const noexcept { return keys_[static_cast<std::size_t>(domain)]; }

    std::uint64_t bytes(Domain domain, const std::uint8_t* message, std::size_t length) const noexcept {
        return siphash13((*this)[domain], message, length);
    }
    std::uint64_t integer(std::uint64_t value) const noexcept {
        return value < two_63 ? value : siphash13_word((*this)[Domain::big], value);
    }
    std::uint64_t day(std::int64_t days) const noexcept {
        return siphash13_word((*this)[Domain::date], static_cast<std::uint64_t>(days));
    }
    // Nanoseconds in 128 bits: seconds since 1970 in 64 bits do not fit into nanoseconds in 64 bits.
    std::uint64_t tick(Domain domain, std::int64_t ticks, std::int64_t nanoseconds_per_tick) const noexcept {
        __extension__ typedef __int128 wide;
        __extension__ typedef unsigned __int128 wide_bits;
        const auto bits = static_cast<wide_bits>(static_cast<wide>(ticks) * nanoseconds_per_tick);
        const auto low = static_cast<std::uint64_t>(bits), high = static_cast<std::uint64_t>(bits >> 64);
        return siphash13_words((*this)[domain], low, high);
    }

  private:
    std::array<SipKey, domain_count> keys_{};
};

// UTF-8 of `length` code points held as units of 1, 2 or 4 bytes (Python's and numpy's own storage, where a unit is
// always a whole code point). False for what has no UTF-8: lone surrogates, and units beyond U+10FFFF.
template <class Unit>
bool to_utf8(const Unit* units, std::size_t length, std::vector<std::uint8_t>& scratch, std::size_t& written) {
    if (scratch.size() < 4 * length) scratch.resize(4 * length);
    std::uint8_t* out = scratch.data();
    for (std::size_t i = 0; i < length; ++i) {
        const auto c = static_cast<std::uint32_t>(load<Unit>(units + i));
        if (c < 0x80) {
            *out++ = static_cast<std::uint8_t>(c);
        } else if (c < 0x800) {
            *out++ = static_cast<std::uint8_t>(0xc0 | (c >> 6));
            *out++ = static_cast<std::uint8_t>(0x80 | (c & 0x3f));
        } else if (c < 0x10000) {
            if (c >= 0xd800 && c < 0xe000) return false;
            *out++ = static_cast<std::uint8_t>(0xe0 | (c >> 12));
            *out++ = static_cast<std::uint8_t>(0x80 | ((c >> 6) & 0x3f));
            *out++ = static_cast<std::uint8_t>(0x80 | (c & 0x3f));
        } else if (c < 0x110000) {
            *out++ = static_cast<std::uint8_t>(0xf0 | (c >> 18));
            *out++ = static_cast<std::uint8_t>(0x80 | ((c >> 12) & 0x3f));
            *out++ = static_cast<std::uint8_t>(0x80 | ((c >> 6) & 0x3f));
            *out++ = static_cast<std::uint8_t>(0x80 | (c & 0x3f));
        } else {
            return false;
        }
    }
    written = static_cast<std::size_t>(out - scratch.data());
    return true;
}

// Rows of numpy's fixed-width text ('U'): `width` code points a row, padded with NULs that are not part of the text.
inline void fingerprint_ucs4(const KeySet& keys, const std::uint32_t* rows, std::size_t count, std::size_t width,
                             std::uint64_t* out) {
    std::vector<std::uint8_t> scratch;
    for (std::size_t row = 0; row < count; ++row) {
        const std::uint32_t* units = rows + row * width;
        std::size_t length = width;
        while (length > 0 && units[length - 1] == 0) --length;
        std::size_t written = 0;
        if (!to_utf8(units, length, scratch, written))
            throw RowRefused{static_cast<std::int64_t>(row), Reason::not_unicode};
        out[row] = keys.bytes(Domain::text, scratch.data(), written);
    }
}

// Rows of numpy's fixed-width bytes ('S'), whose trailing NULs are padding by numpy's rule.
inline void fingerprint_padded(const KeySet& keys, const std::uint8_t* rows, std::size_t count, std::size_t width,
                               std::uint64_t* out) {
    for (std::size_t row = 0; row < count; ++row) {
        const std::uint8_t* bytes = rows + row * width;
        std::size_t length = width;
        while (length > 0 && bytes[length - 1] == 0) --length;
        out[row] = keys.bytes(Domain::bytes, bytes, length);
    }
}

// A composite key: the fingerprints of its components, in order, hashed as one message.
inline void fingerprint_tuples(const KeySet& keys, const std::vector<const std::uint64_t*>& components,
                               std::size_t count, std::uint64_t* out) {
    for (std::size_t row = 0; row < count; ++row) {
        SipState<1, 3> state(keys[Domain::tuple]);
        for (const std::uint64_t* component : components) state.absorb(component[row]);
        out[row] = state.finish(0, 8 * components.size());
    }
}

}  // namespace stablesketch
