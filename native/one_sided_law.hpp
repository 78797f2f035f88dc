// The positive p-stable law for its table: ln P(X <= x) on a lattice, and the x of an upper tail, in double-double.
//
// Lower tail. With Kanter's a(u) = (sin pu/sin u)^{p/(1-p)} sin((1-p)u)/sin u and c = p/(1-p),
//     P(X <= e^y) = (1/pi) integral over (0, pi) of exp(-a(u) e^{-cy}) du.
// With u = pi tanh(s/2) the integrand is even in s and falls doubly exponentially, so the trapezoid rule converges
// exponentially: measured below 1e-25 at steps of 0.08 for p <= 1/2 and 0.03 above, for all tails up to 0.8.
//
// Upper tail. With zeta = x^{-p},
//     P(X > x) = sum over k >= 1 of c_k zeta^k,    c_k = Gamma(pk) sin(pi (1-p) k) / (pi k!),
// a series that converges everywhere and, up to the median, hardly cancels. (Proof: expand (1 - exp(-s^p))/s, whose
// inverse Laplace transform the tail is, in powers of s.) It takes some 14/(1-p) terms at the median, few in the tail.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "dd.hpp"

namespace stablesketch {
namespace {

// ln Gamma(x), x > 0: Stirling's series from 32 on, where its twelve terms leave less than 1e-31, and the recurrence
// below.
inline dd log_gamma(dd x) {
    static const double numerator[12] = {1, -1, 1, -1, 1, -691, 1, -3617, 43867, -174611, 77683, -236364091};
    static const double denominator[12] = {12,  360,    1260,   1680,   1188, 360360,
                                           156, 122400, 244188, 125400, 5796, 1506960};
    dd below = dd(1.0);
    while (x.hi < 32.0) {
        below = below * x;
        x = x + dd(1.0);
    }
    const dd inverse = dd(1.0) / x, square = inverse * inverse;
    dd series;
    for (int i = 11; i >= 0; --i) series = series * square + dd(numerator[i]) / dd(denominator[i]);
    const dd half_log_two_pi = scale2(log(scale2(dd_pi, 1)), -1);
    return (x - dd(0.5)) * log(x) - x + half_log_two_pi + series * inverse - log(below);
}

// sin(a) for 0 <= a <= pi.
inline dd sin_upto_pi(dd a) {
    dd s, c;
    sincos(a < dd_half_pi ? a : dd_pi - a, s, c);
    return s;
}

class OneSidedLower {
  public:
    explicit OneSidedLower(double p) : p_(p), q_(dd(1.0) - dd(p)) {
        const dd step = p <= 0.5 ? dd(2.0) / dd(25.0) : dd(3.0) / dd(100.0);
        for (int k = 0; k < 4000; ++k) {
            const dd e = exp(-(step * dd(k))), one_more = dd(1.0) + e;
            const dd rest = scale2(dd_pi * e, 1) / one_more, u = dd_pi - rest;  // pi - u is what must be exact
            Node node;
            node.log_a = k == 0 ? dd(p) / q_ * log(dd(p)) + log(q_) : log_a(u, rest);
            node.weight = scale2(step * e, k == 0 ? 0 : 1) / (one_more * one_more);
            nodes_.push_back(node);
            if (node.log_a.hi > nodes_[0].log_a.hi + 12.0) break;  // w is then 160,000 times the least
        }
    }

    // ln P(X <= e^y)
    dd log_tail(dd y) const {
        const dd shift = dd(p_) / q_ * y;
        const dd least = exp(nodes_[0].log_a - shift);
        dd sum;
        for (const Node& node : nodes_) {
            const dd w = exp(node.log_a - shift);
            if (w.hi > least.hi + 90.0) break;
            sum = sum + node.weight * exp(least - w);
        }
        return log(sum) - least;
    }

  private:
    struct Node {
        dd log_a, weight;
    };
    dd log_a(dd u, dd rest) const {
        const dd sine = log(sin_upto_pi(rest < dd_half_pi ? rest : u));
        return dd(p_) / q_ * (log(sin_upto_pi(u * dd(p_))) - sine) + log(sin_upto_pi(u * q_)) - sine;
    }

