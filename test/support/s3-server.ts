/**
 * Runs moto (PyPI), an S3 server that is not ours, in a virtual environment that is installed once. If it cannot be
 * installed, tests that need it are skipped with the reason.
 */
import { execFile, spawn } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from './free-port.js';
import { freshFolder, keep, keptFolder } from './kept-folder.js';
import { Patience } from './patience.js';

const PACKAGE = 'moto[server,s3]==5.2.5';
const INSTALL_MS_MAX = 240_000;
const START_MS_MAX = 120_000;

export interface S3TestServer {
  readonly endpoint: string;
  close(): Promise<void>;
}

/** Returns a function that sends requests to the bucket at this address as its owner. Any signature is accepted. */
export function askBucket(url: string) {
  const authorization = 'AWS4-HMAC-SHA256 Credential=AKIATEST/20260101/us-east-1/s3/aws4_request';
  return (method: string, path = '', body?: string) =>
    fetch(`${url}${path}`, { method, headers: { authorization }, ...(body === undefined ? {} : { body }) });
}

/** Undefined if it is unavailable, after printing why. */
export async function s3Server(): Promise<S3TestServer | undefined> {
  try {
    return await start(await install());
  } catch (error) {
    const reason = (error as Error).message.split('\n')[0] ?? '';
    process.stderr.write(`Skipped: tests against a server that speaks S3, for moto cannot be run here (${reason})\n`);
    return undefined;
  }
}

/** Resolves with its folder. */
async function install(): Promise<string> {
  const { path, isThere } = keptFolder(PACKAGE.replaceAll(/[^\w.]+/g, '-'));
  if (isThere) return path;
  const run = promisify(execFile);
  // A virtual environment may be moved, as long as its scripts are not used.
  const fresh = freshFolder(path);
  try {
    await run('python3', ['-m', 'venv', fresh], { timeout: INSTALL_MS_MAX });
    await run(join(fresh, 'bin', 'python3'), ['-m', 'pip', 'install', '--quiet', PACKAGE], { timeout: INSTALL_MS_MAX });
    keep(fresh, path);
    return path;
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}

async function start(folder: string): Promise<S3TestServer> {
  const port = await freePort();
  const child = spawn(join(folder, 'bin', 'python3'), ['-m', 'moto.server', '-H', '127.0.0.1', '-p', String(port)], {
    stdio: 'ignore',
  });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  const endpoint = `http://127.0.0.1:${port}`;
  const close = async () => {
    child.kill();
    await exited;
  };
  for (const patience = new Patience(START_MS_MAX); ;) {
    try {
      if ((await fetch(`${endpoint}/moto-api/`)).ok) return { endpoint, close };
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
