// AVX-512 with VAES: four AES blocks, and so eight variates, to a register. Lanes hold four keys times two entries, so
// a pair of entries keeps its sums in registers over the whole block.
//
// What bounds the loop is that two operations on 512 bits can start in a cycle, and one load of 512 bits. Every step is
// written for few of both (docs/performance.md has the count). From the key to the sum is a chain of some 150 cycles,
// far more than a processor looks ahead, so the loop works on eight groups of eight variates at once, each in another
// stage: what a stage needs was ready one turn before.
#include "kernel.hpp"

#if defined(__x86_64__)
#include <immintrin.h>

#include "continuation_aesni.hpp"
#include "kernel_outliers.hpp"
#include "variate.hpp"

namespace stablesketch {
namespace {

// A byte that AES substitutes by zero: a half of the block made of it adds nothing to the columns of the first round.
constexpr char no_byte = 0x52;

// The keys of a block whose weights have one sign, and what is the same for all entries.
struct Lanes {
    alignas(64) std::uint64_t started[2 * block_keys];  // what the fingerprint gives to the first round of AES
    alignas(64) std::uint64_t weight[2 * block_keys];   // each |weight| twice
    alignas(64) std::uint64_t key[block_keys + 8], size[block_keys + 8];  // fingerprint and |weight|
    std::size_t count, groups;                                            // of keys, and of registers of eight variates
    std::uint64_t total, any_weight;                                      // the sum and the union of the |weights|
    bool negative;
};

// Takes the keys of one sign out of n.
void gather(Lanes& lanes, const KernelJob& job, const std::uint64_t* fingerprints, const std::int64_t* weights,
            std::size_t n, bool negative) {
    const __m512i zero = _mm512_setzero_si512();
    __m512i total = zero, any_weight = zero;
    std::size_t count = 0;
    for (std::size_t i = 0; i < n; i += 8) {
        const auto some = static_cast<__mmask8>(i + 8 <= n ? 255 : (1 << (n - i)) - 1);
        __m512i weight = _mm512_maskz_loadu_epi64(some, weights + i);
        if (negative) weight = _mm512_sub_epi64(zero, weight);
        const __mmask8 ours = _mm512_cmpgt_epi64_mask(weight, zero);
        const __m512i key = _mm512_maskz_loadu_epi64(some, fingerprints + i);
        _mm512_storeu_si512(lanes.key + count, _mm512_maskz_compress_epi64(ours, key));
        _mm512_storeu_si512(lanes.size + count, _mm512_maskz_compress_epi64(ours, weight));
        count += static_cast<std::size_t>(__builtin_popcount(ours));
        total = _mm512_mask_add_epi64(total, ours, total, weight);
        any_weight = _mm512_mask_or_epi64(any_weight, ours, any_weight, weight);
    }
    lanes.count = count;
    lanes.groups = (count + 3) / 4;
    lanes.total = static_cast<std::uint64_t>(_mm512_reduce_add_epi64(total));
    lanes.any_weight = static_cast<std::uint64_t>(_mm512_reduce_or_epi64(any_weight));
    lanes.negative = negative;

    const __m512i twice = _mm512_setr_epi64(0, 0, 1, 1, 2, 2, 3, 3), none = _mm512_set1_epi8(no_byte);
    const __m512i whiten =
        _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(job.key->round_key[0])));
    for (std::size_t i = 0; i < count; i += 4) {  // whole groups: a weight of 0 adds nothing
        const auto some = static_cast<__mmask8>(i + 4 <= count ? 15 : (1 << (count - i)) - 1);
        const __m512i key = _mm512_castsi256_si512(_mm256_maskz_loadu_epi64(some, lanes.key + i));
        const __m512i weight = _mm512_castsi256_si512(_mm256_maskz_loadu_epi64(some, lanes.size + i));
        const __m512i block = _mm512_mask_xor_epi64(none, 0x55, _mm512_permutexvar_epi64(twice, key), whiten);
        _mm512_store_si512(lanes.started + 2 * i, _mm512_aesenc_epi128(block, zero));
        _mm512_store_si512(lanes.weight + 2 * i, _mm512_permutexvar_epi64(twice, weight));
    }
}

// What the later stages need of a group. Offsets go through memory and are read four turns later: taken out of a
// register one by one they would need the very ports that are the bottleneck, and read back at once they would wait for
// the store.
struct Drawn {
    alignas(64) std::uint64_t bits[8];    // as encrypted: the sign is in them
    alignas(64) std::uint64_t offset[8];  // of the row: 2^(10 - B) for a row, and half of that
    alignas(64) double s[8];              // t less the centre of its bin, negative on the lower side
};

