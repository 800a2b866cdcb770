#include "src/store/sha256.h"

#include <sodium.h>

namespace harmony {

// sodium_init() is not called: it is for random numbers and for choosing among implementations, of which SHA-256 has
// one, and slurmctld need not open /dev/urandom for it.
std::string sha256_hex(std::string_view bytes) {
  unsigned char digest[crypto_hash_sha256_BYTES];
  crypto_hash_sha256(digest, reinterpret_cast<const unsigned char *>(bytes.data()), bytes.size());
  char hex[2 * sizeof digest + 1];
  return sodium_bin2hex(hex, sizeof hex, digest, sizeof digest);
}

} // namespace harmony
