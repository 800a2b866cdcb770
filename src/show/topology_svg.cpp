#include "src/show/topology_svg.h"

#include "src/show/topology_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

namespace harmony {
namespace {

constexpr double margin = 20, gap = 8, pad = 9, head = 24; // pixels
constexpr double core_size = 10 /* a square of 8 */, chip_height = 22;
constexpr int cores_in_row = 24, squares_limit = 256, stack_limit = 3, sockets_in_row = 4;

constexpr std::array<const char *, 10> domain_colours{"#d6e6fb", "#fbe0d0", "#d8f0d3", "#eadcf7", "#fdf0bf",
                                                      "#cdefee", "#fadbe6", "#e2e4b8", "#dcdff5", "#ecdfcf"};
constexpr std::array<const char *, 8> link_colours{"#0b5cad", "#b3400a", "#1d7a34", "#7a2ea0",
                                                   "#8a6100", "#00706e", "#b01657", "#4a5560"};

enum class Shape { none, machine, socket, numa, domain, gpu, nic, disk, cores };

struct Style {
  const char *fill, *stroke;
  double radius;
};

const Style &style(Shape shape) { // in the order of Shape
  static constexpr std::array<Style, 9> styles{{{"none", "none", 0},
                                                {"#fbfbfc", "#57606a", 8},
                                                {"#eceff2", "#6e7781", 6},
                                                {"#ffffff", "#8c959f", 6},
                                                {"#f6f7f8", "#8c959f", 5},
                                                {"#ffffff", "#2f7d00", 4},
                                                {"#ffffff", "#0b5cad", 4},
                                                {"#ffffff", "#8a6100", 4},
                                                {"#7d8fa3", "none", 1.5}}};
  return styles[static_cast<std::size_t>(shape)];
}

// A box and those in it, side by side or, in a column, one below the other. First built, then measured, then placed.
struct Box {
  Shape shape = Shape::none;
  std::vector<std::string> text = {}; // a heading; a GPU's lines
  std::vector<Box> inside = {};
  bool column = false;
  const char *fill = nullptr; // in place of the shape's own
  int number = 0;             // the GPU's index; how many cores
  std::string tip = {};
  double x = 0, y = 0, width = 0, height = 0;
};

// Wide enough for Verdana and DejaVu Sans, the widest of the fonts asked for.
double text_width(const std::string &text, double size) { return 0.63 * size * static_cast<double>(text.size()); }

// The tooltip has what is cut off here.
std::string shortened(const std::string &text, std::size_t limit) {
  return text.size() <= limit ? text : text.substr(0, limit - 2) + "..";
}

// At most two lines, the first broken at a blank, _ or - if there is one.
std::vector<std::string> wrapped(const std::string &text) {
  constexpr std::size_t limit = 13;
  if (text.size() <= limit) return {text};
  const std::size_t found = text.find_last_of(" _-", limit - 1);
  const std::size_t end = found == std::string::npos || found < 3 ? limit : found + 1;
  return {text.substr(0, end), shortened(text.substr(end), limit)};
}

Box row(std::vector<Box> inside) { return {Shape::none, {}, std::move(inside)}; }
Box column(std::vector<Box> inside) { return {Shape::none, {}, std::move(inside), true}; }

Box device(Shape shape, std::vector<std::string> text, std::string tip) {
  Box box{shape, std::move(text)};
  box.tip = std::move(tip);
  const bool gpu = shape == Shape::gpu;
  box.height = gpu ? 14 + 15 * static_cast<double>(box.text.size()) : chip_height;
  box.width = gpu ? 68 : 0;
  for (const std::string &line : box.text) box.width = std::max(box.width, text_width(line, gpu ? 10 : 10.5) + 12);
  return box;
}

double padding(const Box &box) { return box.shape == Shape::none ? 0 : pad; }
double heading(const Box &box) { return box.shape == Shape::none ? 0 : box.text.empty() ? pad : head; }

void measure(Box &box) {
  if (box.inside.empty() && box.height > 0) return; // a device
  double along = 0, across = 0;
  for (Box &child : box.inside) {
    measure(child);
    if (child.height == 0) continue;
    along += (along > 0 ? gap : 0) + (box.column ? child.height : child.width);
    across = std::max(across, box.column ? child.width : child.height);
  }
  const double title = box.text.empty() ? 0 : text_width(box.text[0], 12);
  box.width = std::max(title, box.column ? across : along) + 2 * padding(box);
  box.height = box.column ? along : across;
  if (box.shape != Shape::none) box.height += heading(box) + (box.height > 0 ? pad : 0);
}

// From the topology to boxes.
class Builder {
public:
  explicit Builder(const Topology &topology) : topology_(topology) {}

