// AVX-512 with VAES: four AES blocks, and so eight variates, to a register. Lanes hold four keys times two entries, so
// a pair of entries keeps its sums in registers over the whole block.
#include "kernel.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include "kernel_outliers.hpp"
#include "variate.hpp"

namespace stablesketch {
namespace {

struct Lanes {
    alignas(64) std::uint64_t plain[2 * block_keys];   // fingerprint, 0, fingerprint, 0, ...
    alignas(64) std::int64_t weight[2 * block_keys];   // each weight twice
    std::size_t groups;
    bool light = true;  // all weights below 2^11
};

void spread(Lanes& lanes, const std::uint64_t* fingerprints, const std::int64_t* weights, std::size_t n) {
    lanes.groups = (n + 3) / 4;
    const std::size_t padded = (n + 15) / 16 * 16;  // whole rounds of `draw`; keys of weight 0 add nothing
    const __m512i twice = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3);
    __m256i sizes = _mm256_setzero_si256();
    for (std::size_t i = 0; i < padded; i += 4) {
        const auto some = static_cast<__mmask8>(i + 4 <= n ? 15 : i < n ? (1 << (n - i)) - 1 : 0);
        const __m256i key = _mm256_maskz_loadu_epi64(some, fingerprints + i);
        const __m256i weight = _mm256_maskz_loadu_epi64(some, weights + i);
        _mm512_store_si512(lanes.plain + 2 * i, _mm512_maskz_permutexvar_epi64(0x55, twice, _mm512_castsi256_si512(key)));
        _mm512_store_si512(lanes.weight + 2 * i, _mm512_permutexvar_epi64(twice, _mm512_castsi256_si512(weight)));
        sizes = _mm256_or_si256(sizes, _mm256_abs_epi64(weight));
    }
    lanes.light = _mm256_test_epi64_mask(sizes, _mm256_set1_epi64x(~2047LL)) == 0;
}

// Eight rows of eight coefficients, turned so that register k holds coefficient k of every lane.
inline void load_coefficients(const char* rows, const std::uint64_t* offset, __m512d (&c)[8]) {
    const __m512i low_pairs = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13);
    const __m512i high_pairs = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    for (int half = 0; half < 2; ++half) {
        __m512d z[4];
        for (int i = 0; i < 4; ++i) {
            const auto* a = reinterpret_cast<const double*>(rows + offset[i]) + 4 * half;
            const auto* b = reinterpret_cast<const double*>(rows + offset[i + 4]) + 4 * half;
            z[i] = _mm512_insertf64x4(_mm512_castpd256_pd512(_mm256_load_pd(a)), _mm256_load_pd(b), 1);
        }
        const __m512d e01 = _mm512_unpacklo_pd(z[0], z[1]), o01 = _mm512_unpackhi_pd(z[0], z[1]);
        const __m512d e23 = _mm512_unpacklo_pd(z[2], z[3]), o23 = _mm512_unpackhi_pd(z[2], z[3]);
        c[4 * half + 0] = _mm512_permutex2var_pd(e01, low_pairs, e23);
        c[4 * half + 1] = _mm512_permutex2var_pd(o01, low_pairs, o23);
        c[4 * half + 2] = _mm512_permutex2var_pd(e01, high_pairs, e23);
        c[4 * half + 3] = _mm512_permutex2var_pd(o01, high_pairs, o23);
    }
}

// What the second half of the work needs of a pair of entries, for the whole block.
struct Drawn {
    alignas(64) std::uint64_t bits[2 * block_keys];    // as encrypted: the sign is in them
    alignas(64) std::uint64_t offset[2 * block_keys];  // of the row, in bytes
    alignas(64) double s[2 * block_keys];              // the position in its bin
};

