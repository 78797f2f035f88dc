// SipHash (Aumasson and Bernstein, 2012): a keyed hash that nobody without the key can predict.
// The number of rounds is a parameter: the published test vectors are for 2-4, the library uses 1-3.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace stablesketch {

struct SipKey {
    std::uint64_t k0;
    std::uint64_t k1;
};

// A load that works at any alignment: Arrow recommends aligned buffers but does not guarantee them.
template <class T>
inline T load(const void* from) noexcept {
    T value;
    std::memcpy(&value, from, sizeof(T));
    return value;
}

inline std::uint64_t little_endian(std::uint64_t word) noexcept {
    if constexpr (std::endian::native == std::endian::big) {
        word = ((word & 0x00ff00ff00ff00ffULL) << 8) | ((word >> 8) & 0x00ff00ff00ff00ffULL);
        word = ((word & 0x0000ffff0000ffffULL) << 16) | ((word >> 16) & 0x0000ffff0000ffffULL);
        word = (word << 32) | (word >> 32);
    }
    return word;
}

inline std::uint64_t load_word(const std::uint8_t* from) noexcept { return little_endian(load<std::uint64_t>(from)); }

// The state of one hash. Words go in by `absorb`; the last one carries the message length in its top byte.
template <int COMPRESS, int FINISH>
class SipState {
  public:
    explicit SipState(SipKey key) noexcept
        : v0_(key.k0 ^ 0x736f6d6570736575ULL),
          v1_(key.k1 ^ 0x646f72616e646f6dULL),
          v2_(key.k0 ^ 0x6c7967656e657261ULL),
          v3_(key.k1 ^ 0x7465646279746573ULL) {}

    void absorb(std::uint64_t word) noexcept {
        v3_ ^= word;
        for (int i = 0; i < COMPRESS; ++i) round();
        v0_ ^= word;
    }

    std::uint64_t finish(std::uint64_t tail, std::size_t length) noexcept {
        absorb(tail | (static_cast<std::uint64_t>(length) << 56));
        v2_ ^= 0xff;
        for (int i = 0; i < FINISH; ++i) round();
        return v0_ ^ v1_ ^ v2_ ^ v3_;
    }

  private:
    void round() noexcept {
        v0_ += v1_;
        v2_ += v3_;
        v1_ = std::rotl(v1_, 13) ^ v0_;
        v3_ = std::rotl(v3_, 16) ^ v2_;
        v0_ = std::rotl(v0_, 32);
        v2_ += v1_;
        v0_ += v3_;
        v1_ = std::rotl(v1_, 17) ^ v2_;
        v3_ = std::rotl(v3_, 21) ^ v0_;
        v2_ = std::rotl(v2_, 32);
    }

    std::uint64_t v0_, v1_, v2_, v3_;
};

// The last 0 to 7 bytes as a little-endian word. Overlapping loads instead of a loop over bytes: the lengths of keys
// are unpredictable, and a mispredicted branch costs more than the whole hash of a short key.
inline std::uint64_t load_tail(const std::uint8_t* message, std::size_t length) noexcept {
    const std::size_t rest = length & 7;
    if (rest == 0) return 0;
    if (length >= 8) return load_word(message + length - 8) >> (8 * (8 - rest));
    if (rest >= 4) {
        if constexpr (std::endian::native == std::endian::little) {
            const std::uint64_t low = load<std::uint32_t>(message);
            const std::uint64_t high = load<std::uint32_t>(message + rest - 4);
            return low | (high << (8 * (rest - 4)));
        }
    }
    std::uint64_t word = 0;
    for (std::size_t i = 0; i < rest; ++i) word |= static_cast<std::uint64_t>(message[i]) << (8 * i);
    return word;
}

template <int COMPRESS, int FINISH>
inline std::uint64_t siphash(SipKey key, const std::uint8_t* message, std::size_t length) noexcept {
    SipState<COMPRESS, FINISH> state(key);
    const std::size_t whole = length & ~static_cast<std::size_t>(7);
    for (std::size_t at = 0; at < whole; at += 8) state.absorb(load_word(message + at));
    return state.finish(load_tail(message, length), length);
}

inline std::uint64_t siphash13(SipKey key, const std::uint8_t* message, std::size_t length) noexcept {
    return siphash<1, 3>(key, message, length);
}

// The hash of one or two words that are already numbers: eight or sixteen bytes, little endian.
inline std::uint64_t siphash13_word(SipKey key, std::uint64_t word) noexcept {
    SipState<1, 3> state(key);
    state.absorb(word);
    return state.finish(0, 8);
}

inline std::uint64_t siphash13_words(SipKey key, std::uint64_t low, std::uint64_t high) noexcept {
    SipState<1, 3> state(key);
    state.absorb(low);
    state.absorb(high);
    return state.finish(0, 16);
}

}  // namespace stablesketch
