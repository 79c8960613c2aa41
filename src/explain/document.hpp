// A worked solution as a document: what is said, not how it looks.
#pragma once
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "muster/types.hpp"

namespace muster {

/// A paragraph. A label, when it has one, stands out before it ("result", "cluster").
struct Paragraph {
  std::string label, text;
};

/// A table. Numbers are right-aligned in their columns, words left.
struct TableBlock {
  struct Column {
    std::string head;
    bool number = false;  ///< right-aligned
    bool wraps = false;   ///< words that may take several lines when the table is too wide
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  ///< each as long as `columns`
  bool steps = false;                          ///< each row is a step of the solution
};

/// Bars on one scale from 0 to `end`: shares of a whole, or stretches of time (a Gantt chart).
struct Bars {
  struct Stretch {
    int64_t from = 0, to = 0;
    std::string label;  ///< written into it where there is room; empty: filled
  };
  struct Row {
    std::string label;
    std::vector<Stretch> stretches;  ///< in order, none overlaps
    std::string note;                ///< after the bar
  };
  int64_t end = 1;
  std::string end_text;  ///< the scale's end in words ("34 s", "1"); empty: no scale is drawn
  std::vector<Row> rows;
};

/// A tree of cells, drawn with its branches; a node may show what its parts hold.
struct Tree {
  struct Node {
    std::string label;
    std::vector<std::vector<std::string>> cells;  ///< "[a a | . .]": groups of parts, one word each; "." for what is free
    std::string note;                             ///< behind it: "split for B", "free, buddy of n0/0"
    std::vector<Node> parts;
  };
  std::vector<Node> roots;
};

struct Block;

/// Numbered steps. Each has a heading, what is on the right of it, and blocks below.
struct Steps {
  struct Step {
    std::string title;  ///< "t=20  B asks 4 GPUs"
    std::string aside;  ///< at the right edge: "free: rack 0  node 1"
    std::vector<Block> blocks;
  };
  std::vector<Step> steps;
};

struct Block {
  std::variant<Paragraph, TableBlock, Bars, Tree, Steps> what;
};

struct Document {
  std::string title;
  std::string language = "en";  ///< BCP 47
  std::vector<Block> blocks;

  template <class B> B& add(B b) {
    blocks.push_back({std::move(b)});
    return std::get<B>(blocks.back().what);
  }
  void say(std::string text, std::string label = {}) { add(Paragraph{std::move(label), std::move(text)}); }
};

/// At most 80 columns, plain ASCII where the words are; a table that is too wide is broken into several with the same first column.
std::string to_plain(const Document& d);
std::string to_markdown(const Document& d);
/// A page that stands alone: nothing is loaded, dark where the reader's screen is.
std::string to_html(const Document& d);
/// {"title", "blocks": [{"kind": "text" | "table" | "bars" | "tree" | "steps", ...}]}
std::string to_json(const Document& d);

/// A way to write a document. The names are those of --format.
struct DocumentFormat {
  std::string_view name;
  std::string (*write)(const Document&);
};
std::span<const DocumentFormat> document_formats();

/// The lines of drawings, which text, Markdown and HTML share.
std::vector<std::string> drawn(const Tree& t);
std::vector<std::string> drawn(const Bars& b, size_t width);

}  // namespace muster