    double p_;
    dd q_;
    std::vector<Node> nodes_;
};

class OneSidedUpper {
  public:
    explicit OneSidedUpper(double p) : p_(p), q_(dd(1.0) - dd(p)) {}

    // ln zeta at eight tails, each given as its logarithm, largest x first. Calls must go from the tail to the median:
    // each starts from where the last one ended. Newton in double, then once in double-double from a start good to
    // 1e-13.
    void solve(const dd (&log_tail)[8], dd (&log_zeta)[8]) {
        if (at_ == 0.0)
            at_ = log_tail[0].hi + log_gamma(q_).hi;  // far out the tail is zeta/Gamma(1-p)
        else
            at_ += (log_tail[0].hi - log_tail_) / slope_;
        eight y;
        for (int i = 0; i < 8; ++i) y[i] = at_ + (log_tail[i].hi - log_tail[0].hi) / slope_;
        eight slope{};
        for (int turn = 0; turn < 60; ++turn) {
            eight zeta, value, first;
            for (int i = 0; i < 8; ++i) zeta[i] = exp(dd(y[i])).hi;
            horner(zeta, terms_for(y), value, first);
            bool done = true;
            for (int i = 0; i < 8; ++i) {
                slope[i] = first[i] * zeta[i] / value[i];
                const double step = (log_tail[i].hi - log_double(value[i])) / slope[i];
                y[i] += step;
                done = done && std::fabs(step) < 1e-12 * (std::fabs(y[i]) + q_.hi);
            }
            if (done) break;
        }
        dd zeta[8];
        for (int i = 0; i < 8; ++i) zeta[i] = exp(dd(y[i]));
        const dd8 tail = horner(gather(zeta), terms_for(y));
        for (int i = 0; i < 8; ++i)
            log_zeta[i] = dd(y[i]) + (log_tail[i] - log(dd(tail.hi[i], tail.lo[i]))) / dd(slope[i]);
        at_ = y[7];
        log_tail_ = log_tail[7].hi;
        slope_ = slope[7];
    }

  private:
    // As many terms as are above e^-58 of the sum; they are computed when first needed.
    int terms_for(const eight& y) {
        double most = y[0];
        for (int i = 1; i < 8; ++i)
            if (y[i] > most) most = y[i];
        for (int k = 0;; ++k) {
            if (k == static_cast<int>(coefficient_.size())) {
                const dd order = dd(p_) * dd(k + 1);
                log_factorial_ = log_factorial_ + log(dd(k + 1));
                const dd log_size = log_gamma(order) - log_factorial_;
                dd turns = q_ * dd(k + 1);  // sin(pi turns), of which whole pairs of turns are taken off
                turns = turns - dd(2.0 * std::nearbyint(0.5 * turns.hi));
                const dd sine = turns.hi < 0.0 ? -sin_upto_pi(dd_pi * -turns) : sin_upto_pi(dd_pi * turns);
                log_size_.push_back(log_size.hi);
                coefficient_.push_back(exp(log_size) * sine / dd_pi);
            }
            if (k > 3 && log_size_[k] + k * most < log_size_[0] - 58.0) return k + 1;
        }
    }

    void horner(const eight& zeta, int terms, eight& value, eight& first) const {
        value = eight{};
        first = eight{};
        for (int k = terms - 1; k >= 0; --k) {
            first = first * zeta + value;
            value = value * zeta + coefficient_[k].hi;
        }
        first = first * zeta + value;
        value = value * zeta;
    }
    dd8 horner(const dd8& zeta, int terms) const {
        dd8 value;
        for (int k = terms - 1; k >= 0; --k) value = value * zeta + spread(coefficient_[k]);
        return value * zeta;
    }

    double p_;
    dd q_;
    double at_ = 0.0, log_tail_ = 0.0, slope_ = 1.0;
    dd log_factorial_;
    std::vector<double> log_size_;  // ln of Gamma(pk)/k!, which bounds pi |c_k|
    std::vector<dd> coefficient_;
};

}  // namespace
}  // namespace stablesketch
