#if defined(__x86_64__)
#include "fold_loop.hpp"

namespace stablesketch {
std::size_t fold_add_avx2(const FoldTable& table, const std::uint64_t* keys, const std::int64_t* weights, std::size_t n,
                          std::int64_t sign, Evicted& out) {
    return fold_add(table, keys, weights, n, sign, out);
}
}  // namespace stablesketch
#endif
