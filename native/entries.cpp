#include "entries.hpp"

#include <stdexcept>

namespace stablesketch {

Entries::Entries(double p, std::uint32_t size)
    : table_(stable_table(p)),
      size_(size),
      digits_(digits_for(p, table_->resolution)),
      sums_(std::size_t(size) * digits_, 0) {}

Entries::Entries(const Entries& other) : table_(other.table_), size_(other.size_), digits_(other.digits_) {
    const std::lock_guard<std::mutex> lock(other.mutex_);
    sums_ = other.sums_;
}

void Entries::absorb(const std::vector<std::int64_t>& sums) {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::int64_t> next(sums_.size());
    for (std::size_t i = 0; i < next.size(); ++i) next[i] = sums_[i] + sums[i];
    for (std::size_t at = 0; at < next.size(); at += digits_) {
        settle(&next[at], digits_);
        // Nobody can count that far; doubling a sketch by merging it with itself some hundred times gets there.
        const std::int64_t top = next[at + digits_ - 1];
        if (top != static_cast<std::int32_t>(top)) throw std::overflow_error("an entry beyond its width");
    }
    sums_ = std::move(next);
}

void Entries::merge(const Entries& other) {
    if (other.p() != p() || other.size_ != size_) throw std::invalid_argument("entries of different p or size");
    std::vector<std::int64_t> theirs;
    {
        const std::lock_guard<std::mutex> lock(other.mutex_);  // never both locks at once: no order to get wrong
        theirs = other.sums_;
    }
    absorb(theirs);
}

std::vector<std::uint32_t> Entries::state() const {
    const std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::uint32_t> out(sums_.size());
    for (std::size_t i = 0; i < sums_.size(); ++i) out[i] = static_cast<std::uint32_t>(sums_[i]);
    return out;
}

void Entries::load(const std::uint32_t* state) {
    const std::lock_guard<std::mutex> lock(mutex_);
    for (std::size_t i = 0; i < sums_.size(); ++i) {
        const bool last = (i + 1) % digits_ == 0;
        sums_[i] = last ? static_cast<std::int64_t>(static_cast<std::int32_t>(state[i])) : std::int64_t(state[i]);
    }
}

}  // namespace stablesketch
