// Both tails of |X|, X symmetric and p-stable with p up to 1.1, on a lattice of ln x.
//
// With S of Chambers, Mallows and Stuck (angle_curve.hpp), write theta(s) for its inverse, eta = pi/2 - theta,
// c = p/(1-p). They say ln|X| = S(Theta) - (1/c) ln W, Theta uniform on (0, pi/2), W exponential. Condition on W:
// |X| <= e^y exactly when Theta <= theta(y + (ln W)/c), so with U = ln W, whose density is e^{u - e^u},
//     P(|X| <= e^y) = (2/pi) E theta(y + U/c)      P(|X| > e^y) = (2/pi) E eta(y + U/c).
// Everything is positive and smooth; as p -> 1 the average narrows and at p = 1 theta(s) = arctan(e^s) remains.
// For c < 9 the average is a trapezoid sum over a lattice of s (error of the order exp(-2 pi (pi/2)/0.2) = 1e-21); for
// c >= 9 it is a 24-point Gauss rule. Above p = 1 the averages still hold, with 1/c < 0.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "angle_curve.hpp"
#include "dd.hpp"
#include "gumbel_gauss.hpp"
#include "tail_inverse.hpp"

namespace stablesketch {
namespace {  // compiled more than once, for different instructions: see table_builder.hpp

class Tails {
  public:
    explicit Tails(double p) : curve_(p), inverse_c_((dd(1.0) - dd(p)) / dd(p)) {}

    bool narrow() const { return inverse_c_.hi <= 1.0 / 9.0; }  // the average over U is short: Gauss

    TailLattice tabulate(bool upper, double y_low, double y_high, double step) const {
        TailLattice out;
        if (narrow()) {
            out.step = dd(step);
            const int count = place(out, y_low, y_high);
            by_gauss(out, upper, count);
            return out;
        }
        // A lattice of angles serves every y: when y lies between its points, only the weights move.
        const double c = 1.0 / inverse_c_.hi;
        const double coarse = 0.2 / (c > 1.0 ? c : 1.0);
        const int phases = step < coarse ? static_cast<int>(coarse / step) + 1 : 1;
        const int stride = step < coarse ? 1 : static_cast<int>(step / coarse);
        out.step = dd(coarse) * dd(stride) / dd(phases);
        const int count = place(out, y_low, y_high);
        by_trapezoid(out, upper, count, coarse, stride, phases);
        return out;
    }

    // The upper tail at k step, k = first, first + 1, ..., by the Gauss rule.
    TailLattice gauss_upper(int first, int count, dd step) const {
        TailLattice out;
        out.step = step;
        out.first = first;
        by_gauss(out, true, count);
        return out;
    }

  private:
    static int place(TailLattice& out, double y_low, double y_high) {
        out.first = static_cast<int>(std::floor(y_low / out.step.hi));
        return static_cast<int>(std::ceil(y_high / out.step.hi)) - out.first + 1;
    }

    void by_gauss(TailLattice& out, bool upper, int count) const {
        Angle guess{dd(1e-3), false};
        for (int k = 0; k < count; ++k) {
            const dd y = out.step * dd(out.first + k);
            dd sum;
            for (const GaussNode& node : gumbel_gauss) {
                guess = curve_.solve(y + node.u * inverse_c_, guess);
                sum = sum + node.weight * (upper ? guess.eta() : guess.theta());
            }
            out.log_tail.push_back(log(sum / dd_half_pi));
        }
    }

    // y_k = (k/phases) stride coarse is split into a lattice point below it and a phase.
    void by_trapezoid(TailLattice& out, bool upper, int count, double coarse, int stride, int phases) const {
        const dd du = dd(coarse) / inverse_c_;
        // Left, the weight falls like e^u, and on the lower side theta like e^s too; right, it falls like exp(-e^u).
        const double left_rate = upper ? du.hi : du.hi + coarse;
        const int left = static_cast<int>(52.0 / left_rate) + 1, right = static_cast<int>(4.3 / du.hi) + 2;
        std::vector<std::vector<dd>> weight(phases);
        for (int phase = 0; phase < phases; ++phase)
            for (int j = -left; j <= right; ++j) {
                const dd u = du * (dd(j) - dd(phase) / dd(phases));
                weight[phase].push_back(exp(u - exp(u)) * du / dd_half_pi);
            }
        const auto below = [&](int k) { return (k >= 0 ? k / phases : -((-k + phases - 1) / phases)) * stride; };
        const int lowest = below(out.first) - left, highest = below(out.first + count - 1) + right;
        std::vector<dd> angle;
        Angle guess{dd(1e-3), false};
        for (int i = lowest; i <= highest; ++i) {
            guess = curve_.solve(dd(coarse) * dd(i), guess);
            angle.push_back(upper ? guess.eta() : guess.theta());
        }
        for (int k = out.first; k < out.first + count; ++k) {
            const int base = below(k);
            const std::vector<dd>& w = weight[k - base / stride * phases];
            const dd* at = angle.data() + (base - left - lowest);
            dd sum;
            for (std::size_t j = 0; j < w.size(); ++j) sum = sum + w[j] * at[j];
            out.log_tail.push_back(log(sum));
        }
    }

    AngleCurve curve_;
    dd inverse_c_;
};

}  // namespace
}  // namespace stablesketch
