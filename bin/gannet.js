#!/usr/bin/env node
// The program: hands the composition root to the command line, which loads it only for the commands that need it.
import { existsSync } from 'node:fs';
import module from 'node:module';
import { fileURLToPath } from 'node:url';

// From Node.js 22 on, compiled code is kept between starts; where the folder is not writable, nothing happens.
module.enableCompileCache?.(fileURLToPath(new URL('../dist/.compile-cache', import.meta.url)));

const commandLine = new URL('../dist/bundle/src/cli/index.js', import.meta.url);
const built = [
  commandLine,
  new URL('../native-bindings/build/Release/gannet_kernel.node', import.meta.url),
  new URL('../native-bindings/build-lmdb/build/Release/lmdb.node', import.meta.url),
];

function fail(sentence) {
  process.stderr.write(`${sentence}\n`);
  process.exit(3);
}

/** What was compiled and cannot be loaded is damaged. */
function load(file) {
  return import(file).catch((error) => {
    fail(`Gannet cannot be loaded: ${error.message.split('\n', 1)[0]} \`npm run setup\` makes anew what is damaged.`);
  });
}

if (!built.every((file) => existsSync(fileURLToPath(file))))
  fail('Gannet is not built yet: run `npm run setup` first.');
const { runCommandLine } = await load(commandLine.href);
process.exitCode = await runCommandLine(process.argv, () => load('../dist/bundle/src/main.js'));
