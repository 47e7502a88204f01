/** Bundles test support (test/support) for a bench: servers and makers of files. They are TypeScript, so they are bundled into one file first. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { rolldown } from 'rolldown';
import { root } from '../end-to-end/lib/service.mjs';

const FILES = ['feeds/greenmail', 'npy', 'onnx-folder', 'openid-provider', 'pdf', 'recordings', 's3-server'];

/** Resolves with all exports of the support files. */
export async function testSupport() {
  // The folder must be in the project, as the files import its packages.
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
      // Drops modules of the service, of which only one or two constants are needed.
      treeshake: { moduleSideEffects: false },
    });
    await bundle.write({ file, format: 'esm' });
    await bundle.close();
    return await import(pathToFileURL(file).href);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
