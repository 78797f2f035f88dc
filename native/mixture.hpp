// A mixture of beliefs: P(f <= v) as the weighted sum over rows of P(f <= v | row), each a curve between its values.
//
// Row r has values x_0 <= ... <= x_{n-1} and a score at each. Between values the score is straight, beyond them it is
// that of the end; and its normal probability is straight between nodes that are evenly spread from -reach to reach.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace stablesketch {

struct Mixture {
    const double* values;       // [rows][nodes], each row rising
    const double* scores;       // [kinds][nodes]
    const std::int32_t* kind;   // [rows]: which scores a row has
    const double* weights;      // [rows]
    const double* probability;  // [steps + 1], at even scores
    std::size_t rows, nodes, steps;
    double reach;

    // Straight between two points, as numpy.interp has it.
    static double between(double x, double x0, double x1, double y0, double y1) {
        if (x == x0) return y0;
        const double slope = (y1 - y0) / (x1 - x0);
        const double y = slope * (x - x0) + y0;
        return std::isnan(y) ? slope * (x - x1) + y1 : y;
    }

    double normal(double score) const {
        const double place = (score + reach) / (2.0 * reach) * double(steps);
        if (!(place > 0.0)) return std::isnan(place) ? place : probability[0];
        const auto i = static_cast<std::size_t>(place);
        if (i >= steps) return probability[steps];
        return probability[i] + (place - double(i)) * (probability[i + 1] - probability[i]);
    }

    // The weighted sum at v. Neighbouring rows are alike, so each search begins where the last one ended.
    double below(double v) const {
        double sum = 0.0;
        std::size_t j = nodes / 2;
        for (std::size_t r = 0; r < rows; ++r) {
            const double* x = values + r * nodes;
            const double* s = scores + static_cast<std::size_t>(kind[r]) * nodes;
            while (j + 1 < nodes && x[j + 1] <= v) ++j;
            while (j > 0 && x[j] > v) --j;
            double score;
            if (x[j] > v) {
                score = -reach;
            } else if (j + 1 == nodes) {
                score = v > x[j] ? reach : s[j];
            } else {
                score = between(v, x[j], x[j + 1], s[j], s[j + 1]);
            }
            sum += weights[r] * normal(score);
        }
        return sum;
    }
};

// The two increasing places between which the sum passes a target: the last place at which it is not above it, found by
// bisection. (low, below(low), below(low + 1)); low is 0 if all are above, and the last but one if none is.
struct Passed {
    std::size_t low;
    double at_low, at_next;
};

inline Passed passed(const Mixture& mixture, const double* places, std::size_t count, double target) {
    std::size_t low = 0, high = count - 1;
    double at_low = mixture.below(places[low]), at_high = mixture.below(places[high]);
    while (high - low > 1) {
        const std::size_t middle = low + (high - low) / 2;
        const double at = mixture.below(places[middle]);
        (at <= target ? low : high) = middle;
        (at <= target ? at_low : at_high) = at;
    }
    return {low, at_low, at_high};
}

}  // namespace stablesketch
