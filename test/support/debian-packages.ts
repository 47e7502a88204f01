/**
 * Unpacks Debian packages into a folder without installing them, for test servers. Fetched by apt once. Needs Linux and
 * apt.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder, keep, keptFolder } from './kept-folder.js';

const FETCH_MS_MAX = 240_000;

/** Returns the folder with the packages' files, as they would be below `/`. Throws if they cannot be fetched. */
export function unpackedPackages(name: string, packages: readonly string[]): string {
  const { path, isThere } = keptFolder(`debian-${name}`);
  if (isThere) return path;
  const fresh = freshFolder(path);
  try {
    const [fetched, root] = [join(fresh, 'fetched'), join(fresh, 'root')];
    mkdirSync(fetched);
    // Readable whatever the umask: the servers run as other users.
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

/** Returns why they cannot be fetched here, as a sentence without its end. */
export function packagesFault(name: string, error: unknown): string {
  return `Debian's ${name} cannot be installed: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`;
}
