/**
 * A server that speaks S3 and is none of ours: moto (PyPI), in a virtual environment of the machine's temporary folder, installed once.
 * Where it cannot be installed, tests that need it are skipped with the reason.
 */
import { execFile, spawn } from 'node:child_process';
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.js';

const PACKAGE = 'moto[server,s3]==5.2.5';
const FOLDER = join(tmpdir(), `gannet-s3-server-${process.getuid?.() ?? 0}`);
const INSTALL_MS_MAX = 240_000;
const START_MS_MAX = 60_000;

export interface S3TestServer {
  readonly endpoint: string;
  close(): Promise<void>;
}

/** Undefined, with a line that says why, where there is none. */
export async function s3Server(): Promise<S3TestServer | undefined> {
  try {
    await install();
    return await start();
  } catch (error) {
    const reason = (error as Error).message.split('\n')[0] ?? '';
    process.stderr.write(`Skipped: tests against a server that speaks S3, for moto cannot be run here (${reason})\n`);
    return undefined;
  }
}

async function install(): Promise<void> {
  if (existsSync(join(FOLDER, 'bin', 'moto_server'))) return;
  const run = promisify(execFile);
  // Made beside it and renamed: another process may be at it as well. An environment can be moved once; scripts in it are not used.
  const fresh = `${FOLDER}.${process.pid}`;
  mkdirSync(fresh, { recursive: true });
  try {
    await run('python3', ['-m', 'venv', fresh], { timeout: INSTALL_MS_MAX });
    await run(join(fresh, 'bin', 'python3'), ['-m', 'pip', 'install', '--quiet', PACKAGE], { timeout: INSTALL_MS_MAX });
    if (!existsSync(FOLDER)) renameSync(fresh, FOLDER);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

async function start(): Promise<S3TestServer> {
  const port = await freePort();
  const child = spawn(join(FOLDER, 'bin', 'python3'), ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], {
    stdio: 'ignore',
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const endpoint = `http://127.0.0.1:${port}`;
  const close = async () => {
    child.kill();
    await exited;
  };
  for (const until = Date.now() + START_MS_MAX; ;) {
    try {
      if ((await fetch(`${endpoint}/moto-api/`)).ok) return { endpoint, close };
    } catch {
      // Not listening yet.
    }
    if (child.exitCode !== null || Date.now() > until) {
      await close();
      throw new Error('it does not start');
    }
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
