#!/bin/bash
# limited_link.sh RATE COMMAND...: runs COMMAND with two hosts for ranks (PARADNN_HOSTS), which are two network namespaces of this machine, and a
# link of that rate (as tc has it: 200mbit) between them. The first host has the first core, the second one the second. A link whose all-reduces
# can be computed: 2(p-1)/p * bytes / rate, which for two ranks is bytes / rate. As root, with iproute2 and OpenMPI. With CUT=SECONDS in the
# environment, the second host's interface goes down that long after the ranks have started; with RATE `none`, the link is not limited.
set -e
rate=$1
shift
id=pdnn$$
room=$(mktemp -d)
ns() { ip netns exec "$id$1" "${@:2}"; }
finish() {
    [ -z "$cutter" ] || kill "$cutter" 2>/dev/null || :
    # Those of a host that was cut off have not heard that they should end.
    ip netns pids "${id}b" 2>/dev/null | xargs -r kill -KILL 2>/dev/null || :
    ip netns del "${id}a" 2>/dev/null || :
    ip netns del "${id}b" 2>/dev/null || :
    rm -rf "$room"
}
trap finish EXIT
trap 'exit 130' INT TERM

for side in a b; do
    ip netns add "$id$side"
    ns $side ip link set lo up
done
ip link add eth0 netns "${id}a" type veth peer name eth0 netns "${id}b"
for side in a b; do
    [ $side = a ] && address=10.77.0.1 || address=10.77.0.2
    ns $side ip address add $address/24 dev eth0
    # Small packets would cost the cores a sixth to a third of their time.
    ns $side ip link set eth0 mtu 60000 up
    [ "$rate" = none ] || ns $side tc qdisc add dev eth0 root tbf rate "$rate" burst 128kb latency 400ms
done

# What mpirun takes for ssh: enters the other host. Each has a temporary directory of its own, as two machines have.
read -r -a cores <<<"$(taskset -cp $$ | sed 's/.*: //' | tr ',' '\n' | awk -F- '{for (i = $1; i <= ($2 == "" ? $1 : $2); i++) print i}' | head -2 | tr '\n' ' ')"
mkdir "$room/b"
cat >"$room/agent" <<AGENT
#!/bin/sh
shift
touch "$room/started"
TMPDIR=$room/b exec nsenter --net=/run/netns/${id}b taskset -c ${cores[1]} sh -c "\$*"
AGENT
chmod +x "$room/agent"
cutter=
if [ -n "$CUT" ]; then
    (
        while [ ! -e "$room/started" ]; do sleep 0.1; done
        sleep "$CUT"
        ns b ip link set eth0 down
    ) &
    cutter=$!
fi
export PARADNN_HOSTS=10.77.0.1:1,10.77.0.2:1
export OMPI_MCA_plm_rsh_agent=$room/agent OMPI_MCA_plm_rsh_no_tree_spawn=1
export OMPI_MCA_btl=tcp,self OMPI_MCA_btl_tcp_if_include=10.77.0.0/24 OMPI_MCA_oob_tcp_if_include=10.77.0.0/24
# Recursive doubling moves all bytes of a message at once, which for two ranks is as many as the ring does. OpenMPI's own choice changes with
# the size of the message and takes up to half as long again.
export OMPI_MCA_coll_tuned_use_dynamic_rules=1 OMPI_MCA_coll_tuned_allreduce_algorithm=3
nsenter --net="/run/netns/${id}a" taskset -c "${cores[0]}" "$@"
