// The only exception type of the kernel. It never crosses the addon boundary: the addon turns it into a JavaScript
// error with the same code.
#pragma once

#include <stdexcept>
#include <string>

namespace gannet {

enum class ErrorCode {
  kInvalidArgument,    // the caller broke a documented precondition
  kDamaged,            // bytes on disk are not what a writer of this format produces
  kUnsupportedFormat,  // a file of another format version, older or newer: intact, but this kernel cannot read it
  kIo,                 // the operating system refused (the message has errno)
  kUnreadable,         // the disk reported an error when a file was read, or the file was cut while it was mapped
  kDiskFull,           // ENOSPC, EDQUOT or EFBIG
  kLimit,              // a named limit of format.h or plan.h would be exceeded
  kStopped,            // nobody waits for the result any more (stop.h)
  kDeadline,           // the work has passed its deadline
  kSlice,              // the work takes longer than it may hold others up
};

class Error : public std::runtime_error {
 public:
  Error(ErrorCode code, const std::string& message) : std::runtime_error(message), code_(code) {}
  ErrorCode code() const noexcept { return code_; }

 private:
  ErrorCode code_;
};

}  // namespace gannet
