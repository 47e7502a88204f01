/**
 * A file system over a folder that fails on command (`faulty-file-system.c`). Needs libfuse 3 and the permission to
 * mount, which `canMountFaulty` checks.
 */
import { execFileSync, spawn, type ChildProcessByStdio } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('faulty-file-system.c', import.meta.url));
/** Included by it. */
const UNSYNCED = fileURLToPath(new URL('unsynced.h', import.meta.url));
const { errno } = constants;

/**
 * Calls that can fail. `folder-sync` is separate from `sync`; `change` covers creating, renaming, removing and opening
 * to write.
 */
const CALLS = {
  read: 'r',
  write: 'w',
  sync: 's',
  'folder-sync': 'd',
  change: 'o',
  open: 'n',
  link: 'l',
  mode: 'm',
  look: 't',
  times: 'u',
} as const;
export type FaultyCall = keyof typeof CALLS;

export interface PowerCut {
  readonly seed: number;
  /** Share of unsynced changes that survive, in tenths. */
  readonly keptTenths: number;
}

let program: string | undefined;

/** Compiles the program once per test process. */
function compiled(): string {
  if (program !== undefined) return program;
  const folder = mkdtempSync(join(tmpdir(), 'gannet-faulty-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'faulty-file-system');
  const flags = execFileSync('pkg-config', ['--cflags', '--libs', 'fuse3'], { stdio: ['ignore', 'pipe', 'ignore'] });
  const options = flags.toString().trim().split(/\s+/);
  execFileSync('cc', ['-O1', '-o', path, '-include', UNSYNCED, SOURCE, ...options, '-lpthread'], { stdio: 'ignore' });
  return (program = path);
}

export class FaultyFileSystem {
  private constructor(
    private readonly child: ChildProcessByStdio<Writable, Readable, null>,
    private readonly lines: AsyncIterator<string>,
    readonly path: string,
  ) {}

  /**
   * Mounts at `path` over `under`; both are created if missing. `lostIn` is an empty folder on the same disk, needed
   * for `cutPower`.
   */
  static async mount(under: string, path: string, lostIn?: string): Promise<FaultyFileSystem> {
    for (const folder of [under, path]) mkdirSync(folder, { recursive: true });
    const tracked = lostIn === undefined ? [] : [lostIn];
    for (const folder of tracked) {
      rmSync(folder, { recursive: true, force: true });
      mkdirSync(folder);
    }
    const child = spawn(compiled(), [under, path, ...tracked], { stdio: ['pipe', 'pipe', 'ignore'] });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const { value } = (await lines.next()) as { readonly value?: string };
    if (value !== 'mounted') throw new Error('the file system cannot be mounted');
    return new FaultyFileSystem(child, lines, path);
  }

  /** Makes these calls fail from now on, for paths that contain `pathPart`. */
  async fail(calls: readonly FaultyCall[], code: keyof typeof errno, pathPart: string): Promise<void> {
    await this.tell(`fail ${calls.map((call) => CALLS[call]).join('')} ${errno[code]} ${pathPart}`);
  }

  /** Leaves these calls unanswered for such paths, until `heal`. */
  async hold(calls: readonly FaultyCall[], pathPart: string): Promise<void> {
    await this.tell(`fail ${calls.map((call) => CALLS[call]).join('')} -1 ${pathPart}`);
  }

  async heal(): Promise<void> {
    await this.tell('heal');
  }

  /** Drops cached pages of these files: mapped files are read again, as after long disuse. */
  async forget(): Promise<void> {
    await this.tell('forget');
  }

  /**
   * Simulates a power failure: unsynced contents and names are lost, except for about `keptTenths` tenths chosen by the
   * seed. Nothing is written from the call on; waiting calls fail after `died`, which has to kill the processes that
   * would see it. After unmounting, what is left can be mounted again.
   */
  async cutPower({ seed, keptTenths }: PowerCut, died: () => void): Promise<void> {
    await this.tell('freeze');
    died();
    await this.tell(`cut ${seed} ${keptTenths}`);
  }

  /** Makes every call fail from now on, also on open files, like a removed disk. */
  lose(): void {
    this.child.kill('SIGKILL');
  }

  async unmount(): Promise<void> {
    const ended = new Promise((resolve) => this.child.once('close', resolve));
    if (this.child.exitCode === null && this.child.signalCode === null) {
      this.child.kill('SIGKILL');
      await ended;
    }
    execFileSync('umount', ['-l', this.path], { stdio: 'ignore' });
  }

  private async tell(command: string): Promise<void> {
    this.child.stdin.write(`${command}\n`);
    const { value } = (await this.lines.next()) as { readonly value?: string };
    if (value !== 'done') throw new Error(`the file system did not take: ${command}`);
  }
}

/** True if this machine can mount one. */
export async function canMountFaulty(): Promise<boolean> {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-mount-'));
  try {
    await (await FaultyFileSystem.mount(join(folder, 'under'), join(folder, 'on'))).unmount();
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
