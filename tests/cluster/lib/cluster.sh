# The test cluster: a private Slurm on this machine, in one directory. Sourced by the `cluster` command, the
# quickstart, the live tests and the benchmarks.

cluster_home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cluster_player=${HARMONY_PLAYER:-}
PATH=$PATH:/usr/sbin:/sbin

cluster_die() {
  printf 'cluster: error: %s\n' "$*" >&2
  exit 1
}

. "$cluster_home/lib/topology.sh"
. "$cluster_home/lib/conf.sh"
. "$cluster_home/lib/daemons.sh"

# Looked for when it is needed, and not when this file is read: the quickstart installs Slurm in between.
cluster_find_stock_plugins() {
  local file
  cluster_stock_plugins=${HARMONY_STOCK_PLUGINS:-}
  for file in /usr/lib/*/slurm-wlm/select_cons_tres.so; do
    [ -n "$cluster_stock_plugins" ] || [ ! -e "$file" ] || cluster_stock_plugins=${file%/*}
  done
  [ -n "$cluster_stock_plugins" ] ||
    cluster_die "no stock select_cons_tres.so below /usr/lib; Debian package: slurm-wlm-basic-plugins (or set HARMONY_STOCK_PLUGINS)"
}

# cluster_setup DIR [--nodes N] [--topology NAME] [--played N] [--overlay DIR] [--mode MODE] [--extra TEXT]
# makes the directory and its configuration, and makes it the cluster at hand. Nothing is started.
cluster_setup() {
  cluster_dir=$1
  shift
  cluster_topology=servers6 cluster_nodes='' cluster_played=0 cluster_overlay='' cluster_mode='' cluster_scheduler_parameters=''
  local extra=''
  while [ $# -gt 0 ]; do
    [ $# -gt 1 ] || cluster_die "$1 needs a value"
    case $1 in
    --nodes) cluster_nodes=$2 ;;
    --topology) cluster_topology=$2 ;;
    --played) cluster_played=$2 ;;
    --overlay) cluster_overlay=$2 ;;
    --mode) cluster_mode=$2 ;;
    --scheduler-parameters) cluster_scheduler_parameters=$2 ;;
    --extra) extra=$2 ;;
    *) cluster_die "unknown option $1" ;;
    esac
    shift 2
  done
  topology_exists "$cluster_topology" || cluster_die "no topology '$cluster_topology'; there are: $(topology_names)"
  cluster_nodes=${cluster_nodes:-$(topology_lines "$cluster_topology" nodes)}
  [[ $cluster_nodes =~ ^[0-9]+$ ]] && [ "$cluster_nodes" -le 100 ] ||
    cluster_die "--nodes takes a number up to 100, not '$cluster_nodes'"
  [[ $cluster_played =~ ^[0-9]+$ ]] && [ "$cluster_played" -le 12000 ] ||
    cluster_die "--played takes a number up to 12000, not '$cluster_played'"
  mkdir -p "$cluster_dir"/{etc,run,log,state,spool} || cluster_die "cannot make a cluster in $cluster_dir"
  cluster_dir=$(cd "$cluster_dir" && pwd)
  [ ${#cluster_dir} -le 80 ] || cluster_die "$cluster_dir is too long for a socket's path; 80 characters at most"
  chmod 755 "$cluster_dir" "$cluster_dir/run"
  cluster_find_stock_plugins
  cluster_played_addr=127.$((RANDOM % 254 + 1)).$((RANDOM % 256)).2
  cluster_draw_ports
  cluster_save
  printf '%s\n' "$extra" >"$cluster_dir/etc/extra.conf"
  cluster_make_devices
  cluster_write_conf
  cluster_load "$cluster_dir"
}

# cluster_use stock | off | shadow | enforce: whose plugins slurmctld takes from its next start (or, between
# modes, its next reconfigure) on. $HARMONY_OVERLAY is the overlay's directory.
cluster_use() {
  case $1 in
  stock) cluster_overlay='' cluster_mode='' ;;
  *) cluster_overlay=${HARMONY_OVERLAY:?the directory of the overlay} cluster_mode=$1 ;;
  esac
  cluster_save
  cluster_write_plugins
}