  Box machine() {
    Box box{Shape::machine, {}, {}, true};
    const int in_row = topology_.links.empty() ? sockets_in_row : topology_.sockets; // links want the GPUs in one row
    for (int i = 0; i < topology_.sockets; ++i) {
      if (i % in_row == 0) box.inside.push_back(row({}));
      box.inside.back().inside.push_back(socket(i));
    }
    return box;
  }

private:
  Box socket(int index) {
    Box box{Shape::socket, {fmt::format("Socket {}", index)}};
    for (std::size_t i = 0; i < topology_.numa.size(); ++i)
      if (topology_.numa[i].socket == index) box.inside.push_back(numa(static_cast<int>(i)));
    return box;
  }

  Box numa(int index) {
    const NumaNode &node = topology_.numa[index];
    const std::string cores = node.cores.empty() ? "no cores" : "cores " + core_list(node.cores);
    Box box{Shape::numa, {fmt::format("NUMA {}: {}, {}", index, shortened(cores, 30), memory_text(node.memory_mb))}};
    box.column = true;
    box.tip = cores;
    box.inside.push_back(core_strip(core_count(node.cores)));
    box.inside.push_back(row(domains_below(-1, index)));
    return box;
  }

  static Box core_strip(int count) {
    Box box{Shape::cores};
    box.number = std::min(count, squares_limit);
    box.width = core_size * std::min(box.number, cores_in_row);
    box.height = core_size * ((box.number + cores_in_row - 1) / cores_in_row);
    return box;
  }

  // Those with GPUs side by side; the others, after them, a few in each column.
  std::vector<Box> domains_below(int parent, int numa) {
    std::vector<Box> boxes, stack;
    for (std::size_t i = std::max(parent, 0); i < topology_.domains.size(); ++i) {
      if (topology_.domains[i].parent != parent || (parent < 0 && topology_.domains[i].numa != numa)) continue;
      const int index = static_cast<int>(i);
      (leads_to_gpu(index) ? boxes : stack).push_back(domain(index));
    }
    for (auto next = stack.begin(); next != stack.end();) {
      const auto end = next + std::min<std::ptrdiff_t>(stack_limit, stack.end() - next);
      boxes.push_back(column({next, end}));
      next = end;
    }
    return boxes;
  }

  bool leads_to_gpu(int domain) const {
    return std::any_of(topology_.gpus.begin(), topology_.gpus.end(), [&](const Gpu &gpu) {
      int above = gpu.domain;
      while (above > domain) above = topology_.domains[above].parent; // a parent stands before its children
      return above == domain;
    });
  }

  Box domain(int index) {
    const char *what = topology_.domains[index].parent < 0 ? "Host bridge" : "PCIe switch";
    Box box{Shape::domain, {fmt::format("{} {}", what, index)}};
    Box own = devices(index);
    std::vector<Box> below = domains_below(index, -1);
    const bool innermost = below.empty(), gpus = !own.inside.empty() && own.inside.back().shape == Shape::none;
    if (innermost || gpus) box.fill = domain_colours[coloured_++ % domain_colours.size()];
    box.column = !gpus; // GPUs stand beside the switches, so that all GPUs are at the bottom
    if (!gpus && !innermost) below = {row(std::move(below))};
    box.inside = std::move(below);
    if (!own.inside.empty()) box.inside.insert(gpus ? box.inside.end() : box.inside.begin(), std::move(own));
    return box;
  }

