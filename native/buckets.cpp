#include "buckets.hpp"

#include <algorithm>
#include <cstdlib>
#include <new>
#include <utility>

namespace stablesketch {

namespace {
constexpr std::size_t slice = 1024;  // keys whose bits fit in the first-level cache
// A digit takes 2^31 additions of 32 bits, a block makes at most some thousand to each: settle long before.
constexpr std::uint32_t blocks_between_settling = 4096;
// Keys that wait before they are sorted: for each bucket so many, and in all within these. (Half of the fewest, or
// twice as many, cost some 5% more a key.)
constexpr std::size_t keys_a_bucket = 128, fewest_keys = std::size_t(1) << 16, most_keys = std::size_t(1) << 21;
// Sums up to so many digits, 4 MiB, a worker has for itself; larger ones are shared, which saves memory.
constexpr std::size_t most_of_its_own = std::size_t(1) << 19;
constexpr int level_bits = 23;
static_assert(block_weight_limit == std::int64_t(1) << level_bits);
}  // namespace

void buckets_of(const Aes128& key, std::uint32_t domain, Encrypt encrypt, const std::uint64_t* fingerprints,
                std::size_t n, std::uint32_t buckets, std::uint32_t* out) {
    std::uint64_t bits[2 * slice];
    for (std::size_t done = 0; done < n; done += slice) {
        const std::size_t few = std::min(n - done, slice);
        encrypt(key, domain ^ bucket_domain, fingerprints + done, few, bits);
        for (std::size_t i = 0; i < few; ++i)
            out[done + i] = static_cast<std::uint32_t>(static_cast<uint128>(bits[2 * i]) * buckets >> 64);
    }
}

void BucketSums::reserve() {
    const std::lock_guard<std::mutex> held(reserving_);
    if (sums_ != nullptr) return;
    blocks_.assign(buckets_, 0);
    totals_.assign(buckets_, 0);
    sums_ = static_cast<std::int64_t*>(std::calloc(buckets_ * stride_, sizeof(std::int64_t)));
    if (sums_ == nullptr) throw std::bad_alloc();
}

void BucketSums::clear() { std::free(std::exchange(sums_, nullptr)); }

std::uint32_t BucketSums::next_start() {
    const std::lock_guard<std::mutex> held(reserving_);
    return static_cast<std::uint32_t>(std::uint64_t(workers_++) * 2654435769u % buckets_);
}

BucketStage::BucketStage(const KernelJob& job, const Tier& tier, std::uint32_t buckets,
                         std::shared_ptr<BucketSums> shared)
    : job_(job),
      add_block_(tier.add_block),
      encrypt_(tier.encrypt),
      buckets_(buckets),
      stride_(std::size_t(2 * job.pairs) * job.digits),
      limit_(std::clamp(keys_a_bucket * buckets, fewest_keys, most_keys)),
      shared_(shared && buckets * stride_ > most_of_its_own ? std::move(shared)
                                                            : std::make_shared<BucketSums>(buckets, stride_)),
      start_(shared_->next_start()),
      scratch_(stride_) {}

void BucketStage::add(const std::uint64_t* fingerprints, const std::int64_t* weights, std::size_t n,
                      std::int64_t sign) {
    for (std::size_t done = 0; done < n;) {
        const std::size_t held = key_.size(), few = std::min(n - done, limit_ - held);
        key_.insert(key_.end(), fingerprints + done, fingerprints + done + few);
        weight_.resize(held + few, sign);
        for (std::size_t i = 0; weights && i < few; ++i) weight_[held + i] = sign * weights[done + i];
        done += few;
        if (key_.size() == limit_) flush();
    }
}

// By counting. Then those of bucket b are from end_[b - 1] to end_[b].
void BucketStage::sort() {
    const std::size_t n = key_.size();
    bucket_.resize(n);
    sorted_.resize(n);
    end_.assign(buckets_, 0);
    buckets_of(*job_.key, job_.domain, encrypt_, key_.data(), n, buckets_, bucket_.data());
    for (std::size_t i = 0; i < n; ++i) ++end_[bucket_[i]];
    std::uint32_t before = 0;
    for (std::uint32_t& end : end_) before += std::exchange(end, before);
    for (std::size_t i = 0; i < n; ++i) sorted_[end_[bucket_[i]]++] = {key_[i], weight_[i]};
    key_.clear();
    weight_.clear();
}

void BucketStage::flush() {
    sort();
    BucketSums& to = *shared_;
    to.reserve();
    KeyBlock block;
    for (std::uint32_t i = 0; i < buckets_; ++i) {
        const std::uint32_t b = i < buckets_ - start_ ? start_ + i : i - (buckets_ - start_);
        if (end_[b] == begin(b)) continue;
        const std::lock_guard<std::mutex> held(to.lock(b));
        if (to.blocks(b) == 0) to.blocks(b) = 1;
        if (b + 1 < buckets_) prefetch(to.of(b + 1));
        to.total(b) += fill(block, b, *this, to.of(b), to.blocks(b));
        run(block, to.of(b), to.blocks(b));
    }
}

void BucketStage::finish(const std::vector<BucketStage*>& together, std::size_t i, std::int64_t* entries,
                         int128* totals) {
    BucketStage& self = *together[i];
    std::vector<BucketSums*> sums;
    for (BucketStage* each : together)
        if (std::find(sums.begin(), sums.end(), each->shared_.get()) == sums.end()) sums.push_back(each->shared_.get());
    const auto edge = [&](std::size_t part) {
        return static_cast<std::uint32_t>(std::uint64_t(self.buckets_) * part / together.size());
    };
    const auto occupied = [&](std::uint32_t b) {
        return std::any_of(together.begin(), together.end(), [b](const BucketStage* each) {
            return each->end_[b] != each->begin(b) || each->shared_->touched(b);
        });
    };
    KeyBlock block;
    const std::uint32_t end = edge(i + 1);
    for (std::uint32_t b = edge(i); b < end; ++b) {
        if (!occupied(b)) continue;
        std::int64_t* to = entries + b * self.stride_;
        if (b + 1 < end && occupied(b + 1)) self.prefetch(to + self.stride_);
        int128 total = 0;
        for (BucketSums* each : sums) {
            if (!each->touched(b)) continue;
            for (std::size_t k = 0; k < self.stride_; ++k) to[k] += each->of(b)[k];
            self.settle_bucket(to);
            total += each->total(b);
        }
        // Blocks are filled from all workers, since full ones cost less a key.
        std::uint32_t blocks = 0;
        for (const BucketStage* each : together) total += each->fill(block, b, self, to, blocks);
        self.run(block, to, blocks);
        if (blocks > 0) self.settle_bucket(to);
        if (totals) totals[b] += total;
    }
}

void BucketStage::clear() {
    sorted_.clear();
    shared_->clear();
}

int128 BucketStage::fill(KeyBlock& block, std::uint32_t bucket, BucketStage& runs, std::int64_t* sums,
                         std::uint32_t& blocks) const {
    int128 total = 0;
    for (std::size_t at = begin(bucket), end = end_[bucket]; at < end;) {
        const std::size_t few = std::min(end - at, block_keys - block.filled);
        for (std::size_t i = 0; i < few; ++i) {
            const auto [key, weight] = sorted_[at + i];
            block.key[block.filled + i] = key;
            block.weight[block.filled + i] = weight;
            total += weight;
        }
        block.filled += few;
        at += few;
        if (block.filled == block_keys) runs.run(block, sums, blocks);
    }
    return total;
}

// The sums of the next bucket are on their way while those of this one are worked on.
void BucketStage::prefetch(const std::int64_t* sums) const {
    for (std::size_t at = 0; at < stride_; at += 8) __builtin_prefetch(sums + at, 1);
}

// Adds a block of keys of one bucket, and empties it.
void BucketStage::run(KeyBlock& block, std::int64_t* sums, std::uint32_t& blocks) {
    if (block.filled == 0) return;
    constexpr auto bound = static_cast<std::uint64_t>(block_weight_limit - 1);
    std::uint64_t signs = 0;
    for (std::size_t i = 0; i < block.filled; ++i) {
        const auto w = static_cast<std::uint64_t>(block.weight[i]);
        signs |= (w + bound) | (bound - w);  // one is negative if w is outside -bound..bound
    }
    if (signs >> 63 != 0) {
        run_heavy(block, sums);
    } else {
        job_.sums = sums;
        add_block_(job_, block.key, block.weight, block.filled);
    }
    block.filled = 0;
    if (++blocks < blocks_between_settling) return;
    settle_bucket(sums);
    blocks = 1;
}

// Weights of 2^23 and more are cut into pieces of 23 bits (accumulator.hpp). Those above the lowest are summed apart,
// and the sums are added, shifted.
void BucketStage::run_heavy(const KeyBlock& block, std::int64_t* sums) {
    for (int l = 0; l * level_bits < 64; ++l) {
        KeyBlock pieces;
        for (std::size_t i = 0; i < block.filled; ++i) {
            const auto w = static_cast<std::uint64_t>(block.weight[i]), size = block.weight[i] < 0 ? ~w + 1 : w;
            const auto piece = static_cast<std::int64_t>(size >> (l * level_bits) & (block_weight_limit - 1));
            pieces.key[pieces.filled] = block.key[i];
            pieces.weight[pieces.filled] = block.weight[i] < 0 ? -piece : piece;
            pieces.filled += piece != 0;
        }
        if (pieces.filled == 0) continue;
        if (l > 0) std::fill(scratch_.begin(), scratch_.end(), 0);
        job_.sums = l > 0 ? scratch_.data() : sums;
        add_block_(job_, pieces.key, pieces.weight, pieces.filled);
        if (l == 0) continue;
        settle_bucket(scratch_.data());
        for (std::size_t at = 0; at < stride_; at += job_.digits)
            add_scaled(sums + at, &scratch_[at], job_.digits, l * level_bits);
    }
}

void BucketStage::settle_bucket(std::int64_t* sums) const {
    for (std::size_t at = 0; at < stride_; at += job_.digits) settle(sums + at, job_.digits);
}

}  // namespace stablesketch
