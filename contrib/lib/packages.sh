# Which Debian packages are needed, which of them are missing, and getting them.
# Sourced; needs say/die of say.sh.

packages_file="$harmony_top/contrib/packages"

# packages_in SECTION...: the packages listed below [SECTION] in contrib/packages.
packages_in() {
  local section
  for section; do
    sed -n "/^\[$section\]/,/^\[/{/^[a-z]/p}" "$packages_file"
  done
}

packages_missing() {
  packages_in "$@" | sort | comm -23 - <(dpkg-query -W -f='${Package} ${db:Status-Status}\n' | sed -n 's/ installed$//p' | sort -u)
}

# Debian starts a package's daemons as it is installed. Ours run in a private cluster only, so dpkg
# finds these two first on its path and the system's munged and slurmd stay down.
packages_without_services() {
  local shims=$1 helper
  for helper in invoke-rc.d deb-systemd-invoke; do
    printf '#!/bin/sh\nexit 0\n' >"$shims/$helper"
    chmod 755 "$shims/$helper"
  done
}

packages_install() {
  local missing=$1 shims status=0
  shims=$(mktemp -d)
  packages_without_services "$shims"
  apt-get update -qq >"$shims/log" 2>&1 &&
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends \
      -o DPkg::Path="$shims:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin" \
      -o DPkg::Lock::Timeout=600 $missing >"$shims/log" 2>&1 </dev/null || status=$?
  [ "$status" = 0 ] || tail -n 20 "$shims/log" >&2
  rm -rf "$shims"
  return "$status"
}

# packages_ensure SECTION...: all there, or installed now, or an exact word on what to do.
packages_ensure() {
  local missing
  missing=$(packages_missing "$@" | tr '\n' ' ')
  missing=${missing% }
  [ -n "$missing" ] || return 0
  local command="apt-get install --no-install-recommends $missing"
  [ "$(id -u)" = 0 ] ||
    die "these Debian packages are missing, and installing them needs root: $missing" \
      "run this once as root, then try again:" "  $command"
  say "installing $(wc -w <<<"$missing") packages (the first time takes a few minutes): $missing"
  packages_install "$missing" || die "could not install them; this is the command that failed:" "  $command"
}
