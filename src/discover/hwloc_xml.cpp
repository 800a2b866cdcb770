#include "src/discover/hwloc_xml.h"

#include "src/discover/hwloc_handles.h"
#include "src/discover/hwloc_object_writer.h"
#include "src/discover/hwloc_distances_writer.h"

#include <fmt/format.h>
#include <libxml/xmlreader.h>

#include <memory>
#include <vector>

namespace harmony {
namespace {

constexpr int deepest = 100; // elements within each other; real machines stay below 25

struct ReaderFree {
  void operator()(xmlTextReaderPtr reader) const { xmlFreeTextReader(reader); }
};

std::string one_line(std::string text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  for (char &c : text)
    if (c < ' ' || c > '~') c = '?';
  return text.substr(0, 200);
}

class Cleaner {
public:
  CleanXml run(const std::string &text) {
    if (text.empty()) return {"", "the file is empty"};
    const std::size_t first = text.find_first_not_of(" \t\r\n\xef\xbb\xbf"); // UTF-8's byte order mark may come first
    if (first == std::string::npos || text[first] != '<') return {"", "not XML: it does not begin with '<'"};
    // No export has any, and they are what XML is attacked with.
    if (text.find("<!ENTITY") != std::string::npos) return {"", "declares XML entities"};
    const int options = XML_PARSE_NONET | XML_PARSE_NOCDATA;
    reader_.reset(xmlReaderForMemory(text.data(), static_cast<int>(text.size()), nullptr, nullptr, options));
    if (!reader_) return {"", "out of memory"};
    xmlTextReaderSetStructuredErrorHandler(reader_.get(), remember_error, this);
    int status = 1;
    while (problem_.empty() && (status = xmlTextReaderRead(reader_.get())) == 1) node();
    if (problem_.empty() && (status != 0 || !xml_error_.empty())) problem_ = why_unreadable(text);
    if (problem_.empty()) problem_ = objects_.finish();
    if (!problem_.empty()) return {"", problem_};
    return {"<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n"
            "<topology version=\"2.0\">\n" +
                objects_.text() + distances_.text() + "</topology>\n",
            ""};
  }

private:
  static void remember_error(void *self, xmlErrorPtr error) {
    auto *cleaner = static_cast<Cleaner *>(self);
    if (!cleaner->xml_error_.empty() || error->level < XML_ERR_ERROR) return;
    cleaner->xml_error_ =
        fmt::format("line {}: {}", error->line, one_line(error->message ? error->message : "bad XML"));
  }

  std::string why_unreadable(const std::string &text) const {
    if (!seen_topology_) return fmt::format("not XML ({})", xml_error_);
    const std::size_t last = text.find_last_not_of(" \t\r\n");
    const std::string end = "</topology>";
    const bool whole = last != std::string::npos && last + 1 >= end.size() &&
                       text.compare(last + 1 - end.size(), end.size(), end) == 0;
    return fmt::format("{} ({})", whole ? "broken XML" : "truncated: it does not end with </topology>", xml_error_);
  }

  void node() {
    const int depth = xmlTextReaderDepth(reader_.get());
    const int type = xmlTextReaderNodeType(reader_.get());
    if (skip_below_ >= 0 && depth > skip_below_) return;
    if (type == XML_READER_TYPE_ELEMENT) {
      skip_below_ = -1;
      element(depth);
    } else if (type == XML_READER_TYPE_END_ELEMENT) {
      if (skip_below_ < 0) close();
      skip_below_ = -1;
    } else if (type == XML_READER_TYPE_TEXT && !open_.empty() && open_.back() == "list") {
      const xmlChar *value = xmlTextReaderConstValue(reader_.get());
      distances_.content(value ? reinterpret_cast<const char *>(value) : "");
    }
  }

  void element(int depth) {
    const std::string name = reinterpret_cast<const char *>(xmlTextReaderConstName(reader_.get()));
    const bool closed = xmlTextReaderIsEmptyElement(reader_.get()) == 1;
    if (depth >= deepest) {
      problem_ = fmt::format("{} elements within each other", depth + 1);
      return;
    }
    const std::string as = open_as(name);
    if (!problem_.empty()) return problem_at_line();
    if (as.empty()) {
      if (!closed) skip_below_ = depth;
      return;
    }
    open_.push_back(as);
    if (closed) close();
  }

  // Takes the element in and says what its children are to be read as; nothing: it is left out.
  std::string open_as(const std::string &name) {
    const std::string parent = open_.empty() ? "" : open_.back();
    const Attributes attributes = read_attributes();
    if (parent.empty()) return topology(name, attributes);
    if (name == "object" && (parent == "topology" || parent == "object" || parent == "through")) {
      const Opened opened = objects_.open(attributes, format_, problem_);
      return opened == Opened::written ? "object" : opened == Opened::through ? "through" : "";
    }
    if (name == "info" && parent == "object") objects_.info(attributes);
    if (parent == "topology" && (name == "distances2" || name == "distances2hetero"))
      return distances_.open(name == "distances2hetero", attributes) ? "distances" : "";
    if (parent == "distances" && distances_.list(name)) return "list";
    return "";
  }

  std::string topology(const std::string &name, const Attributes &attributes) {
    if (name != "topology") {
      problem_ = fmt::format("no hwloc topology: the document is a <{}>", one_line(name));
      return "";
    }
    seen_topology_ = true;
    const std::string version = attributes.get("version");
    if (version.rfind("2.", 0) == 0 || version.rfind("3.", 0) == 0) {
      format_ = version[0] - '0';
      return "topology";
    }
    problem_ = version.empty() ? "hwloc XML without a version (of hwloc 1?), formats 2 and 3 can be read"
                               : fmt::format("hwloc XML format {}, formats 2 and 3 can be read", one_line(version));
    return "";
  }

  void close() {
    const std::string as = open_.back();
    open_.pop_back();
    if (as == "object") objects_.close();
    if (as == "distances") problem_ = distances_.close(objects_);
    if (!problem_.empty()) problem_at_line();
  }

  void problem_at_line() {
    problem_ = fmt::format("line {}: {}", xmlGetLineNo(xmlTextReaderCurrentNode(reader_.get())), problem_);
  }

  Attributes read_attributes() {
    Attributes attributes;
    while (xmlTextReaderMoveToNextAttribute(reader_.get()) == 1) {
      const xmlChar *value = xmlTextReaderConstValue(reader_.get());
      attributes.values[reinterpret_cast<const char *>(xmlTextReaderConstName(reader_.get()))] =
          value ? reinterpret_cast<const char *>(value) : "";
    }
    xmlTextReaderMoveToElement(reader_.get());
    return attributes;
  }

  std::unique_ptr<xmlTextReader, ReaderFree> reader_;
  std::string problem_, xml_error_;
  bool seen_topology_ = false;
  int format_ = 2;
  int skip_below_ = -1;           // what is deeper than this is left out; -1: nothing
  std::vector<std::string> open_; // elements that we are in: topology, object, through, distances, list
  ObjectWriter objects_;
  DistancesWriter distances_;
};

} // namespace

CleanXml clean_hwloc_xml(const std::string &text) { return Cleaner().run(text); }

} // namespace harmony
