/** Programs that tests have fetched once and keep for the next run, each in a folder of its own that is there whole or not at all. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Where they are kept: with the user's other caches, or where there can be none, with what is temporary. */
function keptFolders(): string {
  const folder = join(homedir(), '.cache', 'gannet');
  try {
    mkdirSync(folder, { recursive: true });
    return folder;
  } catch {
    return tmpdir();
  }
}

/** The path of the kept folder `name`, and whether it is there. */
export function keptFolder(name: string): { readonly path: string; readonly isThere: boolean } {
  const path = join(keptFolders(), name);
  return { path, isThere: existsSync(path) };
}

/** An empty folder beside it, for what is to become it: other processes may be at the same. */
export function freshFolder(path: string): string {
  return mkdtempSync(`${path}.`);
}

/** Puts it in its place, unless another process was first. */
export function keep(fresh: string, path: string): void {
  try {
    renameSync(fresh, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
    rmSync(fresh, { recursive: true, force: true });
  }
}
