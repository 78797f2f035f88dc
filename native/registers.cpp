#include "registers.hpp"

#include <bit>

namespace stablesketch {

namespace {
constexpr int window = 24;
constexpr std::uint32_t window_mask = (std::uint32_t(1) << window) - 1;
constexpr std::size_t slice = 1024;  // keys whose bits fit in the first-level cache

inline void draw(std::uint32_t& place, std::uint64_t bits) {
    const auto value = static_cast<std::uint32_t>(4 * std::countl_zero(bits | 3) + static_cast<int>(bits & 3) + 1);
    const std::uint32_t held = place, largest = held >> window;
    if (value > largest) {
        const std::uint32_t seen = (held & window_mask) | (largest != 0 ? window_mask + 1 : 0), up = value - largest;
        place = value << window | (up <= window ? seen >> up : 0);
    } else if (value < largest && largest - value <= window) {
        place = held | std::uint32_t(1) << (window - (largest - value));
    }
}
}  // namespace

void encrypt_plain(const Aes128& key, std::uint32_t domain, const std::uint64_t* fingerprints, std::size_t n,
                   std::uint64_t* bits) {
    for (std::size_t i = 0; i < n; ++i) {
        std::uint32_t block[4] = {static_cast<std::uint32_t>(fingerprints[i]),
                                  static_cast<std::uint32_t>(fingerprints[i] >> 32), 0, domain};
        key.encrypt(block);
        bits[2 * i] = block[0] | std::uint64_t(block[1]) << 32;
        bits[2 * i + 1] = block[2] | std::uint64_t(block[3]) << 32;
    }
}

void add_to_registers(const Aes128& key, std::uint32_t domain, Encrypt encrypt, const std::uint64_t* fingerprints,
                      std::size_t n, std::uint32_t* registers, std::uint32_t count) {
    std::uint64_t bits[2 * slice];
    for (std::size_t done = 0; done < n; done += slice) {
        const std::size_t few = n - done < slice ? n - done : slice;
        encrypt(key, domain, fingerprints + done, few, bits);
        for (std::size_t i = 0; i < few; ++i) {
            // floor(word * count / 2^64) in two steps, since count has 32 bits at most and not every compiler 128.
            const std::uint64_t word = bits[2 * i];
            const std::uint64_t low = (word & 0xffffffff) * count, high = (word >> 32) * count + (low >> 32);
            draw(registers[high >> 32], bits[2 * i + 1]);
        }
    }
}

}  // namespace stablesketch
