// AVX2 with AES-NI: two AES blocks, and so four variates, at a time. Lanes hold two keys times two entries.
//
// AVX2 lacks conversions between 64-bit integers and doubles. Both directions go through numbers whose unit in the last
// place is one: adding 2^52 to a small integer puts it into the low bits of a double, exactly, and rounds to nearest
// even.
#include "kernel.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include "continuation_aesni.hpp"
#include "kernel_outliers.hpp"
#include "variate.hpp"

namespace stablesketch {
namespace {

inline __m256d as_double(__m256i x) { return _mm256_castsi256_pd(x); }
inline __m256i as_integer(__m256d x) { return _mm256_castpd_si256(x); }
inline __m256d madd(__m256d a, __m256d b, __m256d c) { return _mm256_add_pd(a, _mm256_mul_pd(b, c)); }

// What the second half of the work needs of a pair of entries, for the whole block.
struct Drawn {
    alignas(64) std::uint64_t bits[2 * block_keys];    // as encrypted: the sign is in them
    alignas(64) std::uint64_t offset[2 * block_keys];  // of the row, in bytes
    alignas(64) double s[2 * block_keys];              // the position in its bin
};

inline __m256i all(std::uint64_t x) { return _mm256_set1_epi64x(static_cast<long long>(x)); }

// Eight chains keep the AES unit busy. Rows and positions follow at once; they are read much later (kernel_avx512.cpp
// says why).
template <int B>
inline void draw(const KernelJob& job, const std::uint64_t* fingerprints, std::size_t padded, std::uint32_t j,
                 Drawn& drawn) {
    __m128i round_key[11];
    for (int r = 0; r < 11; ++r) round_key[r] = _mm_load_si128(reinterpret_cast<const __m128i*>(job.key->round_key[r]));
    const __m128i first =
        _mm_xor_si128(round_key[0], _mm_set_epi64x(static_cast<long long>(std::uint64_t(job.domain) << 32 | j), 0));
    const __m256i side_bytes = all(job.table.rows_per_side * sizeof(Row));
    const __m256i one = all(1), low_word = all(0xffffffff), high_word = all(0x7fffffff);
    const __m256i two52 = all(0x4330000000000000), two84 = all(0x4530000000000000);
    const __m256i row_mask = all(~std::uint64_t(63)), fraction = all(0x000fffffffffffff),
                  one_bits = all(0x3ff0000000000000);
    const __m256d two84_52 = _mm256_set1_pd(19342813118337666422669312.0);  // 2^84 + 2^52
    const __m256d centre = _mm256_set1_pd(1.5);
    for (std::size_t i = 0; i < padded; i += 8) {
        __m128i chain[8];
        for (int k = 0; k < 8; ++k)
            chain[k] = _mm_xor_si128(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(fingerprints + i + k)), first);
        for (int r = 1; r < 10; ++r)
            for (int k = 0; k < 8; ++k) chain[k] = _mm_aesenc_si128(chain[k], round_key[r]);
        for (int k = 0; k < 8; ++k) chain[k] = _mm_aesenclast_si128(chain[k], round_key[10]);
        for (int k = 0; k < 8; k += 2) {
            const std::size_t at = 2 * (i + static_cast<std::size_t>(k));
            const __m256i u = _mm256_inserti128_si256(_mm256_castsi128_si256(chain[k]), chain[k + 1], 1);
            _mm256_store_si256(reinterpret_cast<__m256i*>(drawn.bits + at), u);
            // t = double(2m + 1): the halves of the 63-bit integer, placed exactly, and one rounding as they meet.
            const __m256i twice = _mm256_slli_epi64(u, 1), m = _mm256_or_si256(twice, one);
            const __m256d upper = _mm256_sub_pd(
                as_double(_mm256_or_si256(_mm256_and_si256(_mm256_srli_epi64(m, 32), high_word), two84)), two84_52);
            const __m256i t =
                as_integer(_mm256_add_pd(upper, as_double(_mm256_or_si256(_mm256_and_si256(m, low_word), two52))));
            const __m256i side = _mm256_and_si256(_mm256_srai_epi32(_mm256_shuffle_epi32(twice, 0xf5), 31), side_bytes);
            _mm256_store_si256(reinterpret_cast<__m256i*>(drawn.offset + at),
                               _mm256_add_epi64(_mm256_and_si256(_mm256_srli_epi64(t, 46 - B), row_mask), side));
            const __m256i rest = _mm256_or_si256(_mm256_and_si256(_mm256_slli_epi64(t, B), fraction), one_bits);
            _mm256_store_pd(drawn.s + at, _mm256_sub_pd(as_double(rest), centre));
        }
    }
}

// Four rows, turned so that register k holds coefficient k of every lane.
inline void load_coefficients(const char* rows, const std::uint64_t* offset, __m256d (&c)[8]) {
    for (int half = 0; half < 2; ++half) {
        __m256d z[4];
        for (int i = 0; i < 4; ++i) z[i] = _mm256_load_pd(reinterpret_cast<const double*>(rows + offset[i]) + 4 * half);
        const __m256d e01 = _mm256_unpacklo_pd(z[0], z[1]), o01 = _mm256_unpackhi_pd(z[0], z[1]);
        const __m256d e23 = _mm256_unpacklo_pd(z[2], z[3]), o23 = _mm256_unpackhi_pd(z[2], z[3]);
        c[4 * half + 0] = _mm256_permute2f128_pd(e01, e23, 0x20);
        c[4 * half + 1] = _mm256_permute2f128_pd(o01, o23, 0x20);
        c[4 * half + 2] = _mm256_permute2f128_pd(e01, e23, 0x31);
        c[4 * half + 3] = _mm256_permute2f128_pd(o01, o23, 0x31);
    }
}

template <int B, bool wide>  // log2 of the bins per octave; three limbs or two
void run(const KernelJob& job, const std::uint64_t* fingerprints, const std::int64_t* weights, std::size_t padded) {
    const TableView& table = job.table;
    const char* rows = reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(table.marked) -
                                                     (std::uintptr_t(1023) << B) * sizeof(Row));
    const __m256i sign_bit = all(table.sign_bit);
    const __m256d round_to_one = _mm256_set1_pd(6755399441055744.0);  // 1.5 * 2^52
    const __m256d limit = _mm256_set1_pd(window_limit(table));
    const __m256d scale = _mm256_set1_pd(units_scale(table));
    const __m256d split = _mm256_set1_pd(2147483648.0), inverse_split = _mm256_set1_pd(1.0 / 2147483648.0);
    const __m256d two62 = _mm256_set1_pd(0x1p62), inverse62 = _mm256_set1_pd(0x1p-62);
    Drawn drawn;
    Outliers rest[2];

