#include "runtime/io/downloads/catalogue.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <ostream>
#include <set>
#include <sstream>
#include <stdexcept>

#include "runtime/io/downloads/fetch.h"
#include "runtime/io/files/new_file.h"
#include "runtime/io/files/sha256.h"
#include "runtime/io/files/text_file.h"
#include "runtime/io/formats/archive.h"
#include "runtime/io/safe_text.h"
#include "runtime/io/tidily.h"

namespace mr::io {
namespace {

namespace fs = std::filesystem;

constexpr int64_t most_terms = 1 << 20;

/// A temporary folder inside `parent`. The destructor deletes it with all its content.
class TemporaryFolder {
 public:
  explicit TemporaryFolder(const fs::path& parent) {
    std::string name = (parent / ".fetch-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw std::runtime_error(name + ": " + std::strerror(errno));
    path_ = name;
  }
  ~TemporaryFolder() {
    tidily([this] {
      std::error_code ignored;
      fs::remove_all(path_, ignored);
    });
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

/// Compares the files of a data set in a folder with their known checksums. Returns the first difference as a sentence,
/// or "" if there is none.
std::string difference(const DataSet& set, const fs::path& folder) {
  for (const DataSet::File& file : set.files) {
    const fs::path plain = folder / file.path, packed = plain.string() + ".gz";
    const bool is_plain = fs::is_regular_file(plain);
    if (!is_plain && !fs::is_regular_file(packed)) return file.path + " is missing";
    const std::string found = is_plain ? sha256_of_file(plain) : sha256(read_text_file(packed.string(), set.max_bytes));
    if (found != file.sha256) return file.path + " has SHA-256 " + found + ", expected " + file.sha256;
  }
  return "";
}

/// Copies the sections of `text` with the given headings to `out`. A heading is a line that the next line underlines
/// with `=`; its section ends before the next heading.
void write_sections(std::istream& text, const std::vector<std::string>& headings, std::ostream& out) {
  std::string line, next;
  bool wanted = false;
  for (bool more = static_cast<bool>(std::getline(text, line)); more; line = next) {
    more = static_cast<bool>(std::getline(text, next));
    if (!more) next.clear();
    if (next.size() >= 3 && next.find_first_not_of("=\r") == std::string::npos) {
      wanted = false;
      for (const std::string& heading : headings) wanted = wanted || line.compare(0, heading.size(), heading) == 0;
    }
    if (wanted) out << safe_text(line, Breaks::kept) << '\n';
  }
}

void write_terms(const DataSet& set, const fs::path& folder, std::ostream& out) {
  out << "Terms of use: " << set.terms << "\n";
  if (set.terms_file.empty()) return;
  out << "From " << (folder / set.terms_file).string() << ":\n\n";
  std::istringstream text(read_text_file((folder / set.terms_file).string(), most_terms));
  write_sections(text, set.headings, out);
}

}  // namespace

const std::vector<DataSet>& catalogue() {
  static const std::vector<DataSet> sets = {
      {"movielens",
       "MovieLens latest small: 100,836 ratings of 9,742 films by 610 users (GroupLens, University of Minnesota)",
       "https://files.grouplens.org/datasets/movielens/ml-latest-small.zip",
       "ml-latest-small",
       {{"ratings.csv", "aa289ca83157595d0df6aea1be6a4ded676ddc4385472e8313a8ed9805352646"},
        {"movies.csv", "5a5f32dd9bb3797b8e728a1b98958789d2b13f294a69fdfbc5727f8a9611aa07"},
        {"README.txt", "63d22ac138e80fae37021797ed8e1b9424b5239dc576a137422adf783ae3f404"}},
       "research use; no commercial use without permission of the GroupLens Research Project; acknowledge it in "
       "publications\n"
       "(Harper and Konstan 2015, https://doi.org/10.1145/2827872); do not imply endorsement; redistribute only under "
       "the same terms.",
       "README.txt",
       {"Usage License", "Citation"},
       100'000'000},
  };
  return sets;
}

const DataSet& catalogue_entry(const std::string& name) {
  std::string known;
  for (const DataSet& set : catalogue()) {
    if (set.name == name) return set;
    known += (known.empty() ? "" : ", ") + set.name;
  }
  throw std::runtime_error("no data set has the name " + mr::quoted(name) + "; the known ones are: " + known);
}

std::string data_set_state(const DataSet& set, const fs::path& data_folder) {
  const fs::path folder = data_folder / set.folder;
  return fs::exists(folder) ? difference(set, folder) : "not there";
}

void data_get(const DataSet& set, const fs::path& data_folder, std::ostream& out) {
  const fs::path target = data_folder / set.folder;
  const std::string state = data_set_state(set, data_folder);
  if (state.empty()) {
    out << set.name << " was fetched before and is complete: " << target.string() << "\n";
    return write_terms(set, target, out);
  }
  // The data set's folder exists but does not have the right files. It is never replaced, because this program may not
  // have written it.
  if (fs::exists(target))
    throw std::runtime_error(target.string() + " exists already but is not this data set (" + state +
                             "): move it, then try again");
  make_folder_of(target.string());
  const TemporaryFolder work(data_folder);
  const fs::path archive = work.path() / "archive.zip", unpacked = work.path() / "unpacked";
  out << "Fetching " << set.url << std::endl;
  fetch(set.url, archive, set.max_bytes);
  fs::create_directory(unpacked);
  // Only files whose checksums are known are unpacked.
  std::set<std::string> wanted;
  for (const DataSet::File& file : set.files) wanted.insert(set.folder + "/" + file.path);
  unpack_zip(archive, unpacked, wanted, set.max_bytes);
  if (const std::string wrong = difference(set, unpacked / set.folder); !wrong.empty()) {
    throw std::runtime_error("the download from " + set.url + " is not the expected data set: " + wrong +
                             "; nothing was kept");
  }
  sync_folder((unpacked / set.folder).string());
  fs::rename(unpacked / set.folder, target);
  sync_folder(data_folder.string());
  out << set.name << " is now in " << target.string() << "\n";
  write_terms(set, target, out);
}

void data_list(const std::vector<DataSet>& sets, const std::vector<fs::path>& folders, std::ostream& out) {
  for (const DataSet& set : sets) {
    out << set.name << "  " << set.summary << "\n    ";
    // Takes the first folder that has the data set, even if it is damaged there, because scripts would read it from
    // this folder too.
    const auto at = std::find_if(folders.begin(), folders.end(), [&](const fs::path& folder) {
      std::error_code ignored;
      return fs::exists(folder / set.folder, ignored);
    });
    if (at == folders.end()) {
      out << "not there: moonrank data get " << set.name << "\n";
      continue;
    }
    const std::string state = data_set_state(set, *at);
    out << (state.empty() ? "in " : "damaged: ") << (*at / set.folder).string() << (state.empty() ? "" : ": " + state)
        << "\n";
  }
}

}  // namespace mr::io
