/**
 * GreenMail, an IMAP server in Java that is none of dovecot's kin, as a process of its own: its archive is fetched by Maven once, and kept. Java,
 * Maven and openssl are needed.
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

/** Why it cannot be started here; undefined where it can. */
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

/** The path of the archive. Throws where it cannot be fetched. */
function archive(): string {
  return mavenArchive(`com.icegreen:greenmail-standalone:${VERSION}`, `greenmail-${VERSION}`, ARCHIVE);
}

const USERS = 20;

/** With users `user1` and so on; it knows no others, no STARTTLS and no CONDSTORE. `draw` gives ports that are free. */
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
