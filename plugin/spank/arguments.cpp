#include "plugin/spank/arguments.h"

#include <cstdlib>
#include <cstring>

namespace harmony {
namespace {

constexpr long longest_every = 3600;

bool read_observe(const char *text, SpankArguments &arguments) {
  arguments.observe = true;
  if (strcmp(text, "all") == 0) {
    arguments.observe_all = true;
    return true;
  }
  if (text[0] < '1' || text[0] > '9') return false;
  char *end = nullptr;
  const long seconds = strtol(text, &end, 10);
  arguments.observe_every = static_cast<int>(seconds);
  return *end == '\0' && seconds <= longest_every;
}

bool read_one(const char *word, SpankArguments &arguments) {
  if (strncmp(word, "observe=", 8) == 0) return read_observe(word + 8, arguments);
  if (strcmp(word, "observe") == 0) {
    arguments.observe = true;
  } else if (strcmp(word, "nopublish") == 0) {
    arguments.publish = false;
  } else if (strncmp(word, "xml=", 4) == 0) {
    arguments.option = "--xml";
    arguments.value = word + 4;
  } else if (strncmp(word, "synthetic=", 10) == 0) {
    arguments.option = "--synthetic";
    arguments.value = word + 10;
  } else {
    return false;
  }
  return true;
}

} // namespace

SpankArguments read_spank_arguments(int count, char **words) {
  SpankArguments arguments;
  for (int i = 0; i < count; ++i) {
    if (read_one(words[i], arguments)) continue;
    arguments = SpankArguments();
    arguments.publish = false;
    arguments.unknown = words[i];
    break;
  }
  return arguments;
}

} // namespace harmony
