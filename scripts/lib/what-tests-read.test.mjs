import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { rolldown } from 'rolldown';
import { describe, expect, it } from 'vitest';
import { filesOfProject, whatTestsRead } from './what-tests-read.mjs';

const root = join(import.meta.dirname, '..', '..');

/** Returns the imported paths of each module by its path, as found by Rolldown, which Vite uses. */
async function importedByRolldown(tests) {
  const imported = new Map();
  const take = {
    name: 'take',
    buildEnd() {
      for (const id of this.getModuleIds()) {
        const { importedIds, dynamicallyImportedIds } = this.getModuleInfo(id);
        imported.set(
          relative(root, id),
          [...importedIds, ...dynamicallyImportedIds].map((each) => relative(root, each)),
        );
      }
    },
  };
  const build = await rolldown({
    cwd: root,
    input: Object.fromEntries(tests.map((test) => [test, join(root, test)])),
    platform: 'node',
    external: (id) => !/^[./]/.test(id) || id.includes('/dist/'),
    resolve: { extensionAlias: { '.js': ['.ts', '.tsx', '.js'] } },
    tsconfig: join(root, 'tsconfig.json'),
    moduleTypes: { '.css': 'empty', '.svg': 'empty' },
    treeshake: false,
    logLevel: 'silent',
    plugins: [take],
  });
  await build.generate();
  await build.close();
  return imported;
}

it('whatTestsRead contains all modules that a test file imports, as Rolldown finds them', async () => {
  const read = await whatTestsRead(root);
  const imported = await importedByRolldown([...read.keys()]);
  const there = new Set(filesOfProject(root));
  const missing = [];
  for (const [test, paths] of read) {
    const known = new Set(paths);
    const closure = new Set([test]);
    for (const path of closure) {
      for (const each of imported.get(path) ?? []) closure.add(each);
      if (there.has(path) && !known.has(path)) missing.push(`${test}: ${path}`);
    }
  }
  expect(read.size).toBeGreaterThan(400);
  expect(imported.size).toBeGreaterThan(1000);
  expect(missing).toEqual([]);
});

/** Returns what `test` reads in a project of `files` and of one file for each area. */
async function readIn(files, test = 'src/a.test.ts') {
  const folder = mkdtempSync(join(tmpdir(), 'gannet-read-'));
  const others = {
    'bin/gannet.js': '',
    'dist/bundle/main.cjs': '',
    'native-bindings/build/Release/kernel.node': '',
    'native-bindings/kernel/kernel.h': '',
    'dist/console-assets/index.html': '',
    'docs/page.md': '',
    'src/alone.ts': '',
  };
  for (const [path, text] of Object.entries({ ...others, ...files })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return (await whatTestsRead(folder)).get(test);
}

const SERVICE = ['bin/gannet.js', 'dist/bundle/main.cjs', 'native-bindings/build/Release/kernel.node'];

describe('whatTestsRead for a test file', () => {
  it('contains its imports and theirs, but no types', async () => {
    const files = {
      'src/a.test.ts': "import { b } from './b.js'; import type { T } from './types.js'; await import('./late.js');",
      'src/b.ts': "export { c } from './c/index.js'; // './alone.js', 'docs'",
      'src/c/index.ts': "export const c = 1; export type { U } from '../types.js';",
      'src/late.ts': '',
      'src/types.ts': '',
    };
    expect(await readIn(files)).toEqual(['src/a.test.ts', 'src/b.ts', 'src/c/index.ts', 'src/late.ts']);
  });

  it('contains files, folders and programs beside it that it names, with the imports of the programs', async () => {
    const files = {
      'src/a.test.ts': "new URL('./made/child.mjs', import.meta.url); new URL('texts', import.meta.url);",
      'src/made/child.mjs': "import './grandchild.mjs';",
      'src/made/grandchild.mjs': '',
      'src/texts/one.txt': '',
    };
    expect(await readIn(files)).toEqual(['src/a.test.ts', ...SERVICE, ...Object.keys(files).slice(1)].sort());
  });

  it('contains paths joined to its own or the project folder, and files that product modules read beside themselves', async () => {
    const files = {
      'src/a.test.ts': `import type, { words } from './words.js';
        const HERE = join(import.meta.dirname, '..', 'fixtures'); read(join(HERE, 'old', 'v1.json')); read(join(HERE, 'new', name));`,
      'src/words.ts': "readFileSync(new URL('words.txt', import.meta.url)); createRequire(import.meta.url)('lmdb');",
      'fixtures/old/v1.json': '',
      'fixtures/new/v2.json': '',
      'src/words.txt': '',
    };
    const read = await readIn({ ...files, 'fixtures/old/v0.json': '' });
    expect(read).toEqual([...Object.keys(files), ...SERVICE].sort());
  });

  it.each([
    ["import { spawn } from 'node:child_process';", SERVICE],
    ['process.cwd()', SERVICE],
    ["import { helper } from './helper.js';", [...SERVICE, 'src/helper.ts']],
    ["new URL('./child.mjs', import.meta.url)", [...SERVICE, 'dist/src/one.js', 'dist/src/two.js']],
    ["new URL('./other.mjs', import.meta.url)", [...SERVICE, 'dist/src/one.js', 'dist/src/two.js']],
    ["get('/console/lists')", ['dist/console-assets/index.html']],
  ])('contains the files of the service or the console for: %s', async (code, more) => {
    const helper = "import { compiledFile } from './paths.js'; export const helper = compiledFile('docs');";
    const read = await readIn({
      'src/a.test.ts': code,
      'src/helper.ts': helper,
      'src/paths.ts': '',
      'src/child.mjs': "import '../dist/src/one.js';",
      'src/other.mjs': "import '#src/one.js';",
      'dist/src/one.js': "import './two.js';",
      'dist/src/two.js': '',
    });
    expect(read).toEqual(expect.arrayContaining(more));
    expect(read).not.toContain('docs/page.md');
  });

  it.each([
    "readFileSync('docs/page.md')",
    "join(root, 'docs')",
    'readdirSync(`${root}/src`)',
    "import './nowhere.js';",
    "import '#src/nowhere.js';",
    'await import(name)',
    'this is no code (',
    "join(import.meta.dirname, '..', 'fixtures', 'gone.json')",
    "const root = join(import.meta.dirname, '..'); readFileSync(join(root, name));",
    'new URL(`../fixtures/${n}.json`, import.meta.url)',
    "import.meta.glob('../fixtures/**')",
    "execFileSync('git', ['ls-files'])",
    'readFileSync(`fixtures/${name}`)',
    'const HERE = import.meta.dirname; readFileSync(`${HERE}/../${name}`)',
    'readdirSync(process.cwd())',
    "import type, { x } from './nowhere.js';",
    "import { x } from './reader.js';",
  ])('contains everything for: %s', async (code) => {
    const reader = "readdirSync(new URL('../gone', import.meta.url))";
    expect(await readIn({ 'src/a.test.ts': code, 'src/reader.ts': reader })).toEqual(
      expect.arrayContaining(['docs/page.md', 'native-bindings/kernel/kernel.h', ...SERVICE]),
    );
  });
});
