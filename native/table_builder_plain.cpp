#include "table_builder.hpp"

namespace stablesketch {

TableShape table_shape(const EntryLaw& law) {
    TableShape shape;
    if (law.entropy()) {  // densities of X are below 1/5: 2^-54 moves less than 2^-56 of probability
        shape.resolution = 54;
        return shape;
    }
    const double p = law.p;
    // Bins narrow enough that the degree-7 error 2 (2^-(bits+2))^8 binomial(1/p + 7, 8) stays below 3e-15.
    shape.bin_bits = p >= 1.0 / 3.0 ? 5 : p >= 0.1 ? 6 : 7;
    // P(|X| <= x) ~ 2 f(0) x near 0, f(0) = Gamma(1/p)/(pi p); by Stirling 2^-q moves about 2^-53 of probability.
    const dd bits = (-log(dd(p)) - dd(1.0)) / dd(p) / dd_ln2;
    shape.resolution = 54 + static_cast<int>(std::floor(bits.hi));
    if (law.one_sided()) {
        // P(X <= x) <= exp(-a(0) x^-c), so the least x, of t = 2^-95, is at least p (q/66.6)^(q/p). Rounding moves it
        // by 2^-49/p of itself at most, and X^p, which is what counts, by 2^-49.
        const dd q = dd(1.0) - dd(p);
        const dd least = q / dd(p) * (log(q) - log(dd(66.6))) / dd_ln2;
        const int wanted = 48 - static_cast<int>(std::floor(least.hi));
        shape.resolution = wanted > 52 ? wanted : 52;
    }
    // P(|X| > x) <= x^{-p}, so x <= 2^{64/p}, or 2^{(64 + d)/p} with d deep octaves; the rows stay within 2^1000.
    const int largest = static_cast<int>(std::ceil((64.0 + deep_octaves(law).upper) / p));
    shape.shift = largest > 1000 ? largest - 1000 : 0;
    return shape;
}

void fill_table_plain(const EntryLaw& law, const TableShape& shape, Row* rows, Row* deep) {
    Builder(law, shape, rows, deep).fill();
}

}  // namespace stablesketch
