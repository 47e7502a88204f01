/** LMDB as this service uses it. Nothing else imports a value from `lmdb`, so that the checking build is the one that is loaded. */
import './lmdb-build.js';

export { open } from 'lmdb';
