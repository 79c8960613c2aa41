// Markdown, HTML and JSON, and the table of formats.
#include <algorithm>

#include "explain/document.hpp"
#include "text/json_text.hpp"

namespace muster {
namespace {

// ---- Markdown

std::string md(std::string_view s, bool cell = false) {
  std::string out;
  for (const char c : s) {
    if (c == '\n') out += cell ? "<br>" : "\n";
    else if (std::string_view("\\`*_[]<>|#").find(c) != std::string_view::npos) out += '\\', out += c;
    else out += c;
  }
  return out;
}

void md_blocks(const std::vector<Block>& all, int depth, std::string& out);

void fenced(const std::vector<std::string>& lines, std::string& out) {
  out += "```text\n";
  for (const std::string& l : lines) out += l + "\n";
  out += "```\n\n";
}

struct Markdown {
  int depth;
  std::string& out;
  void operator()(const Paragraph& p) const {
    out += (p.label.empty() ? "" : "**" + md(p.label) + "**") + (p.label.empty() || p.text.empty() ? "" : " ") + md(p.text) + "\n\n";
  }
  void operator()(const TableBlock& t) const {
    out += "|";
    for (const auto& c : t.columns) out += " " + md(c.head, true) + " |";
    out += "\n|";
    for (const auto& c : t.columns) out += c.number ? " ---: |" : " --- |";
    out += "\n";
    for (const auto& row : t.rows) {
      out += "|";
      for (const auto& c : row) out += " " + md(c, true) + " |";
      out += "\n";
    }
    out += "\n";
  }
  void operator()(const Bars& b) const { fenced(drawn(b, 80), out); }
  void operator()(const Tree& t) const { fenced(drawn(t), out); }
  void operator()(const Steps& s) const {
    for (const Steps::Step& step : s.steps) {
      out += std::string(size_t(depth), '#') + " " + md(step.title) + "\n\n";
      if (!step.aside.empty()) out += md(step.aside) + "\n\n";
      md_blocks(step.blocks, depth + 1, out);
    }
  }
};

void md_blocks(const std::vector<Block>& all, int depth, std::string& out) {
  for (const Block& b : all) std::visit(Markdown{depth, out}, b.what);
}

// ---- HTML

std::string html(std::string_view s) {
  std::string out;
  for (const char c : s) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\n': out += "<br>"; break;
      default: out += c;
    }
  }
  return out;
}

void html_blocks(const std::vector<Block>& all, int depth, std::string& out);

struct Html {
  int depth;
  std::string& out;
  void operator()(const Paragraph& p) const {
    out += "<p>" + (p.label.empty() ? "" : "<b>" + html(p.label) + "</b> ") + html(p.text) + "</p>\n";
  }
  void operator()(const TableBlock& t) const {
    const auto cell = [&](const char* tag, size_t c, const std::string& text) {
      out += std::string("<") + tag + (t.columns[c].number ? " class=n>" : ">") + html(text) + "</" + tag + ">";
    };
    out += "<table>\n<tr>";
    for (size_t c = 0; c < t.columns.size(); c++) cell("th", c, t.columns[c].head);
    out += "</tr>\n";
    for (const auto& row : t.rows) {
      out += "<tr>";
      for (size_t c = 0; c < row.size(); c++) cell("td", c, row[c]);
      out += "</tr>\n";
    }
    out += "</table>\n";
  }
  void operator()(const Bars& b) const { pre(drawn(b, 100)); }
  void operator()(const Tree& t) const { pre(drawn(t)); }
  void operator()(const Steps& s) const {
    const std::string h = "h" + std::to_string(depth);
    for (const Steps::Step& step : s.steps) {
      out += "<" + h + ">" + html(step.title) + "</" + h + ">\n";
      if (!step.aside.empty()) out += "<p>" + html(step.aside) + "</p>\n";
      html_blocks(step.blocks, depth + 1, out);
    }
  }
  void pre(const std::vector<std::string>& lines) const {
    out += "<pre>";
    for (const std::string& l : lines) {
      std::string line = html(l);
      out += line + "\n";
    }
    out += "</pre>\n";
  }
};

void html_blocks(const std::vector<Block>& all, int depth, std::string& out) {
  for (const Block& b : all) std::visit(Html{depth > 6 ? 6 : depth, out}, b.what);
}

// ---- JSON

void member(std::string& out, std::string_view name, std::string_view value, bool first = false) {
  if (!first) out += ",";
  append_string(out, name);
  out += ":";
  append_string(out, value);
}

template <class List, class Each> void list(std::string& out, std::string_view name, const List& all, Each each) {
  out += ",";
  append_string(out, name);
  out += ":[";
  bool first = true;
  for (const auto& x : all) {
    if (!first) out += ",";
    first = false;
    each(x);
  }
  out += "]";
}

