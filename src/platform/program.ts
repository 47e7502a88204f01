/**
 * Whether what lies on the disk is still the program that this process was started from: a set-up in place makes another one beside the service
 * that runs (decision 0389), which goes on from its own bundle, but for packages and binaries that are there once.
 */
import { lstat, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { ServiceError } from './errors.js';
import { bundleFolder, packageRoot } from './paths.js';

/** Of the package, what is loaded and is there once; npm writes the last one with each installation. */
const LOADED = [
  'native-bindings/build/Release/gannet_kernel.node',
  'native-bindings/build-lmdb/build/Release/lmdb.node',
  'node_modules/.package-lock.json',
];
const BUNDLE = 'dist/bundle';

/** What was found to be another one; `since`: when the last of it was put there, undefined where something is gone. */
export interface Replaced {
  readonly parts: readonly string[];
  readonly since: Date | undefined;
}

type Marks = ReadonlyMap<string, string | undefined>;

export class RunningProgram {
  readonly #root: string;
  readonly #known: Promise<Marks>;
  #last: Replaced | undefined;

  /** To be made when the process starts: what is there by then is what it was started from. */
  constructor(root = packageRoot(), bundle = bundleFolder()) {
    this.#root = root;
    this.#known = marksOf(root, bundle);
  }

  /** What the look before this has found. */
  get last(): Replaced | undefined {
    return this.#last;
  }

  /** Undefined while it is the same. Never rejects. */
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

/** Of each part, what another file in its place does not have; undefined: it is not there. */
async function marksOf(root: string, bundle: string): Promise<Marks> {
  const folder = await statOf(bundle);
  const files = await Promise.all(
    LOADED.map(async (path) => {
      const file = await statOf(join(root, path));
      return [path, file && `${file.dev} ${file.ino} ${file.size} ${file.mtimeMs}`] as const;
    }),
  );
  // Compiled code is put into the folder later, which changes its time.
  return new Map([[BUNDLE, folder && `${folder.dev} ${folder.ino}`], ...files]);
}

async function statOf(path: string) {
  try {
    return await stat(path);
  } catch {
    return undefined;
  }
}

/** Of what is loaded when it is first needed. */
const NOT_LOADED: ReadonlySet<unknown> = new Set(['MODULE_NOT_FOUND', 'ERR_MODULE_NOT_FOUND', 'ERR_DLOPEN_FAILED']);

/** `program-replaced` for an error that says that a part of the program cannot be loaded; every other error as it is. */
export function asProgramError(error: unknown): unknown {
  if (error instanceof ServiceError || !NOT_LOADED.has((error as { readonly code?: unknown } | undefined)?.code))
    return error;
  return new ServiceError(
    'program-replaced',
    'A part of the program that this needs cannot be loaded. Where the program was replaced while the service runs, restart the service; otherwise `npm run setup` and a restart put back what is missing or damaged.',
    { cause: error },
  );
}
