import { realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve } from 'node:path';

/** Where a path leads, links followed as far as it is there: what it names may not have been made yet. */
export function realPlace(path: string): string {
  const absolute = resolve(path);
  try {
    return realpathSync(absolute);
  } catch {
    const above = dirname(absolute);
    return above === absolute ? absolute : join(realPlace(above), basename(absolute));
  }
}

/** Whether a path leads into a folder; true for the folder itself, too. Both absolute: real places where links are to be seen through. */
export function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || (way !== '..' && !way.startsWith('../') && !isAbsolute(way));
}
