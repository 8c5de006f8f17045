// Lua functions for the stores of sweeps: SQL with bound parameters, and the encoding of fields (tensors as bytes,
// parameters as JSON).
#include <algorithm>
#include <cstring>
#include <ctime>
#include <map>
#include <sys/stat.h>

#include <nlohmann/json.hpp>

#include "runtime/io/files/sha256.h"
#include "runtime/io/files/text_file.h"
#include "runtime/io/formats/json.h"
#include "runtime/io/sqlite/sqlite.h"
#include "runtime/lua/bind.h"

namespace mr::io {

/// Pushes a field of a query's result as a Lua value. Templates of the binder (runtime/lua/result.h) call it for
/// columns of fields.
void push_value(lua_State* L, const Cell& cell) {
  if (const auto* const truth = std::get_if<bool>(&cell.value)) {
    lua_pushboolean(L, *truth ? 1 : 0);
  } else if (const auto* const whole = std::get_if<int64_t>(&cell.value)) {
    lua_pushinteger(L, *whole);
  } else if (const auto* const number = std::get_if<double>(&cell.value)) {
    lua_pushnumber(L, *number);
  } else if (const auto* const text = std::get_if<std::string>(&cell.value)) {
    lua_pushlstring(L, text->data(), text->size());
  } else {
    lua_pushnil(L);
  }
}

}  // namespace mr::io

namespace mr::lua {
template <>
inline constexpr const char* class_name<io::Database> = "mr.Database";
}

namespace mr {
namespace {

using Columns = std::vector<std::vector<io::Cell>>;

io::Database open_database(const std::string& path, const std::string& mode) {
  if (mode == "memory") return {};
  if (mode == "read") return {path, io::Database::read};
  if (mode == "write") return {path, io::Database::write};
  if (mode == "claim") return {path, io::Database::claim};
  throw ArgumentError("mode", "'" + mode + "', expected 'read', 'write', 'claim' or 'memory'");
}

/// Converts the Lua value on top of the stack to a field of a table.
io::Cell cell_at(lua_State* L) {
  switch (lua_type(L, -1)) {
    case LUA_TNIL:
      return {};
    case LUA_TBOOLEAN:
      return {lua_toboolean(L, -1) != 0};
    case LUA_TSTRING:
      return {lua::Arg<std::string>::get(L, lua_gettop(L))};
    case LUA_TNUMBER:
      if (lua_isinteger(L, -1) != 0) return {static_cast<int64_t>(lua_tointegerx(L, -1, nullptr))};
      return {lua_tonumberx(L, -1, nullptr)};
    default:
      throw ArgumentError("parameters",
                          std::string("a ") + lua_typename(L, lua_type(L, -1)) + " cannot be stored in a field");
  }
}

std::tuple<std::vector<std::string>, Columns, int64_t> run_sql(io::Database& database, const std::string& sql,
                                                               lua::Table given, int64_t count) {
  constexpr int64_t most = 250'000;  // SQLite's limit of parameters per statement, in Debian's build
  if (count < 0 || count > most)
    throw ArgumentError("count", std::to_string(count) + ", expected 0 to " + std::to_string(most));
  std::vector<io::Cell> parameters;
  parameters.reserve(static_cast<size_t>(count));
  if (lua_checkstack(given.L, 2) == 0) throw std::bad_alloc();
  for (int64_t i = 1; i <= count; ++i) {
    lua_rawgeti(given.L, given.index, i);
    parameters.push_back(cell_at(given.L));
    lua_settop(given.L, lua_gettop(given.L) - 1);
  }
  io::Rows rows = database.run(sql, parameters);
  const auto height = static_cast<int64_t>(rows.columns.empty() ? 0 : rows.columns.front().size());
  return {std::move(rows.names), std::move(rows.columns), height};
}

void write_ahead_of(io::Database& database) { database.write_ahead(); }
bool exclusive_of(const io::Database& database) { return database.exclusive(); }
std::optional<std::string> note_of(const io::Database& database) { return database.note(); }
void close_of(io::Database& database) { database.close(); }
bool moved_of(const io::Database& database) { return database.moved(); }
int64_t changed_of(const io::Database& database) { return database.changed(); }
int64_t last_id_of(const io::Database& database) { return database.last_id(); }

io::Cell cell_of(const std::string& name, const nlohmann::json& value) {
  if (value.is_boolean()) return {value.get<bool>()};
  // The JSON parser stores an integer beyond int64 as unsigned.
  if (value.is_number_integer() && (!value.is_number_unsigned() || value.get<uint64_t>() <= INT64_MAX))
    return {value.get<int64_t>()};
  if (value.is_number()) return {value.get<double>()};
  if (value.is_string()) return {value.get<std::string>()};
  if (value.is_null()) return {};
  throw std::runtime_error("has an " + std::string(value.type_name()) + " as " + mr::quoted(name) +
                           ", expected a number, a string or a boolean");
}

using Members = std::vector<std::pair<std::string, io::Cell>>;

/// Returns the members of a JSON object. Throws if the text is not an object.
Members members_of(const std::string& text) {
  const io::Json object = io::parse_json(text);
  if (!object.is_object()) throw std::runtime_error("is not a JSON object");
  Members out;
  for (const auto& [name, value] : object.items()) out.emplace_back(name, cell_of(name, value));
  return out;
}

/// Turns JSON objects into columns by name; a member that an object does not have is nil. Also returns for each text
/// its error, or "". A wrong text counts as an object without members.
std::tuple<std::vector<std::string>, Columns, std::vector<std::string>> json_columns(
    const std::vector<std::string>& texts) {
  std::map<std::string, std::vector<io::Cell>> columns;
  std::vector<std::string> problems(texts.size());
  for (size_t i = 0; i < texts.size(); ++i) {
    try {
      for (auto& [name, cell] : members_of(texts[i])) {
        std::vector<io::Cell>& column = columns[name];
        column.resize(texts.size());
        column[i] = std::move(cell);
      }
    } catch (const std::runtime_error& error) {
      problems[i] = error.what();
    }
  }
  std::vector<std::string> names;
  Columns found;
  for (auto& [name, column] : columns) {
    names.push_back(name);
    found.push_back(std::move(column));
  }
  return {std::move(names), std::move(found), std::move(problems)};
}

/// Returns a text for the state of a store's files, which differs after every change of them. The store is not read.
/// Returns "" if the files changed within the last two seconds: a later change could then have equal times.
std::string stamp_of_store(const std::string& path) {
  constexpr int64_t young = 2'000'000'000;
  const auto nanoseconds = [](const timespec& t) { return int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec; };
  std::string text;
  int64_t newest = 0;
  for (const char* const ending : {"", "-wal", "-journal", ".view", ".writer"}) {
    struct stat there {};
    if (stat((path + ending).c_str(), &there) != 0) continue;
    // an empty log does not count as a change: a program that only reads makes and removes one
    if (*ending == '-' && there.st_size == 0) continue;
    const int64_t changed = std::max(nanoseconds(there.st_mtim), nanoseconds(there.st_ctim));
    newest = std::max(newest, changed);
    text += std::string(ending) + " " + std::to_string(there.st_ino) + " " + std::to_string(there.st_size) + " " +
            std::to_string(changed) + "\n";
  }
  timespec now{};
  clock_gettime(CLOCK_REALTIME, &now);
  return nanoseconds(now) - newest < young ? "" : text;
}

std::string sha256_file(const std::string& path) { return io::sha256_of_file(path); }
std::string sha256_of(const std::string& bytes) { return io::sha256(bytes); }

std::string float64_bytes(const Tensor& values) {
  const std::vector<double> numbers = values.to(Dtype::float64).to_vector<double>();
  std::string bytes(numbers.size() * sizeof(double), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), numbers.data(), bytes.size());
  return bytes;
}

Tensor float64_tensor(const std::string& bytes) {
  if (bytes.size() % sizeof(double) != 0) {
    throw ArgumentError("bytes", std::to_string(bytes.size()) + " bytes, expected a multiple of 8");
  }
  std::vector<double> numbers(bytes.size() / sizeof(double));
  if (!bytes.empty()) std::memcpy(numbers.data(), bytes.data(), bytes.size());
  return Tensor::from(numbers, Device::cpu);
}

}  // namespace

