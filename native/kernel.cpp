#include "kernel.hpp"

namespace stablesketch {

const std::vector<Tier>& tiers() {
    static const std::vector<Tier> known = [] {
        std::vector<Tier> found;
#if defined(__x86_64__)
        __builtin_cpu_init();
        // VAES is asked for by itself: some AVX-512 machines lack it, some AVX2 machines have it. Those that have both
        // have the rest of this list, too.
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
            __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw") &&
            __builtin_cpu_supports("avx512ifma") && __builtin_cpu_supports("avx512vbmi") &&
            __builtin_cpu_supports("vaes") && __builtin_cpu_supports("aes"))
            found.push_back({"avx512", add_block_avx512, fold_add_avx2, encrypt_avx512, sum_weights_avx2});
        if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("aes"))
            found.push_back({"avx2", add_block_avx2, fold_add_avx2, encrypt_aesni, sum_weights_avx2});
#endif
        found.push_back({"plain", add_block_plain, fold_add_plain, encrypt_plain, sum_weights_plain});
        return found;
    }();
    return known;
}

}  // namespace stablesketch