    for (std::uint32_t j = 0; j < job.pairs; ++j) {
        draw<B>(job, fingerprints, padded, j, drawn);
        __m256i low_sum = _mm256_setzero_si256(), high_sum = _mm256_setzero_si256(), top_sum = low_sum;
        rest[0].count = rest[1].count = 0;
        for (std::size_t i = 0; i < padded; i += 2) {
            const __m256i u = _mm256_load_si256(reinterpret_cast<const __m256i*>(drawn.bits + 2 * i));
            const __m256d s = _mm256_load_pd(drawn.s + 2 * i);
            __m256d c[8];
            load_coefficients(rows, drawn.offset + 2 * i, c);
            const __m256d s2 = _mm256_mul_pd(s, s);
            const __m256d low = madd(madd(c[0], c[1], s), madd(c[2], c[3], s), s2);
            const __m256d high = madd(madd(c[4], c[5], s), madd(c[6], c[7], s), s2);
            const __m256d x = madd(low, high, _mm256_mul_pd(s2, s2));

            const __m256d signed_x = _mm256_xor_pd(x, as_double(_mm256_and_si256(u, sign_bit)));
            const __m256d inside = _mm256_cmp_pd(x, limit, _CMP_LT_OQ);
            const __m256i w = _mm256_permute4x64_epi64(
                _mm256_castsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(weights + i))), 0x50);
            // Units, cut at bit 31 (and 62) into integers of at most 31 bits, each rounded to nearest even.
            __m256d units = _mm256_mul_pd(_mm256_and_pd(signed_x, inside), scale);
            if constexpr (wide) {
                const __m256d top = _mm256_add_pd(_mm256_mul_pd(units, inverse62), round_to_one);
                top_sum = _mm256_add_epi64(top_sum, _mm256_mul_epi32(as_integer(top), w));
                units = _mm256_sub_pd(units, _mm256_mul_pd(_mm256_sub_pd(top, round_to_one), two62));
            }
            const __m256d shifted = _mm256_add_pd(_mm256_mul_pd(units, inverse_split), round_to_one);
            const __m256d left = _mm256_sub_pd(units, _mm256_mul_pd(_mm256_sub_pd(shifted, round_to_one), split));
            low_sum = _mm256_add_epi64(low_sum, _mm256_mul_epi32(as_integer(_mm256_add_pd(left, round_to_one)), w));
            high_sum = _mm256_add_epi64(high_sum, _mm256_mul_epi32(as_integer(shifted), w));
            int outside = ~_mm256_movemask_pd(inside) & 15;
            if (outside) {
                alignas(32) double values[4];
                _mm256_store_pd(values, signed_x);
                do {
                    const int lane = __builtin_ctz(static_cast<unsigned>(outside));
                    const std::size_t key = i + static_cast<std::size_t>(lane >> 1);
                    if ((drawn.bits[2 * i + lane] & table.coarse) == 0) [[unlikely]] {
                        const auto entry = static_cast<std::uint32_t>(2 * j + (lane & 1));
                        const std::uint64_t more = more_bits(job, fingerprints[key], entry);
                        add_fine_variate(job, fingerprints[key], entry, drawn.bits[2 * i + lane], more, weights[key]);
                    } else {
                        Outliers& to = rest[lane & 1];
                        to.x[to.count] = values[lane];
                        to.weight[to.count++] = weights[key];
                    }
                    outside &= outside - 1;
                } while (outside);
            }
        }
        alignas(32) std::int64_t low_part[4], high_part[4], top_part[4];
        _mm256_store_si256(reinterpret_cast<__m256i*>(low_part), low_sum);
        _mm256_store_si256(reinterpret_cast<__m256i*>(high_part), high_sum);
        _mm256_store_si256(reinterpret_cast<__m256i*>(top_part), top_sum);
        for (int half = 0; half < 2; ++half) {
            std::int64_t* digits = job.sums + std::size_t(2 * j + half) * job.digits;
            add_signed(digits, low_part[half] + low_part[half + 2], 0);
            add_signed(digits, high_part[half] + high_part[half + 2], limb_bits);
            if (wide) add_signed(digits, top_part[half] + top_part[half + 2], 2 * limb_bits);
            add_outliers(digits, rest[half], table);
        }
    }
}

}  // namespace

void add_block_avx2(const KernelJob& job, const std::uint64_t* fingerprints, const std::int64_t* weights,
                    std::size_t n) {
    alignas(64) std::uint64_t keys[block_keys];
    alignas(64) std::int64_t weight[block_keys];
    const std::size_t padded = (n + 7) / 8 * 8;  // keys of weight 0 add nothing
    for (std::size_t i = 0; i < padded; ++i) {
        keys[i] = i < n ? fingerprints[i] : 0;
        weight[i] = i < n ? weights[i] : 0;
    }
    const bool wide = job.table.wide;
    switch (job.table.bin_bits) {
        case 5: return wide ? run<5, true>(job, keys, weight, padded) : run<5, false>(job, keys, weight, padded);
        case 6: return wide ? run<6, true>(job, keys, weight, padded) : run<6, false>(job, keys, weight, padded);
        default: return wide ? run<7, true>(job, keys, weight, padded) : run<7, false>(job, keys, weight, padded);
    }
}

}  // namespace stablesketch
#endif
