// Double-double arithmetic: a number as the unevaluated sum of two doubles, about 31 digits.
//
// The table of the stable law (stable_table.cpp) must come out with the same bits on every machine. libm does not
// promise that: its exp and log differ in the last place between processors. Here everything is built from IEEE
// additions, multiplications, divisions and square roots, whose results are fixed, and the error is far below the last
// place kept.
//
// The error-free transformations are Knuth's two-sum and Dekker's product.
#pragma once

#include <cmath>
#include <cstdint>

namespace stablesketch {
namespace {  // compiled more than once, for different instructions: see table_builder.hpp

template <class T>  // double, or a vector of doubles that are computed side by side
struct dd_of {
    T hi{};
    T lo{};
    constexpr dd_of() = default;
    constexpr dd_of(T h) : hi(h) {}  // NOLINT: a double is a dd
    constexpr dd_of(T h, T l) : hi(h), lo(l) {}
};
using dd = dd_of<double>;
using eight = double __attribute__((vector_size(64)));
using dd8 = dd_of<eight>;

template <class T>
inline dd_of<T> quick_two_sum(T a, T b) {  // needs |a| >= |b|
    const T s = a + b;
    return {s, b - (s - a)};
}

template <class T>
inline dd_of<T> two_sum(T a, T b) {
    const T s = a + b;
    const T t = s - a;
    return {s, (a - (s - t)) + (b - t)};
}

template <class T>
inline dd_of<T> two_prod(T a, T b) {
    const T p = a * b;
    constexpr double splitter = 134217729.0;  // 2^27 + 1
    const T ta = splitter * a, tb = splitter * b;
    const T ah = ta - (ta - a), bh = tb - (tb - b);
    const T al = a - ah, bl = b - bh;
    return {p, ((ah * bh - p) + ah * bl + al * bh) + al * bl};
}
#ifdef __FP_FAST_FMA
inline dd two_prod(double a, double b) {
    const double p = a * b;
    return {p, std::fma(a, b, -p)};  // the same exact error term
}
#endif

template <class T>
inline dd_of<T> operator-(dd_of<T> a) {
    return {-a.hi, -a.lo};
}

template <class T>
inline dd_of<T> operator+(dd_of<T> a, dd_of<T> b) {
    dd_of<T> s = two_sum(a.hi, b.hi);
    const dd_of<T> t = two_sum(a.lo, b.lo);
    s = quick_two_sum(s.hi, s.lo + t.hi);
    return quick_two_sum(s.hi, s.lo + t.lo);
}
template <class T>
inline dd_of<T> operator-(dd_of<T> a, dd_of<T> b) {
    return a + (-b);
}

template <class T>
inline dd_of<T> operator*(dd_of<T> a, dd_of<T> b) {
    const dd_of<T> p = two_prod(a.hi, b.hi);
    return quick_two_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

inline dd8 spread(dd a) { return {a.hi - eight{}, a.lo - eight{}}; }
inline dd8 gather(const dd* a) {
    dd8 out;
    for (int i = 0; i < 8; ++i) {
        out.hi[i] = a[i].hi;
        out.lo[i] = a[i].lo;
    }
    return out;
}

inline dd operator/(dd a, dd b) {
    const double q1 = a.hi / b.hi;
    dd r = a - b * dd(q1);
    const double q2 = r.hi / b.hi;
    r = r - b * dd(q2);
    const double q3 = r.hi / b.hi;
    return quick_two_sum(q1, q2) + dd(q3);
}

inline bool operator<(dd a, dd b) { return a.hi < b.hi || (a.hi == b.hi && a.lo < b.lo); }
inline dd abs(dd a) { return a.hi < 0 ? -a : a; }
inline dd scale2(dd a, int k) { return {std::ldexp(a.hi, k), std::ldexp(a.lo, k)}; }  // exact while in range

constexpr dd dd_pi{3.141592653589793116, 1.224646799147353207e-16};
constexpr dd dd_half_pi{1.570796326794896558, 6.123233995736766036e-17};
constexpr dd dd_ln2{0.6931471805599452862, 2.319046813846299558e-17};

// 1/k! for k = 0..35.
struct InverseFactorials {
    dd of[36];
    InverseFactorials() {
        of[0] = dd(1.0);
        for (int k = 1; k < 36; ++k) of[k] = of[k - 1] / dd(k);
    }
};
// Made on first use: an initialiser at load time would run these instructions on machines that lack them.
inline const InverseFactorials& inverse_factorials() {
    static const InverseFactorials values;
    return values;
}

// exp(a): a = k ln 2 + 256 r, the Taylor series of expm1(r), eight doublings s <- 2s + s^2.
inline dd exp(dd a) {
    if (a.hi < -700.0) return {};
    const double k = std::nearbyint(a.hi / dd_ln2.hi);
    const dd r = scale2(a - dd_ln2 * dd(k), -8);
    dd sum = inverse_factorials().of[11];
    for (int i = 10; i >= 1; --i) sum = sum * r + inverse_factorials().of[i];
    sum = sum * r;
    for (int i = 0; i < 8; ++i) sum = scale2(sum, 1) + sum * sum;
    return scale2(sum + dd(1.0), static_cast<int>(k));
}

// ln(x) to double accuracy from basic operations: x = m 2^e, ln m = 2 artanh((m-1)/(m+1)).
inline double log_double(double x) {
    int e = 0;
    double m = std::frexp(x, &e);
    if (m < 0.70710678118654752) {
        m *= 2.0;
        --e;
    }
    const double s = (m - 1.0) / (m + 1.0), s2 = s * s;
    double sum = 0.0;
    for (int k = 31; k >= 1; k -= 2) sum = sum * s2 + 1.0 / k;
    return e * dd_ln2.hi + 2.0 * s * sum;
}

// ln(a) by one Newton step on exp: y + a e^{-y} - 1, error of the order of the square of the starting error.
inline dd log(dd a) {
    const dd y = log_double(a.hi);
    return y + (a * exp(-y) - dd(1.0));
}

// sin and cos of 0 <= a <= pi/2 by their Taylor series; the terms never exceed 2, so nothing cancels badly.
inline void sincos(dd a, dd& s, dd& c) {
    const dd square = -(a * a);
    s = inverse_factorials().of[33];
    c = inverse_factorials().of[34];
    for (int k = 31; k >= 1; k -= 2) s = s * square + inverse_factorials().of[k];
    for (int k = 32; k >= 0; k -= 2) c = c * square + inverse_factorials().of[k];
    s = s * a;
}

inline void sincos(double a, double& s, double& c) {
    const double square = -(a * a);
    s = inverse_factorials().of[21].hi;
    c = inverse_factorials().of[22].hi;
    for (int k = 19; k >= 1; k -= 2) s = s * square + inverse_factorials().of[k].hi;
    for (int k = 20; k >= 0; k -= 2) c = c * square + inverse_factorials().of[k].hi;
    s = s * a;
}

}  // namespace
}  // namespace stablesketch
