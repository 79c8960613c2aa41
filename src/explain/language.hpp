// Worked solutions in other languages.
#pragma once
#include <span>
#include <string>
#include <string_view>

#include "explain/document.hpp"

namespace muster {

/// A text of an explanation and what it is elsewhere. "{}" stands for a part that differs: a name, a number, or another phrase; in `other`
/// "{1}", "{2}", ... say where the first, the second goes.
struct Phrase {
  std::string_view english, other;
};

/// A row of the table of languages.
struct Language {
  std::string_view name, summary;     ///< "zh", as in BCP 47; in its own words
  std::span<const Phrase> phrases;
};
/// English first, which has no phrases.
std::span<const Language> languages();

/// `d` with every text that is a phrase, or is made of phrases (sentences; parts between ";", ":", "," and "and"), in the other language. What is
/// no phrase stays: names, numbers, resources.
Document translated(Document d, const Language& to);
std::string translated(std::string_view text, const Language& to);

}  // namespace muster
