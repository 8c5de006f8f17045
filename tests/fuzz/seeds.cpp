#include "tests/fuzz/seeds.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "runtime/bounds/distribution.h"
#include "runtime/bounds/samples/sample_file.h"
#include "runtime/data/letor/letor_cache_file.h"
#include "runtime/io/formats/npy.h"
#include "runtime/io/formats/safetensors.h"
#include "runtime/io/sqlite/sqlite.h"
#include "tests/fuzz/checksums.h"
#include "tests/fuzz/lua_targets.h"
#include "tests/fuzz/store_targets.h"
#include "tests/support/temporary_folder.h"

namespace mr::fuzz {
namespace {

using Texts = std::vector<std::string>;

/// Returns the bytes of the file that `write(path)` writes.
template <class Write>
std::string written(Write write) {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "file").string();
  write(path);
  std::ifstream file(path, std::ios::binary);
  std::ostringstream bytes;
  bytes << file.rdbuf();
  return bytes.str();
}

std::string tensors() {
  return written([](const std::string& path) {
    write_safetensors(path, {{"weight", "steps"},
                             {Tensor::from(std::vector<float>{1, 2, 3}), Tensor::from(std::vector<int64_t>{4})},
                             {{format_key, "moonrank model 1"}, {"kind", "mf"}}});
  });
}

/// Files of NumPy arrays (.npy): as Moonrank writes them, and with headers as other programs write them.
Texts npy_files() {
  Texts out = {written([](const std::string& path) {
    io::write_npy(path, Tensor::from(std::vector<float>{1, 2, 3}));
  })};
  for (const char* const header :
       {"{'descr': '>f8', 'fortran_order': True, 'shape': (1, 1), }\n",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }",
        "{'shape': (9223372036854775807, 2), 'descr': '<u8', 'fortran_order': False}", "{"}) {
    const std::string text = header;
    out.push_back(std::string("\x93NUMPY\1\0", 8) + static_cast<char>(text.size()) + '\0' + text +
                  std::string(8, '\xff'));
  }
  return out;
}

Texts npz_files() {
  const auto file = [](const io::NamedTensors& tensors) {
    return written([&](const std::string& path) { io::write_npz(path, tensors); });
  };
  return {file({{"a", "b"}, {Tensor::from(std::vector<float>{1}), Tensor::from(std::vector<int64_t>{2, 3})}}), file({}),
          "PK"};
}

/// Returns a safetensors file with this header and `bytes` zero bytes of data.
std::string with_header(const std::string& header, size_t bytes) {
  const uint64_t length = header.size();
  return std::string(reinterpret_cast<const char*>(&length), sizeof length) + header + std::string(bytes, '\0');
}

/// Safetensors files as seeds: one that Moonrank wrote, files without checksums (so that a fuzzer's changes are not
/// refused at once), and headers that contradict the data or are malformed.
Texts files_of_tensors() {
  Texts out = {tensors(), "", with_header("{}", 0), with_header("{}", 1), with_header("[]", 0), with_header("{", 0)};
  const auto entry = [](const std::string& dtype, const std::string& shape, const std::string& offsets) {
    return R"({"dtype":")" + dtype + R"(","shape":)" + shape + R"(,"data_offsets":)" + offsets + "}";
  };
  for (const std::string& each :
       {entry("F32", "[2,1]", "[0,8]"), entry("F64", "[]", "[0,8]"), entry("I64", "[1]", "[0,8]"),
        entry("U8", "[8]", "[0,8]"), entry("F32", "2", "[0,8]"), entry("F32", "[2.5]", "[0,8]"),
        entry("F32", "[3]", "[0,8]"), entry("F32", "[1]", "[4,8]"), entry("F32", "[1]", "[0,4]"),
        entry("F32", "[9223372036854775807,2]", "[0,8]"), entry("F32", "[18446744073709551615]", "[0,8]"),
        std::string(R"({"dtype":"F32"})"), std::string("1")})
    out.push_back(with_header(R"({"x":)" + each + "}", 8));
  for (const char* const second : {"[4,8]", "[0,4]"}) {
    const std::string header =
        R"({"b":)" + entry("F32", "[1]", "[0,4]") + R"(,"a":)" + entry("F32", "[1]", second) + "}";
    out.push_back(with_header(header, 8));
    out.push_back(with_header(header, 4));
  }
  for (const std::string metadata : {R"({"format":"x"})", R"({"a":1})", "1", R"({"checksum of":"x"})",
                                     R"({"checksum of":"x","checksum xxh64":"0000000000000000"})"})
    out.push_back(with_header(R"({"__metadata__":)" + metadata + R"(,"x":)" + entry("F32", "[1]", "[0,4]") + "}", 4));
  out.push_back(with_header("{}", 0).replace(0, 1, "\x09"));
  return out;
}

