// Builds the table of stable_table.hpp to about 1e-15, the same bits on every machine, in some tens of milliseconds.
//
// Included by table_builder_plain.cpp and table_builder_fma.cpp: the second is compiled with fused multiply-add, which
// halves the time. The results are the same: it is used only for the exact error of a product (dd.hpp).
//
// The law. With A(theta) of Chambers-Mallows-Stuck, S(theta) = ln A(theta) rises from -inf to inf on (0, pi/2); write
// theta(s) for its inverse, eta = pi/2 - theta, c = p/(1-p). CMS says ln|X| = S(Theta) - (1/c) ln W, Theta uniform on
// (0, pi/2), W exponential. Condition on W: |X| <= e^y exactly when Theta <= theta(y + (ln W)/c), so with U = ln W,
// whose density is e^{u - e^u},
//     P(|X| <= e^y) = (2/pi) E theta(y + U/c)      P(|X| > e^y) = (2/pi) E eta(y + U/c).
// Everything is positive and smooth; as p -> 1 the average narrows and at p = 1 theta(s) = arctan(e^s) remains.
// For c < 9 the average is a trapezoid sum over a lattice of s (error of the order exp(-2 pi (pi/2)/0.2) = 1e-21); for
// c >= 9 it is a 24-point Gauss rule.
//
// The inverse. ln P is known on lattices of y; a target is inverted by the secant rule on the 24-point Lagrange
// interpolant, whose relative error is about (24 h/(2 e d))^24 for lattice step h and the nearest complex singularity of
// ln P at distance d >= pi/2: 3e-19 at h = 0.06.
//   upper side: x t^{1/p} is analytic in t on [0, 1] (P(|X| > x) is a power series in x^{-p}): one Chebyshev series.
//   lower side: one Chebyshev series of x an octave of t.
// From these the eight coefficients of each bin follow by interpolation at Chebyshev points.
//
// Above p = 1 (above_one_law.hpp) the averages still hold, with 1/c < 0; the Gauss rule is used up to p = 1.1. x t^{1/p} is no longer
// analytic at t = 0, so the upper side has a series of x an octave, too. Towards p = 2 the law passes from the normal one to a
// power within a short stretch of t, and ln P has singularities nearby: that takes finer lattices and longer series. The deep octaves,
// t < 2^-63, have the series of the tail in x^{-p}.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <thread>
#include <vector>

#include "above_one_law.hpp"
#include "dd.hpp"
#include "gumbel_gauss.hpp"
#include "one_sided_law.hpp"
#include "skewed_law.hpp"
#include "stable_table.hpp"

namespace stablesketch {
namespace {

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
        const T theta = upper ? half_pi<T>() - angle : angle;
        sincos(angle, sin_small, cos_small);
        sincos(theta * T(p_), sin_p, cos_p);
        sincos(theta * minus_p<T>(), sin_q, cos_q);
        const T cos_theta = upper ? sin_small : cos_small;
        const double tan_theta = upper ? first(cos_small) / first(sin_small) : first(sin_small) / first(cos_small);
        slope = p_ * first(cos_p) / first(sin_p) + tan_theta / p_ -
                one_minus_p_.hi * one_minus_p_.hi / p_ * first(sin_q) / first(cos_q);
        if (upper) slope = -slope;
        return log_of(sin_p) + (minus_p<T>() * log_of(cos_q) - log_of(cos_theta)) / T(p_);
    }
    template <class T>
    static T half_pi();
    template <class T>
    T minus_p() const;

    double p_;
    dd one_minus_p_;
};
template <> double AngleCurve::half_pi<double>() { return dd_half_pi.hi; }
template <> dd AngleCurve::half_pi<dd>() { return dd_half_pi; }
template <> double AngleCurve::minus_p<double>() const { return one_minus_p_.hi; }
template <> dd AngleCurve::minus_p<dd>() const { return one_minus_p_; }

// ln P(|X| <= e^y) (lower) or ln P(|X| > e^y) (upper) on the lattice y_k = k step, k = first, first + 1, ...
struct TailLattice {
    dd step;
    int first = 0;
    std::vector<dd> log_tail;
};

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