// Four chains of AES at once: a round takes three cycles to come back, and a new one can start every cycle. Meanwhile
// the other ports turn bits into rows. Offsets go through memory and are read much later: taken out of a register one by
// one they would need the very ports that are the bottleneck, and read back at once they would wait for the store.
template <int B>
inline void draw(const Lanes& lanes, const __m512i (&round_key)[11], __m512i first, __m512i side_bytes, Drawn& drawn) {
    const __m512i one = _mm512_set1_epi64(1), below_sign = _mm512_set1_epi64(0x7fffffffffffffffLL);
    const __m512i side_bit = _mm512_set1_epi64(1LL << 62), row_mask = _mm512_set1_epi64(~63LL);
    const __m512i fraction = _mm512_set1_epi64(0x000fffffffffffffLL), one_bits = _mm512_set1_epi64(0x3ff0000000000000LL);
    const __m512d centre = _mm512_set1_pd(1.5);
    for (std::size_t g = 0; g < lanes.groups; g += 4) {
        __m512i u[4];
        for (int i = 0; i < 4; ++i) u[i] = _mm512_xor_si512(_mm512_load_si512(lanes.plain + 8 * (g + i)), first);
        for (int r = 1; r < 10; ++r)
            for (int i = 0; i < 4; ++i) u[i] = _mm512_aesenc_epi128(u[i], round_key[r]);
        for (int i = 0; i < 4; ++i) {
            u[i] = _mm512_aesenclast_epi128(u[i], round_key[10]);
            _mm512_store_si512(drawn.bits + 8 * (g + i), u[i]);
            // t = double(2m + 1); row and position from its bits.
            const __m512i m = _mm512_ternarylogic_epi64(_mm512_slli_epi64(u[i], 1), one, below_sign, 0xa8);  // (a|b)&c
            const __m512i t = _mm512_castpd_si512(_mm512_cvtepi64_pd(m));
            const __m512i row = _mm512_and_si512(_mm512_srli_epi64(t, 46 - B), row_mask);
            _mm512_store_si512(drawn.offset + 8 * (g + i),
                               _mm512_mask_add_epi64(row, _mm512_test_epi64_mask(u[i], side_bit), row, side_bytes));
            const __m512i rest = _mm512_ternarylogic_epi64(_mm512_slli_epi64(t, B), fraction, one_bits, 0xea);  // (a&b)|c
            _mm512_store_pd(drawn.s + 8 * (g + i), _mm512_sub_pd(_mm512_castsi512_pd(rest), centre));
        }
    }
}

inline __m512d madd(__m512d a, __m512d b, __m512d c) { return _mm512_add_pd(a, _mm512_mul_pd(b, c)); }

// add_outliers for weights below 2^11: the digits of eight products at once, then one addition each.
// A product has 64 bits, so after the shift three digits take it.
inline void add_light_outliers(std::int64_t* digits, const Outliers& out, const TableView& table) {
    const __m512i base = _mm512_set1_epi64(table.shift + table.resolution - 1075), zero = _mm512_setzero_si512();
    const __m512i fraction = _mm512_set1_epi64(0x000fffffffffffffLL), implicit = _mm512_set1_epi64(1LL << 52);
    const __m512i digit = _mm512_set1_epi64(0xffffffffLL), exponent = _mm512_set1_epi64(0x7ff);
    for (std::size_t i = 0; i < out.count; i += 8) {
        const __m512i raw = _mm512_castpd_si512(_mm512_load_pd(out.x + i)), w = _mm512_load_si512(out.weight + i);
        const __m512i mantissa = _mm512_ternarylogic_epi64(raw, fraction, implicit, 0xea);  // (a&b)|c
        const __m512i product = _mm512_mullo_epi64(mantissa, _mm512_abs_epi64(w));
        const __m512i position =
            _mm512_add_epi64(_mm512_and_si512(_mm512_srli_epi64(raw, 52), exponent), base);
        const __m512i s = _mm512_and_si512(position, _mm512_set1_epi64(31));
        const __mmask8 negative = _mm512_movepi64_mask(_mm512_xor_si512(raw, w));
        alignas(64) std::int64_t d[3][8], index[8];
        const auto put = [&](int k, __m512i value) {
            _mm512_store_si512(d[k], _mm512_mask_sub_epi64(value, negative, zero, value));
        };
        put(0, _mm512_and_si512(_mm512_sllv_epi64(product, s), digit));
        put(1, _mm512_and_si512(_mm512_srlv_epi64(product, _mm512_sub_epi64(_mm512_set1_epi64(32), s)), digit));
        put(2, _mm512_srlv_epi64(product, _mm512_sub_epi64(_mm512_set1_epi64(64), s)));
        _mm512_store_si512(index, _mm512_srli_epi64(position, 5));
        const std::size_t lanes = out.count - i < 8 ? out.count - i : 8;
        for (std::size_t lane = 0; lane < lanes; ++lane) {
            std::int64_t* to = digits + index[lane];
            to[0] += d[0][lane];
            to[1] += d[1][lane];
            to[2] += d[2][lane];
        }
    }
}

