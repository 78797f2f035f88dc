// AES-NI: eight chains keep the AES unit busy.
#include "registers.hpp"

#if defined(__x86_64__)
#include <wmmintrin.h>

namespace stablesketch {

void encrypt_aesni(const Aes128& key, std::uint32_t domain, const std::uint64_t* fingerprints, std::size_t n,
                   std::uint64_t* bits) {
    constexpr int chains = 8;
    __m128i round_key[11];
    for (int r = 0; r < 11; ++r) round_key[r] = _mm_load_si128(reinterpret_cast<const __m128i*>(key.round_key[r]));
    const __m128i first =
        _mm_xor_si128(round_key[0], _mm_set_epi64x(static_cast<long long>(std::uint64_t(domain) << 32), 0));
    std::size_t i = 0;
    for (; i + chains <= n; i += chains) {
        __m128i chain[chains];
        for (int k = 0; k < chains; ++k)
            chain[k] = _mm_xor_si128(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(fingerprints + i + k)), first);
        for (int r = 1; r < 10; ++r)
            for (int k = 0; k < chains; ++k) chain[k] = _mm_aesenc_si128(chain[k], round_key[r]);
        for (int k = 0; k < chains; ++k)
            _mm_storeu_si128(reinterpret_cast<__m128i*>(bits + 2 * (i + k)),
                             _mm_aesenclast_si128(chain[k], round_key[10]));
    }
    if (i == n) return;
    std::uint64_t last[chains] = {}, last_bits[2 * chains];  // one more turn, partly of nothing
    for (std::size_t k = i; k < n; ++k) last[k - i] = fingerprints[k];
    encrypt_aesni(key, domain, last, chains, last_bits);
    for (std::size_t k = 2 * i; k < 2 * n; ++k) bits[k] = last_bits[k - 2 * i];
}

}  // namespace stablesketch
#endif
