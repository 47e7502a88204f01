import { randomBytes } from 'node:crypto';
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inspect } from 'node:util';
import fc from 'fast-check';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Secret, SecretBox, SecretUnreadableError } from './index.js';

let folder: string;
let path: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'gannet-secrets-'));
  path = join(folder, 'secret-keys');
});
afterEach(() => {
  rmSync(folder, { recursive: true, force: true });
});

const boxOf = (...given: string[]) => new SecretBox({ path, given });
const newKeyText = () => randomBytes(32).toString('base64');

describe('Secret', () => {
  it('is not revealed by printing, logging, serializing or copying it', () => {
    const secret = new Secret('hunter2');
    const lines: string[] = [];
    pino({}, { write: (line: string) => lines.push(line) }).info(
      { secret, nested: { secret } },
      `a ${secret.toString()}`,
    );
    const seen = [
      JSON.stringify({ secret }),
      inspect({ secret }, { showHidden: true, depth: 5 }),
      inspect(structuredClone({ secret })),
      String(secret),
      new Error(`failed with ${secret.toString()}`).message,
      ...lines,
    ];
    for (const text of seen) expect(text).not.toContain('hunter2');
    expect(secret.reveal()).toBe('hunter2');
  });
});

describe('SecretBox', () => {
  it('opens what it sealed, even after a restart, and never seals the same text twice alike', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), fc.string({ maxLength: 50 }), (text, place) => {
        const box = boxOf();
        const sealed = box.seal(new Secret(text), place);
        expect(boxOf().open(sealed, place).reveal()).toBe(text);
        expect(box.seal(new Secret(text), place)).not.toBe(sealed);
        expect(box.isCurrent(sealed)).toBe(true);
      }),
      { numRuns: 50 },
    );
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  it('creates no key before there is a secret', () => {
    expect(boxOf().isSealed('plain text')).toBe(false);
    expect(existsSync(path)).toBe(false);
  });

  it('opens nothing that was changed, moved, truncated, or sealed with a key that is gone', () => {
    const box = boxOf();
    const sealed = box.seal(new Secret('hunter2'), 'webhook/1');
    expect(() => box.open(sealed, 'webhook/2')).toThrow(SecretUnreadableError);
    fc.assert(
      fc.property(fc.nat(sealed.length - 1), fc.constantFrom(...'AZaz09-_.'), (at, character) => {
        fc.pre(sealed[at] !== character);
        // The last character of base64url may hold bits without meaning.
        fc.pre(at < sealed.length - 1);
        expect(() => box.open(sealed.slice(0, at) + character + sealed.slice(at + 1), 'webhook/1')).toThrow(
          SecretUnreadableError,
        );
        expect(() => box.open(sealed.slice(0, at), 'webhook/1')).toThrow(SecretUnreadableError);
      }),
    );
    rmSync(path);
    expect(() => boxOf().open(sealed, 'webhook/1')).toThrow('is not there');
  });

  it('recognizes a secret sealed by a later release, refuses to open it, and advises to start that release', () => {
    const later = boxOf().seal(new Secret('hunter2'), 'webhook/1').replace('sealed1.', 'sealed2.');
    expect([boxOf().isSealed(later), boxOf().hasKeyOf(later)]).toEqual([true, false]);
    expect(() => boxOf().open(later, 'webhook/1')).toThrow('start the release that wrote it');
  });

  it('reseals everything with a new key at a rotation, and then forgets the old key', async () => {
    const box = boxOf();
    let kept = box.seal(new Secret('hunter2'), 'a');
    const first = kept;
    box.keptBy(() => {
      if (box.isCurrent(kept)) return Promise.resolve(0);
      kept = box.seal(box.open(kept, 'a'), 'a');
      return Promise.resolve(1);
    });
    expect(await box.rotate()).toBe(1);
    expect(boxOf().open(kept, 'a').reveal()).toBe('hunter2');
    expect(() => boxOf().open(first, 'a')).toThrow(SecretUnreadableError);
  });

  it('keeps both keys if a rotation fails, and opens the secrets after a restart', async () => {
    const box = boxOf();
    const kept = box.seal(new Secret('hunter2'), 'a');
    box.keptBy(() => Promise.reject(new Error('the disk is full')));
    await expect(box.rotate()).rejects.toThrow('full');
    const next = boxOf();
    expect(next.open(kept, 'a').reveal()).toBe('hunter2');
    expect(next.isCurrent(kept)).toBe(false);
    expect(await next.resealAll()).toBe(0);
  });

  it('prefers keys from the settings to those of the file, and says where to replace them', async () => {
    const sealedByFile = boxOf().seal(new Secret('old'), 'a');
    const [older, newer] = [newKeyText(), newKeyText()];
    const sealed = boxOf(older).seal(new Secret('new'), 'a');
    const box = boxOf(newer, older);
    expect(box.open(sealedByFile, 'a').reveal()).toBe('old');
    expect(box.open(sealed, 'a').reveal()).toBe('new');
    expect(box.isCurrent(sealed)).toBe(false);
    await expect(box.rotate()).rejects.toThrow('GANNET_SECRETS_KEYS');
    await box.resealAll();
    expect(readFileSync(path, 'utf8')).toBe('gannet secret keys 1\n');
  });

  it('reports a damaged key file', () => {
    for (const text of ['', 'gannet secret keys 2\n', 'gannet secret keys 1\nshort\n', '\0\0\0\0']) {
      writeFileSync(path, text);
      expect(() => boxOf()).toThrow('is damaged or of another version');
    }
  });
});
