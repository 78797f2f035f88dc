#include "stream_fold.hpp"

#include <utility>

namespace stablesketch {

namespace {
constexpr std::int64_t largest_total = std::int64_t(1) << 53;
// A key that leaves the table costs a hundred entries or so, and a lookup here costs a few: even few hits pay.
constexpr double worthwhile = 0.02;
}  // namespace

template <class Line>
StreamFold<Line>::StreamFold(int bits, const Tier& tier)
    : fold_(bits, largest_total),
      watch_(fold_.slots() / 2, worthwhile),
      fold_add_(tier.fold_add),
      evicted_(std::make_unique<Evicted>()) {}

template <class Line>
void StreamFold<Line>::add(const std::uint64_t* keys, const std::int64_t* weights, const std::int32_t* codes,
                           std::size_t n) {
    for (std::size_t start = 0; start < n; start += FoldWatch::slice_rows) {
        const std::size_t count = n - start < FoldWatch::slice_rows ? n - start : FoldWatch::slice_rows;
        if (watch_.passes()) {
            out_.key.insert(out_.key.end(), keys + start, keys + start + count);
            if (weights)
                out_.total.insert(out_.total.end(), weights + start, weights + start + count);
            else
                out_.total.resize(out_.key.size(), 1);
            if (Line::grouped) out_.code.insert(out_.code.end(), codes + start, codes + start + count);
            continue;
        }
        std::size_t hits = 0;
        for (std::size_t at = start; at < start + count; at += Evicted::capacity) {
            const std::size_t few = start + count - at < Evicted::capacity ? start + count - at : Evicted::capacity;
            const std::int64_t* own = weights ? weights + at : nullptr;
            if constexpr (Line::grouped)
                hits += fold_add_groups(fold_.table(), keys + at, own, codes + at, few, *evicted_);
            else
                hits += fold_add_(fold_.table(), keys + at, own, false, few, 1, *evicted_);
            const Evicted& left = *evicted_;
            out_.key.insert(out_.key.end(), left.key, left.key + left.count);
            out_.total.insert(out_.total.end(), left.weight, left.weight + left.count);
            if (Line::grouped) out_.code.insert(out_.code.end(), left.code, left.code + left.count);
        }
        watch_.saw(hits, count);
    }
}

template <class Line>
bool StreamFold<Line>::drain(std::size_t room) {
    const std::size_t wanted = drained_ + room / Line::slots + 1, end = wanted < fold_.lines() ? wanted : fold_.lines();
    fold_.drain(drained_, end, [this](const Line& line, int k) {
        out_.key.push_back(line.key[k]);
        out_.total.push_back(line.weight[k]);
        if constexpr (Line::grouped) out_.code.push_back(line.code[k]);
    });
    drained_ = end;
    if (end < fold_.lines()) return true;
    drained_ = 0;
    watch_.reset();
    return false;
}

template <class Line>
Folded StreamFold<Line>::take() {
    return std::exchange(out_, Folded{});
}

template class StreamFold<FoldLine>;
template class StreamFold<GroupLine>;

}  // namespace stablesketch
