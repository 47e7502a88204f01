/**
 * Runs Adobe's S3Mock, an S3 server in Java unrelated to moto, as a separate process. Its archive is fetched by Maven
 * once. Needs Java 17 and Maven.
 */
import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './free-port.js';
import { RUNS_SHORTLY } from './java.js';
import { mavenArchive } from './maven-archive.js';
import { Patience } from './patience.js';
import type { S3TestServer } from './s3-server.js';

const VERSION = '4.9.1';
const ARCHIVE = `s3mock-${VERSION}-exec.jar`;
const START_MS_MAX = 120_000;

/** Undefined if it is unavailable, after printing why. */
export async function s3Mock(): Promise<S3TestServer | undefined> {
  try {
    execFileSync('java', ['-version'], { stdio: 'ignore' });
    return await start(archive());
  } catch (error) {
    const reason = (error as Error).message.split('\n')[0] ?? '';
    process.stderr.write(`Skipped: tests against S3Mock, which cannot be run here (${reason})\n`);
    return undefined;
  }
}

/** Returns the path of the archive. Throws if it cannot be fetched. */
function archive(): string {
  return mavenArchive(`com.adobe.testing:s3mock:${VERSION}:jar:exec`, `s3mock-${VERSION}`, ARCHIVE);
}

async function start(jar: string): Promise<S3TestServer> {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-s3mock-'));
  const [port, tlsPort] = [await freePort(), await freePort()];
  // All its files are in the folder, which is removed with it.
  const settings = [...RUNS_SHORTLY, `-Djava.io.tmpdir=${folder}`, '-Xmx256m'];
  const ports = [`--server.port=${tlsPort}`, `--com.adobe.testing.s3mock.httpPort=${port}`];
  const child = spawn('java', [...settings, '-jar', jar, ...ports], { stdio: 'ignore' });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const endpoint = `http://127.0.0.1:${port}`;
  const close = async () => {
    child.kill();
    await exited;
    rmSync(folder, { recursive: true, force: true });
  };
  for (const patience = new Patience(START_MS_MAX); ;) {
    try {
      if ((await fetch(`${endpoint}/`)).ok) return { endpoint, close };
    } catch {
      // It is not listening yet.
    }
    if (child.exitCode !== null || patience.isOver()) {
      await close();
      throw new Error('it does not start');
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
