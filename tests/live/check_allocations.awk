# Reads `scontrol -d -o show job` and checks the whole allocation table: no core, GPU or megabyte of a node is given twice, no
# node gives more than it has, and no running job has less than it asked for, or more tasks' worth of nodes than it allowed.
# Run with -v cores=N -v gpus=N -v memory=MB (of each node) and -v asked=FILE, whose lines are: JOBNAME KEY=VALUE..., with keys
# cpus, gpus, gpus_node, mem_node, mem_cpu, nodes (at least), most_nodes, exclusive.
# Prints each violation and, last, "checked JOBS jobs on NODES nodes"; exit code 1 if there was a violation.
function bad(text) { print text; problems++ }

# "n[0-2,5]" to names[1..n]; returns n.
function expand(list, names,   n, prefix, inside, parts, i, range, low) {
  n = 0
  while (list != "") {
    if (match(list, /^[^,[]+\[[^]]*\]/)) {
      inside = substr(list, RSTART, RLENGTH); list = substr(list, RLENGTH + 2)
      prefix = inside; sub(/\[.*/, "", prefix); sub(/^[^[]*\[/, "", inside); sub(/\]$/, "", inside)
      split(inside, parts, ",")
      for (i = 1; i in parts; i++) {
        split(parts[i], range, "-")
        for (low = range[1] + 0; low <= (2 in range ? range[2] + 0 : range[1] + 0); low++) names[++n] = prefix low
        delete range
      }
      delete parts
    } else {
      match(list, /^[^,]+/)
      names[++n] = substr(list, 1, RLENGTH); list = substr(list, RLENGTH + 2)
    }
  }
  return n
}

# "0-3,7" to a set; returns how many.
function numbers(list, set,   n, parts, i, range, low) {
  n = 0
  split(list, parts, ",")
  for (i = 1; i in parts; i++) {
    if (parts[i] == "") continue
    split(parts[i], range, "-")
    for (low = range[1] + 0; low <= (2 in range ? range[2] + 0 : range[1] + 0); low++) { set[low] = 1; n++ }
    delete range
  }
  return n
}

function take(what, node, set, job, limit,   i, key) {
  for (i in set) {
    key = what " " i " of " node
    if (key in taken) bad(key " is given to " taken[key] " and " job)
    if (i + 0 >= limit) bad(key " does not exist; " job " has it")
    taken[key] = job
  }
}

function value(record, key) { return match(record, " " key "=[^ ]*") ? substr(record, RSTART + length(key) + 2, RLENGTH - length(key) - 2) : "" }

# One "Nodes=... CPU_IDs=... Mem=... GRES=..." of a job.
function node_part(job, part,   names, n, i, core_set, gpu_set, c, g, m, gres) {
  n = expand(value(part, "Nodes"), names)
  c = numbers(value(part, "CPU_IDs"), core_set)
  m = value(part, "Mem") + 0
  gres = value(part, "GRES")
  g = match(gres, /IDX:[0-9,-]*/) ? numbers(substr(gres, RSTART + 4, RLENGTH - 4), gpu_set) : 0
  for (i = 1; i <= n; i++) {
    take("core", names[i], core_set, job, cores)
    take("GPU", names[i], gpu_set, job, gpus)
    used[names[i]] += m
    if (used[names[i]] > memory) bad("memory of " names[i] ": " used[names[i]] " MB are given, it has " memory)
    if (want["exclusive"] && c < cores) bad(job " is exclusive and has " c " cores of " names[i])
    if (g < want["gpus_node"]) bad(job " has " g " GPUs on " names[i] ", asked for " want["gpus_node"] " a node")
    if (m < want["mem_node"]) bad(job " has " m " MB on " names[i] ", asked for " want["mem_node"] " a node")
    if (m < want["mem_cpu"] * c && !want["exclusive"]) bad(job " has " m " MB for " c " cores on " names[i])
    if (!(names[i] in seen)) { seen[names[i]] = 1; nodes_seen++ }
    got_nodes++; got_cores += c; got_gpus += g
  }
  delete core_set; delete gpu_set; delete names
}

function wanted(line,   parts, i, pair) {
  delete want
  split(line, parts, " ")
  for (i = 1; i in parts; i++) { split(parts[i], pair, "="); want[pair[1]] = pair[2] + 0 }
}

BEGIN {
  while ((getline line < asked) > 0) { name = line; sub(/ .*/, "", name); sub(/^[^ ]* ?/, "", line); wishes[name] = line }
}

/ JobState=RUNNING / {
  job = $1; name = value($0, "JobName")
  if (!(name in wishes)) { bad(job ": nobody asked for " name); next }
  wanted(wishes[name])
  got_nodes = got_cores = got_gpus = 0
  rest = $0
  while (match(rest, / Nodes=[^ ]+ CPU_IDs=[^ ]* Mem=[^ ]* GRES=[^ ]*/)) {
    part = substr(rest, RSTART, RLENGTH); rest = substr(rest, RSTART + RLENGTH)
    node_part(job, part)
  }
  if (got_nodes == 0) { bad(job " runs nowhere: " $0); next }
  # Stock 22.05 itself starts "-n 6 -c 3" where 7, 7 and 4 cores are free, which is room for 5 tasks: only plans are held to it.
  if (got_cores < want["cpus"] && / SystemComment=harmony: /) bad(job " (" name ") has " got_cores " cores, asked for " want["cpus"])
  if (got_gpus < want["gpus"]) bad(job " (" name ") has " got_gpus " GPUs, asked for " want["gpus"])
  if (got_nodes < want["nodes"]) bad(job " (" name ") has " got_nodes " nodes, asked for " want["nodes"])
  if (want["most_nodes"] && got_nodes > want["most_nodes"]) bad(job " (" name ") has " got_nodes " nodes, allowed are " want["most_nodes"])
  jobs++
}

END { printf "checked %d jobs on %d nodes\n", jobs, nodes_seen; exit problems > 0 }
