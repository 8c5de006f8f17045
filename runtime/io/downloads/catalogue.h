// The data sets that `moonrank data get NAME` knows: their publisher's address, their files and their terms of use. The
// program contains none of their data.
#pragma once

#include <cstdint>
#include <filesystem>
#include <iosfwd>
#include <string>
#include <vector>

namespace mr::io {

struct DataSet {
  struct File {
    std::string path;  // path of the file below the data set's `folder`
    std::string sha256;
  };
  std::string name;     // name of the data set on the command line
  std::string summary;  // description of the data set in one line
  std::string url;      // address of the zip file to download
  // name of the single folder in the zip file, and of the data set's folder on this machine
  std::string folder;
  std::vector<File> files;            // the files to unpack; all are required
  std::string terms;                  // summary of the data set's licence
  std::string terms_file;             // path of the file with the full licence, which is one of `files`; or empty
  std::vector<std::string> headings;  // headings of the sections of `terms_file` that are shown
  int64_t max_bytes;                  // largest number of bytes of the zip file, and of its unpacked files together
};

const std::vector<DataSet>& catalogue();

/// Returns the data set with this name. Throws std::runtime_error that lists the known names.
const DataSet& catalogue_entry(const std::string& name);

/// Returns the state of a data set in `data_folder`: "" if its files, plain or .gz, have the right content; "not
/// there"; or the first difference as a sentence.
std::string data_set_state(const DataSet& set, const std::filesystem::path& data_folder);

/// Downloads the set into `data_folder` unless it is complete there: unpacks the files that have a checksum, verifies
/// them, renames the complete folder to its final path, and prints the terms. On any error all temporary files are
/// deleted. Throws std::runtime_error.
void data_get(const DataSet& set, const std::filesystem::path& data_folder, std::ostream& out);

/// Prints for each set its name and summary, and in which folder it was found.
void data_list(const std::vector<DataSet>& sets, const std::vector<std::filesystem::path>& folders, std::ostream& out);

}  // namespace mr::io
