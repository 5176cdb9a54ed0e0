# quire_lit_directory(NAME): one ctest test that runs lit on every .mlir file
# of the current source directory. The nearest lit.cfg.py above applies.

find_program(QUIRE_LIT NAMES lit HINTS ${LLVM_TOOLS_BINARY_DIR} NO_DEFAULT_PATH)
find_program(QUIRE_LIT NAMES lit lit-22 llvm-lit)

function(quire_lit_directory name)
  if(NOT QUIRE_LIT)
    message(FATAL_ERROR "lit is missing; tools/setup.sh installs it")
  endif()
  add_test(NAME ${name}
           COMMAND ${QUIRE_LIT} -v ${CMAKE_CURRENT_SOURCE_DIR}
                   --param tools=$<TARGET_FILE_DIR:quire-opt>
                   --param llvm_tools=${LLVM_TOOLS_BINARY_DIR}
                   --param exec_root=${CMAKE_CURRENT_BINARY_DIR})
endfunction()
