import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { nextStages, processorSeconds, runStages } from './run-stages.mjs';
import { readers } from './stage-results.mjs';
import { stagesOf, wantedStages } from './stages.mjs';

const stage = (id, seconds, more = {}) => ({
  id,
  name: id,
  seconds,
  slots: 1,
  needs: [],
  reads: 'check',
  command: [process.execPath, '-e', ''],
  ...more,
});

describe('stages', () => {
  it('start longest first, as far as slots are free', () => {
    const waiting = [
      stage('short', 1),
      stage('long', 9),
      stage('wide', 5, { slots: 2 }),
      stage('late', 99, { needs: ['long'] }),
    ];
    const ids = (state) => nextStages(waiting, state).map(({ id }) => id);
    expect(ids({ passedIds: new Set(), freeSlots: 2, isIdle: true })).toEqual(['long', 'short']);
    expect(ids({ passedIds: new Set(['long']), freeSlots: 1, isIdle: false })).toEqual(['late']);
    const alone = nextStages([stage('wide', 5, { slots: 8 })], { passedIds: new Set(), freeSlots: 2, isIdle: true });
    expect(alone).toHaveLength(1);
  });

  it('run side by side, and not at all if a stage that they need failed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-stages-'));
    const reported = [];
    const told = [];
    // Each of the first two ends when the other has started.
    const meeting = (mine, other) => [
      process.execPath,
      '-e',
      `const fs = require('fs'); fs.writeFileSync('${mine}', ''); while (!fs.existsSync('${other}'));`,
    ];
    const results = await runStages(
      [
        stage('one', 2, { command: meeting('a', 'b') }),
        stage('two', 2, { command: meeting('b', 'a') }),
        stage('broken', 1, { needs: ['one'], command: [process.execPath, '-e', 'process.exit(1)'] }),
        stage('left', 1, { needs: ['broken'] }),
        stage('telling', 1, { tells: true, command: [process.execPath, '-e', "console.log('12 of 183 files')"] }),
        stage('missing', 1, { command: ['/nowhere/program'] }),
      ],
      { root: folder, slots: 2, report: ({ name }) => reported.push(name), tell: (line) => void told.push(line) },
    );
    expect(results.map(({ name, failed }) => [name, failed]).sort()).toEqual([
      ['broken', 1],
      ['left', 1],
      ['missing', 1],
      ['one', 0],
      ['telling', 0],
      ['two', 0],
    ]);
    expect(reported).toHaveLength(6);
    expect(told).toEqual(['telling: 12 of 183 files']);
  });
});

it('Stages of the project need only stages that exist, and those that run built code need the set-up', () => {
  const stages = stagesOf('/project');
  const ids = stages.map(({ id }) => id);
  expect(stages.flatMap(({ needs }) => needs).filter((id) => !ids.includes(id))).toEqual([]);
  const needing = stages.filter(({ needs }) => needs.includes('setup')).map(({ id }) => id);
  expect(needing).toEqual(expect.arrayContaining(['integration', 'unit', 'lint', 'schemathesis']));
});

describe('kept results of stages', () => {
  /** Returns a function that runs a stage with a file `read/file` of `text`, and returns `[passed, failed, kept tests]`. */
  function keptStage() {
    const root = mkdtempSync(join(tmpdir(), 'gannet-stages-'));
    mkdirSync(join(root, 'read'));
    writeFileSync(join(root, 'package-lock.json'), '{}');
    const program = `const text = require('fs').readFileSync('read/file', 'utf8'); console.log(text);
      if (text.includes('meanwhile')) require('fs').writeFileSync('read/other', '');
      if (require('fs').existsSync('broken')) process.exit(1);`;
    const command = [process.execPath, '-e', program];
    writeFileSync(join(root, '.gitignore'), 'left/\n*.log\n');
    const keptFor = { folders: ['read', 'nowhere'], skip: ['read/docs'], programs: [`env ${process.execPath}`] };
    const known = [stage('kept', 1, { reads: 'counts', command, keptFor })];
    /** @typedef {{ broken?: boolean; beside?: string; isNamed?: boolean; times?: number }} Run */
    return async (text, { broken = false, beside, ...how } = /** @type {Run} */ ({})) => {
      writeFileSync(join(root, 'read', 'file'), text);
      rmSync(join(root, 'broken'), { force: true });
      rmSync(join(root, 'read', 'other'), { force: true });
      if (broken) writeFileSync(join(root, 'broken'), '');
      if (beside !== undefined) {
        mkdirSync(dirname(join(root, beside)), { recursive: true });
        writeFileSync(join(root, beside), '');
      }
      const stages = wantedStages(known, ['kept'], { isNamed: false, times: 1, ...how });
      const [result] = await runStages(stages, { root, slots: 1, report: () => undefined });
      return [result.passed, result.failed, result.kept.tests];
    };
  }

  it('are valid until a file that the stage reads changes, and failures are not kept', async () => {
    const said = keptStage();
    expect(await said('1 passed, 0 failed')).toEqual([1, 0, 0]);
    expect(await said('1 passed, 0 failed')).toEqual([0, 0, 1]);
    expect(await said('2 passed, 0 failed')).toEqual([2, 0, 0]);
    expect(await said('3 passed, 1 failed')).toEqual([3, 1, 0]);
    expect(await said('3 passed, 1 failed')).toEqual([3, 1, 0]);
  });

  it('ignore changes in skipped folders and of files that git ignores, but not in other folders of the same name', async () => {
    const said = keptStage();
    expect(await said('1 passed, 0 failed')).toEqual([1, 0, 0]);
    expect(await said('1 passed, 0 failed', { beside: 'read/docs/page' })).toEqual([0, 0, 1]);
    expect(await said('1 passed, 0 failed', { beside: 'read/isolate-1.log' })).toEqual([0, 0, 1]);
    expect(await said('1 passed, 0 failed', { beside: 'read/src/docs/page' })).toEqual([1, 0, 0]);
  });

  it('are not kept if a file changed while the stage ran', async () => {
    const said = keptStage();
    expect(await said('1 passed, 0 failed\nmeanwhile')).toEqual([1, 0, 0]);
    expect(await said('1 passed, 0 failed\nmeanwhile')).toEqual([1, 0, 0]);
  });

  it('are not used for a stage that is named or run several times, and are removed if it fails then', async () => {
    const said = keptStage();
    expect(await said('1 passed, 0 failed')).toEqual([1, 0, 0]);
    expect(await said('1 passed, 0 failed', { isNamed: true })).toEqual([1, 0, 0]);
    expect(await said('1 passed, 0 failed', { times: 2 })).toEqual([1, 0, 0]);
    expect(await said('1 passed, 0 failed')).toEqual([0, 0, 1]);
    expect(await said('1 passed, 0 failed', { times: 2, broken: true })).toEqual([1, 1, 0]);
    expect(await said('1 passed, 0 failed')).toEqual([1, 0, 0]);
  });

  const variables = ['GANNET_ROUNDS', 'GANNET_KERNEL_INSTRUCTIONS', 'LMDB_DIR', 'SNOWBALL_DIR', 'CC'];
  it.each(variables)('are not used with another %s', async (name) => {
    const said = keptStage();
    const before = process.env[name];
    try {
      expect(await said('1 passed, 0 failed')).toEqual([1, 0, 0]);
      process.env[name] = '/another';
      expect(await said('1 passed, 0 failed')).toEqual([1, 0, 0]);
    } finally {
      if (before === undefined) delete process.env[name];
      else process.env[name] = before;
    }
  });
});

