// A tail, known by its logarithm on lattices of y = ln x, and the y of a given tail.
//
// A target is inverted by the secant rule on the 24-point Lagrange interpolant, whose relative error is about
// (24 h/(2 e d))^24 for lattice step h and the nearest complex singularity of ln P at distance d >= pi/2: 3e-19 at h =
// 0.06.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "dd.hpp"

namespace stablesketch {
namespace {  // compiled more than once, for different instructions: see table_builder.hpp

// ln P(|X| <= e^y) (lower) or ln P(|X| > e^y) (upper) on the lattice y_k = k step, k = first, first + 1, ...
struct TailLattice {
    dd step;
    int first = 0;
    std::vector<dd> log_tail;
};

// y with ln P(y) = target. Lattices are given from low y to high and overlap by more than a stencil.
class Inverse {
  public:
    explicit Inverse(std::vector<TailLattice> lattices) : lattices_(std::move(lattices)) {
        for (int i = 0; i < points; ++i) {
            dd w = dd(1.0);
            for (int j = 0; j < points; ++j)
                if (j != i) w = w * dd(i - j);
            weight_[i] = dd(1.0) / w;
        }
        const auto& f = lattices_[0].log_tail;
        rising_ = f.front().hi < f.back().hi;
    }

    dd operator()(dd target) const {
        std::size_t which = 0;
        while (which + 1 < lattices_.size() && below(lattices_[which + 1].log_tail[half], target)) ++which;
        const TailLattice& lattice = lattices_[which];
        const auto& f = lattice.log_tail;
        if (which == 0 && rising_ && !below(f[half], target))  // P is proportional to x there, to within 1e-17
            return target - f[half] + lattice.step * dd(lattice.first + half);
        int low = 0, high = static_cast<int>(f.size()) - 1;
        while (high - low > 1) {
            const int mid = (low + high) / 2;
            (below(f[mid], target) ? low : high) = mid;
        }
        int start = low - half + 1;
        if (start < 0) start = 0;
        if (start > static_cast<int>(f.size()) - points) start = static_cast<int>(f.size()) - points;
        dd last_at = dd(low - start), last = f[low];
        dd at = last_at + (target - last) / (f[low + 1] - last);
        for (int i = 0; i < 30; ++i) {
            const dd value = lagrange(f.data() + start, at);
            const dd rise = value - last;
            if (rise.hi == 0.0) break;
            const dd step = (target - value) * (at - last_at) / rise;
            last_at = at;
            last = value;
            at = at + step;
            if (step.hi < 1e-14 && step.hi > -1e-14) break;  // the next step would be below 1e-24
        }
        return (at + dd(start + lattice.first)) * lattice.step;
    }

  private:
    static constexpr int points = 24, half = 12;
    bool below(dd value, dd target) const { return (value < target) == rising_; }
    dd lagrange(const dd* f, dd at) const {
        dd low[points];
        low[0] = dd(1.0);
        for (int i = 0; i + 1 < points; ++i) low[i + 1] = low[i] * (at - dd(i));
        dd high = dd(1.0), sum;
        for (int i = points - 1; i >= 0; --i) {
            sum = sum + f[i] * weight_[i] * (low[i] * high);
            high = high * (at - dd(i));
        }
        return sum;
    }
    std::vector<TailLattice> lattices_;
    dd weight_[points];
    bool rising_ = true;
};

}  // namespace
}  // namespace stablesketch
