// The entries of a sketch: a_j = sum over keys of weight * X(key, j), j = 0..size-1, exact.
//
// X(key, j) is a pseudorandom function. One AES-128 block
//     plaintext  = fingerprint (8 bytes) | j / 2 (4 bytes) | domain (4 bytes), little-endian
//     ciphertext = 64 bits for entry 2 (j/2) | 64 bits for entry 2 (j/2) + 1
// and, for the one X in 2^15 that asks for more bits (variate.hpp), the block with the highest bit of the domain turned. Of a
// one-sided law one in 2^10 asks for more, and one in 2^62 for the block with the two highest bits turned, besides.
// The bits become X by the table of stable_table.hpp, rounded to the nearest multiple of 2^-resolution (ties to even).
// The rounding moves an entry by at most 2^-(q+1) sum_k f_k <= 2^-(q+1) F_p^{1/p}: the l_1 norm of the totals is at most
// their l_p norm for p <= 1, so it is small against the scale of the entry whatever the stream. For p > 1 it is not, but the
// errors have signs of their own and cancel as the terms do: see privacy/norm_precision.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "exact_sum.hpp"
#include "stable_table.hpp"

namespace stablesketch {

class Entries {
  public:
    Entries(double p, std::uint32_t size);
    Entries(const Entries& other);

    double p() const { return table_->p; }
    std::uint32_t size() const { return size_; }
    int digits() const { return digits_; }
    const StableTable& table() const { return *table_; }

    // Adds the settled sums of an accumulator of the same p and size: an even number of entries of digits() digits.
    // An entry beyond its width throws std::overflow_error and changes nothing; so does merge.
    void absorb(const std::vector<std::int64_t>& sums);
    void merge(const Entries& other);

    // The settled state: for each entry `digits` 32-bit digits, little-endian two's complement.
    std::vector<std::uint32_t> state() const;
    void load(const std::uint32_t* state);

  private:
    std::shared_ptr<const StableTable> table_;
    std::uint32_t size_;
    int digits_;
    std::vector<std::int64_t> sums_;  // settled between calls
    mutable std::mutex mutex_;
};

}  // namespace stablesketch
