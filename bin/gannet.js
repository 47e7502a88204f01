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
if (built.every((file) => existsSync(fileURLToPath(file)))) {
  const { runCommandLine } = await import(commandLine.href);
  process.exitCode = await runCommandLine(process.argv, () => import('../dist/bundle/src/main.js'));
} else {
  process.stderr.write('Gannet is not built yet: run `npm run setup` first.\n');
  process.exitCode = 3;
}
