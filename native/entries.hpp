// The entries of a sketch: a_j = sum over keys of weight * X(key, j), j = 0..size-1, exact.
//
// X(key, j) is a pseudorandom function. One AES-128 block
//     plaintext  = fingerprint (8 bytes) | j / 2 (4 bytes) | domain (4 bytes), little-endian
//     ciphertext = 64 bits for entry 2 (j/2) | 64 bits for entry 2 (j/2) + 1
// and, for the one X in 2^15 that needs more bits (variate.hpp), the block with the highest bit of the domain
// flipped. For a one-sided law, one in 2^10 needs more, and one in 2^62 also needs the block with the two highest bits
// flipped. The table of stable_table.hpp turns the bits into X, rounded to the nearest multiple of 2^-resolution (ties
// to even). The rounding moves an entry by at most 2^-(q+1) sum_k f_k <= 2^-(q+1) F_p^{1/p}: the l_1 norm of the totals
// is at most their l_p norm for p <= 1, so it is small compared with the scale of the entry for any stream. For p > 1
// it is not, but the errors have random signs and cancel like the terms: see privacy/noisy_norm.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <vector>

#include "exact_sum.hpp"
#include "stable_table.hpp"

namespace stablesketch {

class Entries {
  public:
    // With more than one of `buckets` (buckets.hpp) a key adds to size / buckets of the entries; for the law of entropy
    // the totals of the buckets are kept too.
    Entries(const EntryLaw& law, std::uint32_t size, std::uint32_t buckets = 1);
    Entries(const Entries& other);

    const EntryLaw& law() const { return table_->law; }
    std::uint32_t size() const { return size_; }
    std::uint32_t buckets() const { return buckets_; }
    int digits() const { return digits_; }
    const StableTable& table() const { return *table_; }

    // Adds the settled sums of an accumulator of the same law and size: an even number of entries of digits() digits.
    // An entry beyond its width throws std::overflow_error and changes nothing; so does merge.
    void absorb(const std::vector<std::int64_t>& sums);
    void merge(const Entries& other);

    // add(digits of all entries, totals or null) may add one update to them, in place, and leaves them settled. Throws
    // std::overflow_error before anything is changed if entries are so large that no update could have made them.
    template <class Add>
    void change(Add&& add) {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (!roomy_) throw std::overflow_error("an entry beyond its width");
        add(sums_.data(), totals_.empty() ? nullptr : totals_.data());
    }

    // The settled state: for each entry `digits` 32-bit digits, little-endian two's complement.
    std::vector<std::uint32_t> state() const;
    void load(const std::uint32_t* state);
    // The totals of the buckets, if they are kept; within 2^120 either way.
    std::vector<int128> totals() const;
    void load_totals(std::vector<int128> totals);
    // Each entry, its resolution counted, as fraction * 2^exponent, the nearest double to it: |fraction| in [1/2, 1),
    // or 0.
    void split(double* fraction, std::int64_t* exponent) const;

  private:
    void absorb_locked(const std::vector<std::int64_t>& sums);

    std::shared_ptr<const StableTable> table_;
    std::uint32_t size_, buckets_;
    int digits_;
    std::vector<std::int64_t> sums_;  // settled between calls
    std::vector<int128> totals_;
    bool roomy_ = true;  // far from their width: an update, below 2^127 times the largest X, carries at most 1 into the
                         // last digit
    mutable std::mutex mutex_;
};

}  // namespace stablesketch
