/** Servers and makers of files that the tests have (test/support), for a bench: they are TypeScript, and are put together into one file first. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { root } from '../end-to-end/lib/service.mjs';

const FILES = ['feeds/greenmail', 'npy', 'onnx-folder', 'openid-provider', 'pdf', 'recordings', 's3-server'];

/** Resolves with all that they export. */
export async function testSupport() {
  // In the project, whose packages they import.
  const folder = mkdtempSync(join(root, 'dist', 'soak-support-'));
  try {
    const [entry, file] = ['entry.mjs', 'support.mjs'].map((name) => join(folder, name));
    const support = (name) => JSON.stringify(join(root, 'test', 'support', `${name}.ts`));
    writeFileSync(entry, FILES.map((name) => `export * from ${support(name)};\n`).join(''));
    const bundle = await rolldown({
      input: entry,
      platform: 'node',
      external: /^[^./\0]/,
      resolve: { extensionAlias: { '.js': ['.ts', '.js'] } },
      // What the service itself exports is not needed but for a constant or two.
      treeshake: { moduleSideEffects: false },
    });
    await bundle.write({ file, format: 'esm' });
    await bundle.close();
    return await import(pathToFileURL(file).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