void json_blocks(const std::vector<Block>& all, std::string& out);

void json_node(const Tree::Node& n, std::string& out) {
  out += "{";
  member(out, "label", n.label, true);
  if (!n.note.empty()) member(out, "note", n.note);
  if (!n.cells.empty())
    list(out, "cells", n.cells, [&](const std::vector<std::string>& group) {
      out += "[";
      for (size_t i = 0; i < group.size(); i++) {
        if (i) out += ",";
        append_string(out, group[i]);
      }
      out += "]";
    });
  if (!n.parts.empty()) list(out, "parts", n.parts, [&](const Tree::Node& p) { json_node(p, out); });
  out += "}";
}

struct JsonWriter {
  std::string& out;
  void operator()(const Paragraph& p) const {
    member(out, "kind", "text", true);
    if (!p.label.empty()) member(out, "label", p.label);
    member(out, "text", p.text);
  }
  void operator()(const TableBlock& t) const {
    member(out, "kind", "table", true);
    list(out, "columns", t.columns, [&](const TableBlock::Column& c) {
      std::string head = c.head;
      std::replace(head.begin(), head.end(), '\n', ' ');
      append_string(out, head);
    });
    list(out, "rows", t.rows, [&](const std::vector<std::string>& row) {
      out += "[";
      for (size_t i = 0; i < row.size(); i++) {
        if (i) out += ",";
        append_string(out, row[i]);
      }
      out += "]";
    });
  }
  void operator()(const Bars& b) const {
    member(out, "kind", "bars", true);
    out += ",\"end\":";
    append_int(out, b.end);
    member(out, "end_text", b.end_text);
    list(out, "rows", b.rows, [&](const Bars::Row& r) {
      out += "{";
      member(out, "label", r.label, true);
      list(out, "stretches", r.stretches, [&](const Bars::Stretch& s) {
        out += "{\"from\":";
        append_int(out, s.from);
        out += ",\"to\":";
        append_int(out, s.to);
        if (!s.label.empty()) member(out, "label", s.label);
        out += "}";
      });
      if (!r.note.empty()) member(out, "note", r.note);
      out += "}";
    });
  }
  void operator()(const Tree& t) const {
    member(out, "kind", "tree", true);
    list(out, "roots", t.roots, [&](const Tree::Node& n) { json_node(n, out); });
  }
  void operator()(const Steps& s) const {
    member(out, "kind", "steps", true);
    list(out, "steps", s.steps, [&](const Steps::Step& step) {
      out += "{";
      member(out, "title", step.title, true);
      if (!step.aside.empty()) member(out, "aside", step.aside);
      out += ",\"blocks\":";
      json_blocks(step.blocks, out);
      out += "}";
    });
  }
};

void json_blocks(const std::vector<Block>& all, std::string& out) {
  out += "[";
  for (size_t i = 0; i < all.size(); i++) {
    out += i ? ",\n{" : "{";
    std::visit(JsonWriter{out}, all[i].what);
    out += "}";
  }
  out += "]";
}

}  // namespace

std::string to_markdown(const Document& d) {
  std::string out = "# " + md(d.title) + "\n\n";
  md_blocks(d.blocks, 2, out);
  out.pop_back();  // one newline at the end
  return out;
}

std::string to_html(const Document& d) {
  std::string out = "<!DOCTYPE html>\n<html lang=" + d.language + ">\n<meta charset=utf-8>\n<meta name=viewport content=\"width=device-width\">\n<title>" +
                    html(d.title) +
                    "</title>\n<style>\n"
                    ":root{color-scheme:light dark}body{font:16px/1.5 system-ui,sans-serif;max-width:60em;margin:2em auto;padding:0 1em}\n"
                    "table{border-collapse:collapse;margin:1em 0;font-variant-numeric:tabular-nums}\n"
                    "th,td{padding:.2em .8em;border-bottom:1px solid #8886;text-align:left;vertical-align:top}.n{text-align:right}\n"
                    "pre{font:14px/1.35 ui-monospace,monospace;overflow-x:auto}\n</style>\n<h1>" +
                    html(d.title) + "</h1>\n";
  html_blocks(d.blocks, 2, out);
  return out + "</html>\n";
}

std::string to_json(const Document& d) {
  std::string out = "{";
  member(out, "title", d.title, true);
  out += ",\"blocks\":";
  json_blocks(d.blocks, out);
  return out + "}\n";
}

std::span<const DocumentFormat> document_formats() {
  static constexpr DocumentFormat kFormats[] = {{"text", to_plain}, {"markdown", to_markdown}, {"html", to_html}, {"json", to_json}};
  return kFormats;
}

}  // namespace muster
