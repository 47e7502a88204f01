/** A certificate of its own for servers of tests, for `mail.example` and `localhost`; made by openssl. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

export interface MadeCertificate {
  readonly keyPath: string;
  readonly certificatePath: string;
}

/** `isExpired`: it held until yesterday. */
export function makeCertificate(folder: string, { isExpired = false } = {}): MadeCertificate {
  const [keyPath, certificatePath] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const kind = ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '30'];
  const names = ['-subj', '/CN=mail.example', '-addext', 'subjectAltName=DNS:mail.example,DNS:localhost'];
  execFileSync('openssl', [...kind, ...names, '-keyout', keyPath, '-out', certificatePath], { stdio: 'ignore' });
  if (isExpired) {
    const signed = ['x509', '-in', certificatePath, '-signkey', keyPath, '-days', '-1', '-out', certificatePath];
    execFileSync('openssl', signed, { stdio: 'ignore' });
  }
  return { keyPath, certificatePath };
}

/** Why none can be made here; undefined where it can. */
export function certificateFault(): string | undefined {
  try {
    execFileSync('openssl', ['version'], { stdio: 'ignore' });
    return undefined;
  } catch {
    return 'openssl, which makes certificates for tests, is not installed here';
  }
}
