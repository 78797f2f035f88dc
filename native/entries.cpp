#include "entries.hpp"

#include <bit>
#include <cmath>
#include <utility>

namespace stablesketch {

namespace {
constexpr std::int64_t roomy_top = std::int64_t(1) << 30;
constexpr int128 largest_total = int128(1) << 120;
}  // namespace

Entries::Entries(const EntryLaw& law, std::uint32_t size, std::uint32_t buckets)
    : table_(stable_table(law)),
      size_(size),
      buckets_(buckets),
      digits_(digits_for(law, table_->resolution)),
      sums_(std::size_t(size) * digits_, 0),
      totals_(buckets > 1 && law.entropy() ? buckets : 0, 0) {}

Entries::Entries(const Entries& other)
    : table_(other.table_), size_(other.size_), buckets_(other.buckets_), digits_(other.digits_) {
    const std::lock_guard<std::mutex> lock(other.mutex_);
    sums_ = other.sums_;
    totals_ = other.totals_;
    roomy_ = other.roomy_;
}

void Entries::absorb(const std::vector<std::int64_t>& sums) {
    const std::lock_guard<std::mutex> lock(mutex_);
    absorb_locked(sums);
}

void Entries::absorb_locked(const std::vector<std::int64_t>& sums) {
    std::vector<std::int64_t> next(sums_.size());
    bool roomy = true;
    for (std::size_t i = 0; i < next.size(); ++i) next[i] = sums_[i] + sums[i];
    for (std::size_t at = 0; at < next.size(); at += digits_) {
        settle(&next[at], digits_);
        // No stream is that long, but merging a sketch with itself about a hundred times gets there.
        const std::int64_t top = next[at + digits_ - 1];
        if (top != static_cast<std::int32_t>(top)) throw std::overflow_error("an entry beyond its width");
        roomy = roomy && top < roomy_top && top > -roomy_top;
    }
    sums_ = std::move(next);
    roomy_ = roomy;
}

void Entries::merge(const Entries& other) {
    if (other.law() != law() || other.size_ != size_ || other.buckets_ != buckets_)
        throw std::invalid_argument("entries of different laws, size or buckets");
    std::vector<std::int64_t> theirs;
    std::vector<int128> totals;
    {
        const std::lock_guard<std::mutex> lock(other.mutex_);  // never both locks at once: no order to get wrong
        theirs = other.sums_;
        totals = other.totals_;
    }
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::size_t b = 0; b < totals.size(); ++b) {
        totals[b] += totals_[b];
        if (totals[b] > largest_total || totals[b] < -largest_total)
            throw std::overflow_error("a total beyond its width");
    }
    absorb_locked(theirs);
    totals_ = std::move(totals);
}

std::vector<std::uint32_t> Entries::state() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::uint32_t> out(sums_.size());
    for (std::size_t i = 0; i < sums_.size(); ++i) out[i] = static_cast<std::uint32_t>(sums_[i]);
    return out;
}

void Entries::load(const std::uint32_t* state) {
    const std::lock_guard<std::mutex> lock(mutex_);
    roomy_ = true;
    for (std::size_t i = 0; i < sums_.size(); ++i) {
        const bool last = (i + 1) % digits_ == 0;
        sums_[i] = last ? static_cast<std::int64_t>(static_cast<std::int32_t>(state[i])) : std::int64_t(state[i]);
        if (last) roomy_ = roomy_ && sums_[i] < roomy_top && sums_[i] > -roomy_top;
    }
}

std::vector<int128> Entries::totals() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    return totals_;
}

void Entries::load_totals(std::vector<int128> totals) {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (totals.size() != totals_.size()) throw std::invalid_argument("one total a bucket");
    for (const int128 total : totals)
        if (total > largest_total || total < -largest_total) throw std::overflow_error("a total beyond its width");
    totals_ = std::move(totals);
}

void Entries::split(double* fraction, std::int64_t* exponent) const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::int64_t> digits(digits_);
    for (std::uint32_t j = 0; j < size_; ++j) {
        const std::int64_t* from = &sums_[std::size_t(j) * digits_];
        const bool negative = from[digits_ - 1] < 0;
        for (int i = 0; i < digits_; ++i) digits[i] = negative ? -from[i] : from[i];
        if (negative) settle(digits.data(), digits_);
        int top = digits_ - 1;
        while (top > 0 && digits[top] == 0) --top;
        const auto digit = [&](int i) { return i < 0 ? std::uint64_t(0) : static_cast<std::uint64_t>(digits[i]); };
        fraction[j] = 0.0;
        exponent[j] = 0;
        if (digits[top] == 0) continue;
        // The first 64 bits. If any bit below them is set, the last of them is set too, so that this rounds like the
        // whole number.
        const int zeros = std::countl_zero(static_cast<std::uint32_t>(digits[top]));
        const uint128 window = static_cast<uint128>(digit(top) << 32 | digit(top - 1)) << 64 | digit(top - 2) << 32;
        std::uint64_t lead = static_cast<std::uint64_t>(window >> (64 - zeros));
        bool below = static_cast<std::uint64_t>(window << zeros) != 0;
        for (int i = top - 3; i >= 0 && !below; --i) below = digits[i] != 0;
        lead |= below;
        int power = 0;
        const double value = std::frexp(static_cast<double>(lead), &power);
        fraction[j] = negative ? -value : value;
        exponent[j] = power + 32 * (top - 1) - zeros - table_->resolution;
    }
}

}  // namespace stablesketch