  // NICs and disks in a column, and below them the GPUs in a row.
  Box devices(int domain) const {
    Box cell = column({}), gpus = row({});
    for (const Nic &nic : topology_.nics)
      if (nic.domain == domain) cell.inside.push_back(chip(Shape::nic, "NIC", nic.name, speed_text(nic.speed_mbps)));
    for (const Disk &disk : topology_.disks)
      if (disk.domain == domain) cell.inside.push_back(chip(Shape::disk, "disk", disk.name, ""));
    for (std::size_t i = 0; i < topology_.gpus.size(); ++i)
      if (topology_.gpus[i].domain == domain) gpus.inside.push_back(gpu(static_cast<int>(i)));
    if (!gpus.inside.empty()) cell.inside.push_back(std::move(gpus));
    return cell;
  }

  static Box chip(Shape shape, const char *what, const std::string &name, const std::string &more) {
    const std::string shown = name.empty() ? what : shortened(name, 16);
    return device(shape, {more.empty() ? shown : shown + " " + more}, fmt::format("{} {} {}", what, name, more));
  }

  Box gpu(int index) const {
    const Gpu &gpu = topology_.gpus[index];
    std::vector<std::string> text = wrapped(gpu.model.empty() ? "unknown" : gpu.model);
    text.insert(text.begin(), fmt::format("GPU {}", index));
    text.push_back(memory_text(gpu.memory_mb) + (gpu.lost ? " LOST" : gpu.mig ? " MIG" : ""));
    Box box = device(Shape::gpu, std::move(text),
                     fmt::format("GPU {} {} {} {} {}", index, gpu.model, gpu.bus_id, gpu.uuid, pcie_text(gpu)));
    box.number = index;
    return box;
  }

  const Topology &topology_;
  std::size_t coloured_ = 0;
};

// Gives a box its place; what it is larger than it needs to be goes to those in it, and GPUs stay at the bottom.
void place(Box &box, double x, double y, double width, double height) {
  box.x = x, box.y = y, box.width = width, box.height = height;
  if (box.inside.empty()) return;
  const double inner_width = width - 2 * padding(box), bottom = y + height - padding(box);
  double next_x = x + padding(box), next_y = y + heading(box), needed = -gap;
  for (const Box &child : box.inside) needed += gap + child.width;
  const double spare = (inner_width - needed) / static_cast<double>(box.inside.size());
  for (Box &child : box.inside) {
    const bool last = &child == &box.inside.back();
    if (!box.column) {
      place(child, next_x, next_y, child.width + spare, bottom - next_y);
      next_x += child.width + gap;
      continue;
    }
    const bool gpus = !child.inside.empty() && child.inside[0].shape == Shape::gpu;
    const bool fills = last && child.shape == Shape::none && !gpus;
    if (last && gpus) next_y = bottom - child.height;
    place(child, next_x, next_y, child.shape != Shape::cores ? inner_width : child.width,
          fills ? bottom - next_y : child.height);
    next_y += child.height > 0 ? child.height + gap : 0;
  }
}

class Picture {
public:
  explicit Picture(const Topology &topology) : topology_(topology), gpus_(topology.gpus.size()) {}

