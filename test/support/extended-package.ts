/** A copy of the built package to which something is added, as a developer would: new files, and rows in files that are there. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const PACKAGE = fileURLToPath(new URL('../..', import.meta.url));

export class ExtendedPackage {
  readonly root = mkdtempSync(join(tmpdir(), 'gannet-extended-'));

  constructor() {
    for (const copied of ['bin', 'config', 'dist', 'package.json'])
      cpSync(join(PACKAGE, copied), join(this.root, copied), { recursive: true });
    for (const linked of ['node_modules', 'native-bindings'])
      symlinkSync(join(PACKAGE, linked), join(this.root, linked));
  }

  /** Compiles a file of `test/seams/examples` into a folder of `src`, by whose place what it imports of the product is found. */
  add(example: string, folder: string): void {
    const source = readFileSync(join(PACKAGE, 'test', 'seams', 'examples', example), 'utf8');
    const options = { module: ts.ModuleKind.ESNext, target: ts.ScriptTarget.ES2022, verbatimModuleSyntax: true };
    const { outputText } = ts.transpileModule(source, { compilerOptions: options });
    const file = join(this.root, 'dist', 'src', folder, basename(example).replace(/\.ts$/, '.js'));
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, outputText.replaceAll(/(?:\.\.\/)+src\//g, '../'.repeat(folder.split('/').length)));
  }

  /** Puts `row` behind the one text `after` of a file of `src`, and what the row names into its imports. Throws where it is not there once. */
  row(file: string, after: string, row: string, imported = ''): void {
    const path = join(this.root, 'dist', 'src', file);
    const parts = readFileSync(path, 'utf8').split(after);
    if (parts.length !== 2) throw new Error(`'${after}' is ${parts.length - 1} times in ${file}`);
    writeFileSync(path, `${imported}\n${parts.join(`${after}${row}`)}`);
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }
}
