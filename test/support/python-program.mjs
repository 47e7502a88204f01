/** Runs programs from PyPI, each in its own virtual environment. */
import { existsSync, mkdirSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { run } from '../../scripts/lib/steps.mjs';

const PYTHON_MIN = [3, 10];

/** Thrown if the machine lacks something, so that the program is skipped. */
class Skipped extends Error {}

async function pythonProgram() {
  for (const name of ['python3', 'python']) {
    const { code, output } = await run(name, ['-c', 'import sys, venv, ensurepip; print(*sys.version_info[:2])']);
    if (code !== 0) continue;
    const [major, minor] = output.trim().split(' ').map(Number);
    if (major > PYTHON_MIN[0] || (major === PYTHON_MIN[0] && minor >= PYTHON_MIN[1])) return name;
  }
  throw new Skipped(`it needs Python ${PYTHON_MIN.join('.')} or later with venv and pip`);
}

/**
 * Returns the folder of programs (including `python`) of a package's release, installing it into the user's cache or
 * `home` if it is missing. Throws `Skipped` if that is impossible.
 */
export async function pythonPrograms(name, version, home = join(homedir(), '.cache', 'gannet', `${name}-${version}`)) {
  const programs = join(home, 'bin');
  if (existsSync(join(programs, name))) return programs;
  const python = await pythonProgram();
  mkdirSync(home, { recursive: true });
  const made = await run(python, ['-m', 'venv', home]);
  if (made.code !== 0) throw new Skipped(`no virtual environment can be made: ${made.output.trim()}`);
  const pip = ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', `${name}==${version}`];
  const installed = await run(join(programs, 'python'), pip);
  if (installed.code !== 0) {
    rmSync(home, { recursive: true, force: true });
    throw new Skipped(`pip cannot install it: ${installed.output.trim().split('\n').at(-1)}`);
  }
  return programs;
}

/** Runs `main` and sets the exit status. If the machine lacks something, prints that it was skipped. */
export async function runUnlessSkipped(name, main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    if (!(error instanceof Skipped)) throw error;
    process.stdout.write(`${name} is skipped: ${error.message}.\n0 passed, 0 failed\n`);
  }
}
