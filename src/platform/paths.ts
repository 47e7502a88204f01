/** Where the parts of the package lie, whether it runs from `src` or from `dist`. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder that holds package.json and config/default.toml. */
export function packageRoot(): string {
  let folder = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(folder, 'config', 'default.toml'))) {
    const parent = dirname(folder);
    if (parent === folder) throw new Error('config/default.toml is missing beside the program');
    folder = parent;
  }
  return folder;
}

let version: string | undefined;

/** Of this release, as package.json has it. */
export function packageVersion(): string {
  version ??= (JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }).version;
  return version;
}

let bundle: string | undefined;

/**
 * The folder of compiled code that this process runs from, or, where it runs from source (tests), the one that threads and processes come from.
 * It stays the same while the process runs: a set-up makes another one and has `dist/bundle` lead there (decision 0389).
 */
export function bundleFolder(): string {
  bundle ??= ownBundle() ?? realpathSync(join(packageRoot(), 'dist', 'bundle'));
  return bundle;
}

/** Undefined where this does not run from a bundle. */
function ownBundle(): string | undefined {
  const folder = dirname(dirname(fileURLToPath(import.meta.url)));
  return existsSync(join(folder, 'load-bundle.cjs')) ? folder : undefined;
}

/**
 * The entry of a worker by its source's path without the ending: workers run compiled, also when the main thread runs from source (tests).
 * `scripts/lib/bundle.mjs` makes one of each file that ends in `.worker.ts`.
 */
export function compiledFile(source: string): string {
  return join(bundleFolder(), `${source}.start.cjs`);
}

/** A program by its path and arguments as it is to be started: Linux kills it when this process ends, in whatever way. */
export function endingWithThis(program: string, args: readonly string[]): readonly [program: string, args: string[]] {
  const launcher = join(packageRoot(), 'native-bindings', 'build', 'Release', 'end_with_parent');
  return [launcher, [String(process.pid), program, ...args]];
}
