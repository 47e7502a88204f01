/**
 * Debian's dovecot as a process of its own: its packages are fetched by apt and unpacked into a folder, and a mount namespace lays them over those of
 * the system, for it knows its paths by heart. Linux, root and Debian's packages are needed.
 */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '../certificate.js';
import { packagesFault, unpackedPackages } from '../debian-packages.js';
import { freePort } from '../free-port.js';

const PACKAGES = [
  'libexttextcat-data',
  'libexttextcat-2.0-0',
  'liblua5.4-0',
  'libwrap0',
  'dovecot-core',
  'dovecot-imapd',
];
const OVERLAID = ['usr/lib', 'usr/bin', 'usr/sbin', 'usr/share'];
const START_MS_MAX = 120_000;
/** Of Debian's user `mail`. */
const MAIL_ID = 8;
const PASSWORD = 'not-so-s3cret';

/** Why it cannot be started here; undefined where it can. */
export function dovecotFault(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'dovecot is started by root, on Linux';
  try {
    unpackedPackages('dovecot', PACKAGES);
    execFileSync('unshare', ['-m', 'true']);
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return undefined;
  } catch (error) {
    return packagesFault('dovecot', error);
  }
}

export class Dovecot {
  readonly password = PASSWORD;

  private constructor(
    private readonly folder: string,
    readonly tlsPort: number,
    readonly plainPort: number,
    private readonly child: ChildProcess,
  ) {}

  static async start(): Promise<Dovecot> {
    const root = unpackedPackages('dovecot', PACKAGES);
    const folder = mkdtempSync(join(tmpdir(), 'gannet-mail-'));
    chmodSync(folder, 0o711);
    mkdirSync(join(folder, 'mail'));
    chownSync(join(folder, 'mail'), MAIL_ID, MAIL_ID);
    makeCertificate(folder);
    const [tlsPort, plainPort] = [await freePort(), await freePort()];
    writeFileSync(join(folder, 'dovecot.conf'), settings(folder, tlsPort, plainPort));
    const mounts = OVERLAID.map((dir) => `mount -t overlay overlay -o lowerdir="${root}/${dir}:/${dir}" "/${dir}"`);
    const run = `export LD_LIBRARY_PATH=/usr/lib/dovecot; exec /usr/sbin/dovecot -F -c "${folder}/dovecot.conf"`;
    const child = spawn('unshare', ['-m', 'sh', '-ec', [...mounts, run].join('\n')], { stdio: 'ignore' });
    const dovecot = new Dovecot(folder, tlsPort, plainPort, child);
    await dovecot.answers();
    return dovecot;
  }

  /** Of its certificate, for `mail.example` and `localhost`. */
  get certificate(): string {
    return readFileSync(this.certificatePath, 'utf8');
  }

  get certificatePath(): string {
    return join(this.folder, 'cert.pem');
  }

  async close(): Promise<void> {
    // One that has ended says so no more.
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const ended = new Promise((resolve) => this.child.once('exit', resolve));
      this.child.kill('SIGTERM');
      await ended;
    }
    rmSync(this.folder, { recursive: true, force: true });
  }

  private async answers(): Promise<void> {
    const endMs = performance.now() + START_MS_MAX;
    for (;;) {
      const isThere = await new Promise<boolean>((resolve) => {
        const socket = connect(this.plainPort, '127.0.0.1');
        socket.once('data', () => {
          socket.destroy();
          resolve(true);
        });
        socket.once('error', () => resolve(false));
      });
      if (isThere) return;
      if (performance.now() > endMs || this.child.exitCode !== null)
        throw new Error(`dovecot did not start: ${readFileSync(join(this.folder, 'log'), 'utf8')}`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}

function settings(folder: string, tlsPort: number, plainPort: number): string {
  return `
base_dir = ${folder}/run
state_dir = ${folder}/state
log_path = ${folder}/log
protocols = imap
listen = 127.0.0.1, ::1
default_internal_user = daemon
default_internal_group = daemon
default_login_user = nobody
first_valid_uid = 0
auth_mechanisms = plain
ssl = required
ssl_cert = <${folder}/cert.pem
ssl_key = <${folder}/key.pem
mail_location = maildir:${folder}/mail/%u
service anvil {
  chroot =
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${plainPort}
  }
  inet_listener imaps {
    port = ${tlsPort}
    ssl = yes
  }
}
passdb {
  driver = static
  args = password=${PASSWORD}
}
userdb {
  driver = static
  args = uid=${MAIL_ID} gid=${MAIL_ID} home=${folder}/mail/%u
}
`;
}
