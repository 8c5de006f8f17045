// The data sets that `moonrank data get NAME` can fetch: their address on the web, their files and their terms of use.
// The program contains none of their data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace mr::io {

struct DataSet {
  struct File {
    std::string path;  // path of the file within the data set's folder
    std::string sha256;
  };
  std::string name;     // name of the data set on the command line
  std::string summary;  // description of the data set in one line
  std::string url;      // address of the zip file to download
  // name of the only folder in the zip file; the data set's folder on this machine gets the same name
  std::string folder;
  std::vector<File> files;            // the files to unpack; all are required
  std::string terms;                  // summary of the data set's licence
  std::string terms_file;             // path of the file with the full licence, which is one of `files`; or empty
  std::vector<std::string> headings;  // headings of those sections of `terms_file` that are printed
  int64_t max_bytes;                  // limit of the size of the zip file, and of all unpacked files together, in bytes
};

const std::vector<DataSet>& catalogue();

/// Returns the data set with this name. Throws std::runtime_error that lists the known names.
const DataSet& catalogue_entry(const std::string& name);

/// Returns the state of a data set in a folder of data sets: "" if all its files are there (plain or .gz) with the
/// right content, "not there" if its folder does not exist, else the first difference as a sentence.
std::string data_set_state(const DataSet& set, const std::filesystem::path& data_folder);

/// Fetches a data set, unless it is complete in `data_folder`, and prints its terms of use. The zip file is downloaded
/// and unpacked in a temporary folder. If the checksums of all files are right, the data set's folder gets its final
/// name. Throws std::runtime_error on errors; temporary files are then deleted.
void data_get(const DataSet& set, const std::filesystem::path& data_folder, std::ostream& out);

/// Prints for each data set its name and summary, and the first of `folders` that has it.
void data_list(const std::vector<DataSet>& sets, const std::vector<std::filesystem::path>& folders, std::ostream& out);

}  // namespace mr::io
