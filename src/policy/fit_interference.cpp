#include "src/policy/fit_interference.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>

namespace harmony {
namespace {

constexpr double slowest = 0.05 + 1e-9;

std::vector<double> columns(const InterferenceTerms &terms, Degree degree) {
  const std::vector<double> linear{terms.same_domain, terms.same_socket, terms.same_nic, terms.cores,
                                   terms.across_nodes};
  std::vector<double> all = linear;
  if (degree == Degree::quadratic)
    for (std::size_t i = 0; i < linear.size(); ++i)
      for (std::size_t j = i; j < linear.size(); ++j) all.push_back(linear[i] * linear[j]);
  return all;
}

// The normal equations of one set of records, which are added one by one.
class Equations {
public:
  explicit Equations(std::size_t size) : size_(size), squares_(size * size), products_(size) {}

  void add(const std::vector<double> &row, double loss) {
    ++records_;
    for (std::size_t i = 0; i < size_; ++i) {
      products_[i] += row[i] * loss;
      for (std::size_t j = 0; j < size_; ++j) squares_[i * size_ + j] += row[i] * row[j];
    }
  }
  std::size_t records() const { return records_; }

  // By Cholesky's decomposition. A column that is always 0 gets a rate of 0.
  FittedRates solved(double ridge) const {
    std::vector<double> lower = squares_;
    for (std::size_t i = 0; i < size_; ++i) {
      double &diagonal = lower[i * size_ + i];
      diagonal = diagonal > 0 ? diagonal * (1 + ridge) : 1;
    }
    decompose(lower);
    FittedRates rates = products_;
    for (std::size_t i = 0; i < size_; ++i) {
      for (std::size_t k = 0; k < i; ++k) rates[i] -= lower[i * size_ + k] * rates[k];
      rates[i] /= lower[i * size_ + i];
    }
    for (std::size_t i = size_; i-- > 0;) {
      for (std::size_t k = i + 1; k < size_; ++k) rates[i] -= lower[k * size_ + i] * rates[k];
      rates[i] /= lower[i * size_ + i];
    }
    return rates;
  }

private:
  void decompose(std::vector<double> &matrix) const {
    for (std::size_t i = 0; i < size_; ++i)
      for (std::size_t j = 0; j <= i; ++j) {
        double sum = matrix[i * size_ + j];
        for (std::size_t k = 0; k < j; ++k) sum -= matrix[i * size_ + k] * matrix[j * size_ + k];
        // The ridge keeps it above 0 but for rounding.
        matrix[i * size_ + j] = i == j ? std::sqrt(std::max(sum, 1e-12)) : sum / matrix[j * size_ + j];
      }
  }

  std::size_t size_;
  std::vector<double> squares_; // row by row
  std::vector<double> products_;
  std::size_t records_ = 0;
};

} // namespace

double FittedInterference::speed(const std::string &type, const InterferenceTerms &terms) const {
  const auto own = by_type.find(type);
  const FittedRates &rates = own == by_type.end() ? all : own->second;
  const std::vector<double> row = columns(terms, degree);
  double loss = 0;
  for (std::size_t i = 0; i < row.size(); ++i) loss += rates[i] * row[i];
  return std::clamp(1 - loss, slowest, 1.0);
}

FittedInterference fit_interference(const std::vector<IntervalRecord> &records, Degree degree,
                                    const FitOptions &options) {
  const std::size_t size = columns({}, degree).size();
  Equations all(size);
  std::map<std::string, Equations> by_type;
  for (const IntervalRecord &record : records) {
    if (!record.relative_speed) continue;
    const std::vector<double> row = columns(record.terms, degree);
    all.add(row, 1 - *record.relative_speed);
    by_type.try_emplace(record.type, size).first->second.add(row, 1 - *record.relative_speed);
  }
  if (all.records() == 0)
    throw std::runtime_error("there are no records of intervals to fit an interference model from");
  FittedInterference fitted;
  fitted.degree = degree;
  fitted.records = all.records();
  fitted.all = all.solved(options.ridge);
  for (const auto &[type, equations] : by_type)
    if (equations.records() >= options.least_records) fitted.by_type[type] = equations.solved(options.ridge);
  return fitted;
}

} // namespace harmony
