/**
 * A worker that is a process of its own, for work that may crash, hang or take all memory, such as reading untrusted
 * files. It is killed when a call takes too long, or when it exceeds its memory, native memory included.
 */
import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';
import { endingWithThis } from '../paths.js';
import type { Socket } from 'node:net';
import { DIRECT_LINE_FD, DirectLine, type ShortForms } from './direct-line.js';
import { Host, type HostOptions, type Vessel, type VesselEvents } from './host.js';
import type { FromWorker, Protocol, ToWorker } from './protocol.js';
import { killProcess } from './kill-process.js';
import { processorMs, residentBytes } from './process-figures.js';
import type { HostedData } from './serve-host.js';

const MEBIBYTE = 2 ** 20;
const MEMORY_LOOKED_AT_MS = 50;

export interface ChildProcessOptions<P extends Protocol> extends HostOptions<P> {
  /** Limit of the resident memory of the process in MiB. Enforced on Linux; elsewhere only `heapMibMax` is. */
  readonly memoryMibMax: number;
  /** Its environment variables; PATH is the only one it inherits. */
  readonly env?: Readonly<Record<string, string>>;
  /**
   * If given, the process may only open files in these folders, for reading only, and may not start processes. Default:
   * the rights of this process.
   */
  readonly readableFolders?: readonly string[];
  /** True if it also may load native code from `readableFolders`. */
  readonly mayLoadAddons?: boolean;
  /** Short forms of the messages that go over the direct line; the process must call `serveHost` with the same. */
  readonly shortForms?: ShortForms;
}

export function createChildProcess<P extends Protocol>(options: ChildProcessOptions<P>): Host<P> {
  return new Host(options, { launch: (events) => launch(options, events), killsLateCalls: true });
}

function launch<P extends Protocol>(options: ChildProcessOptions<P>, { onMessage, onExit }: VesselEvents): Vessel {
  const { entry, data, heapMibMax, niceness, env, shortForms } = options;
  const flags = [`--max-old-space-size=${heapMibMax}`, ...permissionFlags(options)];
  // A process in an endless computation would not notice that the channel is closed.
  const [execPath, execArgv] = endingWithThis(process.execPath, flags);
  const child = fork(entry, [], {
    env: { PATH: process.env['PATH'] ?? '', ...env },
    execPath,
    execArgv,
    serialization: 'advanced',
    // The service reports its errors.
    stdio: ['ignore', 'ignore', 'ignore', 'ipc', shortForms === undefined ? 'ignore' : 'pipe'],
  });
  let failure: Error | undefined;
  const kill = (reason: string) => {
    failure ??= new Error(reason);
    killProcess(child);
  };
  const watch = watchMemory(child, options.memoryMibMax, kill);
  const end = () => {
    clearInterval(watch);
    onExit(failure);
  };
  child.on('message', (message) => {
    onMessage(message as FromWorker);
  });
  child.once('error', (error) => {
    failure ??= error;
    // A process that could not be started does not emit `exit`.
    if (child.pid === undefined) end();
  });
  child.once('exit', (code, signal) => {
    failure ??= code === 0 ? undefined : new Error(`The process ended with ${signal ?? `status ${code}`}`);
    end();
  });
  const hosted: HostedData = { data, niceness };
  const send = (message: object) => {
    // If the process has just died, `exit` reports it.
    if (child.connected) child.send(message, () => undefined);
  };
  send({ kind: 'hosted', ...hosted });
  const socket = pipeOf(child, DIRECT_LINE_FD);
  const line =
    shortForms &&
    socket &&
    new DirectLine<ToWorker, FromWorker>(
      socket,
      { said: shortForms.toWorker, heard: shortForms.fromWorker },
      onMessage,
    );
  const say = (message: ToWorker) => {
    if (line?.say(message) !== true) send(message);
  };
  return { say, kill: () => killProcess(child), processorMs: () => processorMs(child.pid) };
}

/** Returns undefined if there were no file descriptors left for the process. */
function pipeOf(child: ChildProcess, number: number): Socket | undefined {
  const { stdio } = child as { readonly stdio: ChildProcess['stdio'] | undefined };
  return (stdio?.[number] ?? undefined) as Socket | undefined;
}

/** Returns the flags of Node's permission model, which had another name while it was experimental. */
function permissionFlags<P extends Protocol>({ readableFolders, mayLoadAddons }: ChildProcessOptions<P>): string[] {
  if (readableFolders === undefined) return [];
  const flag = ['--permission', '--experimental-permission'].find((name) =>
    process.allowedNodeEnvironmentFlags.has(name),
  );
  if (flag === undefined) return [];
  const folders = readableFolders.map((folder) => `--allow-fs-read=${join(folder, '*')}`);
  return [flag, ...folders, ...(mayLoadAddons === true ? ['--allow-addons'] : [])];
}

function watchMemory(child: ChildProcess, memoryMibMax: number, kill: (reason: string) => void): NodeJS.Timeout {
  const watch = setInterval(() => {
    if (residentBytes(child.pid) > memoryMibMax * MEBIBYTE) kill(`The process took more than ${memoryMibMax} MiB`);
  }, MEMORY_LOOKED_AT_MS);
  watch.unref();
  return watch;
}
