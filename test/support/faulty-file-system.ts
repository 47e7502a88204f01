/**
 * A file system over a folder that fails as it is told (`faulty-file-system.c`), by the kernel's own ways. Needs libfuse 3 and the right
 * to mount; `canMountFaulty` says whether they are there.
 */
import { execFileSync, spawn, type ChildProcessByStdio } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';

const SOURCE = fileURLToPath(new URL('faulty-file-system.c', import.meta.url));
/** Part of it. */
const UNSYNCED = fileURLToPath(new URL('unsynced.h', import.meta.url));
const { errno } = constants;

/** What can fail: `folder-sync` apart from `sync`, `change` is what makes, renames, removes and opens to write. */
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
  /** Of what was not synced, of 10. */
  readonly keptTenths: number;
}

let program: string | undefined;

/** Compiled once a process of tests. */
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

  /** Over `under`, at `path`; both are made where they are missing. `lostIn`: for `cutPower`, an empty folder on the same disk. */
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

  /** From now on these calls fail for paths with this in them. */
  async fail(calls: readonly FaultyCall[], code: keyof typeof errno, pathPart: string): Promise<void> {
    await this.tell(`fail ${calls.map((call) => CALLS[call]).join('')} ${errno[code]} ${pathPart}`);
  }

  /** From now on these calls are not answered for such paths, until it heals. */
  async hold(calls: readonly FaultyCall[], pathPart: string): Promise<void> {
    await this.tell(`fail ${calls.map((call) => CALLS[call]).join('')} -1 ${pathPart}`);
  }

  async heal(): Promise<void> {
    await this.tell('heal');
  }

  /** What the system has of these files in memory is dropped: what is mapped is read anew, as after long disuse. */
  async forget(): Promise<void> {
    await this.tell('forget');
  }

  /**
   * The power fails. What was not synced, of files and of names in folders, is lost but for about so many tenths of it, drawn by the seed.
   * Nothing is written from when this is called; what waits for it has an error when `died` has been called, which ends who would see it.
   * What is left can be mounted anew when this is unmounted.
   */
  async cutPower({ seed, keptTenths }: PowerCut, died: () => void): Promise<void> {
    await this.tell('freeze');
    died();
    await this.tell(`cut ${seed} ${keptTenths}`);
  }

  /** As a disk that is pulled out: every call fails from now on, those on open files, too. */
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

/** Whether this machine can have one. */
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
