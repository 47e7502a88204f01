/**
 * Seals secrets for the disk: AES-256-GCM with a fresh nonce each, bound to the place where the secret belongs, so that
 * a sealed text copied elsewhere does not open. A sealed text names its key, and keys can be replaced while the service
 * runs.
 *
 * Main thread only; one box per process.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Secret } from './secret.js';
import { SecretKeys, type SecretKey, type SecretKeysOptions } from './secret-keys.js';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** `sealed1.<key id>.<base64url of nonce, ciphertext and tag>` */
const SEALED = /^sealed1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/;
/**
 * Also matches sealed texts of other releases and damaged ones, so that they are not taken for open secrets and sealed
 * again. No secret stored before there was a box begins like this.
 */
const OF_A_BOX = /^sealed\d+\./;

/** The secret cannot be opened: its key is missing, or the text was changed or belongs elsewhere. */
export class SecretUnreadableError extends Error {
  override readonly name = 'SecretUnreadableError';
}

/**
 * Seals again all secrets of one keeper that are not sealed by the newest key; resolves with their number when they are
 * on disk.
 */
export type Resealer = () => Promise<number>;

export class SecretBox {
  readonly #keys: SecretKeys;
  readonly #resealers: Resealer[] = [];
  #lost: () => readonly string[] = () => [];
  #rotation: Promise<unknown> = Promise.resolve();

  constructor(options: SecretKeysOptions) {
    this.#keys = new SecretKeys(options);
  }

  /**
   * Seals a secret. `place` names the secret and its owner, such as `webhook/<id>/secret`; opening needs the same
   * place.
   */
  seal(secret: Secret, place: string): string {
    const { id, bytes } = this.#keys.newest();
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, bytes, nonce).setAAD(Buffer.from(place));
    const sealed = Buffer.concat([nonce, cipher.update(secret.reveal(), 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `sealed1.${id}.${sealed.toString('base64url')}`;
  }

  /** Opens a sealed text. Throws a SecretUnreadableError. */
  open(sealed: string, place: string): Secret {
    const [, id, text = ''] = SEALED.exec(sealed) ?? [];
    if (id === undefined) {
      const detail = `What is kept as ${place} is sealed in a way that this release does not know: start the release that wrote it, or give the secret again.`;
      throw new SecretUnreadableError(detail);
    }
    const key = this.#keys.find(id);
    if (key === undefined) throw new SecretUnreadableError(`The key that ${place} was sealed with is not there.`);
    return new Secret(decipher(key, Buffer.from(text, 'base64url'), place));
  }

  /** False for a secret stored before there was a box. */
  isSealed(text: string): boolean {
    return OF_A_BOX.test(text);
  }

  /** True if the text is sealed by the newest key. */
  isCurrent(text: string): boolean {
    const id = SEALED.exec(text)?.[1];
    return id !== undefined && this.#keys.isNewest(id);
  }

  /** True if the key that sealed the text exists. */
  hasKeyOf(text: string): boolean {
    const id = SEALED.exec(text)?.[1];
    return id !== undefined && this.#keys.find(id) !== undefined;
  }

  /** Sets the function that finds the stored secrets whose key is missing. */
  lostAreToldBy(lost: () => readonly string[]): void {
    this.#lost = lost;
  }

  /** Returns the owners of secrets whose key is missing, such as `feed default/prices`. */
  lost(): readonly string[] {
    return this.#lost();
  }

  /** Adds a keeper of sealed texts, which is asked to seal them again when the keys change. */
  keptBy(resealer: Resealer): void {
    this.#resealers.push(resealer);
  }

  /**
   * Creates a new key, seals everything with it, and drops the other keys; resolves with the number of secrets sealed
   * again. If interrupted, everything still opens, and the next rotation completes it.
   */
  rotate(): Promise<number> {
    const rotated = this.#rotation.then(async () => {
      this.#keys.add();
      return this.resealAll();
    });
    this.#rotation = rotated.catch(() => undefined);
    return rotated;
  }

  /** Seals everything with the newest key and drops the others; resolves with the number of secrets sealed again. */
  async resealAll(): Promise<number> {
    let count = 0;
    for (const reseal of this.#resealers) count += await reseal();
    this.#keys.dropOlder();
    return count;
  }
}

function decipher({ bytes }: SecretKey, sealed: Buffer, place: string): string {
  const end = sealed.length - TAG_BYTES;
  try {
    const decipher = createDecipheriv(CIPHER, bytes, sealed.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      .setAAD(Buffer.from(place))
      .setAuthTag(sealed.subarray(end));
    return Buffer.concat([decipher.update(sealed.subarray(NONCE_BYTES, end)), decipher.final()]).toString('utf8');
  } catch {
    throw new SecretUnreadableError(`What is kept as ${place} was changed, or belongs elsewhere.`);
  }
}
