/** Archives of Java servers, fetched by Maven once. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { freshFolder, keep, keptFolder } from './kept-folder.js';

const COPY = 'org.apache.maven.plugins:maven-dependency-plugin:3.6.1:copy';
const FETCH_MS_MAX = 240_000;

/** Returns the path of the archive. Throws if it cannot be fetched. */
export function mavenArchive(artifact: string, folder: string, file: string): string {
  const { path, isThere } = keptFolder(folder);
  if (isThere) return join(path, file);
  const fresh = freshFolder(path);
  try {
    const root = join(fresh, 'root');
    mkdirSync(root);
    const wanted = [`-Dartifact=${artifact}`, `-DoutputDirectory=${root}`];
    execFileSync('mvn', ['-q', '-B', COPY, ...wanted], { stdio: 'ignore', timeout: FETCH_MS_MAX });
    readFileSync(join(root, file));
    keep(root, path);
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
  return join(path, file);
}
