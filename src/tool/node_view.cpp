#include "src/tool/node_view.h"

#include "plugin/client/controller.h"
#include "plugin/client/node_extra.h"
#include "src/publish/compact.h"
#include "src/publish/extra_field.h"
#include "src/tool/ask_engine.h"

#include <fmt/format.h>
#include <json/json.h>

#include <sstream>

namespace harmony {
namespace {

// The source as the engine named it; a source we have no name for is shown as published.
TopologySource source_from(const std::string &name) {
  for (TopologySource source : {TopologySource::published, TopologySource::gres_conf, TopologySource::none})
    if (name == source_name(source)) return source;
  return TopologySource::published;
}

Discovery from_engine(const std::string &text) {
  Discovery view;
  Json::Value reply;
  std::string problem;
  std::istringstream stream(text);
  if (!Json::parseFromStream(Json::CharReaderBuilder(), stream, &reply, &problem) || !reply.isObject())
    view.problem = "the engine's answer cannot be read";
  else if (reply.isMember("problem"))
    view.problem = reply["problem"].asString();
  if (!view.problem.empty()) return view;
  CompactResult parsed = parse_compact(reply["topology"].asString());
  view.topology = std::move(parsed.topology);
  view.topology.source = source_from(reply["source"].asString());
  view.problem = parsed.problem;
  for (const Json::Value &level : reply["levels"]) view.notes.push_back(level.asString());
  return view;
}

Discovery as_published(const std::string &node, const std::string &why) {
  Discovery view;
  const NodeExtra field = read_node_extra(node);
  view.problem = field.problem;
  if (!view.problem.empty()) return view;
  const std::string_view word = topology_word(field.extra);
  view.notes.push_back(fmt::format("{}: this is what the node published, which slurmctld may not use", why));
  if (word.empty()) {
    view.problem =
        fmt::format("node {} has published nothing; what slurmctld falls back to is seen on its own host", node);
    return view;
  }
  CompactResult parsed = parse_compact(word);
  if (!parsed.problem.empty())
    view.problem = fmt::format("node {}: refused at position {}: {}", node, parsed.position, parsed.problem);
  view.topology = std::move(parsed.topology);
  return view;
}

} // namespace

Discovery view_node(const std::string &node) {
  const ControllerReport report = ask_controller();
  if (!report.answered) return {{}, fmt::format("slurmctld does not answer: {}", report.problem), {}};
  const EngineAnswer answer = ask_engine(report, "topology " + node);
  if (!answer.problem.empty()) return as_published(node, answer.problem);
  Discovery view = from_engine(answer.text);
  if (!view.problem.empty()) view.problem = fmt::format("node {}: {}", node, view.problem);
  return view;
}

} // namespace harmony
