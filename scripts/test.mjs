/**
 * `npm test`: everything that proves the product. Sets up what is stale, then checks style, layering and types beside the C++
 * tests (which run under sanitizers), then the TypeScript tests. Each check counts as one test; the last line is the sum.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import os from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { formatSeconds, lastLines, run } from './lib/steps.mjs';
import { reportFailure, setup } from './setup.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const program = (name) => join(root, 'node_modules', '.bin', name);

/** What a stage proved. `failed` is 1 for a check that failed; suites count their tests. */
const results = [];

function report(name, startedMs, { passed, failed, output }) {
  results.push({ passed, failed });
  if (failed > 0) process.stdout.write(`\n${lastLines(output, 200)}\n\n`);
  process.stdout.write(
    `${name}: ${passed} passed, ${failed} failed (${formatSeconds(performance.now() - startedMs)})\n`,
  );
}

async function check(name, command, args) {
  const startedMs = performance.now();
  const { code, output } = await run(command, args, { cwd: root });
  report(name, startedMs, { passed: code === 0 ? 1 : 0, failed: code === 0 ? 0 : 1, output });
}

async function checks() {
  await check('Types', program('tsc'), ['--noEmit', '-p', 'tsconfig.json']);
  await check('Layering', program('depcruise'), [
    '--config',
    '.dependency-cruiser.cjs',
    'src',
    'config',
    'native-bindings',
  ]);
  await check('Format', program('prettier'), ['--check', '--log-level', 'warn', '.']);
  await check('Lint', program('eslint'), ['.']);
}

/** The C++ tests end with `N passed, N failed`; a build that breaks before that counts as one failure. */
async function cppTests() {
  const startedMs = performance.now();
  const jobs = `-j${os.cpus().length}`;
  const { code, output } = await run('make', ['-C', 'native-bindings', '--no-print-directory', jobs, 'test'], {
    cwd: root,
  });
  const counts = [...output.matchAll(/^(\d+) passed, (\d+) failed$/gm)];
  const passed = counts.reduce((sum, match) => sum + Number(match[1]), 0);
  const failed = counts.reduce((sum, match) => sum + Number(match[2]), 0);
  const broken = (code !== 0 || counts.length === 0) && failed === 0;
  report('C++ tests', startedMs, { passed, failed: broken ? 1 : failed, output });
}

async function typescriptTests() {
  const startedMs = performance.now();
  const folder = mkdtempSync(join(os.tmpdir(), 'gannet-test-'));
  const file = join(folder, 'vitest.json');
  try {
    const args = ['run', '--reporter=dot', '--reporter=json', `--outputFile.json=${file}`];
    const { code, output } = await run(program('vitest'), args, { cwd: root });
    report('TypeScript tests', startedMs, { ...vitestCounts(file, code), output });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function vitestCounts(file, code) {
  let passed = 0;
  let failed = 0;
  try {
    const summary = JSON.parse(readFileSync(file, 'utf8'));
    passed = summary.numPassedTests;
    failed = summary.numFailedTests;
    // A file that cannot even be loaded has no tests that could fail.
    failed += summary.testResults.filter(
      (suite) => suite.status === 'failed' && suite.assertionResults.length === 0,
    ).length;
  } catch {
    failed = 1;
  }
  return { passed, failed: code !== 0 && failed === 0 ? 1 : failed };
}

const startedMs = performance.now();
try {
  await setup({ quiet: true });
  await Promise.all([checks(), cppTests()]);
  await typescriptTests();
} catch (error) {
  reportFailure(error);
  results.push({ passed: 0, failed: 1 });
}
const passed = results.reduce((sum, result) => sum + result.passed, 0);
const failed = results.reduce((sum, result) => sum + result.failed, 0);
process.stdout.write(`All stages took ${formatSeconds(performance.now() - startedMs)}.\n`);
process.stdout.write(`${passed} passed, ${failed} failed\n`);
process.exitCode = failed === 0 ? 0 : 1;
