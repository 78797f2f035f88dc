// Folding: the sketch is linear, so equal keys are added up before they cost a column of X.
//
// A bounded table of cache lines, each with four keys and their weights, or three if keys belong to groups. A key has
// one line. If its line is full, the lightest key leaves the table (it goes to the kernel, so nothing is lost) and the
// new key takes its place, so heavy keys stay. A slot of weight 0 is free: it adds nothing, whatever its key. The hash
// is a multiplication by an odd number that is random in each process, so nobody can aim keys at one line; the result
// does not depend on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "zeroed.hpp"

namespace stablesketch {

struct alignas(64) FoldLine {
    static constexpr int slots = 4;
    static constexpr bool grouped = false;
    std::uint64_t key[4];
    std::int64_t weight[4];
};

struct alignas(64) GroupLine {  // equal keys of different groups are different
    static constexpr int slots = 3;
    static constexpr bool grouped = true;
    std::uint64_t key[3];
    std::int64_t weight[3];
    std::int32_t code[3];
};

template <class Line>
struct TableOf {
    Line* lines;
    int shift;                 // line = (key * multiplier) >> shift
    std::uint64_t multiplier;  // odd
    std::int64_t most;         // no sum that is held is larger than this, or than a single weight
};
using FoldTable = TableOf<FoldLine>;
using GroupTable = TableOf<GroupLine>;

struct Evicted {  // what one call of a fold loop pushed out of the table: at most one for each key given
    static constexpr std::size_t capacity = 1024;
    std::uint64_t key[capacity];
    std::int64_t weight[capacity];
    std::int32_t code[capacity];  // of a GroupLine alone
    std::size_t count = 0;
};

// Adds n <= Evicted::capacity keys with weights sign * weights[i] (1 each if null); returns how many were in the table.
// `ones` says that all these weights are known to be 1.
using FoldAdd = std::size_t (*)(const FoldTable&, const std::uint64_t* keys, const std::int64_t* weights, bool ones,
                                std::size_t n, std::int64_t sign, Evicted& out);
std::size_t fold_add_plain(const FoldTable&, const std::uint64_t*, const std::int64_t*, bool, std::size_t, std::int64_t,
                           Evicted&);
#if defined(__x86_64__)
std::size_t fold_add_avx2(const FoldTable&, const std::uint64_t*, const std::int64_t*, bool, std::size_t, std::int64_t,
                          Evicted&);
#endif
// The same for keys of groups; weights must be positive.
std::size_t fold_add_groups(const GroupTable&, const std::uint64_t* keys, const std::int64_t* weights,
                            const std::int32_t* codes, std::size_t n, Evicted& out);

inline std::uint64_t process_multiplier() {
    static const std::uint64_t multiplier = [] {
        std::random_device random;
        return (std::uint64_t(random()) << 32 | random()) | 1;
    }();
    return multiplier;
}

template <class Line>
class FoldOf {
  public:
    // 2^bits lines, bits > 0, of 64 bytes each.
    FoldOf(int bits, std::int64_t most)
        : memory_(std::size_t(1) << bits), table_{memory_.get(), 64 - bits, process_multiplier(), most} {}

    const TableOf<Line>& table() const { return table_; }
    std::size_t lines() const { return std::size_t(1) << (64 - table_.shift); }
    std::size_t slots() const { return Line::slots * lines(); }

    // Empties some lines. Different lines may be drained by different threads.
    template <class Take>  // take(line, slot)
    void drain(std::size_t begin, std::size_t end, Take&& take) {
        for (std::size_t i = begin; i < end; ++i) empty(table_.lines[i], take);
    }

  private:
    Zeroed<Line> memory_;

  protected:
    template <class Take>
    static void empty(Line& line, Take&& take) {
        bool used = false;
        for (int k = 0; k < Line::slots; ++k) {
            if (line.weight[k] == 0) continue;
            take(line, k);
            used = true;
        }
        if (used) line = Line{};  // what was never touched stays so
    }

    TableOf<Line> table_;
};

// The fold of one worker of an update.
class Fold : public FoldOf<FoldLine> {
  public:
    // Room for about `rows` keys, within 2^6 to 2^16 lines: 4 KiB to 4 MiB.
    explicit Fold(std::size_t rows) : FoldOf(bits_for(rows), std::int64_t(1) << 61) {}

    // Empties some lines of this table and of others with as many lines. A key has the same line in all of them, so it
    // is added up once more on the way, if this table has room for it.
    template <class Take>  // take(key, weight)
    void drain_with(const std::vector<Fold*>& others, std::size_t begin, std::size_t end, Take&& take) {
        const auto out = [&](const FoldLine& line, int k) { take(line.key[k], line.weight[k]); };
        for (std::size_t i = begin; i < end; ++i) {
            FoldLine& own = table_.lines[i];
            for (Fold* other : others)
                empty(other->table_.lines[i], [&](const FoldLine& line, int k) {
                    if (!put(own, line.key[k], line.weight[k])) out(line, k);
                });
            empty(own, out);
        }
    }

  private:
    static int bits_for(std::size_t rows) {
        int bits = 6;
        while (bits < 16 && (std::size_t(2) << bits) < rows) ++bits;
        return bits;
    }
    // Into the slot of this key, or a free one; whether there was either, and room in it (fold_loop.hpp).
    bool put(FoldLine& line, std::uint64_t key, std::int64_t weight) const {
        int free = -1;
        for (int k = 0; k < FoldLine::slots; ++k) {
            if (line.weight[k] == 0) {
                free = k;
            } else if (line.key[k] == key) {
                const std::int64_t sum = line.weight[k] + weight;
                if (sum > table_.most || sum < -table_.most) return false;
                line.weight[k] = sum;
                return true;
            }
        }
        if (free < 0) return false;
        line.key[free] = key;
        line.weight[free] = weight;
        return true;
    }
};

// Folding is monitored one slice of rows at a time. If too few keys of a slice were in the table, the next slices
// bypass it: more and more of them while this remains so.
class FoldWatch {
  public:
    static constexpr std::size_t slice_rows = 8192;

    // `warm`: rows before which a table proves nothing; `worthwhile`: the part of the keys that must be in the table.
    FoldWatch(std::size_t warm, double worthwhile) : warm_(warm), worthwhile_(worthwhile) {}

    // Whether the next slice bypasses the table. If not, pass the number of its keys that were there to `saw`.
    bool passes() {
        if (left_ == 0) return false;
        --left_;
        return true;
    }
    void saw(std::size_t hits, std::size_t rows) {
        seen_ += rows;
        if (seen_ < warm_ || rows < slice_rows) return;
        if (static_cast<double>(hits) < worthwhile_ * static_cast<double>(rows)) {
            length_ = length_ == 0 ? 8 : length_ < longest ? 2 * length_ : longest;
            left_ = length_;
        } else {
            length_ = 0;
        }
    }
    void reset() { seen_ = left_ = length_ = 0; }

  private:
    static constexpr std::size_t longest = 64;
    std::size_t warm_;
    double worthwhile_;
    std::size_t seen_ = 0, left_ = 0, length_ = 0;
};

}  // namespace stablesketch
