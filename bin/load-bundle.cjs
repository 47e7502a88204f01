'use strict';
/**
 * Loads the files of a bundle, in every thread by itself. The set-up puts a copy of this into each bundle (scripts/lib/bundle.mjs): threads and
 * processes that a service starts later come from the folder that it was started from, also where another bundle has taken its place. V8 takes
 * of the files what the set-up has kept of their compiled code (scripts/lib/keep-code.mjs), which spares a start a third of its processor time.
 * Kept code is left alone, without a word, where it belongs to another V8, other flags or another processor (it lies in a folder named by
 * these), to another content of the file, or is damaged; V8 itself looks at no more than the length of a source. It lies among the files that
 * it was made of, and nowhere else: who could write there could change these.
 */
const { readFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname, join, relative, sep } = require('node:path');
const { cachedDataVersionTag } = require('node:v8');
const { Script } = require('node:vm');
const { crc32 } = require('node:zlib');

const BUNDLE = __dirname;
/** Of kept code: the sums of the source and of the code, of four bytes each. */
const HEAD_BYTES = 8;
/** What every file of the bundle ends with: one that does not is cut off. */
const END = '\n//# end\n';

/** V8 forgets of kept code who loads what it imports, so the bundle calls this in place of `import()` (scripts/lib/bundle.mjs). */
const importLibrary = (id) => import(id);
const requireLibrary = createRequire(join(BUNDLE, 'any.cjs'));
const modules = new Map();

/** Below the folder of kept code. Flags may change while a process runs. */
function codePath(file) {
  return join(cachedDataVersionTag().toString(16), relative(BUNDLE, file).replaceAll(sep, '-'));
}

function encodeCode(source, code) {
  const head = Buffer.alloc(HEAD_BYTES);
  head.writeUInt32LE(crc32(source), 0);
  head.writeUInt32LE(crc32(code), 4);
  return Buffer.concat([head, code]);
}

/** Undefined where there is none that belongs to this source. */
function keptCode(file, source) {
  let bytes;
  try {
    bytes = readFileSync(join(BUNDLE, 'code', codePath(file)));
  } catch {
    return undefined;
  }
  if (bytes.length <= HEAD_BYTES) return undefined;
  const code = bytes.subarray(HEAD_BYTES);
  return bytes.readUInt32LE(0) === crc32(source) && bytes.readUInt32LE(4) === crc32(code) ? code : undefined;
}

function readSource(file) {
  let source;
  try {
    source = readFileSync(file);
  } catch (error) {
    // The file is there: whoever asks again, when others have ended, has it.
    if (['EMFILE', 'ENFILE', 'ENOMEM'].includes(error.code)) throw error;
    throw Object.assign(new Error(`Cannot find module '${file}' (${error.code}).`), { code: 'MODULE_NOT_FOUND' });
  }
  if (source.toString('latin1', source.length - END.length) !== END)
    throw new SyntaxError(`The file '${file}' is cut off.`);
  return source;
}

/** What the file of the bundle exports; loads it and what it needs where this thread has not yet. Throws where it cannot be loaded. */
function loadBundled(file) {
  const known = modules.get(file);
  if (known !== undefined) return known.exports;
  const source = readSource(file);
  // On one line with what the file begins with, so that lines are those of the file.
  const wrapped = `(function (exports, require, module, __filename, __dirname, importLibrary) { 'use strict'; ${source.toString()}\n})`;
  const script = new Script(wrapped, {
    filename: file,
    cachedData: keptCode(file, source),
  });
  const folder = dirname(file);
  const requireFrom = (id) => (id.startsWith('.') ? loadBundled(join(folder, id)) : requireLibrary(id));
  const module = { exports: {} };
  modules.set(file, module);
  try {
    script.runInThisContext().call(module.exports, module.exports, requireFrom, module, file, folder, importLibrary);
  } catch (error) {
    // Asked for again, it fails again.
    modules.delete(file);
    throw error;
  }
  return module.exports;
}

module.exports = { BUNDLE, END, codePath, encodeCode, loadBundled };
