// Builds the table of stable_table.hpp to about 1e-15, the same bits on every machine, in some tens of milliseconds.
//
// Included by table_builder_plain.cpp and table_builder_fma.cpp: the second is compiled with fused multiply-add, which
// halves the time. The results are the same: it is used only for the exact error of a product (dd.hpp).
//
// The laws are in symmetric_tails.hpp, above_one_law.hpp, one_sided_law.hpp and skewed_law.hpp. ln P is known on
// lattices of y = ln x, and tail_inverse.hpp finds the x of a t. Of the symmetric law of p <= 1
//   upper side: x t^{1/p} is analytic in t on [0, 1] (P(|X| > x) is a power series in x^{-p}): one Chebyshev series.
//   lower side: one Chebyshev series of x an octave of t.
// From these the eight coefficients of each bin follow by interpolation at Chebyshev points (chebyshev.hpp).
//
// Above p = 1 x t^{1/p} is no longer analytic at t = 0, so the upper side has a series of x an octave, too. Towards p =
// 2 the law passes from the normal one to a power within a short stretch of t, and ln P has singularities nearby: that
// takes finer lattices and longer series. The deep octaves, t < 2^-63, have the series of the tail in x^{-p}.
#pragma once

#include <cmath>
#include <cstddef>
#include <optional>
#include <thread>
#include <vector>

#include "above_one_law.hpp"
#include "chebyshev.hpp"
#include "dd.hpp"
#include "one_sided_law.hpp"
#include "skewed_law.hpp"
#include "stable_table.hpp"
#include "symmetric_tails.hpp"
#include "tail_inverse.hpp"

namespace stablesketch {
namespace {

class Builder {
  public:
    Builder(const EntryLaw& law, const TableShape& shape, Row* rows, Row* deep)
        : law_(law),
          p_(law.p),
          octaves_below_(deep_octaves(law)),
          shape_(shape),
          rows_(rows),
          deep_(deep),
          a_(dd(1.0) / dd(law.p)) {
        const int bins = 1 << shape_.bin_bits;
        for (int bin = 0; bin < bins; ++bin)
            for (const dd& s : fit_.points()) mantissa_.push_back(dd(1.0) + (s + dd(bin + 0.5)) / dd(bins));
        for (int bin = 0; bin < bins; ++bin)
            position_.push_back(gather(&mantissa_[8 * bin]) + gather(&mantissa_[8 * bin]) - spread(dd(3.0)));
    }

    void fill() {
        if (law_.one_sided()) return fill_one_sided();
        if (law_.entropy()) return fill_entropy();
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
        if (tails.narrow()) {  // p > 0.9: P is proportional to x (1 + O(x^2)); -20 is deep enough, and coarser serves
                               // below -7
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
            for (const dd& tail : upper(-18, 36, lower.step).log_tail)
                lower.log_tail.push_back(log(dd(1.0) - exp(tail)));
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
                for (int i = 0; i < 8; ++i) log_tail[i] = log_top(octave) + log(scale2(few[at + 7 - i] + dd(3.0), -2));
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
        // ln P is analytic in c y within |Im| < pi/2, as that of the symmetric law is in y. From c y of P = 2^-96,
        // where w_0 = a(0) e^{-cy} is at most 66.6, to beyond the median, where it is at least 1/5; twelve points more
        // at each end.
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

    void fill_entropy() {
        static_assert(deep_octaves({LawKind::entropy}).upper == 0);
        static_assert(deep_octaves({LawKind::entropy}).lower == skewed_deep_octaves);
        const dd minus = dd(-1.0);
        for (int side = 0; side < 2; ++side) {
            for (int octave = lowest(side); octave < shape_.octaves; ++octave) {
                const double* terms = octave < 0 ? skewed_deep[octave - lowest(side)] : skewed_quantiles[side][octave];
                const Chebyshev r(terms, skewed_terms);
                fill_octave(side, octave, 0, [&](std::size_t bin) { return r(position_[bin]) * spread(minus); });
            }
            fill_end(side, dd(-skewed_median));
        }
    }

    template <class Function>
    void fill_octave(int side, int octave, int shift, Function x) {
        const int bins = 1 << shape_.bin_bits;
        Row* out = octave < 0
                     ? deep_ + (std::size_t(octave - lowest(side) + side * octaves_below_.upper) << shape_.bin_bits)
                     : rows_ + side * shape_.rows_per_side() + (std::size_t(octave) << shape_.bin_bits);
        for (int bin = 0; bin < bins; ++bin) out[bin] = fit_(x(static_cast<std::size_t>(bin)), shift);
    }

    void fill_end(int side, dd x) {  // t rounded up to 1 is the median, whatever the position in the bin
        Row& row = rows_[(side + 1) * shape_.rows_per_side() - 1];
        row.c[0] = std::ldexp(x.hi, -shape_.shift);
    }

    EntryLaw law_;
    double p_;
    DeepOctaves octaves_below_;
    TableShape shape_;
    Row* rows_;
    Row* deep_;
    dd a_;
    BinFit fit_;
    std::vector<dd> mantissa_;   // m in [1, 2) of the eight points of every bin
    std::vector<dd8> position_;  // 2m - 3, where the series of an octave are evaluated
};

}  // namespace
}  // namespace stablesketch
