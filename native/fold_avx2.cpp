#if defined(__x86_64__)
#include "fold_loop.hpp"
#include "weight_sum.hpp"

namespace stablesketch {
std::size_t fold_add_avx2(const FoldTable& table, const std::uint64_t* keys, const std::int64_t* weights, bool ones,
                          std::size_t n, std::int64_t sign, Evicted& out) {
    return fold_add(table, keys, weights, ones, n, sign, out);
}

WeightSum sum_weights_avx2(const std::int64_t* weights, std::size_t n, std::int64_t highest) {
    return weight_sum(weights, n, highest);
}
}  // namespace stablesketch
#endif
