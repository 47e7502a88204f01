// Reports the state of the process to a service manager such as systemd: sends datagrams to a Unix socket
// (sd_notify(3)), which Node.js cannot do.
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <string>

#include "../kernel/common/file.h"
#include "bindings.h"
#include "call_guard.h"

namespace gannet::addon {
namespace {

// Not inherited by child processes, and without a signal if nobody receives. macOS has neither flag, nor such a service
// manager.
#if defined(SOCK_CLOEXEC) && defined(MSG_NOSIGNAL)
constexpr int kSocketType = SOCK_DGRAM | SOCK_CLOEXEC;
constexpr int kSendFlags = MSG_DONTWAIT | MSG_NOSIGNAL;
#else
constexpr int kSocketType = SOCK_DGRAM;
constexpr int kSendFlags = MSG_DONTWAIT;
#endif

class DatagramSocket {
 public:
  DatagramSocket() : descriptor_(socket(AF_UNIX, kSocketType, 0)) {
    if (descriptor_ < 0) ThrowErrno(errno, "cannot make a socket for the service manager");
  }
  ~DatagramSocket() { close(descriptor_); }
  DatagramSocket(const DatagramSocket&) = delete;
  DatagramSocket& operator=(const DatagramSocket&) = delete;

  // Returns false if the receiver has no room now. A leading @ means Linux's abstract namespace.
  bool Send(const std::string& name, const std::string& text) const {
    sockaddr_un address{};
    if (name.empty() || name.size() >= sizeof(address.sun_path)) {
      throw Error(ErrorCode::kInvalidArgument, "the name of the socket has to have 1 to " + std::to_string(sizeof(address.sun_path) - 1) + " bytes");
    }
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, name.data(), name.size());
    if (name[0] == '@') address.sun_path[0] = '\0';
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    ssize_t sent = 0;
    do {
      sent = sendto(descriptor_, text.data(), text.size(), kSendFlags, reinterpret_cast<const sockaddr*>(&address), length);
    } while (sent < 0 && errno == EINTR);
    if (sent >= 0) return true;
    if (errno == EAGAIN || errno == EWOULDBLOCK || errno == ENOBUFS) return false;
    ThrowErrno(errno, "cannot send to the socket " + name);
  }

 private:
  int descriptor_;
};

Napi::Value NotifyServiceManagerCall(const Napi::CallbackInfo& info) {
  const std::string name = ReadPath(info[0], "socket");
  const std::string text = ReadString(info[1], "text");
  return Napi::Boolean::New(info.Env(), DatagramSocket().Send(name, text));
}

}  // namespace

void DefineServiceManager(Napi::Object exports) { Define<NotifyServiceManagerCall>(exports, "notifyServiceManager"); }

}  // namespace gannet::addon