std::vector<dd> chebyshev_points(int n) {  // cos((2k+1) pi/(2n)), descending, in (-1, 1)
    std::vector<dd> out;
    for (int k = 0; k < n; ++k) {
        const int m = 2 * k + 1 <= n ? 2 * k + 1 : 2 * n - (2 * k + 1);
        dd s, c;
        sincos(dd_pi * dd(m) / dd(2.0 * n), s, c);
        out.push_back(2 * k + 1 <= n ? c : -c);
    }
    return out;
}

class Chebyshev {  // the series of a function known at chebyshev_points(n); negligible last terms dropped
  public:
    Chebyshev(const std::vector<dd>& points, const std::vector<dd>& values) {
        const int n = static_cast<int>(points.size());
        std::vector<dd> before(n, dd(1.0)), now = points;
        coefficient_.assign(n, dd());
        for (int k = 0; k < n; ++k) {
            dd sum;
            for (int i = 0; i < n; ++i) {
                const dd t = k == 0 ? dd(1.0) : now[i];
                sum = sum + t * values[i];
                if (k > 0) {
                    const dd next = scale2(points[i] * now[i], 1) - before[i];
                    before[i] = now[i];
                    now[i] = next;
                }
            }
            coefficient_[k] = sum * dd(2.0) / dd(n);
        }
        coefficient_[0] = scale2(coefficient_[0], -1);
        const double small = std::fabs(smallest(values)) * 1e-19;
        while (coefficient_.size() > 1 && std::fabs(coefficient_.back().hi) < small) coefficient_.pop_back();
    }
    Chebyshev(const double* coefficients, int count) : coefficient_(coefficients, coefficients + count) {}
    // By Clenshaw's recurrence; T is dd, or dd8 for eight points at once.
    template <class T>
    T operator()(T x) const {
        const T twice = x + x;
        T b1, b2;
        for (int k = static_cast<int>(coefficient_.size()) - 1; k >= 1; --k) {
            const T b = twice * b1 - b2 + as<T>(coefficient_[k]);
            b2 = b1;
            b1 = b;
        }
        return x * b1 - b2 + as<T>(coefficient_[0]);
    }

  private:
    template <class T>
    static T as(dd a) {
        if constexpr (sizeof(T) == sizeof(dd)) {
            return a;
        } else {
            return spread(a);
        }
    }
    static double smallest(const std::vector<dd>& v) {
        double least = std::fabs(v[0].hi);
        for (const dd& x : v)
            if (std::fabs(x.hi) < least) least = std::fabs(x.hi);
        return least;
    }
    std::vector<dd> coefficient_;
};

// Values at the eight Chebyshev points of a bin -> coefficients of the interpolating polynomial in s in [-1/2, 1/2].
class BinFit {
  public:
    BinFit() : points_(chebyshev_points(8)) {
        for (dd& s : points_) s = scale2(s, -1);
        for (int i = 0; i < 8; ++i) {
            dd poly[8] = {dd(1.0)}, scale = dd(1.0);
            int degree = 0;
            for (int j = 0; j < 8; ++j) {
                if (j == i) continue;
                scale = scale * (points_[i] - points_[j]);
                for (int k = ++degree; k >= 1; --k) poly[k] = (k == degree ? dd() : poly[k] * -points_[j]) + poly[k - 1];
                poly[0] = poly[0] * -points_[j];
            }
            for (int k = 0; k < 8; ++k) poly[k] = poly[k] / scale;
            column_[i] = gather(poly);
        }
    }
    const std::vector<dd>& points() const { return points_; }
    Row operator()(dd8 value, int shift) const {
        dd8 sum;
        for (int i = 0; i < 8; ++i) sum = sum + column_[i] * spread({value.hi[i], value.lo[i]});
        Row row;
        for (int k = 0; k < 8; ++k) row.c[k] = std::ldexp(sum.hi[k], shift);
        return row;
    }

  private:
    std::vector<dd> points_;
    dd8 column_[8];  // of the matrix from values to coefficients
};

