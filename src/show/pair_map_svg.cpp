#include "src/show/pair_map_svg.h"

#include "src/show/topology_text.h"
#include "src/values/printable.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace harmony {
namespace {

constexpr double margin = 20, title_height = 64, alone_gap = 10; // pixels
constexpr double darkest = 0.5;                                  // no slower speed has a colour of its own
constexpr std::size_t longest_label = 32;

struct Colour {
  double red, green, blue;
};

// From as fast as can be to half of that and less. Lightness alone tells them apart, too.
constexpr std::array<Colour, 5> scale{{{255, 250, 220}, {254, 217, 118}, {253, 141, 60}, {200, 30, 30}, {90, 0, 30}}};

struct Cell {
  double width, height, font;
};

Cell cell_of(std::size_t types) {
  if (types <= 12) return {64, 38, 11};
  if (types <= 24) return {48, 32, 9.5};
  return {38, 26, 8};
}

double text_width(std::size_t letters, double size) { return 0.63 * size * static_cast<double>(letters); }

double depth(double speed) { return std::clamp((1 - speed) / (1 - darkest), 0.0, 1.0); }

std::string colour(double speed) {
  const double at = depth(speed) * (scale.size() - 1);
  const auto from = std::min(static_cast<std::size_t>(at), scale.size() - 2);
  const double part = at - static_cast<double>(from);
  const auto mix = [part](double one, double other) { return std::lround(one + part * (other - one)); };
  const Colour &a = scale[from], &b = scale[from + 1];
  return fmt::format("#{:02x}{:02x}{:02x}", mix(a.red, b.red), mix(a.green, b.green), mix(a.blue, b.blue));
}

std::string label(const std::string &type) {
  const std::string text = one_line(type, longest_label);
  return text.empty() ? "(none)" : text;
}

class PairMap {
public:
  PairMap(const PairCoverage &coverage, const std::string &dataset)
      : coverage_(coverage), dataset_(one_line(dataset, 200)),
        types_(coverage.types.begin(),
               coverage.types.begin() + static_cast<std::ptrdiff_t>(std::min(coverage.types.size(), most_drawn_types))),
        cell_(cell_of(types_.size())) {
    std::size_t longest = 9; // neighbour
    for (const std::string &type : types_) longest = std::max(longest, label(type).size());
    labels_ = text_width(longest, 11) + 10;
  }

  std::string draw() {
    left_ = margin + 18 + labels_;
    top_ = title_height + 18 + labels_;
    const double columns = static_cast<double>(types_.size() + 1);
    const double right = left_ + columns * cell_.width + alone_gap;
    const double bottom = top_ + static_cast<double>(types_.size()) * cell_.height;
    for (std::size_t i = 0; i < types_.size(); ++i) row(i);
    headings(right, bottom);
    legend(bottom + 22);
    const std::string about = summary();
    text(margin, 30, 17, "start", "Types of jobs seen side by side", " font-weight='bold'");
    text(margin, 50, 12, "start", about);
    const double width = std::max({right + margin, 2 * margin + text_width(about.size(), 12), 700.0});
    return fmt::format("<?xml version='1.0' encoding='UTF-8'?>\n"
                       "<svg xmlns='http://www.w3.org/2000/svg' version='1.1' width='{0:.0f}' height='{1:.0f}' "
                       "viewBox='0 0 {0:.0f} {1:.0f}' role='img' "
                       "font-family='Verdana, DejaVu Sans, Helvetica, Arial, sans-serif'>\n"
                       "<title>Types of jobs seen side by side</title>\n<desc>{2}</desc>\n"
                       "<defs><pattern id='never' width='7' height='7' patternUnits='userSpaceOnUse'>"
                       "<rect width='7' height='7' fill='#f3f4f6'/><path d='M0 7L7 0' stroke='#c4c9d0'/></pattern>"
                       "</defs>\n<rect width='100%' height='100%' fill='#ffffff'/>\n{3}</svg>\n",
                       width, bottom + 92, xml_escaped(about), body_);
  }

private:
  template <class... Values> void add(fmt::format_string<Values...> format, Values &&...values) {
    body_ += fmt::format(format, std::forward<Values>(values)...) + "\n";
  }

  void text(double x, double y, double size, const char *anchor, const std::string &what,
            const std::string &more = "") {
    add("<text x='{:.1f}' y='{:.1f}' font-size='{}' text-anchor='{}'{}{}>{}</text>", x, y, size, anchor,
        more.find("fill=") == std::string::npos ? " fill='#1b1f24'" : "", more, xml_escaped(what));
  }

  std::string summary() const {
    const std::string shown =
        types_.size() < coverage_.types.size() ? fmt::format(" (drawn: the {} seen for longest)", types_.size()) : "";
    return fmt::format("{}: {} of {} pairs seen, {} type{}{}", dataset_, coverage_.pairs.size(), coverage_.possible(),
                       coverage_.types.size(), coverage_.types.size() == 1 ? "" : "s", shown);
  }

