/**
 * Tells whether the program on disk is still the one that this process was started from. A set-up in place creates
 * another bundle, and the running service continues with its own (decision 0389), but packages and binaries exist only
 * once.
 */
import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from './errors.js';
import { bundleFolder, packageRoot } from './paths.js';

/** Loaded parts of the package that exist only once; npm rewrites the last one with each installation. */
const LOADED = [
  'native-bindings/build/Release/gannet_kernel.node',
  'native-bindings/build-lmdb/build/Release/lmdb.node',
  'node_modules/.package-lock.json',
];
const BUNDLE = 'dist/bundle';

/** The parts that were replaced; `since`: time of the last replacement, undefined if a part is missing. */
export interface Replaced {
  readonly parts: readonly string[];
  readonly since: Date | undefined;
}

type Marks = ReadonlyMap<string, string | undefined>;

export class RunningProgram {
  readonly #root: string;
  readonly #known: Promise<Marks>;
  #last: Replaced | undefined;

  /** To be created when the process starts: takes what is on disk then as the program that it was started from. */
  constructor(root = packageRoot(), bundle = bundleFolder()) {
    this.#root = root;
    this.#known = marksOf(root, bundle);
  }

  /** Result of the previous `look`. */
  get last(): Replaced | undefined {
    return this.#last;
  }

  /** Returns the replaced parts; undefined if there are none. Never rejects. */
  async look(): Promise<Replaced | undefined> {
    const [known, now] = await Promise.all([this.#known, marksOf(this.#root, join(this.#root, BUNDLE))]);
    const parts = [...now.keys()].filter((part) => now.get(part) !== known.get(part));
    this.#last = parts.length === 0 ? undefined : { parts, since: await this.#since(parts) };
    return this.#last;
  }

  async #since(parts: readonly string[]): Promise<Date | undefined> {
    try {
      const times = await Promise.all(parts.map(async (part) => (await lstat(join(this.#root, part))).ctimeMs));
      return new Date(Math.max(...times));
    } catch {
      return undefined;
    }
  }
}

/** Returns the identity of each part, which another file in its place does not have; undefined for a missing part. */
async function marksOf(root: string, bundle: string): Promise<Marks> {
  const folder = await statOf(bundle);
  const files = await Promise.all(
    LOADED.map(async (path) => {
      const file = await statOf(join(root, path));
      return [path, file && `${file.dev} ${file.ino} ${file.size} ${file.mtimeMs}`] as const;
    }),
  );
  // Without the folder's time, which changes as compiled code is stored in it later.
  return new Map([[BUNDLE, folder && `${folder.dev} ${folder.ino}`], ...files]);
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch {
    return undefined;
  }
}

/** Codes of errors of loading code on demand. */
const NOT_LOADED: ReadonlySet<unknown> = new Set(['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED']);

/**
 * Returns `program-replaced` if the error says that a part of the program cannot be loaded; every other error
 * unchanged.
 */
export function asProgramError(error: unknown): unknown {
  if (error instanceof ServiceError || !NOT_LOADED.has((error as { readonly code?: unknown } | undefined)?.code))
    return error;
  return new ServiceError(
    'program-replaced',
    'A part of the program that this needs cannot be loaded. Where the program was replaced while the service runs, restart the service; otherwise `npm run setup` and a restart put back what is missing or damaged.',
    { cause: error },
  );
}
