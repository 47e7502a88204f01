/** Debian's packages as files in a folder, for servers of tests: fetched by apt, unpacked once, and not installed. Linux and apt are needed. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder, keep, keptFolder } from './kept-folder.js';

const FETCH_MS_MAX = 240_000;

/** The folder with the files of the packages, as they would lie below `/`. Throws where they cannot be fetched. */
export function unpackedPackages(name: string, packages: readonly string[]): string {
  const { path, isThere } = keptFolder(`debian-${name}`);
  if (isThere) return path;
  const fresh = freshFolder(path);
  try {
    const [fetched, root] = [join(fresh, 'fetched'), join(fresh, 'root')];
    mkdirSync(fetched);
    // Whatever the process that fetches may make them: the servers run as other users.
    mkdirSync(root, { mode: 0o755 });
    const quiet = { cwd: fetched, stdio: 'ignore', timeout: FETCH_MS_MAX } as const;
    execFileSync('apt-get', ['download', ...packages], quiet);
    for (const file of readdirSync(fetched)) execFileSync('dpkg-deb', ['-x', file, root], quiet);
    keep(root, path);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return path;
}

/** Why they cannot be fetched here, as a sentence without its end. */
export function packagesFault(name: string, error: unknown): string {
  return `Debian's ${name} cannot be installed: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`;
}
