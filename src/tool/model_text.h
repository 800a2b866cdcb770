// What `harmony model` prints: for people, and as JSON for programs.
#pragma once

#include "src/store/model_store.h"

#include <string>
#include <vector>

namespace harmony {

// `shipped`: the model that is in service as long as no version is, and its directory.
std::string listing_text(const ModelListing &listing, const ModelEntry &shipped);
std::string listing_json(const std::string &store, const ModelListing &listing, const std::string &shipped_directory,
                         const ModelEntry &shipped);

std::string model_text(const std::string &store, const ModelEntry &entry, bool in_use);
std::string model_json(const std::string &store, const ModelEntry &entry, bool in_use);

std::string verification_text(const ModelReading &reading);
std::string verification_json(const ModelReading &reading);

// The columns of the schema for a model that knows these types, with what they mean.
std::string features_text(const std::vector<std::string> &types);
std::string features_json(const std::vector<std::string> &types);

} // namespace harmony