class Builder {
  public:
    Builder(double p, const TableShape& shape, Row* rows, Row* deep)
        : p_(std::fabs(p)),
          positive_(one_sided(p)),
          octaves_below_(deep_octaves(p)),
          shape_(shape),
          rows_(rows),
          deep_(deep),
          a_(dd(1.0) / dd(std::fabs(p))) {
        const int bins = 1 << shape_.bin_bits;
        for (int bin = 0; bin < bins; ++bin)
            for (const dd& s : fit_.points()) mantissa_.push_back(dd(1.0) + (s + dd(bin + 0.5)) / dd(bins));
        for (int bin = 0; bin < bins; ++bin)
            position_.push_back(gather(&mantissa_[8 * bin]) + gather(&mantissa_[8 * bin]) - spread(dd(3.0)));
    }

    void fill() {
        if (positive_) return fill_one_sided();
        if (!shape_.symmetric) return fill_skewed();
        if (p_ > 1.0) return fill_above_one();
        const Tails tails(p_);
        std::thread other([&] { fill_upper(tails); });  // the sides are independent
        fill_lower(tails);
        other.join();
    }

  private:
    void fill_upper(const Tails& tails) {
        const double p = p_;
        const Inverse log_x({tails.tabulate(true, -0.9 / p, 9.3 / p, 0.06 / p)});
        const auto points = chebyshev_points(40);
        std::vector<dd> values;
        for (const dd& u : points) {
            const dd log_t = log(scale2(u + dd(1.0), -1));
            values.push_back(exp(log_x(log_t - dd_ln2) + a_ * log_t));
        }
        const Chebyshev whole(points, values);  // x t^{1/p} over u = 2t - 1
        const auto few = chebyshev_points(20);
        fill_power_tail(few, shape_.octaves, [&](int octave, std::vector<dd>& out) {
            for (const dd& u : few) out.push_back(whole(scale2(u + dd(3.0), octave - 63) - dd(1.0)));
        });
        fill_end(0, exp(log_x(-dd_ln2)));
    }

    // The upper side below octave `end`, given x t^{1/p} at these Chebyshev points of each octave, in u = 2m - 3,
    // t = 2^(octave - 63) m.
    template <class Values>
    void fill_power_tail(const std::vector<dd>& few, int end, Values of_octave) {
        std::vector<dd> power, values;
        for (const dd& m : mantissa_) power.push_back(exp(-(a_ * log(m))));
        for (int octave = lowest(0); octave < end; ++octave) {
            // t^{-1/p} = 2^{(63 - octave)/p} m^{-1/p}; the integer part of the power goes last.
            const dd bits = a_ * dd(63 - octave);
            const int integer = static_cast<int>(std::floor(bits.hi));
            const dd fraction = exp((bits - dd(integer)) * dd_ln2);
            values.clear();
            of_octave(octave, values);
            for (dd& value : values) value = value * fraction;
            const Chebyshev local(few, values);  // over m = (3 + u)/2 in [1, 2]
            fill_octave(0, octave, integer - shape_.shift,
                        [&](std::size_t bin) { return local(position_[bin]) * gather(&power[8 * bin]); });
        }
    }

    void fill_lower(const Tails& tails) {
        const double p = p_, top = 0.37 / p + 1.2;
        std::vector<TailLattice> lattices;
        if (tails.narrow()) {  // p > 0.9: P is proportional to x (1 + O(x^2)); -20 is deep enough, and coarser serves below -7
            lattices.push_back(tails.tabulate(false, -22.0, -5.0, 0.125));
            lattices.push_back(tails.tabulate(false, -8.0, top, 0.06));
        } else {
            lattices.push_back(tails.tabulate(false, -(shape_.resolution + 14) * dd_ln2.hi - 1.0, top, 0.06));
        }
        const Inverse log_x(std::move(lattices));
        for (int octave = shape_.octaves - 1; octave >= 0; --octave) {
            // Below a sixteenth of the resolution every x rounds to 0: leave the rows zero.
            if (log_x(log_top(octave)).hi < -(shape_.resolution + 4) * dd_ln2.hi) break;
            fill_series_octave(1, octave, p_ >= 0.3 ? (octave >= 50 ? 26 : 12) : p_ >= 0.12 ? 34 : 52, log_x);
        }
        fill_end(1, exp(log_x(-dd_ln2)));
    }

