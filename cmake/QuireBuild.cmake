# Build rules shared by every directory: warnings, the library and test
# helpers, and where the third-party packages come from.

option(QUIRE_COMPILER "Build the compiler (needs LLVM/MLIR 22)" ON)
option(QUIRE_SANITIZE "Build with address and undefined-behaviour sanitizers" OFF)

find_package(absl REQUIRED)
find_package(Protobuf REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(Threads REQUIRED)
find_package(GTest REQUIRED)
include(GoogleTest)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(UTF8PROC REQUIRED IMPORTED_TARGET libutf8proc)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)

# fp-contract=off: results must not depend on what the compiler chose to fuse.
add_compile_options(-Wall -Wextra -Werror -Wno-unused-parameter
                    -ffp-contract=off -fno-math-errno)
if(QUIRE_SANITIZE)
  add_compile_options(-fsanitize=address,undefined -fno-sanitize-recover=undefined
                      -fno-omit-frame-pointer)
  add_link_options(-fsanitize=address,undefined)
endif()
find_program(QUIRE_LLD NAMES ld.lld-22 ld.lld)
if(QUIRE_LLD)
  add_link_options(--ld-path=${QUIRE_LLD})
endif()
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE})
endif()

include_directories(${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})

# quire_library(NAME sources... LINK libs...): a static library; headers are
# included by their path from the root ("runtime/kv/BlockPool.h").
function(quire_library name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PUBLIC ${ARG_LINK})
endfunction()

# quire_test(NAME sources... LINK libs...): a GoogleTest program, each of its
# tests known to ctest by name.
function(quire_test name)
  cmake_parse_arguments(ARG "" "" "LINK" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  target_link_libraries(${name} PRIVATE ${ARG_LINK} GTest::gtest GTest::gmock
                                        GTest::gtest_main)
  gtest_discover_tests(${name} DISCOVERY_TIMEOUT 60
                       PROPERTIES TIMEOUT 600)
endfunction()

if(QUIRE_COMPILER)
  find_package(LLVM 22.1 REQUIRED CONFIG HINTS /usr/lib/llvm-22)
  find_package(MLIR REQUIRED CONFIG HINTS /usr/lib/llvm-22)
  list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
  include(TableGen)
  include(AddLLVM)
  include(AddMLIR)
endif()

# quire_mlir_library(NAME sources... LINK libs...): a library that uses MLIR.
# Everything links the one shared MLIR; headers are system headers, so that
# their warnings are not ours.
function(quire_mlir_library name)
  cmake_parse_arguments(ARG "" "" "LINK;DEPENDS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  target_include_directories(${name} SYSTEM PUBLIC ${MLIR_INCLUDE_DIRS}
                                                   ${LLVM_INCLUDE_DIRS})
  # -O1: what MLIR code does takes milliseconds, compiling it minutes.
  target_compile_options(${name} PRIVATE -fno-rtti -O1)
  target_link_libraries(${name} PUBLIC ${ARG_LINK} MLIR LLVM)
  if(ARG_DEPENDS)
    add_dependencies(${name} ${ARG_DEPENDS})
  endif()
endfunction()
