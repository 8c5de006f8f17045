# Writes a C++ source with the text of FILES (relative to ROOT) as string literals, in pieces that every compiler takes.
set(text "// Made by runtime/lua/embed.cmake from stdlib/.\n#include \"runtime/lua/state.h\"\n\n")
string(APPEND text "namespace mr::lua {\n\n")
set(rows "")
foreach(file IN LISTS FILES)
  file(READ ${ROOT}/${file} content HEX)
  string(LENGTH "${content}" digits)
  math(EXPR bytes "${digits} / 2")
  string(REGEX REPLACE "([0-9a-f][0-9a-f])" "0x\\1," content "${content}")
  string(MAKE_C_IDENTIFIER ${file} name)
  string(APPEND text "static const unsigned char ${name}[] = {${content}0};\n")
  string(APPEND rows "    {\"${file}\", {reinterpret_cast<const char*>(${name}), ${bytes}}},\n")
endforeach()
string(APPEND text "\nconst EmbeddedFile* embedded_files(int* count) {\n"
  "  static const EmbeddedFile files[] = {\n${rows}  };\n"
  "  *count = static_cast<int>(sizeof files / sizeof *files);\n  return files;\n}\n\n}  // namespace mr::lua\n")
file(WRITE ${OUTPUT} "${text}")
