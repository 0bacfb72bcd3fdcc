"""The host of the torch engine (profiler/torch/host.h): keeps torch loaded between jobs.

    python3 host.py    the socket on descriptor 3 listens; a connection is a job

It knows nothing of torch.  It gives each job to a servant, a process of the job's kind
which has torch loaded and its compilers at work: to load them takes longer than most jobs.
It holds the servant to the job's limits, and ends it with all that it started when it
passes one, when whoever wants the job is gone, and when it did not leave torch as it was.
"""
import contextlib
import ctypes
import json
import os
import resource
import select
import signal
import socket
import time

import worker

WATCH_S, IDLE_S = 0.5, 120
LISTEN_FD, ORDER_BYTES, ORDER_S = 3, 1 << 16, 5
TAIL_BYTES = 8 << 10
SET_PDEATHSIG, NO_NEW_PRIVS, SET_CHILD_SUBREAPER = 1, 38, 36
HOME = os.path.dirname(os.path.abspath(__file__))


def processes():
    """{number: (its parent, the bytes it holds)}, by the numbers that /proc has: where this process is in a
    namespace, those of who looks from outside."""
    found, page = {}, os.sysconf("SC_PAGE_SIZE")
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(OSError), open(f"/proc/{name}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
            found[int(name)] = int(fields[1]), int(fields[21]) * page
    return found


def held_bytes(top, found):
    """Memory of a process and all that it started, theirs or shared."""
    inside = {top: True}

    def belongs(number):
        if number not in inside:
            inside[number] = False  # where numbers were given again meanwhile there may be a ring
            inside[number] = number in found and belongs(found[number][0])
        return inside[number]

    return sum(held for number, (_, held) in found.items() if belongs(number))


def end_strays(servants, found):
    """Ends what lost its parent: it is this process's child then, and no servant."""
    own, wanted = int(os.readlink("/proc/self")), {s.seen_as for s in servants}
    for number in (n for n, (parent, _) in found.items() if parent == own and n not in wanted):
        with contextlib.suppress(OSError, StopIteration), open(f"/proc/{number}/status", encoding="ascii", errors="replace") as file:
            os.kill(int(next(line for line in file if line.startswith("NSpid:")).split()[-1]), signal.SIGKILL)


def reap(servants):
    """Those whose end nobody waits for."""
    wanted = {s.pid for s in servants}
    with contextlib.suppress(ChildProcessError):
        while (ended := os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)) and ended.si_pid not in wanted:
            os.waitpid(ended.si_pid, 0)


