// Buckets: a key adds only to the entries of its bucket, and the kernel works best with many keys of one bucket.
//
// The bucket of a key is floor(word * buckets / 2^64), word the first 64 bits of AES(fingerprint, 0, domain ^
// bucket_domain). The blocks that entries draw from have other domains (variate.hpp), so the bucket is independent of
// every X. Entry j of bucket b is entry b * g + j of all; its X is that of entry j of a sketch of g entries.
//
// So the keys of each bucket wait until they fill a block.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "exact_sum.hpp"
#include "kernel.hpp"
#include "zeroed.hpp"

namespace stablesketch {

inline constexpr std::uint32_t bucket_domain = 0x40000000u;

// The buckets of n keys.
void buckets_of(const Aes128& key, std::uint32_t domain, Encrypt encrypt, const std::uint64_t* fingerprints,
                std::size_t n, std::uint32_t buckets, std::uint32_t* out);

// The sums of a long update: of one worker or, if they are large, shared by all. Each bucket is changed under a lock.
// Memory is allocated when it is needed.
class BucketSums {
  public:
    BucketSums(std::uint32_t buckets, std::size_t stride) : buckets_(buckets), stride_(stride) {}

    void reserve();
    void clear() { sums_.reset(); }
    bool touched(std::uint32_t bucket) const { return sums_ && blocks_[bucket] != 0; }
    std::int64_t* of(std::uint32_t bucket) { return sums_->get() + bucket * stride_; }
    std::mutex& lock(std::uint32_t bucket) { return locks_[bucket % locks_.size()]; }
    std::uint32_t& blocks(std::uint32_t bucket) { return blocks_[bucket]; }  // since it was settled, and one more
    int128& total(std::uint32_t bucket) { return totals_[bucket]; }

  private:
    std::uint32_t buckets_;
    std::size_t stride_;
    std::optional<Zeroed<std::int64_t>> sums_;
    std::vector<std::uint32_t> blocks_;
    std::vector<int128> totals_;
    std::array<std::mutex, 64> locks_;
    std::mutex reserving_;
};

// A block of keys for the kernel.
struct KeyBlock {
    std::uint64_t key[block_keys];
    std::int64_t weight[block_keys];
    std::size_t filled = 0;
};

// The keys of one worker.
class BucketStage {
  public:
    // `job` has everything except where the sums are; its pairs are those of one bucket. `rows` is roughly the expected
    // number of keys; it only decides how many keys of a bucket may wait. `shared` are the sums of another worker.
    BucketStage(const KernelJob& job, const Tier& tier, std::uint32_t buckets, std::size_t rows,
                std::shared_ptr<BucketSums> shared);

    // Adds sign * weight for n keys; null `weights` are 1 each.
    void add(const std::uint64_t* fingerprints, const std::int64_t* weights, std::size_t n, std::int64_t sign);
    // Adds everything that these workers of one update hold for the i-th part of the buckets to their entries, and to
    // their totals if there are any, and empties it. Different threads may finish different parts.
    static void finish(const std::vector<BucketStage*>& together, std::size_t i, std::int64_t* entries, int128* totals);
    void clear();

    const std::shared_ptr<BucketSums>& shared() const { return shared_; }

  private:
    void full(std::uint32_t bucket);
    void flush(std::uint32_t bucket);
    // Moves the keys of a bucket into blocks, and adds each full block to its sums. Returns the total of these.
    int128 fill(KeyBlock& block, std::uint32_t bucket, BucketStage& runs, std::int64_t* sums,
                std::uint32_t& blocks) const;
    int128 run(const std::uint64_t* keys, const std::int64_t* weights, std::size_t n, std::int64_t* sums,
               std::uint32_t& blocks);
    void run_heavy(const std::uint64_t* keys, const std::int64_t* weights, std::size_t n, std::int64_t* sums);
    void settle_bucket(std::int64_t* sums) const;

    KernelJob job_;
    AddBlock add_block_;
    Encrypt encrypt_;
    std::uint32_t buckets_;
    std::size_t stride_;
    std::shared_ptr<BucketSums> shared_;
    std::size_t room_, apart_;  // keys of a bucket that may wait, and from one bucket to the next
    Zeroed<std::uint64_t> key_;
    Zeroed<std::int64_t> weight_;
    std::vector<std::uint32_t> waiting_;
    std::uint32_t next_;  // the bucket to be added next, or `buckets_` if there is none
    std::vector<std::int64_t> scratch_;
};

}  // namespace stablesketch
