/** Debian's packages as files in a folder, for servers of tests: fetched by apt, unpacked once, and not installed. Linux and apt are needed. */
import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const FETCH_MS_MAX = 120_000;

/** The folder with the files of the packages, as they would lie below `/`. Throws where they cannot be fetched. */
export function unpackedPackages(name: string, packages: readonly string[]): string {
  const folder = join(tmpdir(), `gannet-${name}`);
  const root = join(folder, 'root');
  if (existsSync(join(folder, 'complete'))) return root;
  mkdirSync(folder, { recursive: true });
  const quiet = { cwd: folder, stdio: 'ignore', timeout: FETCH_MS_MAX } as const;
  execFileSync('apt-get', ['download', ...packages], quiet);
  for (const file of readdirSync(folder).filter((each) => each.endsWith('.deb')))
    execFileSync('dpkg-deb', ['-x', file, root], quiet);
  writeFileSync(join(folder, 'complete'), '');
  return root;
}

/** Why they cannot be fetched here, as a sentence without its end. */
export function packagesFault(name: string, error: unknown): string {
  return `Debian's ${name} cannot be installed: ${error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error)}`;
}
