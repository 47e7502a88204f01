/** Paths of the parts of the package, whether it runs from `src` or from `dist`. */
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Returns the folder that contains package.json and config/default.toml. */
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

/** Returns the version of this release, from package.json. */
export function packageVersion(): string {
  version ??= (JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8')) as { version: string }).version;
  return version;
}

let bundle: string | undefined;

/**
 * Returns the folder of the bundle that this process runs from or, if it runs from source (tests), the one used for
 * threads and processes. It stays the same while the process runs: a set-up creates another folder and lets
 * `dist/bundle` point to it (decision 0389).
 */
export function bundleFolder(): string {
  bundle ??= ownBundle() ?? realpathSync(join(packageRoot(), 'dist', 'bundle'));
  return bundle;
}

/**
 * Returns the name of the build: two builds of one release have different ones. Undefined if there is none, as before
 * the first set-up.
 */
export function packageBuild(): string | undefined {
  try {
    return basename(bundleFolder());
  } catch {
    return undefined;
  }
}

/** Returns undefined if this does not run from a bundle. */
function ownBundle(): string | undefined {
  const folder = dirname(dirname(fileURLToPath(import.meta.url)));
  return existsSync(join(folder, 'load-bundle.cjs')) ? folder : undefined;
}

/**
 * Returns the compiled entry of a worker, given the path of its source without its extension: workers run compiled even
 * if the main thread runs from source (tests). `scripts/lib/bundle.mjs` creates one for each file that ends in
 * `.worker.ts`.
 */
export function compiledFile(source: string): string {
  return join(bundleFolder(), `${source}.start.cjs`);
}

/** Returns program and arguments that start a program which Linux kills when this process ends, however it ends. */
export function endingWithThis(program: string, args: readonly string[]): readonly [program: string, args: string[]] {
  const launcher = join(packageRoot(), 'native-bindings', 'build', 'Release', 'end_with_parent');
  return [launcher, [String(process.pid), program, ...args]];
}
