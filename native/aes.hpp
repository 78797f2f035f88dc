// AES-128 encryption in plain C++ (FIPS 197): the pseudorandom function behind X, where no AES instructions are used.
//
// The round combines SubBytes, ShiftRows and MixColumns in one table of 256 words, rotated for the other three columns.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>

namespace stablesketch {

namespace aes_detail {

constexpr std::uint8_t times2(std::uint8_t a) { return static_cast<std::uint8_t>((a << 1) ^ ((a >> 7) * 0x1b)); }

// The S-box: the inverse in GF(2^8), walked by the generator 3 and its inverse, then the affine map.
constexpr std::array<std::uint8_t, 256> make_sbox() {
    std::array<std::uint8_t, 256> box{};
    std::uint8_t p = 1, q = 1;
    do {
        p = static_cast<std::uint8_t>(p ^ times2(p));
        q = static_cast<std::uint8_t>(q ^ (q << 1));
        q = static_cast<std::uint8_t>(q ^ (q << 2));
        q = static_cast<std::uint8_t>(q ^ (q << 4));
        if (q & 0x80) q ^= 0x09;
        box[p] =
            static_cast<std::uint8_t>(q ^ std::rotl(q, 1) ^ std::rotl(q, 2) ^ std::rotl(q, 3) ^ std::rotl(q, 4) ^ 0x63);
    } while (p != 1);
    box[0] = 0x63;
    return box;
}
inline constexpr auto sbox = make_sbox();

// Column (2, 1, 1, 3) times S(a), little-endian.
constexpr std::array<std::uint32_t, 256> make_round_table() {
    std::array<std::uint32_t, 256> table{};
    for (int a = 0; a < 256; ++a) {
        const std::uint32_t s = sbox[a], s2 = times2(sbox[a]);
        table[a] = s2 | (s << 8) | (s << 16) | ((s2 ^ s) << 24);
    }
    return table;
}
inline constexpr auto round_table = make_round_table();

}  // namespace aes_detail

// The eleven round keys, as bytes in the order the standard writes them.
struct Aes128 {
    alignas(16) std::uint8_t round_key[11][16];

    explicit Aes128(const std::uint8_t (&key)[16]) {
        using aes_detail::sbox;
        std::memcpy(round_key[0], key, 16);
        std::uint8_t constant = 1;
        for (int r = 1; r <= 10; ++r) {
            const std::uint8_t* before = round_key[r - 1];
            std::uint8_t* now = round_key[r];
            for (int i = 0; i < 4; ++i) now[i] = static_cast<std::uint8_t>(before[i] ^ sbox[before[12 + (i + 1) % 4]]);
            now[0] ^= constant;
            for (int i = 4; i < 16; ++i) now[i] = static_cast<std::uint8_t>(before[i] ^ now[i - 4]);
            constant = aes_detail::times2(constant);
        }
    }
    ~Aes128() {
        volatile std::uint8_t* wipe = &round_key[0][0];
        for (std::size_t i = 0; i < sizeof(round_key); ++i) wipe[i] = 0;
    }
    Aes128(const Aes128&) = delete;
    Aes128& operator=(const Aes128&) = delete;

    // Encrypts one block, given and returned as four little-endian words.
    void encrypt(std::uint32_t (&block)[4]) const {
        using aes_detail::round_table;
        using aes_detail::sbox;
        std::uint32_t x[4], y[4];
        for (int c = 0; c < 4; ++c) x[c] = block[c] ^ word(0, c);
        for (int r = 1; r < 10; ++r) {
            for (int c = 0; c < 4; ++c) {
                y[c] = round_table[x[c] & 0xff] ^ std::rotl(round_table[(x[(c + 1) & 3] >> 8) & 0xff], 8) ^
                       std::rotl(round_table[(x[(c + 2) & 3] >> 16) & 0xff], 16) ^
                       std::rotl(round_table[x[(c + 3) & 3] >> 24], 24) ^ word(r, c);
            }
            std::memcpy(x, y, sizeof x);
        }
        for (int c = 0; c < 4; ++c) {
            block[c] = (std::uint32_t(sbox[x[c] & 0xff]) | std::uint32_t(sbox[(x[(c + 1) & 3] >> 8) & 0xff]) << 8 |
                        std::uint32_t(sbox[(x[(c + 2) & 3] >> 16) & 0xff]) << 16 |
                        std::uint32_t(sbox[x[(c + 3) & 3] >> 24]) << 24) ^
                       word(10, c);
        }
    }

  private:
    std::uint32_t word(int r, int c) const {
        const std::uint8_t* k = round_key[r] + 4 * c;
        return std::uint32_t(k[0]) | std::uint32_t(k[1]) << 8 | std::uint32_t(k[2]) << 16 | std::uint32_t(k[3]) << 24;
    }
};

}  // namespace stablesketch
