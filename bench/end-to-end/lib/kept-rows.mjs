/**
 * Keeps the rows of a measurement that takes longer than the minutes in which a machine is quiet. What was measured of this very build
 * is kept in the work folder until all is measured. Another build starts over.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, workFolder } from './service.mjs';

const STAMPS = ['code.stamp', 'gannet.stamp'].map((name) => join(root, 'dist', name));

export class KeptRows {
  #path;
  #build;
  #rows;

  /** `name` says what is measured; `settings` are other values that rows depend on, such as the number of records. */
  constructor(name, settings) {
    this.#path = join(workFolder, `${name}.rows.json`);
    this.#build = JSON.stringify([settings, ...STAMPS.map((path) => readFileSync(path, 'utf8').trim())]);
    const kept = existsSync(this.#path) ? JSON.parse(readFileSync(this.#path, 'utf8')) : {};
    this.#rows = new Map(kept.build === this.#build ? kept.rows : []);
  }

  get(name) {
    return this.#rows.get(name);
  }

  set(name, row) {
    this.#rows.set(name, row);
    writeFileSync(this.#path, JSON.stringify({ build: this.#build, rows: [...this.#rows] }));
  }

  /** Forgets the rows when all is measured, so that the next run measures everything again. */
  forget() {
    rmSync(this.#path, { force: true });
  }
}
