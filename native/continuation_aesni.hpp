// The bits that continue those of an entry (variate.hpp), by the AES instructions of the vector tiers.
#pragma once

#include <wmmintrin.h>

#include "kernel.hpp"
#include "variate.hpp"

namespace stablesketch {

static inline std::uint64_t more_bits(const KernelJob& job, std::uint64_t fingerprint, std::uint32_t entry) {
    const auto round_key = [&](int r) {
        return _mm_load_si128(reinterpret_cast<const __m128i*>(job.key->round_key[r]));
    };
    const std::uint64_t name = std::uint64_t(job.domain ^ continuation) << 32 | entry / 2;
    __m128i block = _mm_set_epi64x(static_cast<long long>(name), static_cast<long long>(fingerprint));
    block = _mm_xor_si128(block, round_key(0));
    for (int r = 1; r < 10; ++r) block = _mm_aesenc_si128(block, round_key(r));
    alignas(16) std::uint64_t bits[2];
    _mm_store_si128(reinterpret_cast<__m128i*>(bits), _mm_aesenclast_si128(block, round_key(10)));
    return bits[entry % 2];
}

}  // namespace stablesketch
