/**
 * What a stage proved, read from how it ended and what it left behind:
 * `{ passed, failed, failures: [name], skipped: [{ name, reason }], files: [{ file, seconds, processorSeconds, passed, isWhole }] }`.
 */
import { readFileSync } from 'node:fs';

const nothing = { passed: 0, failed: 0, failures: [], skipped: [], files: [] };

/** What others need proves nothing by itself. */
function work({ code, name }) {
  return code === 0 ? nothing : { ...nothing, failed: 1, failures: [name] };
}

/** A check is one test. */
function check({ code, name }) {
  return code === 0 ? { ...nothing, passed: 1 } : { ...nothing, failed: 1, failures: [name] };
}

/**
 * Lines `N passed, N failed`, summed, and lines `skipped: <why>`, for what this machine cannot run. A program that fails without
 * having counted one failure counts as one.
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

/** The summary that summary-reporter.mjs writes. Without one, the runner itself has failed; so has one that found no file, unless all are kept. */
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