template <int B>
inline void place(__m512i u, Drawn& drawn) {
    const __m512i one = _mm512_set1_epi64(1), sign = _mm512_set1_epi64(static_cast<long long>(std::uint64_t(1) << 63));
    const __m512i below_sign = _mm512_set1_epi64(0x7fffffffffffffffLL);
    const __m512i bin = _mm512_set1_epi64(-(1LL << (52 - B))), half = _mm512_set1_epi64(1LL << (51 - B));
    // Bits 42 to 57 are half a bin, the bin and six bits of the exponent, with zeros below; bit 63 is the side.
    const __m512i windows = _mm512_set1_epi64(42 | 50 << 8 | 63 << 16);
    _mm512_store_si512(drawn.bits, u);
    // t = double(2m + 1), with the side as its sign.
    const __m512i twice = _mm512_add_epi64(u, u);
    const __m512i m = _mm512_ternarylogic_epi64(twice, one, below_sign, 0xa8);  // (a|b)&c
    const __m512i t =
        _mm512_ternarylogic_epi64(_mm512_castpd_si512(_mm512_cvtepi64_pd(m)), twice, sign, 0xf8);  // a|(b&c)
    const __m512i centre = _mm512_ternarylogic_epi64(t, bin, half, 0xea);                          // (a&b)|c
    _mm512_store_si512(drawn.offset, _mm512_multishift_epi64_epi8(windows, centre));
    _mm512_store_pd(drawn.s, _mm512_sub_pd(_mm512_castsi512_pd(t), _mm512_castsi512_pd(centre)));
}

inline __m512d madd(__m512d a, __m512d b, __m512d c) { return _mm512_add_pd(a, _mm512_mul_pd(b, c)); }

// The polynomials are evaluated while their rows are being turned from one row a register to one coefficient a
// register: each level halves what is left to turn. First level: c0 + c1 s, c2 + c3 s, c4 + c5 s, c6 + c7 s, in this
// order, of lanes 2i and 2i + 1 by turns.
template <int B, int i>
inline __m512d first_level(const char* rows, const Drawn& drawn, __m512d s) {
    const auto row = [&](std::size_t lane) {
        return _mm512_load_pd(reinterpret_cast<const double*>(rows + (drawn.offset[lane] << (B - 4))));
    };
    const __m512d a = row(2 * i), b = row(2 * i + 1);
    return madd(_mm512_unpacklo_pd(a, b), _mm512_unpackhi_pd(a, b), _mm512_shuffle_f64x2(s, s, 0x55 * i));
}

template <int B>
inline void first_levels(const char* rows, const Drawn& drawn, __m512d (&c)[4]) {
    const __m512d s = _mm512_load_pd(drawn.s);
    c[0] = first_level<B, 0>(rows, drawn, s);
    c[1] = first_level<B, 1>(rows, drawn, s);
    c[2] = first_level<B, 2>(rows, drawn, s);
    c[3] = first_level<B, 3>(rows, drawn, s);
}

// Second level, of half a group: the lower four coefficients of four lanes, then the upper four.
inline __m512d second_level(__m512d a, __m512d b, __m512d s2) {
    const __m512i evens = _mm512_setr_epi64(0, 1, 8, 9, 4, 5, 12, 13),
                  odds = _mm512_setr_epi64(2, 3, 10, 11, 6, 7, 14, 15);
    return madd(_mm512_permutex2var_pd(a, evens, b), _mm512_permutex2var_pd(a, odds, b), s2);
}

// The second and the third level: |x| of the group.
inline __m512d last_levels(const Drawn& drawn, const __m512d (&c)[4]) {
    const __m512d s = _mm512_load_pd(drawn.s), s2 = _mm512_mul_pd(s, s);
    const __m512d a = second_level(c[0], c[1], _mm512_shuffle_f64x2(s2, s2, 0x44));
    const __m512d b = second_level(c[2], c[3], _mm512_shuffle_f64x2(s2, s2, 0xee));
    return madd(_mm512_shuffle_f64x2(a, b, 0x44), _mm512_shuffle_f64x2(a, b, 0xee), _mm512_mul_pd(s2, s2));
}

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
        const __m512i position = _mm512_add_epi64(_mm512_and_si512(_mm512_srli_epi64(raw, 52), exponent), base);
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
    const __mmask8 fine = _mm512_testn_epi64_mask(u, _mm512_set1_epi64(static_cast<long long>(job.table.coarse)));
    for (unsigned left = fine; left != 0; left &= left - 1) {
        const int lane = __builtin_ctz(left);
        const std::size_t at = 4 * g + static_cast<std::size_t>(lane >> 1);
        if (at >= lanes.count) break;
        alignas(64) std::uint64_t bits[8];
        _mm512_store_si512(bits, u);
        const auto weight = static_cast<std::int64_t>(lanes.size[at]);
        const auto entry = static_cast<std::uint32_t>(2 * j + (lane & 1));
        const std::uint64_t more = more_bits(job, lanes.key[at], entry);
        add_fine_variate(job, lanes.key[at], entry, bits[lane], more, lanes.negative ? -weight : weight);
    }
    return fine;
}

