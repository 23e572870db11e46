# For scripts that need a limit of memory: `limit MIB` makes a control group (version 1 or 2) with that limit
# or, when it is there, gives it another one; `inside COMMAND...` runs there. Without such rights limit fails.
group=
remove_group() { [ -z "$group" ] || rmdir "$group"; }
limit() {
	local own dir file
	own=$(sed -n 's/^0:://p' /proc/self/cgroup)
	for dir in /sys/fs/cgroup/memory "/sys/fs/cgroup$own"; do
		[ -z "$group" ] && [ -w "$dir/cgroup.procs" ] && mkdir "$dir/rocsmith-e2e-$$" 2>/dev/null &&
			group=$dir/rocsmith-e2e-$$ && trap remove_group EXIT
	done
	for file in memory.limit_in_bytes memory.max; do
		[ -n "$group" ] && [ -w "$group/$file" ] && echo $(($1 << 20)) 2>/dev/null >"$group/$file" && return
	done
	return 1
}
inside() { sh -c "echo \$\$ >$group/cgroup.procs && exec \"\$@\"" sh "$@"; }
