# Writing a cluster's configuration. Sourced; the cluster is in $cluster_dir, its settings in the variables of
# cluster_settings.

cluster_settings=(cluster_topology cluster_nodes cluster_played cluster_port cluster_played_addr cluster_stock_plugins cluster_overlay cluster_mode cluster_scheduler_parameters)

cluster_save() { declare -p "${cluster_settings[@]}" | sed 's/^declare -[^ ]* //' >"$cluster_dir/settings"; }

# cluster_load DIR: makes DIR the cluster at hand.
cluster_load() {
  cluster_dir=$1
  [ -s "$cluster_dir/settings" ] || cluster_die "no cluster in '$1'; make one with: cluster setup $1"
  . "$cluster_dir/settings"
  export SLURM_CONF="$cluster_dir/etc/slurm.conf"
}

# A block of 128 ports, aligned, below the ephemeral range. slurmctld's is its first, so whoever has slurmctld
# listening there owns the block; a clash shows when slurmctld starts (daemons.sh), and another one is drawn.
cluster_draw_ports() {
  local tries
  for tries in $(seq 100); do
    cluster_port=$((10240 + 128 * (RANDOM % 70)))
    _ports_free "$cluster_port" $((cluster_port + 127)) && return 0
  done
  cluster_die "no 128 free ports in a row between 10240 and 19200"
}

