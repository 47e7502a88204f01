// Makes load at a given rate whether answers come or not (an open loop): requests are due at random times (a seeded Poisson
// process) and go out over any free connection, and a latency counts from the time at which its request was due. So a service that
// stalls is charged for all requests due meanwhile, which a closed loop omits.
//
//   open_loop <IPv4 address> <port> <key> <file of requests> <seconds> <requests a second> <connections> <seed> [most requests, 0: any] [file of latencies]
//
// A line of the file is a path to GET, or `POST <path> <body>`. With 0 requests per second it is a closed loop: each connection sends
// the next request when the last one is answered, and latencies count from then. It also ends after `most requests`.
//
// Prints one JSON object: requests per second and milliseconds (p50, p99, p99.9, longest) of all and of each kind, failed requests, the 99th percentile
// of `sent late`, the time by which a request went out late although a connection was free, which is the generator's own
// share of the latencies, and its processor time. The file of latencies gets a line per answered request: its latency, and
// when it was due by the system's monotonic clock, both in milliseconds.
// It is written in C++ because it shares the processors with the measured service.
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace {

constexpr double kAnswerTimeoutSeconds = 10;
constexpr double kStartDelaySeconds = 0.1;
constexpr size_t kReadBytes = 1 << 16;

[[noreturn]] void Fail(const char* what) {
  std::fprintf(stderr, "open_loop: %s: %s\n", what, std::strerror(errno));
  std::exit(1);
}

double Now() {
  timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// Makes this thread run sooner, as a remote client would not wait for the processors that the service keeps busy. On Linux from
// 6.12 on, a thread with a short slice runs before others when it wakes; older versions ignore it.
void AskToRunSoon() {
  // struct sched_attr of the kernel, which glibc has only since 2.41.
  struct {
    uint32_t size = sizeof(*this);
    uint32_t policy = SCHED_OTHER;
    uint64_t flags = 0;
    int32_t nice = 0;
    uint32_t priority = 0;
    uint64_t runtime = 100'000;  // ns; the shortest slice there is.
    uint64_t deadline = 0;
    uint64_t period = 0;
  } attributes;
  syscall(SYS_sched_setattr, 0, &attributes, 0);
  prctl(PR_SET_TIMERSLACK, 1UL);
}

// The kind of a request, by which latencies are reported.
enum Kind { kGet, kPost };

struct Request {
  double due = 0;
  size_t path = 0;
};

// A keep-alive connection with at most one request in flight.
struct Connection {
  int socket = -1;
  bool is_busy = false;
  Request request;
  std::string received;
};

enum class Answer { kUnfinished, kOk, kFailed };

Answer ReadAnswer(std::string_view received) {
  const size_t head_end = received.find("\r\n\r\n");
  if (head_end == std::string_view::npos) return Answer::kUnfinished;
  const std::string_view head = received.substr(0, head_end + 2);
  size_t length = 0;
  for (const std::string_view name : {"Content-Length: ", "content-length: "}) {
    const size_t at = head.find(name);
    if (at == std::string_view::npos) continue;
    std::from_chars(head.data() + at + name.size(), head.data() + head.size(), length);
  }
  if (received.size() < head_end + 4 + length) return Answer::kUnfinished;
  return received.starts_with("HTTP/1.1 20") ? Answer::kOk : Answer::kFailed;
}

std::string RequestOf(const std::string& line, const std::string& host, const char* key) {
  static constexpr std::string_view kPost = "POST ";
  const std::string heads = " HTTP/1.1\r\nhost: " + host + "\r\nx-api-key: " + key + "\r\n";
  if (!line.starts_with(kPost)) return "GET " + line + heads + "\r\n";
  const size_t path_end = line.find(' ', kPost.size());
  if (path_end == std::string::npos) return {};
  const std::string body = line.substr(path_end + 1);
  return line.substr(0, path_end) + heads + "content-type: application/json\r\ncontent-length: " + std::to_string(body.size()) +
         "\r\n\r\n" + body;
}

class Load {
 public:
  Load(const char* address, const char* port, const char* key, const char* paths, double rate, double seconds, size_t connections,
       uint64_t seed, size_t requests_max)
      : rate_(rate), seconds_(seconds), requests_max_(requests_max), random_(seed), connections_(connections) {
    ReadPaths(paths, std::string(address) + ":" + port, key);
    poll_ = epoll_create1(0);
    if (poll_ < 0) Fail("epoll_create1");
    for (Connection& connection : connections_) Open(connection, address, port);
  }

  void Run() {
    const double begin = Now() + kStartDelaySeconds;
    const double end = begin + seconds_;
    double due = IsClosed() ? end : begin;
    std::exponential_distribution<double> gap(IsClosed() ? 1 : rate_);
    std::vector<epoll_event> events(connections_.size());
    const double sent_from = IsClosed() ? Now() : begin;
    if (IsClosed()) {
      closed_until_ = end;
      while (!free_.empty()) Send({Now(), NextPath()});
    }
    for (;;) {
      double now = Now();
      for (; due <= now && due < end; due += gap(random_)) {
        const Request request{due, NextPath()};
        if (free_.empty()) {
          waiting_.push_back(request);
        } else {
          late_.push_back(now - due);
          Send(request);
        }
      }
      if (due >= end && ((under_way_ == 0 && waiting_.empty()) || now > end + kAnswerTimeoutSeconds)) break;
      const double wait = due < end ? std::max(0.0, due - Now()) : 0.1;
      const timespec timeout{static_cast<time_t>(wait), static_cast<long>((wait - std::floor(wait)) * 1e9)};
      const int ready = epoll_pwait2(poll_, events.data(), static_cast<int>(events.size()), &timeout, nullptr);
      if (ready < 0 && errno != EINTR) Fail("epoll_pwait2");
      for (int i = 0; i < ready; ++i) Receive(*static_cast<Connection*>(events[static_cast<size_t>(i)].data.ptr));
    }
    failed_ += under_way_ + waiting_.size();
    if (IsClosed()) seconds_ = Now() - sent_from;
  }

  void Print() {
    std::vector<double> all = All();
    std::printf("{%s,\"seconds\":%.3f,\"failed\":%zu,\"sentLateP99\":%.4f,\"processorMs\":%.3f,\"gets\":{%s},\"posts\":{%s}}\n", Figures(all).c_str(),
                seconds_, failed_, Quantile(late_, 0.99), ProcessorMs(), Figures(latencies_[kGet]).c_str(), Figures(latencies_[kPost]).c_str());
  }

  void Write(const char* file) const {
    std::ofstream out(file);
    out.precision(12);
    for (const auto& [due, latency] : each_) out << latency * 1000 << ' ' << due * 1000 << '\n';
    if (!out.flush()) Fail(file);
  }

 private:
  bool IsClosed() const { return rate_ == 0; }
  size_t NextPath() { return next_path_++ % requests_.size(); }

  void ReadPaths(const char* file, const std::string& host, const char* key) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) requests_.push_back(RequestOf(line, host, key));
    if (requests_.empty() || std::ranges::any_of(requests_, &std::string::empty)) Fail(file);
  }

  void Open(Connection& connection, const char* address, const char* port) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<uint16_t>(std::atoi(port)));
    if (inet_pton(AF_INET, address, &to.sin_addr) != 1) Fail("not an IPv4 address");
    connection.socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connection.socket < 0 || connect(connection.socket, reinterpret_cast<sockaddr*>(&to), sizeof(to)) < 0) Fail("connect");
    const int on = 1;
    setsockopt(connection.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    epoll_event event{};
    event.events = EPOLLIN;
    event.data.ptr = &connection;
    if (epoll_ctl(poll_, EPOLL_CTL_ADD, connection.socket, &event) < 0) Fail("epoll_ctl");
    free_.push_back(&connection);
  }

  // Sends a request as a whole, for which there is always room: it has some hundred bytes and is the only one in flight.
  void Send(const Request& request) {
    Connection& connection = *free_.back();
    free_.pop_back();
    connection.request = request;
    connection.is_busy = true;
    connection.received.clear();
    const std::string& bytes = requests_[request.path];
    if (send(connection.socket, bytes.data(), bytes.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(bytes.size())) Fail("send");
    ++under_way_;
  }

  void Receive(Connection& connection) {
    static char buffer[kReadBytes];
    const ssize_t count = recv(connection.socket, buffer, sizeof(buffer), 0);
    if (count <= 0) {
      // The service closed the connection: its request has failed, and it is not used again.
      epoll_ctl(poll_, EPOLL_CTL_DEL, connection.socket, nullptr);
      if (connection.is_busy) {
        --under_way_;
        ++failed_;
        return;
      }
      std::erase(free_, &connection);
      return;
    }
    connection.received.append(buffer, static_cast<size_t>(count));
    const Answer answer = ReadAnswer(connection.received);
    if (answer == Answer::kUnfinished || !connection.is_busy) return;
    if (answer == Answer::kOk)
      Keep(requests_[connection.request.path].starts_with("POST ") ? kPost : kGet, connection.request.due, Now());
    else
      ++failed_;
    connection.is_busy = false;
    --under_way_;
    free_.push_back(&connection);
    if (const double now = Now(); now < closed_until_ && next_path_ < requests_max_) Send({now, NextPath()});
    if (waiting_.empty()) return;
    Send(waiting_.front());
    waiting_.pop_front();
  }

  void Keep(size_t kind, double due, double now) {
    latencies_[kind].push_back(now - due);
    each_.push_back({due, now - due});
  }

  std::vector<double> All() const {
    std::vector<double> all = latencies_[kGet];
    all.insert(all.end(), latencies_[kPost].begin(), latencies_[kPost].end());
    return all;
  }

  static double ProcessorMs() {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    const auto ms = [](const timeval& time) { return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_usec) / 1e3; };
    return ms(usage.ru_utime) + ms(usage.ru_stime);
  }

  // Returns members of a JSON object.
  std::string Figures(std::vector<double>& latencies) const {
    char text[200];
    std::snprintf(text, sizeof(text), "\"requestsPerSecond\":%.3f,\"p50\":%.4f,\"p99\":%.4f,\"p999\":%.4f,\"max\":%.4f",
                  static_cast<double>(latencies.size()) / seconds_, Quantile(latencies, 0.5), Quantile(latencies, 0.99),
                  Quantile(latencies, 0.999), Quantile(latencies, 1));
    return text;
  }

  static double Quantile(std::vector<double>& seconds, double share) {
    if (seconds.empty()) return 0;
    std::sort(seconds.begin(), seconds.end());
    const auto at = static_cast<size_t>(share * static_cast<double>(seconds.size()));
    return seconds[std::min(at, seconds.size() - 1)] * 1000;
  }

  double rate_;
  double seconds_;
  size_t requests_max_;
  // End of sending in a closed loop.
  double closed_until_ = 0;
  std::mt19937_64 random_;
  std::vector<Connection> connections_;
  std::vector<std::string> requests_;
  std::vector<Connection*> free_;
  std::deque<Request> waiting_;
  std::array<std::vector<double>, 2> latencies_;
  // Due time and latency of each answered request.
  std::vector<std::pair<double, double>> each_;
  std::vector<double> late_;
  size_t next_path_ = 0;
  size_t under_way_ = 0;
  size_t failed_ = 0;
  int poll_ = -1;
};

}  // namespace

int main(int argc, char** argv) {
  if (argc < 9 || argc > 11) {
    std::fprintf(stderr, "usage: open_loop <address> <port> <key> <paths> <seconds> <requests/s> <connections> <seed> [most requests] [latencies]\n");
    return 2;
  }
  AskToRunSoon();
  const long long requests_max = argc > 9 ? std::atoll(argv[9]) : 0;
  Load load(argv[1], argv[2], argv[3], argv[4], std::atof(argv[6]), std::atof(argv[5]), static_cast<size_t>(std::atol(argv[7])),
            static_cast<uint64_t>(std::atoll(argv[8])), requests_max > 0 ? static_cast<size_t>(requests_max) : SIZE_MAX);
  load.Run();
  load.Print();
  if (argc > 10) load.Write(argv[10]);
}
