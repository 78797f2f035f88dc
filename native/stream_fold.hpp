// Folding across updates: a long stream comes in batches, and equal keys are added up over all of them.
//
// Like the fold within one update (fold.hpp), with a larger table that lives as long as the stream. Keys that leave it
// wait here until they are taken. Keys may belong to groups; a group is then an integer code, and equal keys of
// different groups stay separate.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "fold.hpp"
#include "kernel.hpp"

namespace stablesketch {

struct Folded {  // keys with their totals, in no order; a key may be there more than once
    std::vector<std::uint64_t> key;
    std::vector<std::int64_t> total;
    std::vector<std::int32_t> code;  // empty without groups
};

template <class Line>
class StreamFold {
  public:
    // A table of 2^bits lines. No total is above 2^53, which is the largest value that an update takes.
    StreamFold(int bits, const Tier& tier);

    // Counts keys with weights from 1 to 2^53, or 1 each if null. `codes` are read only if lines have groups.
    void add(const std::uint64_t* keys, const std::int64_t* weights, const std::int32_t* codes, std::size_t n);

    std::size_t waiting() const { return out_.key.size(); }
    // Releases the keys of the next lines, about `room` of them; returns whether there may be more. Ends the stream.
    bool drain(std::size_t room);
    // Takes the waiting keys.
    Folded take();

  private:
    FoldOf<Line> fold_;
    FoldWatch watch_;
    FoldAdd fold_add_;
    std::unique_ptr<Evicted> evicted_;
    Folded out_;
    std::size_t drained_ = 0;
};

}  // namespace stablesketch
