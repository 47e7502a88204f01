/**
 * Keeps secrets sealed on disk: AES-256-GCM with a fresh nonce each, bound to the place that they belong to, so that a sealed
 * text copied elsewhere does not open. What is sealed says by which key, and keys can be replaced while everything works.
 *
 * Main thread only: one box a process.
 */
import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { Secret } from './secret.js';
import { SecretKeys, type SecretKey, type SecretKeysOptions } from './secret-keys.js';

const CIPHER = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
/** `sealed1.<key id>.<base64url of nonce, ciphertext and tag>` */
const SEALED = /^sealed1\.([0-9a-f]{8})\.([A-Za-z0-9_-]+)$/;
/** Also of another release, or damaged: no secret that was kept before there was a box begins so, and none of these is taken for one and sealed once more. */
const OF_A_BOX = /^sealed\d+\./;

/** The secret cannot be had: its key is gone, or the text was changed or belongs elsewhere. */
export class SecretUnreadableError extends Error {
  override readonly name = 'SecretUnreadableError';
}

/** Seals again whatever it keeps that is not sealed by the newest key; resolves, when that is on disk, with how many. */
export type Resealer = () => Promise<number>;

export class SecretBox {
  readonly #keys: SecretKeys;
  readonly #resealers: Resealer[] = [];
  #lost: () => readonly string[] = () => [];
  #rotation: Promise<unknown> = Promise.resolve();

  constructor(options: SecretKeysOptions) {
    this.#keys = new SecretKeys(options);
  }

  /** `place` names what the secret is and whose, such as `webhook/<id>/secret`; the same is needed to open it. */
  seal(secret: Secret, place: string): string {
    const { id, bytes } = this.#keys.newest();
    const nonce = randomBytes(NONCE_BYTES);
    const cipher = createCipheriv(CIPHER, bytes, nonce).setAAD(Buffer.from(place));
    const sealed = Buffer.concat([nonce, cipher.update(secret.reveal(), 'utf8'), cipher.final(), cipher.getAuthTag()]);
    return `sealed1.${id}.${sealed.toString('base64url')}`;
  }

  /** Throws a SecretUnreadableError. */
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

  /** False for what was kept before there was a box. */
  isSealed(text: string): boolean {
    return OF_A_BOX.test(text);
  }

  /** Whether the newest key has sealed this. */
  isCurrent(text: string): boolean {
    const id = SEALED.exec(text)?.[1];
    return id !== undefined && this.#keys.isNewest(id);
  }

  /** Whether the key that sealed this is there. */
  hasKeyOf(text: string): boolean {
    const id = SEALED.exec(text)?.[1];
    return id !== undefined && this.#keys.find(id) !== undefined;
  }

  /** Whoever knows which of the secrets that are kept have no key any more, by what they belong to, is asked by `lost`. */
  lostAreToldBy(lost: () => readonly string[]): void {
    this.#lost = lost;
  }

  /** What has a secret whose key is not there, such as `feed default/prices`. */
  lost(): readonly string[] {
    return this.#lost();
  }

  /** Whoever keeps sealed texts is asked to seal them again when the keys change. */
  keptBy(resealer: Resealer): void {
    this.#resealers.push(resealer);
  }

  /**
   * Makes a new key, has everything sealed by it, and forgets the others; resolves with how many secrets were sealed again.
   * Cut short, everything still opens, and the next rotation finishes it.
   */
  rotate(): Promise<number> {
    const rotated = this.#rotation.then(async () => {
      this.#keys.add();
      return this.resealAll();
    });
    this.#rotation = rotated.catch(() => undefined);
    return rotated;
  }

  /** Seals everything by the newest key and forgets the others. */
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
