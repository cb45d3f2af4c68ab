# TW_COMMIT_FILE: a Python module that says which commit a wheel was built from. In a clone Git knows it;
# in a source distribution it is the content of the file COMMIT, which was written as that was made.
set(commit_file ${PROJECT_SOURCE_DIR}/COMMIT)
if(EXISTS ${PROJECT_SOURCE_DIR}/.git)
  execute_process(COMMAND git describe --always --dirty --abbrev=12 --exclude=*
    WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
  if(SKBUILD_STATE STREQUAL "sdist")
    file(WRITE ${commit_file} "${commit}\n")
  endif()
elseif(EXISTS ${commit_file})
  file(STRINGS ${commit_file} commit LIMIT_COUNT 1)
endif()
set(TW_COMMIT_FILE ${PROJECT_BINARY_DIR}/commit.py)
file(CONFIGURE OUTPUT ${TW_COMMIT_FILE} CONTENT
  "\"\"\"The commit that this package was built from; empty if unknown.\"\"\"\n\nCOMMIT = \"@commit@\"\n" @ONLY)
