/** Checks what compiling the native addon needs, and says in one sentence what to install. */
import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import { run, StepError } from './steps.mjs';

/** The oldest Node.js that the service runs on; also in package.json under `engines`. */
export const NODE_MINIMUM = [20, 19];

/** Probe of the compiler. Clang up to 15 does not compile `subrange`s of g++'s library, which several algorithms return. */
const CPP20_PROBE =
  '#include <algorithm>\n#include <bit>\n#include <span>\nint main() { std::span<int> s; return std::popcount(0u) + int(std::ranges::unique(s).size()); }\n';

/** Returns the path of a program, looked up as by a shell. */
export function findProgram(name) {
  const candidates = isAbsolute(name)
    ? [name]
    : (process.env.PATH ?? '').split(delimiter).map((folder) => join(folder, name));
  return candidates.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}

export function checkNode() {
  const [major, minor] = process.versions.node.split('.').map(Number);
  const [wantedMajor, wantedMinor] = NODE_MINIMUM;
  if (major > wantedMajor || (major === wantedMajor && minor >= wantedMinor)) return;
  throw new StepError(
    `Node.js ${process.versions.node} is too old: install Node.js ${wantedMajor}.${wantedMinor} or newer (24 is recommended).`,
  );
}

/** Returns how this machine installs packages: the command and the packages' names. */
function installer() {
  if (process.platform === 'darwin') {
    return { command: 'xcode-select --install', packages: { compiler: '', make: '', python: '' } };
  }
  const known = [
    ['apt-get', 'apt-get install', { compiler: 'g++', make: 'make', python: 'python3' }],
    ['dnf', 'dnf install', { compiler: 'gcc-c++', make: 'make', python: 'python3' }],
    ['apk', 'apk add', { compiler: 'g++', make: 'make', python: 'python3' }],
    ['pacman', 'pacman -S', { compiler: 'gcc', make: 'make', python: 'python' }],
    ['zypper', 'zypper install', { compiler: 'gcc-c++', make: 'make', python: 'python3' }],
  ];
  const found = known.find(([program]) => findProgram(program) !== undefined) ?? known[0];
  return { command: found[1], packages: found[2] };
}

/** Returns the C++ compiler that node-gyp's make will call. */
export function cppCompiler() {
  const named = process.env.CXX?.trim().split(/\s+/)[0];
  return (named ? [named] : ['g++', 'c++', 'clang++']).map(findProgram).find((path) => path !== undefined);
}

/** Throws a StepError that names what to install if the addon cannot be compiled here. */
export async function checkToolchain() {
  const compiler = cppCompiler();
  const missing = [];
  if (compiler === undefined) missing.push(['compiler', 'a C++ compiler']);
  if (findProgram(process.env.MAKE ?? 'make') === undefined) missing.push(['make', 'make']);
  if ((process.env.PYTHON ?? findProgram('python3') ?? findProgram('python')) === undefined) {
    missing.push(['python', 'Python 3']);
  }
  const { command, packages } = installer();
  if (missing.length > 0) {
    const what = missing.map(([, words]) => words).join(' and ');
    const names = missing.map(([key]) => packages[key]).join(' ');
    throw new StepError(`Compiling the search kernel needs ${what}: install with \`${`${command} ${names}`.trim()}\`.`);
  }
  const probe = await run(compiler, ['-std=c++20', '-x', 'c++', '-fsyntax-only', '-'], { input: CPP20_PROBE });
  if (probe.code !== 0) {
    throw new StepError(
      `The compiler ${compiler} does not know C++20: install g++ 11 or clang 16 or newer, or name one with CXX.`,
      probe.output,
    );
  }
}