_ports_free() { # LOW HIGH: nobody listens on any of them
  local hex
  for hex in $(sed -n 's/^ *[0-9]*: [0-9A-F]*:\([0-9A-F]*\) [0-9A-F:]* 0A .*/\1/p' /proc/net/tcp /proc/net/tcp6 2>/dev/null); do
    [ $((16#$hex)) -lt "$1" ] || [ $((16#$hex)) -gt "$2" ] || return 1
  done
}

# The part that says whose plugins slurmctld takes; rewritten when a test goes from stock to overlay and back.
cluster_write_plugins() {
  local dirs=$cluster_stock_plugins parameters=$cluster_scheduler_parameters
  [ -z "$cluster_overlay" ] || dirs="$cluster_overlay:$dirs"
  [ -z "$cluster_mode" ] || parameters="${parameters:+$parameters,}harmony_mode=$cluster_mode"
  {
    echo "PluginDir=$dirs"
    [ -z "$parameters" ] || echo "SchedulerParameters=$parameters"
  } >"$cluster_dir/etc/plugins.conf"
}

# cluster_client_conf DIR: a slurm.conf in DIR for clients that take stock plugins, whatever slurmctld takes; prints its path.
cluster_client_conf() {
  sed "s,$cluster_dir/etc/plugins.conf,$1/plugins.conf," "$cluster_dir/etc/slurm.conf" >"$1/slurm.conf"
  cp "$cluster_dir/etc/gres.conf" "$1"
  grep -v PluginDir "$cluster_dir/etc/plugins.conf" >"$1/plugins.conf"
  echo "$1/slurm.conf"
}

_nodes_of_kind() { # NAME-PREFIX COUNT KIND: the names of those of COUNT nodes that are of KIND, comma-separated
  local index names=()
  for ((index = 0; index < $2; index++)); do
    [ "$(topology_of_node "$cluster_topology" "$index")" != "$3" ] || names+=("$index")
  done
  [ ${#names[@]} = 0 ] || (IFS=,; echo "$1[${names[*]}]")
}

_kinds() { local kinds; kinds=$(topology_lines "$cluster_topology" mix); echo "${kinds:-$cluster_topology}"; }

cluster_write_nodes() {
  local kind names index port gpu hardware
  : >"$cluster_dir/etc/nodes.conf"
  : >"$cluster_dir/etc/gres.conf"
  for ((index = 0; index < cluster_nodes; index++)); do
    kind=$(topology_of_node "$cluster_topology" "$index")
    hardware="$(topology_lines "$kind" node) Gres=$(topology_gres "$kind")"
    port=$((cluster_port + 8 + index))
    echo "NodeName=n$index NodeHostname=localhost NodeAddr=127.0.0.1 Port=$port $hardware State=UNKNOWN"
  done >>"$cluster_dir/etc/nodes.conf"
  for kind in $(_kinds); do
    names=$(_nodes_of_kind n "$cluster_nodes" "$kind")
    if [ -n "$names" ]; then _gres_lines "$kind" "$names"; fi
  done >>"$cluster_dir/etc/gres.conf"
  [ "$cluster_played" = 0 ] || _write_played_nodes
  echo "PartitionName=train Nodes=ALL Default=YES MaxTime=INFINITE State=UP" >>"$cluster_dir/etc/nodes.conf"
}

_gres_lines() { # KIND NODES
  local gpu=0 line
  while read -r line; do
    echo "NodeName=$2 Name=gpu File=$cluster_dir/dev/nvidia$gpu $line"
    gpu=$((gpu + 1))
  done < <(topology_lines "$1" gpu)
}

# Played nodes are all of the profile's first kind. They have loopback addresses of their own, 2,500 nodes each, with ports from
# 30000 on, which nobody binds on all addresses: below are our slurmds and the ports of `harmony run`, above the kernel's.
_write_played_nodes() {
  local kind first last count address=${cluster_played_addr##*.}
  kind=$(topology_of_node "$cluster_topology" 0)
  for ((first = 0; first < cluster_played; first += 2500, address++)); do
    last=$((first + 2499 < cluster_played ? first + 2499 : cluster_played - 1))
    count=$((last - first))
    echo "NodeName=p[$first-$last] NodeAddr=${cluster_played_addr%.*}.$address Port=[30000-$((30000 + count))]" \
      "$(topology_lines "$kind" node) Gres=$(topology_gres "$kind") State=UNKNOWN" >>"$cluster_dir/etc/nodes.conf"
  done
  _gres_lines "$kind" "p[0-$((cluster_played - 1))]" >>"$cluster_dir/etc/gres.conf"
}

# Fake devices: character devices as root, so that Slurm sees GPUs; plain files for an ordinary user, of which slurmd logs an
# error and carries on.
cluster_make_devices() {
  local gpu
  mkdir -p "$cluster_dir/dev"
  for gpu in $(seq 0 15); do
    [ -e "$cluster_dir/dev/nvidia$gpu" ] || mknod "$cluster_dir/dev/nvidia$gpu" c 195 "$gpu" 2>/dev/null ||
      : >"$cluster_dir/dev/nvidia$gpu"
  done
}

cluster_write_conf() {
  cluster_write_plugins
  cluster_write_nodes
  _slurm_conf_lines | _without_keys_of "$cluster_dir/etc/extra.conf" >"$cluster_dir/etc/slurm.conf"
}

# Lets extra.conf say something else than we do: Slurm complains of a key that is given twice.
_without_keys_of() {
  awk -F= 'NR == FNR { taken[tolower($1)] = $1 !~ /^(NodeName|PartitionName)$/; next } !taken[tolower($1)]' "$1" -
}

_slurm_conf_lines() {
  local user
  user=$(id -un)
  cat <<END
ClusterName=harmony
SlurmctldHost=$(hostname -s)(127.0.0.1)
SlurmctldPort=$cluster_port
SlurmdPort=$((cluster_port + 1))
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/munge
CredType=cred/munge
AuthInfo=socket=$cluster_dir/run/munge.socket
StateSaveLocation=$cluster_dir/state
SlurmdSpoolDir=$cluster_dir/spool/%n
SlurmctldPidFile=$cluster_dir/run/slurmctld.pid
SlurmdPidFile=$cluster_dir/run/%n.pid
SlurmctldLogFile=$cluster_dir/log/slurmctld.log
SlurmdLogFile=$cluster_dir/log/%n.log
SlurmctldDebug=info
SlurmdDebug=info
DebugFlags=NO_CONF_HASH
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SwitchType=switch/none
SchedulerType=sched/backfill
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
GresTypes=gpu
DefMemPerCPU=100
SlurmdParameters=config_overrides
ReturnToService=2
TreeWidth=65533
SlurmctldTimeout=30
SlurmdTimeout=30
KillWait=2
MinJobAge=600
MaxJobCount=20000
MailProg=/bin/true
include $cluster_dir/etc/plugins.conf
include $cluster_dir/etc/nodes.conf
include $cluster_dir/etc/extra.conf
END
}
