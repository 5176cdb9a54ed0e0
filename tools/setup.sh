#!/bin/sh
# Installs what the build and the tests need: Debian packages only. Quiet when
# nothing is missing.
set -eu

packages="
cmake ninja-build g++ pkg-config ccache python3 python3-pip
llvm-22-dev llvm-22-tools libmlir-22-dev mlir-22-tools clang-22 lld-22 liblld-22-dev
libclang-rt-22-dev clang-format-22
libprotobuf-dev protobuf-compiler libabsl-dev libcli11-dev
nlohmann-json3-dev libxxhash-dev libpcre2-dev libutf8proc-dev
libgtest-dev libgmock-dev libzstd-dev zlib1g-dev
"

missing=
for package in $packages; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$state" = installed ] || missing="$missing $package"
done

if [ -n "$missing" ]; then
  echo "setup: installing$missing" >&2
  as_root=
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || {
      echo "setup: error: run this as root, or install:$missing" >&2
      exit 1
    }
    as_root=sudo
  fi
  export DEBIAN_FRONTEND=noninteractive
  $as_root apt-get update -qq
  # shellcheck disable=SC2086 # words are meant to split
  $as_root apt-get install -y -qq --no-install-recommends $missing >/dev/null
fi
