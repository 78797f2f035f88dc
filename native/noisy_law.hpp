// P(F x + b L <= T) for x of a given law and L a Laplace variable of scale 1, and the F at which it is a target.
//
// The formulas and their derivation: sketch/estimators/noisy_interval.py.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace stablesketch {

struct NoisyLaw {
    const double* ends;    // [pieces + 1], rising: x is taken to be uniform between neighbours
    const double* masses;  // [pieces]
    std::size_t pieces;
    double released, noise;  // T and b

    static constexpr double close = 1e-7;  // of F, and of a probability and its complement

    double below(double value) const;

    // ln(g/(1 - g)), finite also where rounding makes g 0 or 1.
    static double logit(double g) {
        const double inside = std::min(std::max(g, 1e-300), 1.0 - 1e-16);
        return std::log(inside) - std::log1p(-inside);
    }

    // The F between low and high at which it is the target, by false position (Illinois), and from the tenth step on
    // every fourth time by bisection. It is the logit that is solved for, which is nearly straight.
    double solved(double target, double low, double high) const {
        const double level = logit(target);
        double at_low = logit(below(low)) - level, at_high = logit(below(high)) - level, middle = high;
        int side = 0;
        for (int step = 0; step < 100; ++step) {
            const double share = at_low > at_high ? at_low / (at_low - at_high) : 0.5, apart = high - low;
            const bool halves = step > 8 && step % 4 == 3;
            middle = low + apart * (halves ? 0.5 : std::min(std::max(share, 0.001), 0.999));
            const double value = logit(below(middle)) - level;
            if (std::fabs(value) < close || apart < close * high) break;
            // An end that stays twice is treated as nearer.
            const int moved = value > 0.0 ? 1 : -1;
            const double stays = side == moved ? 0.5 : 1.0;
            (moved > 0 ? low : high) = middle;
            (moved > 0 ? at_high : at_low) *= stays;
            (moved > 0 ? at_low : at_high) = value;
            side = moved;
        }
        return middle;
    }
};

}  // namespace stablesketch
