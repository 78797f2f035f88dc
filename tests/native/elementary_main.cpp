// Logarithms and exponentials without Python: test_aarch64.py builds and runs it.
//
// Input: doubles. Output: for each of them log_of and exp_of, and in the end exp_sum of all.
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "elementary.hpp"

int main() {
    std::vector<double> numbers;
    for (double x = 0.0; std::fread(&x, sizeof x, 1, stdin) == 1;) numbers.push_back(x);
    std::vector<double> found;
    for (const double x : numbers) {
        found.push_back(stablesketch::log_of(x, 3.0));
        found.push_back(stablesketch::exp_of(x));
    }
    const stablesketch::ExpSum all = stablesketch::exp_sum(numbers.data(), numbers.size());
    found.push_back(all.top);
    found.push_back(all.sum);
    return std::fwrite(found.data(), sizeof(double), found.size(), stdout) == found.size() ? 0 : 1;
}
