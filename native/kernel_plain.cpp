// The plain tier: C++ and nothing else. It is what the other tiers must equal, and it runs everywhere.
#include "kernel.hpp"
#include "variate.hpp"

namespace stablesketch {

void add_block_plain(const KernelJob& job, const std::uint64_t* fingerprints, const std::int64_t* weights,
                     std::size_t n) {
    for (std::uint32_t j = 0; j < job.pairs; ++j) {
        for (std::size_t i = 0; i < n; ++i) {
            std::uint32_t block[4] = {static_cast<std::uint32_t>(fingerprints[i]),
                                      static_cast<std::uint32_t>(fingerprints[i] >> 32), j, job.domain};
            job.key->encrypt(block);
            for (std::uint32_t half = 0; half < 2; ++half) {
                const std::uint64_t bits = block[2 * half] | std::uint64_t(block[2 * half + 1]) << 32;
                add_variate(job.sums + std::size_t(2 * j + half) * job.digits, job.table, bits,
                            magnitude_of(job.table, bits), weights[i]);
            }
        }
    }
}

}  // namespace stablesketch