std::string cache(const std::vector<int64_t>& sizes) {
  return written([&](const std::string& path) {
    LetorFile file;
    file.labels = {0, 1, 2};
    file.sizes = sizes;
    file.qids.resize(sizes.size(), "ab");
    file.documents = {"x", "", "yz"};
    file.width = 2;
    file.features = Tensor::zeros({3, 2}, Dtype::float32);
    LetorSource source;
    source.key = cache_key;
    write_letor_cache(path, source, file);
  });
}

std::string samples_of(std::vector<double> values) {
  return written(
      [&](const std::string& path) { write_sample_file(path, sample_key, Distribution(std::move(values))); });
}

std::string content(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// SQLite files as seeds: a store of sweeps with a row in its page, a store whose row is still in the write-ahead log,
/// and damaged files. Each is opened in several ways.
Texts stores() {
  const test::TemporaryFolder folder;
  const std::string path = (folder.path() / "store.db").string();
  io::Database database(path, io::Database::write);
  // small database pages keep the file short
  for (const char* const each :
       {"PRAGMA journal_mode = DELETE", "PRAGMA page_size = 512", "VACUUM", "PRAGMA journal_mode = WAL"})
    database.run(each, {});
  database.run("CREATE TABLE trials (id INTEGER PRIMARY KEY, number INTEGER, params TEXT, value REAL, name TEXT)", {});
  database.run("PRAGMA wal_checkpoint(TRUNCATE)", {});
  const std::string empty = content(path);
  database.run("INSERT INTO trials (number, params, value) VALUES (1, '{\"lr\":0.5}', 0.25)", {});
  const std::string log = content(path + "-wal");
  database.run("PRAGMA wal_checkpoint(TRUNCATE)", {});
  const std::string filled = content(path);
  using Store = StoreBytes;
  // an empty file, a file that is not a database, and a damaged database
  Texts found{Store{0, "", ""}.text(), Store{0, std::string(512, 'x'), ""}.text(),
              Store{Store::write, filled.substr(0, 600), ""}.text()};
  for (const unsigned how : {0U, 0U | Store::write, 0U | Store::marks_in_name, 0U | Store::two_names | Store::write})
    found.push_back(Store{how, filled, ""}.text());
  for (const unsigned how : {0U | Store::has_log, Store::has_log | Store::write})
    found.push_back(Store{how, empty, log}.text());
  return found;
}

// Some parsers read their options from the first byte of an input: each text is given with four such bytes.
Texts with_options(const Texts& texts) {
  Texts out;
  for (const std::string& text : texts) {
    for (const char bits : {'\0', '\x01', '\x16', '\x2b'}) out.push_back(bits + text);
  }
  return out;
}

std::string nested(size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

Texts pictures(const std::string& ending) {
  Texts out;
  for (const auto& entry : std::filesystem::directory_iterator(MR_SOURCE_DIR "/tests/golden/pictures")) {
    if (entry.path().extension() != ending) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    out.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Returns a progressive JPEG picture of 8 x 8 pixels. Each scan refines the coefficients by one more bit; all
/// coefficients are 0.
std::string jpeg_of_scans(int scans) {
  const auto bytes = [](std::initializer_list<int> values) { return std::string(values.begin(), values.end()); };
  constexpr int steps = 14, dc_scans = 1;
  std::string out = bytes({0xFF, 0xD8, 0xFF, 0xDB, 0, 67, 0}) + std::string(64, '\x01');
  out += bytes({0xFF, 0xC2, 0, 11, 8, 0, 8, 0, 8, 1, 1, 0x11, 0});
  for (const int kind : {0, 0x10}) out += bytes({0xFF, 0xC4, 0, 20, kind, 1}) + std::string(16, '\0');
  for (int i = 0; i < scans; ++i) {
    const int coefficient = (i - dc_scans) / steps + 1, step = (i - dc_scans) % steps;
    const int bits = step == 0 ? steps - 1 : (steps - step) << 4 | (steps - 1 - step);
    const int first = i == 0 ? 0 : coefficient;
    out += bytes({0xFF, 0xDA, 0, 8, 1, 1, 0, first, first, i == 0 ? 0 : bits, 0x7F});
  }
  return out + "\xFF\xD9";
}

Texts jpegs() {
  Texts out = pictures(".jpg");
  for (const int scans : {100, 501}) out.push_back(jpeg_of_scans(scans));
  return out;
}

std::string frames() {
  const uint64_t length = 3;
  const std::string header = "mr frame" + std::string(reinterpret_cast<const char*>(&length), sizeof length);
  return header + "abc" + header + "def";
}

/// Returns a model of one tree with one split, in XGBoost's JSON.
std::string tree() {
  return R"({"learner":{"gradient_booster":{"model":{"gbtree_model_param":{"num_parallel_tree":"1","num_trees":"1",)"
         R"("size_leaf_vector":"0"},"tree_info":[0],"trees":[{"base_weights":[0.5,1,-1],"categories":[],)"
         R"("categories_nodes":[],"categories_segments":[],"categories_sizes":[],"default_left":[1,0,0],"id":0,)"
         R"("left_children":[1,-1,-1],"loss_changes":[2,0,0],"parents":[2147483647,0,0],"right_children":[2,-1,-1],)"
         R"("split_conditions":[0.5,1,-1],"split_indices":[2,0,0],"split_type":[0,0,0],"sum_hessian":[4,2,2],)"
         R"("tree_param":{"num_deleted":"0","num_feature":"3","num_nodes":"3","size_leaf_vector":"0"}}]},)"
         R"("name":"gbtree"},"learner_model_param":{"base_score":"5E-1","num_class":"0","num_feature":"3"}}})";
}

Texts command_lines() {
  return {"-e\nprint(1)\n-i\n--threads\n2\na.lua\n--x",
          "--threads=3\ntest\na_spec.lua\nb_spec.lua",
          "doc\nmr.fit\nb",
          "doc\n--html\nfolder",
          "doc\n--html",
          "doc\n--html\n-x",
          "doc\na\n--html",
          "doc\n--htlm",
          "results\nr.db",
          "results",
          "data\nget\nml-1m",
          "data\nget",
          "data\nlist",
          "data\nlits",
          "data",
          "data\n-h",
          "test",
          "test\n--threads",
          "test\n-e",
          "--version",
          "--version\n-i",
          "--version\n--help\n-i",
          "--version\na.lua",
          "--dump-api\n--threads\n2",
          "--help",
          "--thread",
          "--threads\nx",
          "-e",
          "-i\nresults\nx",
          "-e\n1"};
}

}  // namespace

std::map<std::string, Texts> seeds() {
  std::map<std::string, Texts> all = lua_seeds();
  all.merge(std::map<std::string, Texts>{
      {"letor", with_options({"2 qid:1 1:0.5 2:-3e-2 # docid = a\n0 qid:1 1:1 5:7\n1 qid:2 3:12.125\n",
                              "0 qid:x\r\n1 qid:x 2:NULL\r\n", "1 1:1\n0 1:0.333333333\n",
                              "\xEF\xBB\xBF"
                              "3 qid:10 1:1e30 2:0\n\n# a comment\n0 qid:10 2:1 1:4"})},
      {"csv", with_options({"a,b\n1,\"x \"\"y\"\", z\"\r\n2,\n", "a;b;c\n\"1\n2\";3;\n", "\n\r\na\n\"b\" c", "a,\"b"})},
      {"ratings", with_options({"userId,movieId,rating,timestamp\n1,10,3.5,100\n1,11,4,-5\n2,10,0.5,7\n",
                                "u1,i1,2,5\nu2,i1,3,6\nu1,i1,4,6\n"})},
      {"libraries", {"2 1 5\n0\n3 7 8 9\n", "1 0", "2 1\n", "2 1 1\n", "x\n", "0\n"}},
      {"trec_run", {"q1 Q0 d1 1 2.5 tag\nq1 Q0 d2 2 -1e3 tag\nq2 Q0 d1 1 0 tag\n"}},
      {"trec_qrels", {"q1 0 d1 2\nq1 0 d2 0\nq2 0 d1 -1\n"}},
      {"scores", with_options({"qid,docid,score\n1,a,0.5\n1,b,-2\n2,a,1e-3\n", "1,a,0.5\n2,\"b,c\",3\n"})},
      {"safetensors", files_of_tensors()},
      {"npy", npy_files()},
      {"npz", npz_files()},
      {"json",
       {nested(64), nested(65), R"({"a":[1,-2.5e3,true,null,"x\u00e9\n"],"b":{"c":[[[]]]}})",
        "[0.1,1e308,12345678901234567890]"}},
      {"packed_text",
       {std::string(
            "\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\xcb\x48\xcd\xc9\xc9\xe7\x02\x00\x20\x30\x3a\x36\x06\x00\x00\x00",
            26),
        "plain\n"}},
      {"letor_cache",
       {cache({2, 1}), cache({4, -1}), cache({3, -1, 1}), cache({2, 1}).substr(0, 40), "", cache({2, 1}) + "x"}},
      {"samples", {samples_of({0.25, 0.5, 0.5, 1}), samples_of({3})}},
      {"metric_name", {"ndcg@10", "nrbp(0.95)@5", "err", "rbp(1e-3)", "map@007"}},
      {"store", stores()},
      {"png", pictures(".png")},
      {"jpeg", jpegs()},
      {"frames",
       {frames(), "mr frame\xff\xff\xff\xff", std::string("mr frame\xff\xff\xff\xff\xff\0\0\0", 16),
        std::string(16, 'x')}},
      {"trees", with_options({tree()})},
      {"command_line", command_lines()},
  });
  return all;
}

}  // namespace mr::fuzz
