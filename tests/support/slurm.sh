#!/bin/sh
# Starts a Slurm cluster of one node on loopback, with its files in FOLDER. Both are removed when the process with the
# id OWNER ends.
# Usage: slurm.sh FOLDER OWNER
set -eu
folder=$1
owner=$2
port=$((20000 + owner % 20000))
host=$(hostname -s)
user=$(id -un)

cleanup() {
  ids=$(cat "$folder"/*.pid 2>/dev/null || true)
  for signal in TERM KILL; do
    # shellcheck disable=SC2086
    for _ in 1 2 3 4 5 6 7 8 9 10; do kill -$signal $ids 2>/dev/null && sleep 0.3; done
  done
  rm -rf "$folder"
}

chmod 700 "$folder"
mkdir "$folder/state" "$folder/spool"
head -c 1024 /dev/urandom >"$folder/key"
chmod 600 "$folder/key"
cat >"$folder/slurm.conf" <<END
ClusterName=moonrank
SlurmctldHost=$host(127.0.0.1)
SlurmUser=$user
SlurmdUser=$user
AuthInfo=socket=$folder/munge.socket
SlurmctldPort=$port
SlurmdPort=$((port + 1))
StateSaveLocation=$folder/state
SlurmdSpoolDir=$folder/spool
SlurmctldPidFile=$folder/slurmctld.pid
SlurmdPidFile=$folder/slurmd.pid
SlurmctldLogFile=$folder/slurmctld.log
SlurmdLogFile=$folder/slurmd.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=pmix
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SlurmdParameters=config_overrides
NodeName=$host NodeAddr=127.0.0.1 CPUs=4
PartitionName=all Nodes=$host Default=YES
END

( while kill -0 "$owner" 2>/dev/null; do sleep 0.3; done; cleanup ) >/dev/null 2>&1 &
munged --force --key-file="$folder/key" --socket="$folder/munge.socket" --pid-file="$folder/munged.pid" \
  --log-file="$folder/munged.log" --seed-file="$folder/munge.seed"
slurmctld -f "$folder/slurm.conf"
slurmd -f "$folder/slurm.conf"
