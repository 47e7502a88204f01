/** Creates self-signed certificates for test servers, for `mail.example` and `localhost`, with openssl. */
import { execFileSync } from 'node:child_process';
import { renameSync } from 'node:fs';
import { join } from 'node:path';

export interface MadeCertificate {
  readonly keyPath: string;
  readonly certificatePath: string;
}

/** With `isExpired`, the certificate expired in the past. */
export function makeCertificate(folder: string, { isExpired = false } = {}): MadeCertificate {
  const [keyPath, certificatePath] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const kind = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '30'];
  const names = ['-subj', '/CN=mail.example', '-addext', 'subjectAltName=DNS:mail.example,DNS:localhost'];
  execFileSync('openssl', [...kind, ...names, '-keyout', keyPath, '-out', certificatePath], { stdio: 'ignore' });
  if (isExpired) expire(keyPath, certificatePath);
  return { keyPath, certificatePath };
}

/**
 * Makes a certificate expired. OpenSSL accepts negative numbers of days only before 3.5, and an end date only from 3.4
 * on.
 */
function expire(keyPath: string, certificatePath: string): void {
  // A failed command leaves an empty file.
  const expiredPath = `${certificatePath}.expired`;
  const signed = ['x509', '-in', certificatePath, '-signkey', keyPath, '-out', expiredPath];
  const past = ['-not_before', '20200101000000Z', '-not_after', '20200201000000Z'];
  try {
    execFileSync('openssl', [...signed, '-days', '-1'], { stdio: 'ignore' });
  } catch {
    execFileSync('openssl', [...signed, ...past], { stdio: 'ignore' });
  }
  renameSync(expiredPath, certificatePath);
}

/** Returns why no certificate can be created here; undefined if one can. */
export function certificateFault(): string | undefined {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'openssl, which makes certificates for tests, is not installed here';
  }
}
