#include "fold_loop.hpp"
#include "weight_sum.hpp"

namespace stablesketch {
std::size_t fold_add_plain(const FoldTable& table, const std::uint64_t* keys, const std::int64_t* weights, bool ones,
                           std::size_t n, std::int64_t sign, Evicted& out) {
    return fold_add(table, keys, weights, ones, n, sign, out);
}

std::size_t fold_add_groups(const GroupTable& table, const std::uint64_t* keys, const std::int64_t* weights,
                            const std::int32_t* codes, std::size_t n, Evicted& out) {
    out.count = 0;
    return weights ? fold_loop<true>(table, keys, weights, codes, n, 1, out)
                   : fold_loop<false>(table, keys, weights, codes, n, 1, out);
}

WeightSum sum_weights_plain(const std::int64_t* weights, std::size_t n, std::int64_t highest) {
    return weight_sum(weights, n, highest);
}
}  // namespace stablesketch
