import { copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { digestsOf, keepTests, lookAtTests, surroundingsOf } from './kept-tests.mjs';
import { runStages } from './run-stages.mjs';
import { filesOfProject, whatTestsRead } from './what-tests-read.mjs';

const root = join(import.meta.dirname, '..', '..');
const CHANGES = 6;

/** Surroundings without the packages of the machine, which may change during the test. */
const onlyVariables = (folder) => ({ variables: surroundingsOf(folder).variables });

function write(folder, files) {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
}

it('The digest of a test file changes with any byte of a file that it reads', async () => {
  const copy = mkdtempSync(join(tmpdir(), 'gannet-kept-'));
  for (const path of filesOfProject(root)) {
    mkdirSync(dirname(join(copy, path)), { recursive: true });
    copyFileSync(join(root, path), join(copy, path));
  }
  const read = await whatTestsRead(copy);
  const before = await digestsOf(copy, onlyVariables);
  const anyOf = fc.constantFrom(...read.keys()).chain((test) => fc.constantFrom(...read.get(test)));
  const check = fc.asyncProperty(anyOf, fc.nat(), async (path, place) => {
    const content = readFileSync(join(copy, path));
    const changed = Buffer.from(content.length === 0 ? ' ' : content);
    changed[place % changed.length] ^= 1;
    writeFileSync(join(copy, path), changed);
    const after = await digestsOf(copy, onlyVariables);
    writeFileSync(join(copy, path), content);
    const same = [...before].filter(([test, digest]) => after.get(test) === digest).map(([test]) => test);
    expect(same.filter((test) => read.get(test).includes(path))).toEqual([]);
  });
  await fc.assert(check, { numRuns: CHANGES });
  expect(await digestsOf(copy, onlyVariables)).toEqual(before);
});

describe('kept test files', () => {
  /** Returns a project with two test files, whose text says how many tests pass, and whether the file fails or skips. */
  function project() {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-kept-'));
    write(folder, {
      'test/a.test.ts': "import './a.js'; // 1",
      'test/a.ts': '',
      'test/b.test.ts': '// 2',
      'page.md': '',
    });
    const runner = `const { readFileSync, readdirSync, writeFileSync } = require('node:fs');
      const { TESTS_LEFT_OUT, GANNET_TEST_REPORT } = process.env;
      if (process.env.CRASH) process.exit(1);
      const leftOut = JSON.parse(readFileSync(TESTS_LEFT_OUT, 'utf8'));
      const all = readdirSync('test').filter((name) => name.endsWith('.test.ts')).map((name) => 'test/' + name);
      const files = all.filter((file) => !leftOut.includes(file)).map((file) => {
        const text = readFileSync(file, 'utf8');
        return { file, processorSeconds: 1, passed: Number(/\\d+/.exec(text)[0]), isWhole: !/fails|skips/.test(text), fails: text.includes('fails') };
      });
      if (files.length === 0 && !process.argv.includes('--passWithNoTests')) process.exit(1);
      if (process.env.MEANWHILE) writeFileSync(process.env.MEANWHILE, '// meanwhile');
      const failures = files.filter(({ fails }) => fails).map(({ file }) => file + ': it');
      if (files.length > 0 && process.env.BESIDE) failures.push('outside all tests: x');
      const passed = files.reduce((sum, file) => sum + file.passed, 0);
      writeFileSync(GANNET_TEST_REPORT, JSON.stringify({ passed, failures, skipped: [], files }));`;
    const stage = { id: 'tests', name: 'Tests', seconds: 1, slots: 1, needs: [], reads: 'tests' };
    const command = [process.execPath, '-e', runner, '--'];
    const run = async (more = {}) => {
      const stages = [{ ...stage, command, keepsTests: { isOwn: () => true, surroundings: onlyVariables }, ...more }];
      const [{ passed, failed, kept }] = await runStages(stages, { root: folder, slots: 1, report: () => undefined });
      return [passed, failed, kept.files, kept.tests];
    };
    return { folder, run };
  }
  const kept = (folder) => join(folder, 'node_modules', '.cache', 'gannet', 'tests');

  it('are not run again until a file that they read changes', async () => {
    const { folder, run } = project();
    expect(await run()).toEqual([3, 0, 0, 0]);
    expect(await run()).toEqual([0, 0, 2, 3]);
    write(folder, { 'page.md': 'new', 'test/c.ts': 'new' });
    expect(await run()).toEqual([0, 0, 2, 3]);
    write(folder, { 'test/a.ts': 'export {};' });
    expect(await run()).toEqual([1, 0, 1, 2]);
    write(folder, { 'test/b.test.ts': '// 5' });
    expect(await run()).toEqual([5, 0, 1, 1]);
    for (const path of [
      'package-lock.json',
      'vitest.config.ts',
      'src/console/app/tsconfig.json',
      'scripts/lib/x.mjs',
    ]) {
      write(folder, { [path]: '{}' });
      expect(await run(), path).toEqual([6, 0, 0, 0]);
    }
    expect(await run({ isAnew: true })).toEqual([6, 0, 0, 0]);
    expect(await run()).toEqual([0, 0, 2, 6]);
  });

  it('are run again if they failed or skipped a test, or if something changed or failed outside them', async () => {
    const { folder, run } = project();
    const runWith = async (name, value) => {
      // Runs everything anew, as a new variable has all files run anyway.
      process.env[name] = value;
      try {
        return await run({ isAnew: true });
      } finally {
        delete process.env[name];
      }
    };
    write(folder, { 'test/a.test.ts': '// 1 fails', 'test/b.test.ts': '// 2 skips' });
    expect(await run()).toEqual([3, 1, 0, 0]);
    expect(await run()).toEqual([3, 1, 0, 0]);
    write(folder, { 'test/a.test.ts': '// 1', 'test/b.test.ts': '// 2' });
    await run();
    expect(await run()).toEqual([0, 0, 2, 3]);
    expect(await runWith('BESIDE', '1')).toEqual([3, 1, 0, 0]);
    expect(await run()).toEqual([3, 0, 0, 0]);
    // The runner ends before it has reported any file.
    expect(await runWith('CRASH', '1')).toEqual([0, 1, 0, 0]);
    expect(readdirSync(kept(folder))).toEqual([]);
    expect(await run()).toEqual([3, 0, 0, 0]);
    await runWith('MEANWHILE', join(folder, 'test', 'b.test.ts'));
    expect(readdirSync(kept(folder))).not.toContain('test+b.test.ts.json');
  });

  it('are run again with any other environment variable, but not in another terminal', async () => {
    const { run } = project();
    await run();
    for (const [name, expected] of Object.entries({
      TERM_PROGRAM_VERSION: [0, 0, 2, 3],
      HEARD_OF_BY_NOBODY: [3, 0, 0, 0],
    })) {
      const before = process.env[name];
      process.env[name] = 'another';
      expect(await run(), name).toEqual(expected);
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    }
  });

  it.each(['', '{', 'null', '{"digest":1,"passed":1}', '\0'.repeat(80), '[]'])(
    'are run again if their kept file contains %j',
    async (text) => {
      const { folder, run } = project();
      await run();
      for (const name of readdirSync(kept(folder))) writeFileSync(join(kept(folder), name), text);
      expect(await run()).toEqual([3, 0, 0, 0]);
      expect(await run()).toEqual([0, 0, 2, 3]);
    },
  );

  it('are kept by two runs at once, and files that a killed run left unfinished are ignored', async () => {
    const { folder, run } = project();
    await Promise.all([run(), run()]);
    write(kept(folder), { 'test+a.test.ts.json.1': '{"digest":' });
    expect(await run()).toEqual([0, 0, 2, 3]);
    rmSync(kept(folder), { recursive: true });
    expect(await run()).toEqual([3, 0, 0, 0]);
  });

  it('are kept only if their digest is the same as before the run', async () => {
    const { folder } = project();
    const looked = await lookAtTests(folder, onlyVariables);
    write(folder, { 'test/a.ts': 'export {};' });
    const files = [...looked.keys()].map((file) => ({ file, passed: 1, isWhole: true, processorSeconds: 1 }));
    await keepTests(folder, { looked, files, surroundings: onlyVariables });
    const now = await lookAtTests(folder, onlyVariables);
    expect([...now].map(([test, { passed }]) => [test, passed])).toEqual([
      ['test/a.test.ts', undefined],
      ['test/b.test.ts', 1],
    ]);
  });
});
