# Reads `scontrol -d show job`, taken several times, and prints a line a job: the last state seen, and the GPUs of each node
# while it ran.

function field(name) {
  return match($0, "(^| )" name "=[^ ]*") ? substr($0, RSTART + (substr($0, RSTART, 1) == " ") + length(name) + 1,
                                                   RLENGTH - (substr($0, RSTART, 1) == " ") - length(name) - 1) : ""
}

# How many numbers a list such as 0,2-3 stands for.
function size(list,   parts, ends, count, i) {
  for (i = split(list, parts, ","); i > 0; i--) count += split(parts[i], ends, "-") == 2 ? ends[2] - ends[1] + 1 : 1
  return count
}

# How many nodes a host list such as n[0,2-3] stands for.
function hosts(list) { return match(list, /\[.*\]/) ? size(substr(list, RSTART + 1, RLENGTH - 2)) : 1 }

/JobId=/ {
  id = field("JobId")
  if (!(id in shown)) { shown[id] = id; order[++jobs] = id }
  if (field("HetJobOffset") != "") shown[id] = field("HetJobId") "+" field("HetJobOffset")
  name[id] = field("JobName")
  places = ""; held = 0
}
/JobState=/ { state[id] = field("JobState") }
/NumTasks=/ { tasks[id] = field("NumTasks") }
/^ *NodeList=/ { list[id] = field("NodeList") }
state[id] == "RUNNING" && /^ *Nodes=.* GRES=/ {
  indices = match($0, /IDX:[^)]*/) ? substr($0, RSTART + 4, RLENGTH - 4) : ""
  held += indices == "" ? 0 : size(indices) * hosts(field("Nodes"))
  places = places " " field("Nodes") (indices == "" ? "" : " [" indices "]")
  where[id] = places; gpus[id] = held
}
END {
  for (i = 1; i <= jobs; i++) {
    id = order[i]
    printf "%-6s %-14s %-10s %5s %5d  %s\n", shown[id], name[id], state[id], tasks[id], gpus[id], id in where ? substr(where[id], 2) : list[id]
  }
}
