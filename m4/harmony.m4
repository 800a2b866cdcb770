# What ./configure looks for. Each thing that is missing is named with its Debian package, and all of
# them at once rather than one a run.

# HARMONY_CXX17: the compiler speaks C++17.
AC_DEFUN([HARMONY_CXX17], [
  CXXFLAGS="$CXXFLAGS -std=c++17"
  AC_COMPILE_IFELSE([AC_LANG_PROGRAM([[#include <string_view>]], [[static_assert(__cplusplus >= 201703L, "");]])], [],
    [AC_MSG_ERROR([$CXX does not compile C++17; Debian package: g++])])
])

# HARMONY_SLURM: the installed slurmctld, and a source tree of exactly its version.
AC_DEFUN([HARMONY_SLURM], [
  AC_ARG_WITH([slurm-src], [AS_HELP_STRING([--with-slurm-src=DIR],
    [source tree (headers and config.h) of exactly the installed slurmctld; `contrib/slurm-src' fetches it and prints DIR])],
    [SLURM_SRC=$withval], [SLURM_SRC=])
  AC_PATH_PROG([SLURMCTLD], [slurmctld], [], [$PATH:/usr/sbin:/sbin])
  AS_IF([test -z "$SLURMCTLD"], [AC_MSG_ERROR([no slurmctld here; Debian package: slurmctld])])
  AC_MSG_CHECKING([the version of $SLURMCTLD])
  harmony_slurm_version=$($SLURMCTLD -V 2>/dev/null | sed 's/.* //')
  AC_MSG_RESULT([$harmony_slurm_version])

  AS_CASE([$SLURM_SRC], [''|yes|no], [AC_MSG_ERROR([--with-slurm-src=DIR is needed: the source of Slurm $harmony_slurm_version; try --with-slurm-src=\$(contrib/slurm-src)])])
  AS_IF([test ! -f "$SLURM_SRC/META"], [AC_MSG_ERROR([$SLURM_SRC is not a Slurm source tree (it has no META file)])])
  AC_MSG_CHECKING([the version of the source in $SLURM_SRC])
  harmony_source_version=$(sed -n 's/^@<:@@<:@:space:@:>@@:>@*Version:@<:@@<:@:space:@:>@@:>@*//p' "$SLURM_SRC/META")
  AC_MSG_RESULT([$harmony_source_version])
  AS_IF([test "x$harmony_source_version" != "x$harmony_slurm_version"],
    [AC_MSG_ERROR([$SLURM_SRC is Slurm $harmony_source_version, but the installed slurmctld is $harmony_slurm_version: they must be the same to the last digit, because struct layouts change between them])])
  AS_IF([test ! -f "$SLURM_SRC/config.h"], [AC_MSG_ERROR([$SLURM_SRC has no config.h; run its ./configure, or use contrib/slurm-src])])
  SLURM_SRC=$(cd "$SLURM_SRC" && pwd)

  AC_ARG_WITH([slurm-plugin-dir], [AS_HELP_STRING([--with-slurm-plugin-dir=DIR], [where the stock select_cons_tres.so is @<:@found@:>@])],
    [SLURM_PLUGIN_DIR=$withval], [SLURM_PLUGIN_DIR=])
  AS_IF([test -z "$SLURM_PLUGIN_DIR"], [
    for harmony_dir in /usr/lib/*/slurm-wlm /usr/lib64/slurm /usr/lib/slurm /usr/local/lib/slurm; do
      AS_IF([test -f "$harmony_dir/select_cons_tres.so"], [SLURM_PLUGIN_DIR=$harmony_dir; break])
    done])
  AS_IF([test ! -f "$SLURM_PLUGIN_DIR/select_cons_tres.so"],
    [AC_MSG_ERROR([the stock select_cons_tres.so was not found; Debian package: slurm-wlm-basic-plugins, or say --with-slurm-plugin-dir=DIR])])
  AC_SUBST([SLURM_SRC])
  AC_SUBST([SLURM_PLUGIN_DIR])
])

# HARMONY_NEED_PKG(VARIABLE, PKG-CONFIG NAME, DEBIAN PACKAGE)
AC_DEFUN([HARMONY_NEED_PKG], [PKG_CHECK_MODULES([$1], [$2], [], [harmony_missing="$harmony_missing $3"])])

# HARMONY_NEED_HEADER(HEADER, DEBIAN PACKAGE)
AC_DEFUN([HARMONY_NEED_HEADER], [AC_CHECK_HEADER([$1], [], [harmony_missing="$harmony_missing $2"])])

# HARMONY_LIBRARIES: the libraries of the whole project; NVML is not among them, it is loaded at run time.
AC_DEFUN([HARMONY_LIBRARIES], [
  harmony_missing=
  HARMONY_NEED_PKG([FMT], [fmt], [libfmt-dev])
  HARMONY_NEED_PKG([JSONCPP], [jsoncpp], [libjsoncpp-dev])
  HARMONY_NEED_PKG([HWLOC], [hwloc >= 2.4], [libhwloc-dev])
  HARMONY_NEED_PKG([LIBXML2], [libxml-2.0], [libxml2-dev])
  HARMONY_NEED_PKG([CPPUNIT], [cppunit], [libcppunit-dev])
  HARMONY_NEED_PKG([OPENBLAS], [openblas], [libopenblas-pthread-dev])
  HARMONY_NEED_PKG([SODIUM], [libsodium], [libsodium-dev])
  HARMONY_NEED_PKG([ZLIB], [zlib], [zlib1g-dev])
  HARMONY_NEED_PKG([CLI11], [CLI11], [libcli11-dev])
  AC_CHECK_LIB([slurm], [slurm_load_ctl_conf], [SLURM_LIBS=-lslurm], [harmony_missing="$harmony_missing libslurm-dev"])
  HARMONY_NEED_HEADER([torch/csrc/api/include/torch/version.h], [libtorch-dev])
  AC_CHECK_LIB([torch_cpu], [main], [TORCH_LIBS="-ltorch -ltorch_cpu -lc10"], [harmony_missing="$harmony_missing libtorch-dev"], [-lc10])
  # The C++ frontend, which training needs, has its headers in a place of its own.
  TORCH_API_CPPFLAGS="-isystem /usr/include/torch/csrc/api/include"
  AC_CHECK_HEADER([benchmark/benchmark.h], [harmony_benchmark=yes], [harmony_benchmark=no])
  AM_CONDITIONAL([BENCHMARK], [test "$harmony_benchmark" = yes])
  AC_CHECK_HEADER([rapidcheck.h], [harmony_rapidcheck=yes], [harmony_rapidcheck=no])
  AM_CONDITIONAL([RAPIDCHECK], [test "$harmony_rapidcheck" = yes])
  AS_IF([test -n "$harmony_missing"],
    [harmony_missing=$(printf '%s\n' $harmony_missing | sort -u | tr '\n' ' ')
     AC_MSG_ERROR([missing libraries; as root: apt-get install --no-install-recommends $harmony_missing])])
  AC_SUBST([SLURM_LIBS])
  AC_SUBST([TORCH_LIBS])
  AC_SUBST([TORCH_API_CPPFLAGS])
])

# HARMONY_BUILD_KINDS: warnings as errors, and sanitizer builds of the core and its tests. A sanitizer's run-time library
# cannot be loaded into Debian's slurmctld, so those builds leave plugin/ out.
AC_DEFUN([HARMONY_BUILD_KINDS], [
  AC_ARG_ENABLE([werror], [AS_HELP_STRING([--enable-werror], [treat warnings as errors])], [], [enable_werror=no])
  AC_ARG_ENABLE([asan], [AS_HELP_STRING([--enable-asan], [build the core and its tests, without plugins, with AddressSanitizer and UBSan])], [], [enable_asan=no])
  AC_ARG_ENABLE([tsan], [AS_HELP_STRING([--enable-tsan], [build the core and its tests, without plugins, with ThreadSanitizer])], [], [enable_tsan=no])
  harmony_warnings="-Wall -Wextra -Wshadow"
  AS_IF([test "$enable_werror" = yes], [harmony_warnings="$harmony_warnings -Werror"])
  harmony_sanitizer=none
  AS_IF([test "$enable_asan" = yes && test "$enable_tsan" = yes], [AC_MSG_ERROR([--enable-asan and --enable-tsan exclude each other])])
  AS_IF([test "$enable_asan" = yes], [harmony_sanitizer="-fsanitize=address,undefined -fno-sanitize-recover=all"])
  AS_IF([test "$enable_tsan" = yes], [harmony_sanitizer="-fsanitize=thread"])
  WARNING_FLAGS=$harmony_warnings
  SANITIZER_FLAGS=
  AS_IF([test "$harmony_sanitizer" != none], [SANITIZER_FLAGS="$harmony_sanitizer -fno-omit-frame-pointer"])
  AC_SUBST([WARNING_FLAGS])
  AC_SUBST([SANITIZER_FLAGS])
  AM_CONDITIONAL([PLUGINS], [test "$harmony_sanitizer" = none])
  AM_CONDITIONAL([TSAN], [test "$enable_tsan" = yes])
])
