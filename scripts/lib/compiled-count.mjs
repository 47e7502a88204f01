/** Counts the progress of a compilation from the output of make, which has a line for each file that it begins. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A line of the makefiles of node-gyp: `  CXX(target) Release/obj.target/gannet_kernel/kernel/codec.o`. */
const BEGUN = /^\s*(?:CC|CXX)\(target\) \S*\.o\s*$/;
const OBJECT = /^\s*\$\(obj\)\.target\/\S+\.o\b/gm;

/** Takes lines of make. `told()` returns '' before the first, then `12 of 183 files` if all are compiled, or `12 files` if some are. */
export class CompiledCount {
  #begun = 0;
  #total;

  /** `folder` is where the makefiles will be. `isWhole` is true if no file of an earlier build is used. */
  constructor(folder, isWhole) {
    this.folder = folder;
    this.isWhole = isWhole;
  }

  take(line) {
    if (BEGUN.test(line)) this.#begun += 1;
  }

  told() {
    if (this.#begun === 0) return '';
    // The makefiles are written before the first line and do not change.
    this.#total ??= this.isWhole ? objectsOf(this.folder) : 0;
    const files = this.#begun === 1 ? '1 file' : `${this.#begun} files`;
    return this.#total < this.#begun ? files : `${this.#begun} of ${this.#total} files`;
  }
}

function objectsOf(folder) {
  if (!existsSync(folder)) return 0;
  const makefiles = readdirSync(folder).filter((name) => name.endsWith('.target.mk'));
  return makefiles.reduce((sum, name) => {
    // Each file occurs once in the block of its target's objects.
    const [, block = ''] = /^OBJS := \\\n((?:.*\\\n)*.*\n)/m.exec(readFileSync(join(folder, name), 'utf8')) ?? [];
    return sum + [...block.matchAll(OBJECT)].length;
  }, 0);
}
