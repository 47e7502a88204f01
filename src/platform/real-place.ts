import { realpathSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';

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
