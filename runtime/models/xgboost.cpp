#include "runtime/models/xgboost.h"

#include <new>
#include <stdexcept>

namespace mr {

Xgboost::Xgboost() : SharedLibrary("libxgboost.so.0", "trees are grown by XGBoost's library") {
  int major = 0, minor = 0, patch = 0;
  version_(&major, &minor, &patch);
  // Accepts version 1.7 of XGBoost only: in other versions, objectives, defaults and the format of saved trees may
  // differ.
  if (major != 1 || minor != 7)
    throw std::runtime_error("XGBoost's library has version " + version() + ", expected 1.7 as in Debian 12");
  check(global_(R"({"verbosity": 0})"));
}

std::string Xgboost::version() const {
  int major = 0, minor = 0, patch = 0;
  version_(&major, &minor, &patch);
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

void Xgboost::check(int result) const {
  if (result == 0) return;
  std::string text = last_error_();
  if (text.find("std::bad_alloc") != std::string::npos) throw std::bad_alloc();
  // XGBoost's message has the form "[12:00:00] file.cc:10: what", a line break, "Stack trace: ...". The time and the
  // stack trace are cut off.
  if (const size_t end = text.find("Stack trace:"); end != std::string::npos) text.erase(end);
  if (const size_t stamp = text.find("] "); stamp != std::string::npos && text[0] == '[') text.erase(0, stamp + 2);
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  throw std::runtime_error("XGBoost: " + text);
}

const Xgboost& xgboost() {
  static const Xgboost library;
  return library;
}

TreeMatrix::~TreeMatrix() {
  if (handle != nullptr) xgboost().matrix_free(handle);
}

TreeBooster::~TreeBooster() {
  if (handle != nullptr) xgboost().free(handle);
}

}  // namespace mr