using lua::once;
using lua::op;
extern const lua::OpTable store_functions{
    lua::OpTable::functions,
    nullptr,
    {
        op<&open_database>("open_database", "path, mode",
                           "Opens an SQLite database to 'read' or to 'write' (creates it), or creates one in 'memory'. "
                           "'claim' takes the locks for writing but does not change the file before `write_ahead`."),
        op<&stamp_of_store>("store_stamp", "path",
                            "Text that names the state of a store's files and differs after every change; '' if they "
                            "changed within two seconds."),
        op<&json_columns>("json_columns", "texts",
                          "Turns JSON objects into columns: names, values by name, and for each text its error or ''."),
        op<&sha256_of>("sha256", "bytes", "SHA-256 of a string, in hexadecimal."),
        op<&sha256_file>("sha256_file", "path", "SHA-256 of a file, in hexadecimal."),
        op<&float64_bytes>("float64_bytes", "values", "The numbers of a tensor as 8 bytes each."),
        op<&float64_tensor>("float64_tensor", "bytes", "A tensor from the bytes of float64_bytes."),
    }};
extern const lua::OpTable store_methods{
    lua::OpTable::methods,
    &lua::push_metatable<io::Database>,
    {
        once<&run_sql>(
            "run", "database, sql, parameters, count",
            "Runs one statement with `count` parameters. Returns names of columns, columns, and the number of rows."),
        once<&write_ahead_of>("write_ahead", "database",
                              "Turns 'claim' into 'write': switches to the write-ahead log."),
        op<&exclusive_of>("exclusive", "database",
                          "True if no other process can read the file, so that readers need a copy."),
        op<&note_of>("note", "database", "If a copy is read instead of the file: which one and why; else nil."),
        op<&close_of>("close", "database", "Closes the file; closing again does nothing."),
        op<&moved_of>("moved", "database", "True if the file was renamed, removed or replaced since it was opened."),
        op<&changed_of>("changed", "database", "Number of rows that the last statement changed."),
        op<&last_id_of>("last_id", "database", "Id of the last row that was inserted."),
    }};

}  // namespace mr