class Servant:
    """A process that does one job after the other, and all that it starts; seen by the host."""

    def __init__(self, kind, number):
        self.kind, self.job, self.idle_since = kind, None, time.monotonic()
        self.log = os.open(os.path.join(HOME, "said-%d" % number), os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self.channel, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.pid = os.fork()
        if self.pid == 0:
            self.channel.close()
            obey(theirs, self.log)
        theirs.close()
        with contextlib.suppress(OSError):
            os.setpgid(self.pid, self.pid)
        self.ended = os.pidfd_open(self.pid)
        with open("/proc/self/fdinfo/%d" % self.ended, encoding="ascii") as file:
            self.seen_as = int(next(line for line in file if line.startswith("Pid:")).split()[1])  # in /proc

    def begin(self, connection, order, out, errors):
        os.ftruncate(self.log, 0)  # what it says from here on is of this job
        self.job, self.limits, self.out, self.errors = connection, order["limits"], out, errors
        try:
            socket.send_fds(self.channel, [json.dumps(order).encode()], [out])
        except OSError:  # it has just ended: its end is told
            pass

    def finish(self, message=None):
        """The job is over: what it said last, and why it failed."""
        said = os.fstat(self.log).st_size
        tail = os.pread(self.log, TAIL_BYTES, max(said - TAIL_BYTES, 0))
        for fd, send in ((self.errors, lambda fd: os.write(fd, tail)), (self.out, lambda fd: message and worker.write_line(fd, message))):
            with contextlib.suppress(OSError):  # nobody listens any more
                send(fd)
            os.close(fd)
        self.job.close()
        self.job, self.idle_since = None, time.monotonic()

    def end(self, why=None):
        """Its number is ours until it is reaped, and it is a group of its own."""
        os.killpg(self.pid, signal.SIGKILL)
        status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        if self.job:
            self.finish({"error": {"code": "worker", "message": why or self.why(status)}})
        self.channel.close()
        for fd in (self.ended, self.log):
            os.close(fd)

    def why(self, status):
        if status == -signal.SIGXCPU:
            return "torch used %d s of processor time, its limit: measure fewer points or smaller inputs" % self.limits["cpu_s"]
        if status < 0:
            return "torch crashed (signal %d, %s); the server is not affected" % (-status, signal.strsignal(-status))
        return "torch's process ended with status %d" % status


class Host:
    def __init__(self):
        self.listener = socket.socket(fileno=LISTEN_FD)
        self.servants, self.made = [], 0

    def serve(self):
        """Until the standard input closes, which it does when who started us ends, however
        that is."""
        with contextlib.suppress(KeyboardInterrupt):  # its parent has ended
            self.watch()
        for servant in list(self.servants):
            self.drop(servant, "torch's host was stopped")
        end_strays([], processes())

    def watch(self):
        while self.look():
            found = processes() if self.servants else {}
            end_strays(self.servants, found)
            reap(self.servants)
            for servant in list(self.servants):
                held = held_bytes(servant.seen_as, found) if servant.job else 0
                if servant.job and held > servant.limits["memory_bytes"]:
                    self.drop(servant, "torch held %d MiB of memory; the limit is %d MiB: use smaller inputs or fewer modes"
                              % (held >> 20, servant.limits["memory_bytes"] >> 20))
                elif not servant.job and time.monotonic() - servant.idle_since > IDLE_S:
                    self.drop(servant)

    def look(self):
        """What has happened meanwhile; false when it is time to end."""
        poll, what = select.poll(), {0: None, LISTEN_FD: self.accept}
        for servant in self.servants:
            # In this order: a servant says that a job is done and may end then.
            what[servant.channel.fileno()] = lambda s=servant: self.on_message(s)
            what[servant.ended] = lambda s=servant: self.bury(s)
            if servant.job:
                what[servant.job.fileno()] = lambda s=servant: self.drop(s, "the job was given up")
        for fd in what:
            poll.register(fd, select.POLLIN)
        ready = dict(poll.poll(WATCH_S * 1000))
        if 0 in ready and not os.read(0, 1):
            return False
        for fd, act in what.items():
            if fd in ready and act:
                act()
                break  # it may have closed others of them
        return True

    def accept(self):
        connection = self.listener.accept()[0]
        connection.settimeout(ORDER_S)
        fds = []
        try:
            text, fds, _, _ = socket.recv_fds(connection, ORDER_BYTES, 2)
            order = json.loads(text)
            kind = "trace" if order["role"] == "trace" else "run"
            (out, errors), limits = fds, order["limits"]
            limits["cpu_s"], limits["memory_bytes"], limits["file_bytes"]
        except (OSError, ValueError, KeyError, TypeError):
            connection.close()
            for fd in fds:
                os.close(fd)
            return
        free = [s for s in self.servants if s.kind == kind and not s.job]
        if not free:
            free = [Servant(kind, self.made)]
            self.servants += free
            self.made += 1
        free[0].begin(connection, order, out, errors)

    def on_message(self, servant):
        word = servant.channel.recv(16)
        if word and servant.job:
            servant.finish()
        if word != b"next":
            self.bury(servant)

    def bury(self, servant):
        """It has ended by itself, or is about to."""
        select.select([servant.ended], [], [], ORDER_S)
        self.drop(servant)

    def drop(self, servant, why=None):
        self.servants.remove(servant)
        servant.end(why)


# ---- a servant


def system_call(option, value):
    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


def limit(what, most):
    """A lower limit; the hard one of an operator stays where it is lower yet."""
    hard = resource.getrlimit(what)[1]
    resource.setrlimit(what, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def confine(limits):
    """For one job: what it may take over what the servant has had."""
    used = os.times()
    limit(resource.RLIMIT_CPU, int(used.user + used.system) + limits["cpu_s"])
    limit(resource.RLIMIT_FSIZE, limits["file_bytes"])


def obey(channel, log):
    """Jobs, one after the other; the process ends with the host."""
    host = os.getppid()
    os.setpgid(0, 0)
    system_call(SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != host:
        os._exit(0)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    system_call(NO_NEW_PRIVS, 1)
    with contextlib.suppress(OSError):  # when memory runs out the system ends us, not the server
        with open("/proc/self/oom_score_adj", "w", encoding="ascii") as file:
            file.write("1000")
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    resource.setrlimit(resource.RLIMIT_AS, (hard, hard))  # torch maps more than it uses
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    for fd in (1, 2):  # messages have their own way out: what a program prints is no message
        os.dup2(log, fd)
    kept = channel.fileno()
    os.closerange(LISTEN_FD, kept)
    os.closerange(kept + 1, 1 << 16)
    while True:
        text, fds, _, _ = socket.recv_fds(channel, ORDER_BYTES, 1)
        if not text:
            os._exit(0)
        order, worker.OUT = json.loads(text), fds[0]
        confine(order["limits"])
        stays = worker.perform(order)
        os.close(worker.OUT)
        channel.send(b"next" if stays else b"last")
        if not stays:
            os._exit(0)  # threads of compilers are not waited for


if __name__ == "__main__":
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the first of a namespace gets no other signal from those in it
    system_call(SET_CHILD_SUBREAPER, 1)  # what loses its parent is found here
    if os.getpid() != 1:  # of no namespace that ends with it: it ends what it started, when its parent has ended too
        signal.signal(signal.SIGTERM, signal.default_int_handler)
        system_call(SET_PDEATHSIG, signal.SIGTERM)
    Host().serve()
