/**
 * Runs GreenMail, an IMAP server in Java unrelated to dovecot, as a separate process. Its archive is fetched by Maven
 * once. Needs Java, Maven and openssl.
 */
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from '../certificate.js';
import { RUNS_SHORTLY } from '../java.js';
import { mavenArchive } from '../maven-archive.js';
import { MailServer, onFreePorts, type MailPorts } from './mail-server.js';

const VERSION = '2.1.8';
const ARCHIVE = `greenmail-standalone-${VERSION}.jar`;
const PASSWORD = 'not-so-s3cret';

/** Returns why it cannot be started here; undefined if it can. */
export function greenMailFault(): string | undefined {
  try {
    const quiet = { stdio: 'ignore' } as const;
    execFileSync('java', ['-version'], quiet);
    execFileSync('openssl', ['version'], quiet);
    archive();
    return undefined;
  } catch (error) {
    return `GreenMail cannot be started, which takes Java and Maven: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`;
  }
}

/** Returns the path of the archive. Throws if it cannot be fetched. */
function archive(): string {
  return mavenArchive(`com.icegreen:greenmail-standalone:${VERSION}`, `greenmail-${VERSION}`, ARCHIVE);
}

const USERS = 20;

/**
 * Starts it with users `user1` and so on. It has no other users, no STARTTLS and no CONDSTORE. `draw` returns free
 * ports.
 */
export function startGreenMail(draw?: () => Promise<number>): Promise<MailServer> {
  return onFreePorts(start, draw);
}

async function start({ tlsPort, plainPort }: MailPorts): Promise<MailServer> {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-greenmail-'));
  const { keyPath, certificatePath } = makeCertificate(folder);
  const store = join(folder, 'store.p12');
  const made = ['-in', certificatePath, '-inkey', keyPath, '-out', store, '-passout', `pass:${PASSWORD}`];
  execFileSync('openssl', ['pkcs12', '-export', ...made], { stdio: 'ignore' });
  const known = Array.from({ length: USERS }, (_, number) => `user${number + 1}:${PASSWORD}@mail.example`);
  const settings = [
    ...['imap.hostname=127.0.0.1', `imap.port=${plainPort}`, 'imaps.hostname=127.0.0.1', `imaps.port=${tlsPort}`],
    ...[`tls.keystore.file=${store}`, `tls.keystore.password=${PASSWORD}`, `users=${known.join(',')}`],
  ].map((setting) => `-Dgreenmail.${setting}`);
  const log = openSync(join(folder, 'log'), 'w');
  const child = spawn('java', [...RUNS_SHORTLY, '-Xmx1g', ...settings, '-jar', archive()], {
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const server = new MailServer({
    folder,
    password: PASSWORD,
    tlsPort,
    plainPort,
    hasStartTls: false,
    hasCondStore: false,
    child,
  });
  return server.answers();
}
