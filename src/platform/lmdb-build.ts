/** The build of `native-bindings/lmdb-js`, which checks every page that it reads, in the place of the one that the package of lmdb-js brings. */
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError } from './operator-error.js';
import { packageRoot } from './paths.js';

/** Has lmdb-js load it. To be called before `lmdb` is evaluated, in every thread: `lmdb.ts` sees to that. */
export function useCheckingBuild(): void {
  const folder = join(packageRoot(), 'native-bindings', 'build-lmdb');
  // Without it the service would run, and a damaged file would end it.
  if (!existsSync(join(folder, 'build', 'Release', 'lmdb.node')))
    throw new OperatorError('The storage library is not compiled. Run `npm run setup` first.');
  process.env['LMDB_PREBUILD'] = folder;
}
