/**
 * Runs Debian's dovecot as a separate process. Its packages are fetched by apt, unpacked into a folder, and overlaid on
 * the system's folders in a mount namespace, since dovecot has fixed paths. Needs Linux, root and Debian's packages.
 */
import { execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '../certificate.js';
import { packagesFault, unpackedPackages } from '../debian-packages.js';
import { MailServer, onFreePorts, type MailPorts } from './mail-server.js';

const PACKAGES = [
  'libexttextcat-data',
  'libexttextcat-2.0-0',
  'liblua5.4-0',
  'libwrap0',
  'dovecot-core',
  'dovecot-imapd',
];
const OVERLAID = ['usr/lib', 'usr/bin', 'usr/sbin', 'usr/share'];
/** Debian's user `mail`. */
const MAIL_ID = 8;
const PASSWORD = 'not-so-s3cret';

/** Returns why it cannot be started here; undefined if it can. */
export function dovecotFault(): string | undefined {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'dovecot is started by root, on Linux';
  try {
    const root = unpackedPackages('dovecot', PACKAGES);
    const env = { ...process.env, LD_LIBRARY_PATH: `${root}/usr/lib/dovecot` };
    const version = execFileSync(`${root}/usr/sbin/dovecot`, ['--version'], { encoding: 'utf8', env });
    // Debian 13 has 2.4, whose settings have other names.
    if (!version.startsWith('2.3.')) return `dovecot is ${version.trim()} here, and the settings are those of 2.3`;
    execFileSync('unshare', ['-m', 'true']);
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return undefined;
  } catch (error) {
    return packagesFault('dovecot', error);
  }
}

/** `draw` returns free ports. */
export function startDovecot(draw?: () => Promise<number>): Promise<MailServer> {
  return onFreePorts(start, draw);
}

async function start({ tlsPort, plainPort }: MailPorts): Promise<MailServer> {
  const root = unpackedPackages('dovecot', PACKAGES);
  const folder = mkdtempSync(join(tmpdir(), 'gannet-mail-'));
  chmodSync(folder, 0o711);
  mkdirSync(join(folder, 'mail'));
  chownSync(join(folder, 'mail'), MAIL_ID, MAIL_ID);
  makeCertificate(folder);
  writeFileSync(join(folder, 'dovecot.conf'), settings(folder, tlsPort, plainPort));
  const mounts = OVERLAID.map((dir) => `mount -t overlay overlay -o lowerdir="${root}/${dir}:/${dir}" "/${dir}"`);
  const run = `export LD_LIBRARY_PATH=/usr/lib/dovecot; exec /usr/sbin/dovecot -F -c "${folder}/dovecot.conf"`;
  const child = spawn('unshare', ['-m', 'sh', '-ec', [...mounts, run].join('\n')], { stdio: 'ignore' });
  const server = new MailServer({
    folder,
    password: PASSWORD,
    tlsPort,
    plainPort,
    hasStartTls: true,
    hasCondStore: true,
    child,
  });
  return server.answers();
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
