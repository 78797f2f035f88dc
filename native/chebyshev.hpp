// Chebyshev series in double-double, and the eight coefficients of a row from values at its Chebyshev points.
#pragma once

#include <cmath>
#include <vector>

#include "dd.hpp"
#include "stable_table.hpp"

namespace stablesketch {
namespace {  // compiled more than once, for different instructions: see table_builder.hpp

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
                for (int k = ++degree; k >= 1; --k)
                    poly[k] = (k == degree ? dd() : poly[k] * -points_[j]) + poly[k - 1];
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

}  // namespace
}  // namespace stablesketch