  std::string draw(const std::string &host) {
    Box machine = Builder(topology_).machine();
    measure(machine);
    place(machine, margin, 62, machine.width, machine.height);
    for (const Box &inside : machine.inside) box(inside);
    machine.height = links(machine.y + machine.height) - machine.y;
    const std::string over_machine = std::exchange(body_, {});
    rect(machine.x, machine.y, machine.width, machine.height, style(Shape::machine));
    body_ += over_machine;

    const std::string about =
        fmt::format("{} (source: {})", topology_summary(topology_), source_name(topology_.source));
    const double width = std::max({machine.width, text_width(about, 12), text_width(host, 18)}) + 2 * margin;
    const double height = legend(machine.y + machine.height + 16, width - margin) + margin;
    text(margin, 32, 18, "start", host, " font-weight='bold'");
    text(margin, 50, 12, "start", about);
    return fmt::format("<?xml version='1.0' encoding='UTF-8'?>\n"
                       "<svg xmlns='http://www.w3.org/2000/svg' version='1.1' width='{0:.0f}' height='{1:.0f}' "
                       "viewBox='0 0 {0:.0f} {1:.0f}' role='img' "
                       "font-family='Verdana, DejaVu Sans, Helvetica, Arial, sans-serif'>\n"
                       "<title>{2}</title>\n<desc>{3}</desc>\n"
                       "<rect width='100%' height='100%' fill='#ffffff'/>\n{4}</svg>\n",
                       width, height, xml_escaped("Topology of " + host), xml_escaped(about), body_);
  }

private:
  template <class... Values> void add(fmt::format_string<Values...> format, Values &&...values) {
    body_ += fmt::format(format, std::forward<Values>(values)...) + "\n";
  }

  void text(double x, double y, double size, const char *anchor, const std::string &what, const char *more = "") {
    add("<text x='{:.1f}' y='{:.1f}' font-size='{}' text-anchor='{}' fill='#1b1f24'{}>{}</text>", x, y, size, anchor,
        more, xml_escaped(what));
  }

  void rect(double x, double y, double width, double height, const Style &look, const std::string &tip = "") {
    add("<rect x='{:.1f}' y='{:.1f}' width='{:.1f}' height='{:.1f}' rx='{}' fill='{}' stroke='{}'>{}</rect>", x, y,
        width, height, look.radius, look.fill, look.stroke,
        tip.empty() ? "" : "<title>" + xml_escaped(tip) + "</title>");
  }

  void box(const Box &box) {
    Style look = style(box.shape);
    if (box.fill) look.fill = box.fill;
    if (box.shape == Shape::cores) {
      for (int i = 0; i < box.number; ++i)
        rect(box.x + core_size * (i % cores_in_row), box.y + core_size * (i / cores_in_row), 8, 8, look);
    } else if (box.shape != Shape::none) {
      rect(box.x, box.y, box.width, box.height, look, box.tip);
    }
    const double middle = box.x + box.width / 2;
    if (box.shape == Shape::gpu) {
      gpus_[box.number] = &box;
      for (std::size_t i = 0; i < box.text.size(); ++i)
        text(middle, box.y + 18 + 15 * static_cast<double>(i), i == 0 ? 12 : 10, "middle", box.text[i],
             i == 0 ? " font-weight='bold'" : "");
    } else if (box.shape == Shape::nic || box.shape == Shape::disk) {
      text(middle, box.y + 15, 10.5, "middle", box.text[0]);
    } else if (!box.text.empty()) {
      text(box.x + pad, box.y + 16, box.shape == Shape::domain ? 11 : 12, "start", box.text[0],
           box.shape == Shape::socket ? " font-weight='bold'" : "");
    }
    for (const Box &child : box.inside) this->box(child);
  }

  // Draws the links below `top`, returns where they end. Everyone linked to everyone alike is NVSwitch: one bar.
  double links(double top) {
    const std::vector<Link> &all = topology_.links;
    std::set<int> linked;
    for (const Link &link : all) linked.insert({link.first, link.second});
    const bool alike = std::all_of(all.begin(), all.end(), [&](const Link &l) { return l.count == all[0].count; });
    if (all.empty()) return top;
    if (linked.size() > 4 && alike && all.size() == linked.size() * (linked.size() - 1) / 2)
      return bar(linked, all[0].count, top);
    return arcs(top);
  }