    int lowest(int side) const { return -octaves_below_.of(side); }  // octave; those below 0 are the deep ones

    void fill_above_one() {
        const double last = 44.8 / p_ + 0.3;  // y where the upper tail is 2^-64, or beyond
        const double fine = p_ <= 1.6 || p_ == 2.0 ? 0.05 : p_ <= 1.95 ? 0.02 : 0.0075;
        const bool narrow = p_ <= 1.1;
        const Tails tails(p_);
        std::optional<AboveOneUpper> law;
        if (!narrow) law.emplace(p_, last);
        const auto upper = [&](int first, int count, dd step) {
            if (narrow) return tails.gauss_upper(first, count, step);
            TailLattice out;
            out.step = step;
            out.first = first;
            for (int k = first; k < first + count; ++k) out.log_tail.push_back(law->log_tail(step * dd(k)));
            return out;
        };
        std::thread other([&] {
            const AboveOneLower series(p_);
            TailLattice lower;  // from where P is proportional to x to within 1e-17; up to beyond the median
            lower.step = dd(0.04);
            lower.first = -550;
            for (int k = lower.first; k < -18; ++k) lower.log_tail.push_back(series.log_tail(lower.step * dd(k)));
            for (const dd& tail : upper(-18, 36, lower.step).log_tail) lower.log_tail.push_back(log(dd(1.0) - exp(tail)));
            const Inverse log_x({lower});
            for (int octave = shape_.octaves - 1; octave >= 0; --octave) {
                if (log_x(log_top(octave)).hi < -(shape_.resolution + 4) * dd_ln2.hi) break;
                fill_series_octave(1, octave, octave >= 50 ? 26 : 12, log_x);
            }
            fill_end(1, exp(log_x(-dd_ln2)));
        });
        std::vector<TailLattice> lattices;
        const int first = static_cast<int>(-0.9 / fine);
        if (p_ == 2.0) {
            lattices.push_back(upper(first, static_cast<int>(3.2 / fine) - first, dd(fine)));
        } else {
            lattices.push_back(upper(first, static_cast<int>(3.6 / fine) - first, dd(fine)));
            lattices.push_back(upper(56, static_cast<int>(last / 0.05) - 56 + 14, dd(0.05)));
        }
        const Inverse log_x(std::move(lattices));
        for (int octave = 0; octave < shape_.octaves; ++octave)
            fill_series_octave(0, octave, p_ <= 1.6 || p_ == 2.0 ? 28 : 72, log_x);
        fill_end(0, exp(log_x(-dd_ln2)));
        if (octaves_below_.upper > 0) fill_far_above_one();
        other.join();
    }

    void fill_far_above_one() {
        const AboveOneFar law(p_);
        const auto few = chebyshev_points(20);
        fill_power_tail(few, 0, [&](int octave, std::vector<dd>& out) {
            for (const dd& u : few) out.push_back(exp(a_ * log(law.scaled_power(scale2(u + dd(3.0), octave - 64)))));
        });
    }

    static dd log_top(int octave) { return dd_ln2 * dd(octave - 63); }  // ln(t/2) at the top of the octave

    void fill_series_octave(int side, int octave, int terms, const Inverse& log_x) {
        const auto points = chebyshev_points(terms);
        std::vector<dd> values;
        for (const dd& u : points) values.push_back(exp(log_x(log_top(octave) + log(scale2(u + dd(3.0), -2)))));
        const Chebyshev x(points, values);  // over m = (3 + u)/2 in [1, 2]
        fill_octave(side, octave, -shape_.shift, [&](std::size_t bin) { return x(position_[bin]); });
    }

