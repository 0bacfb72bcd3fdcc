// tests/api/postgres.mjs -- a PostgreSQL of its own for tests: really started, on a socket in a folder, gone at the end.
import { spawnSync } from 'node:child_process';
import { chownSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The newest bin of PostgreSQL's server; undefined: it is not installed. */
function binFolder() {
    const root = '/usr/lib/postgresql';
    const versions = existsSync(root) ? readdirSync(root).sort((a, b) => Number(b) - Number(a)) : [];
    return versions.map((v) => join(root, v, 'bin')).find((bin) => existsSync(join(bin, 'initdb')));
}

/** Why it cannot be started here; null: it can. */
export function missing() {
    if (!binFolder()) return 'PostgreSQL is not installed (postgresql)';
    const root = process.getuid() === 0;
    return root && !/^postgres:/m.test(readFileSync('/etc/passwd', 'utf8')) ? 'PostgreSQL does not run as root, and there is no user postgres' : null;
}

/** Runs a command of the server: as the user postgres where this is root. */
function run(bin, command, ...args) {
    const [first, ...rest] = process.getuid() === 0 ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', join(bin, command), ...args] : [join(bin, command), ...args];
    const done = spawnSync(first, rest, { encoding: 'utf8', stdio: ['ignore', 'ignore', 'pipe'], cwd: '/' });
    if (done.status !== 0) throw new Error(`${command}: ${done.stderr ?? done.error}`);
}

/** What a statement on the database of an address answers: a line a row, `|` between values. */
export function psql(url, text) {
    const done = spawnSync(join(binFolder(), 'psql'), [url, '-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-c', text], { encoding: 'utf8' });
    if (done.status !== 0) throw new Error(done.stderr);
    return done.stdout.trim();
}

/** Starts it: {url(name), create(), stop(), log()}. */
export function startPostgres() {
    const folder = mkdtempSync('/tmp/breakeven-pg-'); // a socket's path is short
    const bin = binFolder(), data = join(folder, 'data');
    if (process.getuid() === 0) {
        const [, uid, gid] = /^postgres:[^:]*:(\d+):(\d+)/m.exec(readFileSync('/etc/passwd', 'utf8'));
        chownSync(folder, Number(uid), Number(gid));
    }
    run(bin, 'initdb', '-D', data, '-U', 'breakeven', '-A', 'trust', '-E', 'UTF8', '--locale=C.UTF-8', '--no-sync');
    const settings = `listen_addresses = ''\nunix_socket_directories = '${folder}'\nfsync = ${process.env.FSYNC ?? 'off'}\nmax_connections = 300\n`;
    writeFileSync(join(data, 'postgresql.auto.conf'), settings);
    run(bin, 'pg_ctl', '-D', data, '-l', join(data, 'log'), '-w', '-s', 'start');
    const url = (name) => `postgresql://breakeven@/${name}?host=${encodeURIComponent(folder)}`;
    let ended = false;
    const stop = () => {
        if (ended) return;
        ended = true;
        run(bin, 'pg_ctl', '-D', data, '-m', 'immediate', '-w', '-s', 'stop');
        rmSync(folder, { recursive: true, force: true });
    };
    process.once('exit', stop);
    return {
        url, stop,
        log: () => readFileSync(join(data, 'log'), 'utf8'),
        /** A database with nothing in it; its address. */
        create() {
            const name = `t${randomBytes(6).toString('hex')}`;
            psql(url('postgres'), `CREATE DATABASE ${name}`);
            return url(name);
        },
    };
}

// node tests/api/postgres.mjs COMMAND ARGUMENT...: with STORE, the address of a database of a server that goes with it.
if (process.argv[1] === fileURLToPath(import.meta.url)) {
    const why = missing();
    if (why) {
        console.log(`skipped: ${why}`);
    } else {
        const postgres = startPostgres();
        const done = spawnSync(process.argv[2], process.argv.slice(3), { stdio: 'inherit', env: { ...process.env, STORE: postgres.create() } });
        postgres.stop();
        process.exitCode = done.status ?? 1;
    }
}
