'use strict';
/**
 * Records compiled code, preloaded (`node --require`) into a process and its threads. Each thread remembers the scripts of the bundle that
 * it loaded, and writes their code with all functions called so far when it is asked to (by a file) or ends. Used by
 * keep-code.mjs, which names the package in RECORDED_PACKAGE and the folder in RECORDED_CODE_FOLDER.
 */
const { existsSync, mkdirSync, readFileSync, realpathSync, rmdirSync, writeFileSync } = require('node:fs');
const { dirname, join } = require('node:path');
const { setFlagsFromString } = require('node:v8');
const vm = require('node:vm');
const { threadId } = require('node:worker_threads');

const LOOK_MS = 50;
const folder = process.env.RECORDED_CODE_FOLDER;
const root = process.env.RECORDED_PACKAGE;
const own = join(folder, `${process.pid}-${threadId}`);
const scripts = new Map();

const { Script } = vm;
// Replaces the Script that the loader, loaded here, takes.
vm.Script = class extends Script {
  constructor(source, options) {
    super(source, options);
    scripts.set(options.filename, this);
  }
};
const { codePath, encodeCode } = require(join(realpathSync(join(root, 'dist', 'bundle')), 'load-bundle.cjs'));
vm.Script = Script;

// Keeps V8 from dropping code that was not called for a while. Only the main thread sets the flag, as another thread may start while one writes.
if (threadId === 0) setFlagsFromString('--no-flush-bytecode');
mkdirSync(own);

const { wait } = Atomics;

/** Lets threads take turns, as V8 flags belong to the process. */
function inTurn(work) {
  const turn = join(folder, `turn-${process.pid}`);
  for (;;) {
    try {
      mkdirSync(turn);
      break;
    } catch {
      wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOOK_MS);
    }
  }
  try {
    work();
  } finally {
    rmdirSync(turn);
  }
}

/**
 * The code and where it is kept. The main thread tunes V8 when threads have started, also while this one writes: code with the flags of
 * one tuning in the folder of another would be refused at every start.
 */
function compiledWith(flags, file, script) {
  for (;;) {
    for (const flag of flags) setFlagsFromString(flag);
    const name = codePath(file);
    const code = script.createCachedData();
    if (codePath(file) === name) return [name, code];
  }
}

let written = false;
function write() {
  if (written) return;
  written = true;
  inTurn(writeAll);
}

function writeAll() {
  setFlagsFromString('--flush-bytecode');
  const { tunings } = require(join(root, 'dist', 'src', 'platform', 'garbage-collection.js'));
  for (const flags of tunings()) {
    for (const [file, script] of scripts) {
      const [name, code] = compiledWith(flags, file, script);
      const path = join(own, name);
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, encodeCode(readFileSync(file), code));
    }
  }
  setFlagsFromString('--no-flush-bytecode');
  writeFileSync(join(own, 'done'), '');
}

function writeIfAsked() {
  if (existsSync(join(folder, 'asked'))) write();
}

process.on('exit', write);
setInterval(writeIfAsked, LOOK_MS).unref();
// Search threads wait for searches outside their event loops, so the request is looked for here, too.
Atomics.wait = (...what) => {
  writeIfAsked();
  return wait(...what);
};
