// AVX-512 with VAES: four blocks to a register, four chains.
#include "registers.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

namespace stablesketch {

void encrypt_avx512(const Aes128& key, std::uint32_t domain, const std::uint64_t* fingerprints, std::size_t n,
                    std::uint64_t* bits) {
    constexpr int chains = 4;
    __m512i round_key[11];
    for (int r = 0; r < 11; ++r)
        round_key[r] = _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(key.round_key[r])));
    const __m512i name = _mm512_maskz_set1_epi64(0xaa, static_cast<long long>(std::uint64_t(domain) << 32));
    const __m512i first = _mm512_xor_si512(round_key[0], name), twice = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3);
    std::size_t i = 0;
    for (; i + 4 * chains <= n; i += 4 * chains) {
        __m512i chain[chains];
        for (int k = 0; k < chains; ++k) {
            const __m256i four = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(fingerprints + i + 4 * k));
            chain[k] =
                _mm512_xor_si512(first, _mm512_maskz_permutexvar_epi64(0x55, twice, _mm512_castsi256_si512(four)));
        }
        for (int r = 1; r < 10; ++r)
            for (int k = 0; k < chains; ++k) chain[k] = _mm512_aesenc_epi128(chain[k], round_key[r]);
        for (int k = 0; k < chains; ++k)
            _mm512_storeu_si512(bits + 2 * (i + 4 * k), _mm512_aesenclast_epi128(chain[k], round_key[10]));
    }
    if (i == n) return;
    std::uint64_t last[4 * chains] = {}, last_bits[8 * chains];  // one more turn, partly of nothing
    for (std::size_t k = i; k < n; ++k) last[k - i] = fingerprints[k];
    encrypt_avx512(key, domain, last, 4 * chains, last_bits);
    for (std::size_t k = 2 * i; k < 2 * n; ++k) bits[k] = last_bits[k - 2 * i];
}

}  // namespace stablesketch
#endif
