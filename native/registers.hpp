// Registers that count distinct keys: each remembers which values its keys drew, as far as 24 below the largest.
//
// A key draws 128 bits, AES(fingerprint, 0, domain). The first word chooses the register, floor(word * registers /
// 2^64). The second draws a value: with s its two lowest bits and z the zeros it starts with, not counting those two (z
// <= 62), it is 4z + s + 1. So z has the law 2^-(z+1), and every value of one z has a quarter of that.
//
// A register is 32 bits: the largest value u in the upper 8, 0 if it has no key; and bit 24 - i of the lower 24 says
// whether the value u - i was drawn. It is a function of the set of its keys: order and repetition leave no trace, and
// two registers can be merged into that of the union.
#pragma once

#include <cstddef>
#include <cstdint>

#include "aes.hpp"

namespace stablesketch {

// bits[2i], bits[2i + 1] = the two words of AES(fingerprint i, 0, domain). One function a tier, all with the same
// result.
using Encrypt = void (*)(const Aes128& key, std::uint32_t domain, const std::uint64_t* fingerprints, std::size_t n,
                         std::uint64_t* bits);
void encrypt_plain(const Aes128&, std::uint32_t, const std::uint64_t*, std::size_t, std::uint64_t*);
#if defined(__x86_64__)
void encrypt_aesni(const Aes128&, std::uint32_t, const std::uint64_t*, std::size_t, std::uint64_t*);
void encrypt_avx512(const Aes128&, std::uint32_t, const std::uint64_t*, std::size_t, std::uint64_t*);
#endif

// Adds n keys to `count` registers.
void add_to_registers(const Aes128& key, std::uint32_t domain, Encrypt encrypt, const std::uint64_t* fingerprints,
                      std::size_t n, std::uint32_t* registers, std::uint32_t count);

}  // namespace stablesketch