// X in units of 2^-resolution, cut into limbs of so many bits, each rounded to nearest, from the top down; what is left
// after each is exact. Adding 2^52 + 2^(bits - 1), in units of the limb, leaves the limb plus a bias of 2^(bits - 1),
// an integer from 0 to 2^bits, in the low 52 bits of a double: there the 52-bit multiplication takes it. Weights are
// below 2^(52 - bits), so products have 52 bits and those of a block 60. The bias is taken off the sums.
struct Limbs {
    int count, bits;
};

Limbs limbs_for(const TableView& table, std::uint64_t any_weight) {
    Limbs limbs{2, __builtin_clzll(any_weight) - 12};
    // As many as leave one X in 64 outside, roughly: that costs as much as another limb would. (So the window ends
    // above 64 at p = 1, and the skewed law, whose left tail ends before -6, has no X below it.)
    while (limbs.count < 6 && table.tail * (limbs.count * limbs.bits - 1 - table.resolution) < 6.0) ++limbs.count;
    return limbs;
}

template <int B, int limbs>  // log2 of the bins per octave; limbs of X
void run(const KernelJob& job, const Lanes& lanes, int limb_size) {
    const TableView& table = job.table;
    __m512i round_key[11];
    for (int r = 0; r < 11; ++r)
        round_key[r] = _mm512_broadcast_i32x4(_mm_load_si128(reinterpret_cast<const __m128i*>(job.key->round_key[r])));
    // Offsets have half a row too many.
    const char* rows = reinterpret_cast<const char*>(reinterpret_cast<std::uintptr_t>(table.direct) - sizeof(Row) / 2);
    const __m512i sign_bit = _mm512_set1_epi64(static_cast<long long>(table.sign_bit));
    const int unit = -(table.shift + table.resolution);
    const double end = power_of_two(limbs * limb_size - 1 + unit);
    const __m512d limit = _mm512_set1_pd(end < table.fine_from ? end : table.fine_from);
    __m512d biased[limbs];
    for (int l = 0; l < limbs; ++l)
        biased[l] =
            _mm512_set1_pd((power_of_two(52) + power_of_two(limb_size - 1)) * power_of_two(l * limb_size + unit));
    const std::uint64_t bias = lanes.total << (limb_size - 1);
    const auto add_rest = lanes.any_weight < 2048 ? add_light_outliers : add_outliers;
    const __m512i negated = _mm512_set1_epi64(static_cast<long long>(std::uint64_t(lanes.negative) << 63));
    Outliers even, odd;

    // The next group of the block, and after its last one the first of the next pair of entries. The first round of AES
    // is linear once the bytes are substituted, and fingerprint and entry are different bytes. So what each gives is
    // computed once for all entries (Lanes) and once for all keys (`entry`); here they are only added.
    std::uint32_t next_pair = 0;
    std::size_t next_group = 0;
    const auto entry_of = [&](std::uint32_t j) {
        const __m512i name = _mm512_set1_epi64(static_cast<long long>(std::uint64_t(job.domain) << 32 | j));
        const __m512i block = _mm512_mask_xor_epi64(_mm512_set1_epi8(no_byte), 0xaa, name, round_key[0]);
        return _mm512_aesenc_epi128(block, round_key[1]);
    };
    __m512i entry = entry_of(0);
    const auto encrypt_next = [&] {
        __m512i u = _mm512_xor_si512(_mm512_load_si512(lanes.started + 8 * next_group), entry);
        if (++next_group == lanes.groups) [[unlikely]] {
            next_group = 0;
            entry = entry_of(++next_pair);
        }
        for (int r = 2; r < 10; ++r) u = _mm512_aesenc_epi128(u, round_key[r]);
        return _mm512_aesenclast_epi128(u, round_key[10]);
    };

    // Seven groups are ahead of the one that is added: encrypted, placed, three waiting, in the first level, in the
    // last ones. The wait is for the stores of `place`: read back after two turns instead of four, offsets cost Zen 5 a
    // eighth of the time of the loop.
    constexpr std::size_t ring = 8, ahead = 6;
    Drawn drawn[ring];
    for (std::size_t i = 0; i < ahead; ++i) place<B>(encrypt_next(), drawn[i]);
    __m512i encrypted = encrypt_next();
    __m512d c[4];
    first_levels<B>(rows, drawn[0], c);
    __m512d ready = last_levels(drawn[0], c);
    first_levels<B>(rows, drawn[1], c);
    std::size_t at = 0;
    for (std::uint32_t j = 0; j < job.pairs; ++j) {
        __m512i sum[limbs];
        for (int l = 0; l < limbs; ++l) sum[l] = _mm512_setzero_si512();
        even.count = odd.count = 0;
        for (std::size_t g = 0; g < lanes.groups; ++g, ++at) {
            place<B>(encrypted, drawn[(at + ahead) % ring]);
            const __m512d x = ready;
            ready = last_levels(drawn[(at + 1) % ring], c);
            first_levels<B>(rows, drawn[(at + 2) % ring], c);
            encrypted = encrypt_next();

            const __m512i u = _mm512_load_si512(drawn[at % ring].bits), w = _mm512_load_si512(lanes.weight + 8 * g);
            const __mmask8 inside = _mm512_cmp_pd_mask(x, limit, _CMP_LT_OQ);
            __m512d left = _mm512_castsi512_pd(
                _mm512_maskz_ternarylogic_epi64(inside, _mm512_castpd_si512(x), u, sign_bit, 0x78));  // a ^ (b & c)
            for (int l = limbs - 1; l > 0; --l) {
                const __m512d limb = _mm512_add_pd(left, biased[l]);
                sum[l] = _mm512_madd52lo_epu64(sum[l], _mm512_castpd_si512(limb), w);
                left = _mm512_sub_pd(left, _mm512_sub_pd(limb, biased[l]));
            }
            sum[0] = _mm512_madd52lo_epu64(sum[0], _mm512_castpd_si512(_mm512_add_pd(left, biased[0])), w);
            if (!_kortestc_mask8_u8(inside, inside)) [[unlikely]] {
                const auto outside = static_cast<__mmask8>(~inside & ~add_fine(job, lanes, j, g, u));
                const __m512i sign = _mm512_ternarylogic_epi64(negated, u, sign_bit, 0x78);  // a ^ (b & c)
                const __m512d signed_x = _mm512_castsi512_pd(_mm512_xor_si512(_mm512_castpd_si512(x), sign));
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
        for (int l = 0; l < limbs; ++l) {
            const __m256i four = _mm256_add_epi64(_mm512_castsi512_si256(sum[l]), _mm512_extracti64x4_epi64(sum[l], 1));
            const __m128i two = _mm_add_epi64(_mm256_castsi256_si128(four), _mm256_extracti128_si256(four, 1));
            for (int entry = 0; entry < 2; ++entry) {
                const long long with_bias = entry == 0 ? _mm_extract_epi64(two, 0) : _mm_extract_epi64(two, 1);
                const auto value = static_cast<std::int64_t>(static_cast<std::uint64_t>(with_bias) - bias);
                add_signed(digits + entry * job.digits, lanes.negative ? -value : value, l * limb_size);
            }
        }
        add_rest(digits, even, table);
        add_rest(digits + job.digits, odd, table);
    }
}

template <int B>
void run(const KernelJob& job, const Lanes& lanes) {
    if (lanes.count == 0) return;
    const Limbs limbs = limbs_for(job.table, lanes.any_weight);
    switch (limbs.count) {
        case 2: return run<B, 2>(job, lanes, limbs.bits);
        case 3: return run<B, 3>(job, lanes, limbs.bits);
        case 4: return run<B, 4>(job, lanes, limbs.bits);
        case 5: return run<B, 5>(job, lanes, limbs.bits);
        default: return run<B, 6>(job, lanes, limbs.bits);
    }
}

}  // namespace

// The 52-bit multiplication knows no signs: where a block has weights of both, it is done in two parts.
void add_block_avx512(const KernelJob& job, const std::uint64_t* fingerprints, const std::int64_t* weights,
                      std::size_t n) {
    Lanes lanes;
    for (const bool negative : {false, true}) {
        gather(lanes, job, fingerprints, weights, n, negative);
        switch (job.table.bin_bits) {
            case 5: run<5>(job, lanes); break;
            case 6: run<6>(job, lanes); break;
            default: run<7>(job, lanes);
        }
        if (lanes.count == n) break;
    }
}

}  // namespace stablesketch
#endif
