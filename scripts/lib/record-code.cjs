'use strict';
/**
 * Preloaded (`node --require`) into a process whose compiled code is to be kept, and so into its threads: each remembers what it loaded
 * of the bundle, and writes the code of it, with all functions that were called, once it is asked to (by a file) or ends. For
 * keep-code.mjs, which says of which package by RECORDED_PACKAGE, and where to by RECORDED_CODE_FOLDER.
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
// What the loader takes, which is loaded here.
vm.Script = class extends Script {
  constructor(source, options) {
    super(source, options);
    scripts.set(options.filename, this);
  }
};
const { codePath, encodeCode } = require(join(realpathSync(join(root, 'dist', 'bundle')), 'load-bundle.cjs'));
vm.Script = Script;

// V8 drops the code of what has not been called for a while. A thread that starts while another one writes leaves its flags alone.
if (threadId === 0) setFlagsFromString('--no-flush-bytecode');
mkdirSync(own);

const { wait } = Atomics;

/** Flags are the process's: its threads take turns. */
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
    for (const flag of flags) setFlagsFromString(flag);
    for (const [file, script] of scripts) {
      const path = join(own, codePath(file));
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, encodeCode(readFileSync(file), script.createCachedData()));
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
// Search threads wait for their searches without their event loops.
Atomics.wait = (...what) => {
  writeIfAsked();
  return wait(...what);
};