  double bar(const std::set<int> &group, int count, double top) {
    double left = 1e9, right = 0;
    for (int gpu : group) {
      const Box &box = *gpus_[gpu];
      left = std::min(left, box.x), right = std::max(right, box.x + box.width);
      add("<path d='M{0:.1f} {1:.1f}V{2:.1f}' stroke='{3}' stroke-width='3' fill='none'/>", box.x + box.width / 2,
          box.y + box.height, top + 14, link_colours[2]);
    }
    rect(left, top + 14, right - left, 28, {"#dff3d8", link_colours[2], 5});
    text((left + right) / 2, top + 33, 13, "middle",
         fmt::format("NVSwitch: {} NVLink{} between any two of {} GPUs (NV{})", count, count == 1 ? "" : "s",
                     group.size(), count));
    return top + 42 + pad;
  }

  // Where a link leaves a GPU: nearer partners further out, so that links of one GPU do not cross each other.
  double pin(int gpu, int partner) const {
    const Box &box = *gpus_[gpu];
    const auto rank = [&](int other) { return std::make_pair(gpus_[other]->x > box.x, -gpus_[other]->x); };
    int links = 0, before = 0;
    for (const Link &link : topology_.links) {
      if (link.first != gpu && link.second != gpu) continue;
      ++links;
      if (rank(link.first == gpu ? link.second : link.first) < rank(partner)) ++before;
    }
    return box.x + box.width * (before + 1) / (links + 1);
  }

  double arcs(double top) {
    double deepest = 0;
    std::string lines, boxes = std::exchange(body_, {});
    for (const Link &link : topology_.links) {
      const double from = pin(link.first, link.second), to = pin(link.second, link.first);
      const double depth = std::clamp(0.32 * std::abs(to - from), 24.0, 220.0), middle = (from + to) / 2;
      const Box &first = *gpus_[link.first], &second = *gpus_[link.second];
      const char *colour = link_colours[link.first % link_colours.size()];
      lines += fmt::format("<path d='M{0:.1f} {1:.1f}V{2:.1f}C{0:.1f} {3:.1f} {4:.1f} {3:.1f} {4:.1f} {2:.1f}V{5:.1f}' "
                           "fill='none' stroke='{6}' stroke-width='{7}'/>\n",
                           from, first.y + first.height, top, top + depth * 4 / 3, to, second.y + second.height, colour,
                           std::min(1 + link.count, 4));
      rect(middle - 16, top + depth - 8, 32, 16, {"#ffffff", colour, 8});
      text(middle, top + depth + 4, 10, "middle", fmt::format("NV{}", link.count));
      deepest = std::max(deepest, depth);
    }
    body_ = boxes + lines + body_; // no line across a number
    return top + deepest + 8 + pad;
  }

  double legend(double top, double right) {
    double x = margin, y = top;
    const auto entry = [&](bool wanted, const Style &look, double size, const char *what) {
      if (!wanted) return;
      const double width = 24 + text_width(what, 11);
      if (x > margin && x + width > right) x = margin, y += 20;
      rect(x, y + (14 - size) / 2, 14, size, look);
      text(x + 20, y + 11, 11, "start", what);
      x += width + 12;
    };
    entry(true, style(Shape::cores), 14, "core");
    entry(!topology_.gpus.empty(), style(Shape::gpu), 14, "GPU");
    entry(!topology_.nics.empty(), style(Shape::nic), 14, "NIC");
    entry(!topology_.disks.empty(), style(Shape::disk), 14, "disk");
    entry(!topology_.domains.empty(), {domain_colours[0], "#8c959f", 3}, 14, "domain (a colour each)");
    entry(!topology_.links.empty(), {link_colours[0], "none", 0}, 3, "NVLinks (NV#: how many)");
    return y + 14;
  }

  const Topology &topology_;
  std::vector<const Box *> gpus_;
  std::string body_;
};

} // namespace

std::string topology_svg(const Topology &topology, const std::string &host) { return Picture(topology).draw(host); }

} // namespace harmony
