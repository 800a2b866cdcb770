# Reading topology profiles: files in tests/cluster/topologies, in these lines:
#   nodes N            how many nodes there are unless told otherwise
#   node KEY=VALUE...  a node's hardware, in slurm.conf's words
#   gpu KEY=VALUE...   one line a GPU, in gres.conf's words, without Name and File
#   mix PROFILE...     nodes of these profiles in turn, in place of node and gpu
# Sourced.

topologies_dir="$cluster_home/topologies"

topology_names() { ls "$topologies_dir" | tr '\n' ' '; }

topology_exists() { [[ $1 =~ ^[a-z0-9]+$ ]] && [ -f "$topologies_dir/$1" ]; }

# topology_lines PROFILE WORD: what follows WORD on the profile's lines.
topology_lines() { sed -n "s/^$2 //p" "$topologies_dir/$1"; }

# topology_of_node PROFILE INDEX: the profile of one node; for a mix, the INDEXth in turn.
topology_of_node() {
  local kinds
  read -r -a kinds <<<"$(topology_lines "$1" mix)"
  if [ ${#kinds[@]} = 0 ]; then echo "$1"; else echo "${kinds[$2 % ${#kinds[@]}]}"; fi
}

# topology_gres PROFILE: the Gres= value of slurm.conf, such as gpu:v100:16.
topology_gres() {
  topology_lines "$1" gpu | awk '
    { type = ""; for (i = 1; i <= NF; i++) if ($i ~ /^Type=/) type = substr($i, 6) ":" ; count[type]++ }
    END { for (type in count) printf "%sgpu:%s%d", sep, type, count[type], sep = "," }'
}
