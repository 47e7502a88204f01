/** A copy of the package that is extended as a developer would: with new files, and rows in existing ones. */
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));

export class ExtendedPackage {
  readonly root = mkdtempSync(join(tmpdir(), 'gannet-extended-'));

  constructor() {
    for (const copied of ['bin', 'config', 'src', 'package.json', 'tsconfig.json'])
      cpSync(join(PACKAGE, copied), join(this.root, copied), { recursive: true });
    for (const linked of ['node_modules', 'native-bindings'])
      symlinkSync(join(PACKAGE, linked), join(this.root, linked));
    mkdirSync(join(this.root, 'dist'));
    symlinkSync(join(PACKAGE, 'dist', 'console-assets'), join(this.root, 'dist', 'console-assets'));
  }

  /** Copies a file of `test/seams/examples` into a folder of `src`, with its imports of the product adjusted. */
  add(example: string, folder: string): void {
    const source = readFileSync(join(PACKAGE, 'test', 'seams', 'examples', example), 'utf8');
    const file = join(this.root, 'src', folder, basename(example));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, source.replaceAll(/(?:\.\.\/)+src\//g, '../'.repeat(folder.split('/').length)));
  }

  /**
   * Inserts `row` after the text `after` in a file of `src`, and adds `imported` to its imports. Throws unless `after`
   * occurs exactly once.
   */
  row(file: string, after: string, row: string, imported = ''): void {
    const path = join(this.root, 'src', file);
    const parts = readFileSync(path, 'utf8').split(after);
    if (parts.length !== 2) throw new Error(`'${after}' is ${parts.length - 1} times in ${file}`);
    writeFileSync(path, `${imported}\n${parts.join(`${after}${row}`)}`);
  }

  /** Builds the bundle of the copy, as the set-up does. */
  build(): void {
    execFileSync(process.execPath, [join(PACKAGE, 'scripts', 'lib', 'bundle.mjs'), this.root]);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
