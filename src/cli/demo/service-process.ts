/** Runs the service in a separate process, as an operator would, and waits until it is ready. */
import { spawn, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { packageRoot } from '../../platform/index.js';
import { CommandError, EXIT } from '../exit-codes.js';

const START_TIMEOUT_MS = 60_000;
const READY_LINE = /ready on (http\S+)/;

export interface ServiceProcess {
  readonly address: string;
  /** Resolves with the exit status when the process ends. */
  readonly ended: Promise<number>;
  /** Stops the process cleanly and waits for its end. */
  stop(): Promise<number>;
}

/** Rejects with a CommandError that contains the service's output if it does not start. */
export async function startServiceProcess(env: Readonly<Record<string, string>>): Promise<ServiceProcess> {
  const child = spawn(process.execPath, [join(packageRoot(), 'bin', 'gannet.js'), 'serve'], {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    // In its own process group, so that Ctrl-C reaches only this process, which then stops the service cleanly.
    detached: true,
  });
  const ended = new Promise<number>((resolve) => {
    child.once('exit', (code) => resolve(code ?? EXIT.failed));
    child.once('error', () => resolve(EXIT.unavailable));
  });
  const stopWithParent = () => void child.kill('SIGTERM');
  process.once('exit', stopWithParent);
  void ended.then(() => process.off('exit', stopWithParent));

  const address = await readyAddress(child, ended);
  child.stderr?.pipe(process.stderr);
  child.stdout?.resume();
  return {
    address,
    ended,
    stop() {
      child.kill('SIGTERM');
      return ended;
    },
  };
}

async function readyAddress(child: ChildProcess, ended: Promise<number>): Promise<string> {
  let printed = '';
  let timer: NodeJS.Timeout | undefined;
  const collectErrors = (chunk: Buffer) => void (printed += chunk.toString('utf8'));
  child.stderr?.on('data', collectErrors);
  const ready = new Promise<string>((resolve) => {
    let output = '';
    child.stdout?.on('data', (chunk: Buffer) => {
      output += chunk.toString('utf8');
      const address = READY_LINE.exec(output)?.[1];
      if (address !== undefined) resolve(address);
    });
  });
  const failed = ended.then((): never => {
    throw new CommandError(`The service did not start: ${printed.trim() || 'it printed nothing'}`);
  });
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => {
      child.kill('SIGTERM');
      reject(new CommandError(`The service was not ready after ${START_TIMEOUT_MS / 1000} s: ${printed.trim()}`));
    }, START_TIMEOUT_MS);
  });
  try {
    return await Promise.race([ready, failed, late]);
  } finally {
    clearTimeout(timer);
    child.stderr?.off('data', collectErrors);
  }
}
