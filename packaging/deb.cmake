# Completes the files of a Debian package before `cpack` packs it: the copyright file with the licences of the libraries
# inside, the changelog, and the man page in the form that Debian expects.
set(share ${CPACK_TEMPORARY_INSTALL_DIRECTORY}/usr/share)
set(doc ${share}/doc/${CPACK_PACKAGE_NAME})
file(MAKE_DIRECTORY ${doc}/licenses)
file(RENAME ${share}/doc/moonrank/CHANGELOG.md ${doc}/changelog)
foreach(command
  "${CPACK_MOONRANK};${CMAKE_CURRENT_LIST_DIR}/licenses.lua;${doc}/licenses;${CPACK_PACKAGE_NAME}"
  "gzip;-9nf;${doc}/changelog;${share}/man/man1/moonrank.1")
  execute_process(COMMAND ${command} COMMAND_ERROR_IS_FATAL ANY)
endforeach()
