// What stands behind harmony_spank.so in plugstack.conf.
#pragma once

namespace harmony {

struct SpankArguments {
  bool publish = true;
  const char *option = nullptr; // --xml or --synthetic
  const char *value = nullptr;
  bool observe = false;
  bool observe_all = false; // jobs without any option of ours too
  int observe_every = 10;   // seconds

  // The first that we do not know, and then nothing of them counts. Null: all are known.
  const char *unknown = nullptr;
};

// The values point into `words`.
SpankArguments read_spank_arguments(int count, char **words);

} // namespace harmony