  void row(std::size_t index) {
    const std::string &victim = types_[index];
    const double y = top_ + static_cast<double>(index) * cell_.height;
    text(left_ - 8, y + cell_.height / 2 + 4, 11, "end", label(victim));
    const auto alone = coverage_.alone.find(victim);
    cell(left_, y, alone == coverage_.alone.end() ? nullptr : &alone->second, label(victim) + " alone");
    for (std::size_t i = 0; i < types_.size(); ++i) {
      const auto found = coverage_.pairs.find({victim, types_[i]});
      cell(left_ + alone_gap + static_cast<double>(i + 1) * cell_.width, y,
           found == coverage_.pairs.end() ? nullptr : &found->second,
           fmt::format("{} beside {}", label(victim), label(types_[i])));
    }
  }

  void cell(double x, double y, const PairSeen *seen, const std::string &what) {
    const std::string fill = !seen ? "url(#never)" : seen->speed ? colour(*seen->speed) : "#ffffff";
    const std::string tip = !seen         ? what + ": never seen"
                            : seen->speed ? fmt::format("{}: {}, median speed {:.2f} of the fast ones of its kind",
                                                        what, hours_text(seen->seconds), *seen->speed)
                                          : fmt::format("{}: {}, speed not known", what, hours_text(seen->seconds));
    add("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' fill='{}' "
        "stroke='{}'><title>{}</title></rect>",
        x, y, cell_.width, cell_.height, fill, seen && !seen->speed ? "#c4c9d0" : "#ffffff", xml_escaped(tip));
    if (!seen) return;
    const double middle = x + cell_.width / 2, centre = y + cell_.height / 2;
    const std::string ink = seen->speed && depth(*seen->speed) > 0.6 ? " fill='#ffffff'" : " fill='#1b1f24'";
    const std::string hours = hours_text(seen->seconds);
    if (!seen->speed) return text(middle, centre + cell_.font / 3, cell_.font, "middle", hours, ink);
    text(middle, centre - 2, cell_.font, "middle", fmt::format("{:.2f}", *seen->speed), ink + " font-weight='bold'");
    text(middle, centre + cell_.font, cell_.font, "middle", hours, ink);
  }

  void headings(double right, double bottom) {
    const auto column = [&](double x, const std::string &what) {
      text(x + cell_.width / 2 + 4, top_ - 8, 11, "start", what,
           fmt::format(" transform='rotate(-90 {:.1f} {:.1f})'", x + cell_.width / 2 + 4, top_ - 8));
    };
    column(left_, "alone");
    for (std::size_t i = 0; i < types_.size(); ++i)
      column(left_ + alone_gap + static_cast<double>(i + 1) * cell_.width, label(types_[i]));
    text((left_ + right) / 2, title_height + 10, 11, "middle", "neighbour", " font-style='italic'");
    const double y = (top_ + bottom) / 2;
    text(margin + 8, y, 11, "middle", "victim",
         fmt::format(" font-style='italic' transform='rotate(-90 {:.1f} {:.1f})'", margin + 8, y));
  }

  void legend(double y) {
    constexpr int steps = 25;
    constexpr double width = 8;
    for (int i = 0; i < steps; ++i)
      add("<rect x='{:.1f}' y='{:.1f}' width='{}' height='14' fill='{}'/>", margin + i * width, y, width,
          colour(1 - (1 - darkest) * i / (steps - 1)));
    text(margin, y + 28, 10.5, "start", "1");
    text(margin + steps * width / 2, y + 28, 10.5, "middle", fmt::format("{}", (1 + darkest) / 2));
    text(margin + steps * width, y + 28, 10.5, "end", fmt::format("{} or less", darkest));
    const double x = margin + steps * width + 20;
    text(x, y + 12, 11, "start", "the victim's median speed, relative to the fast ones of its kind");
    add("<rect x='{:.1f}' y='{:.1f}' width='20' height='14' fill='url(#never)'/>", x, y + 20);
    text(x + 28, y + 32, 11, "start", "never seen");
    add("<rect x='{:.1f}' y='{:.1f}' width='20' height='14' fill='#ffffff' stroke='#8c959f'/>", x + 120, y + 20);
    text(x + 148, y + 32, 11, "start", "seen so long, speed not known");
  }

  const PairCoverage &coverage_;
  const std::string dataset_;
  const std::vector<std::string> types_;
  const Cell cell_;
  double labels_ = 0, left_ = 0, top_ = 0;
  std::string body_;
};

} // namespace

std::string hours_text(double seconds) {
  if (seconds < 60) return fmt::format("{:.0f} s", seconds);
  if (seconds < 3600) return fmt::format("{:.0f} min", seconds / 60);
  const double hours = seconds / 3600;
  if (hours < 10) return fmt::format("{:.1f} h", hours);
  return hours < 9999.5 ? fmt::format("{:.0f} h", hours) : fmt::format("{:.0f}k h", hours / 1000);
}

std::string pair_map_svg(const PairCoverage &coverage, const std::string &dataset) {
  return PairMap(coverage, dataset).draw();
}

} // namespace harmony
