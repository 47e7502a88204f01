/**
 * Reads the result of a stage from its exit status, output and report:
 * `{ passed, failed, failures: [name], skipped: [{ name, reason }], files: [{ file, seconds, processorSeconds, passed, isWhole }] }`.
 */
import { readFileSync } from 'node:fs';

const nothing = { passed: 0, failed: 0, failures: [], skipped: [], files: [] };

/** Reads a stage that others need, which counts no test if it passes. */
function work({ code, name }) {
  return code === 0 ? nothing : { ...nothing, failed: 1, failures: [name] };
}

/** Reads a check, which counts as one test. */
function check({ code, name }) {
  return code === 0 ? { ...nothing, passed: 1 } : { ...nothing, failed: 1, failures: [name] };
}

/**
 * Reads and sums lines `N passed, N failed`, and lines `skipped: <why>` for what this machine cannot run. A program that fails without
 * a counted failure counts as one.
 */
function counts({ code, name, output }) {
  const sums = [...output.matchAll(/^(\d+) passed, (\d+) failed/gm)];
  const skipped = [...output.matchAll(/^skipped: (.+)$/gm)].map(([, reason]) => ({ name, reason }));
  const failures = [...output.matchAll(/^FAILED (.+)$/gm)].map(([, test]) => `${name}: ${test}`);
  const passed = sums.reduce((sum, match) => sum + Number(match[1]), 0);
  const failed = sums.reduce((sum, match) => sum + Number(match[2]), 0);
  const isBroken = (code !== 0 || (sums.length === 0 && skipped.length === 0)) && failed === 0;
  return isBroken
    ? { ...nothing, passed, failed: 1, failures: [name], skipped }
    : { ...nothing, passed, failed, failures, skipped };
}

/** Reads the summary of summary-reporter.mjs. Without one, or if it found no file and not all are kept, the runner itself has failed. */
function tests({ code, name, reportFile, mayBeEmpty = false }) {
  let summary;
  try {
    summary = JSON.parse(readFileSync(reportFile, 'utf8'));
  } catch {
    return { ...nothing, failed: 1, failures: [`${name}: the runner left no report`] };
  }
  const { passed, failures, skipped, files = [] } = summary;
  if (code !== 0 && failures.length === 0) failures.push(`${name}: the runner ended with status ${code}`);
  if (files.length === 0 && failures.length === 0 && !mayBeEmpty)
    failures.push(`${name}: the runner found no file of tests`);
  return { passed, failed: failures.length, failures, skipped, files };
}

export const readers = { work, check, counts, tests };
