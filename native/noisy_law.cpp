// P(F x + b L <= T), for as many pieces at once as the processor's vectors hold.
#include "noisy_law.hpp"

#include <bit>
#include <cstdint>

// One copy for each kind of vector, chosen when the module is loaded. No sum depends on their length, and multiply and
// add are never fused into one rounding, so all give the same bits.
#if defined(__x86_64__) && defined(__GLIBC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define STABLESKETCH_EVERY_VECTOR __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define STABLESKETCH_EVERY_VECTOR
#endif

namespace stablesketch {

namespace {

// Pieces narrower than this, in units of the noise, are evaluated at their middle, which is then exact to 1e-10.
constexpr double narrow = 1e-4;
// Pieces that are computed together, and sums that are added up side by side.
constexpr std::size_t together = 64, sums = 8;

// e^-|v| to a few units in the last place; where it is less than e^-708, which is nothing, that.
[[gnu::always_inline]] inline double decay(double v) {
    constexpr double shift = 6755399441055744.0;  // 1.5 * 2^52: with it added, a number is whole, and in the low bits
    const double x = std::max(-std::fabs(v), -708.0), shifted = x * 1.4426950408889634 + shift, k = shifted - shift;
    const double r = x - k * 0.693147180369123816490 - k * 1.90821492927058770002e-10;  // ln 2 in two parts
    double sum = r / 6227020800.0 + 1.0 / 479001600.0;                                  // r^n/n!, from n = 13 on
    sum = sum * r + 1.0 / 39916800.0;
    sum = sum * r + 1.0 / 3628800.0;
    sum = sum * r + 1.0 / 362880.0;
    sum = sum * r + 1.0 / 40320.0;
    sum = sum * r + 1.0 / 5040.0;
    sum = sum * r + 1.0 / 720.0;
    sum = sum * r + 1.0 / 120.0;
    sum = sum * r + 1.0 / 24.0;
    sum = sum * r + 1.0 / 6.0;
    sum = sum * r + 0.5;
    sum = (sum * r + 1.0) * r + 1.0;
    return sum * std::bit_cast<double>((std::bit_cast<std::uint64_t>(shifted) + 1023) << 52);
}

}  // namespace

STABLESKETCH_EVERY_VECTOR double NoisyLaw::below(double value) const {
    double sum[sums] = {}, v[together + 1], rising[together + 1], falls[together], means[together];
    for (std::size_t begin = 0; begin < pieces; begin += together) {
        const std::size_t count = std::min(together, pieces - begin);
        for (std::size_t i = 0; i <= count; ++i) v[i] = (released - value * ends[begin + i]) / noise;
        for (std::size_t i = 0; i <= count; ++i) rising[i] = std::max(v[i], 0.0) + 0.5 * decay(v[i]);
        for (std::size_t i = 0; i < count; ++i) falls[i] = v[i] - v[i + 1];
        for (std::size_t i = 0; i < count; ++i) means[i] = (rising[i] - rising[i + 1]) / falls[i];
        std::size_t thin = 0;
        for (std::size_t i = 0; i < count; ++i) thin += falls[i] < narrow;
        for (std::size_t i = 0; thin > 0 && i < count; ++i) {
            if (!(falls[i] < narrow)) continue;
            const double middle = 0.5 * (v[i] + v[i + 1]), half = 0.5 * decay(middle);
            means[i] = middle < 0.0 ? half : 1.0 - half;
        }
        for (std::size_t i = 0; i < count; ++i) means[i] *= masses[begin + i];
        for (std::size_t i = count; i < together; ++i) means[i] = 0.0;
        for (std::size_t i = 0; i < together; i += sums)
            for (std::size_t j = 0; j < sums; ++j) sum[j] += means[i + j];
    }
    double whole = 0.0;
    for (std::size_t j = 0; j < sums; ++j) whole += sum[j];
    return whole;
}

}  // namespace stablesketch