// Adds the lanes that ask for more bits, one by one, and returns which they are.
__mmask8 add_fine(const KernelJob& job, const Lanes& lanes, std::uint32_t j, std::size_t g, __m512i u) {
    const __mmask8 fine = _mm512_testn_epi64_mask(u, _mm512_set1_epi64(static_cast<long long>(coarse_bits)));
    for (unsigned left = fine; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const std::size_t at = 8 * g + static_cast<std::size_t>(lane);
        alignas(64) std::uint64_t bits[8];
        _mm512_store_si512(bits, u);
        add_fine_variate(job, lanes.plain[at & ~std::size_t(1)], 2 * j + (lane & 1), bits[lane], lanes.weight[at]);
    }
    return fine;
}

template <int B, bool wide>  // log2 of the bins per octave; three limbs or two
void run(const KernelJob& job, const Lanes& lanes) {
    const TableView& table = job.table;
    __m512i round_key[11];
    for (int r = 0; r < 11; ++r)
        round_key[r] = _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(job.key->round_key[r])));
    // The row offset in bytes is the exponent and top mantissa bits times 64; the bias of the exponent is taken here.
    const char* rows = reinterpret_cast<const char*>(
        reinterpret_cast<std::uintptr_t>(table.rows) - (std::uintptr_t(1023) << B) * sizeof(Row));
    const __m512i side_bytes = _mm512_set1_epi64(static_cast<long long>(table.rows_per_side * sizeof(Row)));
    const __m512i sign_bit = _mm512_set1_epi64(static_cast<long long>(table.sign_bit)), low_mask = _mm512_set1_epi64(0x7fffffff);
    const __m512d limit = _mm512_set1_pd(window_limit(table));
    const __m512d scale = _mm512_set1_pd(units_scale(table));
    const __m512d two62 = _mm512_set1_pd(0x1p62), inverse62 = _mm512_set1_pd(0x1p-62);
    const auto add_rest = lanes.light ? add_light_outliers : add_outliers;
    Drawn drawn;
    Outliers even, odd;

    for (std::uint32_t j = 0; j < job.pairs; ++j) {
        const __m512i counter = _mm512_set_epi64(
            std::uint64_t(job.domain) << 32 | j, 0, std::uint64_t(job.domain) << 32 | j, 0,
            std::uint64_t(job.domain) << 32 | j, 0, std::uint64_t(job.domain) << 32 | j, 0);
        const __m512i first = _mm512_xor_si512(round_key[0], counter);
        __m512i low_sum = _mm512_setzero_si512(), high_sum = _mm512_setzero_si512(), top_sum = low_sum;
        even.count = odd.count = 0;
        draw<B>(lanes, round_key, first, side_bytes, drawn);
        for (std::size_t g = 0; g < lanes.groups; ++g) {
            const __m512i u = _mm512_load_si512(drawn.bits + 8 * g);
            const __m512d s = _mm512_load_pd(drawn.s + 8 * g);
            __m512d c[8];
            load_coefficients(rows, drawn.offset + 8 * g, c);
            const __m512d s2 = _mm512_mul_pd(s, s);
            const __m512d low = madd(madd(c[0], c[1], s), madd(c[2], c[3], s), s2);
            const __m512d high = madd(madd(c[4], c[5], s), madd(c[6], c[7], s), s2);
            const __m512d x = madd(low, high, _mm512_mul_pd(s2, s2));

            const __m512i w = _mm512_load_si512(lanes.weight + 8 * g);
            const __m512d signed_x = _mm512_castsi512_pd(
                _mm512_ternarylogic_epi64(_mm512_castpd_si512(x), u, sign_bit, 0x78));  // a ^ (b & c)
            const __mmask8 inside = _mm512_cmp_pd_mask(x, limit, _CMP_LT_OQ);
            __m512d whole = _mm512_maskz_mul_pd(inside, signed_x, scale);
            if constexpr (wide) {  // the top limb, rounded to nearest; what it leaves is exact, and below 2^61
                const __m512i top = _mm512_cvtpd_epi64(_mm512_mul_pd(whole, inverse62));
                top_sum = _mm512_add_epi64(top_sum, _mm512_mul_epi32(top, w));
                whole = _mm512_fnmadd_pd(_mm512_cvtepi64_pd(top), two62, whole);
            }
            const __m512i units = _mm512_cvtpd_epi64(whole);
            low_sum = _mm512_add_epi64(low_sum, _mm512_mul_epi32(_mm512_and_si512(units, low_mask), w));
            high_sum = _mm512_add_epi64(high_sum, _mm512_mul_epi32(_mm512_srli_epi64(units, limb_bits), w));
            if (inside != 0xff) {
                const auto outside = static_cast<__mmask8>(~inside & ~add_fine(job, lanes, j, g, u));
                const auto e = static_cast<__mmask8>(outside & 0x55), o = static_cast<__mmask8>(outside & 0xaa);
                _mm512_storeu_pd(even.x + even.count, _mm512_maskz_compress_pd(e, signed_x));
                _mm512_storeu_si512(even.weight + even.count, _mm512_maskz_compress_epi64(e, w));
                even.count += static_cast<std::size_t>(__builtin_popcount(e));
                _mm512_storeu_pd(odd.x + odd.count, _mm512_maskz_compress_pd(o, signed_x));
                _mm512_storeu_si512(odd.weight + odd.count, _mm512_maskz_compress_epi64(o, w));
                odd.count += static_cast<std::size_t>(__builtin_popcount(o));
            }
        }
        std::int64_t* digits = job.sums + std::size_t(2 * j) * job.digits;
        add_signed(digits, _mm512_mask_reduce_add_epi64(0x55, low_sum), 0);
        add_signed(digits, _mm512_mask_reduce_add_epi64(0x55, high_sum), limb_bits);
        if (wide) add_signed(digits, _mm512_mask_reduce_add_epi64(0x55, top_sum), 2 * limb_bits);
        add_rest(digits, even, table);
        digits += job.digits;
        add_signed(digits, _mm512_mask_reduce_add_epi64(0xaa, low_sum), 0);
        add_signed(digits, _mm512_mask_reduce_add_epi64(0xaa, high_sum), limb_bits);
        if (wide) add_signed(digits, _mm512_mask_reduce_add_epi64(0xaa, top_sum), 2 * limb_bits);
        add_rest(digits, odd, table);
    }
}

}  // namespace

void add_block_avx512(const KernelJob& job, const std::uint64_t* fingerprints, const std::int64_t* weights,
                      std::size_t n) {
    Lanes lanes;
    spread(lanes, fingerprints, weights, n);
    switch (job.table.bin_bits) {
        case 5: return job.table.wide ? run<5, true>(job, lanes) : run<5, false>(job, lanes);
        case 6: return job.table.wide ? run<6, true>(job, lanes) : run<6, false>(job, lanes);
        default: return job.table.wide ? run<7, true>(job, lanes) : run<7, false>(job, lanes);
    }
}

}  // namespace stablesketch
#endif
