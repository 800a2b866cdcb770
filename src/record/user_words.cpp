#include "src/record/user_words.h"

#include "src/store/descriptor.h"

#include <sodium.h>

#include <cerrno>
#include <fcntl.h>
#include <pwd.h>
#include <unistd.h>
#include <vector>

namespace harmony {
namespace {

constexpr std::size_t secret_size = crypto_generichash_KEYBYTES;
constexpr std::size_t word_bytes = 16;

std::string read_secret(const std::string &path) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  if (!file.is_open()) return "";
  std::string secret(secret_size, '\0');
  return read(file.get(), secret.data(), secret.size()) == static_cast<ssize_t>(secret_size) ? secret : "";
}

// Whole or not at all: another process must not read half of it.
bool make_secret(const std::string &path) {
  const std::string unfinished = path + "." + std::to_string(getpid());
  std::string secret(secret_size, '\0');
  randombytes_buf(secret.data(), secret.size());
  bool written = false;
  {
    const Descriptor file(open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
    written = file.is_open() &&
              write(file.get(), secret.data(), secret.size()) == static_cast<ssize_t>(secret.size()) &&
              fsync(file.get()) == 0;
  }
  const bool made = written && (link(unfinished.c_str(), path.c_str()) == 0 || errno == EEXIST);
  unlink(unfinished.c_str());
  return made;
}

std::string name_of(uid_t user) {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd *found = nullptr;
  getpwuid_r(user, &entry, buffer.data(), buffer.size(), &found);
  return found ? found->pw_name : std::to_string(user);
}

std::string keyed_word(uid_t user, const std::string &secret) {
  const std::string id = std::to_string(user);
  unsigned char hash[word_bytes];
  crypto_generichash(hash, sizeof hash, reinterpret_cast<const unsigned char *>(id.data()), id.size(),
                     reinterpret_cast<const unsigned char *>(secret.data()), secret.size());
  char word[2 * word_bytes + 1];
  return sodium_bin2hex(word, sizeof word, hash, sizeof hash);
}

} // namespace

bool UserWords::have_secret(const std::string &directory) {
  if (directory != directory_) {
    directory_ = directory;
    secret_.clear();
  }
  if (!secret_.empty()) return true;
  const std::string path = directory + "/" + users_secret_file;
  secret_ = read_secret(path);
  if (secret_.empty() && sodium_init() >= 0 && make_secret(path)) secret_ = read_secret(path);
  return !secret_.empty();
}

std::string UserWords::of(uid_t user, DatasetUsers how, const std::string &directory) {
  switch (how) {
  case DatasetUsers::none: return "";
  case DatasetUsers::hash: return have_secret(directory) ? keyed_word(user, secret_) : "";
  case DatasetUsers::name: break;
  }
  std::string &name = names_[user];
  if (name.empty()) name = name_of(user);
  return name;
}

} // namespace harmony
