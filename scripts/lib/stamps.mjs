/**
 * Stamps: hashes over everything that a build step reads, kept beside its output. A step is stale if its hash
 * differs, so neither a checkout nor a touched file causes a needless build, and no edit is missed.
 */
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';

/** Returns the sorted paths of all files below `folder` that `accept` accepts. Does not enter folders in `skip`, given by name or path. */
export function filesUnder(folder, accept, skip = new Set()) {
  const found = [];
  const visit = (directory) => {
    for (const entry of readdirSync(directory, { withFileTypes: true })) {
      const path = join(directory, entry.name);
      if (entry.isDirectory()) {
        if (!skip.has(entry.name) && !skip.has(path)) visit(path);
      } else if (accept(path)) {
        found.push(path);
      }
    }
  };
  visit(folder);
  return found.sort();
}

/** Returns a function that is true for names that git ignores by a name pattern in `.gitignore`: logs and profiles that a run leaves. */
export function ignoredNames(root) {
  const lines = (readStamp(join(root, '.gitignore')) ?? '').split('\n');
  const names = lines
    .filter((line) => /^[\w*.-]+$/.test(line))
    .map((line) => line.replaceAll('.', '\\.').replaceAll('*', '.*'));
  const pattern = new RegExp(`^(?:${names.join('|')})$`);
  return (name) => names.length > 0 && pattern.test(name);
}

/** Returns the SHA-256 over the paths and contents of `files` and over `extra` (versions, settings). */
export function hashOf(files, extra) {
  const hash = createHash('sha256');
  hash.update(JSON.stringify(extra));
  for (const file of files) {
    const content = readFileSync(file);
    hash.update(`\n${file}\n${content.length}\n`);
    hash.update(content);
  }
  return hash.digest('hex');
}

export function readStamp(path) {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch {
    return undefined;
  }
}

export function writeStamp(path, value) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `${value}\n`);
}

export function readJson(path) {
  try {
    return JSON.parse(readFileSync(path, 'utf8'));
  } catch {
    return undefined;
  }
}
