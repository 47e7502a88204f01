/** How far a compilation is, by what make prints: a line for each file that it begins with. */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** As the makefiles of node-gyp tell it: `  CXX(target) Release/obj.target/gannet_kernel/kernel/codec.o`. */
const BEGUN = /^\s*(?:CC|CXX)\(target\) \S*\.o\s*$/;
const OBJECT = /^\s*\$\(obj\)\.target\/\S+\.o\b/gm;

/** Takes lines of make; `told()` is '' before the first, then `12 of 183 files` where all are compiled, or `12 files` where some are. */
export class CompiledCount {
  #begun = 0;
  #total;

  /** `folder`: where the makefiles will be; `isWhole`: nothing of an earlier build is used. */
  constructor(folder, isWhole) {
    this.folder = folder;
    this.isWhole = isWhole;
  }

  take(line) {
    if (BEGUN.test(line)) this.#begun += 1;
  }

  told() {
    if (this.#begun === 0) return '';
    // The makefiles are made first, and stay as they are.
    this.#total ??= this.isWhole ? objectsOf(this.folder) : 0;
    const files = this.#begun === 1 ? '1 file' : `${this.#begun} files`;
    return this.#total < this.#begun ? files : `${this.#begun} of ${this.#total} files`;
  }
}

function objectsOf(folder) {
  if (!existsSync(folder)) return 0;
  const makefiles = readdirSync(folder).filter((name) => name.endsWith('.target.mk'));
  return makefiles.reduce((sum, name) => {
    // Each stands once among the objects of its target, which is a block of its own.
    const [, block = ''] = /^OBJS := \\\n((?:.*\\\n)*.*\n)/m.exec(readFileSync(join(folder, name), 'utf8')) ?? [];
    return sum + [...block.matchAll(OBJECT)].length;
  }, 0);
}
