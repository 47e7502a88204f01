/** Folders of programs that tests fetch once and keep. A folder is either complete or absent. */
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';

/** Returns where they are kept: in the user's cache, or in the temporary folder if there is none. */
function keptFolders(): string {
  const folder = join(homedir(), '.cache', 'gannet');
  try {
    mkdirSync(folder, { recursive: true });
    return folder;
  } catch {
    return tmpdir();
  }
}

/** Returns the path of the kept folder `name`, and whether it exists. */
export function keptFolder(name: string): { readonly path: string; readonly isThere: boolean } {
  const path = join(keptFolders(), name);
  return { path, isThere: existsSync(path) };
}

/** Creates an empty folder next to it, to be filled. Several processes may do so at the same time. */
export function freshFolder(path: string): string {
  return mkdtempSync(`${path}.`);
}

/** Moves the folder into its place, unless another process was first. */
export function keep(fresh: string, path: string): void {
  try {
    renameSync(fresh, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
    rmSync(fresh, { recursive: true, force: true });
  }
}
