/**
 * LMDB as this service uses it. Nothing else imports a value from `lmdb`, so that the checking build is the one that is loaded. It is
 * required and not imported: what a file imports from libraries may be evaluated before the files beside it.
 */
import { createRequire } from 'node:module';
import type * as Lmdb from 'lmdb';
import './lmdb-build.js';

const library = createRequire(import.meta.url)('lmdb') as typeof Lmdb;

export const { open } = library;
