// Messages of floats over TCP, between workers and parameter servers. Every call ends within its time limit; whatever
// goes wrong is a std::runtime_error that names the peer. For one cluster of like machines: numbers go in the host's
// own byte order.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace ps_training {

enum class Message : std::uint32_t { hello = 1, pull, parameters, push, done };

class Connection {
public:
  Connection(int socket, std::string peer);
  Connection(Connection &&other) noexcept;
  Connection(const Connection &) = delete;
  ~Connection();

  void call(const std::string &peer) { peer_ = peer; } // once it is known who it is

  void send(Message type, std::uint32_t number, const std::vector<float> &values = {});
  // The message that has to come now: of this type, number and length.
  std::vector<float> receive(Message type, std::uint32_t number, std::size_t length);
  // As receive, but the number is for the peer to say.
  std::uint32_t receive_number(Message type);

private:
  std::vector<float> receive_any(Message type, std::size_t length, std::uint32_t &number);
  void read_all(void *data, std::size_t size);

  int socket_;
  std::string peer_;
};

// address is host:port or [host]:port. connect_to tries again until the peer listens.
Connection connect_to(const std::string &address);

// Accepts `count` connections on the address.
std::vector<Connection> accept_on(const std::string &address, int count);

} // namespace ps_training
