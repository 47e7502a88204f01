/**
 * Rows of a measurement that is made in pieces, because a machine is quiet for minutes and it takes longer: what was measured of this very build
 * is kept in the work folder until all is, and another build begins anew.
 */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root, workFolder } from './service.mjs';

const STAMPS = ['code.stamp', 'gannet.stamp'].map((name) => join(root, 'dist', name));

export class KeptRows {
  #path;
  #build;
  #rows;

  /** `name`: what is measured; `settings`: what else makes rows of another kind, as the number of records. */
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

  /** To be called when all was measured: the next run measures everything anew. */
  forget() {
    rmSync(this.#path, { force: true });
  }
}
