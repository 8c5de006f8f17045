// The data sets that `moonrank data get NAME` knows: their publisher's address, the files that must be in them, their
// terms. Nothing of them is part of this program.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace mr::io {

struct DataSet {
  struct File {
    std::string path;  // below `folder`
    std::string sha256;
  };
  std::string name;                   // as typed
  std::string summary;                // one line
  std::string url;                    // a zip file
  std::string folder;                 // the one folder in the zip file, and its name under the user's data folder
  std::vector<File> files;            // what is unpacked of it: all must be there
  std::string terms;                  // the licence in a few lines
  std::string terms_file;             // where in `folder` its full text is, one of `files`; empty: nowhere
  std::vector<std::string> headings;  // which of its underlined sections to show
  int64_t max_bytes;                  // of the archive, and of what it unpacks to
};

/// All of them, in the order of their names.
const std::vector<DataSet>& catalogue();

/// The one of this name; throws std::runtime_error that lists the known ones.
const DataSet& catalogue_entry(const std::string& name);

/// The state of a data set in `data_folder`: "" if its files, plain or .gz, have the right content; "not there"; or the
/// difference.
std::string data_set_state(const DataSet& set, const std::filesystem::path& data_folder);

/// Fetches the set into `data_folder` unless it is there already, unpacks those files that have a checksum, checks them
/// and renames the complete folder to its final path; then writes its terms. On any error all temporary files are
/// deleted. Throws std::runtime_error.
void data_get(const DataSet& set, const std::filesystem::path& data_folder, std::ostream& out);

/// One line per set: name, what it is, whether and in which of the folders it is there.
void data_list(const std::vector<DataSet>& sets, const std::vector<std::filesystem::path>& folders, std::ostream& out);

}  // namespace mr::io