    void fill_one_sided() {
        std::thread other([&] { fill_one_sided_lower(); });
        OneSidedUpper upper(p_);
        // Eight at a time, from the smallest t on: 32 points an octave.
        const auto few = chebyshev_points(32);
        dd log_tail[8], log_zeta[8];
        fill_power_tail(few, shape_.octaves, [&](int octave, std::vector<dd>& out) {
            out.assign(32, dd());
            for (int at = 24; at >= 0; at -= 8) {
                for (int i = 0; i < 8; ++i)
                    log_tail[i] = log_top(octave) + log(scale2(few[at + 7 - i] + dd(3.0), -2));
                upper.solve(log_tail, log_zeta);
                // ln t is ln(t/2) + ln 2, and ln x is -(ln zeta)/p
                for (int i = 0; i < 8; ++i) out[at + 7 - i] = exp(a_ * (log_tail[i] + dd_ln2 - log_zeta[i]));
            }
        });
        for (dd& tail : log_tail) tail = -dd_ln2;
        upper.solve(log_tail, log_zeta);
        other.join();
        for (const int side : {0, 1}) fill_end(side, exp(-(a_ * log_zeta[0])));
    }

    void fill_one_sided_lower() {
        const OneSidedLower law(p_);
        const double inverse_c = (1.0 - p_) / p_;
        // ln P is analytic in c y within |Im| < pi/2, as that of the symmetric law is in y. From c y of P = 2^-96, where
        // w_0 = a(0) e^{-cy} is at most 66.6, to beyond the median, where it is at least 1/5; twelve points more at each end.
        TailLattice lattice;
        lattice.step = dd(0.06) * ((dd(1.0) - dd(p_)) / dd(p_));
        const double low = log_double(p_) + inverse_c * (log_double(1.0 - p_) - log_double(66.6));
        lattice.first = static_cast<int>(std::floor(low / lattice.step.hi)) - 12;
        do {
            lattice.log_tail.push_back(
                law.log_tail(lattice.step * dd(lattice.first + static_cast<int>(lattice.log_tail.size()))));
        } while (lattice.log_tail.size() < 24 || lattice.log_tail[lattice.log_tail.size() - 13].hi < -dd_ln2.hi);
        const Inverse log_x({lattice});
        for (int octave = lowest(1); octave < shape_.octaves; ++octave)
            fill_series_octave(1, octave, p_ >= 0.3 ? 26 : p_ >= 0.12 ? 34 : 52, log_x);
    }

    void fill_skewed() {
        const dd minus = dd(-1.0);
        for (int side = 0; side < 2; ++side) {
            for (int octave = 0; octave < shape_.octaves; ++octave) {
                const Chebyshev r(skewed_quantiles[side][octave], skewed_terms);
                fill_octave(side, octave, 0, [&](std::size_t bin) { return r(position_[bin]) * spread(minus); });
            }
            fill_end(side, dd(-skewed_median));
        }
    }

    template <class Function>
    void fill_octave(int side, int octave, int shift, Function x) {
        const int bins = 1 << shape_.bin_bits;
        Row* out = octave < 0 ? deep_ + (std::size_t(octave - lowest(side) + side * octaves_below_.upper) << shape_.bin_bits)
                              : rows_ + side * shape_.rows_per_side() + (std::size_t(octave) << shape_.bin_bits);
        for (int bin = 0; bin < bins; ++bin) out[bin] = fit_(x(static_cast<std::size_t>(bin)), shift);
    }

    void fill_end(int side, dd x) {  // t rounded up to 1 is the median, whatever the position in the bin
        Row& row = rows_[(side + 1) * shape_.rows_per_side() - 1];
        row.c[0] = std::ldexp(x.hi, -shape_.shift);
    }

    double p_;
    bool positive_;
    DeepOctaves octaves_below_;
    TableShape shape_;
    Row* rows_;
    Row* deep_;
    dd a_;
    BinFit fit_;
    std::vector<dd> mantissa_;    // m in [1, 2) of the eight points of every bin
    std::vector<dd8> position_;   // 2m - 3, where the series of an octave are evaluated
};

}  // namespace
}  // namespace stablesketch
