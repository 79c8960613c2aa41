// Exercises made up from a seed.
#pragma once
#include <span>
#include <string>
#include <string_view>

namespace muster {

class Random;

/// A row of the table of quizzes. Its solution is the explanation of the same name.
struct Quiz {
  std::string_view name;
  std::string_view question;
  std::string (*make)(Random&);  ///< an input file
};

/// All of them, in order of name.
std::span<const Quiz> quizzes();

}  // namespace muster