describe('processor time of a stage', () => {
  it('is read from the children line of `times`, in the formats of different shells', () => {
    expect(processorSeconds('0m0.01s 0m0.02s\n1m2.50s 0m0.25s\n')).toBe(62.75);
    expect(processorSeconds('0m0.001s 0m0.002s\n0m0.100s 2m0.000s\n')).toBe(120.1);
    expect(processorSeconds('')).toBe(0);
  });

  it('includes processes that the stage started and waited for', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'gannet-stages-'));
    const busy = 'const end = process.cpuUsage().user + 300000; while (process.cpuUsage().user < end);';
    const command = [
      process.execPath,
      '-e',
      `require('child_process').execFileSync(process.execPath, ['-e', '${busy}'])`,
    ];
    const [result] = await runStages([stage('busy', 1, { command })], {
      root: folder,
      slots: 2,
      report: () => undefined,
    });
    expect(result.processorSeconds).toBeGreaterThan(0.3);
  });
});

describe('result of a stage', () => {
  it('is read from sums, skipped lines and the exit status', () => {
    const output = 'FAILED a test\n3 passed, 1 failed\n2 passed, 0 failed\nskipped: no clang here\n';
    expect(readers.counts({ code: 1, name: 'C++', output })).toEqual({
      passed: 5,
      failed: 1,
      failures: ['C++: a test'],
      skipped: [{ name: 'C++', reason: 'no clang here' }],
      files: [],
    });
    expect(readers.counts({ code: 0, name: 'C++', output: '' })).toMatchObject({ failed: 1, failures: ['C++'] });
    expect(readers.counts({ code: 139, name: 'C++', output: '3 passed, 0 failed\n' })).toMatchObject({ failed: 1 });
    expect(readers.check({ code: 0, name: 'Types' })).toMatchObject({ passed: 1, failed: 0 });
    expect(readers.work({ code: 0, name: 'Set-up' })).toMatchObject({ passed: 0, failed: 0 });
    expect(readers.work({ code: 1, name: 'Set-up' })).toMatchObject({ passed: 0, failures: ['Set-up'] });
  });

  it('is a failure if a test run leaves no report or fails outside its tests', () => {
    expect(readers.tests({ code: 0, name: 'Unit', reportFile: '/nowhere' })).toMatchObject({ failed: 1 });
    const reportFile = join(mkdtempSync(join(tmpdir(), 'gannet-report-')), 'report.json');
    const files = [{ file: 'x' }];
    writeFileSync(
      reportFile,
      JSON.stringify({ passed: 7, failures: [], skipped: [{ name: 'x', reason: 'y' }], files }),
    );
    expect(readers.tests({ code: 1, name: 'Unit', reportFile })).toMatchObject({ passed: 7, failed: 1 });
    expect(readers.tests({ code: 0, name: 'Unit', reportFile })).toMatchObject({ passed: 7, failed: 0 });
  });

  it('is a failure if a test run finds no file, unless all are kept', () => {
    const reportFile = join(mkdtempSync(join(tmpdir(), 'gannet-report-')), 'report.json');
    writeFileSync(reportFile, JSON.stringify({ passed: 0, failures: [], skipped: [], files: [] }));
    expect(readers.tests({ code: 0, name: 'Unit', reportFile })).toMatchObject({ failed: 1 });
    expect(readers.tests({ code: 0, name: 'Unit', reportFile, mayBeEmpty: true })).toMatchObject({ failed: 0 });
    expect(stagesOf('/project').flatMap(({ command }) => command)).not.toContain('--passWithNoTests');
  });
});
