/**
 * Selects the build in `native-bindings/lmdb-js`, which checks every page that it reads, instead of the one in lmdb-js'
 * package.
 */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from './operator-error.js';
import { packageRoot } from './paths.js';

/**
 * Makes lmdb-js load this build. Must be called in every thread before `lmdb` is evaluated, which `lmdb.ts` ensures.
 */
export function useCheckingBuild(): void {
  const folder = join(packageRoot(), 'native-bindings', 'build-lmdb');
  // Otherwise the service would run with the other build, and a damaged file would end the process.
  if (!existsSync(join(folder, 'build', 'Release', 'lmdb.node')))
    throw new OperatorError('The storage library is not compiled. Run `npm run setup` first.');
  process.env['LMDB_PREBUILD'] = folder;
}
