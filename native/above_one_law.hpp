// The symmetric p-stable law of 1 < p <= 2 for its table: both tails of |X| in double-double.
//
// Upper tail. By Chambers, Mallows and Stuck ln|X| = S(Theta) + (ln W)/c, c = p/(p-1), Theta uniform on (0, pi/2), so
// that
//     P(|X| > e^y) = (2/pi) integral over (0, pi/2) of exp(-w) dtheta,    w = e^{c (y - S(theta))},
//     c S(theta) = c ln sin(p theta) - (1/(p-1)) ln cos(theta) - ln cos((p-1) theta).
// S rises, all terms are positive, and at p = 2, where S = ln(2 sin theta), it is Craig's formula for the normal tail.
// With theta = (pi/2)/(1 + e^{-t}) the trapezoid rule converges exponentially: w turns like e^{-ct} on the left, so the
// strip is pi/(2c) wide and a step of 0.19/c leaves about e^-51. Measured against half the step: below 1e-21.
//
// Lower tail. The density is entire for p > 1; by integrating its power series
//     P(|X| <= x) = (2/(pi p)) sum over k >= 0 of (-1)^k Gamma((2k+1)/p)/(2k+1)! x^{2k+1},
// used for x <= 1/2, where it falls at least as fast as 4^-k.
//
// Far out, where the tail is below 2^-63 and p < 2,
//     P(|X| > x) = (2/pi) sum over k >= 1 of Gamma(kp)/k! sin(k pi (2-p)/2) z^k,    z = x^{-p},
// an asymptotic series: c_1 z is the tail to within a few z. Since c_1 is about 2 - p near 2, and 2 - p is a multiple
// of 2^-52, z is below 2^-11 even there, and ten terms leave less than 1e-22. (The contribution of the normal law is
// e^{-x^2/4} < e^-500.)
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "dd.hpp"
#include "one_sided_law.hpp"

namespace stablesketch {
namespace {

class AboveOneUpper {
  public:
    // For tails down to `last`, the largest y that is needed.
    AboveOneUpper(double p, double last) : c_(dd(p) / (dd(p) - dd(1.0))) {
        const dd minus = dd(p) - dd(1.0), rest = (dd(2.0) - dd(p)) * dd_half_pi;
        const double step = 0.19 / c_.hi;
        // Left, theta is about e^{y - (ln 100)/c} where w is 100; right, eta of the last tail is e^{-p y} or more.
        const int first = static_cast<int>(-8.0 / step), end = static_cast<int>((p * last + 60.0) / step);
        for (int k = first; k <= end; ++k) {
            const double at = step * k;
            const dd e = exp(dd(at < 0.0 ? at : -at));
            const dd large = dd_half_pi / (dd(1.0) + e), small = large * e;
            const dd theta = at < 0.0 ? small : large, eta = at < 0.0 ? large : small;
            const dd turned = dd(p) * theta;
            const dd sine = turned < dd_half_pi ? turned : rest + dd(p) * eta;
            Node node;
            node.exponent = log(sine_of(eta)) / minus + log(sine_of(rest + minus * eta)) - c_ * log(sine_of(sine));
            node.weight = dd(step) * large * small / (dd_half_pi * dd_half_pi);
            node.power = node.exponent.hi > 600.0 ? dd() : exp(node.exponent);
            nodes_.push_back(node);
        }
        beyond_.assign(nodes_.size() + 1, dd());
        for (std::size_t k = nodes_.size(); k-- > 0;) beyond_[k] = beyond_[k + 1] + nodes_[k].weight;
    }

    // ln P(|X| > e^y). The exponents of nodes, -c S, fall from left to right.
    dd log_tail(dd y) const {
        const dd shift = c_ * y, factor = exp(shift);
        dd sum;
        std::size_t k = 0;
        while (k < nodes_.size() && nodes_[k].exponent.hi + shift.hi > 6.0) ++k;  // w above 400
        for (; k < nodes_.size() && nodes_[k].exponent.hi + shift.hi > -46.0; ++k)
            sum = sum + nodes_[k].weight * exp(-(nodes_[k].power * factor));
        return log(sum + beyond_[k]);  // further right e^{-w} is 1
    }

  private:
    struct Node {
        dd exponent, weight, power;
    };
    static dd sine_of(dd a) {
        dd s, c;
        sincos(a, s, c);
        return s;
    }

    dd c_;
    std::vector<Node> nodes_;
    std::vector<dd> beyond_;
};

class AboveOneFar {
  public:
    explicit AboveOneFar(double p) {
        dd log_factorial;
        for (int k = 1; k <= 10; ++k) {
            log_factorial = log_factorial + log(dd(k));
            // k (2-p)/2 half turns, 2 - p being exact; less than five
            dd turns = scale2(dd(k) * dd(2.0 - p), -1);
            bool negative = false;
            for (; !(turns < dd(1.0)); negative = !negative) turns = turns - dd(1.0);
            const dd size = exp(log_gamma(dd(k) * dd(p)) - log_factorial) * sin_upto_pi(dd_pi * turns) / dd_half_pi;
            coefficient_.push_back(negative ? -size : size);
        }
    }

    // t/z where P(|X| > x) = t/2, t < 2^-62: twice the sum of c_k z^{k-1}. Each step gains nine bits or more.
    dd scaled_power(dd t) const {
        dd ratio = scale2(coefficient_[0], 1);
        for (int i = 0; i < 12; ++i) {
            const dd z = t / ratio;
            dd sum;
            for (std::size_t k = coefficient_.size(); k-- > 0;) sum = sum * z + coefficient_[k];
            ratio = scale2(sum, 1);
        }
        return ratio;
    }

  private:
    std::vector<dd> coefficient_;
};

class AboveOneLower {
  public:
    explicit AboveOneLower(double p) {
        dd log_factorial;
        for (int k = 0; k < 60; ++k) {
            if (k > 0) log_factorial = log_factorial + log(dd(2 * k)) + log(dd(2 * k + 1));
            const dd size = exp(log_gamma(dd(2 * k + 1) / dd(p)) - log_factorial) / (dd_half_pi * dd(p));
            coefficient_.push_back(k % 2 == 0 ? size : -size);
        }
    }

    // ln P(|X| <= e^y), y <= ln(1/2)
    dd log_tail(dd y) const {
        const dd square = exp(scale2(y, 1));
        dd sum;
        for (std::size_t k = coefficient_.size(); k-- > 0;) sum = sum * square + coefficient_[k];
        return log(sum) + y;
    }

  private:
    std::vector<dd> coefficient_;
};

}  // namespace
}  // namespace stablesketch
