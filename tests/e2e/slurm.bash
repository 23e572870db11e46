# For scripts that need Slurm: munged, slurmctld and two slurmd (nodes n1 and n2, two CPUs each) on loopback, without systemd, in
# the folder $slurm. slurm_start starts them, and exports what sbatch and squeue need; slurm_kill NODE is a power failure: the
# daemon of the node ends with all that ran there; slurm_stop ends everything.

slurm_can() { # says why not
	[ "$(id -u)" = 0 ] || { echo 'only root may start slurmd'; return 1; }
	local program
	for program in munged slurmctld slurmd sbatch squeue; do
		PATH=$PATH:/usr/sbin command -v $program >/dev/null || { echo "no $program"; return 1; }
	done
}

slurm_start() { # FOLDER
	local host ports node
	slurm=$1
	export PATH=$PATH:/usr/sbin SLURM_CONF=$slurm/slurm.conf
	mkdir -p "$slurm/munge" "$slurm/control" "$slurm/n1" "$slurm/n2"
	chmod 755 "$slurm" "$slurm/munge"
	head -c 128 /dev/urandom >"$slurm/munge/key"
	chmod 400 "$slurm/munge/key"
	host=$(hostname -s)
	ports=($(python3 -c '
import socket
taken = [socket.socket() for _ in range(3)]
for s in taken: s.bind(("127.0.0.1", 0))
print(*[s.getsockname()[1] for s in taken])'))
	# cred_expire is how long a job waits that starts again (slurm.conf(5): AuthInfo)
	cat >"$SLURM_CONF" <<-END
		ClusterName=rocsmith
		SlurmctldHost=$host(127.0.0.1)
		SlurmctldPort=${ports[0]}
		SlurmUser=root
		SlurmdUser=root
		AuthType=auth/munge
		CredType=cred/munge
		AuthInfo=socket=$slurm/munge/socket,cred_expire=5
		StateSaveLocation=$slurm/control
		SlurmdSpoolDir=$slurm/%n
		SlurmctldPidFile=$slurm/control.pid
		SlurmdPidFile=$slurm/%n.pid
		SlurmctldLogFile=$slurm/control.log
		SlurmdLogFile=$slurm/%n.log
		ProctrackType=proctrack/pgid
		TaskPlugin=task/none
		SelectType=select/cons_tres
		SelectTypeParameters=CR_Core_Memory
		JobAcctGatherType=jobacct_gather/none
		AccountingStorageType=accounting_storage/none
		MpiDefault=none
		SwitchType=switch/none
		ReturnToService=2
		SlurmdTimeout=5
		MessageTimeout=5
		KillWait=1
		MinJobAge=10
		SlurmdParameters=config_overrides
		SchedulerParameters=bf_interval=1,sched_interval=1,sched_min_interval=0,batch_sched_delay=0
		NodeName=n1 NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[1]} CPUs=2 RealMemory=16000
		NodeName=n2 NodeHostname=$host NodeAddr=127.0.0.1 Port=${ports[2]} CPUs=2 RealMemory=16000
		PartitionName=all Nodes=n1,n2 Default=YES MaxTime=INFINITE DefMemPerCPU=1000 State=UP
	END
	munged -F --force --key-file="$slurm/munge/key" --socket="$slurm/munge/socket" --pid-file="$slurm/munge/pid" \
		--log-file="$slurm/munge/log" --seed-file="$slurm/munge/seed" >"$slurm/munge/out" 2>&1 &
	slurm_pids="$!"
	for _ in $(seq 50); do
		[ -S "$slurm/munge/socket" ] && break
		sleep 0.1
	done
	slurmctld -D >"$slurm/control.out" 2>&1 &
	slurm_pids="$slurm_pids $!"
	for node in n1 n2; do
		slurmd -D -N $node >"$slurm/$node.out" 2>&1 &
		echo $! >"$slurm/$node.started"
		slurm_pids="$slurm_pids $!"
	done
	for _ in $(seq 150); do
		[ "$(sinfo --noheader --Node --format=%T 2>/dev/null | grep -c '^idle$')" = 2 ] && return
		sleep 0.1
	done
	return 1
}

# Kills what has this in its environment, which tells what a node runs of ours from everything else.
slurm_kill_with() { # TEXT...
	python3 - "$@" <<-'END'
		import os, signal, sys
		for _ in range(5):
		    for pid in filter(str.isdigit, os.listdir("/proc")):
		        try:
		            words = open(f"/proc/{pid}/environ", "rb").read().split(b"\0")
		            if all(w.encode() in words for w in sys.argv[1:]) and int(pid) not in (os.getpid(), os.getppid()):
		                os.kill(int(pid), signal.SIGKILL)
		        except OSError:
		            pass
	END
}

slurm_kill() { # NODE
	local pid
	kill -9 "$(cat "$slurm/$1.started")"
	for pid in $(pgrep -f "^slurmstepd: " || true); do # a step's keeper has its node's folder open or in its log
		ls -l "/proc/$pid/fd" 2>/dev/null | grep -qF "$slurm/$1" && kill -9 "$pid"
	done
	slurm_kill_with "SLURM_CONF=$SLURM_CONF" "SLURMD_NODENAME=$1"
}

slurm_stop() {
	local node
	scancel --me 2>/dev/null || true
	sleep 0.5
	for node in n1 n2; do slurm_kill $node 2>/dev/null || true; done
	kill $slurm_pids 2>/dev/null || true
	wait $slurm_pids 2>/dev/null || true
}
