// The angle of Chambers, Mallows and Stuck as a function of S = ln A(theta), which rises from -inf to inf on (0, pi/2):
//     S(theta) = ln sin(p theta) + [(1-p) ln cos((1-p) theta) - ln cos(theta)]/p.
#pragma once

#include <type_traits>

#include "dd.hpp"

namespace stablesketch {
namespace {  // compiled more than once, for different instructions: see table_builder.hpp

double log_of(double x) { return log_double(x); }
dd log_of(dd x) { return log(x); }
double first(double x) { return x; }
double first(dd x) { return x.hi; }

// theta, or eta = pi/2 - theta where that is the smaller one: the small one carries the relative accuracy.
struct Angle {
    dd small;
    bool upper = false;
    dd theta() const { return upper ? dd_half_pi - small : small; }
    dd eta() const { return upper ? small : dd_half_pi - small; }
};

class AngleCurve {
  public:
    explicit AngleCurve(double p) : p_(p), one_minus_p_(dd(1.0) - dd(p)) {}

    // theta(s) by Newton on ln(small angle), first in double, then once in double-double from a start good to 1e-16.
    Angle solve(dd s, Angle guess) const {
        if (s.hi < -60.0) return {exp(s) / dd(p_), false};  // A = p theta (1 + O(theta^2)), and theta^2 < 1e-50
        double angle = guess.small.hi;
        bool upper = guess.upper;
        for (int i = 0; i < 60; ++i) {
            double slope = 0.0;
            const double value = curve<double>(angle, upper, slope);
            double step = (s.hi - value) / (slope * angle);
            if (step > 1.0) step = 1.0;
            if (step < -1.0) step = -1.0;
            angle *= exp_small(step);
            if (angle > 0.8) {  // past pi/4: measure from the other end
                angle = dd_half_pi.hi - angle;
                if (angle < 1e-3) angle = 1e-3;
                upper = !upper;
            }
            if (step < 1e-12 && step > -1e-12) break;
        }
        dd exact = angle;
        for (int i = 0; i < 2; ++i) {
            double slope = 0.0;
            const dd value = curve<dd>(exact, upper, slope);
            const dd step = (s - value) / dd(slope * exact.hi);
            exact = exact + exact * (step + step * step * dd(0.5));
            if (step.hi < 1e-11 && step.hi > -1e-11) break;  // its square is below what is kept
        }
        return {exact, upper};
    }

  private:
    static double exp_small(double x) {  // only steers Newton, so any fixed accuracy serves
        double sum = 1.0;
        for (int k = 14; k >= 1; --k) sum = 1.0 + sum * x / k;
        return sum;
    }

    // S = ln sin(p theta) + [(1-p) ln cos((1-p) theta) - ln cos theta]/p; slope is dS/d(angle).
    template <class T>
    T curve(T angle, bool upper, double& slope) const {
        T sin_small, cos_small, sin_p, cos_p, sin_q, cos_q;
        const T theta = upper ? as<T>(dd_half_pi) - angle : angle;
        sincos(angle, sin_small, cos_small);
        sincos(theta * T(p_), sin_p, cos_p);
        sincos(theta * as<T>(one_minus_p_), sin_q, cos_q);
        const T cos_theta = upper ? sin_small : cos_small;
        const double tan_theta = upper ? first(cos_small) / first(sin_small) : first(sin_small) / first(cos_small);
        slope = p_ * first(cos_p) / first(sin_p) + tan_theta / p_ -
                one_minus_p_.hi * one_minus_p_.hi / p_ * first(sin_q) / first(cos_q);
        if (upper) slope = -slope;
        return log_of(sin_p) + (as<T>(one_minus_p_) * log_of(cos_q) - log_of(cos_theta)) / T(p_);
    }
    template <class T>
    static T as(dd x) {
        if constexpr (std::is_same_v<T, dd>) {
            return x;
        } else {
            return x.hi;
        }
    }

    double p_;
    dd one_minus_p_;
};

}  // namespace
}  // namespace stablesketch
